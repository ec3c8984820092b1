//! What a plugin says is wrong, and what is wrong with a plugin.

use std::fmt;
use std::path::PathBuf;

use artifact_engine::{EngineError, ErrorKind};

/// An error that a function of a plugin returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PjrtError {
    /// The function.
    pub function: &'static str,
    /// Its code, as those of gRPC: 3 is an invalid argument, 12 something unimplemented.
    pub code: i32,
    /// Its words.
    pub message: String,
}

impl fmt::Display for PjrtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            function,
            code,
            message,
        } = self;
        write!(
            f,
            "{function} failed ({}): {}",
            code_name(*code),
            message.trim_end()
        )
    }
}

impl std::error::Error for PjrtError {}

/// Invalid argument.
pub(crate) const INVALID_ARGUMENT: i32 = 3;
/// Not found.
pub(crate) const NOT_FOUND: i32 = 5;
/// Out of memory, most of all.
pub(crate) const RESOURCE_EXHAUSTED: i32 = 8;
/// Something that the plugin does not do.
pub(crate) const UNIMPLEMENTED: i32 = 12;
/// A defect, or what this side makes of a call that gave nothing.
pub(crate) const INTERNAL: i32 = 13;

/// Something that is needed is not there.
pub(crate) const UNAVAILABLE: i32 = 14;

/// The names of the codes (`absl::StatusCode`).
const fn code_name(code: i32) -> &'static str {
    match code {
        1 => "cancelled",
        INVALID_ARGUMENT => "invalid argument",
        4 => "deadline exceeded",
        NOT_FOUND => "not found",
        6 => "already exists",
        7 => "permission denied",
        RESOURCE_EXHAUSTED => "resource exhausted",
        9 => "failed precondition",
        10 => "aborted",
        11 => "out of range",
        UNIMPLEMENTED => "unimplemented",
        INTERNAL => "internal",
        UNAVAILABLE => "unavailable",
        15 => "data loss",
        16 => "unauthenticated",
        _ => "unknown",
    }
}

impl From<PjrtError> for EngineError {
    fn from(error: PjrtError) -> Self {
        let kind = match error.code {
            INVALID_ARGUMENT => ErrorKind::InvalidInput,
            RESOURCE_EXHAUSTED => ErrorKind::MemoryLimit,
            UNIMPLEMENTED => ErrorKind::Unsupported,
            _ => ErrorKind::Internal,
        };
        Self::new(kind, "the plugin refused").because(error)
    }
}

/// Why a file is no plugin that can be used here. `Display` is a lowercase fragment that names the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, as a lowercase fragment.
    pub reason: String,
}

impl PluginError {
    pub(crate) fn new(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cannot be used as a PJRT plugin: {}",
            self.path.display(),
            self.reason
        )
    }
}

impl std::error::Error for PluginError {}

impl From<PluginError> for EngineError {
    fn from(error: PluginError) -> Self {
        Self::new(ErrorKind::Unavailable, "the plugin is not available").because(error)
    }
}
