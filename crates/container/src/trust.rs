//! Trust policies: whose seals count, for what, when, and how many are needed.
//!
//! A policy is read from a trust file ([`TrustPolicy::parse`], whose documentation describes it) and applied to an open file.
//! What is evaluated is what was opened: the digest of the header and the table in memory, and the seals that were read with
//! them through the same descriptor. Every other byte is checked against that table when it is read.
//!
//! Invariants:
//! * A seal counts only if each check says yes: the signature is valid, the key is trusted and not revoked, the time is within
//!   its dates, its scope is one that the policy believes this key for. What is not understood does not count.
//! * The time is given. Nothing here reads a clock.
//! * A file that is revoked is refused whoever has sealed it.

mod assessment;
mod pattern;
mod timestamp;
mod trust_file;

use std::collections::BTreeMap;
use std::path::Path;

use artifact_core::digest::Digest;

use crate::container::{Container, ReadOptions};
use crate::error::{Classify, Error, ErrorKind, Fault};
use crate::identity::FileDigest;
use crate::seal::{Ed25519Seal, PublicKey, Seal, SealBlock, SealBlockError, Seals};
use crate::source::Source;

pub use assessment::{AssessedSeal, Assessment, SealStatus, Verdict};
pub use pattern::{PatternError, ScopePattern};
pub use timestamp::{Timestamp, TimestampError};
pub use trust_file::TrustFileError;

/// Whose seals count. It holds at least as many keys as it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustPolicy {
    signers: u16,
    keys: Vec<TrustedKey>,
    /// Why each is revoked.
    revoked_keys: BTreeMap<[u8; PublicKey::BYTES], String>,
    revoked_files: BTreeMap<FileDigest, String>,
}

/// A key that a policy believes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TrustedKey {
    name: String,
    key: PublicKey,
    scopes: Vec<ScopePattern>,
    not_before: Option<Timestamp>,
    not_after: Option<Timestamp>,
}

impl TrustPolicy {
    /// Reads a trust file: TOML of this form, in which every key that is not optional must be there, and no other may.
    ///
    /// ```toml
    /// version = 1
    /// signers = 1                         # how many of the keys must have sealed a file, 1 to 64
    ///
    /// [[keys]]
    /// name = "release"                    # for messages; unique
    /// public_key = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    /// scopes = ["production/*"]           # what the key is believed for; ["*"] for anything
    /// not_before = 2026-01-01T00:00:00Z   # optional; RFC 3339, with an offset
    /// not_after = 2027-12-31T23:59:59Z    # optional; the last second at which it counts
    ///
    /// [[revoked_keys]]                    # optional; counts for nothing, trusted or not
    /// public_key = "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    /// reason = "the machine was lost"
    ///
    /// [[revoked_files]]                   # optional; refused whoever has sealed it
    /// file_digest = "3aa8b3eb06f2feef93be625ab75e12a9112c8472cfbe5a34ed157605a9e49fda"
    /// reason = "wrong weights"
    /// ```
    ///
    /// ```
    /// let policy = artifact_container::trust::TrustPolicy::parse(
    ///     r#"
    ///     version = 1
    ///     signers = 1
    ///     [[keys]]
    ///     name = "release"
    ///     public_key = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    ///     scopes = ["production/*"]
    ///     not_after = 2027-12-31T23:59:59Z
    ///     "#,
    /// );
    /// assert!(policy.is_ok());
    /// ```
    ///
    /// # Errors
    /// When the text is not of this form, names something twice, has a bad key, dates in the wrong order, or asks for more
    /// signers than it has keys that are not revoked.
    pub fn parse(text: &str) -> Result<Self, TrustFileError> {
        trust_file::parse(text)
    }

    /// The policy that trusts nobody and is never met; it tells which seals are valid.
    #[must_use]
    pub const fn nobody() -> Self {
        Self {
            signers: 1,
            keys: Vec::new(),
            revoked_keys: BTreeMap::new(),
            revoked_files: BTreeMap::new(),
        }
    }

    /// Judges every seal of a file at the time `now`.
    ///
    /// # Errors
    /// When the seal block is damaged, or of a later version.
    pub fn assess(&self, container: &Container, now: Timestamp) -> Result<Assessment, Error> {
        Ok(self.assess_seals(container.file_digest(), &container.seals()?, now))
    }

