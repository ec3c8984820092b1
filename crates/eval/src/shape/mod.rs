//! Data movement that depends on shapes (spec, "Ops": broadcast_in_dim to transpose, and the dynamic variants of them).
//!
//! The shape of a result is computed from the operands of the run, static programs included, so that one function serves an
//! operation and its dynamic variant.

mod join;
mod slice;
mod view;

use std::sync::Arc;

use artifact_ir::op::Shape;
use artifact_ir::types::{ElementType, TensorType};

use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, strides};
use view::View;

/// Runs an operation of the family. `declared` is the result's type as the program writes it.
pub(crate) fn run(op: &Shape, operands: &[Tensor], declared: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let operand = operand(operands, 0)?;
    match op {
        Shape::Broadcast(op) => broadcast(operand, &op.broadcast_sizes, declared),
        Shape::BroadcastInDim(op) => {
            let shape = static_shape(declared)?;
            broadcast_in_dim(operand, &op.broadcast_dimensions, &shape, declared)
        }
        Shape::DynamicBroadcastInDim(op) => {
            let shape = shape_operand(operands, 1)?;
            broadcast_in_dim(operand, &op.broadcast_dimensions, &shape, declared)
        }
        Shape::Concatenate(op) => join::concatenate(operands, op.dimension, declared),
        Shape::Pad(op) => {
            let (low, high) = (&op.edge_padding_low, &op.edge_padding_high);
            let padding = join::Padding::new(low, high, &op.interior_padding);
            join::pad(operand, self::operand(operands, 1)?, &padding, declared)
        }
        Shape::DynamicPad => {
            let [low, high, interior] = [2, 3, 4].map(|index| i64_operand(operands, index));
            let padding = join::Padding::new(&low?, &high?, &interior?);
            join::pad(operand, self::operand(operands, 1)?, &padding, declared)
        }
        Shape::DynamicSlice(op) => slice::dynamic_slice(operands, &op.slice_sizes, declared),
        Shape::DynamicUpdateSlice => slice::dynamic_update_slice(operands),
        Shape::Slice(op) => slice::slice(
            operand,
            &op.start_indices,
            &op.limit_indices,
            &op.strides,
            declared,
        ),
        Shape::RealDynamicSlice => {
            let [starts, limits, strides] = [1, 2, 3].map(|index| i64_operand(operands, index));
            slice::slice(operand, &starts?, &limits?, &strides?, declared)
        }
        Shape::GetDimensionSize(op) => get_dimension_size(operand, op.dimension),
        Shape::SetDimensionSize(op) => {
            set_dimension_size(operand, self::operand(operands, 1)?, op.dimension, declared)
        }
        Shape::Reshape => reshape(operand, &static_shape(declared)?, declared),
        Shape::DynamicReshape => reshape(operand, &shape_operand(operands, 1)?, declared),
        Shape::Reverse(op) => reverse(operand, &op.dimensions, declared),
        Shape::Transpose(op) => transpose(operand, &op.permutation, declared),
    }
}

/// The parts one after the other along a dimension, under the element type of the first.
pub(crate) fn join_along(parts: &[Tensor], along: i64) -> Result<Tensor, EvalError> {
    join::concatenate(parts, along, operand(parts, 0)?.ty())
}

/// Part `index` of `count` equal parts along a dimension.
pub(crate) fn part_along(
    whole: &Tensor,
    along: i64,
    index: usize,
    count: usize,
) -> Result<Tensor, EvalError> {
    let shape = whole.shape();
    let along = dimension(along, shape.len())?;
    let size = shape[along];
    if count == 0 || !size.is_multiple_of(count) {
        return Err(EvalError::runtime(format!(
            "a dimension of size {size} does not split into {count} parts"
        )));
    }
    let part = (size / count) as i64;
    let mut starts = vec![0; shape.len()];
    let mut limits: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
    starts[along] = part * index as i64;
    limits[along] = starts[along] + part;
    slice::slice(whole, &starts, &limits, &vec![1; shape.len()], whole.ty())
}

/// The elements before `limits` in each dimension.
pub(crate) fn first_elements(whole: &Tensor, limits: &[i64]) -> Result<Tensor, EvalError> {
    let (starts, strides) = (vec![0; limits.len()], vec![1; limits.len()]);
    slice::slice(whole, &starts, limits, &strides, whole.ty())
}

/// Operand number `index`.
pub(crate) fn operand(operands: &[Tensor], index: usize) -> Result<&Tensor, EvalError> {
    let missing = || EvalError::runtime(format!("operand {index} is missing: the module is not verified"));
    operands.get(index).ok_or_else(missing)
}

/// The type with the element of `declared` and the sizes of this run.
pub(crate) fn resized(declared: &Arc<TensorType>, shape: &[usize]) -> Arc<TensorType> {
    let shape: Vec<u64> = shape.iter().map(|size| *size as u64).collect();
    if declared.static_shape().as_ref() == Some(&shape) {
        return Arc::clone(declared);
    }
    Arc::new(TensorType::of_static(&shape, declared.element.clone()))
}

/// The shape of a type that the specification asks to be static.
pub(crate) fn static_shape(ty: &TensorType) -> Result<Vec<usize>, EvalError> {
    let shape = ty.static_shape().ok_or_else(|| {
        EvalError::unsupported(format!("a result of unknown shape, {ty}, from static attributes"))
    })?;
    Ok(shape.into_iter().map(|size| size as usize).collect())
}

