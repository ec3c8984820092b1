//! The routines, each over a batch: which operands it takes, which results it has, in jaxlib's order.

use std::sync::Arc;

use artifact_ir::attribute::Transpose;
use artifact_ir::op::{Linalg, TriangularSolve};
use artifact_ir::types::ElementType;

use super::call::{Batch, Call, Options, Output};
use super::eigenvectors;
use super::elimination::{Tridiagonal, factorise_cholesky, factorise_lu};
use super::entry::Entry;
use super::hermitian::{TridiagonalForm, eigen};
use super::householder::{factorise_qr, product_of_reflectors, reduce_to_hessenberg};
use super::schur::{Schur, Spectral, schur};
use super::svd::svd;
use crate::algebra;
use crate::algebra::number::{Complex, Number};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::shape::operand;
use crate::tensor::Tensor;

const INFO: ElementType = ElementType::I32;

fn finish(outputs: impl IntoIterator<Item = Output>) -> Result<Vec<Tensor>, EvalError> {
    outputs.into_iter().map(Output::finish).collect()
}

/// a, uplo: the Cholesky factor in one triangle, the other triangle as it was; info.
pub(super) fn potrf<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let lower = call.options.is_first("uplo", [b'L', b'U'])?;
    let a = call.square_matrices(0)?;
    let mut factor = call.output(0, &a, &a.sizes, a.element())?;
    let mut infos = call.output(1, &a, &[], INFO)?;
    for index in 0..a.count() {
        let mut matrix = a.matrix::<T>(index)?;
        infos.push_integers(&[factorise_cholesky(&mut matrix, lower)]);
        factor.push(matrix.values());
    }
    finish([factor, infos])
}

/// a: L and U in one matrix; the row, from 1, that each row was exchanged with; info.
pub(super) fn getrf<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let a = call.matrices(0)?;
    let [rows, columns] = a.sizes;
    let mut factors = call.output(0, &a, &a.sizes, a.element())?;
    let mut pivots = call.output(1, &a, &[rows.min(columns)], INFO)?;
    let mut infos = call.output(2, &a, &[], INFO)?;
    for index in 0..a.count() {
        let mut matrix = a.matrix::<T>(index)?;
        let (exchanges, info) = factorise_lu(&mut matrix);
        factors.push(matrix.values());
        pivots.push_integers(&exchanges);
        infos.push_integers(&[info]);
    }
    finish([factors, pivots, infos])
}

/// a: R and the reflectors of Q in one matrix; tau.
pub(super) fn geqrf<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let a = call.matrices(0)?;
    let [rows, columns] = a.sizes;
    let mut factors = call.output(0, &a, &a.sizes, a.element())?;
    let mut taus = call.output(1, &a, &[rows.min(columns)], a.element())?;
    for index in a.indices_with_elements() {
        let mut matrix = a.matrix::<T>(index)?;
        taus.push(&factorise_qr(&mut matrix));
        factors.push(matrix.values());
    }
    finish([factors, taus])
}

/// a, tau: the product of the reflectors that `geqrf` left, as many columns of it as `a` has.
pub(super) fn orgqr<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let (a, taus) = (call.matrices(0)?, call.vectors(1)?);
    a.check_same_batch(&taus)?;
    let ([rows, columns], [_, reflectors]) = (a.sizes, taus.sizes);
    if rows < columns || columns < reflectors {
        return Err(EvalError::invalid_input(format!(
            "{rows} rows and {columns} columns hold no {reflectors} reflectors"
        )));
    }
    let mut product = call.output(0, &a, &a.sizes, a.element())?;
    for index in a.indices_with_elements() {
        let q = product_of_reflectors(&a.matrix::<T>(index)?, &taus.vector::<T>(index)?, columns)?;
        product.push(q.values());
    }
    finish([product])
}

/// a, low, high (from 1, both in the range): H and the reflectors of Q in one matrix; tau; info.
pub(super) fn gehrd<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let a = call.square_matrices(0)?;
    let size = a.sizes[0];
    let [low, high] = [call.options.number("low")?, call.options.number("high")?];
    let limit = size as i64;
    if !(1..=limit.max(1)).contains(&low) || !(low.min(limit)..=limit).contains(&high) {
        return Err(EvalError::invalid_input(format!(
            "gehrd of {size} rows has no rows {low} to {high}"
        )));
    }
    let active = low as usize - 1..high as usize;
    let mut form = call.output(0, &a, &a.sizes, a.element())?;
    let mut taus = call.output(1, &a, &[size.saturating_sub(1)], a.element())?;
    let mut infos = call.output(2, &a, &[], INFO)?;
    for index in 0..a.count() {
        let mut matrix = a.matrix::<T>(index)?;
        taus.push(&reduce_to_hessenberg(&mut matrix, active.clone()));
        form.push(matrix.values());
        infos.push_integers(&[0]);
    }
    finish([form, taus, infos])
}

