//! Client-level operations that go through arrays part by part.

use artifact_ir::attribute::{DotDimensionNumbers, RaggedDotDimensionNumbers};
use artifact_ir::builder::RegionBuilder;
use artifact_ir::op::{Binary, Chlo, ChloScan, RaggedDot, TopK};
use artifact_ir::types::{TensorType, Type};

use super::contraction::factors;
use super::control::EXACT;
use super::draft::{Draft, Made};
use super::facts::Facts;
use super::shapes::FLOATS;
use super::value::Known;

/// The largest elements of the last dimension.
pub(super) fn top_k(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        let element = known.element();
        known.rank() >= 1
            && known.facts.is_exact()
            && !(known.facts.special && known.facts.any_nan)
            && (element.is_integer() || element.is_float() && element.bits() > 8)
            && known.size(known.rank() - 1).is_some()
    };
    let Some(operand) = draft.find(suits) else {
        return Ok(());
    };
    let last = operand.size(operand.rank() - 1).unwrap_or(0);
    let op = Chlo::TopK(TopK {
        k: draft.choices.below(last.min(5) as usize + 1) as i64,
        is_stable: true,
    });
    let results = draft.builder.op(op, &[operand.id])?;
    draft.keep(results[0], operand.facts);
    draft.keep(results[1], Facts::ANY);
    Ok(())
}

/// Each part of an array combined with those before it.
pub(super) fn scan(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        let element = known.element();
        (1..=3).contains(&known.rank())
            && known.ty.is_static()
            && known.facts.is_exact()
            && !element.is_boolean()
            && !element.is_complex()
            && (element.bits() > 8 || !element.is_float())
    };
    let Some(operand) = draft.find(suits) else {
        return Ok(());
    };
    let element = operand.element();
    let dimension = draft.choices.below(operand.rank());
    let mut shape = operand.shape();
    shape.remove(dimension);
    let part = TensorType::of_static(&shape, element);
    let start = draft.filled(&part, element, 0.0)?;
    let combine = draft
        .choices
        .pick(&[Binary::Add, Binary::Maximum, Binary::Minimum])
        .clone();
    let part = Type::from(part);
    let body = RegionBuilder::new(vec![part.clone(), part], move |builder, arguments| {
        let next = builder.op(combine, arguments)?[0];
        Ok(vec![next, next])
    });
    let op = Chlo::Scan(Box::new(ChloScan {
        dimension: dimension as i64,
        scan_dim_size: None,
        is_reverse: draft.choices.flip(),
        is_associative: None,
        operand_segment_sizes: Some(vec![1, 1]),
        result_segment_sizes: Some(vec![1, 1]),
    }));
    let results = draft
        .builder
        .op_with_regions(op, &[operand.id, start.id], None, vec![body])?;
    for result in results {
        draft.keep(result, EXACT);
    }
    Ok(())
}

/// Rows of a matrix in groups, each times a matrix of its own.
pub(super) fn ragged_dot(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits =
        |known: &Known| known.rank() == 2 && known.ty.is_static() && FLOATS.contains(&known.element());
    let Some(left) = draft.find(suits) else {
        return Ok(());
    };
    let shape = left.shape();
    let (mut sizes, mut rest) = (Vec::new(), shape[0]);
    for _ in 0..draft.choices.below(3) {
        let size = draft.choices.below(rest as usize + 1) as u64;
        sizes.push(size as i64);
        rest -= size;
    }
    sizes.push(rest as i64);
    let columns = *draft.choices.pick(&[3, 1, 8]);
    if shape[0] * columns > draft.setting.elements_max || shape[1] > 64 {
        return Ok(());
    }
    let element = left.element();
    let right = draft.fresh(&[sizes.len() as u64, shape[1], columns], element)?;
    let Some((left, right, facts)) = factors(draft, left, right, shape[1], element)? else {
        return Ok(());
    };
    let sizes = draft.numbers(&sizes)?;
    let op = Chlo::RaggedDot(Box::new(RaggedDot {
        ragged_dot_dimension_numbers: RaggedDotDimensionNumbers {
            dot: DotDimensionNumbers {
                lhs_batching_dimensions: Vec::new(),
                rhs_batching_dimensions: Vec::new(),
                lhs_contracting_dimensions: vec![1],
                rhs_contracting_dimensions: vec![1],
            },
            lhs_ragged_dimensions: vec![0],
            rhs_group_dimensions: vec![0],
        },
        precision_config: None,
    }));
    draft.add(op, &[&left, &right, &sizes], facts).map(drop)
}
