//! Calls between functions: they resolve, their types agree, and no function reaches itself.

use std::collections::HashMap;

use artifact_core::entity::EntityId as _;

use super::Findings;
use super::context::{OpContext, OpError, OpResult, ensure};
use crate::attribute::SymbolRef;
use crate::diagnostic::Diagnostic;
use crate::infer::quoted;
use crate::module::{Function, FunctionId, Module, Operation};
use crate::op::{Control, Op, Testing};
use crate::types::Type;

/// Checks the functions that an operation names.
pub(super) fn check(op: &Op, cx: &OpContext<'_>) -> OpResult<()> {
    let Some(module) = cx.module else {
        return Ok(());
    };
    match op {
        Op::Control(Control::Call(call)) => {
            check_signature(resolve(module, &call.callee)?, cx.operands, cx.results)
        }
        // composite_c2 to composite_c4.
        Op::Control(Control::Composite(composite)) => check_signature(
            resolve(module, &composite.decomposition)?,
            cx.operands,
            cx.results,
        ),
        // What a custom call may call is between it and its target: released artifacts name functions that are not there.
        _ => Ok(()),
    }
}

/// The function that a symbol names.
pub(crate) fn resolve<'a>(module: &'a Module, symbol: &SymbolRef) -> OpResult<&'a Function> {
    let found = symbol
        .nested
        .is_empty()
        .then(|| module.function(&symbol.root))
        .flatten()
        .and_then(|id| module.functions.get(id));
    found.ok_or_else(|| OpError::new(format!("'{}' does not reference a valid function", symbol.root)))
}

fn check_signature(callee: &Function, operands: &[&Type], results: &[&Type]) -> OpResult<()> {
    for (what, have, want) in [
        ("operand", operands, &callee.arguments),
        ("result", results, &callee.results),
    ] {
        let want = || want.iter().map(|parameter| &parameter.ty);
        ensure!(
            have.iter().copied().eq(want()),
            "has {what} types {}, but function @{} has {}",
            quoted(have),
            callee.name,
            quoted(&want().collect::<Vec<_>>())
        );
    }
    Ok(())
}

/// The functions that an operation may enter.
fn targets(op: &Op) -> Vec<&SymbolRef> {
    match op {
        Op::Control(Control::Call(call)) => vec![&call.callee],
        Op::Control(Control::Composite(composite)) => vec![&composite.decomposition],
        Op::Control(Control::CustomCall(call)) => call.called_computations.iter().collect(),
        Op::Testing(Testing::RunParallel(run)) => run
            .programs
            .iter()
            .flatten()
            .chain(run.infeed.iter().flatten())
            .collect(),
        _ => Vec::new(),
    }
}

/// Where a walk over the call graph has been.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Reports each call that closes a cycle. The walk keeps its own stack: a chain of calls may be as long as the file.
pub(super) fn check_acyclic(module: &Module, findings: &mut Findings) {
    let edges = edges(module);
    let mut visits = vec![Visit::New; module.functions.len()];
    for (start, _) in module.functions.iter() {
        if visits[start.index()] != Visit::New {
            continue;
        }
        let mut stack = vec![(start, 0)];
        visits[start.index()] = Visit::Open;
        while let Some((function, next)) = stack.last_mut() {
            let outgoing = edges.get(function).map_or([].as_slice(), Vec::as_slice);
            let Some((callee, call)) = outgoing.get(*next) else {
                visits[function.index()] = Visit::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            match visits[callee.index()] {
                Visit::New => {
                    visits[callee.index()] = Visit::Open;
                    stack.push((*callee, 0));
                }
                Visit::Open => findings.report(recursion(module, *callee, call)),
                Visit::Done => {}
            }
        }
    }
}

/// The calls of each function that resolve.
fn edges(module: &Module) -> HashMap<FunctionId, Vec<(FunctionId, &Operation)>> {
    let mut edges: HashMap<FunctionId, Vec<(FunctionId, &Operation)>> = HashMap::new();
    for (id, function) in module.functions.iter() {
        let Some(body) = &function.body else {
            continue;
        };
        for (_, operation) in body.ops.iter() {
            for symbol in targets(&operation.op) {
                if let Some(callee) = module.function(&symbol.root) {
                    edges.entry(id).or_default().push((callee, operation));
                }
            }
        }
    }
    edges
}

fn recursion(module: &Module, callee: FunctionId, call: &Operation) -> Diagnostic {
    let name = module.functions.get(callee).map_or("", |function| &function.name);
    Diagnostic {
        message: format!(
            "'{}' op calls @{name}, which leads back to this call: recursion is not allowed",
            call.op.name()
        ),
        source: call.source,
        location: call.location,
    }
}
