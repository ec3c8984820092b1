//! What ends the process of XLA's CPU compiler.

use std::collections::HashSet;

use artifact_engine::EngineError;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Body, FunctionId, Module, Operation, RegionId};
use artifact_ir::op::{Control, Op};

/// Refuses loops in what an operation applies to elements, such as the function of a reduction or of a sort: the compiler stops at
/// them with a failed assertion of its own (XLA 0.106, "Check failed: operand_maps.size() == 1").
///
/// # Errors
/// Unsupported, at the operation.
pub(crate) fn refuse_applied(module: &Module) -> Result<(), EngineError> {
    for (_, function) in module.functions.iter() {
        let Some(body) = &function.body else { continue };
        for (_, op) in body.ops.iter() {
            let applies = !matches!(op.op, Op::Control(_) | Op::Sharding(_));
            let mut search = Search {
                module,
                seen: HashSet::new(),
            };
            let regions = op.regions.iter().filter(|_| applies);
            if let Some(source) = regions
                .into_iter()
                .find_map(|region| search.region(body, *region))
            {
                let what = format!(
                    "XLA's CPU compiler has no loops in what '{}' applies",
                    op.op.name()
                );
                return Err(EngineError::unsupported(what).at(source));
            }
        }
    }
    Ok(())
}

/// Looks for a loop, in functions that are called too.
struct Search<'m> {
    module: &'m Module,
    seen: HashSet<FunctionId>,
}

impl Search<'_> {
    fn region(&mut self, body: &Body, region: RegionId) -> Option<SourceOffset> {
        let block = body.single_block(region)?;
        let ops = body.blocks[block].ops.iter();
        ops.map(|id| &body.ops[*id])
            .find_map(|op| self.operation(body, op))
    }

    fn operation(&mut self, body: &Body, op: &Operation) -> Option<SourceOffset> {
        match &op.op {
            Op::Control(Control::While) => return Some(op.source),
            Op::Control(Control::Call(call)) => {
                let callee = self.module.function(&call.callee.root)?;
                return self.function(callee);
            }
            Op::Control(Control::Composite(composite)) => {
                let callee = self.module.function(&composite.decomposition.root)?;
                return self.function(callee);
            }
            _ => {}
        }
        op.regions.iter().find_map(|region| self.region(body, *region))
    }

    fn function(&mut self, id: FunctionId) -> Option<SourceOffset> {
        if !self.seen.insert(id) {
            return None;
        }
        let body = self.module.functions[id].body.as_ref()?;
        self.region(body, body.root)
    }
}
