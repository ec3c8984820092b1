//! `cholesky`.

use std::sync::Arc;

use artifact_ir::op::Cholesky;
use artifact_ir::types::TensorType;

use super::axes::{check_same, check_shape};
use super::expressed::{expressed, stored};
use super::number::{Complex, Field, numbers};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Spec, "cholesky". The other triangle of the result is zero; a matrix without a factor gives NaN from where that shows.
pub(super) fn cholesky(op: &Cholesky, operand: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let operand = expressed(operand)?;
    check_shape(ty, &operand.shape())?;
    let [.., rows, columns] = operand.shape()[..] else {
        return Err(EvalError::invalid_input("a factorisation needs a matrix"));
    };
    check_same("the sides of the matrix", &[rows], &[columns])?;
    let factors = if operand.storage().is_complex() {
        factorise::<Complex>(&operand, rows, op.lower)?
    } else {
        factorise::<f64>(&operand, rows, op.lower)?
    };
    let plain = Arc::new(ty.with_element(ty.element.expressed()));
    stored(&Tensor::from_scalars(plain, &factors)?, ty)
}

/// The factors of a batch of matrices of `size` rows.
fn factorise<T: Field>(operand: &Tensor, size: usize, lower: bool) -> Result<Vec<Scalar>, EvalError> {
    let values = numbers::<T>(operand)?;
    let mut result = vec![T::ZERO; values.len()];
    let (matrices, factors) = (
        values.chunks_exact((size * size).max(1)),
        result.chunks_exact_mut((size * size).max(1)),
    );
    for (matrix, factor) in matrices.zip(factors) {
        // The upper factor is the adjoint of the lower one, of the adjoint matrix.
        let at = |row: usize, column: usize| {
            if lower {
                matrix[row * size + column]
            } else {
                matrix[column * size + row].conjugate()
            }
        };
        let lower_factor = lower_factor(size, at);
        for row in 0..size {
            for column in 0..=row {
                let value = lower_factor[row * size + column];
                if lower {
                    factor[row * size + column] = value;
                } else {
                    factor[column * size + row] = value.conjugate();
                }
            }
        }
    }
    Ok(result.into_iter().map(T::to_scalar).collect())
}

/// The lower factor of a matrix of which the lower triangle is read.
fn lower_factor<T: Field>(size: usize, at: impl Fn(usize, usize) -> T) -> Vec<T> {
    let mut factor = vec![T::ZERO; size * size];
    for column in 0..size {
        for row in column..size {
            let mut rest = at(row, column);
            for k in 0..column {
                rest = rest.subtract(factor[row * size + k].multiply(factor[column * size + k].conjugate()));
            }
            factor[row * size + column] = if row == column {
                T::from_real(rest.real().sqrt())
            } else {
                rest.divide(factor[column * size + column])
            };
        }
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{complexes, floats, show};

    fn check(lower: bool, operand: &Tensor, expected: &str) {
        assert_eq!(
            show(&cholesky(&Cholesky { lower }, operand, operand.ty()).unwrap()),
            expected
        );
    }

    #[test]
    fn factors() {
        let a = [1.0, 2.0, 3.0, 2.0, 20.0, 26.0, 3.0, 26.0, 70.0];
        check(true, &floats(&[3, 3], &a), "1 0 0 2 4 0 3 5 6");
        check(false, &floats(&[3, 3], &a), "1 2 3 0 4 5 0 0 6");
        // Only one triangle is read.
        check(true, &floats(&[2, 1, 1], &[4.0, 9.0]), "2 3");
        check(true, &floats(&[2, 2], &[4.0, f64::NAN, 2.0, 5.0]), "2 0 1 2");
        check(false, &floats(&[2, 2], &[4.0, 2.0, f64::NAN, 5.0]), "2 1 0 2");
        check(true, &floats(&[2, 2], &[-1.0, 0.0, 1.0, 1.0]), "NaN 0 NaN NaN");
        check(true, &floats(&[0, 0], &[]), "");
    }

    #[test]
    fn complex_factors() {
        let a = [(4.0, 0.0), (0.0, -2.0), (0.0, 2.0), (5.0, 0.0)];
        check(true, &complexes(&[2, 2], &a), "(2,0) (0,0) (0,1) (2,0)");
        check(false, &complexes(&[2, 2], &a), "(2,0) (0,-1) (0,0) (2,0)");
    }
}
