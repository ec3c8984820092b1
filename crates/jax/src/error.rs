//! The one public error, and how the causes inside this crate become it.

use std::error::Error as StdError;
use std::fmt;

use artifact_core::limit::LimitExceeded;
use artifact_dims::ParseError;
use artifact_flatbuffer::{Fault, Problem as FaultProblem, TooLarge};

use crate::exported::SerializationVersion;

/// What the caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is damaged or no JAX export, or the value to be written contradicts itself.
    FixInput,
    /// The file is too old: export again, or ask for the rest of it with
    /// [`ReadOptions::keep_hlo_shardings`](crate::ReadOptions::keep_hlo_shardings).
    Expired,
    /// The file is newer than this reader: take a newer one.
    Upgrade,
    /// The file asks for more than a named limit.
    Limit,
}

/// Why a JAX export cannot be read or written. `Display` says which of the two; [`StdError::source`] says why.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    context: &'static str,
    source: Box<Problem>,
}

impl Error {
    /// What the caller can do.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn reading(source: Problem) -> Self {
        let context = "cannot read the JAX export";
        Self {
            kind: source.kind(),
            context,
            source: source.into(),
        }
    }

    pub(crate) fn writing(source: Problem) -> Self {
        let context = "cannot write the JAX export";
        Self {
            context,
            ..Self::reading(source)
        }
    }

    pub(crate) fn checking(source: Problem) -> Self {
        let context = "the JAX export contradicts itself";
        Self {
            context,
            ..Self::reading(source)
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.context)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

/// What is wrong with a file or a value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("the file is damaged or no JAX export")]
    Damaged(#[from] Fault),
    #[error("the file uses what only newer releases of JAX know; take a newer version of this tool")]
    Unknown(#[source] Fault),
    #[error(
        "the file has serialization version {found}, and this tool reads up to {newest}; take a newer version of it, or \
         export with a release of JAX that writes {newest}"
    )]
    Newer {
        found: SerializationVersion,
        newest: SerializationVersion,
    },
    #[error(
        "the file claims serialization version 0, which no release of JAX writes: it is damaged or no JAX export"
    )]
    NoVersion,
    #[error(
        "the {place} are stored as HLO shardings, which releases of JAX from 2026 on do not write or read; export the \
         function again with a current release, or read the rest with the option to keep HLO shardings as bytes"
    )]
    HloShardings { place: &'static str },
    #[error(
        "{place} has an HLO sharding, which no current release of JAX reads; replace it by a named sharding, or by none"
    )]
    HloShardingWritten { place: String },
    #[error("{place} has a dimension that cannot be read")]
    Dimension { place: String, source: Box<ParseError> },
    #[error("{0}")]
    Inconsistent(String),
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl Problem {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Damaged(_)
            | Self::NoVersion
            | Self::Dimension { .. }
            | Self::Inconsistent(_)
            | Self::HloShardingWritten { .. } => ErrorKind::FixInput,
            Self::HloShardings { .. } => ErrorKind::Expired,
            Self::Newer { .. } | Self::Unknown(_) => ErrorKind::Upgrade,
            Self::Limit(_) | Self::TooLarge(_) => ErrorKind::Limit,
        }
    }

    pub(crate) fn inconsistent(what: impl Into<String>) -> Self {
        Self::Inconsistent(what.into())
    }
}

/// Sorts what is wrong with bytes by what can be done about it, and says what a budget stands for.
pub(crate) fn of_fault(fault: Fault) -> Problem {
    match fault.problem() {
        FaultProblem::Budget { budget } => {
            let limit = crate::limits::METADATA;
            match limit.check(budget + 1) {
                Err(exceeded) => Problem::Limit(exceeded),
                Ok(()) => Problem::Damaged(fault),
            }
        }
        FaultProblem::Unknown { .. } => Problem::Unknown(fault),
        _ => Problem::Damaged(fault),
    }
}