/// a, uplo: the reflectors of Q in one triangle; diagonal, off-diagonal; tau; info.
pub(super) fn sytrd<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let lower = call.options.is_first("uplo", [b'L', b'U'])?;
    let a = call.square_matrices(0)?;
    let [size, off] = [a.sizes[0], a.sizes[0].saturating_sub(1)];
    let mut reflectors = call.output(0, &a, &a.sizes, a.element())?;
    let mut diagonals = call.output(1, &a, &[size], a.element().part())?;
    let mut off_diagonals = call.output(2, &a, &[off], a.element().part())?;
    let mut taus = call.output(3, &a, &[off], a.element())?;
    let mut infos = call.output(4, &a, &[], INFO)?;
    for index in 0..a.count() {
        let form = TridiagonalForm::of(a.matrix::<T>(index)?, lower)?;
        reflectors.push(form.a.values());
        diagonals.push(&form.diagonal);
        off_diagonals.push(&form.off_diagonal);
        taus.push(&form.taus);
        infos.push_integers(&[0]);
    }
    finish([reflectors, diagonals, off_diagonals, taus, infos])
}

/// a, mode, uplo: eigenvectors, undefined in mode N; eigenvalues; info.
pub(super) fn syevd<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let lower = call.options.is_first("uplo", [b'L', b'U'])?;
    let wanted = call.options.is_first("mode", [b'V', b'N'])?;
    let a = call.square_matrices(0)?;
    let size = a.sizes[0];
    let mut vectors = call.output(0, &a, &a.sizes, a.element())?;
    let mut values = call.output(1, &a, &[size], a.element().part())?;
    let mut infos = call.output(2, &a, &[], INFO)?;
    for index in 0..a.count() {
        match eigen(a.matrix::<T>(index)?, lower)? {
            Ok(eigen) => {
                values.push(&eigen.values);
                if wanted {
                    vectors.push(eigen.vectors.values());
                } else {
                    vectors.push_undefined(size * size);
                }
                infos.push_integers(&[0]);
            }
            Err(info) => {
                values.push_undefined(size);
                vectors.push_undefined(size * size);
                infos.push_integers(&[info]);
            }
        }
    }
    finish([vectors, values, infos])
}

/// What `gesdd` and `geev` report for a matrix that has no result because an element is not finite.
const NOT_FINITE: i128 = -4;

/// a, mode: what is left of a, undefined; singular values; U; V^H; info.
pub(super) fn gesdd<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let mode = call.options.letter("mode")?;
    if !b"ASN".contains(&mode) {
        return Err(Options::unknown("mode", mode));
    }
    let a = call.matrices(0)?;
    let [rows, columns] = a.sizes;
    let count = rows.min(columns);
    let [u_columns, v_rows] = match mode {
        b'A' => [rows, columns],
        // Without vectors the results are there all the same, of the size that the program says.
        b'N' => [
            call.declared_sizes(2).map_or(count, |[_, columns]| columns),
            call.declared_sizes(3).map_or(count, |[rows, _]| rows),
        ],
        _ => [count, count],
    };
    let mut rest = call.output(0, &a, &a.sizes, a.element())?;
    let mut values = call.output(1, &a, &[count], a.element().part())?;
    let mut u = call.output(2, &a, &[rows, u_columns], a.element())?;
    let mut v = call.output(3, &a, &[v_rows, columns], a.element())?;
    let mut infos = call.output(4, &a, &[], INFO)?;
    for index in 0..a.count() {
        let matrix = a.matrix::<T>(index)?;
        rest.push_undefined(rows * columns);
        let found = if matrix.is_finite() {
            svd(&matrix, mode == b'A')?
        } else {
            Err(NOT_FINITE)
        };
        infos.push_integers(&[found.as_ref().err().copied().unwrap_or(0)]);
        match &found {
            Ok(svd) => values.push(&svd.values),
            Err(_) => values.push_undefined(count),
        }
        match &found {
            Ok(svd) if mode != b'N' => {
                u.push(svd.u.values());
                v.push(svd.v_adjoint.values());
            }
            _ => {
                u.push_undefined(rows * u_columns);
                v.push_undefined(v_rows * columns);
            }
        }
    }
    finish([rest, values, u, v, infos])
}

