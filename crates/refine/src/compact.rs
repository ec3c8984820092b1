//! Copies a body without what nothing refers to any more: whoever counts operations counts those that are there.

use std::collections::HashMap;

use artifact_ir::module::{BlockId, Body, NewOperation, RegionId, ValueId};

/// The same body with operations, values and regions that are in it only.
pub(crate) fn compact(old: &Body) -> Body {
    let new = Body::new();
    let root = new.root;
    let mut copy = Copy {
        old,
        new,
        values: HashMap::new(),
    };
    copy.region(old.root, root);
    copy.new
}

struct Copy<'a> {
    old: &'a Body,
    new: Body,
    values: HashMap<ValueId, ValueId>,
}

impl Copy<'_> {
    /// Regions are as deep as the verifier allows.
    fn region(&mut self, from: RegionId, to: RegionId) {
        for block in &self.old.regions[from].blocks {
            let copied = self.new.add_block(to);
            self.block(*block, copied);
        }
    }

    fn block(&mut self, from: BlockId, to: BlockId) {
        let old = self.old;
        let block = &old.blocks[from];
        for (argument, location) in block.arguments.iter().zip(&block.argument_locations) {
            let copied = self.new.add_argument(to, old.ty(*argument).clone(), *location);
            self.values.insert(*argument, copied);
        }
        for id in &block.ops {
            let op = &old.ops[*id];
            let copied = NewOperation {
                op: op.op.clone(),
                // A verified body uses what is defined before.
                operands: op.operands.iter().map(|value| self.values[value]).collect(),
                attributes: op.attributes.clone(),
                location: op.location,
                source: op.source,
            };
            let types = op.results.iter().map(|value| old.ty(*value).clone());
            let copied = self.new.add_op(to, copied, types);
            self.values.extend(
                op.results
                    .iter()
                    .copied()
                    .zip(self.new.ops[copied].results.iter().copied()),
            );
            for region in &op.regions {
                let into = self.new.add_region(copied);
                self.region(*region, into);
            }
        }
    }
}
