//! Linear forms over the atoms of a question.

use crate::interval::Interval;
use crate::rational::Ratio;

/// An atom by its position in the problem.
pub(crate) type AtomId = usize;

/// `sum of coefficient*atom + constant`; atoms ascending, no zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) terms: Vec<(AtomId, i128)>,
    pub(crate) constant: i128,
}

impl Linear {
    pub(crate) const fn constant(constant: i128) -> Self {
        Self {
            terms: Vec::new(),
            constant,
        }
    }

    pub(crate) fn atom(atom: AtomId) -> Self {
        Self {
            terms: vec![(atom, 1)],
            constant: 0,
        }
    }

    pub(crate) fn coefficient(&self, atom: AtomId) -> i128 {
        self.terms
            .iter()
            .find(|(id, _)| *id == atom)
            .map_or(0, |(_, coefficient)| *coefficient)
    }

    /// `self + scale*other`; None on overflow.
    pub(crate) fn plus(&self, other: &Self, scale: i128) -> Option<Self> {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (next_left, next_right) = (left.peek().map(|term| term.0), right.peek().map(|term| term.0));
            let atom = match (next_left, next_right) {
                (None, None) => break,
                (Some(atom), None) | (None, Some(atom)) => atom,
                (Some(a), Some(b)) => a.min(b),
            };
            let a = left.next_if(|term| term.0 == atom).map_or(0, |term| term.1);
            let b = right.next_if(|term| term.0 == atom).map_or(0, |term| term.1);
            let coefficient = a.checked_add(b.checked_mul(scale)?)?;
            if coefficient != 0 {
                terms.push((atom, coefficient));
            }
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(scale)?)?;
        Some(Self { terms, constant })
    }

    pub(crate) fn offset(&self, offset: i128) -> Option<Self> {
        Some(Self {
            terms: self.terms.clone(),
            constant: self.constant.checked_add(offset)?,
        })
    }

    pub(crate) fn negated(&self) -> Option<Self> {
        Self::default().plus(self, -1)
    }

    /// The values possible when each atom is in its interval.
    pub(crate) fn interval(&self, intervals: &[Interval]) -> Interval {
        let term = |(atom, coefficient): &(AtomId, i128)| intervals[*atom].scale(*coefficient);
        self.terms
            .iter()
            .map(term)
            .fold(Interval::point(self.constant), Interval::add)
    }

    /// The value for given values of the atoms; None on overflow.
    pub(crate) fn value(&self, values: &[Ratio]) -> Option<Ratio> {
        self.terms
            .iter()
            .try_fold(Ratio::integer(self.constant), |total, (atom, coefficient)| {
                total.add(Ratio::integer(*coefficient).mul(values[*atom])?)
            })
    }
}
