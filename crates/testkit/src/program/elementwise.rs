//! Operations that work element by element.

use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::op::{Binary, Compare, Elementwise, ReducePrecision, Unary};
use artifact_ir::types::{ElementType, TensorType};

use super::draft::{Draft, Made};
use super::facts::{Facts, largest, unit};
use super::functions::accuracy;
use super::shapes::{COMPLEX, FLOATS, INTEGERS};
use super::value::Known;

/// One operand; bits that are the same everywhere stay so.
pub(super) fn unary(draft: &mut Draft<'_, '_>) -> Made<()> {
    let operand = draft.find(|_| true);
    let Some(operand) = operand else { return Ok(()) };
    let facts = operand.facts;
    let element = operand.element();
    let exact = facts.is_exact();
    let mut ops = Vec::new();
    if element.is_float() && element.bits() > 8 {
        let reach = facts.magnitude();
        let positive = facts.with_bounds(0.0_f64.max(facts.low), reach);
        ops.extend([
            (Unary::Negate, facts.with_bounds(-facts.high, -facts.low)),
            (Unary::Abs, positive),
        ]);
        let rounded = Facts {
            whole: true,
            ..facts.with_bounds(facts.low.floor(), facts.high.ceil())
        };
        if exact {
            ops.extend(
                [
                    Unary::Ceil,
                    Unary::Floor,
                    Unary::RoundNearestAfz,
                    Unary::RoundNearestEven,
                ]
                .map(|op| (op, rounded)),
            );
            ops.push((
                Unary::Sign,
                Facts {
                    any_nan: true,
                    ..rounded.with_bounds(-1.0, 1.0)
                },
            ));
            ops.push((Unary::IsFinite, Facts::whole(0.0, 1.0)));
            ops.push((Unary::Sqrt(accuracy()), square_root(&facts)));
        }
        ops.extend([Unary::Real, Unary::Imag].map(|op| (op, facts.or(&Facts::whole(0.0, 0.0)))));
    } else if element.is_complex() {
        let reach = facts.magnitude();
        let both = facts.with_bounds(-reach, reach);
        ops.extend([Unary::Negate, Unary::Real, Unary::Imag].map(|op| (op, both)));
    } else if element.is_boolean() {
        ops.push((Unary::Not, Facts::ANY));
    } else if element.is_integer() {
        ops.extend(
            [Unary::Negate, Unary::Not, Unary::Popcnt, Unary::CountLeadingZeros].map(|op| (op, Facts::ANY)),
        );
        if element.is_signed_integer() {
            ops.extend([Unary::Abs, Unary::Sign].map(|op| (op, Facts::ANY)));
        }
    }
    if ops.is_empty() {
        return Ok(());
    }
    let (op, facts) = draft.choices.pick(&ops).clone();
    let facts = Facts {
        any_nan: facts.any_nan || facts.special,
        ..facts
    };
    draft.add(op, &[&operand], facts).map(drop)
}

fn square_root(facts: &Facts) -> Facts {
    let negative = facts.low < 0.0;
    Facts {
        whole: false,
        special: facts.special || negative,
        ..facts.with_bounds(0.0, facts.high.max(1.0))
    }
}

/// Two operands.
pub(super) fn binary(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(left) = draft.find(|known| known.element().bits() > 8 || !known.element().is_float()) else {
        return Ok(());
    };
    let element = left.element();
    let right = draft.partner(&left, element, |_| true)?;
    if element.is_float() {
        floats(draft, left, right)
    } else if element.is_complex() {
        complexes(draft, left, right)
    } else {
        let ops: &[Binary] = match element.is_boolean() {
            true => &[
                Binary::And,
                Binary::Or,
                Binary::Xor,
                Binary::Add,
                Binary::Multiply,
                Binary::Maximum,
                Binary::Minimum,
            ],
            false => &[
                Binary::Add,
                Binary::Subtract,
                Binary::Multiply,
                Binary::Divide,
                Binary::Remainder,
                Binary::Maximum,
                Binary::Minimum,
                Binary::And,
                Binary::Or,
                Binary::Xor,
                Binary::ShiftLeft,
                Binary::ShiftRightArithmetic,
                Binary::ShiftRightLogical,
                Binary::Power,
            ],
        };
        let op = draft.choices.pick(ops).clone();
        draft.add(op, &[&left, &right], Facts::ANY).map(drop)
    }
}

