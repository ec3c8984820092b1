//! Transcendental functions, of numbers where they are smooth, so that errors stay bounded.

use artifact_ir::attribute::ResultAccuracy;
use artifact_ir::op::{Binary, Elementwise, Transcendental, Unary};
use artifact_ir::types::ElementType;

use super::draft::{Draft, Made};
use super::facts::{Facts, unit};
use super::shapes::FLOATS;

/// A function, where it is smooth: its largest slope there, and the bounds of its results.
struct Smooth {
    op: Unary,
    domain: [f64; 2],
    slope: f64,
    range: [f64; 2],
}

fn smooth() -> Vec<Smooth> {
    let row = |op: fn(Transcendental) -> Unary, domain, slope, range| Smooth {
        op: op(accuracy()),
        domain,
        slope,
        range,
    };
    vec![
        row(Unary::Tanh, [-8.0, 8.0], 1.0, [-1.0, 1.0]),
        row(Unary::Exponential, [-4.0, 4.0], 55.0, [0.0, 55.0]),
        row(Unary::ExponentialMinusOne, [-4.0, 4.0], 55.0, [-1.0, 55.0]),
        row(Unary::Log, [0.25, 8.0], 4.0, [-1.4, 2.1]),
        row(Unary::LogPlusOne, [-0.5, 4.0], 2.0, [-0.7, 1.7]),
        row(Unary::Logistic, [-8.0, 8.0], 0.3, [0.0, 1.0]),
        row(Unary::Rsqrt, [0.25, 8.0], 4.0, [0.3, 2.1]),
        row(Unary::Sqrt, [0.25, 8.0], 1.0, [0.4, 2.9]),
        row(Unary::Cbrt, [0.5, 4.0], 0.6, [0.7, 1.6]),
        row(Unary::Sine, [-4.0, 4.0], 1.0, [-1.0, 1.0]),
        row(Unary::Cosine, [-4.0, 4.0], 1.0, [-1.0, 1.0]),
        row(Unary::Tan, [-1.0, 1.0], 3.5, [-1.6, 1.6]),
    ]
}

/// What is known of a smooth function's results, a few units in the last place allowed.
pub(super) fn smooth_facts(operand: &Facts, slope: f64, range: [f64; 2], element: ElementType) -> Facts {
    let reach = range[0].abs().max(range[1].abs());
    let error = slope * operand.error + 16.0 * unit(element) * reach;
    // What was rounded may lie a little beyond.
    Facts::between(range[0] - 2.0 * error, range[1] + 2.0 * error).with_error(error)
}

/// A transcendental function, of numbers where it is smooth.
pub(super) fn transcendental(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.choices.once_in(8) {
        return complex_function(draft);
    }
    let operand = draft.find_or_make(FLOATS, |_| true)?;
    let table = smooth();
    let Smooth {
        op,
        domain,
        slope,
        range,
    } = draft.choices.pick(&table);
    let operand = draft.tamed(&operand, domain[0], domain[1])?;
    let facts = smooth_facts(&operand.facts, *slope, *range, operand.element());
    draft.add(op.clone(), &[&operand], facts).map(drop)
}

/// The same of complex numbers whose real part is positive and whose parts are small.
fn complex_function(draft: &mut Draft<'_, '_>) -> Made<()> {
    let operand = tame_complex(draft)?;
    let table = [
        (Unary::Abs, 1.5, 3.0),
        (Unary::Exponential(accuracy()), 10.0, 8.0),
        (Unary::Log(accuracy()), 3.0, 2.0),
        (Unary::Sqrt(accuracy()), 2.0, 2.0),
        (Unary::Rsqrt(accuracy()), 4.0, 2.0),
        (Unary::Sine(accuracy()), 4.0, 4.0),
        (Unary::Cosine(accuracy()), 4.0, 4.0),
        (Unary::Tanh(accuracy()), 8.0, 4.0),
        (Unary::Logistic(accuracy()), 4.0, 4.0),
        (Unary::ExponentialMinusOne(accuracy()), 10.0, 8.0),
        (Unary::LogPlusOne(accuracy()), 3.0, 2.0),
    ];
    let (op, slope, reach) = draft.choices.pick(&table).clone();
    let facts = smooth_facts(&operand.facts, 2.0 * slope, [-reach, reach], operand.element());
    draft.add(op, &[&operand], facts).map(drop)
}

/// A complex number of which the real part is between 1/2 and 2 and the imaginary one between -1 and 1.
pub(super) fn tame_complex(draft: &mut Draft<'_, '_>) -> Made {
    let real = draft.find_or_make(&[ElementType::F32, ElementType::F64], |_| true)?;
    let imaginary = draft.partner(&real, real.element(), |_| true)?;
    let real = draft.tamed(&real, 0.5, 2.0)?;
    let imaginary = draft.tamed(&imaginary, -1.0, 1.0)?;
    let facts = Facts {
        whole: false,
        ..real.facts.or(&imaginary.facts)
    };
    draft.add(Elementwise::Complex, &[&real, &imaginary], facts)
}

/// `power` and `atan2`, and quotients of complex numbers.
pub(super) fn binary_function(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.choices.once_in(4) {
        let (left, right) = (tame_complex(draft)?, tame_complex(draft)?);
        if left.ty == right.ty {
            let facts = smooth_facts(&left.facts.or(&right.facts), 16.0, [-5.0, 5.0], left.element());
            return draft.add(Binary::Divide, &[&left, &right], facts).map(drop);
        }
    }
    let left = draft.find_or_make(FLOATS, |_| true)?;
    let right = draft.partner(&left, left.element(), |_| true)?;
    let left = draft.tamed(&left, 0.5, 2.0)?;
    let right = draft.tamed(&right, -2.0, 2.0)?;
    let (op, slope, reach) = match draft.choices.flip() {
        true => (Binary::Atan2, 4.0, 1.4),
        false => (Binary::Power, 16.0, 4.0),
    };
    let facts = smooth_facts(
        &left.facts.or(&right.facts),
        slope,
        [-reach, reach],
        left.element(),
    );
    draft.add(op, &[&left, &right], facts).map(drop)
}

/// As accurate as it is by default.
pub(super) fn accuracy() -> Transcendental {
    Transcendental {
        result_accuracy: ResultAccuracy::default(),
    }
}
