//! Small integer and boolean tensors that are computed element by element.

use artifact_dims::{Comparison, Expr};
use artifact_ir::attribute::ComparisonDirection;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::op::{Binary, Elementwise, Op, Unary};
use artifact_ir::types::{ElementType, TensorType};

use crate::arithmetic::{Arithmetic, Integer};
use crate::fact::Fact;
use crate::known::{Condition, Element, Known};

/// The elements of the result of an operation that works element by element.
pub(crate) fn computed(
    op: &Op,
    operands: &[Fact],
    result: &TensorType,
    arithmetic: &mut Arithmetic<'_>,
    source: SourceOffset,
) -> Option<Known> {
    if !matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Elementwise(_)) {
        return None;
    }
    let lists: Vec<&Known> = operands
        .iter()
        .map(|operand| operand.known.as_ref())
        .collect::<Option<_>>()?;
    let count = lists.iter().map(|list| list.len()).max()?;
    let ty = result.element.as_plain()?;
    let mut element = |index: usize| {
        // A scalar predicate or bound stands for all elements.
        let at = |list: &&Known| {
            if list.len() == 1 {
                list.first()
            } else {
                list.get(index)
            }
            .cloned()
        };
        let elements: Vec<Element> = lists.iter().map(at).collect::<Option<_>>()?;
        match one(op, &elements, ty, arithmetic)? {
            Element::Int(value) => Some(arithmetic.integer(value, ty, source)),
            boolean => Some(boolean),
        }
    };
    (0..count).map(&mut element).collect()
}

fn one(op: &Op, operands: &[Element], ty: ElementType, arithmetic: &mut Arithmetic<'_>) -> Option<Element> {
    match (op, operands) {
        (Op::Unary(op), [a]) => unary(op, a, ty, arithmetic),
        (Op::Binary(op), [Element::Int(a), Element::Int(b)]) => {
            let integer = integer_operation(op);
            let value = match integer {
                Some(op) => arithmetic.binary(op, a, b),
                None => bits(op, a.as_constant()?, b.as_constant()?, ty).map(Expr::constant),
            };
            value.map(Element::Int)
        }
        (Op::Binary(op), [Element::Bool(a), Element::Bool(b)]) => boolean(op, a, b, arithmetic),
        (Op::Elementwise(op), operands) => other(op, operands, ty, arithmetic),
        _ => None,
    }
}

fn unary(op: &Unary, a: &Element, ty: ElementType, arithmetic: &mut Arithmetic<'_>) -> Option<Element> {
    match (op, a) {
        (Unary::Negate, Element::Int(a)) => a.neg().ok().map(Element::Int),
        (Unary::Abs, Element::Int(a)) => {
            let negated = a.neg().ok()?;
            arithmetic.maximum(a, &negated).ok().map(Element::Int)
        }
        (Unary::Sign, Element::Int(a)) => arithmetic.sign(a).map(Element::Int),
        (Unary::Not, Element::Int(a)) if ty.is_signed_integer() => Some(Element::number(!a.as_constant()?)),
        (Unary::Not, Element::Bool(a)) => Arithmetic::not(a).map(Element::Bool),
        _ => None,
    }
}

const fn integer_operation(op: &Binary) -> Option<Integer> {
    Some(match op {
        Binary::Add => Integer::Add,
        Binary::Subtract => Integer::Subtract,
        Binary::Multiply => Integer::Multiply,
        Binary::Divide => Integer::Divide,
        Binary::Remainder => Integer::Remainder,
        Binary::Maximum => Integer::Maximum,
        Binary::Minimum => Integer::Minimum,
        _ => return None,
    })
}

/// Operations on the bits of numbers.
fn bits(op: &Binary, a: i64, b: i64, ty: ElementType) -> Option<i64> {
    let within = u32::try_from(b).ok().filter(|amount| *amount < ty.bits());
    Some(match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => within.map_or(0, |amount| a << amount),
        Binary::ShiftRightArithmetic if ty.is_signed_integer() => {
            a >> within.unwrap_or(ty.bits() - 1).min(63)
        }
        Binary::ShiftRightLogical if a >= 0 => within.map_or(0, |amount| a >> amount),
        _ => return None,
    })
}

