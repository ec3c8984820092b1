//! What is wrong with a file of bytecode.

use std::fmt;

use artifact_core::limit::LimitExceeded;

use crate::vhlo::Version;

/// What the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The bytes are damaged, or were never bytecode. Get the file again.
    Malformed,
    /// The file is of a version that is not read here: the version is told.
    Unsupported,
    /// The file is well-formed but holds what no StableHLO program has. Export it as a portable artifact.
    Foreign,
    /// The file is over a limit.
    Limit,
}

/// A file of bytecode that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    kind: ReadErrorKind,
    message: String,
    offset: Option<usize>,
}

impl ReadError {
    pub(super) fn malformed(offset: usize, message: impl Into<String>) -> Self {
        Self {
            kind: ReadErrorKind::Malformed,
            message: message.into(),
            offset: Some(offset),
        }
    }

    pub(super) fn foreign(offset: usize, message: impl Into<String>) -> Self {
        Self {
            kind: ReadErrorKind::Foreign,
            message: message.into(),
            offset: Some(offset),
        }
    }

    pub(super) fn limit(offset: usize, error: LimitExceeded) -> Self {
        Self {
            kind: ReadErrorKind::Limit,
            message: error.to_string(),
            offset: Some(offset),
        }
    }

    pub(super) fn over_memory(offset: usize, message: &str) -> Self {
        Self {
            kind: ReadErrorKind::Limit,
            message: message.to_owned(),
            offset: Some(offset),
        }
    }

    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self {
            kind: ReadErrorKind::Unsupported,
            message: message.into(),
            offset: None,
        }
    }

    /// A program that is newer than this reader.
    pub(super) fn too_new(version: Version, what: &str) -> Self {
        Self::unsupported(format!(
            "{what} of StableHLO {version}, and this reader reads {} to {}; use a newer release, or write the program for \
             version {} or older",
            Version::MINIMUM,
            Version::CURRENT,
            Version::CURRENT
        ))
    }

    /// What the caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> ReadErrorKind {
        self.kind
    }

    /// Where in the file, in bytes from its start.
    #[must_use]
    pub const fn offset(&self) -> Option<usize> {
        self.offset
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "at byte {offset}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ReadError {}
