//! Reductions, windows, sorting and mapping.

use artifact_ir::attribute::ComparisonDirection;
use artifact_ir::builder::RegionBuilder;
use artifact_ir::module::ValueId;
use artifact_ir::op::{Binary, Elementwise, Map, Op, Reduce, Reduction, Sort};
use artifact_ir::types::{ElementType, Type};

use super::draft::{Draft, Made};
use super::elementwise::comparison;
use super::facts::Facts;
use super::movement::some_of;
use super::value::Known;

/// How elements are combined, and the value that changes nothing.
pub(super) fn combiners(element: ElementType) -> Vec<(Binary, f64)> {
    if element.is_boolean() {
        return vec![
            (Binary::Or, 0.0),
            (Binary::And, 1.0),
            (Binary::Xor, 0.0),
            (Binary::Maximum, 0.0),
        ];
    }
    if element.is_complex() {
        return vec![(Binary::Add, 0.0)];
    }
    if element.is_float() {
        return vec![
            (Binary::Add, 0.0),
            (Binary::Maximum, -4.0),
            (Binary::Minimum, 4.0),
        ];
    }
    vec![
        (Binary::Add, 0.0),
        (Binary::Maximum, 0.0),
        (Binary::Minimum, 1.0),
        (Binary::Multiply, 1.0),
        (Binary::And, 1.0),
        (Binary::Or, 0.0),
        (Binary::Xor, 0.0),
    ]
}

/// A value to reduce and how: floats only where a sum of `count` can be told. Those that cannot are made smaller first.
pub(super) fn reducible(
    draft: &mut Draft<'_, '_>,
    operand: Known,
    count: u64,
) -> Made<(Known, Binary, f64, Facts)> {
    let element = operand.element();
    let (op, initial) = draft.choices.pick(&combiners(element)).clone();
    let is_float = element.is_float() || element.is_complex();
    if !is_float {
        return Ok((operand, op, initial, Facts::ANY));
    }
    let facts = operand.facts;
    if op != Binary::Add {
        let facts = Facts {
            any_nan: facts.any_nan || facts.special,
            ..facts.with_bounds(facts.low.min(-4.0), facts.high.max(4.0))
        };
        return Ok((operand, op, initial, facts));
    }
    if let Some(sum) = facts.sum(count, element) {
        return Ok((operand, op, initial, sum));
    }
    if element.is_complex() {
        // There is no way to make them small, so only one of them is taken.
        return Ok((operand, op, initial, Facts::ANY.with_error(f64::INFINITY)));
    }
    let operand = draft.tamed(&operand, -1.0, 1.0)?;
    let sum = operand.facts.sum(count, element);
    Ok((
        operand,
        op,
        initial,
        sum.unwrap_or(Facts::ANY.with_error(f64::INFINITY)),
    ))
}

fn scalar(element: ElementType) -> Type {
    Type::tensor(&[], element)
}

/// A region of two scalars and one operation.
pub(super) fn combine<'f, 'm>(op: impl Into<Op>, element: ElementType) -> RegionBuilder<'f, 'm> {
    let op = op.into();
    RegionBuilder::new(
        vec![scalar(element), scalar(element)],
        move |builder, arguments| builder.op(op, arguments),
    )
}

/// A reduction of one value.
pub(super) fn reduce(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.choices.once_in(4) {
        return reduce_pairs(draft);
    }
    let suits = |known: &Known| known.element().bits() > 8 || !known.element().is_float();
    let Some(operand) = draft.find(|known| known.rank() >= 1 && suits(known)) else {
        return Ok(());
    };
    let dimensions = some_of(draft.choices, operand.rank());
    let count = count_along(draft, &operand, &dimensions);
    let (operand, op, initial, facts) = reducible(draft, operand, count)?;
    if facts.error == f64::INFINITY {
        return Ok(());
    }
    let initial = draft.scalar(operand.element(), initial)?;
    let region = combine(op, operand.element());
    let reduce = Reduction::Reduce(Reduce { dimensions });
    let ids = [operand.id, initial.id];
    let results = draft.builder.op_with_regions(reduce, &ids, None, vec![region])?;
    draft.keep(results[0], facts);
    Ok(())
}

/// The most elements that are reduced to one.
pub(super) fn count_along(draft: &Draft<'_, '_>, operand: &Known, dimensions: &[i64]) -> u64 {
    let size = |dim: &i64| {
        draft
            .setting
            .size(&operand.ty.dims[*dim as usize])
            .unwrap_or(draft.setting.elements_max)
    };
    dimensions.iter().map(size).product()
}

