//! Edits of a body that hoisting and restoring share.

use std::collections::HashMap;

use artifact_ir::literal::Literal;
use artifact_ir::module::{Body, NewOperation, OpId, ValueId};
use artifact_ir::op::{Constant, Creation};
use artifact_ir::types::Type;

/// Makes every operation that uses a key of `values` use what it maps to.
pub(crate) fn replace_uses(body: &mut Body, values: &HashMap<ValueId, ValueId>) {
    if values.is_empty() {
        return;
    }
    let ops: Vec<OpId> = body.ops.iter().map(|(id, _)| id).collect();
    for op in ops {
        for operand in &mut body.ops[op].operands {
            if let Some(replacement) = values.get(operand) {
                *operand = *replacement;
            }
        }
    }
}

/// Takes operations out of their blocks. Nothing may use their results any more.
pub(crate) fn detach(body: &mut Body, ops: &[OpId]) {
    for op in ops {
        let block = body.ops[*op].block;
        body.blocks[block].ops.retain(|other| other != op);
    }
}

/// Adds a constant at the start of the outermost block; `None` when the body has no block.
pub(crate) fn prepend_constant(body: &mut Body, value: Literal) -> Option<ValueId> {
    let block = body.entry_block()?;
    let ty = Type::Tensor(value.ty().clone());
    let op = NewOperation::new(Creation::Constant(Constant { value }), Vec::new());
    let id = body.add_op(block, op, vec![ty]);
    let ops = &mut body.blocks[block].ops;
    ops.rotate_right(1);
    body.ops[id].results.first().copied()
}
