//! What relates atoms to one another, as intervals and as linear facts.
//!
//! Every fact holds for all integers for which the divisors are not 0:
//! * `y > 0` gives `0 <= x - y*(x // y) <= y - 1`, and `y < 0` the mirror image;
//! * the positive part `m` of `d` has `m >= 0` and `m >= d`, and for `l <= d <= u` lies below the line from `(l, 0)` to
//!   `(u, u)`;
//! * a product of two atoms with known ends lies within the four planes through these ends (McCormick, "Computability of
//!   global solutions to factorable nonconvex programs", 1976).

use crate::division::floor_wide;
use crate::interval::{End, Interval};
use crate::limits;
use crate::linear::{AtomId, Linear};
use crate::problem::{Atom, Fact, Problem};
use crate::system::{Stop, System};

/// Narrows the interval of each atom until nothing changes or the rounds end. None when an interval is empty, which
/// proves that no assignment satisfies the facts.
pub(crate) fn propagate(problem: &Problem, case: &[Fact]) -> Option<Vec<Interval>> {
    let mut intervals = problem.declared.clone();
    for _ in 0..limits::PROPAGATION_ROUNDS {
        let before = intervals.clone();
        for (id, atom) in problem.atoms.iter().enumerate() {
            intervals[id] = intervals[id].intersect(derived(atom, &intervals));
            if intervals[id].is_empty() {
                return None;
            }
        }
        for fact in problem.facts.iter().chain(case) {
            tighten(fact, &mut intervals)?;
        }
        if intervals == before {
            break;
        }
    }
    Some(intervals)
}

/// The interval that the operands of an atom allow.
fn derived(atom: &Atom, intervals: &[Interval]) -> Interval {
    match atom {
        Atom::Variable(_) => Interval::ALL,
        Atom::PositivePart { form } => form.interval(intervals).positive_part(),
        Atom::FloorDiv {
            dividend, divisor, ..
        } => quotient(dividend, divisor, intervals),
        Atom::Product { splits, square, .. } => {
            let start = if *square {
                Interval::at_least(0)
            } else {
                Interval::ALL
            };
            splits.iter().fold(start, |all, (a, b)| {
                let product = if a == b {
                    intervals[*a].square()
                } else {
                    intervals[*a].mul(intervals[*b])
                };
                all.intersect(product)
            })
        }
    }
}

/// The interval of a floor division. Where both are known to be positive, their difference says more than the corners.
fn quotient(dividend: &Linear, divisor: &Linear, intervals: &[Interval]) -> Interval {
    let (x, y) = (dividend.interval(intervals), divisor.interval(intervals));
    let corners = x.floordiv(y);
    if !x.is_at_least(0) || !y.is_at_least(1) {
        return corners;
    }
    let Some(excess) = dividend.plus(divisor, -1).map(|form| form.interval(intervals)) else {
        return corners;
    };
    if excess.is_at_most(-1) {
        corners.intersect(Interval::point(0))
    } else if excess.is_at_least(0) {
        corners.intersect(Interval::at_least(1))
    } else {
        corners
    }
}

/// Narrows the atoms of a fact. None when the fact cannot hold.
fn tighten(fact: &Fact, intervals: &mut [Interval]) -> Option<()> {
    match fact {
        Fact::NonNegative(form) => tighten_form(form, intervals),
        Fact::Zero(form) => {
            tighten_form(form, intervals)?;
            match form.negated() {
                Some(negated) => tighten_form(&negated, intervals),
                None => Some(()),
            }
        }
        Fact::NonZero(form) => (form.interval(intervals).as_point() != Some(0)).then_some(()),
    }
}

/// Narrows each atom by what the others leave of `form >= 0`.
fn tighten_form(form: &Linear, intervals: &mut [Interval]) -> Option<()> {
    if form.interval(intervals).is_at_most(-1) {
        return None;
    }
    for (position, (atom, coefficient)) in form.terms.iter().enumerate() {
        let mut others = Interval::point(form.constant);
        for (_, (other, scale)) in form.terms.iter().enumerate().filter(|(at, _)| *at != position) {
            others = others.add(intervals[*other].scale(*scale));
        }
        // coefficient*atom >= -others, where `others` is at most `room`.
        let Some(allowed) = others
            .max
            .finite()
            .and_then(|room| at_least_negated(*coefficient, room))
        else {
            continue;
        };
        intervals[*atom] = intervals[*atom].intersect(allowed);
        if intervals[*atom].is_empty() {
            return None;
        }
    }
    Some(())
}

/// The integers `x` with `coefficient*x >= -room`.
fn at_least_negated(coefficient: i128, room: i128) -> Option<Interval> {
    let quotient = floor_wide(room, coefficient.checked_abs()?)?;
    if coefficient > 0 {
        Some(Interval::at_least(quotient.checked_neg()?))
    } else {
        Some(Interval::at_most(quotient))
    }
}

