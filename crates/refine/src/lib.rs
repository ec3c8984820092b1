//! Dimension expressions through a program.
//!
//! [`refine`] runs a program on what is known of its arguments, without their elements: every value gets a shape made of
//! dimension expressions, and the small integer tensors that shapes are computed from are followed element by element. The
//! result is a module whose types say all that, in which each function stands once for each way in which it is called, and
//! from which assertions that always hold and shape arithmetic that came down to numbers are gone. With sizes that are
//! numbers that is a static program: specialisation is refinement with more known.
//!
//! Invariants:
//! * What is said holds for all sizes within the scope, provided that the [`Obligation`]s hold: programs compute in integers
//!   that wrap, expressions do not.
//! * What no expression says stays unknown, and is listed with a reason in [`Refined::unknown`]. Nothing is guessed.
//! * What a program asserts about its shapes is either proven and removed, refuted and an error with the program's own
//!   message, or listed in [`Refined::assertions`] and kept.
//! * Sizes that an operation needs to be equal are proven so, refuted and an error, or listed in [`Refined::requirements`].
//! * Divisions that round down are recognised by what is computed, not by the names of functions.
//! * A module that verifies does not make it panic, and its work is bounded by named limits.
//!
//! Entry points: [`refine`], [`Fact`].

mod analysis;
mod arithmetic;
mod assertion;
mod compact;
mod decide;
mod dynamic_call;
mod elementwise;
mod emit;
mod error;
mod fact;
mod known;
mod movement;
mod prune;
mod refined;
mod requirement;
mod result;
mod rewrite;
mod shape_operands;
mod types;

pub use arithmetic::Obligation;
pub use assertion::Assertion;
pub use error::{RefineError, RefineProblem};
pub use fact::Fact;
pub use known::{Condition, Element, Known, holds_sizes};
pub use refined::{Refined, UnknownShape, refine};
pub use requirement::Requirement;
