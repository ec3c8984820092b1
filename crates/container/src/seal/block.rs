//! The seal block: what may follow the section table.
//!
//! Its magic, its length and its checksum keep their places in every version of the block, so that a reader that has no use for
//! seals can tell a sealed file from one to which something was appended, or that was cut off.

use artifact_core::digest::Digest;
use artifact_core::limit::LimitExceeded;

use crate::error::{Classify, ErrorKind, Fault};
use crate::fields::{Fields, Short};
use crate::limits;
use crate::seal::key::{KeyId, PublicKey};
use crate::seal::record::{RecordError, Seal};
use crate::source::Source;

/// First bytes of the block.
const MAGIC: [u8; 8] = *b"\x89SEAL\r\n\x1a";

/// Version of the block that this crate reads and writes.
///
/// Changelog:
/// * 1: first version.
const VERSION: u16 = 1;

/// Magic, length, version and count.
const HEAD_BYTES: u64 = 16;

/// The bytes after the section table, read when the file was opened: none, or as many as begin like a seal block and announce
/// their number. Nothing else about them is checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SealBlock(Vec<u8>);

impl SealBlock {
    /// Reads what lies between `table_end` and `file_length`; `None` when that cannot be a seal block.
    pub(crate) fn read(source: &Source, table_end: u64, file_length: u64) -> Result<Option<Self>, Fault> {
        let Some(length) = file_length.checked_sub(table_end) else {
            return Ok(None);
        };
        if length == 0 {
            return Ok(Some(Self::default()));
        }
        if length < HEAD_BYTES || limits::SEAL_BLOCK_BYTES.check(length).is_err() {
            return Ok(None);
        }
        let bytes = source.read_vec(table_end, length)?;
        let mut fields = Fields::new(&bytes);
        let (magic, announced) = (fields.bytes(MAGIC.len())?, fields.u32()?);
        Ok((magic == MAGIC && u64::from(announced) == length).then_some(Self(bytes)))
    }

    /// The block of some records, and its checksum. That they are as many, and few enough, is for the caller to see to.
    pub(crate) fn of_records(count: u16, records: &[u8]) -> Self {
        let length = HEAD_BYTES as usize + records.len() + Digest::BYTES;
        let mut block = MAGIC.to_vec();
        block.extend_from_slice(&(length as u32).to_le_bytes());
        block.extend_from_slice(&VERSION.to_le_bytes());
        block.extend_from_slice(&count.to_le_bytes());
        block.extend_from_slice(records);
        block.extend_from_slice(Digest::of(&block).as_bytes());
        Self(block)
    }

    /// Whether there is one.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks and reads the block; without one there are no seals.
    pub(crate) fn parse(&self) -> Result<Seals, SealBlockError> {
        if self.0.is_empty() {
            return Ok(Seals::default());
        }
        let end = self.0.len().saturating_sub(Digest::BYTES);
        let (checked, checksum) = self.0.split_at_checked(end).ok_or(SealBlockError::Damaged)?;
        if Digest::of(checked).as_bytes() != checksum {
            return Err(SealBlockError::Damaged);
        }
        let mut fields = Fields::new(checked);
        fields.bytes(MAGIC.len())?;
        fields.u32()?;
        let (version, count) = (fields.u16()?, fields.u16()?);
        if version != VERSION {
            return Err(SealBlockError::Version(version));
        }
        limits::SEALS.check(count.into())?;
        let mut seals = Seals::default();
        for index in 0..count {
            let seal = Seal::parse(&mut fields).map_err(|source| SealBlockError::Record { index, source })?;
            if let Some(key) = seals.insert(seal, false)? {
                return Err(SealBlockError::Twice(key));
            }
        }
        if count == 0 || !fields.is_empty() {
            return Err(SealBlockError::Count);
        }
        Ok(seals)
    }
}

/// The seals of a file, at most one of each Ed25519 key, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seals(Vec<Seal>);

impl Seals {
    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Seal> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a seal of `key`, valid or not.
    #[must_use]
    pub fn has(&self, key: &PublicKey) -> bool {
        let is_its = |seal: &Seal| matches!(seal, Seal::Ed25519(seal) if seal.key_bytes() == key.as_bytes());
        self.0.iter().any(is_its)
    }

    /// Adds a seal at the end. Where its key has one already, that is replaced in its place if `replace`, else nothing is
    /// changed. Returns the key that has one.
    pub(crate) fn insert(&mut self, seal: Seal, replace: bool) -> Result<Option<KeyId>, LimitExceeded> {
        let key = |seal: &Seal| match seal {
            Seal::Ed25519(seal) => Some(*seal.key_bytes()),
            Seal::Unknown { .. } => None,
        };
        let own = key(&seal);
        match self.0.iter_mut().find(|other| own.is_some() && key(other) == own) {
            Some(other) => {
                if replace {
                    *other = seal;
                }
                Ok(own.map(|key| KeyId::of(&key)))
            }
            None => {
                limits::SEALS.check(self.0.len() as u64 + 1)?;
                self.0.push(seal);
                Ok(None)
            }
        }
    }

    /// The block; no bytes where there are no seals.
    pub(super) fn encode(&self) -> Result<Vec<u8>, LimitExceeded> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let mut records = Vec::new();
        self.0.iter().for_each(|seal| seal.encode(&mut records));
        let SealBlock(block) = SealBlock::of_records(self.0.len() as u16, &records);
        limits::SEAL_BLOCK_BYTES.check(block.len() as u64)?;
        Ok(block)
    }
}

/// Why the seals of a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealBlockError {
    #[error("the seal block is damaged: its checksum does not match; get a good copy of the file")]
    Damaged,
    #[error("the seal block has version {0}, this tool reads {VERSION}; upgrade the tool")]
    Version(u16),
    #[error("seal {index} of the seal block is malformed")]
    Record { index: u16, source: RecordError },
    #[error("the seal block has two seals of the key {0}")]
    Twice(KeyId),
    #[error("the seal block has not as many seals as it says")]
    Count,
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl From<Short> for SealBlockError {
    fn from(Short: Short) -> Self {
        Self::Count
    }
}

impl Classify for SealBlockError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Version(_) => ErrorKind::Upgrade,
            Self::Limit(_) => ErrorKind::Limit,
            Self::Damaged | Self::Record { .. } | Self::Twice(_) | Self::Count => ErrorKind::FixInput,
        }
    }
}

#[cfg(test)]
mod tests;