fn floats(draft: &mut Draft<'_, '_>, mut left: Known, mut right: Known) -> Made<()> {
    let both_exact = left.facts.is_exact() && right.facts.is_exact();
    let op = draft
        .choices
        .weighted(&[
            (4, Binary::Add),
            (4, Binary::Multiply),
            (3, Binary::Subtract),
            (2, Binary::Maximum),
            (2, Binary::Minimum),
            (2, Binary::Divide),
            (1, Binary::Remainder),
        ])
        .clone();
    // One rounding instead of two makes a product and a sum inexact.
    let fused = op == Binary::Multiply && draft.setting.contraction && !is_exact_product(&left, &right);
    if !both_exact || fused {
        left = draft.tamed(&left, -8.0, 8.0)?;
        right = match op {
            Binary::Divide | Binary::Remainder => draft.tamed(&right, 0.5, 8.0)?,
            _ => draft.tamed(&right, -8.0, 8.0)?,
        };
    }
    let op = match op {
        // Its result jumps where the operands differ by little.
        Binary::Remainder if !(left.facts.is_exact() && right.facts.is_exact()) => Binary::Divide,
        op => op,
    };
    let facts = float_facts(&op, &left, &right, fused);
    draft.add(op, &[&left, &right], facts).map(drop)
}

fn is_exact_product(left: &Known, right: &Known) -> bool {
    let whole = left.facts.whole && right.facts.whole;
    whole && left.facts.magnitude() * right.facts.magnitude() <= super::facts::whole_max(left.element())
}

fn float_facts(op: &Binary, left: &Known, right: &Known, fused: bool) -> Facts {
    let element = left.element();
    let (a, b) = (left.facts, right.facts);
    let both = a.or(&b);
    let total = |low: f64, high: f64| Facts {
        error: if both.error > 0.0 { a.error + b.error } else { 0.0 },
        ..both.with_bounds(low, high)
    };
    let slack = 1.0 + 4.0 * unit(element);
    match op {
        Binary::Add => total(a.low + b.low, a.high + b.high)
            .widened(slack)
            .rounded(element),
        Binary::Subtract => total(a.low - b.high, a.high - b.low)
            .widened(slack)
            .rounded(element),
        Binary::Multiply => {
            let product = a.times(&b).widened(slack);
            let error = if fused {
                product.error + unit(element) * product.magnitude()
            } else {
                product.error
            };
            product.with_error(error).rounded(element)
        }
        Binary::Maximum | Binary::Minimum => Facts {
            any_nan: both.any_nan || both.special,
            ..both.with_error(a.error.max(b.error))
        },
        Binary::Divide => {
            let known = b.is_within(0.5, f64::INFINITY) && !a.special;
            let bounds = if known { 2.0 * a.magnitude() } else { f64::INFINITY };
            let quotient = Facts {
                whole: false,
                special: !known || both.special,
                error: if both.error > 0.0 {
                    (2.0 * a.error + 4.0 * a.magnitude() * b.error).max(f64::MIN_POSITIVE)
                } else {
                    0.0
                },
                ..both.with_bounds(-bounds, bounds)
            };
            quotient.widened(slack).rounded(element)
        }
        _ => Facts {
            any_nan: true,
            ..Facts::ANY
        },
    }
}

impl Facts {
    /// With bounds that are somewhat further out, for what is rounded.
    fn widened(self, slack: f64) -> Self {
        match self.whole && self.magnitude() < 1e6 {
            true => self,
            false => self.with_bounds(self.low.min(self.low * slack), self.high.max(self.high * slack)),
        }
    }
}

