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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{floats_of, ints, show, ty};
    use artifact_ir::attribute::Padding;
    use artifact_ir::types::ElementType;

    /// `10 * left + right`, which tells the order of its arguments.
    fn digits(_: usize, arguments: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
        let (left, right) = arguments.split_at(arguments.len() / 2);
        let value = |tensor: &Tensor| tensor.get(0).as_int().unwrap() as i64;
        let pairs = left.iter().zip(right);
        Ok(pairs
            .map(|(left, right)| ints(&[], &[10 * value(left) + value(right)]))
            .collect())
    }

    fn check(dimensions: &[i64], operands: &[Tensor], shape: &[u64], expected: &[&str]) {
        let op = Reduce {
            dimensions: dimensions.to_vec(),
        };
        let types = vec![ty(shape, ElementType::I64); operands.len() / 2];
        let results = reduce(&op, operands, &types, &mut digits).unwrap();
        assert_eq!(results.iter().map(show).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn reductions_go_in_ascending_order() {
        let matrix = ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        let init = |value| ints(&[], &[value]);
        check(&[1], &[matrix.clone(), init(0)], &[2], &["123 456"]);
        check(&[0], &[matrix.clone(), init(0)], &[3], &["14 25 36"]);
        check(&[1, 0], &[matrix.clone(), init(0)], &[], &["123456"]);
        check(&[], &[matrix.clone(), init(0)], &[2, 3], &["1 2 3 4 5 6"]);
        check(
            &[1],
            &[matrix.clone(), matrix, init(0), init(9)],
            &[2],
            &["123 456", "9123 9456"],
        );
        check(&[0], &[ints(&[0, 2], &[]), init(7)], &[2], &["7 7"]);
    }

    #[test]
    fn elements_are_promoted_before_the_region_sees_them() {
        let mut add = |_: usize, arguments: &[Tensor]| {
            assert!(
                arguments
                    .iter()
                    .all(|argument| argument.storage() == ElementType::F64)
            );
            let sum = arguments
                .iter()
                .map(|argument| argument.get(0).as_float().unwrap())
                .sum::<f64>();
            Ok(vec![floats_of(ElementType::F64, &[], &[sum])])
        };
        let operands = [
            floats_of(ElementType::F32, &[2], &[0.5, 0.25]),
            floats_of(ElementType::F32, &[], &[1.0]),
        ];
        let op = Reduce { dimensions: vec![0] };
        let results = reduce(&op, &operands, &[ty(&[], ElementType::F64)], &mut add).unwrap();
        assert_eq!(show(&results[0]), "1.75");
    }

    #[test]
    fn padding_of_windows_holds_initial_values() {
        let op = ReduceWindow {
            window_dimensions: vec![2],
            window_strides: None,
            base_dilations: None,
            window_dilations: None,
            padding: Some(Padding(vec![[1, 0]])),
        };
        let operands = [ints(&[3], &[1, 2, 3]), ints(&[], &[5])];
        let results = reduce_window(&op, &operands, &[ty(&[3], ElementType::I64)], &mut digits).unwrap();
        assert_eq!(show(&results[0]), "551 512 523");
    }

    #[test]
    fn map_takes_one_element_of_each() {
        let operands = [ints(&[2], &[1, 2]), ints(&[2], &[3, 4])];
        let result = map(&operands, operands[0].ty(), &mut digits).unwrap();
        assert_eq!(show(&result), "13 24");
    }
}
