//! Client-level operations (CHLO), which engines expand.

use artifact_ir::attribute::{Attribute, FloatAttribute};
use artifact_ir::op::{BroadcastBinary, BroadcastCompare, Chlo, ChloConstant, ChloConstantLike};
use artifact_ir::types::{Dim, ElementType, TensorType};

use super::draft::{Draft, Made};
use super::elementwise::DIRECTIONS;
use super::facts::Facts;
use super::functions::{smooth_facts, tame_complex};
use super::shapes::{FLOATS, INTEGERS};
use super::value::{Known, Pattern, array};

/// Functions of one number: where they are smooth, their slopes and bounds there.
fn functions() -> Vec<(Chlo, [f64; 2], f64, [f64; 2])> {
    vec![
        (Chlo::Square, [-4.0, 4.0], 8.0, [0.0, 16.0]),
        (Chlo::Erf, [-4.0, 4.0], 1.2, [-1.0, 1.0]),
        (Chlo::Erfc, [-2.0, 2.0], 1.2, [0.0, 2.0]),
        (Chlo::ErfInv, [-0.75, 0.75], 4.0, [-1.0, 1.0]),
        (Chlo::Sinh, [-4.0, 4.0], 28.0, [-28.0, 28.0]),
        (Chlo::Cosh, [-4.0, 4.0], 28.0, [1.0, 28.0]),
        (Chlo::Tan, [-1.0, 1.0], 3.5, [-1.6, 1.6]),
        (Chlo::Asin, [-0.75, 0.75], 1.6, [-0.9, 0.9]),
        (Chlo::Acos, [-0.75, 0.75], 1.6, [0.7, 2.5]),
        (Chlo::Atan, [-8.0, 8.0], 1.0, [-1.5, 1.5]),
        (Chlo::Asinh, [-8.0, 8.0], 1.0, [-3.0, 3.0]),
        (Chlo::Acosh, [1.5, 8.0], 1.0, [0.9, 3.0]),
        (Chlo::Atanh, [-0.75, 0.75], 2.5, [-1.0, 1.0]),
        (Chlo::BesselI1e, [-4.0, 4.0], 0.6, [-0.3, 0.3]),
        (Chlo::Lgamma, [1.5, 8.0], 2.1, [-0.2, 8.6]),
        (Chlo::Digamma, [1.5, 8.0], 1.0, [0.0, 2.1]),
    ]
}

/// Those that are computed in several roundings of numbers of the type.
const SLACK: f64 = 64.0;

pub(super) fn function(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.choices.once_in(8) {
        let operand = tame_complex(draft)?;
        let (op, facts) = match draft.choices.flip() {
            true => (Chlo::Conj, operand.facts.with_bounds(-2.0, 2.0)),
            false => (
                Chlo::Square,
                smooth_facts(&operand.facts, 8.0, [-8.0, 8.0], operand.element()),
            ),
        };
        return draft.add(op, &[&operand], facts).map(drop);
    }
    let operand = draft.find_or_make(FLOATS, |_| true)?;
    let table = functions();
    let (op, domain, slope, range) = draft.choices.pick(&table);
    let operand = draft.tamed(&operand, domain[0], domain[1])?;
    let facts = smooth_facts(&operand.facts, *slope, *range, operand.element());
    let facts = facts.with_error(facts.error * SLACK);
    draft.add(op.clone(), &[&operand], facts).map(drop)
}

