//! Small dense matrices of complex numbers, in which factorizations of every element type are judged.

use std::ops::{Add, Mul, Sub};

use artifact_core::limit::Limit;
use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;

/// Matrices in one tensor: a batch of empty ones may announce any number without holding a byte.
const BATCH: Limit = Limit::new("a batch", 1 << 20, "matrices or vectors");

/// A complex number; what is real has no imaginary part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    pub(super) const ZERO: Self = Self::real(0.0);
    pub(super) const ONE: Self = Self::real(1.0);

    pub(super) const fn real(re: f64) -> Self {
        Self { re, im: 0.0 }
    }

    pub(super) const fn conjugate(self) -> Self {
        Self {
            re: self.re,
            im: -self.im,
        }
    }

    /// The distance from zero; infinite where a part is not a number, so that such a value is near to nothing.
    pub(super) fn modulus(self) -> f64 {
        if self.re.is_nan() || self.im.is_nan() {
            f64::INFINITY
        } else {
            self.re.hypot(self.im)
        }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<Complex>,
}

impl Matrix {
    pub(super) fn from_fn(
        rows: usize,
        columns: usize,
        mut element: impl FnMut(usize, usize) -> Complex,
    ) -> Self {
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            values.extend((0..columns).map(|column| element(row, column)));
        }
        Self {
            rows,
            columns,
            values,
        }
    }

    pub(super) fn identity(size: usize) -> Self {
        let element = |row, column| {
            if row == column {
                Complex::ONE
            } else {
                Complex::ZERO
            }
        };
        Self::from_fn(size, size, element)
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    /// The size where both sides have it.
    pub(super) fn square(&self, what: &str) -> Result<usize, String> {
        if self.rows == self.columns {
            Ok(self.rows)
        } else {
            Err(format!(
                "{what} is {} by {}, and must be square",
                self.rows, self.columns
            ))
        }
    }

    /// Refuses another size: what is computed below relies on it.
    pub(super) fn expect(&self, what: &str, rows: usize, columns: usize) -> Result<(), String> {
        if (self.rows, self.columns) == (rows, columns) {
            Ok(())
        } else {
            let (is_rows, is_columns) = (self.rows, self.columns);
            Err(format!(
                "{what} is {is_rows} by {is_columns}, expected {rows} by {columns}"
            ))
        }
    }

    /// An element inside the matrix.
    pub(super) fn at(&self, row: usize, column: usize) -> Complex {
        self.values[row * self.columns + column]
    }

    /// The first columns.
    pub(super) fn first_columns(&self, count: usize) -> Self {
        Self::from_fn(self.rows, count, |row, column| self.at(row, column))
    }

    /// The first rows.
    pub(super) fn first_rows(&self, count: usize) -> Self {
        Self::from_fn(count, self.columns, |row, column| self.at(row, column))
    }

    /// The conjugate transpose.
    pub(super) fn adjoint(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |row, column| {
            self.at(column, row).conjugate()
        })
    }

    /// Each column times a number of its own, one for each of them: the product with a diagonal matrix.
    pub(super) fn scale_columns(&self, factors: &[Complex]) -> Self {
        Self::from_fn(self.rows, self.columns, |row, column| {
            self.at(row, column) * factors[column]
        })
    }

    /// The product; this one has as many columns as the other has rows.
    pub(super) fn product(&self, other: &Self) -> Self {
        Self::from_fn(self.rows, other.columns, |row, column| {
            let terms = (0..self.columns).map(|inner| self.at(row, inner) * other.at(inner, column));
            terms.fold(Complex::ZERO, Add::add)
        })
    }

    /// The Frobenius norm: the length of the vector of all elements.
    pub(super) fn norm(&self) -> f64 {
        length(&self.values)
    }

    /// The length of a column.
    pub(super) fn column_length(&self, column: usize) -> f64 {
        let values: Vec<Complex> = (0..self.rows).map(|row| self.at(row, column)).collect();
        length(&values)
    }

    /// Whether every element is within the tolerance of that of a matrix of the same size; else which is not.
    pub(super) fn near(&self, wanted: &Self, tolerance: f64, what: &str) -> Result<(), String> {
        let distances = self.values.iter().zip(&wanted.values);
        let distances = distances.map(|(got, want)| (*got - *want).modulus());
        let Some((position, worst)) = distances.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(());
        };
        if worst <= tolerance {
            return Ok(());
        }
        let (row, column) = (position / self.columns, position % self.columns);
        Err(format!(
            "{what}: element [{row}, {column}] is off by {worst:.3e}, over {tolerance:.3e}"
        ))
    }
}

fn length(values: &[Complex]) -> f64 {
    values
        .iter()
        .fold(0.0, |sum: f64, value| sum.hypot(value.modulus()))
}

/// The matrices that a tensor holds: its last two dimensions are theirs, those before count them.
pub(super) fn matrices(tensor: &Tensor, what: &str) -> Result<Vec<Matrix>, String> {
    let shape = tensor.shape();
    let Some((batch, [rows, columns])) = shape.split_last_chunk::<2>() else {
        return Err(format!(
            "{what} is a {}, and must have two dimensions at least",
            tensor.ty()
        ));
    };
    let values = numbers(tensor, what)?;
    let matrix = |index: usize| {
        let first = index * rows * columns;
        Matrix::from_fn(*rows, *columns, |row, column| {
            values[first + row * columns + column]
        })
    };
    Ok((0..count(batch, what)?).map(matrix).collect())
}

/// The vectors that a tensor holds: the last dimension is theirs, those before count them.
pub(super) fn vectors(tensor: &Tensor, what: &str) -> Result<Vec<Vec<Complex>>, String> {
    rows(tensor, &numbers(tensor, what)?, what)
}

/// The elements of a tensor by rows: the last dimension is theirs, those before count them.
pub(super) fn rows<T: Clone>(tensor: &Tensor, elements: &[T], what: &str) -> Result<Vec<Vec<T>>, String> {
    let shape = tensor.shape();
    let Some((length, batch)) = shape.split_last() else {
        return Err(format!("{what} is a {}, and must have a dimension", tensor.ty()));
    };
    let row = |index: usize| elements[index * length..(index + 1) * length].to_vec();
    Ok((0..count(batch, what)?).map(row).collect())
}

fn count(batch: &[usize], what: &str) -> Result<usize, String> {
    let count = batch
        .iter()
        .fold(1, |count: usize, size| count.saturating_mul(*size));
    let counted = BATCH.check(count as u64);
    counted.map_err(|error| format!("{what}: {error}"))?;
    Ok(count)
}

fn numbers(tensor: &Tensor, what: &str) -> Result<Vec<Complex>, String> {
    let number = |scalar| match scalar {
        Scalar::Float(re) => Ok(Complex::real(re)),
        Scalar::Complex(re, im) => Ok(Complex { re, im }),
        Scalar::Bool(_) | Scalar::Int(_) => Err(format!(
            "{what} is a {}, and must have floats or complex numbers",
            tensor.ty()
        )),
    };
    tensor.scalars().map(number).collect()
}
