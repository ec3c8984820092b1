//! Three-valued answers to comparisons.

use std::fmt;

use artifact_core::limit::Limit;

use crate::assignment::Assignment;
use crate::constraint::{Comparison, Constraint};
use crate::expr::Expr;
use crate::limits;
use crate::question::Question;
use crate::scope::Scope;
use crate::search::{Found, search};

/// The answer to a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It holds for every assignment that satisfies the scope and on which both sides are defined.
    Yes,
    /// It holds for none of them.
    No,
    /// Neither is proven.
    Unknown(Unknown),
}

/// Why a comparison has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// There is no answer: it depends on the sizes, as two assignments show that satisfy the scope.
    Depends {
        /// Sizes for which the comparison holds.
        holds: Assignment,
        /// Sizes for which it does not.
        fails: Assignment,
    },
    /// Only one side was shown. With this constraint added to the scope the answer would be settled.
    Settles {
        /// The constraint.
        constraint: Constraint,
        /// Sizes that satisfy the scope and the constraint.
        example: Assignment,
    },
    /// The budget ended before anything was shown.
    NotFound {
        /// The budget.
        budget: Limit,
    },
}

impl Decision {
    /// Whether the answer is Yes.
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Whether the answer is No.
    #[must_use]
    pub const fn is_no(&self) -> bool {
        matches!(self, Self::No)
    }
}

impl Scope {
    /// Whether two sizes are equal. This, and not `==` on [`Expr`], is equality.
    #[must_use]
    pub fn eq(&self, left: &Expr, right: &Expr) -> Decision {
        self.compare(left, Comparison::Eq, right)
    }

    /// Whether two sizes differ.
    #[must_use]
    pub fn ne(&self, left: &Expr, right: &Expr) -> Decision {
        self.compare(left, Comparison::Ne, right)
    }

    /// Whether the left size is smaller.
    #[must_use]
    pub fn lt(&self, left: &Expr, right: &Expr) -> Decision {
        self.compare(left, Comparison::Lt, right)
    }

    /// Whether the left size is smaller or equal.
    #[must_use]
    pub fn le(&self, left: &Expr, right: &Expr) -> Decision {
        self.compare(left, Comparison::Le, right)
    }

    /// Whether the left size is larger.
    #[must_use]
    pub fn gt(&self, left: &Expr, right: &Expr) -> Decision {
        self.compare(left, Comparison::Gt, right)
    }

    /// Whether the left size is larger or equal.
    #[must_use]
    pub fn ge(&self, left: &Expr, right: &Expr) -> Decision {
        self.compare(left, Comparison::Ge, right)
    }

    fn compare(&self, left: &Expr, comparison: Comparison, right: &Expr) -> Decision {
        self.decide(&Constraint::new(left.clone(), comparison, right.clone()))
    }

    /// Whether a comparison holds in this scope.
    #[must_use]
    pub fn decide(&self, comparison: &Constraint) -> Decision {
        if let Ok(Some(difference)) = comparison
            .left
            .sub(&comparison.right)
            .map(|expr| expr.as_constant())
        {
            let holds = comparison.comparison.holds(i128::from(difference), 0);
            return if holds { Decision::Yes } else { Decision::No };
        }
        let negated = comparison.negated();
        let fails = match self.find(&negated) {
            Found::Nothing => return Decision::Yes,
            Found::Assignment(values) => Some(values),
            Found::Exhausted => None,
        };
        let holds = match self.find(comparison) {
            Found::Nothing => return Decision::No,
            Found::Assignment(values) => Some(values),
            Found::Exhausted => None,
        };
        Decision::Unknown(match (holds, fails) {
            (Some(holds), Some(fails)) => Unknown::Depends { holds, fails },
            (Some(example), None) => Unknown::Settles {
                constraint: comparison.clone(),
                example,
            },
            (None, Some(example)) => Unknown::Settles {
                constraint: negated,
                example,
            },
            (None, None) => Unknown::NotFound {
                budget: limits::SEARCH_CASES,
            },
        })
    }

    fn find(&self, constraint: &Constraint) -> Found {
        search(&Question::new(self, std::slice::from_ref(constraint), None))
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => f.write_str("yes"),
            Self::No => f.write_str("no"),
            Self::Unknown(unknown) => write!(f, "unknown: {unknown}"),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depends { holds, fails } => write!(f, "it holds for {holds} and fails for {fails}"),
            Self::Settles { constraint, example } => {
                write!(
                    f,
                    "adding the constraint {constraint} would settle it, as for {example}"
                )
            }
            Self::NotFound { budget } => {
                write!(
                    f,
                    "neither a proof nor an example was found within {} cases",
                    budget.max()
                )
            }
        }
    }
}
