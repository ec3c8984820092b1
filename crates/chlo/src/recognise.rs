//! From composites of CHLO names back to CHLO operations.

use std::collections::HashSet;
use std::sync::Arc;

use artifact_ir::inference::{OpContext, RegionTypes, check};
use artifact_ir::module::{Body, Module, OpId, RegionId, ValueId};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::Type;

use crate::outline::live_ops;
use crate::{COMPOSITE_VERSION, attributes, symbols};

/// Puts a CHLO operation in place of each composite of a verified module that stands for one, and removes the decompositions
/// that nothing uses any more. Tells how many composites were recognised.
///
/// A composite stands for an operation when its name and version are known, its attributes are those of the operation, and the
/// operation obeys its rules with the composite's operands, regions and result types.
pub fn recognise(module: &mut Module) -> usize {
    let ids: Vec<_> = module.functions.iter().map(|(id, _)| id).collect();
    let mut decompositions: HashSet<Arc<str>> = HashSet::new();
    let mut count = 0;
    for id in ids {
        let Some(body) = &mut module.functions[id].body else {
            continue;
        };
        for op in live_ops(body) {
            if let Some((recognised, decomposition)) = recognised(body, op) {
                body.ops[op].op = recognised;
                decompositions.insert(decomposition);
                count += 1;
            }
        }
    }
    if count > 0 {
        symbols::remove_unused(module, decompositions);
    }
    count
}

/// The operation that a composite stands for, and the function that it names.
fn recognised(body: &Body, id: OpId) -> Option<(Op, Arc<str>)> {
    let operation = &body.ops[id];
    let Op::Control(Control::Composite(composite)) = &operation.op else {
        return None;
    };
    if composite.version != COMPOSITE_VERSION {
        return None;
    }
    let op = attributes::decode(composite.name.as_str()?, &composite.composite_attributes)?;
    let op = Op::from(op);
    let borrowed =
        |values: &[ValueId]| -> Vec<&Type> { values.iter().map(|value| body.ty(*value)).collect() };
    let types =
        |values: &[ValueId]| -> Vec<Type> { values.iter().map(|value| body.ty(*value).clone()).collect() };
    let regions: Option<Vec<RegionTypes>> = operation
        .regions
        .iter()
        .map(|region| {
            let block = body.single_block(*region)?;
            let terminator = body.terminator(block)?;
            Some(RegionTypes {
                arguments: types(&body.blocks[block].arguments),
                returns: types(&body.ops[terminator].operands),
            })
        })
        .collect();
    let (operands, results) = (borrowed(&operation.operands), borrowed(&operation.results));
    let context = OpContext {
        operands: &operands,
        constants: &[],
        results: &results,
        regions: &regions?,
        module: None,
    };
    let fits =
        check(&op, &context).is_ok() && operation.regions.iter().all(|region| is_isolated(body, *region));
    fits.then(|| (op, Arc::clone(&composite.decomposition.root)))
}

/// Whether a region uses nothing from outside: those of CHLO operations must not, those of composites may.
fn is_isolated(body: &Body, region: RegionId) -> bool {
    let mut regions = vec![region];
    let mut defined: HashSet<ValueId> = HashSet::new();
    let mut used: Vec<ValueId> = Vec::new();
    while let Some(region) = regions.pop() {
        for block in &body.regions[region].blocks {
            let block = &body.blocks[*block];
            defined.extend(&block.arguments);
            for op in &block.ops {
                let op = &body.ops[*op];
                defined.extend(&op.results);
                used.extend(&op.operands);
                regions.extend(&op.regions);
            }
        }
    }
    used.iter().all(|value| defined.contains(value))
}
