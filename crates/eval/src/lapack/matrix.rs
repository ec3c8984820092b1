//! Dense matrices in memory.

use std::ops::{Index, IndexMut};

use artifact_core::limit::LimitExceeded;

use super::entry::Entry;
use crate::algebra::number::Complex;
use crate::tensor::{TENSOR_BYTES, TensorError};

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix<T> {
    rows: usize,
    columns: usize,
    values: Vec<T>,
}

impl<T: Entry> Matrix<T> {
    /// Zeros.
    ///
    /// # Errors
    /// [`TensorError`] when it would be larger than a tensor may be, or than the memory that is left.
    pub(super) fn zeros(rows: usize, columns: usize) -> Result<Self, TensorError> {
        let count = checked_count::<T>(rows, columns)?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(count)
            .map_err(|_| TensorError::Memory(count.saturating_mul(size_of::<T>())))?;
        values.resize(count, T::ZERO);
        Ok(Self {
            rows,
            columns,
            values,
        })
    }

    /// Ones on the diagonal.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    pub(super) fn identity(rows: usize, columns: usize) -> Result<Self, TensorError> {
        let mut matrix = Self::zeros(rows, columns)?;
        for index in 0..rows.min(columns) {
            matrix[(index, index)] = T::from_real(1.0);
        }
        Ok(matrix)
    }

    /// A matrix whose elements are computed by row and column.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    pub(super) fn from_fn(
        rows: usize,
        columns: usize,
        mut element: impl FnMut(usize, usize) -> T,
    ) -> Result<Self, TensorError> {
        let mut matrix = Self::zeros(rows, columns)?;
        for row in 0..rows {
            for (column, value) in matrix.row_mut(row).iter_mut().enumerate() {
                *value = element(row, column);
            }
        }
        Ok(matrix)
    }

    /// The conjugate transpose.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    pub(super) fn adjoint(&self) -> Result<Self, TensorError> {
        Self::from_fn(self.columns, self.rows, |row, column| {
            self[(column, row)].conjugate()
        })
    }

    /// The product of two matrices.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    pub(super) fn product(&self, other: &Self) -> Result<Self, TensorError> {
        let mut result = Self::zeros(self.rows, other.columns)?;
        for row in 0..self.rows {
            for inner in 0..self.columns {
                let factor = self[(row, inner)];
                for (sum, value) in result.row_mut(row).iter_mut().zip(other.row(inner)) {
                    *sum = *sum + factor * *value;
                }
            }
        }
        Ok(result)
    }

    /// The same elements as complex numbers.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    pub(super) fn to_complex(&self) -> Result<Matrix<Complex>, TensorError> {
        Matrix::from_fn(self.rows, self.columns, |row, column| {
            let value = self[(row, column)];
            Complex::new(value.real(), value.imaginary())
        })
    }

    /// Number of rows.
    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    /// All elements, row by row.
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// Rows `from` to the last of a column.
    pub(super) fn column_below(&self, column: usize, from: usize) -> Vec<T> {
        (from..self.rows).map(|row| self[(row, column)]).collect()
    }

    /// One row.
    pub(super) fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// One row, to change.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// Two rows, to change; `first` is before `second`.
    pub(super) fn two_rows_mut(&mut self, first: usize, second: usize) -> (&mut [T], &mut [T]) {
        let (before, after) = self.values.split_at_mut(second * self.columns);
        let first = &mut before[first * self.columns..(first + 1) * self.columns];
        (first, &mut after[..self.columns])
    }

    /// Exchanges two rows.
    pub(super) fn swap_rows(&mut self, first: usize, second: usize) {
        if first != second {
            let (first, second) = self.two_rows_mut(first.min(second), first.max(second));
            first.swap_with_slice(second);
        }
    }

    /// Multiplies every element by a real number.
    pub(super) fn scale(&mut self, factor: f64) {
        for value in &mut self.values {
            *value = value.times(factor);
        }
    }

    /// Whether every element is finite.
    pub(super) fn is_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite())
    }

    /// A power of two by which the elements may be multiplied so that neither their squares nor the squares' sum leave the
    /// range of `f64`; 1 where they do not anyway.
    pub(super) fn safe_scale(&self) -> f64 {
        const SAFE: std::ops::Range<f64> = 1e-100..1e100;
        let largest = self
            .values
            .iter()
            .map(|value| value.real().abs().max(value.imaginary().abs()))
            .fold(0.0, f64::max);
        if largest == 0.0 || !largest.is_finite() || SAFE.contains(&largest) {
            return 1.0;
        }
        // The reciprocal of the smallest numbers would be infinite.
        largest.log2().floor().clamp(-1000.0, 1000.0).exp2().recip()
    }
}

fn checked_count<T>(rows: usize, columns: usize) -> Result<usize, TensorError> {
    let count = rows.checked_mul(columns).ok_or(TensorError::Overflow)?;
    let bytes = count.checked_mul(size_of::<T>()).ok_or(TensorError::Overflow)?;
    TENSOR_BYTES
        .check(bytes as u64)
        .map_err(|exceeded: LimitExceeded| TensorError::Limit(exceeded))?;
    Ok(count)
}

/// Row, column.
impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    fn index(&self, (row, column): (usize, usize)) -> &T {
        debug_assert!(column < self.columns, "column {column} of {}", self.columns);
        &self.values[row * self.columns + column]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut T {
        debug_assert!(column < self.columns, "column {column} of {}", self.columns);
        &mut self.values[row * self.columns + column]
    }
}
