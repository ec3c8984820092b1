//! Householder reflectors as LAPACK has them (`larfg`, `larf`), and what is built of them: QR and its Q, Hessenberg form.

use std::ops::Range;

use super::entry::{Entry, norm};
use super::matrix::Matrix;
use crate::tensor::TensorError;

/// A length of which the reciprocal is finite with room to spare (`larfg`'s `safmin`): `2^-970`.
const SAFE_MIN: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// `H = I - tau v v^H`, of which the adjoint takes the vector that it was made for to `(beta, 0, ...)`, `beta` real.
pub(super) struct Reflector<T> {
    /// `v`, of which the first element is 1.
    pub(super) vector: Vec<T>,
    /// `tau`: 0 for the identity.
    pub(super) tau: T,
    /// What is left of the vector.
    pub(super) beta: T,
}

impl<T: Entry> Reflector<T> {
    /// The reflector of a vector (`larfg`).
    pub(super) fn of(mut vector: Vec<T>) -> Self {
        let length = norm(&vector);
        if length == 0.0 || length >= SAFE_MIN {
            return Self::of_safe(vector);
        }
        // The reciprocal of such a length is infinite, and subnormal numbers have few digits.
        for value in &mut vector {
            *value = value.times(SAFE_MIN.recip());
        }
        let scaled = Self::of_safe(vector);
        Self {
            beta: scaled.beta.times(SAFE_MIN),
            ..scaled
        }
    }

    /// The reflector of a vector that is as long as [`SAFE_MIN`], or zero.
    fn of_safe(mut vector: Vec<T>) -> Self {
        let Some((first, tail)) = vector.split_first_mut() else {
            return Self {
                vector,
                tau: T::ZERO,
                beta: T::ZERO,
            };
        };
        let alpha = std::mem::replace(first, T::from_real(1.0));
        let rest = norm(tail);
        if rest == 0.0 && alpha.imaginary() == 0.0 {
            return Self {
                vector,
                tau: T::ZERO,
                beta: alpha,
            };
        }
        let beta = -alpha.modulus().hypot(rest).copysign(alpha.real());
        let divisor = alpha - T::from_real(beta);
        for value in tail {
            *value = *value / divisor;
        }
        Self {
            vector,
            tau: -divisor.times(beta.recip()),
            beta: T::from_real(beta),
        }
    }

    /// A reflector as it was stored: `v` without its first element.
    pub(super) fn stored(tail: impl IntoIterator<Item = T>, tau: T) -> Self {
        Self {
            vector: std::iter::once(T::from_real(1.0)).chain(tail).collect(),
            tau,
            beta: T::ZERO,
        }
    }

    /// Writes `beta` and `v` into a column, from a row on.
    fn store(&self, a: &mut Matrix<T>, column: usize, from: usize) {
        for (offset, value) in self.vector.iter().enumerate() {
            a[(from + offset, column)] = if offset == 0 { self.beta } else { *value };
        }
    }

    /// `A = (I - tau v v^H) A` for the rows from `first` on and some columns. `tau` is the reflector's, or its conjugate for
    /// the adjoint.
    pub(super) fn apply_left(&self, tau: T, a: &mut Matrix<T>, first: usize, columns: Range<usize>) {
        if tau == T::ZERO {
            return;
        }
        let mut products = vec![T::ZERO; columns.len()];
        for (offset, v) in self.vector.iter().enumerate() {
            let row = &a.row(first + offset)[columns.clone()];
            for (sum, value) in products.iter_mut().zip(row) {
                *sum = *sum + v.conjugate() * *value;
            }
        }
        for (offset, v) in self.vector.iter().enumerate() {
            let row = &mut a.row_mut(first + offset)[columns.clone()];
            for (value, product) in row.iter_mut().zip(&products) {
                *value = *value - tau * *v * *product;
            }
        }
    }

    /// `A = A (I - tau v v^H)` for the columns from `first` on and some rows.
    pub(super) fn apply_right(&self, tau: T, a: &mut Matrix<T>, rows: Range<usize>, first: usize) {
        if tau == T::ZERO {
            return;
        }
        for row in rows {
            let values = &mut a.row_mut(row)[first..first + self.vector.len()];
            let terms = values.iter().zip(&self.vector);
            let product = terms.fold(T::ZERO, |sum, (value, v)| sum + *value * *v);
            for (value, v) in values.iter_mut().zip(&self.vector) {
                *value = *value - tau * product * v.conjugate();
            }
        }
    }
}

/// `geqrf`: R in the upper triangle, the reflectors of Q below it; their `tau`.
pub(super) fn factorise_qr<T: Entry>(a: &mut Matrix<T>) -> Vec<T> {
    let columns = a.columns();
    (0..a.rows().min(columns))
        .map(|step| {
            let reflector = Reflector::of(a.column_below(step, step));
            reflector.apply_left(reflector.tau.conjugate(), a, step, step + 1..columns);
            reflector.store(a, step, step);
            reflector.tau
        })
        .collect()
}

/// `orgqr`, `ungqr`: the first `columns` columns of the product of reflectors that are stored below the diagonal of `a`.
///
/// # Errors
/// [`TensorError`] when there is no memory for them.
pub(super) fn product_of_reflectors<T: Entry>(
    a: &Matrix<T>,
    taus: &[T],
    columns: usize,
) -> Result<Matrix<T>, TensorError> {
    let mut q = Matrix::identity(a.rows(), columns)?;
    for (step, tau) in taus.iter().enumerate().rev() {
        let reflector = Reflector::stored(a.column_below(step, step + 1), *tau);
        reflector.apply_left(*tau, &mut q, step, step..columns);
    }
    Ok(q)
}

/// `gehrd`: the Hessenberg form of rows and columns `active` in the upper triangle and the subdiagonal, the reflectors of Q
/// below; their `tau`, one for each row but the last.
pub(super) fn reduce_to_hessenberg<T: Entry>(a: &mut Matrix<T>, active: Range<usize>) -> Vec<T> {
    let size = a.rows();
    let mut taus = vec![T::ZERO; size.saturating_sub(1)];
    for step in active.start..active.end.saturating_sub(1) {
        let column: Vec<T> = (step + 1..active.end).map(|row| a[(row, step)]).collect();
        let reflector = Reflector::of(column);
        reflector.apply_right(reflector.tau, a, 0..active.end, step + 1);
        reflector.apply_left(reflector.tau.conjugate(), a, step + 1, step + 1..size);
        reflector.store(a, step, step + 1);
        taus[step] = reflector.tau;
    }
    taus
}

/// The Hessenberg form `H` and `Q` of a square matrix, `A = Q H Q^H` (`gehrd`, `orghr`).
///
/// # Errors
/// [`TensorError`] when there is no memory for `Q`.
pub(super) fn hessenberg<T: Entry>(mut a: Matrix<T>) -> Result<(Matrix<T>, Matrix<T>), TensorError> {
    let size = a.rows();
    let taus = reduce_to_hessenberg(&mut a, 0..size);
    let mut q = Matrix::identity(size, size)?;
    for (step, tau) in taus.iter().enumerate().rev() {
        let reflector = Reflector::stored(a.column_below(step, (step + 2).min(size)), *tau);
        reflector.apply_left(*tau, &mut q, step + 1, step + 1..size);
    }
    for row in 2..size {
        a.row_mut(row)[..row - 1].fill(T::ZERO);
    }
    Ok((a, q))
}
