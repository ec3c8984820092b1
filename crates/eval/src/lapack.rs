//! LAPACK routines that JAX calls on CPU: `lapack_<s|d|c|z><routine>_ffi`, batched over leading dimensions.
//!
//! Operands after the matrices are sizes that JAX adds where dimensions are symbolic; shapes say the same. Options are the
//! ASCII codes of LAPACK's own letters, in the dictionary `mhlo.backend_config`.

use std::sync::Arc;

use artifact_ir::attribute::{Attribute, NamedAttributes, Transpose};
use artifact_ir::op::{Cholesky, Linalg, TriangularSolve};
use artifact_ir::types::{ElementType, TensorType};

use crate::algebra;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::shape::operand;
use crate::tensor::Tensor;

/// The routine that a custom call's target names, without its letter of precision.
pub(crate) fn routine(target: &str) -> Option<&str> {
    let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    name.strip_prefix(['s', 'd', 'c', 'z'])
}

/// Runs a routine.
///
/// # Errors
/// Unsupported for a routine that is not here, invalid input for options that LAPACK does not have.
pub(crate) fn run(
    routine: &str,
    operands: &[Tensor],
    options: Option<&Attribute>,
) -> Result<Vec<Tensor>, EvalError> {
    let options = Options(match options {
        Some(Attribute::Dictionary(options)) => Some(options),
        _ => None,
    });
    match routine {
        "potrf" => potrf(operand(operands, 0)?, &options),
        "trsm" => trsm(operand(operands, 0)?, operand(operands, 1)?, &options),
        "getrf" => getrf(operand(operands, 0)?),
        other => Err(EvalError::unsupported(format!(
            "the LAPACK routine {other} is not evaluated"
        ))),
    }
}

struct Options<'a>(Option<&'a NamedAttributes>);

impl Options<'_> {
    /// Whether an option is the first of two letters; any other letter than these is an error.
    fn is_first(&self, name: &str, letters: [u8; 2]) -> Result<bool, EvalError> {
        match self.letter(name)? {
            letter if letter == letters[0] => Ok(true),
            letter if letter == letters[1] => Ok(false),
            letter => Err(unknown(name, letter)),
        }
    }

    fn letter(&self, name: &str) -> Result<u8, EvalError> {
        let value = self
            .0
            .and_then(|options| options.get(name))
            .and_then(Attribute::as_i64);
        let letter = value.and_then(|value| u8::try_from(value).ok());
        letter.ok_or_else(|| EvalError::invalid_input(format!("the LAPACK option {name} is missing")))
    }
}

fn unknown(name: &str, letter: u8) -> EvalError {
    EvalError::invalid_input(format!("the LAPACK option {name} is {:?}", char::from(letter)))
}

/// Rows and columns of the matrices, and the batch dimensions.
fn matrix_shape(tensor: &Tensor) -> Result<([usize; 2], Vec<usize>), EvalError> {
    match tensor.shape()[..] {
        [ref batch @ .., rows, columns] => Ok(([rows, columns], batch.to_vec())),
        _ => Err(EvalError::invalid_input(format!("{} is no matrix", tensor.ty()))),
    }
}

fn integers(shape: &[usize], values: &[i128]) -> Result<Tensor, EvalError> {
    let shape: Vec<u64> = shape.iter().map(|size| *size as u64).collect();
    let ty = Arc::new(TensorType::of_static(&shape, ElementType::I32));
    Ok(Tensor::from_fn(ty, |position| Scalar::Int(values[position]))?)
}

