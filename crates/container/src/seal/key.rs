//! Ed25519 keys, and what counts as a signature of one.

use std::fmt;
use std::str::FromStr;

use artifact_core::digest::{Digest, Domain, Hasher};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

/// Length of a signature in bytes.
pub const SIGNATURE_BYTES: usize = 64;

/// What stands before the hexadecimal digits of a key, so that no digest is taken for one.
const PREFIX: &str = "ed25519:";

const KEY_ID: Domain = Domain::new("artifact key id v1");

/// A public key: a point of large order in its canonical encoding. `Display` and `FromStr` use `ed25519:` and 64
/// hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    /// Checks and takes the encoding of RFC 8032, section 5.1.5.
    ///
    /// # Errors
    /// When the bytes are no point of the curve, not the canonical encoding of one, or a point of small order.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, KeyError> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::NotAPoint)?;
        // Decompression takes a coordinate modulo the prime; two texts of one key would pass for two signers.
        if key.to_edwards().compress().as_bytes() != bytes {
            return Err(KeyError::NotCanonical);
        }
        if key.is_weak() {
            return Err(KeyError::SmallOrder);
        }
        Ok(Self(key))
    }

    /// The canonical encoding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::BYTES] {
        self.0.as_bytes()
    }

    /// The short name of the key.
    #[must_use]
    pub fn id(&self) -> KeyId {
        KeyId::of(self.as_bytes())
    }

    /// Whether `signature` is this key's of `message`, strictly: its scalar is reduced, its point canonical and not of small
    /// order (RFC 8032, section 5.1.7, without the cofactor).
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        let signature = Signature::from_bytes(signature);
        self.0.verify_strict(message, &signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", Digest::from_bytes(*self.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_bytes(&parse_key_bytes(text)?)
    }
}

/// The 32 bytes of a key's text.
pub(super) fn parse_key_bytes(text: &str) -> Result<[u8; PublicKey::BYTES], KeyError> {
    let digits = text.strip_prefix(PREFIX).ok_or(KeyError::Text)?;
    let bytes: Digest = digits.parse().map_err(|_| KeyError::Text)?;
    Ok(*bytes.as_bytes())
}

/// A short name of a public key, for people: 16 hexadecimal digits. It decides nothing; policies hold whole keys.
///
/// The first 8 bytes of the digest of the key's 32 bytes in the domain `artifact key id v1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 8]);

impl KeyId {
    /// The id of a key as it is stored, whether it is a good one or not.
    #[must_use]
    pub fn of(key: &[u8; PublicKey::BYTES]) -> Self {
        let mut hasher = Hasher::in_domain(KEY_ID);
        hasher.update(key);
        let [a, b, c, d, e, f, g, h, ..] = *hasher.finish().as_bytes();
        Self([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// A secret key. It is wiped from memory when it is dropped, and never printed.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// Length of the seed in bytes.
    pub const BYTES: usize = 32;

    /// The key of a seed, which must come from a cryptographic source of random bytes (RFC 8032, section 5.1.5).
    #[must_use]
    pub fn from_seed(seed: &[u8; Self::BYTES]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The public key that belongs to it.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature of `message`. The same message has the same one.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(message).to_bytes()
    }

    pub(super) fn seed(&self) -> &[u8; Self::BYTES] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.public().id())
    }
}

/// Why bytes or a text are no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It does not have the form of a key.
    #[error("a key is `{PREFIX}` and 64 hexadecimal digits")]
    Text,
    /// No point of the curve has this encoding.
    #[error("the public key is no point of the curve")]
    NotAPoint,
    /// The point has another encoding, which is the canonical one.
    #[error("the public key is not in its canonical encoding")]
    NotCanonical,
    /// Signatures by such a key can be made for almost any message by anyone.
    #[error("the public key has a small order, with which anyone can sign")]
    SmallOrder,
}

#[cfg(test)]
mod tests;