/// a, compute_left, compute_right: eigenvalues, of a real matrix as real and imaginary parts; left and right eigenvectors,
/// undefined where they are not asked for; info.
pub(super) fn geev_real(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let a = call.square_matrices(0)?;
    let values = [0, 1].map(|index| call.output(index, &a, &[a.sizes[0]], a.element()));
    let [mut real, mut imaginary] = match values {
        [real, imaginary] => [real?, imaginary?],
    };
    let element = if a.element() == ElementType::F32 {
        ElementType::C64
    } else {
        ElementType::C128
    };
    let push = |values: Option<&[Complex]>| match values {
        Some(values) => {
            real.push(&values.iter().map(|value| value.re).collect::<Vec<_>>());
            imaginary.push(&values.iter().map(|value| value.im).collect::<Vec<_>>());
        }
        None => {
            real.push_undefined(a.sizes[0]);
            imaginary.push_undefined(a.sizes[0]);
        }
    };
    let vectors = geev_vectors::<f64>(call, &a, 2, element, push)?;
    finish([real, imaginary].into_iter().chain(vectors))
}

/// As [`geev_real`], with complex eigenvalues.
pub(super) fn geev_complex(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let a = call.square_matrices(0)?;
    let mut eigenvalues = call.output(0, &a, &[a.sizes[0]], a.element())?;
    let push = |values: Option<&[Complex]>| match values {
        Some(values) => eigenvalues.push(values),
        None => eigenvalues.push_undefined(a.sizes[0]),
    };
    let vectors = geev_vectors::<Complex>(call, &a, 1, a.element(), push)?;
    finish([eigenvalues].into_iter().chain(vectors))
}

/// Left and right eigenvectors, and info, which are results from `first` on; the eigenvalues go to `push`.
fn geev_vectors<T: Spectral>(
    call: &Call<'_>,
    a: &Batch,
    first: usize,
    element: ElementType,
    mut push: impl FnMut(Option<&[Complex]>),
) -> Result<[Output; 3], EvalError> {
    let wants_left = call.options.is_first("compute_left", [b'V', b'N'])?;
    let wants_right = call.options.is_first("compute_right", [b'V', b'N'])?;
    let mut left = call.output(first, a, &a.sizes, element)?;
    let mut right = call.output(first + 1, a, &a.sizes, element)?;
    let mut infos = call.output(first + 2, a, &[], INFO)?;
    for index in 0..a.count() {
        let matrix = a.matrix::<T>(index)?;
        let found = if matrix.is_finite() {
            eigenvectors::eigen(matrix, wants_left, wants_right)?
        } else {
            Err(NOT_FINITE)
        };
        infos.push_integers(&[found.as_ref().err().copied().unwrap_or(0)]);
        let found = found.ok();
        push(found.as_ref().map(|eigen| eigen.values.as_slice()));
        let (left_found, right_found) = found.map_or((None, None), |eigen| (eigen.left, eigen.right));
        for (output, vectors) in [(&mut left, left_found), (&mut right, right_found)] {
            match vectors {
                Some(vectors) => output.push(vectors.values()),
                None => output.push_undefined(a.sizes[0] * a.sizes[1]),
            }
        }
    }
    Ok([left, right, infos])
}

/// a, mode, sort: Schur form; Schur vectors, undefined in mode N; eigenvalues, of a real matrix as real and imaginary parts;
/// number of eigenvalues selected by sorting, 0; info.
pub(super) fn gees_real(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let a = call.square_matrices(0)?;
    let size = a.sizes[0];
    let mut real = call.output(2, &a, &[size], a.element())?;
    let mut imaginary = call.output(3, &a, &[size], a.element())?;
    let push = |found: Option<&Schur<f64>>| match found {
        Some(schur) => {
            real.push(&schur.eigenvalues.iter().map(|value| value.re).collect::<Vec<_>>());
            imaginary.push(&schur.eigenvalues.iter().map(|value| value.im).collect::<Vec<_>>());
        }
        None => {
            real.push_undefined(size);
            imaginary.push_undefined(size);
        }
    };
    let [form, vectors, selected, infos] = gees_forms(call, &a, 4, push)?;
    finish([form, vectors, real, imaginary, selected, infos])
}

/// As [`gees_real`], with complex eigenvalues.
pub(super) fn gees_complex(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let a = call.square_matrices(0)?;
    let mut eigenvalues = call.output(2, &a, &[a.sizes[0]], a.element())?;
    let push = |found: Option<&Schur<Complex>>| match found {
        Some(schur) => eigenvalues.push(&schur.eigenvalues),
        None => eigenvalues.push_undefined(a.sizes[0]),
    };
    let [form, vectors, selected, infos] = gees_forms(call, &a, 3, push)?;
    finish([form, vectors, eigenvalues, selected, infos])
}

