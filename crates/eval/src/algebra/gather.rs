//! `gather`, `dynamic_gather` and `torch_index_select`.

use std::sync::Arc;

use artifact_ir::attribute::GatherDimensionNumbers;
use artifact_ir::op::TorchIndexSelect;
use artifact_ir::types::TensorType;

use super::axes::{axes, axis, check_same, check_shape, integers, offsets, others, pick, strides};
use crate::error::EvalError;
use crate::tensor::Tensor;

/// How the dimensions of an index operand are used: one may hold the components of an index, the others are batched.
pub(super) struct IndexVectors {
    /// Sizes of the batched dimensions.
    pub(super) batch: Vec<usize>,
    batch_strides: Vec<usize>,
    components: usize,
    component_stride: usize,
    vector_dim: usize,
}

impl IndexVectors {
    pub(super) fn new(shape: &[usize], vector_dim: i64) -> Result<Self, EvalError> {
        let rank = shape.len();
        let vector_dim = axis(vector_dim, rank + 1)?;
        let strides = strides(shape);
        let batched = others(&[vector_dim], rank);
        Ok(Self {
            batch: pick(shape, &batched),
            batch_strides: pick(&strides, &batched),
            components: shape.get(vector_dim).copied().unwrap_or(1),
            component_stride: strides.get(vector_dim).copied().unwrap_or(0),
            vector_dim,
        })
    }

    /// The place of a dimension of the index operand among the batched ones.
    pub(super) fn batch_dim(&self, dim: usize) -> Result<usize, EvalError> {
        if dim == self.vector_dim {
            return Err(EvalError::invalid_input(
                "a batching dimension cannot hold the components of indices",
            ));
        }
        Ok(dim - usize::from(dim > self.vector_dim))
    }

    /// For each batch in order, where its start index is in each of `rank` dimensions: component `c` of the index goes to
    /// dimension `map[c]`, and the batch's own index in dimension `from` to dimension `to` for each pair of `batching`.
    pub(super) fn starts(
        &self,
        indices: &[i128],
        rank: usize,
        map: &[usize],
        batching: &[(usize, usize)],
    ) -> Result<Vec<Vec<i128>>, EvalError> {
        if map.len() != self.components {
            return Err(EvalError::invalid_input(format!(
                "an index has {} components, but {} are mapped",
                self.components,
                map.len()
            )));
        }
        let mut starts = Vec::new();
        let mut batch = super::axes::Odometer::new(&self.batch);
        for base in offsets(&self.batch, &self.batch_strides) {
            let mut start = vec![0; rank];
            for (component, dim) in map.iter().enumerate() {
                start[*dim] = indices[base + component * self.component_stride];
            }
            for (to, from) in batching {
                start[*to] = batch.index().map_or(0, |index| index[*from]) as i128;
            }
            starts.push(start);
            batch.step();
        }
        Ok(starts)
    }
}

/// The dimensions of a result or update: those that count batches and those that lie within a slice.
pub(super) fn combine(
    rank: usize,
    slice_dims: &[usize],
    batch: &[usize],
    slice: &[usize],
) -> Result<Vec<usize>, EvalError> {
    let batch_dims = others(slice_dims, rank);
    if batch_dims.len() != batch.len() || slice_dims.len() != slice.len() {
        return Err(EvalError::invalid_input(format!(
            "{} batch and {} slice dimensions do not make {rank}",
            batch.len(),
            slice.len()
        )));
    }
    let mut shape = vec![0; rank];
    let pairs = batch_dims.iter().zip(batch).chain(slice_dims.iter().zip(slice));
    pairs.for_each(|(dim, size)| shape[*dim] = *size);
    Ok(shape)
}

