//! What compiled loops do by themselves: operations of few vector instructions, on four or eight bytes a lane.

use artifact_core::entity::EntityId as _;
use artifact_ir::attribute::ComparisonType;
use artifact_ir::op::{Binary, Chlo, Compare, Elementwise, Op, Unary};
use artifact_ir::types::ElementType;
use artifact_lower::kernel::{InstrId, InstrKind, Kernel};

/// How an operation fits into a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Its numbers are so many bytes wide.
    Width(usize),
    /// It has booleans alone, which take the width of what is around them.
    Any,
}

impl Form {
    pub(crate) const fn fits(self, width: usize) -> bool {
        match self {
            Self::Width(own) => own == width,
            Self::Any => true,
        }
    }
}

/// How a value of a kernel is computed in a loop; `None` where a routine does it.
pub(crate) fn form(kernel: &Kernel, id: InstrId) -> Option<Form> {
    let instr = &kernel.body[id.index()];
    match &instr.kind {
        InstrKind::Input(_) | InstrKind::Constant(_) | InstrKind::Reduce { .. } => None,
        InstrKind::MultiplyAdd(_) => float_width(instr.element).map(Form::Width),
        InstrKind::Apply { op, operands } => {
            if let (Op::Binary(Binary::Maximum | Binary::Minimum), true) = (op, instr.element.is_float()) {
                // Of two values, a routine finds it sooner: neither NaN nor the sign of zero may be lost.
                bound(kernel, id)?;
            }
            let elements: Vec<ElementType> = operands
                .iter()
                .map(|operand| kernel.body[operand.index()].element)
                .collect();
            applied(op, &elements, instr.element)
        }
    }
}

/// The operand of a maximum or minimum of floats that is a constant which decides by one comparison: no NaN, and no zero of the
/// sign that loses.
pub(crate) fn bound(kernel: &Kernel, id: InstrId) -> Option<usize> {
    let InstrKind::Apply { op, operands } = &kernel.body[id.index()].kind else {
        return None;
    };
    let decides = |operand: &InstrId| {
        let instr = &kernel.body[operand.index()];
        let InstrKind::Constant(bytes) = &instr.kind else {
            return false;
        };
        let value = match (instr.element, bytes.as_slice()) {
            (ElementType::F32, [a, b, c, d]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
            (ElementType::F64, bytes) => bytes.try_into().map_or(f64::NAN, f64::from_le_bytes),
            _ => f64::NAN,
        };
        let loses = match op {
            Op::Binary(Binary::Maximum) => value.is_sign_negative(),
            _ => value.is_sign_positive(),
        };
        !(value.is_nan() || value == 0.0 && loses)
    };
    operands.iter().position(decides)
}

const fn float_width(element: ElementType) -> Option<usize> {
    match element {
        ElementType::F32 => Some(4),
        ElementType::F64 => Some(8),
        _ => None,
    }
}

const fn integer_width(element: ElementType) -> Option<usize> {
    match element {
        ElementType::I32 | ElementType::UI32 => Some(4),
        ElementType::I64 | ElementType::UI64 => Some(8),
        _ => None,
    }
}

fn width(element: ElementType) -> Option<usize> {
    float_width(element).or(integer_width(element))
}

fn applied(op: &Op, operands: &[ElementType], result: ElementType) -> Option<Form> {
    let first = *operands.first()?;
    match op {
        Op::Binary(op) => binary(op, first),
        Op::Unary(op) => unary(op, first),
        Op::Elementwise(op) => elementwise(op, operands, result),
        Op::Chlo(Chlo::Square) => float_width(first).map(Form::Width),
        _ => None,
    }
}

fn binary(op: &Binary, element: ElementType) -> Option<Form> {
    let on_floats = float_width(element).map(Form::Width);
    let on_integers = integer_width(element).map(Form::Width);
    let on_booleans = element.is_boolean().then_some(Form::Any);
    match op {
        Binary::Add | Binary::Multiply | Binary::Maximum | Binary::Minimum => {
            on_floats.or(on_integers).or(on_booleans)
        }
        Binary::Subtract => on_floats.or(on_integers),
        Binary::Divide => on_floats,
        Binary::And | Binary::Or | Binary::Xor => on_integers.or(on_booleans),
        Binary::Atan2
        | Binary::Power
        | Binary::Remainder
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical => None,
    }
}

fn unary(op: &Unary, element: ElementType) -> Option<Form> {
    match op {
        Unary::Abs if element.is_signed_integer() => integer_width(element).map(Form::Width),
        Unary::Abs | Unary::Sqrt(_) | Unary::Floor | Unary::Ceil | Unary::RoundNearestEven => {
            float_width(element).map(Form::Width)
        }
        Unary::Negate => width(element).map(Form::Width),
        Unary::Not if element.is_boolean() => Some(Form::Any),
        Unary::Not => integer_width(element).map(Form::Width),
        _ => None,
    }
}

fn elementwise(op: &Elementwise, operands: &[ElementType], result: ElementType) -> Option<Form> {
    let first = *operands.first()?;
    match op {
        Elementwise::Compare(Compare { compare_type, .. }) => {
            let is_total = *compare_type == Some(ComparisonType::TotalOrder) && first.is_float();
            if is_total {
                None
            } else {
                width(first).map(Form::Width)
            }
        }
        Elementwise::Select => width(result).map(Form::Width),
        Elementwise::Convert => match (first, result) {
            (ElementType::I1, _) => width(result).map(Form::Width),
            (ElementType::I32, ElementType::F32) | (ElementType::F32, ElementType::I32) => {
                Some(Form::Width(4))
            }
            _ => None,
        },
        Elementwise::BitcastConvert => {
            let (from, to) = (width(first)?, width(result)?);
            (from == to).then_some(Form::Width(from))
        }
        Elementwise::Clamp
        | Elementwise::Complex
        | Elementwise::ReducePrecision(_)
        | Elementwise::UniformDequantize
        | Elementwise::UniformQuantize => None,
    }
}
