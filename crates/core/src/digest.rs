//! BLAKE3 digests with domain separation.
//!
//! Two kinds of input never share a digest by accident: a [`Domain`] is mixed in through BLAKE3's key-derivation mode
//! (BLAKE3 paper, section 2.3), so that the same bytes hashed as a section and as a program differ. Plain content
//! digests ([`Digest::of`]) are ordinary BLAKE3, so that `b3sum` agrees with them.

use std::fmt;
use std::str::FromStr;

/// A 256-bit BLAKE3 digest. `Display` and `FromStr` use 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; Digest::BYTES]);

impl Digest {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    /// The ordinary BLAKE3 digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Wraps bytes that are already a digest, as read from a file.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The first 12 hexadecimal digits: enough to tell digests apart in a listing, never enough to identify content.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A string that is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDigestError {
    length: usize,
}

impl fmt::Display for ParseDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a digest is 64 hexadecimal digits, this is {} characters or has others",
            self.length
        )
    }
}

impl std::error::Error for ParseDigestError {}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = ParseDigestError {
            length: text.chars().count(),
        };
        if text.len() != 2 * Self::BYTES || !text.is_ascii() {
            return Err(error);
        }
        let mut bytes = [0; Self::BYTES];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let (Some(high), Some(low)) = ((pair[0] as char).to_digit(16), (pair[1] as char).to_digit(16))
            else {
                return Err(error);
            };
            *byte = (high * 16 + low) as u8;
        }
        Ok(Self(bytes))
    }
}

/// For the tree digests of [`crate::chunk`], which end in a BLAKE3 root.
pub(crate) fn digest_of_hash(hash: blake3::Hash) -> Digest {
    Digest(*hash.as_bytes())
}

/// What a digest is *of*. The context string is permanent: changing it changes every digest of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(&'static str);

impl Domain {
    /// Declares a domain. By convention the context is `artifact <what> v<scheme version>`.
    #[must_use]
    pub const fn new(context: &'static str) -> Self {
        Self(context)
    }
}

/// An incremental digest. Cloning it forks the state.
#[derive(Clone, Debug)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Hashes plain content, as [`Digest::of`] does.
    #[must_use]
    pub fn content() -> Self {
        Self(blake3::Hasher::new())
    }

    /// Hashes within `domain`.
    #[must_use]
    pub fn in_domain(domain: Domain) -> Self {
        Self(blake3::Hasher::new_derive_key(domain.0))
    }

    /// Adds bytes. The result depends on the concatenation only, not on how it is cut.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of what was added so far.
    #[must_use]
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

/// Declares a digest of one kind, so that a program digest cannot be passed where a file digest is wanted.
#[macro_export]
macro_rules! digest_newtype {
    ($(#[$meta:meta])* $vis:vis struct $name:ident;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name($crate::digest::Digest);

        impl $name {
            /// States that `digest` is one of this kind.
            #[must_use]
            $vis const fn new(digest: $crate::digest::Digest) -> Self {
                Self(digest)
            }

            /// The digest itself.
            #[must_use]
            $vis const fn digest(&self) -> &$crate::digest::Digest {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_digest_is_plain_blake3() {
        // Test vector of the BLAKE3 reference: the empty input.
        let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(Hasher::content().finish(), empty.parse().unwrap());
    }

    #[test]
    fn domains_separate() {
        let in_domain = |domain| {
            let mut hasher = Hasher::in_domain(domain);
            hasher.update(b"same");
            hasher.finish()
        };
        let (a, b) = (
            in_domain(Domain::new("artifact a v1")),
            in_domain(Domain::new("artifact b v1")),
        );
        assert_ne!(a, b);
        assert_ne!(a, Digest::of(b"same"));
    }

    #[test]
    fn hex_round_trips_and_refuses() {
        let digest = Digest::of(b"x");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("abc".parse::<Digest>().is_err());
        assert!("g".repeat(64).parse::<Digest>().is_err());
        assert!("é".repeat(32).parse::<Digest>().is_err());
    }
}
