//! Factorisations, Fourier transforms, normalisation and random bits.
//!
//! Matrices are made so that they are well-conditioned; what errors grow to is bounded generously then.

use artifact_ir::attribute::DotDimensionNumbers;
use artifact_ir::attribute::{
    ComparisonDirection, FftType, FloatAttribute, RngAlgorithm, Transpose as TransposeA,
};
use artifact_ir::op::{
    BatchNorm, Binary, Cholesky, Contraction, Creation, DotGeneral, Elementwise, Fft, Iota, Linalg,
    RngBitGenerator, TriangularSolve,
};
use artifact_ir::types::{ElementType, TensorType};

use super::draft::{Draft, Made};
use super::elementwise::comparison;
use super::facts::{Facts, unit};
use super::value::Known;

/// A new array of numbers between -1 and 1.
fn small(draft: &mut Draft<'_, '_>, shape: &[u64], element: ElementType) -> Made {
    let found =
        draft.find(|known| known.element() == element && known.ty.static_shape().as_deref() == Some(shape));
    let value = match found {
        Some(found) => found,
        None => draft.fresh(shape, element)?,
    };
    draft.tamed(&value, -1.0, 1.0)
}

/// The identity times a number, in the shape of matrices.
fn diagonal(draft: &mut Draft<'_, '_>, ty: &TensorType, number: f64) -> Made {
    let rank = ty.rank() as i64;
    let positions = ty.with_element(ElementType::I32);
    let mut iota = |dimension: i64| {
        let op = Creation::Iota(Iota {
            iota_dimension: dimension,
        });
        let id = draft
            .builder
            .op_with_types(op, &[], &[positions.clone().into()])?[0];
        Ok(draft.known(id, Facts::ANY))
    };
    let (rows, columns) = (iota(rank - 2)?, iota(rank - 1)?);
    let equal = comparison(ComparisonDirection::Eq, ElementType::I32, false);
    let is_diagonal = draft.add(equal, &[&rows, &columns], Facts::whole(0.0, 1.0))?;
    let element = ty.element.storage();
    let (on, off) = (
        draft.filled(ty, element, number)?,
        draft.filled(ty, element, 0.0)?,
    );
    draft.add(
        Elementwise::Select,
        &[&is_diagonal, &on, &off],
        Facts::between(0.0, number),
    )
}

/// The shape of one or two square matrices.
fn square(draft: &Draft<'_, '_>) -> Vec<u64> {
    let size = *draft.choices.pick(&[2, 1, 3, 5, 8, 16, 0]);
    if draft.choices.once_in(3) {
        vec![2, size, size]
    } else {
        vec![size, size]
    }
}

const WIDE: &[ElementType] = &[ElementType::F32, ElementType::F64];

pub(super) fn cholesky(draft: &mut Draft<'_, '_>) -> Made<()> {
    let element = *draft.choices.pick(WIDE);
    let shape = square(draft);
    let rank = shape.len() as i64;
    let size = shape[shape.len() - 1] as f64;
    let root = small(draft, &shape, element)?;
    // A A^T + (n + 1) I.
    let batch: Vec<i64> = (0..rank - 2).collect();
    let op = Contraction::DotGeneral(Box::new(DotGeneral {
        dot_dimension_numbers: DotDimensionNumbers {
            lhs_batching_dimensions: batch.clone(),
            rhs_batching_dimensions: batch,
            lhs_contracting_dimensions: vec![rank - 1],
            rhs_contracting_dimensions: vec![rank - 1],
        },
        precision_config: None,
        algorithm: None,
    }));
    let Some(facts) = root.facts.times(&root.facts).sum(size as u64, element) else {
        return Ok(());
    };
    let product = draft.add_typed(op, &[&root, &root], TensorType::clone(&root.ty), facts)?;
    let identity = diagonal(draft, &product.ty.clone(), size + 1.0)?;
    let error = product.facts.error + 2.0 * unit(element) * (2.0 * size + 1.0);
    let reach = 2.0 * size + 1.0;
    let matrix = draft.add(
        Binary::Add,
        &[&product, &identity],
        Facts::between(-size, reach).with_error(error),
    )?;
    let lower = draft.choices.flip();
    let error = 16.0 * (size + 1.0) * (error + 8.0 * unit(element) * reach);
    // What is not the factor is not said, so only the other half is looked at: it is zero or what it was.
    let factor = draft
        .builder
        .op(Linalg::Cholesky(Cholesky { lower }), &[matrix.id])?[0];
    let factor = draft.known(factor, Facts::between(-reach, reach).with_error(error));
    half(draft, &factor, lower)
}

