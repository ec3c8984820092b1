//! The embedded engine: structured kernels through Cranelift.
//!
//! A plan ([`artifact_lower::Plan`]) is compiled kernel by kernel to machine code that has no relocations, loaded into memory
//! that is never writable and executable at once, bound to sizes as often as there are different ones, and run on a small pool
//! of threads.
//!
//! Invariants:
//! * Code knows no sizes: one compile serves all.
//! * The same module, target and inputs give the same bits, whatever the number of threads, and whether sizes were symbolic.
//! * Every access of a kernel is checked against its buffers when sizes are bound; code itself has no way out of the tiles that
//!   it is given.
//! * What has neither a kernel nor a routine is evaluated by the reference evaluator, step by step.

#![expect(
    unsafe_code,
    reason = "the engine makes code executable, calls it, and works on memory that plans divide"
)]

mod bind;
mod code;
mod compile;
mod dump;
mod engine;
mod error;
mod evaluate;
mod executable;
mod guard;
mod instance;
mod kernel;
mod launch;
mod layout;
mod loaded;
mod machine;
mod memory;
mod payload;
mod perf;
mod place;
mod profile;
mod routine;
mod run;
mod sizes;
mod target;
mod values;
mod watched;

pub use dump::{Emit, dump};
pub use engine::{CpuEngine, Settings};
pub use error::{CpuError, CpuErrorKind};
pub use target::Target;
