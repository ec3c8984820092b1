//! Data movement that depends on shapes and small attributes, and operations on sizes.

use artifact_dims::{Expr, ExprError};

use super::compatible::{ensure_elements, ensure_same_element};
use super::element::Elements;
use super::extent::{
    Extent, Extents, concatenated, extent, extents, like, most_specific, result_of, tensor_of,
    with_foreign_encoding,
};
use super::positions::Positions;
use super::{dynamic_shape, positions, quantization};
use crate::op::{
    Broadcast, BroadcastInDim, Concatenate, DimensionSize, DynamicSlice, Pad, Reverse, Shape, Slice,
    Transpose,
};
use crate::types::{Dim, ElementType, TensorType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &Shape, cx: &OpContext<'_>) -> OpResult {
    match op {
        Shape::Broadcast(op) => broadcast(op, cx),
        Shape::BroadcastInDim(op) => broadcast_in_dim(op, cx),
        Shape::Concatenate(op) => concatenate(op, cx),
        Shape::DynamicBroadcastInDim(op) => dynamic_shape::broadcast_in_dim(op, cx),
        Shape::DynamicPad => dynamic_shape::pad(cx),
        Shape::DynamicReshape => dynamic_shape::reshape(cx),
        Shape::DynamicSlice(op) => dynamic_slice(op, cx),
        Shape::DynamicUpdateSlice => dynamic_update_slice(cx),
        Shape::GetDimensionSize(op) => get_dimension_size(op, cx),
        Shape::Pad(op) => pad(op, cx),
        Shape::RealDynamicSlice => dynamic_shape::slice(cx),
        Shape::Reshape => reshape(cx),
        Shape::Reverse(op) => reverse(op, cx),
        Shape::SetDimensionSize(op) => set_dimension_size(op, cx),
        Shape::Slice(op) => slice(op, cx),
        Shape::Transpose(op) => transpose(op, cx),
    }
}

/// Not in the specification: new leading dimensions.
fn broadcast(op: &Broadcast, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    let new = |size: &i64| positions::size("a size in broadcast_sizes", *size).map(Extent::of);
    let mut sizes = op.broadcast_sizes.iter().map(new).collect::<OpResult<Vec<_>>>()?;
    sizes.extend(extents(operand));
    Ok(result_of(cx, &sizes, operand.element.clone()))
}

/// A result that must be static, or have one dimension that is bounded and no other that is not a number.
fn static_or_bounded<'a>(cx: &OpContext<'a>, allowed: Elements) -> OpResult<&'a TensorType> {
    let result = cx.declared(0, allowed)?;
    let dynamic = result.dims.iter().filter(|dim| !dim.is_static()).count();
    let bounded = result.bounds().unwrap_or_default().iter().flatten().count();
    let symbolic = result.dims.iter().any(|dim| matches!(dim, Dim::Symbolic(_)));
    ensure!(
        dynamic == 0 || (dynamic == 1 && bounded == 1) || symbolic,
        "result #0 must have a static shape or one bounded dimension, but got '{result}'"
    );
    Ok(result)
}

fn broadcast_in_dim(op: &BroadcastInDim, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let result = static_or_bounded(cx, Elements::ANY_PER_AXIS)?;
    // C1.
    ensure_elements(&[operand, result])?;
    quantization::check_kept_per_tensor(operand, result)?;
    let positions = broadcast_positions(&op.broadcast_dimensions, operand, result)?;
    for (index, position) in positions.iter().enumerate() {
        let (from, to) = (&operand.dims[index], &result.dims[*position]);
        ensure!(
            *from == Dim::Static(1) || from.compatible(to),
            "size {from} of operand dimension {index} is not 1 or the size {to} of result dimension {position} (C5)"
        );
    }
    // C6.
    quantization::check_broadcast(operand, result, &positions)?;
    Ok(Results::Declared)
}

