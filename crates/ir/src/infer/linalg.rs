//! Factorisations, FFT and batch normalisation.

use super::compatible::{ensure_elements, shapes};
use super::element::Elements;
use super::extent::{Extent, extents, result_of, tensor_of};
use super::positions;
use crate::attribute::{FftType, Transpose};
use crate::op::{BatchNorm, Fft, Linalg, TriangularSolve};
use crate::types::{Dim, ElementType, TensorType};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &Linalg, cx: &OpContext<'_>) -> OpResult {
    match op {
        Linalg::BatchNormGrad(op) => batch_norm(op, cx, &[0, 4], &[1, 2, 3], true),
        Linalg::BatchNormInference(op) => batch_norm(op, cx, &[0], &[1, 2, 3, 4], false),
        Linalg::BatchNormTraining(op) => batch_norm(op, cx, &[0], &[1, 2], true),
        Linalg::Cholesky(_) => cholesky(cx),
        Linalg::Fft(op) => fft(op, cx),
        Linalg::TriangularSolve(op) => triangular_solve(op, cx),
    }
}

/// Operands of the full shape at `full`, vectors of features at `features`; `statistics` tells whether two vectors follow the result.
fn batch_norm(
    op: &BatchNorm,
    cx: &OpContext<'_>,
    full: &[usize],
    features: &[usize],
    statistics: bool,
) -> OpResult {
    let allowed = Elements::FLOAT_QUANTIZED;
    let tensor = |index: &usize| cx.tensor(*index, allowed);
    let full: Vec<&TensorType> = full.iter().map(tensor).collect::<OpResult<_>>()?;
    let vector = |index: &usize| cx.vector(*index, allowed);
    let vectors: Vec<&TensorType> = features.iter().map(vector).collect::<OpResult<_>>()?;
    let operand = full[0];
    ensure!(
        op.epsilon.ty == ElementType::F32,
        "attribute 'epsilon' must be an f32, but is of type {}",
        op.epsilon.ty
    );
    ensure_elements(&[full.as_slice(), &vectors].concat())?;
    // C1.
    let feature = positions::dimension("feature_index", op.feature_index, operand.rank())?;
    for other in &full {
        ensure!(
            shapes(operand, other),
            "expects operands of one shape, but got '{operand}' and '{other}'"
        );
    }
    for other in &vectors {
        ensure!(
            shapes(vectors[0], other) && other.dims[0].compatible(&operand.dims[feature]),
            "expects vectors of as many elements as there are features ({}), but got '{}' and '{other}'",
            operand.dims[feature],
            vectors[0]
        );
    }
    let mut results = vec![operand.clone().into()];
    if statistics {
        let vector = tensor_of(&extents(operand)[feature..=feature], operand.element.clone());
        results.extend([vector.clone(), vector]);
    }
    Ok(Results::Inferred(results))
}

fn cholesky(cx: &OpContext<'_>) -> OpResult {
    let a = cx.tensor(0, Elements::FLOAT_COMPLEX_QUANTIZED)?;
    // C2, C3.
    ensure_square("operand", a)?;
    // C1.
    Ok(Results::Inferred(vec![a.clone().into()]))
}

fn ensure_square(name: &str, a: &TensorType) -> OpResult<()> {
    let [.., rows, columns] = &*a.dims else {
        return Err(OpError::new(format!(
            "{name} must have a rank of at least 2, but got '{a}'"
        )));
    };
    ensure!(
        rows.compatible(columns),
        "the last two dimensions of {name} must be equal, but got '{a}'"
    );
    Ok(())
}