/// The largest value and its position, as `jax.numpy.argmax` has it.
fn reduce_pairs(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        let element = known.element();
        known.rank() >= 1
            && known.facts.is_exact()
            && !element.is_complex()
            && !element.is_boolean()
            && (element.bits() > 8 || !element.is_float())
    };
    let Some(values) = draft.find(suits) else {
        return Ok(());
    };
    let element = values.element();
    let index = *draft.choices.pick(&[ElementType::I32, ElementType::I64]);
    let positions = draft.iota(values.ty.with_element(index))?;
    let dimensions = some_of(draft.choices, values.rank());
    let least = if element.is_unsigned_integer() { 0.0 } else { -4.0 };
    let least = draft.scalar(element, if element.bits() < 4 { 0.0 } else { least })?;
    let zero = draft.scalar(index, 0.0)?;
    let types = vec![scalar(element), scalar(index), scalar(element), scalar(index)];
    let region = RegionBuilder::new(types, move |builder, arguments| {
        let [a, i, b, j] = *arguments else {
            return Ok(Vec::new());
        };
        let mut one = |op: Op, operands: &[ValueId]| Ok(builder.op(op, operands)?[0]);
        let greater = one(
            comparison(ComparisonDirection::Gt, element, false).into(),
            &[a, b],
        )?;
        let strange = one(
            comparison(ComparisonDirection::Ne, element, false).into(),
            &[a, a],
        )?;
        let wins = one(Binary::Or.into(), &[greater, strange])?;
        let equal = one(
            comparison(ComparisonDirection::Eq, element, false).into(),
            &[a, b],
        )?;
        let before = one(comparison(ComparisonDirection::Lt, index, false).into(), &[i, j])?;
        let first = one(Binary::And.into(), &[equal, before])?;
        let takes = one(Binary::Or.into(), &[wins, first])?;
        let value = one(Elementwise::Select.into(), &[takes, a, b])?;
        let position = one(Elementwise::Select.into(), &[takes, i, j])?;
        Ok(vec![value, position])
    });
    // Which of several NaNs comes first is up to the order.
    let is_ordered = !values.facts.special;
    if !is_ordered {
        return Ok(());
    }
    let reduce = Reduction::Reduce(Reduce { dimensions });
    let ids = [values.id, positions.id, least.id, zero.id];
    let results = draft.builder.op_with_regions(reduce, &ids, None, vec![region])?;
    draft.keep(results[0], values.facts.or(&least.facts));
    draft.keep(results[1], Facts::ANY);
    Ok(())
}

/// Values sorted along a dimension, by one or two of them.
pub(super) fn sort(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        known.rank() >= 1
            && known.facts.is_exact()
            && !known.element().is_complex()
            && (known.element().bits() > 8 || !known.element().is_float())
    };
    let Some(key) = draft.find(suits) else {
        return Ok(());
    };
    let mut operands = vec![key.clone()];
    for _ in 0..draft.choices.below(3) {
        let element = super::shapes::element(draft.choices);
        operands.push(draft.partner(&key, element, |_| true)?);
    }
    let by_two = operands.get(1).is_some_and(&suits) && draft.choices.flip();
    let keys: Vec<&Known> = operands.iter().take(if by_two { 2 } else { 1 }).collect();
    if keys.iter().any(|key| key.facts.special && key.facts.any_nan) {
        return Ok(());
    }
    let elements: Vec<(ElementType, bool)> = keys
        .iter()
        .map(|key| (key.element(), key.facts.special))
        .collect();
    let direction = *draft
        .choices
        .pick(&[ComparisonDirection::Lt, ComparisonDirection::Gt]);
    let types = operands
        .iter()
        .flat_map(|operand| [scalar(operand.element()), scalar(operand.element())]);
    let region = RegionBuilder::new(types.collect(), move |builder, arguments| {
        let mut one = |op: Op, operands: &[ValueId]| Ok(builder.op(op, operands)?[0]);
        let (element, total) = elements[0];
        let first = one(comparison(direction, element, total).into(), &arguments[..2])?;
        let Some((element, total)) = elements.get(1).copied() else {
            return Ok(vec![first]);
        };
        let tie = one(
            comparison(ComparisonDirection::Eq, elements[0].0, elements[0].1).into(),
            &arguments[..2],
        )?;
        let second = one(comparison(direction, element, total).into(), &arguments[2..4])?;
        let tied = one(Binary::And.into(), &[tie, second])?;
        Ok(vec![one(Binary::Or.into(), &[first, tied])?])
    });
    let dimension = draft.choices.below(key.rank()) as i64;
    let op = Reduction::Sort(Sort {
        dimension,
        is_stable: true,
    });
    let ids: Vec<ValueId> = operands.iter().map(|operand| operand.id).collect();
    let results = draft.builder.op_with_regions(op, &ids, None, vec![region])?;
    for (result, operand) in results.into_iter().zip(&operands) {
        draft.keep(result, operand.facts);
    }
    Ok(())
}

/// A region of scalars, applied to every element.
pub(super) fn map(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        known.facts.is_exact()
            && !known.element().is_complex()
            && known.ty.is_static()
            && (known.element().bits() > 8 || !known.element().is_float())
    };
    let Some(left) = draft.find(suits) else {
        return Ok(());
    };
    let element = left.element();
    let right = draft.partner(&left, element, |known| known.facts.is_exact())?;
    let op = draft
        .choices
        .pick(&[Binary::Maximum, Binary::Add, Binary::Minimum])
        .clone();
    let region = combine(op, element);
    let dimensions = (0..left.rank() as i64).collect();
    let map = Reduction::Map(Map { dimensions });
    let results = draft
        .builder
        .op_with_regions(map, &[left.id, right.id], None, vec![region])?;
    let facts = Facts {
        any_nan: true,
        ..Facts::ANY
    };
    draft.keep(results[0], facts);
    Ok(())
}
