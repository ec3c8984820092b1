//! Edits of a body that hoisting and restoring share.

use std::collections::{HashMap, HashSet};

use artifact_ir::literal::Literal;
use artifact_ir::module::{BlockId, Body, NewOperation, OpId, RegionId, ValueId};
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

/// Every operation that is in a block, in the order of the text: what is in regions comes after the operation that holds
/// them. Operations that were added later are where they stand, not where they were made.
pub(crate) fn in_text_order(body: &Body) -> Vec<OpId> {
    let mut order = Vec::with_capacity(body.ops.len());
    let mut pending = Vec::new();
    push_reversed(body, body.root, &mut pending);
    while let Some(op) = pending.pop() {
        order.push(op);
        for region in body.ops[op].regions.iter().rev() {
            push_reversed(body, *region, &mut pending);
        }
    }
    order
}

fn push_reversed(body: &Body, region: RegionId, pending: &mut Vec<OpId>) {
    let blocks = body.regions[region].blocks.iter().rev();
    pending.extend(blocks.flat_map(|block| body.blocks[*block].ops.iter().rev()));
}

/// Takes operations out of their blocks. Nothing may use their results any more.
pub(crate) fn detach(body: &mut Body, ops: &[OpId]) {
    let detached: HashSet<OpId> = ops.iter().copied().collect();
    let blocks: HashSet<BlockId> = ops.iter().map(|op| body.ops[*op].block).collect();
    for block in blocks {
        body.blocks[block].ops.retain(|op| !detached.contains(op));
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
