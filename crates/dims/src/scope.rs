//! What is known about dimension variables: ranges and constraints.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use artifact_core::limit::LimitExceeded;

use crate::arithmetic::gcd;
use crate::constraint::Constraint;
use crate::expr::ExprError;
use crate::interval::{End, Interval};
use crate::limits;
use crate::parse_error::ParseError;
use crate::unsatisfiable::{Unsatisfiable, find_conflict};
use crate::variable::Variable;

/// The values that a variable may take, in elements: from `min` to `max`, both inclusive, in steps.
///
/// The default is JAX's: at least 1. A size of 0 must be declared with a `min` of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// The smallest value.
    pub min: i64,
    /// The largest value, if there is one.
    pub max: Option<i64>,
    /// The number of which every value is a multiple.
    pub multiple_of: NonZeroU32,
}

impl Default for Range {
    fn default() -> Self {
        Self {
            min: 1,
            max: None,
            multiple_of: NonZeroU32::MIN,
        }
    }
}

impl Range {
    /// Values from `min` on.
    #[must_use]
    pub fn at_least(min: i64) -> Self {
        Self {
            min,
            ..Self::default()
        }
    }

    /// Values from `min` to `max`.
    #[must_use]
    pub fn between(min: i64, max: i64) -> Self {
        Self {
            min,
            max: Some(max),
            ..Self::default()
        }
    }

    /// The multiples of `step` among the values.
    #[must_use]
    pub const fn multiples_of(self, step: NonZeroU32) -> Self {
        Self {
            multiple_of: step,
            ..self
        }
    }

    /// Whether a variable may take the value.
    #[must_use]
    pub fn contains(&self, value: i64) -> bool {
        let Self {
            min,
            max,
            multiple_of,
        } = *self;
        value >= min && max.is_none_or(|max| value <= max) && value % i64::from(multiple_of.get()) == 0
    }

    /// The smallest and the largest value that are multiples.
    pub(crate) fn interval(&self) -> Interval {
        let step = i128::from(self.multiple_of.get());
        let up = |value: i64| -(-i128::from(value)).div_euclid(step) * step;
        let down = |value: i64| i128::from(value).div_euclid(step) * step;
        Interval {
            min: End::Finite(up(self.min)),
            max: self.max.map_or(End::High, |max| End::Finite(down(max))),
        }
    }

    /// A value of the range near `value`.
    pub(crate) fn nearest(&self, value: i64) -> i64 {
        let interval = self.interval();
        let step = i128::from(self.multiple_of.get());
        let down = i128::from(value).div_euclid(step) * step;
        let low = interval.min.finite().map_or(down, |min| down.max(min));
        let within = interval.max.finite().map_or(low, |max| low.min(max));
        i64::try_from(within).unwrap_or(value)
    }

    /// The values in both; None when the steps have no common multiple of 32 bits.
    fn intersect(self, other: Self) -> Option<Self> {
        let (a, b) = (
            u64::from(self.multiple_of.get()),
            u64::from(other.multiple_of.get()),
        );
        let step = u32::try_from(a / gcd(a, b) * b).ok().and_then(NonZeroU32::new)?;
        let max = match (self.max, other.max) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Some(Self {
            min: self.min.max(other.min),
            max,
            multiple_of: step,
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            min,
            max,
            multiple_of,
        } = self;
        write!(f, "at least {min}")?;
        if let Some(max) = max {
            write!(f, ", at most {max}")?;
        }
        if multiple_of.get() > 1 {
            write!(f, ", a multiple of {multiple_of}")?;
        }
        Ok(())
    }
}

/// Ranges and constraints of dimension variables; what every decision is relative to. Cheap to clone.
///
/// Variables that are not declared have the default [`Range`]. The order in which things were declared leaves no trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope(Arc<Contents>);

#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Contents {
    ranges: BTreeMap<Variable, Range>,
    /// Sorted, without duplicates.
    constraints: Vec<Constraint>,
}

impl Scope {
    /// Starts an empty scope.
    #[must_use]
    pub fn builder() -> ScopeBuilder {
        ScopeBuilder::default()
    }

