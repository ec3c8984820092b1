//! Strided views: which element of an operand stands at each index of a result.

use std::sync::Arc;

use artifact_ir::types::TensorType;

use crate::error::EvalError;
use crate::tensor::{Tensor, shape_of, strides};

/// Element `index` of the result is the operand's element at `start + sum(index * strides)`.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// Position of the first element.
    pub(crate) start: isize,
    /// Distance in the operand for one step in each dimension of the result.
    pub(crate) strides: Vec<isize>,
}

impl View {
    /// The view that shows a tensor as it is.
    pub(crate) fn of(shape: &[usize]) -> Self {
        Self {
            start: 0,
            strides: strides(shape).into_iter().map(|stride| stride as isize).collect(),
        }
    }

    /// The view that shows the first element everywhere.
    pub(crate) fn zero(rank: usize) -> Self {
        Self {
            start: 0,
            strides: vec![0; rank],
        }
    }

    /// Copies what is seen. The caller has checked that every index of `ty` falls into the operand.
    pub(crate) fn read(&self, operand: &Tensor, ty: Arc<TensorType>) -> Result<Tensor, EvalError> {
        let shape = shape_of(&ty);
        Ok(Tensor::from_positions(ty, operand, |position| {
            self.position(position, &shape)
        })?)
    }

    /// Where in the operand the element at a row-major position of the result is.
    pub(crate) fn position(&self, mut position: usize, shape: &[usize]) -> usize {
        let mut from = self.start;
        for (size, stride) in shape.iter().zip(&self.strides).rev() {
            from += (position % size) as isize * stride;
            position /= size;
        }
        from as usize
    }
}
