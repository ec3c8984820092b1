//! `triangular_solve`.

use std::sync::Arc;

use artifact_ir::attribute::Transpose;
use artifact_ir::op::TriangularSolve;
use artifact_ir::types::TensorType;

use super::axes::{check_same, check_shape};
use super::expressed::{expressed, stored};
use super::number::{Complex, Field, numbers};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Spec, "triangular_solve", by substitution.
pub(super) fn triangular_solve(
    op: &TriangularSolve,
    a: &Tensor,
    b: &Tensor,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let (a, b) = (expressed(a)?, expressed(b)?);
    let (a_shape, b_shape) = (a.shape(), b.shape());
    check_shape(ty, &b_shape)?;
    let ([a_batch @ .., size, a_columns], [b_batch @ .., rows, columns]) = (&a_shape[..], &b_shape[..])
    else {
        return Err(EvalError::invalid_input("a system needs two matrices"));
    };
    check_same("the batch dimensions", a_batch, b_batch)?;
    check_same("the sides of the coefficient matrix", &[*size], &[*a_columns])?;
    check_same(
        "the number of equations",
        &[*size],
        &[if op.left_side { *rows } else { *columns }],
    )?;
    let system = System::new(op, *size, [*rows, *columns])?;
    let solutions = if b.storage().is_complex() {
        system.solve_all::<Complex>(&a, &b)?
    } else {
        system.solve_all::<f64>(&a, &b)?
    };
    let plain = Arc::new(ty.with_element(ty.element.expressed()));
    stored(&Tensor::from_scalars(plain, &solutions)?, ty)
}

/// `m x = y` for each vector `y` of `b`, its columns, or its rows: `x op(a) = b` is `transpose(op(a)) x' = b'`.
struct System {
    size: usize,
    /// Whether `m` is the transpose of `a`, and whether its conjugate.
    transposed: bool,
    conjugated: bool,
    /// Whether `m` is lower triangular, and whether its diagonal is taken as ones.
    lower: bool,
    unit_diagonal: bool,
    /// Number of vectors in `b`, and the strides from one to the next and within one.
    vectors: usize,
    vector_stride: usize,
    element_stride: usize,
}

impl System {
    fn new(op: &TriangularSolve, size: usize, [rows, columns]: [usize; 2]) -> Result<Self, EvalError> {
        let transpose = match op.transpose_a {
            Transpose::NoTranspose => false,
            Transpose::Transpose | Transpose::Adjoint => true,
            Transpose::Invalid => {
                return Err(EvalError::invalid_input(
                    "TRANSPOSE_INVALID names no transformation",
                ));
            }
        };
        let transposed = transpose == op.left_side;
        let (vectors, vector_stride, element_stride) = if op.left_side {
            (columns, 1, columns)
        } else {
            (rows, columns, 1)
        };
        Ok(Self {
            size,
            transposed,
            conjugated: op.transpose_a == Transpose::Adjoint,
            lower: op.lower != transposed,
            unit_diagonal: op.unit_diagonal,
            vectors,
            vector_stride,
            element_stride,
        })
    }

    fn solve_all<T: Field>(&self, a: &Tensor, b: &Tensor) -> Result<Vec<Scalar>, EvalError> {
        let coefficients = numbers::<T>(a)?;
        let mut result = numbers::<T>(b)?;
        let (matrix_len, batch_len) = ((self.size * self.size).max(1), (self.size * self.vectors).max(1));
        for (matrix, batch) in coefficients
            .chunks_exact(matrix_len)
            .zip(result.chunks_exact_mut(batch_len))
        {
            for vector in 0..self.vectors {
                self.solve(matrix, batch, vector * self.vector_stride);
            }
        }
        Ok(result.into_iter().map(T::to_scalar).collect())
    }

