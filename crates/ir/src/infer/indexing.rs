//! Gather and scatter.

use super::element::Elements;
use super::extent::{Extent, Extents, extents, like, result_of, tensor_of};
use super::positions;
use super::region::{self, Reducer};
use super::scatter;
use crate::attribute::GatherDimensionNumbers;
use crate::op::{DynamicGather, Gather, Indexing, TorchIndexSelect};
use crate::types::{Dim, TensorType};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &Indexing, cx: &OpContext<'_>) -> OpResult {
    match op {
        Indexing::DynamicGather(op) => dynamic_gather(op, cx),
        Indexing::Gather(op) => gather(op, cx),
        Indexing::Scatter(op) => scatter::rules(op, cx),
        Indexing::TorchIndexSelect(op) => torch_index_select(op, cx),
    }
}

fn gather(op: &Gather, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    let indices = cx.tensor(1, Elements::INT)?;
    check_numbers(&op.dimension_numbers, operand, indices)?;
    let sizes = check_slices(&op.dimension_numbers, operand, &op.slice_sizes)?;
    // C23.
    if let Some(result) = cx.result(0, Elements::ANY)? {
        super::compatible::ensure_same_element(&[operand, result])?;
    }
    infer(cx, &op.dimension_numbers, operand, indices, &sizes)
}

fn dynamic_gather(op: &DynamicGather, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY)?;
    let indices = cx.tensor(1, Elements::INT)?;
    let length = cx.static_vector(2, Elements::INT)?;
    check_numbers(&op.dimension_numbers, operand, indices)?;
    ensure!(
        length == operand.rank() as u64,
        "slice_sizes has {length} elements, which does not match the rank of the operand ({}) (C20)",
        operand.rank()
    );
    let sizes = match cx.constant(2) {
        Some(sizes) => check_slices(&op.dimension_numbers, operand, &sizes)?,
        None => std::iter::repeat_n(Extent::UNKNOWN, operand.rank()).collect(),
    };
    infer(cx, &op.dimension_numbers, operand, indices, &sizes)
}

/// Slice sizes are at most 1 where a dimension is dropped (C9, C12), and within the operand (C21).
fn check_slices(numbers: &GatherDimensionNumbers, operand: &TensorType, sizes: &[i64]) -> OpResult<Extents> {
    positions::ensure_length(
        "slice_sizes",
        sizes.len(),
        operand.rank(),
        "the rank of the operand",
    )?;
    let dropped = [
        ("collapsed_slice_dims", &numbers.collapsed_slice_dims),
        ("operand_batching_dims", &numbers.operand_batching_dims),
    ];
    for (name, list) in dropped {
        for dim in positions::dimensions(name, list, operand.rank())? {
            ensure!(
                sizes[dim] <= 1,
                "slice size of dimension {dim}, which is in {name}, must be at most 1, but is {} (C9, C12)",
                sizes[dim]
            );
        }
    }
    let extent = |(index, size): (usize, &i64)| {
        let size = positions::size(format_args!("slice size of dimension {index}"), *size)?;
        ensure!(
            operand.dims[index].as_static().is_none_or(|dim| size <= dim),
            "slice size {size} is larger than the size {} of operand dimension {index} (C21)",
            operand.dims[index]
        );
        Ok(Extent::of(size))
    };
    sizes.iter().enumerate().map(extent).collect()
}

/// Dimension numbers against ranks and sizes (C1 to C8, C10, C11, C13 to C19).
fn check_numbers(
    numbers: &GatherDimensionNumbers,
    operand: &TensorType,
    indices: &TensorType,
) -> OpResult<()> {
    let GatherDimensionNumbers {
        offset_dims,
        collapsed_slice_dims,
        operand_batching_dims,
        start_indices_batching_dims,
        start_index_map,
        index_vector_dim,
    } = numbers;
    let covered = offset_dims.len() + collapsed_slice_dims.len() + operand_batching_dims.len();
    ensure!(
        covered == operand.rank(),
        "offset_dims, collapsed_slice_dims and operand_batching_dims have {covered} elements together, which does not match the \
         rank of the operand ({}) (C1)",
        operand.rank()
    );
    // C2.
    let vector = positions::dimension_or_end("index_vector_dim", *index_vector_dim, indices.rank())?;
    check_vector_length("start_index_map", start_index_map, indices, vector)?;
    // C4, C5.
    positions::ensure_sorted("offset_dims", offset_dims)?;
    positions::ensure_unique("offset_dims", offset_dims)?;
    positions::dimensions("offset_dims", offset_dims, result_rank(numbers, indices, vector))?;
    // C6 to C8, C10, C11.
    let names = ["collapsed_slice_dims", "operand_batching_dims"];
    positions::ensure_distinct(names, [collapsed_slice_dims, operand_batching_dims])?;
    for (name, list) in names
        .into_iter()
        .zip([collapsed_slice_dims, operand_batching_dims])
    {
        positions::ensure_sorted(name, list)?;
        positions::dimensions(name, list, operand.rank())?;
    }
    // C13 to C17.
    let batching = Batching {
        names: ["operand_batching_dims", "start_indices_batching_dims"],
        lists: [operand_batching_dims, start_indices_batching_dims],
        index_vector_dim: *index_vector_dim,
    };
    batching.check(operand, indices)?;
    // C18, C19.
    positions::ensure_distinct(
        ["start_index_map", "operand_batching_dims"],
        [start_index_map, operand_batching_dims],
    )?;
    positions::dimensions("start_index_map", start_index_map, operand.rank())?;
    Ok(())
}

