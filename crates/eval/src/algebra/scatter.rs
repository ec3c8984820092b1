//! `scatter`.

use std::sync::Arc;

use artifact_ir::op::Scatter;
use artifact_ir::types::TensorType;

use super::axes::{Odometer, axes, check_same, check_shape, integers, offsets, others, pick, strides};
use super::gather::{IndexVectors, batching_pairs, combine, spread};
use super::region::{Together, call, single};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::ApplyRegion;

/// Spec, "scatter": updates are made in ascending order of their index; one out of bounds is skipped.
pub(super) fn scatter(
    op: &Scatter,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let count = operands.len() / 2;
    let (inputs, rest) = operands.split_at(count);
    let Some((indices, updates)) = rest.split_first() else {
        return Err(EvalError::invalid_input("expected inputs, indices and updates"));
    };
    let inputs = Together::promoted(inputs, types)?;
    let updates = Together::promoted(updates, types)?;
    let shape = inputs.shape()?;
    for ty in types {
        check_shape(ty, &shape)?;
    }
    if updates.tensors().iter().any(Tensor::is_empty) {
        // However many indices there are, none has an element to update.
        let unchanged = inputs.tensors().iter().zip(types);
        return Ok(unchanged
            .map(|(input, ty)| input.with_type(Arc::clone(ty)))
            .collect());
    }
    let places = Places::new(op, &shape, indices, &updates.shape()?)?;

    let mut results: Vec<Vec<Scalar>> = inputs
        .tensors()
        .iter()
        .map(|input| input.scalars().collect())
        .collect();
    let positions = places.positions();
    for (update, position) in positions.into_iter().enumerate() {
        let Some(position) = position else { continue };
        let mut arguments = Vec::with_capacity(2 * count);
        for (result, ty) in results.iter().zip(inputs.scalar_types()) {
            arguments.push(Tensor::from_scalars(
                Arc::clone(ty),
                &result[position..=position],
            )?);
        }
        updates.push_elements(update, &mut arguments)?;
        for (result, value) in results.iter_mut().zip(call(apply, 0, &arguments, count)?) {
            result[position] = single(&value)?;
        }
    }
    results
        .iter()
        .zip(types)
        .map(|(result, ty)| Ok(Tensor::from_scalars(Arc::clone(ty), result)?))
        .collect()
}

/// Where the elements of updates go.
struct Places {
    shape: Vec<usize>,
    update_shape: Vec<usize>,
    /// For each element of an update, the number of its batch.
    batch_strides: Vec<usize>,
    /// Where the window of each batch starts.
    starts: Vec<Vec<i128>>,
    /// Pairs of a window dimension of the update and the input's dimension that it goes to.
    window: Vec<(usize, usize)>,
}

impl Places {
    fn new(
        op: &Scatter,
        shape: &[usize],
        indices: &Tensor,
        update_shape: &[usize],
    ) -> Result<Self, EvalError> {
        let numbers = &op.scatter_dimension_numbers;
        let (rank, update_rank) = (shape.len(), update_shape.len());
        let vectors = IndexVectors::new(&indices.shape(), numbers.index_vector_dim)?;
        let batching = batching_pairs(
            &vectors,
            &axes(&numbers.input_batching_dims, rank)?,
            &axes(&numbers.scatter_indices_batching_dims, indices.ty().rank())?,
        )?;
        let mut inserted = axes(&numbers.inserted_window_dims, rank)?;
        inserted.extend(batching.iter().map(|(input_dim, _)| *input_dim));
        let window_dims = axes(&numbers.update_window_dims, update_rank)?;
        let window_sizes = pick(update_shape, &window_dims);
        let expected = combine(update_rank, &window_dims, &vectors.batch, &window_sizes)?;
        check_same(
            "the shape of updates and the one that indices and windows give",
            update_shape,
            &expected,
        )?;
        let input_dims = others(&inserted, rank);
        check_same(
            "the numbers of window dimensions",
            &[window_dims.len()],
            &[input_dims.len()],
        )?;

        let map = axes(&numbers.scatter_dims_to_operand_dims, rank)?;
        let batch_dims = others(&window_dims, update_rank);
        Ok(Self {
            shape: shape.to_vec(),
            update_shape: update_shape.to_vec(),
            batch_strides: spread(&batch_dims, &strides(&vectors.batch), update_rank),
            starts: vectors.starts(&integers(indices)?, rank, &map, &batching)?,
            window: window_dims.into_iter().zip(input_dims).collect(),
        })
    }

