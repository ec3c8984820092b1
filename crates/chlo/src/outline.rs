//! A region as a function of its own, and a body without what nothing refers to.

use std::collections::HashMap;

use artifact_ir::module::{
    BlockId, Body, Function, NewOperation, OpId, Parameter, RegionId, ValueId, Visibility,
};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::Type;

/// The operations of an isolated region as a private function; `None` for a region that is not well-formed.
pub(crate) fn outline(body: &Body, region: RegionId, name: &str) -> Option<Function> {
    let block = body.single_block(region)?;
    let mut copy = Copy::new(body);
    let root = copy.new.root;
    copy.region(region, root)?;
    let mut new = copy.new;
    let entry = new.entry_block()?;
    let terminator = new.terminator(entry)?;
    new.ops[terminator].op = Op::from(Control::FuncReturn);

    let parameter = |value: &ValueId| Parameter::new(body.ty(*value).clone());
    let mut function = Function::new(name);
    function.visibility = Visibility::Private;
    function.arguments = body.blocks[block].arguments.iter().map(parameter).collect();
    let returned = &new.ops[terminator].operands;
    let types: Vec<Type> = returned.iter().map(|value| new.ty(*value).clone()).collect();
    function.results = types.into_iter().map(Parameter::new).collect();
    function.body = Some(new);
    Some(function)
}

/// The same body with operations, values and regions that are in it only; `None` for one that is not well-formed.
pub(crate) fn compact(old: &Body) -> Option<Body> {
    let mut copy = Copy::new(old);
    let root = copy.new.root;
    copy.region(old.root, root)?;
    Some(copy.new)
}

/// The operations of all blocks that are in the body, in any depth.
pub(crate) fn live_ops(body: &Body) -> Vec<OpId> {
    let mut regions = vec![body.root];
    let mut ops = Vec::new();
    while let Some(region) = regions.pop() {
        for block in &body.regions[region].blocks {
            for op in &body.blocks[*block].ops {
                ops.push(*op);
                regions.extend(&body.ops[*op].regions);
            }
        }
    }
    ops.sort_unstable();
    ops
}

struct Copy<'a> {
    old: &'a Body,
    new: Body,
    values: HashMap<ValueId, ValueId>,
}

impl<'a> Copy<'a> {
    fn new(old: &'a Body) -> Self {
        Self {
            old,
            new: Body::new(),
            values: HashMap::new(),
        }
    }

    /// Regions are as deep as the verifier allows.
    fn region(&mut self, from: RegionId, to: RegionId) -> Option<()> {
        for block in &self.old.regions[from].blocks {
            let copied = self.new.add_block(to);
            self.block(*block, copied)?;
        }
        Some(())
    }

    fn block(&mut self, from: BlockId, to: BlockId) -> Option<()> {
        let old = self.old;
        let block = &old.blocks[from];
        for (argument, location) in block.arguments.iter().zip(&block.argument_locations) {
            let copied = self.new.add_argument(to, old.ty(*argument).clone(), *location);
            self.values.insert(*argument, copied);
        }
        for id in &block.ops {
            self.op(*id, to)?;
        }
        Some(())
    }

    fn op(&mut self, id: OpId, to: BlockId) -> Option<()> {
        let op = &self.old.ops[id];
        let operands = op.operands.iter().map(|value| self.values.get(value).copied());
        let copied = NewOperation {
            op: op.op.clone(),
            operands: operands.collect::<Option<_>>()?,
            attributes: op.attributes.clone(),
            location: op.location,
            source: op.source,
        };
        let types = op.results.iter().map(|value| self.old.ty(*value).clone());
        let copied = self.new.add_op(to, copied, types);
        let results = self.new.ops[copied].results.clone();
        self.values.extend(op.results.iter().copied().zip(results));
        for region in &op.regions {
            let into = self.new.add_region(copied);
            self.region(*region, into)?;
        }
        Some(())
    }
}
