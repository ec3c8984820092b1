//! Deterministic assignments to try before a search proper: small values first, then scattered ones.

use crate::assignment::Assignment;
use crate::interval::{End, Interval};
use crate::limits;
use crate::scope::Range;
use crate::variable::Variable;

/// Distances from the smallest value of a variable.
const DISTANCES: [i64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 31, 64, 100, 1000];

/// Multiplier and increment of the generator (Knuth, MMIX).
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// Yields [`limits::SAMPLES`] assignments, always the same.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    variables: Vec<(Variable, Interval, Range)>,
    state: u64,
    given: usize,
}

impl Sampler {
    /// Samples each variable within an interval and its range.
    pub(crate) const fn new(variables: Vec<(Variable, Interval, Range)>) -> Self {
        Self {
            variables,
            state: 1,
            given: 0,
        }
    }

    fn random(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        (self.state >> 33) as usize % below
    }
}

impl Iterator for Sampler {
    type Item = Assignment;

    fn next(&mut self) -> Option<Assignment> {
        let sample = self.given;
        self.given += 1;
        if sample >= limits::SAMPLES || (sample > 0 && self.variables.is_empty()) {
            return None;
        }
        let variables = self.variables.clone();
        let mut values = Assignment::new();
        for (variable, interval, range) in variables {
            // The first samples move all variables together, the next stay close, the last scatter.
            let position = match sample {
                0..4 => sample,
                4..32 => self.random(5),
                _ => self.random(DISTANCES.len()),
            };
            values.insert(variable, place(interval, &range, DISTANCES[position]));
        }
        Some(values)
    }
}

/// Every assignment within the intervals, when there are at most [`limits::ENUMERATED`].
pub(crate) fn enumerate(variables: &[(Variable, Interval, Range)]) -> Option<Vec<Assignment>> {
    let mut choices = Vec::with_capacity(variables.len());
    let mut count = 1_i128;
    for (variable, interval, range) in variables {
        let (min, max) = (interval.min.finite()?, interval.max.finite()?);
        let step = i128::from(range.multiple_of.get());
        count = count.checked_mul(max.checked_sub(min)?.checked_div(step)?.checked_add(1)?)?;
        if count > limits::ENUMERATED {
            return None;
        }
        let values = (min..=max).filter_map(|value| i64::try_from(value).ok());
        let values: Vec<i64> = values.filter(|value| range.contains(*value)).collect();
        choices.push((variable, values));
    }
    let start = vec![Assignment::new()];
    Some(choices.into_iter().fold(start, |all, (variable, values)| {
        let extended = |assignment: Assignment| {
            values.iter().map(move |value| {
                let mut assignment = assignment.clone();
                assignment.insert(variable.clone(), *value);
                assignment
            })
        };
        all.into_iter().flat_map(extended).collect()
    }))
}

/// A value of the range at about some distance (in its steps) from the smallest of the interval, or from the largest when
/// there is no smallest.
fn place(interval: Interval, range: &Range, distance: i64) -> i64 {
    let offset = distance.saturating_mul(i64::from(range.multiple_of.get()));
    let end = |end: End| end.finite().and_then(|value| i64::try_from(value).ok());
    let value = match (end(interval.min), end(interval.max)) {
        (Some(min), Some(max)) => min.saturating_add(offset).min(max),
        (Some(min), None) => min.saturating_add(offset),
        (None, Some(max)) => max.saturating_sub(offset),
        (None, None) => offset,
    };
    range.nearest(value)
}