/// The lower or upper half of matrices, zeros elsewhere.
fn half(draft: &mut Draft<'_, '_>, matrix: &Known, lower: bool) -> Made<()> {
    let rank = matrix.rank() as i64;
    let positions = matrix.ty.with_element(ElementType::I32);
    let mut iota = |dimension: i64| {
        let op = Creation::Iota(Iota {
            iota_dimension: dimension,
        });
        let id = draft
            .builder
            .op_with_types(op, &[], &[positions.clone().into()])?[0];
        Ok(draft.known(id, Facts::ANY))
    };
    let (rows, columns) = (iota(rank - 2)?, iota(rank - 1)?);
    let direction = if lower {
        ComparisonDirection::Ge
    } else {
        ComparisonDirection::Le
    };
    let inside = comparison(direction, ElementType::I32, false);
    let inside = draft.add(inside, &[&rows, &columns], Facts::whole(0.0, 1.0))?;
    let zeros = draft.filled(&matrix.ty, matrix.element(), 0.0)?;
    draft
        .add(Elementwise::Select, &[&inside, matrix, &zeros], matrix.facts)
        .map(drop)
}

pub(super) fn triangular_solve(draft: &mut Draft<'_, '_>) -> Made<()> {
    let element = *draft.choices.pick(WIDE);
    let shape = square(draft);
    let size = shape[shape.len() - 1];
    let entries = small(draft, &shape, element)?;
    // Small entries beside ones on the diagonal: the inverse is small too.
    let scale = draft.filled(&entries.ty.clone(), element, 1.0 / 16.0)?;
    let scaled = entries.facts.times(&Facts::between(1.0 / 16.0, 1.0 / 16.0));
    let scaled = draft.add(
        Binary::Multiply,
        &[&entries, &scale],
        scaled.with_error(scaled.error + unit(element)),
    )?;
    let identity = diagonal(draft, &scaled.ty.clone(), 2.0)?;
    let sum = Facts::between(-0.1, 2.1).with_error(scaled.facts.error + 4.0 * unit(element));
    let matrix = draft.add(Binary::Add, &[&scaled, &identity], sum)?;
    let left_side = draft.choices.flip();
    let other = *draft.choices.pick(&[1, 3, 2, 8, 17]);
    let mut right_shape = shape.clone();
    let rank = shape.len();
    right_shape[if left_side { rank - 1 } else { rank - 2 }] = other;
    let right = small(draft, &right_shape, element)?;
    let unit_diagonal = draft.choices.once_in(3);
    let op = TriangularSolve {
        left_side,
        lower: draft.choices.flip(),
        unit_diagonal,
        transpose_a: *draft.choices.pick(&[
            TransposeA::NoTranspose,
            TransposeA::Transpose,
            TransposeA::Adjoint,
        ]),
    };
    // Solutions are at most (1 + 1/16)^n times the right side.
    let growth = 1.0625_f64.powi(size as i32);
    let error = 8.0
        * (size as f64 + 2.0)
        * growth
        * growth
        * (matrix.facts.error + right.facts.error + 4.0 * unit(element));
    let facts = Facts::between(-growth, growth).with_error(error);
    draft
        .add(Linalg::TriangularSolve(op), &[&matrix, &right], facts)
        .map(drop)
}

pub(super) fn fft(draft: &mut Draft<'_, '_>) -> Made<()> {
    let part = *draft.choices.pick(WIDE);
    let kind = *draft
        .choices
        .pick(&[FftType::Fft, FftType::Ifft, FftType::Rfft, FftType::Irfft]);
    let lengths: Vec<u64> = (0..=draft.choices.below(2))
        .map(|_| *draft.choices.pick(&[4, 1, 2, 3, 5, 7, 8, 16, 33]))
        .collect();
    let mut shape = lengths.clone();
    if kind == FftType::Irfft
        && let Some(last) = shape.last_mut()
    {
        *last = *last / 2 + 1;
    }
    if draft.choices.flip() {
        shape.insert(0, 1 + draft.choices.below(3) as u64);
    }
    let real = small(draft, &shape, part)?;
    let operand = match kind {
        FftType::Rfft => real,
        _ => {
            let imaginary = small(draft, &shape, part)?;
            let facts = Facts {
                whole: false,
                ..real.facts.or(&imaginary.facts)
            };
            draft.add(Elementwise::Complex, &[&real, &imaginary], facts)?
        }
    };
    let count = lengths.iter().product::<u64>() as f64;
    let error = 2.0 * count * (operand.facts.error + 32.0 * unit(part));
    let facts = Facts::between(-2.0 * count, 2.0 * count).with_error(error);
    let op = Linalg::Fft(Fft {
        fft_type: kind,
        fft_length: lengths.iter().map(|length| *length as i64).collect(),
    });
    draft.add(op, &[&operand], facts).map(drop)
}