fn boolean(op: &Binary, a: &Condition, b: &Condition, arithmetic: &mut Arithmetic<'_>) -> Option<Element> {
    let condition = match op {
        Binary::And | Binary::Minimum | Binary::Multiply => arithmetic.both(a, b),
        Binary::Or | Binary::Maximum | Binary::Add => match (a, b) {
            (Condition::Known(true), _) | (_, Condition::Known(true)) => Condition::Known(true),
            (Condition::Known(false), other) | (other, Condition::Known(false)) => other.clone(),
            _ => return None,
        },
        Binary::Xor => differs(a, b)?,
        _ => return None,
    };
    Some(Element::Bool(condition))
}

/// Whether exactly one of two holds.
fn differs(a: &Condition, b: &Condition) -> Option<Condition> {
    match (a, b) {
        (Condition::Known(true), other) | (other, Condition::Known(true)) => Arithmetic::not(other),
        (Condition::Known(false), other) | (other, Condition::Known(false)) => Some(other.clone()),
        _ => (a == b).then_some(Condition::Known(false)),
    }
}

fn other(
    op: &Elementwise,
    operands: &[Element],
    ty: ElementType,
    arithmetic: &mut Arithmetic<'_>,
) -> Option<Element> {
    match (op, operands) {
        (Elementwise::Compare(op), [Element::Int(a), Element::Int(b)]) => {
            let comparison = comparison(op.comparison_direction);
            Some(Element::Bool(arithmetic.decider.compare(a, comparison, b)))
        }
        (Elementwise::Compare(op), [Element::Bool(a), Element::Bool(b)]) => {
            let differs = differs(a, b)?;
            match op.comparison_direction {
                ComparisonDirection::Ne => Some(Element::Bool(differs)),
                ComparisonDirection::Eq => Arithmetic::not(&differs).map(Element::Bool),
                _ => None,
            }
        }
        (Elementwise::Convert, [Element::Int(a)]) if ty.is_boolean() => {
            let zero = Expr::constant(0);
            Some(Element::Bool(arithmetic.decider.compare(
                a,
                Comparison::Ne,
                &zero,
            )))
        }
        (Elementwise::Convert, [Element::Int(a)]) if ty.is_integer() => Some(Element::Int(a.clone())),
        (Elementwise::Convert, [Element::Bool(Condition::Known(a))]) if ty.is_integer() => {
            Some(Element::number(i64::from(*a)))
        }
        (Elementwise::Convert, [Element::Bool(a)]) if ty.is_boolean() => Some(Element::Bool(a.clone())),
        (Elementwise::Select, [Element::Bool(condition), Element::Int(a), Element::Int(b)]) => {
            arithmetic.select(condition, a, b).map(Element::Int)
        }
        (Elementwise::Select, [Element::Bool(Condition::Known(holds)), a, b]) => {
            Some(if *holds { a.clone() } else { b.clone() })
        }
        (Elementwise::Clamp, [Element::Int(min), Element::Int(a), Element::Int(max)]) => {
            let raised = arithmetic.maximum(min, a).ok()?;
            arithmetic.minimum(&raised, max).ok().map(Element::Int)
        }
        _ => None,
    }
}

const fn comparison(direction: ComparisonDirection) -> Comparison {
    match direction {
        ComparisonDirection::Eq => Comparison::Eq,
        ComparisonDirection::Ne => Comparison::Ne,
        ComparisonDirection::Ge => Comparison::Ge,
        ComparisonDirection::Gt => Comparison::Gt,
        ComparisonDirection::Le => Comparison::Le,
        ComparisonDirection::Lt => Comparison::Lt,
    }
}