/// One result dimension for each of the operand (C2), each once (C4) and in range (C3).
pub(super) fn broadcast_positions(
    attribute: &[i64],
    operand: &TensorType,
    result: &TensorType,
) -> OpResult<Positions> {
    let name = "broadcast_dimensions";
    positions::ensure_length(name, attribute.len(), operand.rank(), "the rank of the operand")?;
    positions::ensure_unique(name, attribute)?;
    positions::dimensions(name, attribute, result.rank())
}

fn concatenate(op: &Concatenate, cx: &OpContext<'_>) -> OpResult {
    let inputs = cx.tensors_from(0, Elements::ANY)?;
    let [first, rest @ ..] = inputs.as_slice() else {
        return Err(OpError::new("expects at least one operand (C3)"));
    };
    // C1.
    ensure_same_element(&inputs)?;
    ensure!(
        first.rank() > 0,
        "scalars cannot be concatenated, but got '{first}' (C4)"
    );
    // C4.
    let dimension = positions::dimension("dimension", op.dimension, first.rank())?;
    let mut all = extents(first);
    for other in rest {
        ensure!(
            other.rank() == first.rank(),
            "mismatched ranks of '{first}' and '{other}' (C2)"
        );
        for (index, (extent, next)) in all.iter_mut().zip(extents(other)).enumerate() {
            *extent = if index == dimension {
                // C6.
                concatenated(extent, &next)?
            } else {
                ensure!(
                    extent.size.compatible(&next.size),
                    "the shapes of '{first}' and '{other}' differ in dimension {index}, which is not concatenated (C2)"
                );
                most_specific(index, extent, &next)?
            };
        }
    }
    Ok(Results::Inferred(vec![with_foreign_encoding(
        tensor_of(&all, first.element.clone()),
        first,
    )]))
}

fn dynamic_slice(op: &DynamicSlice, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    start_indices(cx, 1, operand.rank())?;
    // C2.
    positions::ensure_length(
        "slice_sizes",
        op.slice_sizes.len(),
        operand.rank(),
        "the rank of the operand",
    )?;
    let mut result = Vec::new();
    for (index, (size, dim)) in op.slice_sizes.iter().zip(&operand.dims).enumerate() {
        let size = positions::size("a size in slice_sizes", *size)?;
        ensure!(
            dim.as_static().is_none_or(|dim| size <= dim),
            "slice size {size} is larger than the size {dim} of operand dimension {index} (C4)"
        );
        result.push(Extent::of(size));
    }
    // C1, C5.
    Ok(result_of(cx, &result, operand.element.clone()))
}

/// One scalar index for each dimension, all of one type (`dynamic_slice` C2, C3; `dynamic_update_slice` C4, C5).
fn start_indices(cx: &OpContext<'_>, start: usize, rank: usize) -> OpResult<()> {
    let count = cx.operands.len() - start.min(cx.operands.len());
    ensure!(
        count == rank,
        "expects as many start indices as the operand has dimensions ({rank}), but got {count}"
    );
    let indices: Vec<&TensorType> = (start..cx.operands.len())
        .map(|index| cx.scalar(index, Elements::INT))
        .collect::<OpResult<_>>()?;
    ensure!(
        indices.windows(2).all(|pair| pair[0].element == pair[1].element),
        "start indices must have the same element type"
    );
    Ok(())
}

fn dynamic_update_slice(cx: &OpContext<'_>) -> OpResult {
    let (operand, update) = (cx.tensor(0, Elements::ANY)?, cx.tensor(1, Elements::ANY)?);
    // C2.
    ensure_same_element(&[operand, update])?;
    ensure!(
        operand.rank() == update.rank(),
        "the update '{update}' must have the rank of the operand '{operand}' (C3)"
    );
    start_indices(cx, 2, operand.rank())?;
    for (index, (size, dim)) in update.dims.iter().zip(&operand.dims).enumerate() {
        if let (Some(size), Some(dim)) = (size.as_static(), dim.as_static()) {
            ensure!(
                size <= dim,
                "size {size} of dimension {index} of the update is larger than {dim} (C6)"
            );
        }
    }
    // C1.
    Ok(Results::Inferred(vec![operand.clone().into()]))
}