/// Functions of two numbers.
pub(super) fn function_of_two(draft: &mut Draft<'_, '_>) -> Made<()> {
    match draft.choices.below(3) {
        0 => {
            let left = draft.find_or_make(&[ElementType::F32, ElementType::F64], |known| {
                known.facts.is_exact()
            })?;
            let right = draft.partner(&left, left.element(), |known| known.facts.is_exact())?;
            let facts = Facts {
                any_nan: true,
                ..Facts::ANY
            };
            draft.add(Chlo::NextAfter, &[&left, &right], facts).map(drop)
        }
        1 => {
            let left = draft.find_or_make(INTEGERS, |_| true)?;
            let right = draft.partner(&left, left.element(), |_| true)?;
            draft.add(Chlo::Mulhi, &[&left, &right], Facts::ANY).map(drop)
        }
        _ => {
            let left = draft.find_or_make(&[ElementType::F32, ElementType::F64], |_| true)?;
            let right = draft.partner(&left, left.element(), |_| true)?;
            let right = draft.tamed(&right, 1.5, 4.0)?;
            if draft.choices.flip() {
                let left = draft.tamed(&left, 2.0, 4.0)?;
                let facts = smooth_facts(&left.facts.or(&right.facts), 8.0, [0.0, 3.0], left.element());
                return draft
                    .add(
                        Chlo::Zeta,
                        &[&left, &right],
                        facts.with_error(facts.error * SLACK),
                    )
                    .map(drop);
            }
            let order = draft.filled(&left.ty.clone(), left.element(), draft.choices.below(3) as f64)?;
            let facts = smooth_facts(&right.facts, 8.0, [-3.0, 3.0], left.element());
            draft
                .add(
                    Chlo::Polygamma,
                    &[&order, &right],
                    facts.with_error(facts.error * SLACK),
                )
                .map(drop)
        }
    }
}

/// What kind of number it is.
pub(super) fn classify(draft: &mut Draft<'_, '_>) -> Made<()> {
    let operand = draft.find_or_make(FLOATS, |known| known.facts.is_exact())?;
    let op = draft
        .choices
        .pick(&[Chlo::IsInf, Chlo::IsNegInf, Chlo::IsPosInf])
        .clone();
    draft.add(op, &[&operand], Facts::whole(0.0, 1.0)).map(drop)
}

/// Constants.
pub(super) fn constant(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.choices.flip() {
        let element = *draft.choices.pick(&[ElementType::F32, ElementType::I32]);
        let shape = super::shapes::shape(draft.choices, draft.setting, 2);
        let ty = std::sync::Arc::new(TensorType::of_static(&shape, element));
        let value = array(&ty, Pattern::Small, draft.choices.seed());
        return draft
            .add(
                Chlo::Constant(ChloConstant { value }),
                &[],
                Pattern::Small.facts(element),
            )
            .map(drop);
    }
    let operand = draft.find_or_make(&[ElementType::F32, ElementType::I32], |_| true)?;
    let value = match operand.element() {
        ElementType::F32 => Attribute::Float(FloatAttribute::of_f32(2.0)),
        _ => Attribute::Integer {
            value: 2,
            ty: ElementType::I32,
        },
    };
    let op = Chlo::ConstantLike(Box::new(ChloConstantLike { value }));
    draft.add(op, &[&operand], Facts::whole(2.0, 2.0)).map(drop)
}

/// An operand that broadcasts to another: a scalar, or of ones where the other has sizes.
fn narrower(draft: &mut Draft<'_, '_>, of: &Known) -> Made {
    let element = of.element();
    let fits = |known: &Known| {
        let pairs = known.ty.dims.iter().rev().zip(of.ty.dims.iter().rev());
        known.element() == element
            && known.rank() <= of.rank()
            && known.facts.is_exact()
            && pairs
                .into_iter()
                .all(|(own, other)| own == other || *own == Dim::Static(1))
    };
    match draft.find(fits) {
        Some(found) => Ok(found),
        None => draft.scalar(element, 1.0),
    }
}

