//! Why an engine did not do what it was asked for.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use artifact_core::limit::LimitExceeded;
use artifact_ir::diagnostic::SourceOffset;

/// What a caller can do about an [`EngineError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Arguments, options or the program do not fit: give others.
    InvalidInput,
    /// The program found an assertion of its own broken: give other arguments.
    FailedCheck,
    /// The program has no result for these arguments: an index out of bounds, a deadlock of its processes.
    NoResult,
    /// It would take more memory than it may: allow more.
    MemoryLimit,
    /// It took longer than it may: allow more.
    TimeLimit,
    /// It took more steps than it may: allow more.
    StepLimit,
    /// Somebody asked it to stop.
    Cancelled,
    /// This engine does not do what the program or an option asks for: another may.
    Unsupported,
    /// The compiled module is not one that this engine loads, or is damaged: compile again.
    Incompatible,
    /// The engine, its target or its device is not there: take another.
    Unavailable,
    /// A defect of the engine: report it.
    Internal,
}

/// What happened, and at which operation. `Display` is a lowercase fragment without the source.
#[derive(Clone, Debug)]
pub struct EngineError {
    kind: ErrorKind,
    message: String,
    place: SourceOffset,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl EngineError {
    /// An error at no place. `message` is a lowercase fragment.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            place: SourceOffset::NONE,
            source: None,
        }
    }

    /// See [`ErrorKind::InvalidInput`].
    #[must_use]
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// See [`ErrorKind::Unsupported`].
    #[must_use]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// See [`ErrorKind::Incompatible`].
    #[must_use]
    pub fn incompatible(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Incompatible, message)
    }

    /// See [`ErrorKind::Internal`].
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// The error with the one that it comes from.
    #[must_use]
    pub fn because(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The error at a place, unless it has one already: the innermost operation is the one that is named.
    #[must_use]
    pub fn at(mut self, place: SourceOffset) -> Self {
        if self.place == SourceOffset::NONE {
            self.place = place;
        }
        self
    }

    /// What a caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The operation's place in the file that the program was read from.
    #[must_use]
    pub const fn source_offset(&self) -> SourceOffset {
        self.place
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

impl From<LimitExceeded> for EngineError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::invalid_input(exceeded.to_string())
    }
}
