//! What ends the process of XLA's compilers, or never ends (found with the plugins of 0.106 and 0.112): refused before they see it.
//!
//! XLA stops at a defect of its own with a failed assertion, and its folding of constants divides as the processor does. Neither can be
//! caught.

use std::collections::HashSet;

use artifact_engine::EngineError;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::Literal;
use artifact_ir::module::{Body, Definition, FunctionId, Module, Operation, RegionId, ValueId};
use artifact_ir::op::{Binary, Collective, Control, Creation, Indexing, Linalg, Op, Reduction, Shape};
use artifact_ir::types::Type;

/// Targets of custom calls that are XLA's own: what else calls them, calls them wrongly, which is no error but the end.
const OWN_TARGETS: [&str; 4] = [
    "TopK",
    "SliceToDynamic",
    "PadToStatic",
    "ProductOfElementaryHouseholderReflectors",
];

/// The same, by how they begin.
const OWN_PREFIXES: [&str; 2] = ["__", "xla."];

/// Refuses a program that ends the process, or that never ends.
///
/// # Errors
/// Unsupported, at the operation.
pub(crate) fn refuse(module: &Module, platform: &str) -> Result<(), EngineError> {
    for (_, function) in module.functions.iter() {
        let Some(body) = &function.body else { continue };
        for (_, op) in body.ops.iter() {
            let reason = custom_call(op)
                .or_else(|| queue(op))
                .or_else(|| large(body, op))
                .or_else(|| divided_by_zero(body, op));
            if let Some(reason) = reason {
                return Err(EngineError::unsupported(reason).at(op.source));
            }
            applied(module, body, op, platform)?;
        }
    }
    Ok(())
}

fn custom_call(op: &Operation) -> Option<String> {
    let Op::Control(Control::CustomCall(call)) = &op.op else {
        return None;
    };
    let target = call.call_target_name.as_str()?;
    let own = OWN_TARGETS.contains(&target) || OWN_PREFIXES.iter().any(|prefix| target.starts_with(prefix));
    own.then(|| format!("the custom call `{target}` is one that XLA makes itself, and takes from nobody"))
}

/// There is nothing at the other end of a queue.
fn queue(op: &Operation) -> Option<String> {
    let waits = matches!(
        op.op,
        Op::Collective(
            Collective::Infeed(_) | Collective::Outfeed(_) | Collective::Send(_) | Collective::Recv(_)
        )
    );
    waits.then(|| {
        format!(
            "'{}' would wait for ever: a plugin has no queues here",
            op.op.name()
        )
    })
}

/// XLA counts bytes in 63 bits.
fn large(body: &Body, op: &Operation) -> Option<String> {
    let is_large = |value: &ValueId| match body.ty(*value) {
        Type::Tensor(tensor) => {
            let bytes = tensor.byte_count();
            tensor.is_static() && bytes.is_none_or(|bytes| i64::try_from(bytes).is_err())
        }
        _ => false,
    };
    let large = op.results.iter().find(|value| is_large(value))?;
    Some(format!("XLA has no arrays as large as {}", body.ty(*large)))
}

/// An integer divided by a constant that has a zero.
fn divided_by_zero(body: &Body, op: &Operation) -> Option<String> {
    if !matches!(op.op, Op::Binary(Binary::Divide | Binary::Remainder)) {
        return None;
    }
    let divisor = *op.operands.get(1)?;
    let is_integer = body.ty(divisor).as_tensor()?.element.storage().is_integer();
    let zero = is_integer && constant(body, divisor).is_some_and(has_zero);
    zero.then(|| {
        format!(
            "XLA ends the process where '{}' is by a constant zero",
            op.op.name()
        )
    })
}

/// The constant that a value consists of, in whatever shape.
fn constant(body: &Body, mut value: ValueId) -> Option<&Literal> {
    loop {
        let Definition::Result { op, .. } = body.values[value].definition else {
            return None;
        };
        let op = &body.ops[op];
        match &op.op {
            Op::Creation(Creation::Constant(constant)) => return Some(&constant.value),
            Op::Shape(Shape::BroadcastInDim(_) | Shape::Reshape | Shape::Transpose(_) | Shape::Slice(_)) => {
                value = *op.operands.first()?;
            }
            _ => return None,
        }
    }
}

fn has_zero(literal: &Literal) -> bool {
    let width = literal.ty().element.storage().bytes();
    let is_zero = |element: &[u8]| element.iter().all(|byte| *byte == 0);
    match (literal.as_splat(), literal.as_dense()) {
        (Some(element), _) => is_zero(element),
        (None, Some(elements)) => elements.chunks_exact(width).any(is_zero),
        (None, None) => false,
    }
}

/// Refuses loops and other operations on whole arrays in what an operation applies to elements, such as the function of a reduction or
/// of a sort ("Check failed: operand_maps.size() == 1").
fn applied(module: &Module, body: &Body, op: &Operation, platform: &str) -> Result<(), EngineError> {
    if matches!(op.op, Op::Control(_) | Op::Sharding(_)) {
        return Ok(());
    }
    let mut search = Search {
        module,
        is_cpu: platform == "cpu",
        seen: HashSet::new(),
    };
    let found = op.regions.iter().find_map(|region| search.region(body, *region));
    match found {
        None => Ok(()),
        Some((name, source)) => {
            let outer = op.op.name();
            let what = format!("XLA has no '{name}' in what '{outer}' applies to elements");
            Err(EngineError::unsupported(what).at(source))
        }
    }
}

/// Whether an operation ends the compiler where it is applied to elements. That for GPUs has fewer there than that for the CPU.
const fn is_whole(op: &Op, is_cpu: bool) -> bool {
    match op {
        Op::Control(Control::While)
        | Op::Indexing(Indexing::Scatter(_))
        | Op::Reduction(Reduction::SelectAndScatter(_))
        | Op::Linalg(Linalg::Fft(_)) => true,
        Op::Control(Control::If | Control::Case) | Op::Linalg(_) => !is_cpu,
        _ => false,
    }
}

/// Looks for such operations, in functions that are called too.
struct Search<'m> {
    module: &'m Module,
    is_cpu: bool,
    seen: HashSet<FunctionId>,
}

impl Search<'_> {
    fn region(&mut self, body: &Body, region: RegionId) -> Option<(String, SourceOffset)> {
        let block = body.single_block(region)?;
        let ops = body.blocks[block].ops.iter();
        ops.map(|id| &body.ops[*id])
            .find_map(|op| self.operation(body, op))
    }

    fn operation(&mut self, body: &Body, op: &Operation) -> Option<(String, SourceOffset)> {
        if is_whole(&op.op, self.is_cpu) {
            return Some((op.op.name().to_owned(), op.source));
        }
        match &op.op {
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

    fn function(&mut self, id: FunctionId) -> Option<(String, SourceOffset)> {
        if !self.seen.insert(id) {
            return None;
        }
        let body = self.module.functions[id].body.as_ref()?;
        self.region(body, body.root)
    }
}