fn get_dimension_size(op: &DimensionSize, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    // C1.
    positions::dimension("dimension", op.dimension, operand.rank())?;
    Ok(Results::Inferred(vec![Type::tensor(&[], ElementType::I32)]))
}

/// Not in the specification: the dimension gets the size that is an operand, and what was its size is its bound.
fn set_dimension_size(op: &DimensionSize, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    let size = cx.scalar(1, Elements::SIGNED)?;
    ensure!(
        size.element == ElementType::I32.into(),
        "the size must be an i32 scalar, but got '{size}'"
    );
    let dimension = positions::dimension("dimension", op.dimension, operand.rank())?;
    let mut all = extents(operand);
    let extent = &mut all[dimension];
    let bound = extent.size_or_bound();
    *extent = Extent {
        size: Dim::Unknown,
        bound,
    };
    let constant = cx.constant(1).and_then(|values| values.first().copied());
    if let Some(size) = constant
        .and_then(|size| u64::try_from(size).ok())
        .filter(|size| Some(*size) == bound)
    {
        *extent = Extent::of(size);
    }
    Ok(result_of(cx, &all, operand.element.clone()))
}

fn pad(op: &Pad, cx: &OpContext<'_>) -> OpResult {
    let (operand, value) = (cx.tensor(0, Elements::ANY)?, cx.scalar(1, Elements::ANY)?);
    // C1.
    ensure_same_element(&[operand, value])?;
    let lists = [
        ("edge_padding_low", &op.edge_padding_low),
        ("edge_padding_high", &op.edge_padding_high),
        ("interior_padding", &op.interior_padding),
    ];
    for (name, list) in lists {
        // C2.
        positions::ensure_length(name, list.len(), operand.rank(), "the rank of the operand")?;
    }
    let mut result = extents(operand);
    for (index, extent) in result.iter_mut().enumerate() {
        let amounts = [
            op.edge_padding_low[index],
            op.edge_padding_high[index],
            op.interior_padding[index],
        ];
        // C3.
        positions::size("interior padding", amounts[2])?;
        let unchanged = amounts == [0, 0, 0];
        if !unchanged {
            *extent = extent.map(
                |size| padded(index, size, amounts),
                |size| padded_expression(size, amounts),
            )?;
        }
    }
    // C4.
    Ok(Results::Inferred(vec![with_foreign_encoding(
        tensor_of(&result, operand.element.clone()),
        operand,
    )]))
}

/// `size` elements with `[low, high, interior]` padding; interior padding must not be negative.
pub(super) fn padded(index: usize, size: u64, [low, high, interior]: [i64; 3]) -> OpResult<u64> {
    // Products of 64-bit numbers fit 128 bits.
    let gaps = i128::from(size.saturating_sub(1)) * i128::from(interior);
    let sum = i128::from(size) + i128::from(low) + i128::from(high) + gaps;
    u64::try_from(sum).map_err(|_| {
        OpError::new(format!(
            "padding dimension {index} of size {size} gives the impossible size {sum} (C4)"
        ))
    })
}

/// The same for a size that is an expression.
fn padded_expression(size: &Expr, [low, high, interior]: [i64; 3]) -> Result<Expr, ExprError> {
    let gaps = size.sub(&Expr::constant(1))?.maximum(&Expr::constant(0))?;
    let edges = Expr::constant(low).add(&Expr::constant(high))?;
    size.add(&edges)?.add(&gaps.mul(&Expr::constant(interior))?)
}

fn reshape(cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let result = static_or_bounded(cx, Elements::ANY_PER_AXIS)?;
    // C1.
    ensure_elements(&[operand, result])?;
    ensure_same_count(operand, result)?;
    quantization::check_reshape(operand, result)?;
    Ok(Results::Declared)
}