    /// Replaces the vector that begins at `start` by its solution.
    fn solve<T: Field>(&self, matrix: &[T], values: &mut [T], start: usize) {
        let coefficient = |row: usize, column: usize| {
            let (row, column) = if self.transposed {
                (column, row)
            } else {
                (row, column)
            };
            let value = matrix[row * self.size + column];
            if self.conjugated { value.conjugate() } else { value }
        };
        for step in 0..self.size {
            let row = if self.lower { step } else { self.size - 1 - step };
            let known = if self.lower { 0..row } else { row + 1..self.size };
            let mut rest = values[start + row * self.element_stride];
            for column in known {
                rest = rest.subtract(
                    coefficient(row, column).multiply(values[start + column * self.element_stride]),
                );
            }
            values[start + row * self.element_stride] = if self.unit_diagonal {
                rest
            } else {
                rest.divide(coefficient(row, row))
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{complexes, floats, show};

    const TRANSPOSES: [Transpose; 3] = [Transpose::NoTranspose, Transpose::Transpose, Transpose::Adjoint];

    /// Every combination of attributes: `op(a) x` must be `b` again, with `op(a)` written out naively.
    #[test]
    fn solutions_solve() {
        // Both triangles hold numbers, of which one must not be read.
        let a = [(2.0, 1.0), (3.0, -1.0), (1.0, 1.0), (4.0, 0.0)].map(|(re, im)| Complex::new(re, im));
        let b = [(1.0, 0.0), (2.0, 3.0), (-1.0, 1.0), (0.5, 0.0)].map(|(re, im)| Complex::new(re, im));
        let tensor =
            |values: &[Complex]| complexes(&[2, 2], &values.iter().map(|v| (v.re, v.im)).collect::<Vec<_>>());
        for case in 0..24 {
            let [left_side, lower, unit_diagonal] = [1, 2, 4].map(|bit| case & bit != 0);
            let transpose_a = TRANSPOSES[case / 8];
            let op = TriangularSolve {
                left_side,
                lower,
                unit_diagonal,
                transpose_a,
            };
            let triangle = |row: usize, column: usize| match (row == column, (row > column) == lower) {
                (true, _) if unit_diagonal => Complex::new(1.0, 0.0),
                (true, _) | (false, true) => a[row * 2 + column],
                (false, false) => Complex::new(0.0, 0.0),
            };
            let matrix = |row: usize, column: usize| match transpose_a {
                Transpose::Transpose => triangle(column, row),
                Transpose::Adjoint => triangle(column, row).conjugate(),
                _ => triangle(row, column),
            };
            let result = triangular_solve(&op, &tensor(&a), &tensor(&b), tensor(&b).ty()).unwrap();
            let x = numbers::<Complex>(&result).unwrap();
            for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let term = |k: usize| match left_side {
                    true => crate::algebra::number::Number::multiply(matrix(row, k), x[k * 2 + column]),
                    false => crate::algebra::number::Number::multiply(x[row * 2 + k], matrix(k, column)),
                };
                let rest = term(0)
                    .subtract(b[row * 2 + column])
                    .subtract(term(1).scale(-1.0));
                assert!(
                    rest.re.abs() + rest.im.abs() < 1e-12,
                    "{op:?} at {row}, {column}: {rest:?}"
                );
            }
        }
    }

    #[test]
    fn batches_of_real_systems() {
        let op = TriangularSolve {
            left_side: true,
            lower: true,
            unit_diagonal: false,
            transpose_a: Transpose::NoTranspose,
        };
        let a = floats(&[2, 2, 2], &[1.0, 9.0, 2.0, 4.0, 2.0, 9.0, 1.0, 1.0]);
        let b = floats(&[2, 2, 1], &[3.0, 14.0, 4.0, 5.0]);
        assert_eq!(show(&triangular_solve(&op, &a, &b, b.ty()).unwrap()), "3 2 2 3");
        let wrong = floats(&[2, 3, 1], &[0.0; 6]);
        assert!(triangular_solve(&op, &a, &wrong, wrong.ty()).is_err());
    }
}
