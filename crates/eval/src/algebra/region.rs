//! Applying an operation's regions to single elements.

use std::sync::Arc;

use artifact_ir::types::{Element, TensorType};

use super::axes::{element, scalar_type};
use super::expressed::promoted;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::ApplyRegion;

/// Applies a region and checks how many values it returns.
pub(super) fn call(
    apply: &mut ApplyRegion<'_>,
    region: usize,
    arguments: &[Tensor],
    results: usize,
) -> Result<Vec<Tensor>, EvalError> {
    let values = apply(region, arguments)?;
    if values.len() == results {
        return Ok(values);
    }
    Err(EvalError::invalid_input(format!(
        "the region must return {results} values, it returns {}",
        values.len()
    )))
}

/// The element of a tensor that has one.
pub(super) fn single(tensor: &Tensor) -> Result<Scalar, EvalError> {
    if tensor.len() == 1 {
        return Ok(tensor.get(0));
    }
    Err(EvalError::invalid_input(format!(
        "the region must return single elements, it returns {}",
        tensor.ty()
    )))
}

/// Applies a predicate, a region that returns one truth value.
pub(super) fn decide(
    apply: &mut ApplyRegion<'_>,
    region: usize,
    arguments: &[Tensor],
) -> Result<bool, EvalError> {
    let values = call(apply, region, arguments, 1)?;
    single(&values[0])?.as_bool().ok_or_else(|| {
        EvalError::invalid_input(format!(
            "the region must return tensor<i1>, it returns {}",
            values[0].ty()
        ))
    })
}

/// Several tensors whose elements of one position go into a region together, converted to the region's types.
pub(super) struct Together {
    tensors: Vec<Tensor>,
    scalar_types: Vec<Arc<TensorType>>,
}

impl Together {
    /// `tensors`, each converted to the element type of the result that stands at its place.
    pub(super) fn promoted(tensors: &[Tensor], types: &[Arc<TensorType>]) -> Result<Self, EvalError> {
        if tensors.len() != types.len() {
            return Err(EvalError::invalid_input(format!(
                "expected as many results as inputs, found {} and {}",
                types.len(),
                tensors.len()
            )));
        }
        let elements: Vec<&Element> = types.iter().map(|ty| &ty.element).collect();
        Ok(Self {
            tensors: tensors
                .iter()
                .zip(&elements)
                .map(|(tensor, element)| promoted(tensor, element))
                .collect::<Result<_, _>>()?,
            scalar_types: elements.into_iter().map(scalar_type).collect(),
        })
    }

    /// `tensors` as they are.
    pub(super) fn as_they_are(tensors: &[Tensor]) -> Self {
        Self {
            tensors: tensors.to_vec(),
            scalar_types: tensors
                .iter()
                .map(|tensor| scalar_type(&tensor.ty().element))
                .collect(),
        }
    }

    /// Number of tensors.
    pub(super) fn count(&self) -> usize {
        self.tensors.len()
    }

    /// The tensors.
    pub(super) fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The common shape; all tensors must have it.
    pub(super) fn shape(&self) -> Result<Vec<usize>, EvalError> {
        let shape = self.tensors.first().map(Tensor::shape).unwrap_or_default();
        for other in &self.tensors {
            super::axes::check_same("the shapes of the inputs", &shape, &other.shape())?;
        }
        Ok(shape)
    }

    /// The elements at a position, one tensor each, appended to `out`.
    pub(super) fn push_elements(&self, position: usize, out: &mut Vec<Tensor>) -> Result<(), EvalError> {
        for (tensor, ty) in self.tensors.iter().zip(&self.scalar_types) {
            out.push(element(ty, tensor, position)?);
        }
        Ok(())
    }

    /// The types of the single elements.
    pub(super) fn scalar_types(&self) -> &[Arc<TensorType>] {
        &self.scalar_types
    }
}

/// The results of an operation, filled element by element, all results together.
pub(super) struct Columns(Vec<Vec<Scalar>>);

impl Columns {
    /// Nothing yet.
    pub(super) fn new(count: usize) -> Self {
        Self(vec![Vec::new(); count])
    }

    /// Appends one element to each result.
    pub(super) fn push(&mut self, values: &[Tensor]) -> Result<(), EvalError> {
        for (column, value) in self.0.iter_mut().zip(values) {
            column.push(single(value)?);
        }
        Ok(())
    }

    /// The results. Each has as many elements as its type.
    pub(super) fn finish(self, types: &[Arc<TensorType>]) -> Result<Vec<Tensor>, EvalError> {
        self.0
            .iter()
            .zip(types)
            .map(|(column, ty)| Ok(Tensor::from_scalars(Arc::clone(ty), column)?))
            .collect()
    }
}