    /// The declared ranges, in order of the names.
    pub fn ranges(&self) -> impl Iterator<Item = (&Variable, &Range)> {
        self.0.ranges.iter()
    }

    /// The range of a variable: as declared, or the default.
    #[must_use]
    pub fn range(&self, variable: &Variable) -> Range {
        self.0.ranges.get(variable).copied().unwrap_or_default()
    }

    /// The constraints, sorted.
    #[must_use]
    pub fn constraints(&self) -> &[Constraint] {
        &self.0.constraints
    }

    /// A scope of which satisfiability is not asked.
    pub(crate) fn unchecked(ranges: BTreeMap<Variable, Range>, mut constraints: Vec<Constraint>) -> Self {
        constraints.sort();
        constraints.dedup();
        Self(Arc::new(Contents { ranges, constraints }))
    }

    /// The same ranges with other constraints.
    pub(crate) fn with_constraints(&self, constraints: Vec<Constraint>) -> Self {
        Self::unchecked(self.0.ranges.clone(), constraints)
    }
}

/// Collects what a scope consists of.
#[derive(Clone, Debug, Default)]
pub struct ScopeBuilder {
    ranges: Vec<(Variable, Range)>,
    constraints: Vec<Constraint>,
}

/// Why a scope cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// A range without values.
    #[error("dimension '{variable}' has no possible size: {range}")]
    EmptyRange {
        /// The variable.
        variable: Variable,
        /// Its range.
        range: Range,
    },
    /// Two ranges of one variable whose steps have no common multiple of 32 bits.
    #[error("the steps declared for dimension '{variable}' have no common multiple below 2^32: declare one")]
    Steps {
        /// The variable.
        variable: Variable,
    },
    /// A constraint that cannot be formed.
    #[error("constraint '{constraint}' cannot be used")]
    Constraint {
        /// The constraint.
        constraint: Constraint,
        /// Why.
        source: ExprError,
    },
    /// No sizes satisfy the constraints.
    #[error(transparent)]
    Unsatisfiable(#[from] Unsatisfiable),
    /// A text that is no constraint.
    #[error("a constraint cannot be read")]
    Parse(#[from] ParseError),
    /// Too many constraints.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl ScopeBuilder {
    /// Declares the range of a variable. Of several declarations, all hold.
    #[must_use]
    pub fn range(mut self, variable: Variable, range: Range) -> Self {
        self.ranges.push((variable, range));
        self
    }

    /// Adds a constraint.
    #[must_use]
    pub fn constraint(mut self, constraint: Constraint) -> Self {
        self.constraints.push(constraint);
        self
    }

    /// Adds the constraints of a text such as `1 <= b <= 8`.
    ///
    /// # Errors
    /// [`ScopeError::Parse`] when the text is no constraint.
    pub fn parse(mut self, text: &str) -> Result<Self, ScopeError> {
        self.constraints.extend(Constraint::parse(text)?);
        Ok(self)
    }

    /// Builds the scope.
    ///
    /// # Errors
    /// [`ScopeError`]; in particular when no sizes satisfy the constraints and this can be proven.
    pub fn build(self) -> Result<Scope, ScopeError> {
        limits::CONSTRAINTS.check(self.constraints.len() as u64)?;
        let mut ranges: BTreeMap<Variable, Range> = BTreeMap::new();
        for (variable, range) in self.ranges {
            let both = match ranges.get(&variable) {
                Some(other) => other.intersect(range),
                None => Some(range),
            };
            let Some(both) = both else {
                return Err(ScopeError::Steps { variable });
            };
            ranges.insert(variable, both);
        }
        if let Some((variable, range)) = ranges.iter().find(|(_, range)| range.interval().is_empty()) {
            return Err(ScopeError::EmptyRange {
                variable: variable.clone(),
                range: *range,
            });
        }
        let scope = Scope::unchecked(ranges, self.constraints);
        for constraint in scope.constraints() {
            constraint.condition().map_err(|source| {
                let constraint = constraint.clone();
                ScopeError::Constraint { constraint, source }
            })?;
        }
        match find_conflict(&scope) {
            Some(conflict) => Err(conflict.into()),
            None => Ok(scope),
        }
    }
}
