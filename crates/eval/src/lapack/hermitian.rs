//! Symmetric and Hermitian matrices: tridiagonal form (`sytrd`, `hetrd`), eigenvalues and eigenvectors (`syevd`, `heevd`).

use std::ops::RangeInclusive;

use super::entry::{Entry, inner};
use super::householder::Reflector;
use super::matrix::Matrix;
use crate::tensor::TensorError;

/// The tridiagonal form `T` of a Hermitian matrix, `A = Q T Q^H`.
pub(super) struct TridiagonalForm<T> {
    /// The triangle that was read, with the reflectors of `Q` in it; the other one as it was.
    pub(super) a: Matrix<T>,
    pub(super) diagonal: Vec<f64>,
    pub(super) off_diagonal: Vec<f64>,
    pub(super) taus: Vec<T>,
}

impl<T: Entry> TridiagonalForm<T> {
    /// Reads and overwrites one triangle.
    ///
    /// # Errors
    /// [`TensorError`] when there is no memory.
    pub(super) fn of(mut a: Matrix<T>, lower: bool) -> Result<Self, TensorError> {
        if lower {
            let (diagonal, off_diagonal, taus) = reduce_lower(&mut a);
            return Ok(Self {
                a,
                diagonal,
                off_diagonal,
                taus,
            });
        }
        // The upper triangle is the lower one of the matrix whose rows and columns come in reverse.
        let mut reversed = reverse(&a)?;
        let (mut diagonal, mut off_diagonal, mut taus) = reduce_lower(&mut reversed);
        diagonal.reverse();
        off_diagonal.reverse();
        taus.reverse();
        Ok(Self {
            a: reverse(&reversed)?,
            diagonal,
            off_diagonal,
            taus,
        })
    }
}

fn reverse<T: Entry>(a: &Matrix<T>) -> Result<Matrix<T>, TensorError> {
    let size = a.rows();
    Matrix::from_fn(size, size, |row, column| a[(size - 1 - row, size - 1 - column)])
}

/// The tridiagonal form by the lower triangle: diagonal, subdiagonal and `tau` of the reflectors that are left in `a`.
fn reduce_lower<T: Entry>(a: &mut Matrix<T>) -> (Vec<f64>, Vec<f64>, Vec<T>) {
    let size = a.rows();
    if size > 0 {
        a[(0, 0)] = T::from_real(a[(0, 0)].real());
    }
    let (mut off_diagonal, mut taus) = (Vec::new(), Vec::new());
    for step in 0..size.saturating_sub(1) {
        let reflector = Reflector::of(a.column_below(step, step + 1));
        if reflector.tau == T::ZERO {
            let corner = (step + 1, step + 1);
            a[corner] = T::from_real(a[corner].real());
        } else {
            update_lower(a, step + 1, &reflector);
        }
        for (offset, value) in reflector.vector.iter().enumerate() {
            let stored = if offset == 0 { reflector.beta } else { *value };
            a[(step + 1 + offset, step)] = stored;
        }
        off_diagonal.push(reflector.beta.real());
        taus.push(reflector.tau);
    }
    let diagonal = (0..size).map(|index| a[(index, index)].real()).collect();
    (diagonal, off_diagonal, taus)
}

/// `A = H^H A H` for the rows and columns from `first` on, of which the lower triangle is kept.
fn update_lower<T: Entry>(a: &mut Matrix<T>, first: usize, reflector: &Reflector<T>) {
    let v = &reflector.vector;
    let size = v.len();
    let mut w = vec![T::ZERO; size];
    for row in 0..size {
        for column in 0..row {
            let value = a[(first + row, first + column)];
            w[row] = w[row] + value * v[column];
            w[column] = w[column] + value.conjugate() * v[row];
        }
        let pivot = T::from_real(a[(first + row, first + row)].real());
        w[row] = w[row] + pivot * v[row];
    }
    for value in &mut w {
        *value = reflector.tau * *value;
    }
    let shift = -(reflector.tau * inner(&w, v)).times(0.5);
    for (value, v) in w.iter_mut().zip(v) {
        *value = *value + shift * *v;
    }
    for row in 0..size {
        for column in 0..=row {
            let change = v[row] * w[column].conjugate() + w[row] * v[column].conjugate();
            let at = (first + row, first + column);
            a[at] = a[at] - change;
        }
        let corner = (first + row, first + row);
        a[corner] = T::from_real(a[corner].real());
    }
}

/// Eigenvalues in ascending order, and their eigenvectors.
pub(super) struct Eigen<T> {
    pub(super) values: Vec<f64>,
    /// One eigenvector a column.
    pub(super) vectors: Matrix<T>,
}

