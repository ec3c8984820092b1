//! Sessions: load an artifact, bind it, compile it, call it.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use artifact_engine::{Buffer, Engine, Value};
//! use artifact_runtime::Session;
//!
//! fn run(engine: Arc<dyn Engine>) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
//!     let session = Session::new(engine);
//!     let program = session.load("model.artifact".as_ref())?;
//!     let x = Value::from(Buffer::of_numbers(&[2, 3], &[1.0_f32; 6])?);
//!     Ok(program.call(&[x])?.results)
//! }
//! ```
//!
//! A [`Program`] is compiled when it is first called, once for each value of what its engine must know as numbers
//! ([`artifact_engine::Plan`]): mostly once for all sizes. Sizes are checked before that, in a [`Binding`]: that they fit each
//! other and the constraints of the signature, and that the program computes none in integers that are too narrow for it.
//!
//! Invariants:
//! * Several threads may use a session, a program and a binding at once. What all of them wait for is compiled once.
//! * The constants of an artifact go to the engine as the views of the file that they are.
//! * A call with sizes that were bound before makes no types, and allocates only what the engine does and, where there are
//!   constants, a list of the arguments.
//! * Nothing here knows an engine by name, reads the environment, or prints.
//!
//! Entry points: [`Session`], [`Program::call`], [`Program::run`].

mod binding;
mod definition;
mod error;
mod program;
mod session;
mod variants;

pub use binding::Binding;
pub use definition::{Definition, platform_position};
pub use error::{BindError, CallError, LoadError};
pub use program::Program;
pub use session::Session;
