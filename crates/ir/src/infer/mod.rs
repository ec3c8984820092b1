//! Result inference and the rules of each operation, one file a family as in [`crate::op`].
//!
//! A rule is named as the specification names it: `(C2)` is constraint 2 of that operation. Rules of operations that the
//! specification does not have are those of upstream's verifier. Attributes are numbers as they came: every calculation with
//! them is checked, and a size that does not fit 64 bits is an error.

mod broadcast;
mod chlo;
mod collective;
mod compatible;
mod contraction;
mod control;
mod convolution;
mod creation;
mod custom_call;
mod dynamic_shape;
pub(crate) mod element;
mod elementwise;
mod extent;
mod groups;
mod indexing;
mod linalg;
mod operand;
mod positions;
mod quantization;
mod reduction;
mod region;
mod scan;
mod scatter;
mod shape;
mod shape_operand;
mod sharding;
mod testing;
mod window;

use crate::op::Op;
use crate::verify::context::{OpContext, OpResult, Results};

pub(crate) use sharding::manual_parts;

pub(crate) use compatible::{lists as types_compatible, quoted};

/// Checks an operation and says what its results are.
pub(crate) fn rules(op: &Op, cx: &OpContext<'_>) -> OpResult {
    match op {
        Op::Unary(op) => elementwise::unary(op, cx),
        Op::Binary(op) => elementwise::binary(op, cx),
        Op::Elementwise(op) => elementwise::other(op, cx),
        Op::Creation(op) => creation::rules(op, cx),
        Op::Shape(op) => shape::rules(op, cx),
        Op::Indexing(op) => indexing::rules(op, cx),
        Op::Reduction(op) => reduction::rules(op, cx),
        Op::Contraction(op) => contraction::rules(op, cx),
        Op::Linalg(op) => linalg::rules(op, cx),
        Op::Control(op) => control::rules(op, cx),
        Op::Collective(op) => collective::rules(op, cx),
        Op::Chlo(op) => chlo::rules(op, cx),
        Op::Sharding(op) => sharding::rules(op, cx),
        Op::Testing(op) => testing::rules(op, cx),
        // Carried as it is.
        Op::Foreign(_) => Ok(Results::Declared),
    }
}

#[cfg(test)]
mod tests;
