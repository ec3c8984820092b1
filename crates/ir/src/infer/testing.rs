//! The dialects of the specification's own tests (upstream: `CheckOps.td`, `InterpreterOps.cpp`).

use super::compatible::{self, ensure_elements, ensure_shapes, quoted};
use super::element::Elements;
use crate::literal::Literal;
use crate::module::Function;
use crate::op::{RunParallel, Testing};
use crate::types::Type;
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};
use crate::verify::resolve;

pub(super) fn rules(op: &Testing, cx: &OpContext<'_>) -> OpResult {
    match op {
        Testing::ExpectAlmostEq(_) | Testing::ExpectClose(_) | Testing::ExpectEq => {
            let (actual, expected) = (
                cx.tensor(0, Elements::ANY_PER_AXIS)?,
                cx.tensor(1, Elements::ANY_PER_AXIS)?,
            );
            ensure_elements(&[actual, expected])?;
            ensure_shapes(&[actual, expected])?;
            Ok(Results::Declared)
        }
        Testing::ExpectAlmostEqConst(op) => expect_constant(&op.value, cx),
        Testing::ExpectEqConst(op) => expect_constant(&op.value, cx),
        Testing::ExpectSerializedEq(_) | Testing::Print => {
            cx.tensor(0, Elements::ANY_PER_AXIS)?;
            Ok(Results::Declared)
        }
        Testing::Probe(_) => Ok(Results::Inferred(vec![
            cx.tensor(0, Elements::ANY_PER_AXIS)?.clone().into(),
        ])),
        Testing::RunParallel(op) => run_parallel(op, cx),
    }
}

/// The constant has the operand's shape and element; that of a quantized operand may be given by its storage or expressed type.
fn expect_constant(value: &Literal, cx: &OpContext<'_>) -> OpResult {
    let actual = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let expected = value.ty();
    let fits = compatible::elements(&actual.element, &expected.element)
        || expected.element.as_plain() == Some(actual.element.storage())
        || expected.element.as_plain() == Some(actual.element.expressed());
    ensure!(
        fits && compatible::shapes(actual, expected),
        "expects a constant of the operand's type, but got '{expected}' for '{actual}'"
    );
    Ok(Results::Declared)
}

/// A grid of replicas by partitions; operands and results are those of all programs in order.
fn run_parallel(op: &RunParallel, cx: &OpContext<'_>) -> OpResult {
    let partitions = op.programs.first().map_or(0, Vec::len);
    ensure!(partitions > 0, "attribute 'programs' must not be empty");
    for replica in &op.programs {
        ensure!(
            replica.len() == partitions,
            "each row of 'programs' must have {partitions} functions, but one has {}",
            replica.len()
        );
    }
    ensure!(
        op.infeed.as_ref().is_none_or(|infeed| !infeed.is_empty()),
        "attribute 'infeed' must not be empty"
    );
    let Some(module) = cx.module else {
        return Ok(Results::Declared);
    };
    let programs: Vec<&Function> = op
        .programs
        .iter()
        .flatten()
        .map(|symbol| resolve(module, symbol))
        .collect::<OpResult<_>>()?;
    let inputs: Vec<Type> = programs.iter().flat_map(|program| program.ty().inputs).collect();
    let results: Vec<Type> = programs.iter().flat_map(|program| program.ty().results).collect();
    for (what, have, want) in [
        ("operands", cx.operands, &inputs),
        ("results", cx.results, &results),
    ] {
        ensure!(
            compatible::lists(have, want),
            "{what} must be those of all programs, {}, but are {}",
            quoted(want),
            quoted(have)
        );
    }
    for symbol in op.infeed.iter().flatten() {
        let types = resolve(module, symbol)?.ty().results;
        if !matches!(types.as_slice(), [Type::Tensor(_)]) {
            return Err(OpError::new(format!(
                "function @{} of 'infeed' must return one tensor, but returns {}",
                symbol.root,
                quoted(&types)
            )));
        }
    }
    Ok(Results::Declared)
}
