//! Regions that say one operation.

use artifact_ir::module::{Body, Operation};
use artifact_ir::op::{Binary, Control, Op};

use crate::kernel::Combine;

/// The operation by which the only region of a reduction combines two elements; `None` for another function.
pub(crate) fn combine(body: &Body, op: &Operation) -> Option<Combine> {
    let block = &body.blocks[body.single_block(*op.regions.first()?)?];
    let [left, right] = block.arguments.as_slice() else {
        return None;
    };
    let [compute, ret] = block.ops.as_slice() else {
        return None;
    };
    let (compute, ret) = (&body.ops[*compute], &body.ops[*ret]);
    let is_return = matches!(ret.op, Op::Control(Control::Return)) && ret.operands == compute.results;
    let operands = compute.operands.as_slice();
    let takes_both = operands == [*left, *right] || operands == [*right, *left];
    let Op::Binary(binary) = &compute.op else {
        return None;
    };
    (is_return && takes_both).then(|| combine_of(binary))?
}

const fn combine_of(op: &Binary) -> Option<Combine> {
    match op {
        Binary::Add => Some(Combine::Add),
        Binary::Multiply => Some(Combine::Multiply),
        Binary::Maximum => Some(Combine::Maximum),
        Binary::Minimum => Some(Combine::Minimum),
        Binary::And => Some(Combine::And),
        Binary::Or => Some(Combine::Or),
        Binary::Xor => Some(Combine::Xor),
        Binary::Atan2
        | Binary::Divide
        | Binary::Power
        | Binary::Remainder
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Subtract => None,
    }
}