fn complexes(draft: &mut Draft<'_, '_>, left: Known, right: Known) -> Made<()> {
    let element = left.element();
    let (a, b) = (left.facts, right.facts);
    let reach = a.magnitude() + b.magnitude();
    let sum = Facts {
        error: a.error + b.error,
        ..a.or(&b).with_bounds(-reach, reach)
    };
    let finite = !(a.special || b.special) && a.magnitude() * b.magnitude() < 1e6;
    let product_reach = 2.0 * a.magnitude() * b.magnitude();
    if finite && draft.choices.flip() {
        let whole = a.whole && b.whole && a.is_exact() && b.is_exact();
        let exact = whole && product_reach <= super::facts::whole_max(element);
        let spread = 2.0 * (a.error * b.magnitude() + b.error * a.magnitude() + a.error * b.error);
        let error = if exact {
            0.0
        } else {
            (spread + 4.0 * unit(element) * product_reach).max(f64::MIN_POSITIVE)
        };
        let facts = Facts {
            whole: exact,
            any_nan: false,
            ..Facts::between(-product_reach, product_reach).with_error(error)
        };
        return draft.add(Binary::Multiply, &[&left, &right], facts).map(drop);
    }
    let op = draft.choices.pick(&[Binary::Add, Binary::Subtract]).clone();
    draft.add(op, &[&left, &right], sum.rounded(element)).map(drop)
}

/// Any direction.
pub(super) const DIRECTIONS: &[ComparisonDirection] = &[
    ComparisonDirection::Lt,
    ComparisonDirection::Le,
    ComparisonDirection::Gt,
    ComparisonDirection::Ge,
    ComparisonDirection::Eq,
    ComparisonDirection::Ne,
];

/// The comparison of elements of a type; by total order only where NaNs are the same everywhere.
pub(super) fn comparison(direction: ComparisonDirection, element: ElementType, total: bool) -> Elementwise {
    let compare_type = match () {
        () if element.is_float() && total => Some(ComparisonType::TotalOrder),
        () if element.is_float() || element.is_complex() => Some(ComparisonType::Float),
        () if element.is_signed_integer() => Some(ComparisonType::Signed),
        () => Some(ComparisonType::Unsigned),
    };
    Elementwise::Compare(Compare {
        comparison_direction: direction,
        compare_type,
    })
}

/// A comparison, of bits that are the same everywhere.
pub(super) fn compare(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(left) = draft.find(|known| known.facts.is_exact()) else {
        return Ok(());
    };
    let right = draft.partner(&left, left.element(), |known| known.facts.is_exact())?;
    let (directions, total) = match left.element().is_complex() {
        true => (&DIRECTIONS[4..], false),
        false => (DIRECTIONS, draft.choices.once_in(5)),
    };
    let total = total && !left.facts.any_nan && !right.facts.any_nan;
    let direction = *draft.choices.pick(directions);
    let op = comparison(direction, left.element(), total);
    draft.add(op, &[&left, &right], Facts::whole(0.0, 1.0)).map(drop)
}

/// A choice between two values by a third.
pub(super) fn select(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(on_true) = draft.find(|_| true) else {
        return Ok(());
    };
    let on_false = draft.partner(&on_true, on_true.element(), |_| true)?;
    let predicate = match draft.choices.once_in(4) {
        true => draft.find(|known| known.element().is_boolean() && known.rank() == 0),
        false => None,
    };
    let predicate = match predicate {
        Some(predicate) => predicate,
        None => draft.partner(&on_true, ElementType::I1, |_| true)?,
    };
    let facts = on_true.facts.or(&on_false.facts);
    draft
        .add(Elementwise::Select, &[&predicate, &on_true, &on_false], facts)
        .map(drop)
}

