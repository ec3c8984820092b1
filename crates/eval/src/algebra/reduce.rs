//! `map`, `reduce` and `reduce_window`.

use std::sync::Arc;

use artifact_ir::op::{Reduce, ReduceWindow};
use artifact_ir::types::TensorType;

use super::axes::{Odometer, axes, check_shape, offsets, others, pick, strides};
use super::region::{Columns, Together, call};
use super::window::{Window, result_shape, window};
use crate::error::EvalError;
use crate::tensor::{Tensor, shape_of};
use crate::value::ApplyRegion;

/// Spec, "map".
pub(super) fn map(
    operands: &[Tensor],
    ty: &Arc<TensorType>,
    apply: &mut ApplyRegion<'_>,
) -> Result<Tensor, EvalError> {
    let inputs = Together::as_they_are(operands);
    let shape = inputs.shape()?;
    check_shape(ty, &shape)?;
    let mut columns = Columns::new(1);
    for position in 0..operands.first().map_or(0, Tensor::len) {
        let mut arguments = Vec::with_capacity(inputs.count());
        inputs.push_elements(position, &mut arguments)?;
        columns.push(&call(apply, 0, &arguments, 1)?)?;
    }
    Ok(columns.finish(std::slice::from_ref(ty))?.remove(0))
}

/// The inputs and initial values of a reduction, and how they are combined.
struct Reducer {
    inputs: Together,
    inits: Vec<Tensor>,
}

impl Reducer {
    fn new(operands: &[Tensor], types: &[Arc<TensorType>]) -> Result<Self, EvalError> {
        let (inputs, inits) = operands.split_at(operands.len() / 2);
        let inits = Together::promoted(inits, types)?;
        let mut elements = Vec::with_capacity(inits.count());
        if inits.tensors().iter().any(|init| init.len() != 1) {
            return Err(EvalError::invalid_input(
                "an initial value must be a single element",
            ));
        }
        inits.push_elements(0, &mut elements)?;
        Ok(Self {
            inputs: Together::promoted(inputs, types)?,
            inits: elements,
        })
    }

    /// `body(accumulators, elements)`; the elements are those at `position`, or the initial values if there is none.
    fn combine(
        &self,
        accumulators: Vec<Tensor>,
        position: Option<usize>,
        apply: &mut ApplyRegion<'_>,
    ) -> Result<Vec<Tensor>, EvalError> {
        let count = accumulators.len();
        let mut arguments = accumulators;
        match position {
            Some(position) => self.inputs.push_elements(position, &mut arguments)?,
            None => arguments.extend(self.inits.iter().cloned()),
        }
        call(apply, 0, &arguments, count)
    }
}

/// Spec, "reduce": the schedule starts from the initial values and takes the elements in ascending order.
pub(super) fn reduce(
    op: &Reduce,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let reducer = Reducer::new(operands, types)?;
    let shape = reducer.inputs.shape()?;
    let mut reduced = axes(&op.dimensions, shape.len())?;
    reduced.sort_unstable();
    let kept = others(&reduced, shape.len());
    for ty in types {
        check_shape(ty, &pick(&shape, &kept))?;
    }
    let strides = strides(&shape);
    let elements = offsets(&pick(&shape, &reduced), &pick(&strides, &reduced));
    let mut columns = Columns::new(types.len());
    for start in offsets(&pick(&shape, &kept), &pick(&strides, &kept)) {
        let mut accumulators = reducer.inits.clone();
        for element in elements.clone() {
            accumulators = reducer.combine(accumulators, Some(start + element), apply)?;
        }
        columns.push(&accumulators)?;
    }
    columns.finish(types)
}

/// Spec, "reduce_window": each window, padding and holes included, which hold the initial values, is reduced as in
/// [`reduce`].
pub(super) fn reduce_window(
    op: &ReduceWindow,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let reducer = Reducer::new(operands, types)?;
    let shape = reducer.inputs.shape()?;
    let windows = window(
        shape.len(),
        &Window {
            sizes: Some(&op.window_dimensions),
            strides: op.window_strides.as_deref(),
            base_dilations: op.base_dilations.as_deref(),
            window_dilations: op.window_dilations.as_deref(),
            padding: op.padding.as_ref().map(|padding| padding.0.as_slice()),
        },
    )?;
    let counts = result_shape(&windows, &shape)?;
    for ty in types {
        check_shape(ty, &counts)?;
    }
    let sizes: Vec<usize> = windows.iter().map(|window| window.size).collect();
    let strides = strides(&shape);
    let mut columns = Columns::new(types.len());
    let mut at = Odometer::new(&types.first().map(|ty| shape_of(ty)).unwrap_or_default());
    while let Some(start) = at.index() {
        let mut accumulators = reducer.inits.clone();
        let mut within = Odometer::new(&sizes);
        while let Some(step) = within.index() {
            let position = super::window::position(&windows, start, step, &shape, &strides);
            accumulators = reducer.combine(accumulators, position, apply)?;
            within.step();
        }
        columns.push(&accumulators)?;
        at.step();
    }
    columns.finish(types)
}
