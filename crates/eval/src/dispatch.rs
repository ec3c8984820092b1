//! Sends each operation to its family.

use std::sync::Arc;

use artifact_ir::module::Operation;
use artifact_ir::op::{Chlo, Elementwise, Op};
use artifact_ir::types::TensorType;

use crate::error::EvalError;
use crate::interpreter::{Frame, Process};
use crate::tensor::Tensor;
use crate::value::{ApplyRegion, Value};
use crate::{algebra, collective, control, creation, math, shape, sharding, testing};

/// Runs an operation; its results come back in order.
pub(crate) fn run<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
) -> Result<Vec<Value>, EvalError> {
    match &op.op {
        Op::Control(control) => control::run(process, frame, op, control),
        Op::Collective(collective) => collective::run(process, frame, op, collective),
        Op::Sharding(sharding) => sharding::run(process, frame, op, sharding),
        Op::Testing(testing) => testing::run(process, frame, op, testing),
        Op::Creation(creation) => {
            creation::run(creation, &frame.tensors(op)?, &frame.result_types(op)).map(values)
        }
        Op::Shape(shape) => {
            let types = frame.result_types(op);
            shape::run(shape, &frame.tensors(op)?, &types[0]).map(value)
        }
        Op::Foreign(_) => Err(EvalError::unsupported(format!(
            "{} is of an unknown dialect and not evaluated",
            op.op.name()
        ))),
        Op::Unary(unary) => {
            let [operand] = fixed(op, frame.tensors(op)?)?;
            math::unary(unary, &operand, &sized_as(&result_type(frame, op)?, &operand)).map(value)
        }
        Op::Binary(binary) => {
            let [lhs, rhs] = fixed(op, frame.tensors(op)?)?;
            math::binary(binary, &lhs, &rhs, &sized_as(&result_type(frame, op)?, &lhs)).map(value)
        }
        Op::Elementwise(elementwise) => {
            let operands = frame.tensors(op)?;
            let ty = elementwise_type(elementwise, &operands, &result_type(frame, op)?);
            math::elementwise(elementwise, &operands, &ty).map(value)
        }
        Op::Chlo(chlo) => run_chlo(process, frame, op, chlo),
        Op::Contraction(contraction) => {
            algebra::contraction(contraction, &frame.tensors(op)?, &result_type(frame, op)?).map(value)
        }
        Op::Linalg(linalg) => {
            algebra::linalg(linalg, &frame.tensors(op)?, &frame.result_types(op)).map(values)
        }
        Op::Indexing(indexing) => with_regions(process, frame, op, |operands, types, apply| {
            algebra::indexing(indexing, operands, types, apply)
        }),
        Op::Reduction(reduction) => with_regions(process, frame, op, |operands, types, apply| {
            algebra::reduction(reduction, operands, types, apply)
        }),
    }
}

fn run_chlo<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    chlo: &'m Chlo,
) -> Result<Vec<Value>, EvalError> {
    match chlo {
        Chlo::Scan(scan) => with_regions(process, frame, op, |operands, types, apply| {
            algebra::scan(scan, operands, types, apply)
        }),
        Chlo::RaggedDot(dot) => {
            algebra::ragged_dot(dot, &frame.tensors(op)?, &result_type(frame, op)?).map(value)
        }
        other => {
            let results = math::chlo(other, &frame.tensors(op)?, &frame.result_types(op))?;
            results
                .map(values)
                .ok_or_else(|| EvalError::unsupported(format!("{} is not evaluated", op.op.name())))
        }
    }
}

/// Runs an operation that applies its own regions to tensors.
fn with_regions<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    run: impl FnOnce(&[Tensor], &[Arc<TensorType>], &mut ApplyRegion<'_>) -> Result<Vec<Tensor>, EvalError>,
) -> Result<Vec<Value>, EvalError> {
    let (operands, types) = (frame.tensors(op)?, frame.result_types(op));
    let mut apply = |region: usize, arguments: &[Tensor]| {
        let missing = || EvalError::runtime(format!("{} has no region {region}", op.op.name()));
        let region = op.regions.get(region).ok_or_else(missing)?;
        let results = process.region(frame, *region, values(arguments.to_vec()))?;
        results.iter().map(|result| result.as_tensor().cloned()).collect()
    };
    run(&operands, &types, &mut apply).map(values)
}

/// The operands of an operation that takes `N`, which the verifier has counted.
fn fixed<const N: usize>(op: &Operation, operands: Vec<Tensor>) -> Result<[Tensor; N], EvalError> {
    let wrong = |operands: Vec<Tensor>| {
        EvalError::runtime(format!(
            "{} takes {N} operands and has {}",
            op.op.name(),
            operands.len()
        ))
    };
    operands.try_into().map_err(wrong)
}

/// The declared type of the only result.
fn result_type(frame: &Frame<'_>, op: &Operation) -> Result<Arc<TensorType>, EvalError> {
    let first = frame.result_types(op).into_iter().next();
    first.ok_or_else(|| EvalError::runtime(format!("{} has no result that is a tensor", op.op.name())))
}

/// A declared type with the sizes of an operand of the same shape, where the program does not say them.
fn sized_as(declared: &Arc<TensorType>, operand: &Tensor) -> Arc<TensorType> {
    if declared.is_static() || declared.rank() != operand.ty().rank() {
        return Arc::clone(declared);
    }
    Arc::new(TensorType::new(
        operand.ty().dims.clone(),
        declared.element.clone(),
    ))
}

/// As [`sized_as`], of the operand that has the result's shape. A bit cast may change the rank, and keeps its declared type.
fn elementwise_type(op: &Elementwise, operands: &[Tensor], declared: &Arc<TensorType>) -> Arc<TensorType> {
    let like = match op {
        Elementwise::Clamp | Elementwise::Select => 1,
        Elementwise::BitcastConvert
        | Elementwise::Compare(_)
        | Elementwise::Complex
        | Elementwise::Convert
        | Elementwise::ReducePrecision(_)
        | Elementwise::UniformDequantize
        | Elementwise::UniformQuantize => 0,
    };
    operands
        .get(like)
        .map_or_else(|| Arc::clone(declared), |operand| sized_as(declared, operand))
}

fn value(tensor: Tensor) -> Vec<Value> {
    vec![Value::Tensor(tensor)]
}

fn values(tensors: Vec<Tensor>) -> Vec<Value> {
    tensors.into_iter().map(Value::Tensor).collect()
}