/// Spec, "gather". Start indices are clamped so that every slice lies within the operand.
pub(super) fn gather(
    numbers: &GatherDimensionNumbers,
    operand: &Tensor,
    indices: &Tensor,
    slice_sizes: &[i64],
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let shape = operand.shape();
    let rank = shape.len();
    let sizes = slice_sizes_within(slice_sizes, &shape)?;
    let vectors = IndexVectors::new(&indices.shape(), numbers.index_vector_dim)?;
    let batching = batching_pairs(
        &vectors,
        &axes(&numbers.operand_batching_dims, rank)?,
        &axes(&numbers.start_indices_batching_dims, indices.ty().rank())?,
    )?;
    for (operand_dim, batch_dim) in &batching {
        check_same(
            "batching dimensions",
            &[shape[*operand_dim]],
            &[vectors.batch[*batch_dim]],
        )?;
    }
    let mut dropped = axes(&numbers.collapsed_slice_dims, rank)?;
    dropped.extend(batching.iter().map(|(operand_dim, _)| *operand_dim));
    let slice_dims = others(&dropped, rank);
    let slice = pick(&sizes, &slice_dims);

    let offset_dims = axes(&numbers.offset_dims, ty.rank())?;
    let result = combine(ty.rank(), &offset_dims, &vectors.batch, &slice)?;
    check_shape(ty, &result)?;
    if operand.is_empty() && !result.contains(&0) {
        return Err(EvalError::runtime("a slice of size 0 has no element to gather"));
    }

    let map = axes(&numbers.start_index_map, rank)?;
    let strides_in = strides(&shape);
    let first = |start: &Vec<i128>| -> usize {
        let clamped = |dim: usize| start[dim].clamp(0, (shape[dim] - sizes[dim]) as i128) as usize;
        // A batching dimension has a slice of size 1, which clamping leaves alone.
        (0..rank).map(|dim| clamped(dim) * strides_in[dim]).sum()
    };
    let starts = vectors.starts(&integers(indices)?, rank, &map, &batching)?;
    let starts: Vec<usize> = starts.iter().map(first).collect();
    let within: Vec<usize> = offsets(&slice, &pick(&strides_in, &slice_dims)).collect();

    let batch_dims = others(&offset_dims, ty.rank());
    let batch_number = offsets(&result, &spread(&batch_dims, &strides(&vectors.batch), ty.rank()));
    let slice_number = offsets(&result, &spread(&offset_dims, &strides(&slice), ty.rank()));
    let mut places = batch_number.zip(slice_number);
    Ok(Tensor::from_positions(Arc::clone(ty), operand, |_| {
        places
            .next()
            .map_or(0, |(batch, element)| starts[batch] + within[element])
    })?)
}

/// Sizes of a slice, each within the operand's.
fn slice_sizes_within(sizes: &[i64], shape: &[usize]) -> Result<Vec<usize>, EvalError> {
    let within = |(size, limit): (&i64, &usize)| usize::try_from(*size).ok().filter(|size| size <= limit);
    let within: Option<Vec<usize>> = sizes.iter().zip(shape).map(within).collect();
    within
        .filter(|within| within.len() == shape.len())
        .ok_or_else(|| {
            EvalError::runtime(format!(
                "slices of sizes {sizes:?} do not lie within an operand of shape {shape:?}"
            ))
        })
}

/// Pairs of an operand's batching dimension and the batched dimension of the indices that goes with it.
pub(super) fn batching_pairs(
    vectors: &IndexVectors,
    operand_dims: &[usize],
    index_dims: &[usize],
) -> Result<Vec<(usize, usize)>, EvalError> {
    check_same(
        "the numbers of batching dimensions",
        &[operand_dims.len()],
        &[index_dims.len()],
    )?;
    let pairs = operand_dims.iter().zip(index_dims);
    pairs
        .map(|(operand_dim, index_dim)| Ok((*operand_dim, vectors.batch_dim(*index_dim)?)))
        .collect()
}

/// A list of `rank` values with those of `values` at `dims` and 0 elsewhere.
pub(super) fn spread(dims: &[usize], values: &[usize], rank: usize) -> Vec<usize> {
    let mut all = vec![0; rank];
    dims.iter()
        .zip(values)
        .for_each(|(dim, value)| all[*dim] = *value);
    all
}

