//! Which part of an array each device of a mesh holds: pure arithmetic.
//!
//! A [`Mesh`] names the axes of a grid of devices. A [`PartitionSpec`] says for each dimension of an array along which axes it is
//! cut. Both together are a [`Sharding`], which gives each device its [`Shard`]: where its part of an array begins, and how large it
//! is. The words and the results are those of JAX (`Mesh`, `PartitionSpec`, `NamedSharding.devices_indices_map`) and Shardy
//! (`sdy.mesh`, `#sdy.sharding`).
//!
//! Invariants:
//! * Devices of a mesh are counted in row-major order of its axes: device `k` is partition `k` of a program.
//! * Every dimension is cut into parts of one size; one that does not divide is an error, and nothing is padded.
//! * Axes that a spec does not name hold copies.
//! * Sizes are checked before they are multiplied; nothing here does IO, and no number that is passed makes it panic.
//!
//! Where the devices belong to several processes, [`ProcessSharding`] says what each process holds, and how its own data make an array
//! (`jax.make_array_from_process_local_data`). Processes are numbers here.
//!
//! Entry points: [`Sharding::new`], [`Sharding::shards`], [`slice()`], [`assemble`], [`ProcessSharding::new`].

mod bytes;
mod error;
mod layout;
mod mesh;
mod process;
mod process_error;
mod spec;

pub use bytes::{assemble, slice};
pub use error::ShardingError;
pub use layout::{Shard, Sharding};
pub use mesh::Mesh;
pub use process::{ProcessGroup, ProcessSharding};
pub use process_error::ProcessError;
pub use spec::{AxisRef, PartitionSpec};