/// As many elements in both (C2).
pub(super) fn ensure_same_count(operand: &TensorType, result: &TensorType) -> OpResult<()> {
    if !(operand.is_static() && result.is_static()) {
        return Ok(());
    }
    let count = |tensor: &TensorType| {
        tensor
            .element_count()
            .ok_or_else(|| OpError::new(format!("'{tensor}' has too many elements to count")))
    };
    let (from, to) = (count(operand)?, count(result)?);
    ensure!(
        from == to,
        "the number of elements of the result ({to}) is not that of the operand ({from}) (C2)"
    );
    Ok(())
}

fn reverse(op: &Reverse, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    // C2, C3.
    positions::ensure_unique("dimensions", &op.dimensions)?;
    positions::dimensions("dimensions", &op.dimensions, operand.rank())?;
    // C1.
    if let Some(result) = cx.result(0, Elements::ANY)? {
        ensure_same_element(&[operand, result])?;
    }
    Ok(Results::Inferred(vec![operand.clone().into()]))
}

fn slice(op: &Slice, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    let inferred = slice_type(operand, [&op.start_indices, &op.limit_indices, &op.strides])?;
    // C1.
    if let Some(result) = cx.result(0, Elements::ANY)? {
        ensure_same_element(&[operand, result])?;
    }
    Ok(Results::Inferred(vec![inferred]))
}

/// The type of a slice of `operand` from starts to limits in strides.
pub(super) fn slice_type(operand: &TensorType, lists: [&[i64]; 3]) -> OpResult<Type> {
    for (name, list) in ["start_indices", "limit_indices", "strides"]
        .into_iter()
        .zip(lists)
    {
        // C2.
        positions::ensure_length(name, list.len(), operand.rank(), "the rank of the operand")?;
    }
    let [starts, limits, strides] = lists;
    let mut result = Vec::new();
    for (index, extent) in extents(operand).iter().enumerate() {
        let bounds = [starts[index], limits[index], strides[index]];
        result.push(Extent::of(sliced(index, extent.size_or_bound(), bounds)?));
    }
    Ok(tensor_of(&result, operand.element.clone()))
}

/// Number of positions from `start` to `limit` in steps (C3 to C5); `size` is that of the dimension, or its bound.
fn sliced(index: usize, size: Option<u64>, [start, limit, stride]: [i64; 3]) -> OpResult<u64> {
    let from = positions::size(format_args!("start index of dimension {index}"), start)?;
    let to = positions::size(format_args!("limit index of dimension {index}"), limit)?;
    if let Some(size) = size {
        ensure!(
            to <= size,
            "limit index {to} is larger than the size {size} of dimension {index} (C3)"
        );
    }
    ensure!(
        from <= to,
        "start index {from} is larger than limit index {to} in dimension {index} (C3)"
    );
    let step = positions::positive(format_args!("stride of dimension {index}"), stride)?;
    Ok((to - from).div_ceil(step))
}

fn transpose(op: &Transpose, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let name = "permutation";
    // C2.
    positions::ensure_length(
        name,
        op.permutation.len(),
        operand.rank(),
        "the rank of the operand",
    )?;
    positions::ensure_unique(name, &op.permutation)?;
    let permutation = positions::dimensions(name, &op.permutation, operand.rank())?;
    let sizes: Extents = permutation.iter().map(|dim| extent(operand, *dim)).collect();
    let mut inferred = tensor_of(&sizes, operand.element.clone());
    if let Some(result) = cx.result(0, Elements::ANY_PER_AXIS)? {
        // C1, C4. The axis of a quantized result is its own.
        ensure_elements(&[operand, result])?;
        quantization::check_transpose(operand, result, &permutation)?;
        if let Type::Tensor(tensor) = &inferred {
            inferred = like(tensor, result.element.clone());
        }
    }
    // C3.
    Ok(Results::Inferred(vec![with_foreign_encoding(inferred, operand)]))
}
