//! What can be wrong with actual sizes.

use std::fmt;

use crate::constraint::Constraint;
use crate::expr::{Expr, ExprError};
use crate::scope::Range;
use crate::variable::Variable;

/// One check that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// A quotient is not whole.
    #[error(
        "division had remainder {remainder} when computing the value of '{variable}' from specification \
         '{specification}' for dimension {place} (= {actual})"
    )]
    Remainder {
        /// The variable sought.
        variable: Variable,
        /// What remains.
        remainder: Expr,
        /// The expression of the dimension.
        specification: Expr,
        /// The dimension.
        place: String,
        /// Its size.
        actual: Expr,
    },
    /// A root is not whole.
    #[error(
        "no whole number '{variable}' has '{variable}^{exponent}' = {power}, from specification '{specification}' for \
         dimension {place} (= {actual})"
    )]
    Root {
        /// The variable sought.
        variable: Variable,
        /// The exponent.
        exponent: u32,
        /// What the power must be.
        power: i64,
        /// The expression of the dimension.
        specification: Expr,
        /// The dimension.
        place: String,
        /// Its size.
        actual: Expr,
    },
    /// A value is smaller than its variable may be.
    #[error("expected value >= {} for dimension variable '{variable}', found {value}", range.min)]
    TooSmall {
        /// The variable.
        variable: Variable,
        /// Its value.
        value: Expr,
        /// Its range.
        range: Range,
    },
    /// A value is larger than its variable may be.
    #[error("expected value <= {max} for dimension variable '{variable}', found {value}")]
    TooLarge {
        /// The variable.
        variable: Variable,
        /// Its value.
        value: Expr,
        /// The largest value.
        max: i64,
    },
    /// A value is not a multiple of what its variable is declared to be.
    #[error("expected a multiple of {} for dimension variable '{variable}', found {value}", range.multiple_of)]
    NotMultiple {
        /// The variable.
        variable: Variable,
        /// Its value.
        value: Expr,
        /// Its range.
        range: Range,
    },
    /// A size is not what its specification gives.
    #[error(
        "found inconsistency between dimension size {place} (= {actual}) and the specification '{specification}' \
         (= {value})"
    )]
    Inconsistent {
        /// The dimension.
        place: String,
        /// Its size.
        actual: Expr,
        /// The expression of the dimension.
        specification: Expr,
        /// Its value.
        value: Expr,
    },
    /// A size differs from the number in the program.
    #[error(
        "shape mismatch for {place} (expected same constant): expected {expected} and called with {actual}"
    )]
    Constant {
        /// The dimension.
        place: String,
        /// The number in the program.
        expected: i64,
        /// The size.
        actual: Expr,
    },
    /// A constraint of the program does not hold.
    #[error(
        "the sizes do not match the symbolic shape constraint {constraint}: {left} {} {right} does not hold",
        constraint.comparison
    )]
    Constraint {
        /// The constraint.
        constraint: Constraint,
        /// The value of its left side.
        left: Expr,
        /// The value of its right side.
        right: Expr,
    },
    /// Nothing determines a variable.
    #[error(
        "cannot solve for the value of dimension variable '{variable}': give its value, or an argument with a dimension \
         from which it follows"
    )]
    Unsolved {
        /// The variable.
        variable: Variable,
    },
    /// A value is given for a name that the program does not use.
    #[error("a value is given for '{variable}', {}", instead_of(known))]
    Unused {
        /// The name.
        variable: Variable,
        /// The names that the program uses.
        known: Vec<Variable>,
    },
    /// An expression has no value for the sizes.
    #[error("'{expr}' has no value for these sizes: {reason}")]
    Undefined {
        /// The expression.
        expr: Expr,
        /// Why.
        reason: ExprError,
    },
    /// A size is over the bound of a type. Found by the caller, reported together.
    #[error("dimension {place} (= {actual}) is over the bound of {bound} that the program gives it")]
    OverBound {
        /// The dimension.
        place: String,
        /// Its size.
        actual: u64,
        /// The largest size.
        bound: u64,
    },
    /// An argument has another number of dimensions. Found by the caller, reported together.
    #[error("rank mismatch for {place}: expected {expected} and called with {actual}")]
    Rank {
        /// The argument.
        place: String,
        /// The shape in the program.
        expected: String,
        /// The shape of the argument.
        actual: String,
    },
    /// An argument has another element type. Found by the caller, reported together.
    #[error("dtype mismatch for {place}: expected {expected} and called with {actual}")]
    Dtype {
        /// The argument.
        place: String,
        /// The element type in the program.
        expected: String,
        /// The element type of the argument.
        actual: String,
    },
}

/// Where the value of a variable comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was given.
    Given,
    /// It follows from one dimension, with what was known before.
    Specification {
        /// The expression of the dimension.
        specification: Expr,
        /// The dimension.
        place: String,
        /// Its size.
        actual: Expr,
    },
    /// It follows from several dimensions or constraints together.
    Together {
        /// The dimensions.
        places: Vec<String>,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("as given"),
            Self::Specification {
                specification,
                place,
                actual,
            } => {
                write!(
                    f,
                    "from specification '{specification}' for dimension {place} (= {actual})"
                )
            }
            Self::Together { places } if places.is_empty() => f.write_str("from the constraints"),
            Self::Together { places } => write!(f, "from dimensions {} together", places.join(", ")),
        }
    }
}

/// What a program has where a name is none of its variables.
fn instead_of(known: &[Variable]) -> String {
    if known.is_empty() {
        return "and the program has no dimension variable".to_owned();
    }
    let names: Vec<&str> = known.iter().map(Variable::name).collect();
    format!(
        "which is no dimension variable of the program: its variables are {}",
        names.join(", ")
    )
}

/// All checks that failed, with what was known. The caller may add what it found itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatches {
    /// What failed, in the order of the checks.
    pub failures: Vec<Mismatch>,
    /// The dimensions with their specifications.
    pub specifications: Vec<(String, Expr)>,
    /// The values that were found, with their origin, in the order in which they were found.
    pub obtained: Vec<(Variable, Expr, Origin)>,
}

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("input shapes do not match the shapes of the program: ")?;
        for (position, failure) in self.failures.iter().enumerate() {
            let separator = if position == 0 { "" } else { "; " };
            write!(f, "{separator}{failure}")?;
        }
        for (position, (place, specification)) in self.specifications.iter().enumerate() {
            let separator = if position == 0 {
                ". The specifications are: "
            } else {
                ", "
            };
            write!(f, "{separator}{place} = {specification}")?;
        }
        for (position, (variable, value, origin)) in self.obtained.iter().enumerate() {
            let separator = if position == 0 {
                ". Obtained dimension variables: "
            } else {
                ", "
            };
            write!(f, "{separator}'{variable}' = {value} {origin}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mismatches {}
