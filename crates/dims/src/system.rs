//! Systems of linear facts over integers, reduced before the linear program sees them.
//!
//! Each row says that a primitive combination of atoms lies in an interval. Rows are divided by the common divisor of
//! their coefficients and the ends are rounded inwards, which is where integers are stronger than fractions. Rows with a
//! single possible value are equations; those with a coefficient of 1 are solved and substituted.

use std::collections::BTreeMap;

use crate::division::floor_wide;
use crate::interval::{End, Interval};
use crate::limits;
use crate::linear::{AtomId, Linear};
use crate::rational::gcd_wide;

/// Why a system is not usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// No integers satisfy it: a proof.
    Infeasible,
    /// The arithmetic overflowed or a budget ended: no answer.
    GaveUp,
}

/// Primitive combinations of atoms with the intervals that contain them.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub(crate) rows: BTreeMap<Vec<(AtomId, i128)>, Interval>,
    /// Solved atoms in the order in which they were solved; each form is free of the atoms solved before.
    pub(crate) solved: Vec<(AtomId, Linear)>,
}

impl System {
    /// Adds that `form` lies in `interval`.
    pub(crate) fn insert(&mut self, form: &Linear, interval: Interval) -> Result<(), Stop> {
        let divisor = form
            .terms
            .iter()
            .fold(0, |divisor, term| gcd_wide(divisor, term.1.unsigned_abs()));
        let divisor = i128::try_from(divisor).map_err(|_| Stop::GaveUp)?;
        if divisor == 0 {
            return if interval.contains(form.constant) {
                Ok(())
            } else {
                Err(Stop::Infeasible)
            };
        }
        let negative = form.terms.first().is_some_and(|term| term.1 < 0);
        let signed = if negative { -divisor } else { divisor };
        let combination = form
            .terms
            .iter()
            .map(|(atom, value)| (*atom, value / signed))
            .collect();
        let interval = divided(interval, form.constant, signed).ok_or(Stop::GaveUp)?;
        let row = self.rows.entry(combination).or_insert(Interval::ALL);
        *row = row.intersect(interval);
        if row.is_empty() {
            Err(Stop::Infeasible)
        } else {
            Ok(())
        }
    }

    /// Solves equations until none has a coefficient of 1.
    pub(crate) fn eliminate(&mut self) -> Result<(), Stop> {
        while let Some((atom, form)) = self.take_solvable()? {
            let affected: Vec<_> = self
                .rows
                .keys()
                .filter(|row| row.iter().any(|term| term.0 == atom))
                .cloned()
                .collect();
            for terms in affected {
                let interval = self.rows.remove(&terms).unwrap_or(Interval::ALL);
                let row = substitute(&Linear { terms, constant: 0 }, atom, &form).ok_or(Stop::GaveUp)?;
                self.insert(&row, interval)?;
            }
            self.solved.push((atom, form));
        }
        if self.rows.len() > limits::ROWS {
            Err(Stop::GaveUp)
        } else {
            Ok(())
        }
    }

    /// Removes the first equation with a coefficient of 1 and solves it for that atom, the latest if there are several.
    fn take_solvable(&mut self) -> Result<Option<(AtomId, Linear)>, Stop> {
        let found = self.rows.iter().find_map(|(row, interval)| {
            let value = interval.as_point()?;
            let (atom, unit) = row.iter().rev().find(|term| term.1.abs() == 1)?;
            Some((row.clone(), value, *atom, *unit))
        });
        let Some((terms, value, atom, unit)) = found else {
            return Ok(None);
        };
        self.rows.remove(&terms);
        let others = Linear { terms, constant: 0 }
            .plus(&Linear::atom(atom), -unit)
            .ok_or(Stop::GaveUp)?;
        let form = Linear::constant(value).plus(&others, -1).ok_or(Stop::GaveUp)?;
        let form = Linear::default().plus(&form, unit).ok_or(Stop::GaveUp)?;
        Ok(Some((atom, form)))
    }

    /// A form in terms of the atoms that are not solved; None on overflow.
    pub(crate) fn reduce(&self, form: &Linear) -> Option<Linear> {
        self.solved.iter().try_fold(form.clone(), |form, (atom, value)| {
            substitute(&form, *atom, value)
        })
    }
}

fn substitute(form: &Linear, atom: AtomId, value: &Linear) -> Option<Linear> {
    match form.coefficient(atom) {
        0 => Some(form.clone()),
        coefficient => form
            .plus(&Linear::atom(atom), coefficient.checked_neg()?)?
            .plus(value, coefficient),
    }
}

/// The integers `x` for which `divisor*x + constant` lies in the interval.
fn divided(interval: Interval, constant: i128, divisor: i128) -> Option<Interval> {
    let at_least = |end: End| -> Option<End> {
        // The ceiling, as the negated floor of the negated dividend.
        let Some(value) = end.finite() else {
            return Some(End::Low);
        };
        let negated = constant.checked_sub(value)?;
        Some(End::Finite(floor_wide(negated, divisor.abs())?.checked_neg()?))
    };
    let at_most = |end: End| -> Option<End> {
        let Some(value) = end.finite() else {
            return Some(End::High);
        };
        Some(End::Finite(floor_wide(
            value.checked_sub(constant)?,
            divisor.abs(),
        )?))
    };
    let positive = Interval {
        min: at_least(interval.min)?,
        max: at_most(interval.max)?,
    };
    if divisor > 0 {
        return Some(positive);
    }
    let negated = |end: End| match end {
        End::Low => Some(End::High),
        End::High => Some(End::Low),
        End::Finite(value) => value.checked_neg().map(End::Finite),
    };
    Some(Interval {
        min: negated(positive.max)?,
        max: negated(positive.min)?,
    })
}