/// `potrf`: the Cholesky factor in one triangle, the other triangle as it was; `info` is 0, or the order of the first leading
/// minor that is not positive.
fn potrf(a: &Tensor, options: &Options<'_>) -> Result<Vec<Tensor>, EvalError> {
    let lower = options.is_first("uplo", [b'L', b'U'])?;
    let ([rows, columns], batch) = matrix_shape(a)?;
    let factors = algebra::linalg(
        &Linalg::Cholesky(Cholesky { lower }),
        std::slice::from_ref(a),
        &[Arc::clone(a.ty())],
    )?;
    let factor = operand(&factors, 0)?;
    let size = rows * columns;
    let merged = Tensor::from_fn(Arc::clone(a.ty()), |position| {
        let (row, column) = (position % size / columns, position % columns);
        let in_triangle = if lower { column <= row } else { row <= column };
        if in_triangle {
            factor.get(position)
        } else {
            a.get(position)
        }
    })?;
    let minor = |matrix: usize| {
        let is_positive = |row: usize| match factor.get(matrix * size + row * columns + row) {
            Scalar::Float(value) | Scalar::Complex(value, _) => value > 0.0,
            Scalar::Bool(_) | Scalar::Int(_) => false,
        };
        (0..rows)
            .find(|row| !is_positive(*row))
            .map_or(0, |row| row as i128 + 1)
    };
    let count = batch.iter().product();
    let info: Vec<i128> = (0..count).map(minor).collect();
    Ok(vec![merged, integers(&batch, &info)?])
}

/// `trsm`: x of op(a) x = b, or of x op(a) = b.
fn trsm(a: &Tensor, b: &Tensor, options: &Options<'_>) -> Result<Vec<Tensor>, EvalError> {
    let op = TriangularSolve {
        left_side: options.is_first("side", [b'L', b'R'])?,
        lower: options.is_first("uplo", [b'L', b'U'])?,
        unit_diagonal: options.is_first("diag", [b'U', b'N'])?,
        transpose_a: match options.letter("trans_x")? {
            b'N' => Transpose::NoTranspose,
            b'T' => Transpose::Transpose,
            b'C' => Transpose::Adjoint,
            letter => return Err(unknown("trans_x", letter)),
        },
    };
    algebra::linalg(
        &Linalg::TriangularSolve(op),
        &[a.clone(), b.clone()],
        &[Arc::clone(b.ty())],
    )
}

/// `getrf`: L without its diagonal of ones and U in one matrix; the row, from 1, that each row was exchanged with; `info` is 0,
/// or the number of the first pivot that is zero.
fn getrf(a: &Tensor) -> Result<Vec<Tensor>, EvalError> {
    let ([rows, columns], batch) = matrix_shape(a)?;
    let count: usize = batch.iter().product();
    let mut elements: Vec<Complex> = a.scalars().map(Complex::of).collect();
    let (mut pivots, mut info) = (Vec::new(), Vec::with_capacity(count));
    for matrix in 0..count {
        let matrix = &mut elements[matrix * rows * columns..(matrix + 1) * rows * columns];
        let (rows_swapped, singular) = factorise(matrix, rows, columns);
        pivots.extend(rows_swapped);
        info.push(singular);
    }
    let factors = Tensor::from_fn(Arc::clone(a.ty()), |position| {
        let Complex(re, im) = elements[position];
        if a.storage().is_complex() {
            Scalar::Complex(re, im)
        } else {
            Scalar::Float(re)
        }
    })?;
    let pivot_shape = [&batch[..], &[rows.min(columns)]].concat();
    Ok(vec![
        factors,
        integers(&pivot_shape, &pivots)?,
        integers(&batch, &info)?,
    ])
}

/// A number of any of the four precisions, wide.
#[derive(Clone, Copy)]
struct Complex(f64, f64);

impl Complex {
    fn of(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Complex(re, im) => Self(re, im),
            other => Self(other.as_float().unwrap_or(f64::NAN), 0.0),
        }
    }

    /// LAPACK's measure of a complex pivot.
    fn magnitude(self) -> f64 {
        self.0.abs() + self.1.abs()
    }

    fn minus_product(self, a: Self, b: Self) -> Self {
        Self(self.0 - (a.0 * b.0 - a.1 * b.1), self.1 - (a.0 * b.1 + a.1 * b.0))
    }

    fn divided_by(self, other: Self) -> Self {
        if other.1 == 0.0 {
            return Self(self.0 / other.0, self.1 / other.0);
        }
        let norm = other.0 * other.0 + other.1 * other.1;
        Self(
            (self.0 * other.0 + self.1 * other.1) / norm,
            (self.1 * other.0 - self.0 * other.1) / norm,
        )
    }
}

