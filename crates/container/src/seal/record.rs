//! One seal, as it is signed and stored.

use crate::fields::{Fields, Short};
use crate::identity::FileDigest;
use crate::seal::key::{KeyError, KeyId, PublicKey, SIGNATURE_BYTES, SecretKey};
use crate::seal::label::{Comment, LabelError, Scope};

/// What stands before everything that is signed: a key that also signs something else signs other bytes there.
const SIGNED_PREFIX: &[u8; 22] = b"artifact file seal v1\0";

const ED25519: u16 = 1;

/// Bytes of an Ed25519 record besides its scope and comment.
const FIXED_BYTES: usize = 8 + PublicKey::BYTES + SIGNATURE_BYTES;

/// A seal of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seal {
    /// An Ed25519 signature, valid or not.
    Ed25519(Ed25519Seal),
    /// A seal of an algorithm that this crate does not know. It is kept, and never counts.
    Unknown {
        /// Number of the algorithm.
        algorithm: u16,
        /// The record without its length and algorithm.
        content: Vec<u8>,
    },
}

impl Seal {
    /// Appends the record: its length, its algorithm, its content.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ed25519(seal) => {
                seal.encode_signed(out);
                out.extend_from_slice(&seal.signature);
            }
            Self::Unknown { algorithm, content } => {
                // A record that was read has a length of 16 bits.
                out.extend_from_slice(&(content.len() as u16 + 4).to_le_bytes());
                out.extend_from_slice(&algorithm.to_le_bytes());
                out.extend_from_slice(content);
            }
        }
    }

    /// Takes one record off the front.
    pub(super) fn parse(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        let (length, algorithm) = (fields.u16()?, fields.u16()?);
        let content = usize::from(length).checked_sub(4).ok_or(RecordError::Length)?;
        let content = fields.bytes(content)?;
        if algorithm == ED25519 {
            return Ed25519Seal::parse(content).map(Self::Ed25519);
        }
        Ok(Self::Unknown {
            algorithm,
            content: content.to_vec(),
        })
    }
}

/// A signature of a file by one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ed25519Seal {
    /// As stored: not yet known to be a good key.
    key: [u8; PublicKey::BYTES],
    scope: Scope,
    comment: Comment,
    signature: [u8; SIGNATURE_BYTES],
}

impl Ed25519Seal {
    /// Signs a file.
    #[must_use]
    pub fn sign(key: &SecretKey, file: FileDigest, scope: Scope, comment: Comment) -> Self {
        let mut seal = Self {
            key: *key.public().as_bytes(),
            scope,
            comment,
            signature: [0; SIGNATURE_BYTES],
        };
        seal.signature = key.sign(&seal.signed_bytes(file));
        seal
    }

    /// Name of the key that the seal claims.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        KeyId::of(&self.key)
    }

    /// The key that the seal claims, as stored.
    #[must_use]
    pub const fn key_bytes(&self) -> &[u8; PublicKey::BYTES] {
        &self.key
    }

    /// What the signer says that the file is for; to be believed after [`Ed25519Seal::verify`].
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The signer's remark; to be believed after [`Ed25519Seal::verify`].
    #[must_use]
    pub const fn comment(&self) -> &Comment {
        &self.comment
    }

    /// Checks the signature over `file`, and returns whose it is.
    ///
    /// # Errors
    /// When the key is none, or the signature is not its own over this file, scope and comment.
    pub fn verify(&self, file: FileDigest) -> Result<PublicKey, InvalidSeal> {
        let key = PublicKey::from_bytes(&self.key)?;
        if key.verifies(&self.signed_bytes(file), &self.signature) {
            Ok(key)
        } else {
            Err(InvalidSeal::Signature)
        }
    }

    /// Prefix, file digest, and the record up to the signature.
    fn signed_bytes(&self, file: FileDigest) -> Vec<u8> {
        let mut bytes = SIGNED_PREFIX.to_vec();
        bytes.extend_from_slice(file.digest().as_bytes());
        self.encode_signed(&mut bytes);
        bytes
    }

    fn encode_signed(&self, out: &mut Vec<u8>) {
        let (scope, comment) = (self.scope.as_str(), self.comment.as_str());
        // The types of scope and comment bound both to far less than 16 bits.
        let length = FIXED_BYTES + scope.len() + comment.len();
        for number in [length as u16, ED25519, scope.len() as u16, comment.len() as u16] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.key);
        out.extend_from_slice(scope.as_bytes());
        out.extend_from_slice(comment.as_bytes());
    }

    fn parse(content: &[u8]) -> Result<Self, RecordError> {
        let mut fields = Fields::new(content);
        let (scope, comment) = (usize::from(fields.u16()?), usize::from(fields.u16()?));
        let key = *fields.digest()?.as_bytes();
        let mut text = |length| -> Result<String, RecordError> {
            String::from_utf8(fields.bytes(length)?.to_vec()).map_err(|_| RecordError::Utf8)
        };
        let (scope, comment) = (Scope::new(text(scope)?)?, Comment::new(text(comment)?)?);
        let signature = fields.bytes(SIGNATURE_BYTES)?;
        let signature = signature.try_into().map_err(|_| RecordError::Length)?;
        if !fields.is_empty() {
            return Err(RecordError::Length);
        }
        Ok(Self {
            key,
            scope,
            comment,
            signature,
        })
    }
}

/// Why a seal says nothing about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSeal {
    /// What stands in the place of the key is none.
    #[error("its key is none")]
    Key(#[from] KeyError),
    /// The file, the scope or the comment is not what was signed, or the key is another.
    #[error("its signature is not that of its key for this file")]
    Signature,
}

/// Why bytes are no seal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("its parts do not fill its length")]
    Length,
    #[error("a text of it is not UTF-8")]
    Utf8,
    #[error(transparent)]
    Label(#[from] LabelError),
}

impl From<Short> for RecordError {
    fn from(Short: Short) -> Self {
        Self::Length
    }
}