/// `torch_index_select`, which the specification leaves out: dimension `dim` of the operand is replaced by the dimensions of
/// `index` after the leading `batch_dims`, which both have. Indices are clamped, as those of a gather.
pub(super) fn torch_index_select(
    op: &TorchIndexSelect,
    operand: &Tensor,
    index: &Tensor,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let (shape, index_shape) = (operand.shape(), index.shape());
    let from_end = |value: i64, rank: usize| {
        if value < 0 {
            value.saturating_add(rank as i64)
        } else {
            value
        }
    };
    let dim = axis(from_end(op.dim, shape.len()), shape.len())?;
    let batch_dims = axis(from_end(op.batch_dims, index_shape.len()), index_shape.len() + 1)?;
    if batch_dims > dim {
        return Err(EvalError::invalid_input(
            "the indexed dimension must come after the batch dimensions",
        ));
    }
    check_same(
        "the batch dimensions",
        &shape[..batch_dims],
        &index_shape[..batch_dims],
    )?;
    let result = [&shape[..dim], &index_shape[batch_dims..], &shape[dim + 1..]].concat();
    check_shape(ty, &result)?;
    if shape[dim] == 0 && !result.contains(&0) {
        return Err(EvalError::runtime(
            "a dimension of size 0 has no element to select",
        ));
    }

    let (outer, inner) = (strides(&shape), strides(&index_shape));
    let inserted = index_shape.len() - batch_dims;
    let operand_strides = [&outer[..dim], &vec![0; inserted], &outer[dim + 1..]].concat();
    let index_strides = [
        &inner[..batch_dims],
        &vec![0; dim - batch_dims],
        &inner[batch_dims..],
        &vec![0; shape.len() - dim - 1],
    ]
    .concat();
    let indices = integers(index)?;
    let mut places = offsets(&result, &operand_strides).zip(offsets(&result, &index_strides));
    let last = shape[dim].saturating_sub(1) as i128;
    Ok(Tensor::from_positions(Arc::clone(ty), operand, |_| {
        places.next().map_or(0, |(base, at)| {
            base + indices[at].clamp(0, last) as usize * outer[dim]
        })
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{ints, show, ty};
    use artifact_ir::types::ElementType;

    fn check(
        numbers: &GatherDimensionNumbers,
        operand: &Tensor,
        indices: &Tensor,
        sizes: &[i64],
        expected: (&[u64], &str),
    ) {
        let result = gather(
            numbers,
            operand,
            indices,
            sizes,
            &ty(expected.0, ElementType::I64),
        )
        .unwrap();
        assert_eq!(show(&result), expected.1);
    }

    #[test]
    fn rows_by_index_are_clamped() {
        let numbers = GatherDimensionNumbers {
            offset_dims: vec![1],
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            index_vector_dim: 1,
            ..GatherDimensionNumbers::default()
        };
        let operand = ints(&[3, 2], &[1, 2, 3, 4, 5, 6]);
        let indices = ints(&[4], &[2, -7, 0, i64::MAX]);
        check(
            &numbers,
            &operand,
            &indices,
            &[1, 2],
            (&[4, 2], "5 6 1 2 1 2 5 6"),
        );
        let wide = gather(
            &numbers,
            &operand,
            &indices,
            &[1, 3],
            &ty(&[4, 3], ElementType::I64),
        );
        assert!(wide.unwrap_err().to_string().contains("do not lie within"));
    }

    /// The example of the specification, "gather".
    #[test]
    fn batching_dimensions() {
        let numbers = GatherDimensionNumbers {
            offset_dims: vec![3, 4],
            collapsed_slice_dims: vec![1],
            operand_batching_dims: vec![0],
            start_indices_batching_dims: vec![1],
            start_index_map: vec![2, 1],
            index_vector_dim: 3,
        };
        let operand = ints(&[2, 3, 4, 2], &(1..=48).collect::<Vec<_>>());
        let indices = [
            0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0,
        ];
        check(
            &numbers,
            &operand,
            &ints(&[2, 2, 3, 2], &indices),
            &[1, 1, 2, 2],
            (
                &[2, 2, 3, 2, 2],
                "1 2 3 4 3 4 5 6 13 14 15 16 33 34 35 36 35 36 37 38 41 42 43 44 \
                 1 2 3 4 13 14 15 16 21 22 23 24 43 44 45 46 33 34 35 36 27 28 29 30",
            ),
        );
    }

    #[test]
    fn whole_index_in_one_element() {
        let numbers = GatherDimensionNumbers {
            offset_dims: vec![0],
            start_index_map: vec![0],
            ..GatherDimensionNumbers::default()
        };
        check(
            &numbers,
            &ints(&[5], &[1, 2, 3, 4, 5]),
            &ints(&[], &[9]),
            &[2],
            (&[2], "4 5"),
        );
    }

    #[test]
    fn torch_index_select_with_batches() {
        let operand = ints(&[2, 3, 2], &(0..12).collect::<Vec<_>>());
        let op = |dim, batch_dims| TorchIndexSelect { dim, batch_dims };
        let select = |op: &TorchIndexSelect, index: &Tensor, shape: &[u64]| {
            show(&torch_index_select(op, &operand, index, &ty(shape, ElementType::I64)).unwrap())
        };
        assert_eq!(select(&op(1, 1), &ints(&[2, 1], &[2, 0]), &[2, 1, 2]), "4 5 6 7");
        assert_eq!(
            select(&op(2, 0), &ints(&[3], &[1, 0, 7]), &[2, 3, 3]),
            "1 0 1 3 2 3 5 4 5 7 6 7 9 8 9 11 10 11"
        );
        assert_eq!(select(&op(0, 0), &ints(&[], &[1]), &[3, 2]), "6 7 8 9 10 11");
    }
}
