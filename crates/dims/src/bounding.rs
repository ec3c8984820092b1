//! Proven bounds of expressions.

use std::collections::BTreeSet;
use std::fmt;

use crate::expr::Expr;
use crate::interval::End;
use crate::monomial::{Factor, Kind};
use crate::question::Question;
use crate::scope::Scope;
use crate::search::minimum;

/// Proven ends of the values of an expression, inclusive. None means that nothing is proven, or that there is no end
/// within 64 bits. Prints as `[1, inf]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No value is smaller.
    pub min: Option<i64>,
    /// No value is larger.
    pub max: Option<i64>,
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end =
            |value: Option<i64>, infinite: &str| value.map_or(infinite.to_owned(), |value| value.to_string());
        write!(f, "[{}, {}]", end(self.min, "-inf"), end(self.max, "inf"))
    }
}

/// An expression that contains a division whose divisor is not proven to differ from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("possible division by 0 in '{expr}': add the constraint {divisor} != 0, or a range that implies it")]
pub struct PossibleDivisionByZero {
    /// The expression.
    pub expr: Expr,
    /// The divisor.
    pub divisor: Expr,
}

impl Scope {
    /// Bounds of the values of an expression over all assignments that satisfy the scope.
    ///
    /// # Errors
    /// [`PossibleDivisionByZero`] when the expression may have no value.
    pub fn bounds(&self, expr: &Expr) -> Result<Bounds, PossibleDivisionByZero> {
        self.check_divisors(expr)?;
        if let Some(value) = expr.as_constant() {
            return Ok(Bounds {
                min: Some(value),
                max: Some(value),
            });
        }
        let negated = expr.neg().ok();
        Ok(Bounds {
            min: within(self.lower_bound(expr)),
            max: negated.and_then(|negated| match self.lower_bound(&negated) {
                End::Finite(value) => value.checked_neg().and_then(within_above),
                End::Low | End::High => None,
            }),
        })
    }

    /// That every divisor in an expression differs from 0.
    ///
    /// # Errors
    /// [`PossibleDivisionByZero`] with the first divisor for which this is not proven.
    pub fn check_divisors(&self, expr: &Expr) -> Result<(), PossibleDivisionByZero> {
        let mut divisors = BTreeSet::new();
        collect_divisors(expr, &mut divisors);
        let zero = Expr::constant(0);
        match divisors
            .into_iter()
            .find(|divisor| !self.ne(divisor, &zero).is_yes())
        {
            Some(divisor) => Err(PossibleDivisionByZero {
                expr: expr.clone(),
                divisor,
            }),
            None => Ok(()),
        }
    }

    fn lower_bound(&self, expr: &Expr) -> End {
        let mut question = Question::new(self, &[], Some(expr));
        match question.form(expr) {
            Some(form) => minimum(&question, expr, &form),
            None => End::Low,
        }
    }
}

/// A lower bound in 64 bits.
fn within(bound: End) -> Option<i64> {
    let value = bound.finite()?;
    if value < i128::from(i64::MIN) {
        None
    } else {
        Some(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

/// An upper bound in 64 bits.
fn within_above(value: i128) -> Option<i64> {
    if value > i128::from(i64::MAX) {
        None
    } else {
        Some(i64::try_from(value).unwrap_or(i64::MIN))
    }
}

fn collect_divisors(expr: &Expr, divisors: &mut BTreeSet<Expr>) {
    for factor in expr.factors() {
        let Factor::Operation(operation) = factor else {
            continue;
        };
        collect_divisors(&operation.left, divisors);
        collect_divisors(&operation.right, divisors);
        if operation.kind == Kind::FloorDiv && operation.right.as_constant().is_none() {
            divisors.insert(operation.right.clone());
        }
    }
}