/// Operations of two that broadcast by themselves.
pub(super) fn broadcasting(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        known.facts.is_exact()
            && (known.element().bits() > 8 || !known.element().is_float())
            && draft
                .setting
                .count(&known.ty)
                .is_some_and(|count| count <= draft.setting.elements_max)
    };
    let Some(wide) = draft.find(suits) else {
        return Ok(());
    };
    let element = wide.element();
    let narrow = narrower(draft, &wide)?;
    let operands = if draft.choices.flip() {
        [&narrow, &wide]
    } else {
        [&wide, &narrow]
    };
    if draft.choices.once_in(4) {
        let directions = if element.is_complex() {
            &DIRECTIONS[4..]
        } else {
            DIRECTIONS
        };
        let op = Chlo::BroadcastCompare(BroadcastCompare {
            broadcast_dimensions: None,
            comparison_direction: *draft.choices.pick(directions),
            compare_type: None,
        });
        return draft.add(op, &operands, Facts::whole(0.0, 1.0)).map(drop);
    }
    if draft.choices.once_in(4) {
        let predicate = draft.partner(&wide, ElementType::I1, |_| true)?;
        let facts = wide.facts.or(&narrow.facts);
        return draft
            .add(
                Chlo::BroadcastSelect,
                &[&predicate, operands[0], operands[1]],
                facts,
            )
            .map(drop);
    }
    let ops = broadcasting_ops(element, draft.setting.contraction);
    let op = draft.choices.pick(&ops).clone();
    draft.add(op, &operands, super::control::EXACT).map(drop)
}

/// Those of two operands of a type that give exact results.
fn broadcasting_ops(element: ElementType, contraction: bool) -> Vec<Chlo> {
    let none = || BroadcastBinary {
        broadcast_dimensions: None,
    };
    let mut ops = vec![Chlo::BroadcastAdd(none())];
    if !element.is_boolean() {
        ops.push(Chlo::BroadcastSubtract(none()));
    }
    if element.is_complex() {
        return ops;
    }
    ops.extend([Chlo::BroadcastMaximum(none()), Chlo::BroadcastMinimum(none())]);
    if !(element.is_float() && contraction) {
        ops.push(Chlo::BroadcastMultiply(none()));
    }
    if !element.is_boolean() {
        ops.extend([Chlo::BroadcastDivide(none()), Chlo::BroadcastRemainder(none())]);
    }
    if element == ElementType::F32 || element == ElementType::F64 {
        ops.extend([Chlo::BroadcastNextAfter(none()), Chlo::BroadcastComplex(none())]);
    }
    if element.is_boolean() || element.is_integer() {
        ops.extend([
            Chlo::BroadcastAnd(none()),
            Chlo::BroadcastOr(none()),
            Chlo::BroadcastXor(none()),
        ]);
    }
    if element.is_integer() {
        ops.extend([
            Chlo::BroadcastShiftLeft(none()),
            Chlo::BroadcastShiftRightArithmetic(none()),
            Chlo::BroadcastShiftRightLogical(none()),
        ]);
    }
    ops
}

/// Functions of two numbers that broadcast by themselves.
pub(super) fn broadcasting_function(draft: &mut Draft<'_, '_>) -> Made<()> {
    let wide = draft.find_or_make(&[ElementType::F32, ElementType::F64], |_| true)?;
    let element = wide.element();
    let none = BroadcastBinary {
        broadcast_dimensions: None,
    };
    let number = draft.scalar(element, 1.0 + draft.choices.below(3) as f64)?;
    let (op, wide, slope, reach, slack) = match draft.choices.below(4) {
        0 => (
            Chlo::BroadcastPower(none),
            draft.tamed(&wide, 0.5, 2.0)?,
            16.0,
            8.0,
            1.0,
        ),
        1 => (
            Chlo::BroadcastAtan2(none),
            draft.tamed(&wide, 0.5, 2.0)?,
            4.0,
            1.6,
            1.0,
        ),
        2 => {
            let wide = draft.tamed(&wide, 1.5, 4.0)?;
            let facts = smooth_facts(&wide.facts, 8.0, [-3.0, 3.0], element);
            let op = Chlo::BroadcastPolygamma(none);
            return draft
                .add(op, &[&number, &wide], facts.with_error(SLACK * facts.error))
                .map(drop);
        }
        _ => (
            Chlo::BroadcastZeta(none),
            draft.tamed(&wide, 2.0, 4.0)?,
            8.0,
            3.0,
            SLACK,
        ),
    };
    let facts = smooth_facts(&wide.facts, slope, [-reach, reach], element);
    draft
        .add(op, &[&wide, &number], facts.with_error(slack * facts.error))
        .map(drop)
}
