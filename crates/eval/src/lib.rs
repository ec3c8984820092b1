//! The reference evaluator: every operation of StableHLO and CHLO that can be evaluated on one machine, collectives included.
//!
//! It is the oracle of the engines, so clarity is worth more than speed: each function follows one section of the
//! specification and names it. Where the specification leaves room, it does what XLA's CPU backend does.
//!
//! Invariants:
//! * It takes verified modules only; a module that verifies does not make it panic.
//! * A value is a [`tensor::Tensor`]: a type of static shape and its elements, laid out as in [`artifact_ir::literal::Literal`].
//! * Arithmetic happens on [`scalar::Scalar`], wide, and every result is rounded to its element type at once.
//! * No algorithm is quadratic where a linear one is as clear.
//!
//! Entry points: [`evaluate`], [`evaluate_observed`], and [`comparison::difference`] for those who compare results themselves.

mod algebra;
mod collective;
pub mod comparison;
mod complex;
mod control;
mod creation;
mod custom_call;
mod dispatch;
mod dynamic_call;
mod effort;
pub mod error;
mod grid;
mod interpreter;
mod lapack;
mod math;
mod record;
pub mod scalar;
mod shape;
mod sharding;
pub mod tensor;
mod testing;
pub mod value;

pub use error::{EvalError, EvalErrorKind};
pub use interpreter::{evaluate, evaluate_observed};
pub use record::{CheckFailure, Observer, Options, Outcome};
pub use value::Value;
