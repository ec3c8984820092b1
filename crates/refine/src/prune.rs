//! Removes operations whose results nobody uses.

use std::collections::HashSet;
use std::sync::Arc;

use artifact_core::entity::EntityId as _;
use artifact_ir::module::{BlockId, Body, OpId, RegionId};
use artifact_ir::op::{Control, Op};

/// Removes what is unused, and tells whether what is left does nothing besides computing the results.
pub(crate) fn prune(body: &mut Body, pure_functions: &HashSet<Arc<str>>) -> bool {
    let mut uses = vec![0_usize; body.values.len()];
    for block in live_blocks(body, body.root) {
        for op in &body.blocks[block].ops {
            for operand in &body.ops[*op].operands {
                uses[operand.index()] += 1;
            }
        }
    }
    let mut pruning = Pruning {
        body,
        uses,
        pure_functions,
    };
    // Inner blocks come after the block that they are in: what they no longer use may then be removed outside.
    let blocks = live_blocks(pruning.body, pruning.body.root);
    for block in blocks.into_iter().rev() {
        pruning.block(block);
    }
    let blocks = live_blocks(pruning.body, pruning.body.root);
    blocks.into_iter().all(|block| {
        let ops = &pruning.body.blocks[block].ops;
        ops.iter().all(|op| {
            let op = &pruning.body.ops[*op];
            op.op.is_terminator() || pruning.is_pure_operation(&op.op)
        })
    })
}

struct Pruning<'a> {
    body: &'a mut Body,
    /// How often each value is used.
    uses: Vec<usize>,
    pure_functions: &'a HashSet<Arc<str>>,
}

impl Pruning<'_> {
    fn block(&mut self, block: BlockId) {
        let mut kept = Vec::new();
        for id in std::mem::take(&mut self.body.blocks[block].ops).into_iter().rev() {
            if self.is_needed(id) {
                kept.push(id);
            } else {
                self.forget(id);
            }
        }
        kept.reverse();
        self.body.blocks[block].ops = kept;
    }

    fn is_needed(&self, id: OpId) -> bool {
        let op = &self.body.ops[id];
        let inside = || {
            let regions = op.regions.iter();
            let mut blocks = regions.flat_map(|region| live_blocks(self.body, *region));
            blocks.all(|block| {
                let ops = &self.body.blocks[block].ops;
                ops.iter().all(|op| {
                    let op = &self.body.ops[*op].op;
                    op.is_terminator() || self.is_pure_operation(op)
                })
            })
        };
        op.op.is_terminator()
            || op.results.iter().any(|result| self.uses[result.index()] > 0)
            || !self.is_pure_operation(&op.op)
            || !inside()
    }

    fn is_pure_operation(&self, op: &Op) -> bool {
        match op {
            Op::Control(Control::Call(call)) => self.pure_functions.contains(&call.callee.root),
            Op::Control(Control::Composite(op)) => self.pure_functions.contains(&op.decomposition.root),
            other => other.is_pure(),
        }
    }

    /// Takes back the uses of an operation and of what is in it.
    fn forget(&mut self, id: OpId) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            for operand in &self.body.ops[id].operands {
                self.uses[operand.index()] -= 1;
            }
            for region in self.body.ops[id].regions.clone() {
                for block in live_blocks(self.body, region) {
                    pending.extend(std::mem::take(&mut self.body.blocks[block].ops));
                }
            }
        }
    }
}

/// The blocks of a region and of the regions in it; each before those that are in it.
fn live_blocks(body: &Body, region: RegionId) -> Vec<BlockId> {
    let mut blocks = body.regions[region].blocks.clone();
    let mut next = 0;
    while let Some(block) = blocks.get(next).copied() {
        for op in &body.blocks[block].ops {
            for region in &body.ops[*op].regions {
                blocks.extend(&body.regions[*region].blocks);
            }
        }
        next += 1;
    }
    blocks
}
