//! The largest elements (CHLO, "top_k").

use std::cmp::Ordering;
use std::sync::Arc;

use artifact_ir::types::{ElementType, TensorType};

use super::compare::total_order;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, shape_of};

/// The largest elements of each row along the last dimension, and their positions. `k` is the last size of the results.
///
/// Floats are in total order, NaN above infinity; equal elements keep their order, whether that is asked for or not.
pub(super) fn top_k(operand: &Tensor, types: &[Arc<TensorType>]) -> Result<Vec<Tensor>, EvalError> {
    let [values_ty, positions_ty] = types else {
        return Err(EvalError::runtime("chlo.top_k has two results"));
    };
    let row = operand.shape().last().copied().unwrap_or(0);
    let k = shape_of(values_ty).last().copied().unwrap_or(0);
    let rows = operand.len().checked_div(row).unwrap_or(0);
    let expected = [values_ty, positions_ty].map(|ty| ty.element_count());
    if k > row || expected != [Some((rows * k) as u64); 2] {
        return Err(EvalError::runtime(format!(
            "chlo.top_k: {} has no {k} largest elements a row",
            operand.ty()
        )));
    }
    let element = operand.storage();
    let mut positions = Vec::with_capacity(rows * k);
    for start in (0..rows).map(|index| index * row) {
        let elements: Vec<Scalar> = (start..start + row)
            .map(|position| operand.get(position))
            .collect();
        let mut order: Vec<usize> = (0..row).collect();
        order.sort_by(|a, b| descending(element, elements[*a], elements[*b]));
        positions.extend_from_slice(&order[..k]);
    }
    let values = Tensor::from_positions(Arc::clone(values_ty), operand, |index| {
        index / k * row + positions[index]
    })?;
    let indices = Tensor::from_fn(Arc::clone(positions_ty), |index| {
        Scalar::Int(positions[index] as i128)
    })?;
    Ok(vec![values, indices])
}

fn descending(ty: ElementType, a: Scalar, b: Scalar) -> Ordering {
    match (a.as_float(), b.as_float()) {
        (Some(a), Some(b)) => total_order(ty, b, a),
        _ => b.as_int().cmp(&a.as_int()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let ty = |shape: &[u64], element| Arc::new(TensorType::of_static(shape, element));
        let elements = [1.0, f64::NAN, 3.0, 2.0, 2.0, f64::INFINITY].map(Scalar::Float);
        let operand = Tensor::from_scalars(ty(&[2, 3], ElementType::F32), &elements).unwrap();
        let results = top_k(
            &operand,
            &[ty(&[2, 2], ElementType::F32), ty(&[2, 2], ElementType::I32)],
        )
        .unwrap();
        assert_eq!(results[1].to_ints().unwrap(), [1, 2, 2, 0]);
        assert_eq!(results[0].get(3), Scalar::Float(2.0));
        let too_many = [ty(&[2, 4], ElementType::F32), ty(&[2, 4], ElementType::I32)];
        assert!(top_k(&operand, &too_many).is_err());
    }
}
