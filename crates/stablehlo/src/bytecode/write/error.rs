//! What bytecode cannot say.

use std::fmt;

use crate::vhlo::Version;

/// What the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteErrorKind {
    /// The program needs a later version than the one asked for. Ask for that one.
    NeedsVersion {
        /// The first version that has what the program needs.
        needed: Version,
    },
    /// There is no such version, or it is not written here.
    UnknownVersion,
    /// No version has a form for something in the program.
    NoForm,
}

/// A module that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteError {
    kind: WriteErrorKind,
    message: String,
}

impl WriteError {
    pub(super) fn needs(what: &str, needed: Version, asked: Version) -> Self {
        Self {
            kind: WriteErrorKind::NeedsVersion { needed },
            message: format!("{what} needs StableHLO {needed} or later, and version {asked} was asked for"),
        }
    }

    pub(super) fn version(asked: Version) -> Self {
        Self {
            kind: WriteErrorKind::UnknownVersion,
            message: format!(
                "StableHLO {asked} cannot be written: versions {} to {} can",
                Version::MINIMUM,
                Version::CURRENT
            ),
        }
    }

    pub(super) fn no_form(what: impl fmt::Display) -> Self {
        Self {
            kind: WriteErrorKind::NoForm,
            message: format!("{what} has no form in portable bytecode"),
        }
    }

    /// What the caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> WriteErrorKind {
        self.kind
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WriteError {}
