//! What is kept of a compile: its files, and what they are, in bytes that are checked before they are believed.
//!
//! ```text
//! magic        8 bytes
//! version      u32
//! header size  u32
//! digest       32 bytes, of the header
//! header       key 32, stored digest 32, raw digest 32, stored size u64, raw size u64, codec u8,
//!              namespace, producer, compile nanoseconds u64, record, files: count u32, then of each its name and size u64,
//!              signature: 0 or 1 u8, then the key's id 32 and 64 bytes
//! payload      as many bytes as the stored size: the files behind one another, by the codec
//! ```
//!
//! Numbers are little-endian; texts and the record have their size before them, as u32. A signature signs the digest of a header that
//! has none.
//!
//! Invariants: nothing is decompressed before the digest of the stored bytes is right, nothing allocated for a size over its limit, and
//! nothing given out before the digest of the raw bytes is right. Bytes that any check refuses are a miss, and never an error.

use std::fmt;
use std::time::Duration;

use artifact_core::blob::Blob;
use artifact_core::digest::Digest;
use artifact_core::limit::{Limit, LimitExceeded};

use crate::codec::{Codec, compress, decompress};
use crate::header::{Header, digest_of};
use crate::record::{Key, KeyRecord};
use crate::refusal::Refusal;

const MAGIC: [u8; 8] = *b"\x89ARTCE\r\n";
pub(crate) const VERSION: u32 = 1;
/// Bytes before the header.
const PREFIX_BYTES: usize = 8 + 4 + 4 + Digest::BYTES;
/// Longest header.
const HEADER_BYTES: Limit = Limit::new("the header of a cache entry", 1 << 18, "bytes");
/// Largest payload, stored and raw.
pub const PAYLOAD_BYTES: Limit = Limit::new("the payload of a cache entry", 4 << 30, "bytes");
/// Most files.
pub(crate) const FILES: Limit = Limit::new("the files of a cache entry", 1 << 10, "files");
/// Longest text: a namespace, a producer, the name of a file.
pub(crate) const TEXT_BYTES: Limit = Limit::new("a text of a cache entry", 1 << 10, "bytes");

/// A signature over the digest of a header, and the id of the key that made it. Who verifies it is not decided here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The digest of the public key.
    pub key_id: Digest,
    /// Ed25519 (RFC 8032).
    pub bytes: [u8; 64],
}

/// A file of a payload: a cubin, its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadFile {
    /// Its name, distinct from those of the others. It is no path.
    pub name: String,
    /// What it holds.
    pub bytes: Blob,
}

/// What is kept of a compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What decided it.
    pub record: KeyRecord,
    /// Whose caches it is in.
    pub namespace: String,
    /// What made it, for people: `artifact 0.1.0`.
    pub producer: String,
    /// How long the compile took.
    pub compile_time: Duration,
    /// What came of it, one file at least.
    pub files: Vec<PayloadFile>,
    /// Who vouches for it.
    pub signature: Option<Signature>,
}

/// What is no entry to keep.
#[derive(Debug)]
pub enum EntryError {
    /// Over a limit.
    Limit(LimitExceeded),
    /// No file, or two of one name, or a name that is empty.
    Files(String),
    /// The codec failed.
    Codec(std::io::Error),
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(exceeded) => exceeded.fmt(f),
            Self::Files(what) => write!(f, "a cache entry cannot be made: {what}"),
            Self::Codec(_) => f.write_str("the payload of a cache entry cannot be compressed"),
        }
    }
}

impl std::error::Error for EntryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Codec(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LimitExceeded> for EntryError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded)
    }
}

