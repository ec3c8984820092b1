//! Parts of tensors (spec, "slice", "dynamic_slice", "dynamic_update_slice"; `real_dynamic_slice` is `slice` with operands).

use std::sync::Arc;

use artifact_ir::types::TensorType;

use super::view::View;
use super::{i64_operand, operand, resized};
use crate::error::EvalError;
use crate::tensor::{Tensor, shape_of};

/// Every `strides[d]`-th position of each dimension from `starts[d]` up to `limits[d]`.
pub(crate) fn slice(
    operand: &Tensor,
    starts: &[i64],
    limits: &[i64],
    steps: &[i64],
    declared: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let from = operand.shape();
    if [starts.len(), limits.len(), steps.len()] != [from.len(); 3] {
        return Err(EvalError::invalid_input(
            "a slice needs one start, limit and stride for each dimension",
        ));
    }
    let mut view = View::of(&from);
    let mut shape = Vec::with_capacity(from.len());
    for (dimension, size) in from.iter().enumerate() {
        let (start, limit, step) = (starts[dimension], limits[dimension], steps[dimension]);
        if start < 0 || limit < start || limit as u64 > *size as u64 || step < 1 {
            return Err(EvalError::runtime(format!(
                "slice from {start} to {limit} by {step} of dimension {dimension}, which has size {size}"
            )));
        }
        view.start += view.strides[dimension] * start as isize;
        // A stride is at most as far as the dimension is long when it is used at all.
        view.strides[dimension] = view.strides[dimension].saturating_mul(step as isize);
        shape.push(((limit - start) as u64).div_ceil(step as u64) as usize);
    }
    view.read(operand, resized(declared, &shape))
}

/// A part of a given size; starts are moved so that it fits.
pub(crate) fn dynamic_slice(
    operands: &[Tensor],
    sizes: &[i64],
    declared: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let from = operand(operands, 0)?;
    let bounds = from.shape();
    let shape: Vec<usize> = sizes
        .iter()
        .map(|size| usize::try_from(*size).unwrap_or(0))
        .collect();
    let view = window(operands, 1, &bounds, &shape)?;
    view.read(from, resized(declared, &shape))
}

/// The operand with a part overwritten; starts are moved so that the part fits.
pub(crate) fn dynamic_update_slice(operands: &[Tensor]) -> Result<Tensor, EvalError> {
    let (into, update) = (operand(operands, 0)?, operand(operands, 1)?);
    let shape = shape_of(update.ty());
    let view = window(operands, 2, &into.shape(), &shape)?;
    let width = into.storage().bytes();
    let mut bytes = into.bytes().to_vec();
    for (position, element) in update.bytes().chunks_exact(width).enumerate() {
        let at = view.position(position, &shape) * width;
        bytes[at..at + width].copy_from_slice(element);
    }
    Ok(Tensor::from_bytes(Arc::clone(into.ty()), bytes)?)
}

/// The view of a part of `shape` within `bounds`, its start index taken from the operands from `first` on.
fn window(operands: &[Tensor], first: usize, bounds: &[usize], shape: &[usize]) -> Result<View, EvalError> {
    if shape.len() != bounds.len() || operands.len() != first + bounds.len() {
        return Err(EvalError::invalid_input(
            "a part needs one start and one size for each dimension",
        ));
    }
    let mut view = View::of(bounds);
    for (dimension, (bound, size)) in bounds.iter().zip(shape).enumerate() {
        let most = bound.checked_sub(*size).ok_or_else(|| {
            EvalError::runtime(format!(
                "a part of size {size} does not fit into dimension {dimension} of size {bound}"
            ))
        })?;
        let start = start_index(operands, first + dimension)?;
        view.start += view.strides[dimension] * start.clamp(0, most as i128) as isize;
    }
    Ok(view)
}

/// A scalar index; unsigned ones reach beyond `i64`.
fn start_index(operands: &[Tensor], index: usize) -> Result<i128, EvalError> {
    let values = operand(operands, index)?.to_ints().unwrap_or_default();
    match values.as_slice() {
        [start] => Ok(*start),
        // Says which operand and why.
        _ => i64_operand(operands, index).and_then(|_| {
            Err(EvalError::invalid_input(format!(
                "operand {index} is a start index, and not a scalar"
            )))
        }),
    }
}