/// Adds the facts of the question and those that its atoms imply. What overflows is left out: that only weakens.
pub(crate) fn fill(
    system: &mut System,
    problem: &Problem,
    case: &[Fact],
    intervals: &[Interval],
) -> Result<(), Stop> {
    for (id, interval) in intervals
        .iter()
        .enumerate()
        .filter(|(_, interval)| **interval != Interval::ALL)
    {
        insert(system, Some(Linear::atom(id)), *interval)?;
    }
    for fact in problem.facts.iter().chain(case) {
        match fact {
            Fact::NonNegative(form) => insert(system, Some(form.clone()), Interval::at_least(0))?,
            Fact::Zero(form) => insert(system, Some(form.clone()), Interval::point(0))?,
            Fact::NonZero(_) => {}
        }
    }
    for (id, atom) in problem.atoms.iter().enumerate() {
        match atom {
            Atom::Variable(_) => {}
            Atom::FloorDiv {
                dividend,
                divisor,
                product: Some(product),
            } => {
                fill_quotient(system, id, [dividend, divisor, product], intervals)?;
            }
            Atom::FloorDiv { product: None, .. } => {}
            Atom::PositivePart { form } => fill_positive_part(system, id, form, intervals)?,
            Atom::Product { splits, .. } => {
                for (a, b) in splits {
                    fill_product(system, id, [*a, *b], intervals)?;
                }
            }
        }
    }
    Ok(())
}

fn insert(system: &mut System, form: Option<Linear>, interval: Interval) -> Result<(), Stop> {
    match form.map(|form| system.insert(&form, interval)) {
        Some(Err(Stop::Infeasible)) => Err(Stop::Infeasible),
        Some(Ok(()) | Err(Stop::GaveUp)) | None => Ok(()),
    }
}

fn fill_quotient(
    system: &mut System,
    id: AtomId,
    [dividend, divisor, product]: [&Linear; 3],
    intervals: &[Interval],
) -> Result<(), Stop> {
    let (x, y) = (dividend.interval(intervals), divisor.interval(intervals));
    let remainder = dividend.plus(product, -1);
    let sign = if y.is_at_least(1) {
        1
    } else if y.is_at_most(-1) {
        -1
    } else {
        return Ok(());
    };
    let signed = remainder.and_then(|remainder| Linear::default().plus(&remainder, sign));
    let magnitude = Linear::default().plus(divisor, sign);
    let below = signed
        .as_ref()
        .zip(magnitude)
        .and_then(|(signed, y)| y.plus(signed, -1)?.offset(-1));
    insert(system, signed, Interval::at_least(0))?;
    insert(system, below, Interval::at_least(0))?;
    if let (End::Finite(least @ 1..), true) = (y.min, x.is_at_least(0)) {
        let scaled = least
            .checked_neg()
            .and_then(|scale| dividend.plus(&Linear::atom(id), scale));
        insert(system, scaled, Interval::at_least(0))?;
    }
    Ok(())
}

fn fill_positive_part(
    system: &mut System,
    id: AtomId,
    form: &Linear,
    intervals: &[Interval],
) -> Result<(), Stop> {
    let range = form.interval(intervals);
    let above = Linear::atom(id).plus(form, -1);
    if range.is_at_least(0) {
        return insert(system, above, Interval::point(0));
    }
    insert(system, above, Interval::at_least(0))?;
    let (End::Finite(low), End::Finite(high @ 1..)) = (range.min, range.max) else {
        return Ok(());
    };
    let line = || {
        let shifted = Linear::default().plus(&form.offset(low.checked_neg()?)?, high)?;
        shifted.plus(&Linear::atom(id), low.checked_sub(high)?)
    };
    insert(system, line(), Interval::at_least(0))
}

fn fill_product(
    system: &mut System,
    id: AtomId,
    [a, b]: [AtomId; 2],
    intervals: &[Interval],
) -> Result<(), Stop> {
    let (x, y) = (intervals[a], intervals[b]);
    // (a - s)*(b - t) has a known sign for each pair of ends.
    let ends = [
        (x.min, y.min, 1),
        (x.max, y.max, 1),
        (x.min, y.max, -1),
        (x.max, y.min, -1),
    ];
    for (s, t, sign) in ends {
        let (End::Finite(s), End::Finite(t)) = (s, t) else {
            continue;
        };
        let plane = || {
            let form = Linear::atom(id).plus(&Linear::atom(a), t.checked_neg()?)?;
            let form = form.plus(&Linear::atom(b), s.checked_neg()?)?;
            Linear::default().plus(&form.offset(s.checked_mul(t)?)?, sign)
        };
        insert(system, plane(), Interval::at_least(0))?;
    }
    Ok(())
}
