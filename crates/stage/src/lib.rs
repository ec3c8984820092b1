//! The Rust front end: traces a function of tensors into a StableHLO module, with symbolic shapes.
//!
//! [`function`] runs a closure once. What it does with [`Tensor`]s becomes operations of the program; shapes are numbers and
//! expressions of dimension variables, and each size that must equal another is decided within the declared constraints. The
//! module that comes out is plain StableHLO: where a size is not a number, the program asks for it and computes with it, as
//! JAX's symbolic exports do.
//!
//! Invariants:
//! * A mistake is reported once, with the line of the user's source that made it; what follows from it is not traced.
//! * Sizes are equal only where that is proven. What is not known is an error that shows two assignments or the constraint
//!   that would settle it.
//! * There is no implicit conversion between element types; a number takes the type of the tensor beside it.
//! * What [`function`] returns verifies.
//!
//! Entry points: [`function`], [`Stage`], [`Tensor`].

mod contract;
mod control;
mod elementwise;
mod error;
mod index;
mod reduce;
mod shape;
mod stage;
mod tensor;
mod trace;

pub use error::StageError;
pub use stage::{Stage, Staged, function};
pub use tensor::Tensor;
