//! The rules of one operation, for passes that know more of its operands than the program says.

pub use crate::verify::context::{OpContext, OpError, RegionTypes, Results};

use crate::attribute::sdy::TensorSharding;
use crate::module::Module;
use crate::op::{ManualComputation, Op};
use crate::verify::body;

/// Checks an operation among the types of its operands and regions, and says what its results are.
///
/// The numbers of operands, results and regions must be those that [`Op::spec`] allows, as they are in a verified module.
///
/// # Errors
/// [`OpError`] when a rule is broken.
pub fn infer(op: &Op, context: &OpContext<'_>) -> Result<Results, OpError> {
    crate::infer::rules(op, context)
}

/// Into how many parts a manual computation divides each dimension of a value with that sharding. `None` where the sharding is
/// not valid for the module.
#[must_use]
pub fn manual_parts(op: &ManualComputation, sharding: &TensorSharding, module: &Module) -> Option<Vec<u64>> {
    crate::infer::manual_parts(op, sharding, module).ok()
}

/// Checks an operation among the types of its operands, regions and results, which [`OpContext::results`] declares.
///
/// # Errors
/// [`OpError`] when a count or a rule is broken, or when the results are not of the types that follow.
pub fn check(op: &Op, context: &OpContext<'_>) -> Result<(), OpError> {
    let counts = [
        context.operands.len(),
        context.results.len(),
        context.regions.len(),
    ];
    body::check_counts(op, counts.map(Some))?;
    body::check_results(op, context)
}