    /// Whether a file may be used at the time `now`. Its manifest is decoded by then, and its constants are mapped:
    /// [`Container::open_trusted`] asks first, and copies.
    ///
    /// # Errors
    /// When it may not, with what was found.
    pub fn evaluate(&self, container: &Container, now: Timestamp) -> Result<Verdict, TrustError> {
        self.admit(container.file_digest(), container.seal_block(), now)
    }

    fn admit(&self, file: FileDigest, block: &SealBlock, now: Timestamp) -> Result<Verdict, TrustError> {
        let seals = block.parse().map_err(TrustError::seals)?;
        Verdict::of(self.assess_seals(file, &seals, now))
            .map_err(|refused| TrustError::Refused(Box::new(refused)))
    }

    /// As [`TrustPolicy::evaluate`], of seals without a file, for [`crate::fuzzing`].
    pub(crate) fn judge(&self, block: &SealBlock, now: Timestamp) -> Result<Verdict, TrustError> {
        self.admit(FileDigest::new(Digest::of(b"")), block, now)
    }

    fn assess_seals(&self, file: FileDigest, seals: &Seals, now: Timestamp) -> Assessment {
        Assessment {
            file_digest: file,
            signers_needed: self.signers,
            revoked: self.revoked_files.get(&file).cloned(),
            seals: seals
                .iter()
                .map(|seal| self.assess_seal(file, seal, now))
                .collect(),
        }
    }

    fn assess_seal(&self, file: FileDigest, seal: &Seal, now: Timestamp) -> AssessedSeal {
        match seal {
            Seal::Ed25519(seal) => {
                let trusted = self
                    .keys
                    .iter()
                    .find(|key| key.key.as_bytes() == seal.key_bytes());
                AssessedSeal {
                    status: self.status(file, seal, trusted, now),
                    name: trusted.map(|key| key.name.clone()),
                    seal: Some(seal.clone()),
                }
            }
            Seal::Unknown { algorithm, .. } => AssessedSeal {
                status: SealStatus::UnknownAlgorithm(*algorithm),
                name: None,
                seal: None,
            },
        }
    }

    fn status(
        &self,
        file: FileDigest,
        seal: &Ed25519Seal,
        trusted: Option<&TrustedKey>,
        now: Timestamp,
    ) -> SealStatus {
        if let Err(invalid) = seal.verify(file) {
            return SealStatus::Invalid(invalid);
        }
        if let Some(reason) = self.revoked_keys.get(seal.key_bytes()) {
            return SealStatus::Revoked(reason.clone());
        }
        let Some(key) = trusted else {
            return SealStatus::Untrusted;
        };
        if let Some(from) = key.not_before.filter(|from| now < *from) {
            return SealStatus::NotYetValid(from);
        }
        if let Some(until) = key.not_after.filter(|until| *until < now) {
            return SealStatus::Expired(until);
        }
        if key.scopes.iter().any(|pattern| pattern.matches(seal.scope())) {
            SealStatus::Trusted
        } else {
            SealStatus::OutOfScope
        }
    }
}

impl Container {
    /// As [`Container::open_with`], of a file that `policy` admits at the time `now`. One that it does not admit is refused
    /// before its manifest or anything else of its sections is read.
    ///
    /// The sections come from the descriptor that was opened, and constants are copied from it into memory, as much as the
    /// file is long, where an untrusted one is mapped: nobody can change them after they were verified.
    ///
    /// # Errors
    /// [`ErrorKind::Untrusted`], with a [`TrustError`] as its source, when the policy does not admit the file; otherwise as
    /// [`Container::open_with`].
    pub fn open_trusted(
        path: &Path,
        options: &ReadOptions,
        policy: &TrustPolicy,
        now: Timestamp,
    ) -> Result<(Self, Verdict), Error> {
        let source = Source::open(path)
            .and_then(Source::copied)
            .map_err(|fault| fault.read(Some(path)))?;
        Self::read(source, options, |file, block| -> Result<Verdict, Fault> {
            Ok(policy.admit(file, block, now)?)
        })
    }
}

/// Why a trust policy does not admit a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// Its seal block is damaged or of a later version.
    #[error("its seals cannot be read, so that nobody vouches for it")]
    Seals(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Its seals do not satisfy the policy, or it is revoked.
    #[error("{0}")]
    Refused(Box<Assessment>),
}

impl TrustError {
    fn seals(error: SealBlockError) -> Self {
        Self::Seals(Box::new(error))
    }
}

impl Classify for TrustError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Untrusted
    }
}

#[cfg(test)]
mod tests;