/// `syevd`, `heevd` by one triangle.
///
/// # Errors
/// The inner error is `info`: how many off-diagonal elements did not converge.
pub(super) fn eigen<T: Entry>(mut a: Matrix<T>, lower: bool) -> Result<Result<Eigen<T>, i128>, TensorError> {
    let size = a.rows();
    if !lower {
        a = a.adjoint()?;
    }
    let scale = a.safe_scale();
    a.scale(scale);
    let (mut diagonal, mut off_diagonal, taus) = reduce_lower(&mut a);
    // Eigenvectors are kept as rows, conjugated, so that a rotation goes through memory in order.
    let mut rows = Matrix::identity(size, size)?;
    for (step, tau) in taus.iter().enumerate().rev() {
        let reflector = Reflector::stored(a.column_below(step, (step + 2).min(size)), *tau);
        reflector.apply_left(*tau, &mut rows, step + 1, step + 1..size);
    }
    let mut rows = rows.adjoint()?;
    if let Err(info) = diagonalise(&mut diagonal, &mut off_diagonal, &mut rows) {
        return Ok(Err(info));
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|left, right| diagonal[*left].total_cmp(&diagonal[*right]));
    Ok(Ok(Eigen {
        values: order.iter().map(|index| diagonal[*index] / scale).collect(),
        vectors: Matrix::from_fn(size, size, |row, column| rows[(order[column], row)].conjugate())?,
    }))
}

/// Off-diagonal elements under this are zero, as in LAPACK (the root of `safmin`): their squares would be, and the matrix is
/// scaled, so that they are nothing beside its largest element.
const NEGLIGIBLE: f64 = 1.5e-154;

/// Iterations for each eigenvalue, on average, as in LAPACK.
const ITERATIONS_MAX: usize = 30;

/// Implicit QL: leaves the eigenvalues in `diagonal` and applies every rotation to `rows`.
fn diagonalise<T: Entry>(
    diagonal: &mut [f64],
    off_diagonal: &mut Vec<f64>,
    rows: &mut Matrix<T>,
) -> Result<(), i128> {
    let size = diagonal.len();
    off_diagonal.resize(size, 0.0);
    let mut iterations = size * ITERATIONS_MAX;
    let mut next = 0;
    while next < size {
        let block = next..=block_end(diagonal, off_diagonal, next);
        next = block.end() + 1;
        // The iteration converges from its first element on, and loses the small ones if they come after the large ones.
        if diagonal[*block.start()].abs() > diagonal[*block.end()].abs() {
            reverse_block(diagonal, off_diagonal, rows, &block);
        }
        for low in block {
            loop {
                let high = block_end(diagonal, off_diagonal, low);
                if high == low {
                    break;
                }
                if iterations == 0 {
                    let left = off_diagonal.iter().filter(|value| **value != 0.0).count();
                    return Err(left as i128);
                }
                iterations -= 1;
                ql_step(diagonal, off_diagonal, rows, low, high);
            }
            off_diagonal[low] = 0.0;
        }
    }
    Ok(())
}

/// The last row of the block that begins with `low`: the first whose off-diagonal element is zero beside its neighbours.
fn block_end(diagonal: &[f64], off_diagonal: &[f64], low: usize) -> usize {
    let last = diagonal.len() - 1;
    let end = (low..last).find(|index| {
        let neighbours = diagonal[*index].abs() + diagonal[index + 1].abs();
        off_diagonal[*index].abs() <= (f64::EPSILON * neighbours).max(NEGLIGIBLE)
    });
    end.unwrap_or(last)
}

/// Takes the rows of a block, and its columns, in reverse.
fn reverse_block<T: Entry>(
    diagonal: &mut [f64],
    off_diagonal: &mut [f64],
    rows: &mut Matrix<T>,
    block: &RangeInclusive<usize>,
) {
    let (start, end) = (*block.start(), *block.end());
    diagonal[start..=end].reverse();
    off_diagonal[start..end].reverse();
    for offset in 0..(end + 1 - start) / 2 {
        let (first, second) = rows.two_rows_mut(start + offset, end - offset);
        first.swap_with_slice(second);
    }
}

/// One QL step, by the shift of Wilkinson, for the block from `low` to `high`.
fn ql_step<T: Entry>(d: &mut [f64], e: &mut [f64], rows: &mut Matrix<T>, low: usize, high: usize) {
    let ratio = (d[low + 1] - d[low]) / (2.0 * e[low]);
    let mut g = d[high] - d[low] + e[low] / (ratio + ratio.hypot(1.0).copysign(ratio));
    let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
    for index in (low..high).rev() {
        let (f, b) = (sine * e[index], cosine * e[index]);
        let length = f.hypot(g);
        e[index + 1] = length;
        if length == 0.0 {
            // The block falls in two.
            d[index + 1] -= shift;
            e[high] = 0.0;
            return;
        }
        sine = f / length;
        cosine = g / length;
        g = d[index + 1] - shift;
        let step = (d[index] - g) * sine + 2.0 * cosine * b;
        shift = sine * step;
        d[index + 1] = g + shift;
        g = cosine * step - b;
        let (first, second) = rows.two_rows_mut(index, index + 1);
        for (first, second) in first.iter_mut().zip(second) {
            let value = *second;
            *second = first.times(sine) + value.times(cosine);
            *first = first.times(cosine) - value.times(sine);
        }
    }
    d[low] -= shift;
    e[low] = g;
    e[high] = 0.0;
}
