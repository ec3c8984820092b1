//! Data movement whose result shape is an operand.

use std::collections::BTreeSet;

use super::compatible::{ensure_elements, ensure_same_element, ensure_shapes};
use super::element::Elements;
use super::shape::{broadcast_positions, ensure_same_count, padded};
use super::{positions, quantization, shape_operand};
use crate::op::DynamicBroadcastInDim;
use crate::types::{Dim, TensorType};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

/// `dynamic_broadcast_in_dim`.
pub(super) fn broadcast_in_dim(op: &DynamicBroadcastInDim, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let length = cx.static_vector(1, Elements::DIMENSION)?;
    let result = cx.declared(0, Elements::ANY_PER_AXIS)?;
    // C1.
    ensure_elements(&[operand, result])?;
    quantization::check_kept_per_tensor(operand, result)?;
    // C2 to C4.
    let positions = broadcast_positions(&op.broadcast_dimensions, operand, result)?;
    // C7.
    shape_operand::check(cx, 1, length, result)?;
    let shape = cx.constant(1);
    for (index, position) in positions.iter().enumerate() {
        let (from, to) = (&operand.dims[index], &result.dims[*position]);
        // The value of the shape operand says more than a result type that leaves the size open.
        let value = shape
            .as_ref()
            .and_then(|shape| shape.get(*position))
            .and_then(|size| u64::try_from(*size).ok());
        ensure!(
            *from == Dim::Static(1)
                || (from.compatible(to) && value.is_none_or(|value| from.compatible(&Dim::Static(value)))),
            "size {from} of operand dimension {index} is not 1 or the size of result dimension {position} (C5)"
        );
    }
    // C6.
    quantization::check_broadcast(operand, result, &positions)?;
    check_hints(op, operand)?;
    Ok(Results::Declared)
}

/// Each operand dimension stands at most once in both hints together (C8) and exists (C9, C10).
fn check_hints(op: &DynamicBroadcastInDim, operand: &TensorType) -> OpResult<()> {
    let hints = [&op.known_expanding_dimensions, &op.known_nonexpanding_dimensions];
    let mut seen = BTreeSet::new();
    for hint in hints.into_iter().flatten().flatten() {
        let dimension = positions::dimension("a hint for an expanding dimension", *hint, operand.rank())?;
        ensure!(
            seen.insert(dimension),
            "operand dimension {dimension} has more than one expansion hint (C8)"
        );
    }
    Ok(())
}

/// `dynamic_pad`.
pub(super) fn pad(cx: &OpContext<'_>) -> OpResult {
    let (operand, value) = (cx.tensor(0, Elements::ANY)?, cx.scalar(1, Elements::ANY)?);
    let result = cx.declared(0, Elements::ANY)?;
    // C1.
    ensure_same_element(&[operand, value, result])?;
    ensure!(
        operand.rank() == result.rank(),
        "the result '{result}' must have the rank of the operand '{operand}' (C4)"
    );
    for index in 2..5 {
        let length = cx.static_vector(index, Elements::DIMENSION)?;
        ensure!(
            cx.operands[index] == cx.operands[2],
            "the types of the padding operands must be equal (C2)"
        );
        ensure!(
            length == operand.rank() as u64,
            "operand #{index} has {length} elements, which does not match the rank of the operand ({}) (C2)",
            operand.rank()
        );
    }
    let Some(interior) = cx.constant(4) else {
        return Ok(Results::Declared);
    };
    for amount in &interior {
        // C3.
        positions::size("interior padding", *amount)?;
    }
    let (Some(low), Some(high)) = (cx.constant(2), cx.constant(3)) else {
        return Ok(Results::Declared);
    };
    for (index, (from, to)) in operand.dims.iter().zip(&result.dims).enumerate() {
        let (Some(from), Some(to)) = (from.as_static(), to.as_static()) else {
            continue;
        };
        let expected = padded(index, from, [low[index], high[index], interior[index]])?;
        ensure!(
            to == expected,
            "expects size {expected} of result dimension {index}, but got {to} (C4)"
        );
    }
    Ok(Results::Declared)
}

/// `dynamic_reshape`.
pub(super) fn reshape(cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let length = cx.static_vector(1, Elements::DIMENSION)?;
    let result = cx.declared(0, Elements::ANY_PER_AXIS)?;
    // C1.
    ensure_elements(&[operand, result])?;
    ensure_same_count(operand, result)?;
    // C4, C5.
    shape_operand::check(cx, 1, length, result)?;
    if let (Some(count), Some(shape)) = (operand.element_count(), cx.constant(1)) {
        let shape_count = shape
            .iter()
            .map(|size| u64::try_from(*size).ok())
            .try_fold(1_u64, |product, size| product.checked_mul(size?));
        ensure!(
            shape_count == Some(count) || shape.contains(&0) && count == 0,
            "the operand '{operand}' has {count} elements, which the output shape {shape:?} does not hold (C2)"
        );
    }
    // C3.
    quantization::check_reshape(operand, result)?;
    Ok(Results::Declared)
}

/// `real_dynamic_slice`, which the specification does not have.
pub(super) fn slice(cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    let result = cx.declared(0, Elements::ANY)?;
    ensure_same_element(&[operand, result])?;
    for index in 1..4 {
        let list = cx.vector(index, Elements::DIMENSION)?;
        ensure!(
            cx.operands[index] == cx.operands[1],
            "the types of start indices, limit indices and strides must be equal"
        );
        ensure!(
            list.dims[0].compatible(&Dim::Static(operand.rank() as u64)),
            "operand #{index} '{list}' does not have as many elements as the operand has dimensions ({})",
            operand.rank()
        );
    }
    ensure!(
        operand.rank() == result.rank(),
        "the result '{result}' must have the rank of the operand '{operand}'"
    );
    let constants = [cx.constant(1), cx.constant(2), cx.constant(3)];
    if let [Some(starts), Some(limits), Some(strides)] = constants {
        let shape = super::shape::slice_type(operand, [&starts, &limits, &strides])?;
        let shape = super::operand::any_tensor(&shape, "the slice")?;
        ensure_shapes(&[shape, result]).map_err(|_| {
            OpError::new(format!(
                "the slice has type '{shape}', which is incompatible with the result '{result}'"
            ))
        })?;
    }
    Ok(Results::Declared)
}
