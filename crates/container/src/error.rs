//! The one public error, and how the causes inside this crate become it.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;

use artifact_core::limit::LimitExceeded;

use crate::compat::Incompatible;

/// What the caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is wrong: the file is damaged, truncated, lying or no artifact at all, or what was given to the writer
    /// breaks a rule of the format. Get a good copy, export again, or correct the call.
    FixInput,
    /// The file is sound but needs another reader: [`Error::incompatibility`] says which.
    Upgrade,
    /// The file asks for more than a named limit.
    Limit,
    /// The operating system refused a read or a write.
    Io,
    /// The file is sound, and not sealed by those whom the trust policy asks for.
    Untrusted,
}

/// Why an artifact cannot be read or written. `Display` says which artifact; [`StdError::source`] says why.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    context: String,
    source: Box<dyn StdError + Send + Sync>,
}

impl Error {
    /// What the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What does not fit between the file and the reader, where that is what is wrong.
    #[must_use]
    pub fn incompatibility(&self) -> Option<&Incompatible> {
        self.source.downcast_ref()
    }

    pub(crate) fn new(context: impl Into<String>, fault: Fault) -> Self {
        Self {
            kind: fault.kind,
            context: context.into(),
            source: fault.source,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.context)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

/// A cause that knows its kind but not yet which artifact it is about.
#[derive(Debug)]
pub(crate) struct Fault {
    kind: ErrorKind,
    source: Box<dyn StdError + Send + Sync>,
}

impl Fault {
    pub(crate) fn read(self, path: Option<&Path>) -> Error {
        let context = path.map_or_else(
            || "cannot read the artifact".to_owned(),
            |path| format!("cannot read the artifact `{}`", path.display()),
        );
        Error::new(context, self)
    }

    pub(crate) fn write(self, path: Option<&Path>) -> Error {
        let context = path.map_or_else(
            || "cannot write the artifact".to_owned(),
            |path| format!("cannot write the artifact `{}`", path.display()),
        );
        Error::new(context, self)
    }
}

/// Implemented by the error enum of each module.
pub(crate) trait Classify: StdError + Send + Sync + 'static {
    fn kind(&self) -> ErrorKind;
}

impl<E: Classify> From<E> for Fault {
    fn from(error: E) -> Self {
        Self {
            kind: error.kind(),
            source: Box::new(error),
        }
    }
}

impl Classify for io::Error {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Io
    }
}

impl Classify for LimitExceeded {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Limit
    }
}
