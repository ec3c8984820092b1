//! Why a program could not be evaluated.

use std::fmt;

use artifact_core::limit::LimitExceeded;
use artifact_ir::diagnostic::SourceOffset;

use crate::tensor::TensorError;

/// What a caller can do about an [`EvalError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalErrorKind {
    /// The program asks for something that the evaluator does not do: another engine may.
    Unsupported,
    /// The values that came in do not fit the program: give others.
    InvalidInput,
    /// The program found an expectation of its own broken, a shape assertion for example.
    FailedCheck,
    /// The program has no result: a size that does not fit, a deadlock, a limit.
    Runtime,
    /// The run would take more operations than [`crate::Options::steps_max`]: allow more.
    Steps,
    /// The run would take more memory than [`crate::Options::bytes_max`]: allow more.
    Bytes,
    /// A [`crate::Observer`] ended the run, and knows why.
    Stopped,
}

/// An evaluation that stopped: what happened and at which operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError {
    kind: EvalErrorKind,
    message: String,
    source: SourceOffset,
}

impl EvalError {
    /// An error of a kind, at no place yet. `message` is a lowercase fragment.
    #[must_use]
    pub fn new(kind: EvalErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: SourceOffset::NONE,
        }
    }

    /// See [`EvalErrorKind::Unsupported`].
    #[must_use]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(EvalErrorKind::Unsupported, message)
    }

    /// See [`EvalErrorKind::InvalidInput`].
    #[must_use]
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(EvalErrorKind::InvalidInput, message)
    }

    /// See [`EvalErrorKind::FailedCheck`].
    #[must_use]
    pub fn failed_check(message: impl Into<String>) -> Self {
        Self::new(EvalErrorKind::FailedCheck, message)
    }

    /// See [`EvalErrorKind::Runtime`].
    #[must_use]
    pub fn runtime(message: impl Into<String>) -> Self {
        Self::new(EvalErrorKind::Runtime, message)
    }

    /// The error at a place of the file, unless it has one already: the innermost operation is the one that is named.
    #[must_use]
    pub fn at(self, source: SourceOffset) -> Self {
        if self.source == SourceOffset::NONE {
            Self { source, ..self }
        } else {
            self
        }
    }

    /// What a caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> EvalErrorKind {
        self.kind
    }

    /// The operation's place in the file that was read.
    #[must_use]
    pub const fn source_offset(&self) -> SourceOffset {
        self.source
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}

impl From<LimitExceeded> for EvalError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::runtime(exceeded.to_string())
    }
}

impl From<TensorError> for EvalError {
    fn from(error: TensorError) -> Self {
        Self::runtime(error.to_string())
    }
}
