//! Custom calls that have a meaning here: expectations, assertions, LAPACK, and operations of sizes that are not known in
//! advance.

use std::sync::Arc;

use artifact_ir::attribute::Attribute;
use artifact_ir::module::Operation;
use artifact_ir::op::CustomCall;
use artifact_ir::types::{ElementType, TensorType};

use crate::comparison::Closeness;
use crate::dynamic_call;
use crate::error::EvalError;
use crate::interpreter::{Frame, Process};
use crate::lapack::Routine;
use crate::scalar::Scalar;
use crate::shape::operand;
use crate::tensor::Tensor;
use crate::testing::expect;
use crate::value::Value;

/// Runs a custom call.
pub(crate) fn run<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    call: &CustomCall,
) -> Result<Vec<Value>, EvalError> {
    let target = call.call_target_name.as_str().unwrap_or_default();
    match target {
        "check.expect_eq" => check(process, frame, op, Closeness::Equal),
        "check.expect_close" => check(process, frame, op, Closeness::Ulp { min: 0, max: 3 }),
        "check.expect_almost_eq" => check(process, frame, op, Closeness::Absolute(1e-3)),
        "check.eq" => check_with_result(process, frame, op),
        "shape_assertion" => shape_assertion(&frame.tensors(op)?, op),
        "ApproxTopK" => dynamic_call::approx_top_k(process, frame, op, call).map(values),
        _ => match (Routine::of(target), target.strip_prefix("stablehlo.dynamic_")) {
            (Some(routine), _) => {
                let (operands, types) = (frame.tensors(op)?, frame.result_types(op));
                let options = backend_options(op, call);
                routine
                    .run(&operands, options, call, &types, process.record)
                    .map(values)
            }
            (None, Some(name)) => dynamic_call::run(name, process, frame, op, call).map(values),
            (None, None) => {
                let name = &call.call_target_name;
                Err(EvalError::unsupported(format!(
                    "custom call {name:?} is not known to the reference evaluator"
                )))
            }
        },
    }
}

/// The dictionary of a typed custom call; JAX keeps it beside the operation's own attributes.
pub(crate) fn backend_options<'a>(op: &'a Operation, call: &'a CustomCall) -> Option<&'a Attribute> {
    match &call.backend_config {
        Some(options @ Attribute::Dictionary(_)) => Some(options),
        _ => op.attributes.get("mhlo.backend_config"),
    }
}

fn values(tensors: Vec<Tensor>) -> Vec<Value> {
    tensors.into_iter().map(Value::Tensor).collect()
}

/// actual, expected.
fn check(
    process: &Process<'_>,
    frame: &Frame<'_>,
    op: &Operation,
    closeness: Closeness,
) -> Result<Vec<Value>, EvalError> {
    let operands = frame.tensors(op)?;
    expect(
        process,
        op,
        operand(&operands, 0)?,
        operand(&operands, 1)?,
        closeness,
    );
    Ok(Vec::new())
}

/// The expectation of StableHLO's quantized tests, which also says as an `i1` whether it was met.
fn check_with_result(
    process: &Process<'_>,
    frame: &Frame<'_>,
    op: &Operation,
) -> Result<Vec<Value>, EvalError> {
    let operands = frame.tensors(op)?;
    let (got, want) = (operand(&operands, 0)?, operand(&operands, 1)?);
    let met = expect(process, op, got, want, Closeness::Absolute(1e-4));
    let ty = frame.result_types(op).into_iter().next();
    let ty = ty.unwrap_or_else(|| Arc::new(TensorType::of_static(&[], ElementType::I1)));
    Ok(vec![Value::Tensor(Tensor::from_fn(ty, |_| Scalar::Bool(met))?)])
}

/// JAX's check of its shape constraints: a truth value, then the numbers that `error_message` quotes as `{0}`, `{1}`...
fn shape_assertion(operands: &[Tensor], op: &Operation) -> Result<Vec<Value>, EvalError> {
    let holds = operand(operands, 0)?;
    if holds.scalars().all(|element| element.as_bool() == Some(true)) {
        return Ok(Vec::new());
    }
    let message = op.attributes.get("error_message").and_then(Attribute::as_str);
    let mut message = message.unwrap_or("a shape assertion does not hold").to_owned();
    for (index, value) in operands[1..].iter().enumerate() {
        let numbers: Vec<String> = value.scalars().map(|scalar| scalar.to_string()).collect();
        message = message.replace(&format!("{{{index}}}"), &numbers.join(", "));
    }
    Err(EvalError::failed_check(message))
}