impl Entry {
    /// The bytes to keep.
    ///
    /// # Errors
    /// No file or names that are not distinct, sizes over their limits, and a codec that fails.
    pub fn encode(&self, codec: Codec) -> Result<Vec<u8>, EntryError> {
        self.check()?;
        let raw: Vec<u8> = self
            .files
            .iter()
            .flat_map(|file| file.bytes.iter().copied())
            .collect();
        PAYLOAD_BYTES.check(raw.len() as u64)?;
        let stored = compress(&raw, codec).map_err(EntryError::Codec)?;
        let header = self.header(&raw, stored.as_deref().unwrap_or(&raw), codec);
        let header = header.encode(self.signature.as_ref());
        HEADER_BYTES.check(header.len() as u64)?;
        let mut bytes = Vec::with_capacity(PREFIX_BYTES + header.len() + raw.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(digest_of(&header).as_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(stored.as_deref().unwrap_or(&raw));
        Ok(bytes)
    }

    fn check(&self) -> Result<(), EntryError> {
        FILES.check(self.files.len() as u64)?;
        if self.files.is_empty() {
            return Err(EntryError::Files("it has no file".to_owned()));
        }
        let names = self.files.iter().map(|file| file.name.as_str());
        for text in names
            .clone()
            .chain([self.namespace.as_str(), self.producer.as_str()])
        {
            TEXT_BYTES.check(text.len() as u64)?;
        }
        let mut seen = std::collections::BTreeSet::new();
        match names
            .into_iter()
            .find(|name| name.is_empty() || !seen.insert(*name))
        {
            Some(name) => Err(EntryError::Files(format!("two files are called {name:?}"))),
            None => Ok(()),
        }
    }

    fn header(&self, raw: &[u8], stored: &[u8], codec: Codec) -> Header {
        Header {
            key: self.record.key(),
            stored_digest: Digest::of(stored),
            raw_digest: Digest::of(raw),
            stored_size: stored.len() as u64,
            raw_size: raw.len() as u64,
            codec,
            namespace: self.namespace.clone(),
            producer: self.producer.clone(),
            compile_time: self.compile_time,
            record: self.record.clone(),
            files: self
                .files
                .iter()
                .map(|file| (file.name.clone(), file.bytes.len() as u64))
                .collect(),
            signature: self.signature,
        }
    }
}

/// An entry whose header was checked, and whose payload was not yet: what a listing shows.
#[derive(Debug)]
pub struct Unverified {
    header: Header,
    payload: Blob,
}

impl Entry {
    /// Reads the header of an entry and checks it; the payload is looked at by [`Unverified::verify`].
    ///
    /// # Errors
    /// Why it is none.
    pub fn open(bytes: &Blob) -> Result<Unverified, Refusal> {
        let (prefix, rest) = bytes
            .split_first_chunk::<PREFIX_BYTES>()
            .ok_or(Refusal::NoEntry)?;
        if prefix[..8] != MAGIC {
            return Err(Refusal::NoEntry);
        }
        let number =
            |at: usize| u32::from_le_bytes([prefix[at], prefix[at + 1], prefix[at + 2], prefix[at + 3]]);
        if number(8) != VERSION {
            return Err(Refusal::Version(number(8)));
        }
        let size = u64::from(number(12));
        HEADER_BYTES.check(size)?;
        let header = rest.get(..size as usize).ok_or(Refusal::Size {
            expected: PREFIX_BYTES as u64 + size,
            actual: bytes.len() as u64,
        })?;
        if digest_of(header).as_bytes()[..] != prefix[16..] {
            return Err(Refusal::Damaged("header"));
        }
        let header = Header::decode(header)?;
        let start = PREFIX_BYTES + size as usize;
        let payload = bytes.slice(start..bytes.len()).ok_or(Refusal::NoEntry)?;
        if payload.len() as u64 != header.stored_size {
            return Err(Refusal::Size {
                expected: start as u64 + header.stored_size,
                actual: bytes.len() as u64,
            });
        }
        Ok(Unverified { header, payload })
    }
}

impl Unverified {
    /// The key that it says it is of, which is that of its record.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.header.key
    }

    /// What decided it.
    #[must_use]
    pub const fn record(&self) -> &KeyRecord {
        &self.header.record
    }

    /// What a signature of the entry signs.
    #[must_use]
    pub fn signed_digest(&self) -> Digest {
        digest_of(&self.header.encode(None))
    }

    /// Who vouches for it, by a signature that nobody has verified yet.
    #[must_use]
    pub const fn signature(&self) -> Option<&Signature> {
        self.header.signature.as_ref()
    }

    /// Bytes as they are stored, and as they are.
    #[must_use]
    pub const fn sizes(&self) -> (u64, u64) {
        (self.header.stored_size, self.header.raw_size)
    }

    /// Checks that it is the entry that is looked for, then its stored bytes, and then, decompressed, its raw bytes.
    ///
    /// # Errors
    /// Why it is not.
    pub fn verify(self, key: &Key, namespace: &str) -> Result<Entry, Refusal> {
        let Self { header, payload } = self;
        if header.key != *key {
            return Err(Refusal::Key(header.key));
        }
        if header.namespace != namespace {
            return Err(Refusal::Namespace(header.namespace));
        }
        if Digest::of(&payload) != header.stored_digest {
            return Err(Refusal::Damaged("stored payload"));
        }
        let raw = match header.codec {
            Codec::Raw => payload,
            Codec::Zstd => Blob::new(decompress(&payload, header.raw_size)?),
        };
        if raw.len() as u64 != header.raw_size || Digest::of(&raw) != header.raw_digest {
            return Err(Refusal::Damaged("payload"));
        }
        let mut start = 0;
        let mut files = Vec::with_capacity(header.files.len());
        for (name, size) in header.files {
            let end = start + size as usize;
            let bytes = raw.slice(start..end).ok_or(Refusal::Malformed("list of files"))?;
            files.push(PayloadFile { name, bytes });
            start = end;
        }
        Ok(Entry {
            record: header.record,
            namespace: header.namespace,
            producer: header.producer,
            compile_time: header.compile_time,
            files,
            signature: header.signature,
        })
    }
}

#[cfg(test)]
mod tests;
