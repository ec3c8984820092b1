//! `select_and_scatter`.

use std::sync::Arc;

use artifact_ir::op::SelectAndScatter;
use artifact_ir::types::TensorType;

use super::axes::{Odometer, check_same, check_shape, element, scalar_type, strides};
use super::expressed::promoted;
use super::region::{call, decide, single};
use super::window::{Window, WindowDim, position, result_shape, window};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::ApplyRegion;

/// Spec, "select_and_scatter": region 0 selects, region 1 scatters. A window without elements selects nothing.
pub(super) fn select_and_scatter(
    op: &SelectAndScatter,
    operand: &Tensor,
    source: &Tensor,
    init: &Tensor,
    ty: &Arc<TensorType>,
    apply: &mut ApplyRegion<'_>,
) -> Result<Tensor, EvalError> {
    let shape = operand.shape();
    check_shape(ty, &shape)?;
    let windows = window(
        shape.len(),
        &Window {
            sizes: op.window_dimensions.as_deref(),
            strides: op.window_strides.as_deref(),
            padding: op.padding.as_ref().map(|padding| padding.0.as_slice()),
            ..Window::default()
        },
    )?;
    check_same(
        "the shape of the source and the number of windows",
        &source.shape(),
        &result_shape(&windows, &shape)?,
    )?;

    let source = promoted(source, &ty.element)?;
    let scalar = scalar_type(&ty.element);
    let mut result: Vec<Scalar> = vec![single(&promoted(init, &ty.element)?)?; operand.len()];
    let mut at = Odometer::new(&source.shape());
    let mut number = 0;
    while let Some(start) = at.index() {
        if let Some(selected) = select(operand, &windows, start, apply)? {
            let value = Tensor::from_scalars(Arc::clone(&scalar), &result[selected..=selected])?;
            let values = call(apply, 1, &[value, element(&scalar, &source, number)?], 1)?;
            result[selected] = single(&values[0])?;
        }
        number += 1;
        at.step();
    }
    Ok(Tensor::from_scalars(Arc::clone(ty), &result)?)
}

/// The position of the element that wins in a window, compared in ascending order.
fn select(
    operand: &Tensor,
    windows: &[WindowDim],
    start: &[usize],
    apply: &mut ApplyRegion<'_>,
) -> Result<Option<usize>, EvalError> {
    let shape = operand.shape();
    let strides = strides(&shape);
    let scalar = scalar_type(&operand.ty().element);
    let sizes: Vec<usize> = windows.iter().map(|window| window.size).collect();
    let mut selected: Option<(usize, Tensor)> = None;
    let mut within = Odometer::new(&sizes);
    while let Some(step) = within.index() {
        if let Some(position) = position(windows, start, step, &shape, &strides) {
            let candidate = element(&scalar, operand, position)?;
            let keep = match &selected {
                Some((_, best)) => decide(apply, 0, &[best.clone(), candidate.clone()])?,
                None => false,
            };
            if !keep {
                selected = Some((position, candidate));
            }
        }
        within.step();
    }
    Ok(selected.map(|(position, _)| position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{bool_of, ints, show};
    use artifact_ir::attribute::Padding;

    /// The example of the specification, "select_and_scatter", with an initial value that must count once.
    #[test]
    fn largest_of_each_window() {
        let op = SelectAndScatter {
            window_dimensions: Some(vec![3, 1]),
            window_strides: Some(vec![2, 1]),
            padding: Some(Padding(vec![[0, 1], [0, 0]])),
        };
        let mut regions = |region: usize, arguments: &[Tensor]| {
            let [a, b] = [0, 1].map(|index| arguments[index].get(0).as_int().unwrap() as i64);
            Ok(vec![if region == 0 {
                bool_of(a >= b)
            } else {
                ints(&[], &[a + b])
            }])
        };
        let operand = ints(&[4, 2], &[1, 5, 2, 5, 3, 6, 4, 4]);
        let source = ints(&[2, 2], &[5, 6, 7, 8]);
        let result = select_and_scatter(
            &op,
            &operand,
            &source,
            &ints(&[], &[100]),
            operand.ty(),
            &mut regions,
        )
        .unwrap();
        assert_eq!(show(&result), "100 100 100 100 105 114 107 100");
    }
}
