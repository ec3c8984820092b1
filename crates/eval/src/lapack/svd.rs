//! Singular values and vectors (`gesdd`), by one-sided Jacobi rotations: slow, but accurate and without special cases.

use super::entry::{Entry, inner, norm};
use super::householder::{factorise_qr, product_of_reflectors};
use super::matrix::Matrix;
use super::schur::Converged;
use crate::tensor::TensorError;

/// `A = U diag(values) V^H`.
pub(super) struct Svd<T> {
    /// In descending order.
    pub(super) values: Vec<f64>,
    /// One left vector a column, unitary.
    pub(super) u: Matrix<T>,
    /// One right vector a row, conjugated, unitary.
    pub(super) v_adjoint: Matrix<T>,
}

/// The decomposition with all vectors of both sides when `full`, else with as many as there are singular values.
///
/// # Errors
/// [`TensorError`] when there is no memory; the inner error is `info`: how many pairs did not become orthogonal.
pub(super) fn svd<T: Entry>(a: &Matrix<T>, full: bool) -> Result<Converged<Svd<T>>, TensorError> {
    if a.rows() >= a.columns() {
        return svd_of_tall(a.clone(), full);
    }
    let adjoint = match svd_of_tall(a.adjoint()?, full)? {
        Ok(svd) => svd,
        Err(info) => return Ok(Err(info)),
    };
    Ok(Ok(Svd {
        values: adjoint.values,
        u: adjoint.v_adjoint.adjoint()?,
        v_adjoint: adjoint.u.adjoint()?,
    }))
}

/// Of a matrix with as many rows as columns at least: `A = Q R`, and `R^H W = X diag(values)` with orthogonal columns of X, so
/// that `A = (Q W) diag(values) X^H`.
fn svd_of_tall<T: Entry>(mut a: Matrix<T>, full: bool) -> Result<Converged<Svd<T>>, TensorError> {
    let (rows, size) = (a.rows(), a.columns());
    let scale = a.safe_scale();
    a.scale(scale);
    let taus = factorise_qr(&mut a);
    // The columns of R^H are rows of conjugates here, and those of W rows, so that a rotation goes through memory in order.
    let mut x = Matrix::from_fn(size, size, |row, column| {
        if column < row {
            T::ZERO
        } else {
            a[(row, column)].conjugate()
        }
    })?;
    let mut w = Matrix::identity(size, size)?;
    if let Err(info) = orthogonalise(&mut x, &mut w) {
        return Ok(Err(info));
    }
    let lengths: Vec<f64> = (0..size).map(|row| norm(x.row(row))).collect();
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|left, right| lengths[*right].total_cmp(&lengths[*left]));

    let width = if full { rows } else { size };
    let q = product_of_reflectors(&a, &taus, width)?;
    let turned = Matrix::from_fn(width, width, |row, column| match (row < size, column < size) {
        (true, true) => w[(order[column], row)],
        _ => T::from_real(if row == column { 1.0 } else { 0.0 }),
    })?;
    let right = Matrix::from_fn(size, size, |row, column| x[(order[row], column)])?;
    let values: Vec<f64> = order.iter().map(|index| lengths[*index]).collect();
    Ok(Ok(Svd {
        u: q.product(&turned)?,
        v_adjoint: orthonormal_rows(right, &values)?,
        values: values.iter().map(|value| value / scale).collect(),
    }))
}

/// Sweeps over all pairs; far fewer are needed.
const SWEEPS_MAX: usize = 60;

/// Lengths under this count as zero: their squares would, and the product of two of them has no digits to lose.
const NEGLIGIBLE: f64 = 1e-140;

/// Rotates pairs of rows of `x`, and of `w` with them, until all rows of `x` are orthogonal.
fn orthogonalise<T: Entry>(x: &mut Matrix<T>, w: &mut Matrix<T>) -> Converged<()> {
    let size = x.rows();
    let tolerance = f64::EPSILON * (size as f64).sqrt();
    let mut rotated = 0_i128;
    for _ in 0..SWEEPS_MAX {
        rotated = 0;
        let mut squares: Vec<f64> = (0..size)
            .map(|row| inner(x.row(row), x.row(row)).real())
            .collect();
        for first in 0..size {
            for second in first + 1..size {
                let product = inner(x.row(first), x.row(second));
                let lengths = squares[first].max(0.0).sqrt() * squares[second].max(0.0).sqrt();
                let cosine = product.modulus();
                if cosine <= tolerance * lengths || lengths < NEGLIGIBLE * NEGLIGIBLE {
                    continue;
                }
                rotated += 1;
                let zeta = (squares[second] - squares[first]) / (2.0 * cosine);
                let tangent = (zeta.abs() + zeta.hypot(1.0)).recip().copysign(zeta);
                squares[first] -= tangent * cosine;
                squares[second] += tangent * cosine;
                let phase = product.conjugate().times(cosine.recip());
                rotate(x, [first, second], phase, tangent);
                rotate(w, [first, second], phase, tangent);
            }
        }
        if rotated == 0 {
            return Ok(());
        }
    }
    Err(rotated)
}

/// Turns the second row by `phase`, then both by the angle of which the tangent is given.
fn rotate<T: Entry>(matrix: &mut Matrix<T>, [first, second]: [usize; 2], phase: T, tangent: f64) {
    let cosine = tangent.hypot(1.0).recip();
    let sine = cosine * tangent;
    let (first, second) = matrix.two_rows_mut(first, second);
    for (first, second) in first.iter_mut().zip(second) {
        let (left, right) = (*first, *second * phase);
        *first = left.times(cosine) - right.times(sine);
        *second = left.times(sine) + right.times(cosine);
    }
}

/// The adjoint of orthogonal rows, each divided by its length, as rows; those without a length become any that are orthogonal
/// to the others.
fn orthonormal_rows<T: Entry>(mut rows: Matrix<T>, lengths: &[f64]) -> Result<Matrix<T>, TensorError> {
    let size = rows.rows();
    let known = lengths.iter().take_while(|length| **length > NEGLIGIBLE).count();
    for (row, length) in lengths.iter().enumerate().take(known) {
        for value in rows.row_mut(row) {
            *value = value.times(length.recip()).conjugate();
        }
    }
    if known == size {
        return Ok(rows);
    }
    // Reflectors that take the known ones to the first axes take the other axes to what is missing.
    let mut columns = Matrix::from_fn(size, known, |row, column| rows[(column, row)])?;
    let taus = factorise_qr(&mut columns);
    let all = product_of_reflectors(&columns, &taus, size)?;
    for row in known..size {
        for column in 0..size {
            rows[(row, column)] = all[(column, row)];
        }
    }
    Ok(rows)
}
