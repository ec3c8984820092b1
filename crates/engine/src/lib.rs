//! The ports between the runtime and the engines, and the suite that every engine passes.
//!
//! The ports are shaped like PJRT: an [`Engine`] compiles a [`Program`] into a [`CompiledModule`], which is bytes and may be kept;
//! it loads one into an [`Executable`]; an executable takes [`Value`]s and gives [`Value`]s. Sizes may stay open: [`Engine::plan`]
//! says which dimension variables and which arguments an engine must know as numbers, and one compile serves all the others.
//!
//! Invariants:
//! * Ports are object-safe, and can be shared between threads. What takes time is a boxed future that needs no runtime;
//!   [`completion::wait`] blocks on it.
//! * A [`Program`] is verified, and an [`Executable`] is called with values that fit its [`Signature`], which it checks.
//! * Bytes from outside become a [`CompiledModule`] only by [`CompiledModule::decode`], which checks the digest before it believes
//!   a length, and reach machine code only where [`CompiledModule::check`] found engine, toolchain and target to be those of this
//!   process.
//! * A [`Buffer`] is dense, row-major and of static shape; what this crate allocates is aligned to [`buffer::ALIGNMENT`] bytes.
//! * Nothing here does IO, reads the environment, or knows an engine.
//!
//! Entry points: [`Engine`], [`Executable`], [`Program`], [`Buffer`], [`conformance::run`].

pub mod buffer;
pub mod collectives;
mod compiled_module;
pub mod completion;
pub mod conformance;
mod device;
mod device_assignment;
pub mod encoding;
mod error;
mod executable;
mod limits;
mod options;
mod partitioning;
mod plan;
mod port;
mod profile;
mod program;
mod target;
mod toolchain;
mod value;
mod work;

pub use buffer::{Buffer, BufferError, Resident};
pub use compiled_module::CompiledModule;
pub use device::{Device, DeviceId};
pub use device_assignment::{DeviceAssignment, DeviceAssignmentError, Place};
pub use error::{EngineError, ErrorKind};
pub use executable::{Argument, CheckFailure, Executable, Outcome, Report, Signature};
pub use limits::{Cancellation, Watch};
pub use options::{CompileOptions, ExecuteOptions};
pub use partitioning::{Partitioning, mesh_devices};
pub use plan::{Plan, ResidualDimension, ResidualValue};
pub use port::{Engine, Features};
pub use profile::{Profile, ProfileStep};
pub use program::{ArgumentFact, Program};
pub use target::{Target, TargetSupport};
pub use toolchain::{Component, Toolchain};
pub use value::Value;
pub use work::Work;
