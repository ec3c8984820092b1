//! Implicit broadcasting of CHLO's `broadcast_` operations.

use std::sync::Arc;

use artifact_ir::types::TensorType;

use crate::error::EvalError;
use crate::tensor::{Tensor, index_at, shape_of, strides};

/// The operand in the shape of `result`: each of its dimensions stands for the result's dimension that `dims` names, by
/// default the trailing ones, and is repeated there if its size is 1.
pub(super) fn broadcast(
    operand: &Tensor,
    result: &TensorType,
    dims: Option<&[i64]>,
) -> Result<Tensor, EvalError> {
    let (from, to) = (operand.shape(), shape_of(result));
    if from == to {
        return Ok(operand.clone());
    }
    let targets = targets(from.len(), to.len(), dims).filter(|targets| {
        from.iter()
            .zip(targets)
            .all(|(size, target)| *size == 1 || *size == to[*target])
    });
    let targets = targets
        .ok_or_else(|| EvalError::runtime(format!("{} does not broadcast to {result}", operand.ty())))?;
    let strides = strides(&from);
    let ty = Arc::new(TensorType::new(result.dims.clone(), operand.ty().element.clone()));
    let tensor = Tensor::from_positions(ty, operand, |position| {
        let index = index_at(position, &to);
        let steps = targets.iter().zip(&from).zip(&strides);
        steps
            .map(|((target, size), stride)| if *size == 1 { 0 } else { index[*target] * stride })
            .sum()
    });
    Ok(tensor?)
}

/// The result's dimension of each of the operand's.
fn targets(rank: usize, result_rank: usize, dims: Option<&[i64]>) -> Option<Vec<usize>> {
    let offset = result_rank.checked_sub(rank)?;
    match dims {
        // The attribute speaks of the operand of lower rank.
        Some(dims) if offset > 0 => {
            let targets = dims
                .iter()
                .map(|dim| usize::try_from(*dim).ok().filter(|dim| *dim < result_rank));
            targets
                .collect::<Option<Vec<_>>>()
                .filter(|targets| targets.len() == rank)
        }
        _ => Some((offset..result_rank).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;
    use artifact_ir::types::ElementType;

    fn check(shape: &[u64], to: &[u64], dims: Option<&[i64]>, expected: &[i128]) {
        let ty = Arc::new(TensorType::of_static(shape, ElementType::I8));
        let operand = Tensor::from_fn(ty, |position| Scalar::Int(position as i128)).unwrap();
        let result = broadcast(&operand, &TensorType::of_static(to, ElementType::F32), dims).unwrap();
        assert_eq!(
            result.to_ints().unwrap(),
            expected,
            "{shape:?} to {to:?} by {dims:?}"
        );
    }

    #[test]
    fn shapes() {
        check(&[2], &[2, 2], None, &[0, 1, 0, 1]);
        check(&[2], &[2, 2], Some(&[0]), &[0, 0, 1, 1]);
        check(&[2, 1], &[2, 2], None, &[0, 0, 1, 1]);
        check(&[], &[3], Some(&[]), &[0, 0, 0]);
        check(&[1, 2], &[2, 2], Some(&[0, 1]), &[0, 1, 0, 1]);
    }

    #[test]
    fn a_shape_that_does_not_fit_is_an_error() {
        let ty = Arc::new(TensorType::of_static(&[3], ElementType::I8));
        let operand = Tensor::from_fn(ty, |_| Scalar::Int(0)).unwrap();
        assert!(broadcast(&operand, &TensorType::of_static(&[2, 2], ElementType::I8), None).is_err());
        assert!(
            broadcast(
                &operand,
                &TensorType::of_static(&[2, 3], ElementType::I8),
                Some(&[7])
            )
            .is_err()
        );
    }
}
