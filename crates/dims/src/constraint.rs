//! Comparisons of two expressions.

use std::collections::BTreeSet;
use std::fmt;

use crate::assignment::Assignment;
use crate::evaluate::{EvaluateError, evaluate_wide};
use crate::expr::{Expr, ExprError};
use crate::variable::Variable;

/// How two sizes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Comparison {
    const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// The spelling.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    pub(crate) fn from_symbol(symbol: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|comparison| comparison.symbol() == symbol)
    }

    /// The comparison that holds exactly when this one does not.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
        }
    }

    /// Whether the comparison holds for two numbers.
    pub(crate) const fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// A comparison of two expressions, such as `a >= 2*b`. Also the form in which questions are asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constraint {
    /// What is compared.
    pub left: Expr,
    /// How.
    pub comparison: Comparison,
    /// What it is compared with.
    pub right: Expr,
}

/// A comparison with 0, the form that decisions work on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    NonNegative(Expr),
    Zero(Expr),
    NonZero(Expr),
}

impl Constraint {
    /// Compares two expressions.
    #[must_use]
    pub const fn new(left: Expr, comparison: Comparison, right: Expr) -> Self {
        Self {
            left,
            comparison,
            right,
        }
    }

    /// The constraint that holds exactly when this one does not, where both sides are defined.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self::new(self.left.clone(), self.comparison.negated(), self.right.clone())
    }

    /// The variables of both sides.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<Variable> {
        &self.left.variables() | &self.right.variables()
    }

    /// Whether the constraint holds for the values.
    ///
    /// # Errors
    /// [`EvaluateError`] when a side has no value.
    pub fn holds(&self, values: &Assignment) -> Result<bool, EvaluateError> {
        let (left, right) = (
            evaluate_wide(&self.left, values)?,
            evaluate_wide(&self.right, values)?,
        );
        Ok(self.comparison.holds(left, right))
    }

    /// The comparison with 0 that means the same.
    pub(crate) fn condition(&self) -> Result<Condition, ExprError> {
        let Self {
            left,
            comparison,
            right,
        } = self;
        match comparison {
            Comparison::Eq => left.sub(right).map(Condition::Zero),
            Comparison::Ne => left.sub(right).map(Condition::NonZero),
            Comparison::Ge => left.sub(right).map(Condition::NonNegative),
            Comparison::Gt => left.sub(right)?.offset(-1).map(Condition::NonNegative),
            Comparison::Le => right.sub(left).map(Condition::NonNegative),
            Comparison::Lt => right.sub(left)?.offset(-1).map(Condition::NonNegative),
        }
    }
}

impl Condition {
    /// What is compared with 0.
    pub(crate) const fn expr(&self) -> &Expr {
        match self {
            Self::NonNegative(expr) | Self::Zero(expr) | Self::NonZero(expr) => expr,
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.comparison, self.right)
    }
}
