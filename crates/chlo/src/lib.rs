//! CHLO operations in the words of StableHLO, and back.
//!
//! The portable form of a program (VHLO) has StableHLO operations only. [`legalize`] gives each CHLO operation a private
//! function of StableHLO operations that computes the same, its *decomposition*, and replaces the operation by
//! `stablehlo.composite`, which names both the operation and the function, or by a call of the function where the target
//! version has no composites. [`recognise`] turns composites of CHLO names back, those of other exporters included.
//!
//! Invariants:
//! * What [`legalize`] returns holds no CHLO operation and verifies, if the module did.
//! * Recognition is sound: an operation is only put back where it obeys its rules with the composite's operands, attributes
//!   and result types; every other composite stays.
//! * `legalize` to [`Form::CompositesWithRegions`], then [`recognise`], leaves the program digest as it was.
//!
//! Functions are computed in their own precision, narrower formats than `f32` in that. They are within 8 units in the last place
//! of the operation as the evaluator has it, most within 3, where no terms cancel; `tests/functions.rs` says where they do, and
//! how far off the result is then.

mod attributes;
mod decompose;
mod graph;
mod legalize;
mod number;
mod outline;
mod recognise;
mod symbols;
mod term;

pub use legalize::{Form, LegalizeError, LegalizeErrorKind, legalize};
pub use recognise::recognise;

/// The version of the meaning of CHLO operations in composites, as other exporters write it.
const COMPOSITE_VERSION: i32 = 1;