/// A clamp, the limits of which are scalars or arrays.
pub(super) fn clamp(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| !known.element().is_complex() && known.facts.is_exact();
    let Some(operand) = draft.find(suits) else {
        return Ok(());
    };
    let element = operand.element();
    let limit = |draft: &mut Draft<'_, '_>, number: f64| match draft.choices.flip() {
        true => draft.partner(&operand, element, suits),
        false => draft.scalar(element, if element.is_boolean() { 1.0 } else { number }),
    };
    let (least, most) = (limit(draft, 0.0)?, limit(draft, 1.0)?);
    let facts = operand.facts.or(&least.facts).or(&most.facts);
    let facts = Facts {
        any_nan: facts.any_nan || facts.special,
        ..facts
    };
    draft
        .add(Elementwise::Clamp, &[&least, &operand, &most], facts)
        .map(drop)
}

/// A conversion to another type.
pub(super) fn convert(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|_| true) else {
        return Ok(());
    };
    if operand.facts.is_exact() {
        let element = super::shapes::element(draft.choices);
        // Of a complex number the real part is taken.
        return draft.converted(&operand, element).map(drop);
    }
    let element = match operand.element().is_complex() {
        true => *draft.choices.pick(COMPLEX),
        false => *draft.choices.pick(FLOATS),
    };
    if operand.facts.magnitude() * 2.0 > largest(element) {
        return Ok(());
    }
    let error = operand.facts.error + unit(element) * operand.facts.magnitude();
    let ty = operand.ty.with_element(element);
    draft
        .add_typed(
            Elementwise::Convert,
            &[&operand],
            ty,
            operand.facts.with_error(error),
        )
        .map(drop)
}

/// The same bits as another type, of values whose bits are the same everywhere.
pub(super) fn bitcast(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        known.facts.is_exact()
            && !known.element().is_complex()
            && known.element().bits() >= 8
            && !(known.facts.any_nan && known.facts.special)
            && (known.element().bits() > 8 || !known.element().is_float())
    };
    let Some(operand) = draft.find(suits) else {
        return Ok(());
    };
    let from = operand.element();
    let all: Vec<ElementType> = [FLOATS, INTEGERS].concat();
    let last = operand.ty.dims.last().and_then(|dim| dim.as_static());
    let fits = |to: &&ElementType| {
        let (from, to) = (u64::from(from.bits()), u64::from(to.bits()));
        to >= 8 && (from >= to || last == Some(to / from))
    };
    let fitting: Vec<&ElementType> = all.iter().filter(fits).collect();
    let to = **draft.choices.pick(&fitting);
    let mut dims = operand.ty.dims.to_vec();
    if from.bits() > to.bits() {
        dims.push(artifact_ir::types::Dim::Static(u64::from(
            from.bits() / to.bits(),
        )));
    } else if from.bits() < to.bits() {
        dims.pop();
    }
    let ty = TensorType::new(dims, to);
    if draft
        .setting
        .count(&ty)
        .is_none_or(|count| count > draft.setting.elements_max)
    {
        return Ok(());
    }
    draft
        .add_typed(Elementwise::BitcastConvert, &[&operand], ty, Facts::ANY)
        .map(drop)
}

/// A complex number of two values.
pub(super) fn complex(draft: &mut Draft<'_, '_>) -> Made<()> {
    let real = draft.find_or_make(&[ElementType::F32, ElementType::F64], |_| true)?;
    let imaginary = draft.partner(&real, real.element(), |_| true)?;
    let facts = real.facts.or(&imaginary.facts);
    draft
        .add(Elementwise::Complex, &[&real, &imaginary], facts)
        .map(drop)
}

/// Rounding to a narrower format and back.
pub(super) fn reduce_precision(draft: &mut Draft<'_, '_>) -> Made<()> {
    let operand = draft.find_or_make(FLOATS, |known| known.facts.is_exact())?;
    let op = ReducePrecision {
        exponent_bits: *draft.choices.pick(&[8, 5, 4, 2, 11]),
        mantissa_bits: *draft.choices.pick(&[7, 10, 3, 1, 23, 0]),
    };
    let facts = Facts {
        any_nan: true,
        ..Facts::ANY
    };
    draft
        .add(Elementwise::ReducePrecision(op), &[&operand], facts)
        .map(drop)
}
