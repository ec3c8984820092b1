//! The text of a trust policy.

use std::collections::BTreeMap;

use artifact_core::digest::Digest;
use artifact_core::limit::LimitExceeded;
use serde::Deserialize;
use toml::value::Datetime;

use crate::identity::FileDigest;
use crate::limits;
use crate::seal::{KeyError, PublicKey};
use crate::trust::pattern::{PatternError, ScopePattern};
use crate::trust::timestamp::{Timestamp, TimestampError};
use crate::trust::{TrustPolicy, TrustedKey};

/// The version of the text that this crate reads.
const VERSION: u16 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Checked before, as [`Versioned`].
    #[serde(rename = "version")]
    _version: u16,
    signers: u16,
    #[serde(default)]
    keys: Vec<Key>,
    #[serde(default)]
    revoked_keys: Vec<RevokedKey>,
    #[serde(default)]
    revoked_files: Vec<RevokedFile>,
}

/// The one key that every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    name: String,
    public_key: String,
    scopes: Vec<String>,
    not_before: Option<Datetime>,
    not_after: Option<Datetime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RevokedKey {
    public_key: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RevokedFile {
    file_digest: String,
    reason: String,
}

pub(super) fn parse(text: &str) -> Result<TrustPolicy, TrustFileError> {
    limits::TRUST_FILE_BYTES.check(text.len() as u64)?;
    // First, so that a file of a later version is called that and not malformed.
    let Versioned { version } = toml::from_str(text)?;
    if version != VERSION {
        return Err(TrustFileError::Version(version));
    }
    let File {
        _version,
        signers,
        keys,
        revoked_keys,
        revoked_files,
    } = toml::from_str(text)?;
    for count in [keys.len(), revoked_keys.len(), revoked_files.len()] {
        limits::TRUST_ENTRIES.check(count as u64)?;
    }
    let policy = TrustPolicy {
        signers,
        keys: keys.into_iter().map(trusted_key).collect::<Result<_, _>>()?,
        revoked_keys: revoked(revoked_keys, |entry| {
            let key = public_key("a revoked key", &entry.public_key)?;
            Ok((*key.as_bytes(), entry.public_key, entry.reason))
        })?,
        revoked_files: revoked(revoked_files, |entry| {
            let digest: Digest = entry
                .file_digest
                .parse()
                .map_err(|_| TrustFileError::FileDigest(entry.file_digest.clone()))?;
            Ok((FileDigest::new(digest), entry.file_digest, entry.reason))
        })?,
    };
    check(&policy)?;
    Ok(policy)
}

/// The entries by what they revoke, each with its reason.
fn revoked<T, K: Ord>(
    entries: Vec<T>,
    read: impl Fn(T) -> Result<(K, String, String), TrustFileError>,
) -> Result<BTreeMap<K, String>, TrustFileError> {
    let mut revoked = BTreeMap::new();
    for entry in entries {
        let (key, text, reason) = read(entry)?;
        label("the reason of a revocation", &reason)?;
        if revoked.insert(key, reason).is_some() {
            return Err(TrustFileError::Twice(text));
        }
    }
    Ok(revoked)
}

fn trusted_key(entry: Key) -> Result<TrustedKey, TrustFileError> {
    let Key {
        name,
        public_key: key,
        scopes,
        not_before,
        not_after,
    } = entry;
    label("the name of a key", &name)?;
    let time = |value: Option<Datetime>| -> Result<Option<Timestamp>, TrustFileError> {
        let value = value.as_ref().map(Timestamp::of_toml).transpose();
        value.map_err(|source| TrustFileError::Time {
            name: name.clone(),
            source,
        })
    };
    let (not_before, not_after) = (time(not_before)?, time(not_after)?);
    if not_before
        .zip(not_after)
        .is_some_and(|(from, until)| until < from)
    {
        return Err(TrustFileError::Order(name));
    }
    if scopes.is_empty() {
        return Err(TrustFileError::NoScope(name));
    }
    limits::TRUST_ENTRIES.check(scopes.len() as u64)?;
    let pattern = |text: &String| {
        ScopePattern::parse(text).map_err(|source| TrustFileError::Scope {
            text: text.clone(),
            source,
        })
    };
    Ok(TrustedKey {
        key: public_key(&format!("the key `{name}`"), &key)?,
        scopes: scopes.iter().map(pattern).collect::<Result<_, _>>()?,
        name,
        not_before,
        not_after,
    })
}

fn public_key(which: &str, text: &str) -> Result<PublicKey, TrustFileError> {
    text.parse().map_err(|source| TrustFileError::Key {
        which: which.to_owned(),
        source,
    })
}

/// A text that messages quote: there, on one line, and of a bearable length.
fn label(what: &'static str, text: &str) -> Result<(), TrustFileError> {
    const BYTES_MAX: usize = 255;
    if text.is_empty() || text.len() > BYTES_MAX || text.chars().any(char::is_control) {
        return Err(TrustFileError::Label(what));
    }
    Ok(())
}

/// What the entries must be together.
fn check(policy: &TrustPolicy) -> Result<(), TrustFileError> {
    let mut seen = std::collections::BTreeSet::new();
    for key in &policy.keys {
        for text in [key.name.clone(), key.key.to_string()] {
            if let Some(text) = seen.replace(text) {
                return Err(TrustFileError::Twice(text));
            }
        }
    }
    let usable = |key: &&TrustedKey| !policy.revoked_keys.contains_key(key.key.as_bytes());
    let usable = policy.keys.iter().filter(usable).count();
    let (signers, most) = (usize::from(policy.signers), limits::SEALS.max() as usize);
    if signers == 0 || signers > usable.min(most) {
        return Err(TrustFileError::Signers { signers, usable });
    }
    Ok(())
}

/// Which numbers of signers a policy with so many usable keys may ask for.
fn possible(usable: usize) -> String {
    match usable.min(limits::SEALS.max() as usize) {
        0 => "no key of the file can count, so add one that is not revoked".to_owned(),
        1 => "one key can count (it is trusted and not revoked), so write 1".to_owned(),
        most => format!("{usable} keys can count (they are trusted and not revoked), so write 1 to {most}"),
    }
}

/// Why a text is no trust policy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustFileError {
    /// It is no TOML, lacks something, or has something that the form does not have.
    #[error("the trust file has not the form of one")]
    Form(#[from] toml::de::Error),
    /// It is of another version.
    #[error("the trust file has version {0}, this tool reads {VERSION}; upgrade the tool")]
    Version(u16),
    /// It is too long.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// A key is none.
    #[error("{which} is malformed")]
    Key {
        /// Where it stands.
        which: String,
        /// What is wrong with it.
        source: KeyError,
    },
    /// A name or reason.
    #[error("{0} is one line of 1 to 255 bytes")]
    Label(&'static str),
    /// A date of a key.
    #[error("a date of the key `{name}` is wrong")]
    Time {
        /// The key.
        name: String,
        /// What is wrong with it.
        source: TimestampError,
    },
    /// The dates of a key leave no time.
    #[error("the key `{0}` ends before it begins: not_after is before not_before")]
    Order(String),
    /// A key without scopes.
    #[error("the key `{0}` is believed for no scope; `[\"*\"]` believes it for any")]
    NoScope(String),
    /// A scope.
    #[error("the scope `{text}` is malformed")]
    Scope {
        /// The text.
        text: String,
        /// What is wrong with it.
        source: PatternError,
    },
    /// A file digest.
    #[error("the file digest `{0}` is not 64 hexadecimal digits")]
    FileDigest(String),
    /// Something is named twice: it would be unclear which counts.
    #[error("`{0}` is named twice")]
    Twice(String),
    /// A number of signers that lets in everything, or nothing.
    #[error("`signers = {signers}` cannot stand: {}", possible(*usable))]
    Signers {
        /// What it asks for.
        signers: usize,
        /// The keys that could count.
        usable: usize,
    },
}