/// The index dimension holds as many components as `map` has elements (`gather_c3`, `scatter_c19`); an absent one holds one.
pub(super) fn check_vector_length(
    name: &str,
    map: &[i64],
    indices: &TensorType,
    vector: usize,
) -> OpResult<()> {
    let length = indices.dims.get(vector).unwrap_or(&Dim::Static(1));
    ensure!(
        length.compatible(&Dim::Static(map.len() as u64)),
        "{name} has {} elements, but dimension {vector} of the indices, which holds the components of an index, has size {length}",
        map.len()
    );
    Ok(())
}

/// Dimensions of operand and indices that are batched together.
pub(super) struct Batching<'a> {
    pub(super) names: [&'static str; 2],
    pub(super) lists: [&'a [i64]; 2],
    pub(super) index_vector_dim: i64,
}

impl Batching<'_> {
    /// `gather_c13` to `_c17`, `scatter_c14` to `_c18`.
    pub(super) fn check(&self, operand: &TensorType, indices: &TensorType) -> OpResult<()> {
        let [operand_name, indices_name] = self.names;
        positions::ensure_unique(indices_name, self.lists[1])?;
        let of_operand = positions::dimensions(operand_name, self.lists[0], operand.rank())?;
        let of_indices = positions::dimensions(indices_name, self.lists[1], indices.rank())?;
        ensure!(
            !self.lists[1].contains(&self.index_vector_dim),
            "expects {indices_name} not to include index_vector_dim {}",
            self.index_vector_dim
        );
        ensure!(
            of_operand.len() == of_indices.len(),
            "{operand_name} and {indices_name} must have the same number of elements, but have {} and {}",
            of_operand.len(),
            of_indices.len()
        );
        for (a, b) in of_operand.iter().zip(&of_indices) {
            ensure!(
                operand.dims[*a].compatible(&indices.dims[*b]),
                "batched dimensions {a} of the operand and {b} of the indices must have one size, but have {} and {}",
                operand.dims[*a],
                indices.dims[*b]
            );
        }
        Ok(())
    }
}

/// Rank of the result: the slice dimensions that are kept, and those of the indices but the one of components.
fn result_rank(numbers: &GatherDimensionNumbers, indices: &TensorType, vector: usize) -> usize {
    numbers.offset_dims.len() + indices.rank() - usize::from(vector < indices.rank())
}

/// C22: offset dimensions have the sizes of the slice, others those of the indices.
fn infer(
    cx: &OpContext<'_>,
    numbers: &GatherDimensionNumbers,
    operand: &TensorType,
    indices: &TensorType,
    slice: &[Extent],
) -> OpResult {
    let vector = positions::dimension_or_end("index_vector_dim", numbers.index_vector_dim, indices.rank())?;
    let rank = result_rank(numbers, indices, vector);
    let offsets = positions::dimensions("offset_dims", &numbers.offset_dims, rank)?;
    let dropped = |list: &[i64]| positions::dimensions("dropped dimensions", list, operand.rank());
    let kept = positions::others(
        operand.rank(),
        &[
            &dropped(&numbers.collapsed_slice_dims)?,
            &dropped(&numbers.operand_batching_dims)?,
        ],
    );
    let of_indices = extents(indices);
    let mut batches = positions::others(indices.rank(), &[&[vector]])
        .into_iter()
        .map(|dim| of_indices[dim].clone());
    let mut slices = kept.into_iter().map(|dim| slice[dim].clone());
    let result: Option<Extents> = (0..rank)
        .map(|dim| {
            if offsets.contains(&dim) {
                slices.next()
            } else {
                batches.next()
            }
        })
        .collect();
    let result =
        result.ok_or_else(|| OpError::new("has dimension numbers that do not add up to a result shape"))?;
    Ok(result_of(cx, &result, operand.element.clone()))
}

/// Not in the specification: slices along `dim`, with leading batch dimensions.
fn torch_index_select(op: &TorchIndexSelect, cx: &OpContext<'_>) -> OpResult {
    let (operand, index) = (cx.tensor(0, Elements::ANY)?, cx.tensor(1, Elements::INT)?);
    let dim = positions::dimension("dim", op.dim, operand.rank())?;
    let batches = positions::dimension_or_end("batch_dims", op.batch_dims, index.rank().min(dim))?;
    let result = cx.declared(0, Elements::ANY)?;
    let mut sizes = extents(operand);
    sizes.remove(dim);
    sizes.insert_many(dim, extents(index).into_iter().skip(batches));
    let expected = tensor_of(&sizes, operand.element.clone());
    ensure!(
        super::compatible::types(&expected, &result.clone().into()),
        "selects a tensor of type '{expected}', which is incompatible with the result '{result}'"
    );
    Ok(Results::Declared)
}

/// The elements of results that a reducing region makes, each in the shape of its input.
pub(super) fn accumulated(reducer: &Reducer<'_>, cx: &OpContext<'_>) -> OpResult {
    let elements = region::check(reducer, cx.region(0)?)?;
    let types = reducer
        .inputs
        .iter()
        .zip(elements)
        .map(|(input, element)| like(input, element));
    Ok(Results::Inferred(types.collect()))
}
