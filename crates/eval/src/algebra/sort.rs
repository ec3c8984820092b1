//! `sort`.

use std::sync::Arc;

use artifact_ir::op::Sort;
use artifact_ir::types::TensorType;

use super::axes::{axis, check_shape, offsets, others, pick, strides};
use super::region::{Together, decide};
use crate::error::EvalError;
use crate::tensor::Tensor;
use crate::value::ApplyRegion;

/// Spec, "sort". Always stable, whether asked or not.
pub(super) fn sort(
    op: &Sort,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let inputs = Together::as_they_are(operands);
    let shape = inputs.shape()?;
    for ty in types {
        check_shape(ty, &shape)?;
    }
    let rank = shape.len();
    let from_end = if op.dimension < 0 { rank as i64 } else { 0 };
    let dim = axis(op.dimension.saturating_add(from_end), rank)?;
    let (strides, kept) = (strides(&shape), others(&[dim], rank));

    // Where the element at each position of the results comes from.
    let mut sources: Vec<usize> = (0..operands.first().map_or(0, Tensor::len)).collect();
    for start in offsets(&pick(&shape, &kept), &pick(&strides, &kept)) {
        let slice: Vec<usize> = (0..shape[dim]).map(|step| start + step * strides[dim]).collect();
        let mut less = |left: usize, right: usize| compare(&inputs, left, right, apply);
        let sorted = merge_sort(&slice, &mut less)?;
        for (to, from) in slice.into_iter().zip(sorted) {
            sources[to] = from;
        }
    }
    operands
        .iter()
        .zip(types)
        .map(|(operand, ty)| {
            Ok(Tensor::from_positions(Arc::clone(ty), operand, |position| {
                sources[position]
            })?)
        })
        .collect()
}

/// Whether the comparator puts the elements at `left` before those at `right`.
fn compare(
    inputs: &Together,
    left: usize,
    right: usize,
    apply: &mut ApplyRegion<'_>,
) -> Result<bool, EvalError> {
    let mut lefts = Vec::with_capacity(inputs.count());
    inputs.push_elements(left, &mut lefts)?;
    let mut rights = Vec::with_capacity(inputs.count());
    inputs.push_elements(right, &mut rights)?;
    let arguments: Vec<Tensor> = lefts
        .into_iter()
        .zip(rights)
        .flat_map(|(left, right)| [left, right])
        .collect();
    decide(apply, 0, &arguments)
}

/// A stable sort that ends with some permutation even when the comparator is no order at all, which the standard library's
/// does not promise.
fn merge_sort(
    items: &[usize],
    less: &mut impl FnMut(usize, usize) -> Result<bool, EvalError>,
) -> Result<Vec<usize>, EvalError> {
    let mut sorted = items.to_vec();
    let mut width = 1;
    while width < sorted.len() {
        let mut merged = Vec::with_capacity(sorted.len());
        for run in sorted.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (Some(first), Some(second)) = (left.first(), right.first()) {
                // The right one goes first only if it must: equal elements keep their order.
                if less(*second, *first)? {
                    merged.push(*second);
                    right = &right[1..];
                } else {
                    merged.push(*first);
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        sorted = merged;
        width *= 2;
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{bool_of, floats, ints, show};

    fn check(dimension: i64, operands: &[Tensor], less: impl Fn(f64, f64) -> bool, expected: &[&str]) {
        let op = Sort {
            dimension,
            is_stable: true,
        };
        let types: Vec<_> = operands.iter().map(|operand| Arc::clone(operand.ty())).collect();
        let mut region = |_: usize, arguments: &[Tensor]| {
            assert_eq!(arguments.len(), 2 * operands.len());
            let number = |index: usize| match arguments[index].get(0) {
                crate::scalar::Scalar::Int(value) => value as f64,
                other => other.as_float().unwrap(),
            };
            Ok(vec![bool_of(less(number(0), number(1)))])
        };
        let results = sort(&op, operands, &types, &mut region).unwrap();
        assert_eq!(results.iter().map(show).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn slices_and_companions() {
        let inputs = [
            ints(&[2, 3], &[1, 2, 3, 3, 2, 1]),
            ints(&[2, 3], &[3, 2, 1, 1, 2, 3]),
        ];
        check(0, &inputs, |a, b| a > b, &["3 2 3 1 2 1", "1 2 1 3 2 3"]);
        check(-1, &inputs, |a, b| a < b, &["1 2 3 1 2 3", "3 2 1 3 2 1"]);
        check(0, &[ints(&[0], &[])], |a, b| a < b, &[""]);
    }

    #[test]
    fn equal_elements_keep_their_order() {
        let keys = ints(&[6], &[1, 0, 1, 0, 1, 0]);
        let values = ints(&[6], &[0, 1, 2, 3, 4, 5]);
        check(0, &[keys, values], |a, b| a < b, &["0 0 0 1 1 1", "1 3 5 0 2 4"]);
    }

    #[test]
    fn no_order_at_all() {
        let values = [ints(&[5], &[5, 4, 3, 2, 1])];
        check(0, &values, |_, _| true, &["1 2 3 4 5"]);
        check(0, &values, |_, _| false, &["5 4 3 2 1"]);
        check(
            0,
            &[floats(&[3], &[2.0, f64::NAN, 1.0])],
            |a, b| a < b,
            &["1 2 NaN"],
        );
    }
}
