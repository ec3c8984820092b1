//! Why a program cannot be refined.

use artifact_core::limit::LimitExceeded;
use artifact_ir::diagnostic::SourceOffset;

/// A program whose shapes do not fit: what, and at which operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefineError {
    problem: RefineProblem,
    source: SourceOffset,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefineProblem {
    /// The module has no function to start with.
    #[error("the module has no function `main`, and not exactly one other")]
    NoEntry,
    /// The types that were given do not fit the entry.
    #[error("{0}")]
    Argument(String),
    /// An operation breaks a rule once its operands are known better.
    #[error("'{name}' op {reason}")]
    Operation {
        /// Full name of the operation.
        name: String,
        /// The rule.
        reason: String,
    },
    /// An assertion of the program about its shapes does not hold: its own message, filled in.
    #[error("{0}")]
    Assertion(String),
    /// More than one of the limits allows.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl RefineError {
    /// An error at no place.
    pub(crate) const fn new(problem: RefineProblem) -> Self {
        Self {
            problem,
            source: SourceOffset::NONE,
        }
    }

    /// An error of an operation.
    pub(crate) fn operation(name: &str, reason: impl std::fmt::Display) -> Self {
        Self::new(RefineProblem::Operation {
            name: name.to_owned(),
            reason: reason.to_string(),
        })
    }

    /// The error at a place, unless it has one already: the innermost operation is the one that is named.
    pub(crate) fn at(self, source: SourceOffset) -> Self {
        if self.source == SourceOffset::NONE {
            Self { source, ..self }
        } else {
            self
        }
    }

    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> &RefineProblem {
        &self.problem
    }

    /// The operation's place in the file that was read.
    #[must_use]
    pub const fn source_offset(&self) -> SourceOffset {
        self.source
    }
}

impl std::fmt::Display for RefineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for RefineError {}

impl From<LimitExceeded> for RefineError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::new(exceeded.into())
    }
}
