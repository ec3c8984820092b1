//! What a policy says about the seals of a file.

use std::fmt;

use crate::identity::FileDigest;
use crate::seal::{Ed25519Seal, InvalidSeal};
use crate::trust::timestamp::Timestamp;

/// Every seal of a file with what it counts for, whether the policy is met or not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assessment {
    /// The file.
    pub file_digest: FileDigest,
    /// How many signers the policy asks for.
    pub signers_needed: u16,
    /// Why the policy revokes the file, where it does.
    pub revoked: Option<String>,
    /// The seals, in their order in the file.
    pub seals: Vec<AssessedSeal>,
}

impl Assessment {
    /// How many seals count.
    #[must_use]
    pub fn signers(&self) -> usize {
        let counts = |seal: &&AssessedSeal| seal.status == SealStatus::Trusted;
        self.seals.iter().filter(counts).count()
    }

    /// Whether the policy admits the file.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.revoked.is_none() && self.signers() >= usize::from(self.signers_needed)
    }
}

/// Why the policy is met or is not: one line.
impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.revoked {
            return write!(
                f,
                "the trust policy revokes the file {}: {reason}",
                self.file_digest
            );
        }
        write!(
            f,
            "the trust policy needs {} and finds {} among {}",
            plural(self.signers_needed.into(), "signer"),
            self.signers(),
            plural(self.seals.len(), "seal"),
        )?;
        let mut separator = ": ";
        for seal in &self.seals {
            write!(f, "{separator}{seal}")?;
            separator = "; ";
        }
        Ok(())
    }
}

fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// A file that a policy admits, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict(Assessment);

impl Verdict {
    pub(super) fn of(assessment: Assessment) -> Result<Self, Assessment> {
        if assessment.is_met() {
            Ok(Self(assessment))
        } else {
            Err(assessment)
        }
    }

    /// The seals, with what each counts for.
    #[must_use]
    pub const fn assessment(&self) -> &Assessment {
        &self.0
    }
}

/// A seal and what it counts for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssessedSeal {
    /// Whether it counts, and if not, why.
    pub status: SealStatus,
    /// What the policy calls its key, where it trusts that.
    pub name: Option<String>,
    /// The seal; `None` for one of an unknown algorithm.
    pub seal: Option<Ed25519Seal>,
}

impl fmt::Display for AssessedSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.seal {
            Some(seal) => write!(f, "key {}", seal.key_id())?,
            None => f.write_str("a seal")?,
        }
        if let Some(name) = &self.name {
            write!(f, " (`{name}`)")?;
        }
        write!(f, " {}", self.status)?;
        match (&self.status, &self.seal) {
            (SealStatus::OutOfScope, Some(seal)) => write!(f, " `{}`", seal.scope()),
            _ => Ok(()),
        }
    }
}

/// Whether a seal counts. `Display` goes on after the key's name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealStatus {
    /// It counts.
    Trusted,
    /// Its signature is valid; the policy does not know the key.
    Untrusted,
    /// It is no signature of this file.
    Invalid(InvalidSeal),
    /// The policy revokes the key, for this reason.
    Revoked(String),
    /// The policy believes the key only from then on.
    NotYetValid(Timestamp),
    /// The policy believed the key until then.
    Expired(Timestamp),
    /// The policy does not believe the key for the scope of the seal.
    OutOfScope,
    /// It is of an algorithm that this crate does not know.
    UnknownAlgorithm(u16),
}

impl SealStatus {
    /// One or two words for it, the same for ever.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Invalid(_) => "invalid",
            Self::Revoked(_) => "revoked",
            Self::NotYetValid(_) => "not yet valid",
            Self::Expired(_) => "expired",
            Self::OutOfScope => "out of scope",
            Self::UnknownAlgorithm(_) => "unknown algorithm",
        }
    }
}

impl fmt::Display for SealStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trusted => f.write_str("counts"),
            Self::Untrusted => f.write_str("is not trusted"),
            Self::Invalid(why) => write!(f, "is invalid ({})", InvalidReason(*why)),
            Self::Revoked(reason) => write!(f, "is revoked: {reason}"),
            Self::NotYetValid(from) => write!(f, "is not valid before {from}"),
            Self::Expired(until) => write!(f, "expired after {until}"),
            Self::OutOfScope => f.write_str("is not trusted for the scope"),
            Self::UnknownAlgorithm(number) => write!(f, "is of the unknown algorithm {number}"),
        }
    }
}

/// The reason with its cause, for a text that has no chain of its own.
struct InvalidReason(InvalidSeal);

impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            InvalidSeal::Key(why) => write!(f, "{why}"),
            InvalidSeal::Signature => write!(f, "{}", self.0),
        }
    }
}
