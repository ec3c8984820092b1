//! The files of `jax.export`: what `Exported.serialize()` writes, read and written.
//!
//! [`Exported`] is a plain value with everything that such a file holds. [`read`] makes it of a file, of which the program
//! stays a view; [`write`](fn@write) makes a file that JAX loads. The file's layout is the schema `schemas/jax/exported.fbs`. The
//! facts are those of JAX's `serialization.py` at version 12 of the schema.
//!
//! Invariants:
//! * Nothing that a file may hold panics, recurses past [`limits`], or costs time or memory out of proportion to the file.
//! * What [`read`] gives satisfies [`Exported::check`], and [`write`](fn@write) refuses what does not.
//! * Nothing is lost or guessed in between: what this crate cannot hold is refused, and the value that is read from a file
//!   that was written is the value that was written. The lists that a newer file repeats for older readers are not read.
//! * The program is bytes to this crate, and so is the data of custom nodes.
//!
//! Entry points: [`looks_like`], [`looks_cut_off`], [`read`], [`read_with`], [`write`](fn@write).

mod aval;
mod check;
mod dtype;
mod error;
mod exported;
pub mod limits;
mod read;
mod recognise;
mod sharding;
mod tree;
mod write;

pub use artifact_proto::jax_exported::DType;
pub use aval::{AbstractValue, Dimension, MemorySpace};
pub use dtype::{dtype_name, dtype_named};
pub use error::{Error, ErrorKind};
pub use exported::{
    CallingConventionVersion, DisabledCheck, Effect, Exported, Leaf, SerializationVersion, Values,
};
pub use read::{ReadOptions, read, read_with};
pub use recognise::{looks_cut_off, looks_like};
pub use sharding::{
    AbstractDevice, AbstractMesh, AxisType, MeshAxis, NamedSharding, PartitionSpec, Sharding,
};
pub use tree::PyTree;
pub use write::write;
