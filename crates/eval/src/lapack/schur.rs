//! The Schur form of a square matrix, `A = Z T Z^H` (`gees`): by QR iterations on its Hessenberg form.
//!
//! Real matrices have a real form, in `schur_real`; here are complex ones and what both share.

use super::entry::Entry;
use super::householder::hessenberg;
use super::matrix::Matrix;
use super::schur_real;
use crate::algebra::number::{Complex, Field, Number};
use crate::tensor::TensorError;

/// A Schur form.
pub(super) struct Schur<T> {
    /// Upper triangular; of a real matrix with blocks of two rows for pairs of complex eigenvalues.
    pub(super) form: Matrix<T>,
    /// `Z`, unitary.
    pub(super) vectors: Matrix<T>,
    /// In the order of the diagonal.
    pub(super) eigenvalues: Vec<Complex>,
}

/// The inner error is `info`: how many rows, from the first, did not converge.
pub(super) type Converged<T> = Result<T, i128>;

/// Numbers whose matrices have a Schur form.
pub(super) trait Spectral: Entry {
    /// Takes a Hessenberg matrix to its Schur form and applies every transformation to the columns of `z`.
    fn iterate(h: &mut Matrix<Self>, z: &mut Matrix<Self>) -> Converged<Vec<Complex>>;
}

impl Spectral for f64 {
    fn iterate(h: &mut Matrix<Self>, z: &mut Matrix<Self>) -> Converged<Vec<Complex>> {
        schur_real::iterate(h, z)
    }
}

impl Spectral for Complex {
    fn iterate(h: &mut Matrix<Self>, z: &mut Matrix<Self>) -> Converged<Vec<Complex>> {
        iterate(h, z)
    }
}

/// The Schur form of a matrix.
///
/// # Errors
/// [`TensorError`] when there is no memory.
pub(super) fn schur<T: Spectral>(mut a: Matrix<T>) -> Result<Converged<Schur<T>>, TensorError> {
    let size = a.rows();
    if !a.is_finite() {
        return Ok(Err(size as i128));
    }
    let scale = a.safe_scale();
    a.scale(scale);
    let (mut form, mut vectors) = hessenberg(a)?;
    let eigenvalues = match T::iterate(&mut form, &mut vectors) {
        Ok(eigenvalues) => eigenvalues,
        Err(info) => return Ok(Err(info)),
    };
    form.scale(scale.recip());
    Ok(Ok(Schur {
        form,
        vectors,
        eigenvalues: eigenvalues
            .iter()
            .map(|value| value.times(scale.recip()))
            .collect(),
    }))
}

/// Iterations for all eigenvalues, as in LAPACK (`hseqr`).
pub(super) fn iterations_max(size: usize) -> usize {
    30 * size.max(10)
}

/// Subdiagonal elements under this are zero: products with them would be, and the matrix is scaled, so that they are nothing
/// beside its largest element.
const NEGLIGIBLE: f64 = 1.5e-154;

/// The row where the active block that ends with `high` begins: the one below the last subdiagonal element that is zero beside
/// its neighbours, and which is set to zero.
pub(super) fn deflate<T: Entry>(h: &mut Matrix<T>, high: usize) -> usize {
    for row in (1..=high).rev() {
        let subdiagonal = h[(row, row - 1)].magnitude();
        let mut neighbours = h[(row - 1, row - 1)].magnitude() + h[(row, row)].magnitude();
        if neighbours == 0.0 {
            neighbours = 1.0;
        }
        if subdiagonal <= (f64::EPSILON * neighbours).max(NEGLIGIBLE) {
            h[(row, row - 1)] = T::ZERO;
            return row;
        }
    }
    0
}

fn iterate(h: &mut Matrix<Complex>, z: &mut Matrix<Complex>) -> Converged<Vec<Complex>> {
    let size = h.rows();
    let mut high = size.saturating_sub(1);
    let (mut iterations, mut left) = (0, iterations_max(size));
    while high > 0 {
        let low = deflate(h, high);
        if low == high {
            high -= 1;
            iterations = 0;
            continue;
        }
        if left == 0 {
            return Err(high as i128 + 1);
        }
        left -= 1;
        iterations += 1;
        let shift = if iterations % 10 == 0 {
            // Out of a cycle.
            h[(high, high)] + Complex::from_real(0.75 * h[(high, high - 1)].modulus())
        } else {
            wilkinson_shift(h, high)
        };
        qr_step(h, z, low, high, shift);
    }
    Ok((0..size).map(|index| h[(index, index)]).collect())
}

/// The eigenvalue of the last block of two rows that is closer to its last element.
fn wilkinson_shift(h: &Matrix<Complex>, high: usize) -> Complex {
    let (a, d) = (h[(high - 1, high - 1)], h[(high, high)]);
    let product = h[(high - 1, high)] * h[(high, high - 1)];
    let half = (a - d).times(0.5);
    let root = square_root(half * half + product);
    // The larger denominator, so that nothing cancels.
    let aligned = half.re * root.re + half.im * root.im >= 0.0;
    let denominator = if aligned { half + root } else { half - root };
    if denominator == Complex::ZERO {
        d
    } else {
        d - product / denominator
    }
}

fn square_root(value: Complex) -> Complex {
    let modulus = value.modulus();
    let real = ((modulus + value.re.abs()) / 2.0).sqrt();
    if real == 0.0 {
        return Complex::ZERO;
    }
    let other = value.im / (2.0 * real);
    if value.re >= 0.0 {
        Complex::new(real, other)
    } else {
        Complex::new(other.abs(), real.copysign(value.im))
    }
}

/// One implicit QR step for rows `low` to `high`: rotations of neighbouring rows and columns that chase the bulge down.
fn qr_step(h: &mut Matrix<Complex>, z: &mut Matrix<Complex>, low: usize, high: usize, shift: Complex) {
    let size = h.rows();
    let (mut x, mut y) = (h[(low, low)] - shift, h[(low + 1, low)]);
    for row in low..high {
        let length = x.modulus().hypot(y.modulus());
        if length > 0.0 {
            let (x, y) = (x.times(length.recip()), y.times(length.recip()));
            let from = if row > low { row - 1 } else { low };
            let (upper, lower) = h.two_rows_mut(row, row + 1);
            for (upper, lower) in upper[from..size].iter_mut().zip(&mut lower[from..size]) {
                let (first, second) = (*upper, *lower);
                *upper = x.conjugate() * first + y.conjugate() * second;
                *lower = x * second - y * first;
            }
            if row > low {
                h[(row + 1, row - 1)] = Complex::ZERO;
            }
            rotate_columns(h, row, [x, y], (row + 2).min(high) + 1);
            rotate_columns(z, row, [x, y], size);
        }
        if row + 1 < high {
            (x, y) = (h[(row + 1, row)], h[(row + 2, row)]);
        }
    }
}

/// Applies the adjoint of a rotation to columns `column` and `column + 1` of the first rows.
fn rotate_columns(a: &mut Matrix<Complex>, column: usize, [x, y]: [Complex; 2], rows: usize) {
    for row in 0..rows {
        let values = &mut a.row_mut(row)[column..column + 2];
        let (first, second) = (values[0], values[1]);
        values[0] = first * x + second * y;
        values[1] = second * x.conjugate() - first * y.conjugate();
    }
}
