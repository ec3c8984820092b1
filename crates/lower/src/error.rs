//! Why a program cannot be lowered.

use std::fmt;

use artifact_dims::ExprError;
use artifact_ir::diagnostic::SourceOffset;

/// A program without a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerError {
    problem: Problem,
    source: SourceOffset,
}

/// What kind of reason.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// A size that is known only when the program runs: it must be specialised to numbers first, or evaluated as a whole.
    OpenSize(String),
    /// A size that no expression holds.
    Size(ExprError),
    /// Something that plans do not hold.
    Unsupported(String),
}

impl LowerError {
    pub(crate) fn open_size(what: impl Into<String>, source: SourceOffset) -> Self {
        Self {
            problem: Problem::OpenSize(what.into()),
            source,
        }
    }

    pub(crate) fn unsupported(what: impl Into<String>, source: SourceOffset) -> Self {
        Self {
            problem: Problem::Unsupported(what.into()),
            source,
        }
    }

    /// Whether a size is known only when the program runs.
    #[must_use]
    pub const fn is_open_size(&self) -> bool {
        matches!(self.problem, Problem::OpenSize(_))
    }

    /// The operation in the program.
    #[must_use]
    pub const fn source_offset(&self) -> SourceOffset {
        self.source
    }

    pub(crate) fn at(mut self, source: SourceOffset) -> Self {
        if self.source == SourceOffset::NONE {
            self.source = source;
        }
        self
    }
}

impl From<ExprError> for LowerError {
    fn from(error: ExprError) -> Self {
        Self {
            problem: Problem::Size(error),
            source: SourceOffset::NONE,
        }
    }
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::OpenSize(what) => {
                write!(f, "{what} has a size that is known only when the program runs")
            }
            Problem::Size(_) => f.write_str("a size of the program is too large to be computed"),
            Problem::Unsupported(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for LowerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Size(error) => Some(error),
            Problem::OpenSize(_) | Problem::Unsupported(_) => None,
        }
    }
}