/// The elements of an integer operand, as `i64`.
pub(crate) fn i64_operand(operands: &[Tensor], index: usize) -> Result<Vec<i64>, EvalError> {
    let tensor = operand(operands, index)?;
    let values = tensor
        .to_ints()
        .ok_or_else(|| EvalError::runtime(format!("operand {index} is {}, not integers", tensor.ty())))?;
    let narrow = |value: i128| {
        i64::try_from(value).map_err(|_| EvalError::runtime(format!("operand {index} holds {value}")))
    };
    values.into_iter().map(narrow).collect()
}

/// The elements of an operand that names a shape.
pub(crate) fn shape_operand(operands: &[Tensor], index: usize) -> Result<Vec<usize>, EvalError> {
    let size = |size: i64| {
        usize::try_from(size)
            .map_err(|_| EvalError::runtime(format!("operand {index} asks for the size {size}")))
    };
    i64_operand(operands, index)?.into_iter().map(size).collect()
}

/// Attributes that name dimensions, as positions below `rank`.
pub(crate) fn dimensions(attribute: &[i64], rank: usize) -> Result<Vec<usize>, EvalError> {
    attribute
        .iter()
        .map(|dimension| self::dimension(*dimension, rank))
        .collect()
}

/// An attribute that names a dimension, as a position below `rank`.
pub(crate) fn dimension(attribute: i64, rank: usize) -> Result<usize, EvalError> {
    usize::try_from(attribute)
        .ok()
        .filter(|dimension| *dimension < rank)
        .ok_or_else(|| EvalError::invalid_input(format!("dimension {attribute} of a tensor of rank {rank}")))
}

/// Legacy: the operand after new leading dimensions.
fn broadcast(operand: &Tensor, sizes: &[i64], declared: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let leading = sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0));
    let shape: Vec<usize> = leading.chain(operand.shape()).collect();
    let dimensions: Vec<i64> = (sizes.len()..shape.len())
        .map(|dimension| dimension as i64)
        .collect();
    broadcast_in_dim(operand, &dimensions, &shape, declared)
}

/// Spec, "broadcast_in_dim": operand dimension `d` becomes result dimension `broadcast_dimensions[d]`.
fn broadcast_in_dim(
    operand: &Tensor,
    broadcast_dimensions: &[i64],
    shape: &[usize],
    declared: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let from = operand.shape();
    let targets = dimensions(broadcast_dimensions, shape.len())?;
    if targets.len() != from.len() {
        return Err(EvalError::invalid_input(
            "broadcast_dimensions does not name every dimension",
        ));
    }
    let mut view = View::zero(shape.len());
    for ((size, stride), target) in from.iter().zip(strides(&from)).zip(targets) {
        match *size {
            size if size == shape[target] => view.strides[target] = stride as isize,
            1 => {}
            size => {
                let wide = shape[target];
                return Err(EvalError::runtime(format!(
                    "a dimension of size {size} cannot be broadcast to size {wide}"
                )));
            }
        }
    }
    view.read(operand, resized(declared, shape))
}

/// Spec, "reshape": the same elements in row-major order.
fn reshape(operand: &Tensor, shape: &[usize], declared: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let ty = resized(declared, shape);
    if ty.byte_count() != operand.ty().byte_count() {
        return Err(EvalError::runtime(format!(
            "{} cannot be reshaped to {ty}",
            operand.ty()
        )));
    }
    Ok(operand.with_type(ty))
}

/// Spec, "reverse".
fn reverse(operand: &Tensor, reversed: &[i64], declared: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let shape = operand.shape();
    let mut view = View::of(&shape);
    for dimension in dimensions(reversed, shape.len())? {
        view.start += view.strides[dimension] * (shape[dimension] as isize - 1);
        view.strides[dimension] = -view.strides[dimension];
    }
    view.read(operand, resized(declared, &shape))
}

/// Spec, "transpose": result dimension `d` is operand dimension `permutation[d]`.
fn transpose(operand: &Tensor, permutation: &[i64], declared: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let from = operand.shape();
    let permutation = dimensions(permutation, from.len())?;
    let whole = View::of(&from);
    let view = View {
        start: 0,
        strides: permutation
            .iter()
            .map(|dimension| whole.strides[*dimension])
            .collect(),
    };
    let shape: Vec<usize> = permutation.iter().map(|dimension| from[*dimension]).collect();
    view.read(operand, resized(declared, &shape))
}

/// Spec, "get_dimension_size": an `i32` scalar.
fn get_dimension_size(operand: &Tensor, dimension: i64) -> Result<Tensor, EvalError> {
    let shape = operand.shape();
    let size = shape[self::dimension(dimension, shape.len())?];
    let ty = Arc::new(TensorType::of_static(&[], ElementType::I32));
    Ok(Tensor::from_fn(ty, |_| Scalar::Int(size as i128))?)
}

/// Bounded dynamism: the first `size` positions of a dimension are kept.
fn set_dimension_size(
    operand: &Tensor,
    size: &Tensor,
    dimension: i64,
    declared: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let mut shape = operand.shape();
    let view = View::of(&shape);
    let dimension = self::dimension(dimension, shape.len())?;
    let size = shape_operand(std::slice::from_ref(size), 0)?;
    match size.as_slice() {
        [size] if *size <= shape[dimension] => shape[dimension] = *size,
        _ => {
            let most = shape[dimension];
            return Err(EvalError::runtime(format!(
                "a dimension of size {most} is set to {size:?}"
            )));
        }
    }
    view.read(operand, resized(declared, &shape))
}