fn fft(op: &Fft, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::FLOAT_COMPLEX)?;
    let count = op.fft_length.len();
    ensure!(
        (1..=3).contains(&count),
        "fft_length must have 1 to 3 elements, but has {count} (C3)"
    );
    // C1.
    ensure!(
        operand.rank() >= count,
        "expects an operand of at least as many dimensions as are transformed ({count}), but got '{operand}' (C1)"
    );
    let lengths: Vec<u64> = op
        .fft_length
        .iter()
        .map(|length| positions::size("fft_length", *length))
        .collect::<OpResult<_>>()?;
    let element = operand.element.storage();
    let mut sizes = extents(operand);
    let start = operand.rank() - count;
    let element = match op.fft_type {
        FftType::Fft | FftType::Ifft => {
            ensure!(
                element.is_complex(),
                "{} takes complex values, but got '{operand}' (C2)",
                op.fft_type
            );
            element
        }
        FftType::Rfft => {
            check_transformed(&operand.dims[start..], &lengths, operand)?;
            if let (Some(last), Some(length)) =
                (sizes.last_mut(), lengths.last().filter(|length| **length != 0))
            {
                *last = Extent::of(length / 2 + 1);
            }
            element.complex_of().ok_or_else(|| {
                OpError::new(format!("RFFT takes f32 or f64 values, but got '{operand}' (C2)"))
            })?
        }
        FftType::Irfft => {
            ensure!(
                element.is_complex(),
                "IRFFT takes complex values, but got '{operand}' (C2)"
            );
            inverse_real(operand, &lengths, start, &mut sizes)?;
            element.part()
        }
    };
    Ok(result_of(cx, &sizes, element))
}

/// Transformed dimensions have the length of the transform (C4, C5).
fn check_transformed(dims: &[Dim], lengths: &[u64], operand: &TensorType) -> OpResult<()> {
    ensure!(
        dims.iter()
            .zip(lengths)
            .all(|(dim, length)| dim.compatible(&Dim::Static(*length))),
        "the last dimensions of '{operand}' must be those of fft_length, {lengths:?}"
    );
    Ok(())
}

/// All but the last dimension have the length of the transform, the last one half of it (C5).
fn inverse_real(operand: &TensorType, lengths: &[u64], start: usize, sizes: &mut [Extent]) -> OpResult<()> {
    let last = operand.rank() - 1;
    check_transformed(&operand.dims[start..last], lengths, operand)?;
    let (Some(length), Some(size)) = (lengths.last(), sizes.last_mut()) else {
        return Ok(());
    };
    let dim = &operand.dims[last];
    let half = dim.compatible(&Dim::Static(length / 2 + 1));
    ensure!(
        half || (*length == 0 && dim.compatible(&Dim::Static(0))),
        "the last dimension of '{operand}' must be half of fft_length, {lengths:?}, plus one (C5)"
    );
    *size = Extent::of(*length);
    Ok(())
}

fn triangular_solve(op: &TriangularSolve, cx: &OpContext<'_>) -> OpResult {
    let (a, b) = (
        cx.tensor(0, Elements::FLOAT_COMPLEX)?,
        cx.tensor(1, Elements::FLOAT_COMPLEX)?,
    );
    // C1.
    ensure_elements(&[a, b])?;
    // C2, C3.
    ensure_square("operand 'a'", a)?;
    ensure!(
        a.rank() == b.rank(),
        "expects operands of one rank, but got '{a}' and '{b}' (C2)"
    );
    let shared = b.rank() - if op.left_side { 2 } else { 1 };
    ensure!(
        a.dims[a.rank() - 1].compatible(&b.dims[shared]),
        "expects the size of 'a' in dimension {shared} of 'b', but got '{a}' and '{b}' (C3)"
    );
    let batches = a.rank() - 2;
    ensure!(
        a.dims[..batches]
            .iter()
            .zip(&b.dims[..batches])
            .all(|(a, b)| a.compatible(b)),
        "expects equal batch dimensions, but got '{a}' and '{b}' (C3)"
    );
    ensure!(
        op.transpose_a != Transpose::Invalid,
        "transpose_a must not be {}",
        op.transpose_a
    );
    // C4.
    Ok(Results::Inferred(vec![b.clone().into()]))
}
