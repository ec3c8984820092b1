//! Axes, shapes and walks over index spaces, checked where a program's numbers enter.

use std::sync::Arc;

use artifact_ir::types::{Element, TensorType};

use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{TENSOR_BYTES, Tensor, shape_of};

/// One axis of an attribute, within the rank.
pub(super) fn axis(value: i64, rank: usize) -> Result<usize, EvalError> {
    usize::try_from(value)
        .ok()
        .filter(|axis| *axis < rank)
        .ok_or_else(|| EvalError::invalid_input(format!("dimension {value} is not one of {rank}")))
}

/// The axes of an attribute, each within the rank.
pub(super) fn axes(values: &[i64], rank: usize) -> Result<Vec<usize>, EvalError> {
    values.iter().map(|value| axis(*value, rank)).collect()
}

/// The axes below `rank` that are not listed, ascending.
pub(super) fn others(listed: &[usize], rank: usize) -> Vec<usize> {
    (0..rank).filter(|axis| !listed.contains(axis)).collect()
}

/// What the listed axes have, in order of the list.
pub(super) fn pick(values: &[usize], axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|axis| values[*axis]).collect()
}

/// Row-major strides of a shape, in elements. Those of an empty tensor mean nothing, but are always within range.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(shape[dim]);
    }
    strides
}

/// Number of elements of a shape; the largest number if it does not fit.
pub(super) fn count(shape: &[usize]) -> usize {
    // A zero size makes the tensor empty however large the others are.
    if shape.contains(&0) {
        return 0;
    }
    shape
        .iter()
        .fold(1, |count: usize, size| count.saturating_mul(*size))
}

/// Refuses a result type that is not of the shape that the operands give, or too large to be worked on element by element.
pub(super) fn check_shape(ty: &TensorType, shape: &[usize]) -> Result<(), EvalError> {
    let declared = shape_of(ty);
    if declared == shape {
        let bytes = count(shape).saturating_mul(size_of::<Scalar>());
        return Ok(TENSOR_BYTES.check(bytes as u64)?);
    }
    Err(EvalError::runtime(format!(
        "the operands give a result of shape {shape:?}, but its type has {declared:?}"
    )))
}

/// Refuses two shapes that must be the same and are not.
pub(super) fn check_same(what: &str, left: &[usize], right: &[usize]) -> Result<(), EvalError> {
    if left == right {
        return Ok(());
    }
    Err(EvalError::runtime(format!(
        "{what} must be the same, found {left:?} and {right:?}"
    )))
}

/// The values of an integer operand that are sizes, clamped to `i64`.
pub(super) fn clamped_sizes(operand: &Tensor) -> Result<Vec<i64>, EvalError> {
    let clamp = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    Ok(integers(operand)?.into_iter().map(clamp).collect())
}

/// The values of an integer operand.
pub(super) fn integers(operand: &Tensor) -> Result<Vec<i128>, EvalError> {
    operand
        .to_ints()
        .ok_or_else(|| EvalError::invalid_input(format!("expected integers, found {}", operand.ty())))
}

/// The type of a single element.
pub(super) fn scalar_type(element: &Element) -> Arc<TensorType> {
    Arc::new(TensorType::new([], element.clone()))
}

/// A single element of a tensor as a tensor. `ty` is [`scalar_type`] of the tensor's element.
pub(super) fn element(ty: &Arc<TensorType>, tensor: &Tensor, position: usize) -> Result<Tensor, EvalError> {
    Ok(Tensor::from_positions(Arc::clone(ty), tensor, |_| position)?)
}

/// For every index of `shape` in row-major order, the sum of its components times `strides`.
pub(super) fn offsets(shape: &[usize], strides: &[usize]) -> Offsets {
    Offsets {
        odometer: Odometer::new(shape),
        strides: strides.to_vec(),
        offset: 0,
    }
}

/// See [`offsets`].
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    odometer: Odometer,
    strides: Vec<usize>,
    offset: usize,
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.odometer.done {
            return None;
        }
        let current = self.offset;
        let strides = &self.strides;
        let offset = &mut self.offset;
        self.odometer.advance(|dim, from, to| {
            *offset = offset.wrapping_add(to.wrapping_sub(from).wrapping_mul(strides[dim]));
        });
        Some(current)
    }
}

/// Counts through the indices of a shape in row-major order without allocating.
#[derive(Clone, Debug)]
pub(super) struct Odometer {
    shape: Vec<usize>,
    index: Vec<usize>,
    done: bool,
}

impl Odometer {
    /// At the first index, or at the end if there is none.
    pub(super) fn new(shape: &[usize]) -> Self {
        Self {
            shape: shape.to_vec(),
            index: vec![0; shape.len()],
            done: shape.contains(&0),
        }
    }

    /// The current index; `None` after the last.
    pub(super) fn index(&self) -> Option<&[usize]> {
        (!self.done).then_some(&self.index)
    }

    /// Goes to the next index.
    pub(super) fn step(&mut self) {
        self.advance(|_, _, _| {});
    }

    /// Goes to the next index; `changed` is told each component that changes: dimension, old and new value.
    fn advance(&mut self, mut changed: impl FnMut(usize, usize, usize)) {
        for dim in (0..self.shape.len()).rev() {
            let from = self.index[dim];
            let to = if from + 1 < self.shape[dim] { from + 1 } else { 0 };
            self.index[dim] = to;
            changed(dim, from, to);
            if to != 0 {
                return;
            }
        }
        self.done = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks() {
        assert_eq!(
            offsets(&[2, 3], &[10, 1]).collect::<Vec<_>>(),
            [0, 1, 2, 10, 11, 12]
        );
        assert_eq!(offsets(&[2, 3], &[0, 2]).collect::<Vec<_>>(), [0, 2, 4, 0, 2, 4]);
        assert_eq!(offsets(&[], &[]).collect::<Vec<_>>(), [0]);
        assert_eq!(offsets(&[usize::MAX, 0], &[0, 1]).count(), 0);
        assert_eq!(offsets(&[1, 2, 1], &[7, 5, 3]).collect::<Vec<_>>(), [0, 5]);
        let mut odometer = Odometer::new(&[2, 2]);
        let mut seen = Vec::new();
        while let Some(index) = odometer.index() {
            seen.push(index.to_vec());
            odometer.step();
        }
        assert_eq!(seen, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    }

    #[test]
    fn strides_of_an_empty_shape_do_not_overflow() {
        assert_eq!(strides(&[0, 1 << 40, 1 << 40]).len(), 3);
        assert_eq!(strides(&[2, 3, 4]), [12, 4, 1]);
    }

    #[test]
    fn axes_out_of_range_are_refused() {
        assert_eq!(axes(&[1, 0], 2), Ok(vec![1, 0]));
        assert!(axes(&[2], 2).is_err());
        assert!(axes(&[-1], 2).is_err());
        assert_eq!(others(&[1], 3), [0, 2]);
    }
}