/// Form, vectors, number selected and info; the last two are results from `last` on.
fn gees_forms<T: Spectral>(
    call: &Call<'_>,
    a: &Batch,
    last: usize,
    mut push: impl FnMut(Option<&Schur<T>>),
) -> Result<[Output; 4], EvalError> {
    let wanted = call.options.is_first("mode", [b'V', b'N'])?;
    if !call.options.is_first("sort", [b'N', b'S'])? {
        return Err(EvalError::unsupported(
            "gees does not sort eigenvalues: no selection is given",
        ));
    }
    let size = a.sizes[0] * a.sizes[1];
    let mut form = call.output(0, a, &a.sizes, a.element())?;
    let mut vectors = call.output(1, a, &a.sizes, a.element())?;
    let mut selected = call.output(last, a, &[], INFO)?;
    let mut infos = call.output(last + 1, a, &[], INFO)?;
    for index in 0..a.count() {
        let found = schur(a.matrix::<T>(index)?)?;
        selected.push_integers(&[0]);
        infos.push_integers(&[found.as_ref().err().copied().unwrap_or(0)]);
        push(found.as_ref().ok());
        match &found {
            Ok(schur) => form.push(schur.form.values()),
            Err(_) => form.push_undefined(size),
        }
        match &found {
            Ok(schur) if wanted => vectors.push(schur.vectors.values()),
            _ => vectors.push_undefined(size),
        }
    }
    Ok([form, vectors, selected, infos])
}

/// Lower diagonal (whose first element is not read), diagonal, upper diagonal (whose last is not), b: the same overwritten by U
/// and by x; info.
pub(super) fn gtsv<T: Entry>(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let [lower, diagonal, upper, b] = [
        call.vectors(0)?,
        call.vectors(1)?,
        call.vectors(2)?,
        call.matrices(3)?,
    ];
    let size = b.sizes[0];
    for vectors in [&lower, &diagonal, &upper] {
        vectors.check_same_batch(&b)?;
        if vectors.sizes[1] != size {
            return Err(EvalError::invalid_input(format!(
                "a diagonal of {} elements in a system of {size} equations",
                vectors.sizes[1]
            )));
        }
    }
    let vector = |index: usize| call.output(index, &b, &[size], b.element());
    let mut diagonals = [vector(0)?, vector(1)?, vector(2)?];
    let mut solutions = call.output(3, &b, &b.sizes, b.element())?;
    let mut infos = call.output(4, &b, &[], INFO)?;
    for index in 0..b.count() {
        let (mut first, mut below) = (lower.vector::<T>(index)?, Vec::new());
        if size > 0 {
            below = first.split_off(1);
        }
        let mut system = Tridiagonal {
            lower: below,
            diagonal: diagonal.vector(index)?,
            upper: upper.vector(index)?,
        };
        let mut right = b.matrix(index)?;
        infos.push_integers(&[system.solve(&mut right)]);
        first.append(&mut system.lower);
        for (output, values) in diagonals.iter_mut().zip([first, system.diagonal, system.upper]) {
            output.push(&values);
        }
        solutions.push(right.values());
    }
    finish(diagonals.into_iter().chain([solutions, infos]))
}

/// a, b, and a number by which exporters of 2024 multiply b: x of op(a) x = b, or of x op(a) = b.
pub(super) fn trsm(call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
    let op = TriangularSolve {
        left_side: call.options.is_first("side", [b'L', b'R'])?,
        lower: call.options.is_first("uplo", [b'L', b'U'])?,
        unit_diagonal: call.options.is_first("diag", [b'U', b'N'])?,
        transpose_a: match call.options.letter("trans_x")? {
            b'N' => Transpose::NoTranspose,
            b'T' => Transpose::Transpose,
            b'C' => Transpose::Adjoint,
            letter => return Err(Options::unknown("trans_x", letter)),
        },
    };
    let (a, b) = (call.square_matrices(0)?, call.matrices(1)?);
    a.check_same_batch(&b)?;
    let mut right = b.tensor.clone();
    if let Ok(factor) = operand(call.operands, 2)
        && factor.storage() == b.element()
        && factor.shape().is_empty()
    {
        right = multiplied(&right, factor.get(0))?;
    }
    let ty = Arc::clone(right.ty());
    let solved = algebra::linalg(&Linalg::TriangularSolve(op), &[a.tensor, right], &[ty])?;
    let mut solutions = call.output(0, &b, &b.sizes, b.element())?;
    solutions.push_tensor(operand(&solved, 0)?);
    finish([solutions])
}

fn multiplied(tensor: &Tensor, factor: Scalar) -> Result<Tensor, EvalError> {
    let factor = Complex::from_scalar(factor).unwrap_or(Complex::ZERO);
    Ok(Tensor::from_fn(
        Arc::clone(tensor.ty()),
        |position| match tensor.get(position) {
            Scalar::Complex(re, im) => Complex::new(re, im).multiply(factor).to_scalar(),
            Scalar::Float(value) => Scalar::Float(value * factor.re),
            other => other,
        },
    )?)
}
