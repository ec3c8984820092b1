//! Eigenvalues and eigenvectors of general matrices (`geev`), by back substitution in the Schur form.

use super::entry::{Entry, norm};
use super::matrix::Matrix;
use super::schur::{Converged, Spectral, schur};
use crate::algebra::number::{Complex, Field, Number};
use crate::tensor::TensorError;

/// What [`eigen`] gives. Vectors are columns of length 1 whose largest element is real, or that are real throughout.
pub(super) struct Eigen {
    pub(super) values: Vec<Complex>,
    /// `u^H A = value u^H`.
    pub(super) left: Option<Matrix<Complex>>,
    /// `A v = value v`.
    pub(super) right: Option<Matrix<Complex>>,
}

/// Eigenvalues, and the eigenvectors that are asked for.
///
/// # Errors
/// [`TensorError`] when there is no memory; the inner error is `info`.
pub(super) fn eigen<T: Spectral>(
    a: Matrix<T>,
    left: bool,
    right: bool,
) -> Result<Converged<Eigen>, TensorError> {
    let schur = match schur(a)? {
        Ok(schur) => schur,
        Err(info) => return Ok(Err(info)),
    };
    let mut form = schur.form.to_complex()?;
    let scale = form.safe_scale();
    form.scale(scale);
    let scaled: Vec<Complex> = schur.eigenvalues.iter().map(|value| value.times(scale)).collect();
    let z = schur.vectors.to_complex()?;
    let mut eigen = Eigen {
        values: schur.eigenvalues,
        left: None,
        right: None,
    };
    if right {
        eigen.right = Some(normalised(z.product(&triangular_eigenvectors(&form, &scaled)?)?));
    }
    if left {
        // Left eigenvectors are right ones of the adjoint, which is upper triangular when taken in reverse.
        let size = form.rows();
        let reversed = Matrix::from_fn(size, size, |row, column| {
            form[(size - 1 - column, size - 1 - row)].conjugate()
        })?;
        let conjugates: Vec<Complex> = scaled.iter().rev().map(|value| value.conjugate()).collect();
        let found = triangular_eigenvectors(&reversed, &conjugates)?;
        let vectors = Matrix::from_fn(size, size, |row, column| {
            found[(size - 1 - row, size - 1 - column)]
        })?;
        eigen.left = Some(normalised(z.product(&vectors)?));
    }
    Ok(Ok(eigen))
}

/// Elements of an eigenvector that grow beyond this are scaled down with all others.
const LARGE: f64 = 1e100;

/// The eigenvectors of an upper triangular matrix, with blocks of two rows where it is the form of a real one, as columns.
fn triangular_eigenvectors(
    t: &Matrix<Complex>,
    eigenvalues: &[Complex],
) -> Result<Matrix<Complex>, TensorError> {
    let size = t.rows();
    let largest = t
        .values()
        .iter()
        .map(|value| value.magnitude())
        .fold(0.0, f64::max);
    let smallest = (f64::EPSILON * largest).max(f64::MIN_POSITIVE / f64::EPSILON);
    let mut vectors = Matrix::zeros(size, size)?;
    for (column, eigenvalue) in eigenvalues.iter().enumerate() {
        let mut vector = vec![Complex::ZERO; size];
        let mut row = start(t, column, *eigenvalue, &mut vector);
        while row > 0 {
            let height = if row > 1 && t[(row - 1, row - 2)] != Complex::ZERO {
                2
            } else {
                1
            };
            row -= height;
            substitute(t, row..row + height, *eigenvalue, smallest, &mut vector);
            let grown = vector[row..row + height]
                .iter()
                .map(|value| value.magnitude())
                .fold(0.0, f64::max);
            if grown > LARGE {
                vector
                    .iter_mut()
                    .for_each(|value| *value = value.times(grown.recip()));
            }
        }
        for (row, value) in vector.into_iter().enumerate() {
            vectors[(row, column)] = value;
        }
    }
    Ok(vectors)
}

/// Sets the elements of the eigenvalue's own block, and returns its first row.
fn start(t: &Matrix<Complex>, index: usize, eigenvalue: Complex, vector: &mut [Complex]) -> usize {
    let one = Complex::from_real(1.0);
    let linked = |row: usize| row > 0 && row < t.rows() && t[(row, row - 1)] != Complex::ZERO;
    let first = if linked(index) {
        index - 1
    } else if linked(index + 1) {
        index
    } else {
        vector[index] = one;
        return index;
    };
    let (b, c) = (t[(first, first + 1)], t[(first + 1, first)]);
    if b.magnitude() >= c.magnitude() {
        vector[first] = one;
        vector[first + 1] = (eigenvalue - t[(first, first)]) / b;
    } else {
        vector[first] = (eigenvalue - t[(first + 1, first + 1)]) / c;
        vector[first + 1] = one;
    }
    first
}

/// Sets the elements of one or two rows by those below. A pivot that is nearly zero is replaced by one that is not: the
/// eigenvector of a multiple eigenvalue is large there, as it should be.
fn substitute(
    t: &Matrix<Complex>,
    rows: std::ops::Range<usize>,
    eigenvalue: Complex,
    smallest: f64,
    vector: &mut [Complex],
) {
    let safe = |pivot: Complex| {
        if pivot.magnitude() < smallest {
            Complex::from_real(smallest)
        } else {
            pivot
        }
    };
    let rest = |row: usize| {
        let known = t.row(row)[rows.end..].iter().zip(&vector[rows.end..]);
        known.fold(Complex::ZERO, |sum, (coefficient, value)| {
            sum - *coefficient * *value
        })
    };
    let first = rows.start;
    if rows.len() == 1 {
        vector[first] = rest(first) / safe(t[(first, first)] - eigenvalue);
        return;
    }
    // The row with the larger first coefficient comes first.
    let second = first + 1;
    let mut upper = [t[(first, first)] - eigenvalue, t[(first, second)], rest(first)];
    let mut lower = [t[(second, first)], t[(second, second)] - eigenvalue, rest(second)];
    if upper[0].magnitude() < lower[0].magnitude() {
        std::mem::swap(&mut upper, &mut lower);
    }
    let factor = lower[0] / safe(upper[0]);
    vector[second] = (lower[2] - factor * upper[2]) / safe(lower[1] - factor * upper[1]);
    vector[first] = (upper[2] - upper[1] * vector[second]) / safe(upper[0]);
}

/// Columns of length 1. The largest element of each is made real, unless all of them are.
fn normalised(mut vectors: Matrix<Complex>) -> Matrix<Complex> {
    let size = vectors.rows();
    for column in 0..size {
        let mut vector = vectors.column_below(column, 0);
        let length = norm(&vector);
        vector
            .iter_mut()
            .for_each(|value| *value = value.times(length.recip()));
        if vector.iter().any(|value| value.im != 0.0) {
            make_real(&mut vector);
        }
        for (row, value) in vector.into_iter().enumerate() {
            vectors[(row, column)] = value;
        }
    }
    vectors
}

/// Turns a vector so that its largest element is real.
fn make_real(vector: &mut [Complex]) {
    let mut largest = 0;
    for (index, value) in vector.iter().enumerate() {
        if value.square() > vector[largest].square() {
            largest = index;
        }
    }
    let modulus = vector[largest].modulus();
    let turn = vector[largest].conjugate().times(modulus.recip());
    vector.iter_mut().for_each(|value| *value = *value * turn);
    vector[largest] = Complex::from_real(vector[largest].re);
}
