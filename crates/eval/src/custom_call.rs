//! Custom calls that have a meaning here: expectations, assertions, LAPACK, and operations of sizes that are not known in
//! advance. `artifact_ir::custom_call` lists them.

use std::sync::Arc;

use artifact_ir::attribute::Attribute;
use artifact_ir::module::Operation;
use artifact_ir::op::CustomCall;
use artifact_ir::types::{ElementType, TensorType};

use crate::comparison::Closeness;
use crate::dynamic_call::DynamicCall;
use crate::error::EvalError;
use crate::interpreter::{Frame, Process};
use crate::lapack::Routine;
use crate::scalar::Scalar;
use crate::shape::{operand, static_shape};
use crate::tensor::Tensor;
use crate::testing::expect;
use crate::value::Value;

/// What a target stands for.
#[derive(Debug)]
enum Meaning<'a> {
    /// actual, expected: an expectation.
    Check(Closeness),
    /// The same, which also says whether it was met.
    CheckWithResult,
    /// A truth value and the numbers of a message.
    ShapeAssertion,
    /// Its operands, as they are: it only says where they are to be kept.
    Identity,
    /// A result whose elements are not defined.
    Undefined,
    Lapack(Routine<'a>),
    Dynamic(DynamicCall),
}

impl<'a> Meaning<'a> {
    fn of(target: &'a str) -> Option<Self> {
        Some(match target {
            "check.expect_eq" => Self::Check(Closeness::Equal),
            "check.expect_close" => Self::Check(Closeness::Ulp { min: 0, max: 3 }),
            "check.expect_almost_eq" => Self::Check(Closeness::Absolute(1e-3)),
            "check.eq" => Self::CheckWithResult,
            "shape_assertion" => Self::ShapeAssertion,
            "Sharding" | "annotate_device_placement" => Self::Identity,
            "AllocateBuffer" => Self::Undefined,
            _ => match DynamicCall::of(target) {
                Some(call) => Self::Dynamic(call),
                None => Self::Lapack(Routine::of(target)?),
            },
        })
    }
}

/// Runs a custom call.
pub(crate) fn run<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    call: &CustomCall,
) -> Result<Vec<Value>, EvalError> {
    let name = &call.call_target_name;
    let meaning = Meaning::of(name.as_str().unwrap_or_default()).ok_or_else(|| {
        EvalError::unsupported(format!(
            "custom call {name:?} is not known to the reference evaluator"
        ))
    })?;
    match meaning {
        Meaning::Check(closeness) => check(process, frame, op, closeness),
        Meaning::CheckWithResult => check_with_result(process, frame, op),
        Meaning::ShapeAssertion => shape_assertion(&frame.tensors(op)?, op),
        Meaning::Identity => frame.operands(op),
        Meaning::Undefined => undefined(&frame.result_types(op)).map(values),
        Meaning::Lapack(routine) => {
            let (operands, types) = (frame.tensors(op)?, frame.result_types(op));
            let options = backend_options(op, call);
            routine
                .run(&operands, options, call, &types, process.record)
                .map(values)
        }
        Meaning::Dynamic(dynamic) => dynamic.run(process, frame, op, call).map(values),
    }
}

/// Zeros, where anything would do.
pub(crate) fn undefined(types: &[Arc<TensorType>]) -> Result<Vec<Tensor>, EvalError> {
    let zeros = |ty: &Arc<TensorType>| {
        static_shape(ty)?;
        let zero = Scalar::zero(ty.element.storage().class());
        Ok(Tensor::from_fn(Arc::clone(ty), |_| zero)?)
    };
    types.iter().map(zeros).collect()
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

#[cfg(test)]
mod tests {
    use artifact_ir::custom_call::TARGETS;

    use super::*;

    #[test]
    fn the_table_says_what_is_evaluated() {
        for target in TARGETS {
            for name in target.names() {
                assert_eq!(Meaning::of(&name).is_some(), target.evaluated, "{name}");
            }
        }
        for name in [
            "lapack_zorgqr_ffi",
            "lapack_sgetrf",
            "lapack_\u{e9}_ffi",
            "stablehlo.dynamic_",
            "",
        ] {
            assert!(Meaning::of(name).is_none(), "{name}");
        }
    }
}