pub(super) fn batch_norm(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        known.ty.is_static() && known.rank() >= 2 && known.element().is_float() && known.element().bits() > 8
    };
    let Some(operand) = draft.find(suits) else {
        return Ok(());
    };
    let operand = draft.tamed(&operand, -2.0, 2.0)?;
    let element = operand.element();
    let shape = operand.shape();
    let feature = draft.choices.below(operand.rank());
    let features = [shape[feature]];
    let count = shape.iter().product::<u64>() / shape[feature].max(1);
    if shape.contains(&0) {
        return Ok(());
    }
    let (scale, offset) = (
        small(draft, &features, element)?,
        small(draft, &features, element)?,
    );
    let op = BatchNorm {
        epsilon: FloatAttribute::of_f32(1.0),
        feature_index: feature as i64,
    };
    let inputs = operand.facts.error.max(scale.facts.error).max(offset.facts.error);
    let error = |depth: f64| depth * (inputs + (count as f64 + 16.0) * unit(element) * 4.0);
    let kind = draft.choices.below(3);
    if kind == 0 {
        let ids = [operand.id, scale.id, offset.id];
        let results = draft.builder.op(Linalg::BatchNormTraining(op), &ids)?;
        for (result, bounds) in results.into_iter().zip([6.0, 2.0, 4.0]) {
            draft.keep(result, Facts::between(-bounds, bounds).with_error(error(8.0)));
        }
        return Ok(());
    }
    let mean = small(draft, &features, element)?;
    let variance = small(draft, &features, element)?;
    let variance = draft.tamed(&variance, 0.5, 1.0)?;
    if kind == 1 {
        let facts = Facts::between(-6.0, 6.0)
            .with_error(error(8.0) + 8.0 * (mean.facts.error + variance.facts.error));
        let operands = [&operand, &scale, &offset, &mean, &variance];
        return draft
            .add(Linalg::BatchNormInference(op), &operands, facts)
            .map(drop);
    }
    let gradient = small(draft, &shape, element)?;
    let ids = [operand.id, scale.id, mean.id, variance.id, gradient.id];
    let results = draft.builder.op(Linalg::BatchNormGrad(op), &ids)?;
    let reach = 8.0 * (count as f64 + 1.0);
    let more = mean.facts.error + variance.facts.error + gradient.facts.error;
    for result in results {
        draft.keep(
            result,
            Facts::between(-reach, reach).with_error(reach * (error(8.0) + 8.0 * more)),
        );
    }
    Ok(())
}

/// Random bits from a state, by an algorithm that is the same everywhere.
pub(super) fn random_bits(draft: &mut Draft<'_, '_>) -> Made<()> {
    let (algorithm, words) = *draft.choices.pick(&[
        (RngAlgorithm::ThreeFry, 2),
        (RngAlgorithm::Philox, 2),
        (RngAlgorithm::Philox, 3),
    ]);
    let state = draft.fresh(&[words], ElementType::UI64)?;
    let element = *draft.choices.pick(&[
        ElementType::UI32,
        ElementType::UI64,
        ElementType::UI8,
        ElementType::UI16,
        ElementType::I32,
        ElementType::I64,
    ]);
    let shape = super::shapes::shape(draft.choices, draft.setting, 3);
    let types = [
        TensorType::clone(&state.ty).into(),
        TensorType::of_static(&shape, element).into(),
    ];
    let op = Creation::RngBitGenerator(RngBitGenerator {
        rng_algorithm: algorithm,
    });
    let results = draft.builder.op_with_types(op, &[state.id], &types)?;
    for result in results {
        draft.keep(result, Facts::ANY);
    }
    Ok(())
}