/// Gaussian elimination with exchanges of rows, in place.
fn factorise(matrix: &mut [Complex], rows: usize, columns: usize) -> (Vec<i128>, i128) {
    let mut singular = 0;
    let mut exchanges = Vec::with_capacity(rows.min(columns));
    for step in 0..rows.min(columns) {
        let at = |row: usize, column: usize| row * columns + column;
        let mut pivot = step;
        for row in step + 1..rows {
            if matrix[at(row, step)].magnitude() > matrix[at(pivot, step)].magnitude() {
                pivot = row;
            }
        }
        exchanges.push(pivot as i128 + 1);
        if matrix[at(pivot, step)].magnitude() == 0.0 {
            if singular == 0 {
                singular = step as i128 + 1;
            }
            continue;
        }
        for column in 0..columns {
            matrix.swap(at(step, column), at(pivot, column));
        }
        for row in step + 1..rows {
            let factor = matrix[at(row, step)].divided_by(matrix[at(step, step)]);
            matrix[at(row, step)] = factor;
            for column in step + 1..columns {
                matrix[at(row, column)] =
                    matrix[at(row, column)].minus_product(factor, matrix[at(step, column)]);
            }
        }
    }
    (exchanges, singular)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(size: u64, values: &[f64]) -> Tensor {
        let ty = Arc::new(TensorType::of_static(&[size, size], ElementType::F64));
        Tensor::from_fn(ty, |position| Scalar::Float(values[position])).unwrap()
    }

    fn check(routine: &str, operands: &[Tensor], letters: &[(&str, u8)], results: &[&str]) {
        let letter = |(name, letter): &(&str, u8)| {
            let value = Attribute::Integer {
                value: i128::from(*letter),
                ty: ElementType::UI8,
            };
            (Arc::<str>::from(*name), value)
        };
        let options = Attribute::Dictionary(letters.iter().map(letter).collect());
        let got = run(routine, operands, Some(&options)).unwrap();
        let got: Vec<String> = got.iter().map(ToString::to_string).collect();
        assert_eq!(got, results, "{routine}");
    }

    #[test]
    fn names() {
        assert_eq!(routine("lapack_spotrf_ffi"), Some("potrf"));
        assert_eq!(routine("lapack_zgetrf_ffi"), Some("getrf"));
        assert_eq!(routine("lapack_spotrf"), None);
    }

    #[test]
    fn factors() {
        let a = matrix(2, &[4.0, 7.0, 2.0, 5.0]);
        let factor = "dense<[[2.0, 7.0], [1.0, 2.0]]> : tensor<2x2xf64>";
        check(
            "potrf",
            &[a],
            &[("uplo", b'L')],
            &[factor, "dense<0> : tensor<i32>"],
        );
        let indefinite = matrix(2, &[1.0, 2.0, 2.0, 1.0]);
        let factor = "dense<[[1.0, 2.0], [2.0, NaN]]> : tensor<2x2xf64>";
        check(
            "potrf",
            &[indefinite],
            &[("uplo", b'U')],
            &[factor, "dense<2> : tensor<i32>"],
        );
    }

    #[test]
    fn elimination() {
        let a = matrix(2, &[1.0, 3.0, 2.0, 4.0]);
        let results = [
            "dense<[[2.0, 4.0], [0.5, 1.0]]> : tensor<2x2xf64>",
            "dense<[2, 2]> : tensor<2xi32>",
            "dense<0> : tensor<i32>",
        ];
        check("getrf", &[a], &[], &results);
        let results = [
            "dense<[[0.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>",
            "dense<[1, 2]> : tensor<2xi32>",
            "dense<1> : tensor<i32>",
        ];
        check("getrf", &[matrix(2, &[0.0, 0.0, 0.0, 1.0])], &[], &results);
    }

    #[test]
    fn substitution() {
        let a = matrix(2, &[2.0, 9.0, 1.0, 4.0]);
        let b = matrix(2, &[2.0, 4.0, 9.0, 6.0]);
        let options = [("side", b'L'), ("uplo", b'L'), ("trans_x", b'N'), ("diag", b'N')];
        check(
            "trsm",
            &[a, b],
            &options,
            &["dense<[[1.0, 2.0], [2.0, 1.0]]> : tensor<2x2xf64>"],
        );
    }
}