    /// For each element of an update in order, the position in the input that it goes to, if that is in bounds.
    fn positions(&self) -> Vec<Option<usize>> {
        let strides = strides(&self.shape);
        let mut index = Odometer::new(&self.update_shape);
        let mut positions = Vec::new();
        for batch in offsets(&self.update_shape, &self.batch_strides) {
            let mut target = self.starts[batch].clone();
            for (update_dim, input_dim) in &self.window {
                target[*input_dim] += index.index().map_or(0, |index| index[*update_dim]) as i128;
            }
            let in_bounds = |(at, size): (&i128, &usize)| usize::try_from(*at).ok().filter(|at| at < size);
            let target: Option<Vec<usize>> = target.iter().zip(&self.shape).map(in_bounds).collect();
            positions
                .push(target.map(|target| target.iter().zip(&strides).map(|(at, stride)| at * stride).sum()));
            index.step();
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{ints, show, ty};
    use artifact_ir::attribute::ScatterDimensionNumbers;
    use artifact_ir::types::ElementType;

    fn add(region: usize, arguments: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
        assert_eq!(region, 0);
        let (old, new) = arguments.split_at(arguments.len() / 2);
        let sum = |(a, b): (&Tensor, &Tensor)| {
            ints(
                &[],
                &[(a.get(0).as_int().unwrap() + b.get(0).as_int().unwrap()) as i64],
            )
        };
        Ok(old.iter().zip(new).map(sum).collect())
    }

    fn check(numbers: ScatterDimensionNumbers, operands: &[Tensor], expected: &[&str]) {
        let op = Scatter {
            scatter_dimension_numbers: numbers,
            indices_are_sorted: false,
            unique_indices: false,
        };
        let before = operands.to_vec();
        let types: Vec<_> = operands[..operands.len() / 2]
            .iter()
            .map(|input| Arc::clone(input.ty()))
            .collect();
        let results = scatter(&op, operands, &types, &mut add).unwrap();
        assert_eq!(results.iter().map(show).collect::<Vec<_>>(), expected);
        assert_eq!(before, operands, "operands are left alone");
    }

    #[test]
    fn repeated_and_out_of_bounds() {
        let numbers = ScatterDimensionNumbers {
            inserted_window_dims: vec![0],
            scatter_dims_to_operand_dims: vec![0],
            index_vector_dim: 1,
            ..ScatterDimensionNumbers::default()
        };
        let indices = ints(&[6], &[0, 2, 2, -1, 3, i64::MAX]);
        let input = ints(&[3], &[1, 2, 3]);
        let updates = ints(&[6], &[10, 20, 30, 40, 50, 60]);
        check(
            numbers.clone(),
            &[input.clone(), indices.clone(), updates.clone()],
            &["11 2 53"],
        );
        let two = [
            input.clone(),
            ints(&[3], &[0, 0, 0]),
            indices,
            updates.clone(),
            updates,
        ];
        check(numbers, &two, &["11 2 53", "10 0 50"]);
    }

    #[test]
    fn a_window_that_hangs_over_keeps_its_part_in_bounds() {
        let numbers = ScatterDimensionNumbers {
            update_window_dims: vec![0],
            scatter_dims_to_operand_dims: vec![0],
            ..ScatterDimensionNumbers::default()
        };
        let input = ints(&[3], &[1, 2, 3]);
        check(
            numbers.clone(),
            &[input.clone(), ints(&[], &[1]), ints(&[3], &[10, 20, 30])],
            &["1 12 23"],
        );
        check(
            numbers,
            &[
                input,
                ints(&[1], &[-1]).with_type(ty(&[], ElementType::I64)),
                ints(&[3], &[10, 20, 30]),
            ],
            &["21 32 3"],
        );
    }

    /// The example of the specification, "scatter".
    #[test]
    fn batching_dimensions() {
        let numbers = ScatterDimensionNumbers {
            update_window_dims: vec![3, 4],
            inserted_window_dims: vec![1],
            input_batching_dims: vec![0],
            scatter_indices_batching_dims: vec![1],
            scatter_dims_to_operand_dims: vec![2, 1],
            index_vector_dim: 3,
        };
        let indices = [
            0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0,
        ];
        let operands = [
            ints(&[2, 3, 4, 2], &(1..=48).collect::<Vec<_>>()),
            ints(&[2, 2, 3, 2], &indices),
            ints(&[2, 2, 3, 2, 2], &[1; 48]),
        ];
        check(
            numbers,
            &operands,
            &["3 4 6 7 6 7 7 8 9 10 11 12 15 16 17 18 17 18 19 20 22 23 24 25 \
               25 26 28 29 30 31 31 32 35 36 38 39 38 39 39 40 41 42 44 45 46 47 47 48"],
        );
    }
}
