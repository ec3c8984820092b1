//! Which chunks of the constants have been verified, and against what.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use artifact_core::chunk::{CHUNK_BYTES, ChunkDigest, chunk_count, whole};
use artifact_core::digest::Digest;
use artifact_core::entity::EntityId;

use crate::error::{Classify, ErrorKind, Fault};
use crate::table::{Section, SectionId, SectionKind, SectionTable};

/// The chunk digests of a file, all shown to add up to the digests of their constants.
pub(crate) type ChunkDigests = Vec<ChunkDigest>;

/// State of verification of all constants of a file. Threads may verify the same chunk at once; that costs time only.
#[derive(Debug)]
pub(crate) struct Verification {
    /// By section: where its chunks begin, among all chunks of constants and among the chunk digests.
    starts: Vec<Start>,
    /// One bit for each chunk, set when its mapped bytes were seen to match.
    verified: Box<[AtomicU64]>,
    digests: OnceLock<ChunkDigests>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Start {
    bit: usize,
    digest: usize,
}

impl Verification {
    pub(crate) fn new(table: &SectionTable) -> Self {
        let mut next = Start::default();
        let mut starts = Vec::with_capacity(table.iter().len());
        for (_, section) in table.iter() {
            starts.push(next);
            if section.kind == SectionKind::CONSTANT {
                // The table's limits keep both far below 2^32.
                next.bit += section.stored_length.div_ceil(CHUNK_BYTES) as usize;
                next.digest += chunk_count(section.stored_length) as usize;
            }
        }
        Self {
            starts,
            verified: (0..next.bit.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            digests: OnceLock::new(),
        }
    }

    /// The chunk digests, from `read` the first time.
    pub(crate) fn digests(
        &self,
        table: &SectionTable,
        read: impl FnOnce(&Section) -> Result<Vec<u8>, Fault>,
    ) -> Result<&[ChunkDigest], Fault> {
        if let Some(digests) = self.digests.get() {
            return Ok(digests);
        }
        let bytes = table.chunk_digests().map_or_else(|| Ok(Vec::new()), read)?;
        let (bytes, _) = bytes.as_chunks::<{ ChunkDigest::BYTES }>();
        let digests: ChunkDigests = bytes.iter().copied().map(ChunkDigest::from_bytes).collect();
        self.check_sums(table, &digests)?;
        Ok(self.digests.get_or_init(|| digests))
    }

    /// The chunk digests of a constant are the subtrees of its own digest, so they cannot describe other content.
    fn check_sums(&self, table: &SectionTable, digests: &[ChunkDigest]) -> Result<(), Fault> {
        for (id, section) in table
            .iter()
            .filter(|(_, section)| section.kind == SectionKind::CONSTANT)
        {
            let count = chunk_count(section.stored_length) as usize;
            let start = self.starts[id.index()].digest;
            let own = digests.get(start..start + count).unwrap_or_default();
            if count > 0 && whole(own).as_ref() != Some(section.stored_digest.digest()) {
                return Err(ConstantError::ChunkDigests(section.name.clone()).into());
            }
        }
        Ok(())
    }

    /// Checks one chunk of the constant `id`.
    pub(crate) fn check_chunk(
        &self,
        id: SectionId,
        section: &Section,
        digests: &[ChunkDigest],
        chunk: u64,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let matches = if chunk_count(section.stored_length) == 0 {
            Digest::of(bytes) == *section.stored_digest.digest()
        } else {
            let digest = digests.get(self.starts[id.index()].digest + chunk as usize);
            digest == Some(&ChunkDigest::of(chunk, bytes))
        };
        if matches {
            Ok(())
        } else {
            let name = section.name.clone();
            Err(ConstantError::Damaged {
                name,
                from: chunk * CHUNK_BYTES,
                length: bytes.len() as u64,
            }
            .into())
        }
    }

    pub(crate) fn is_verified(&self, id: SectionId, chunk: u64) -> bool {
        let bit = self.starts[id.index()].bit + chunk as usize;
        self.verified[bit / 64].load(Ordering::Acquire) & (1 << (bit % 64)) != 0
    }

    pub(crate) fn set_verified(&self, id: SectionId, chunk: u64) {
        let bit = self.starts[id.index()].bit + chunk as usize;
        self.verified[bit / 64].fetch_or(1 << (bit % 64), Ordering::Release);
    }
}

/// The chunks that `range` of some content touches, in bytes.
pub(crate) fn chunks_of(range: &Range<u64>) -> Range<u64> {
    if range.is_empty() {
        return 0..0;
    }
    range.start / CHUNK_BYTES..range.end.div_ceil(CHUNK_BYTES)
}

/// Where `chunk` lies within content of `length` bytes.
pub(crate) fn chunk_range(chunk: u64, length: u64) -> Range<u64> {
    chunk * CHUNK_BYTES..length.min((chunk + 1) * CHUNK_BYTES)
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConstantError {
    #[error("the chunk digests of constant `{0}` do not add up to its digest")]
    ChunkDigests(String),
    #[error(
        "constant `{name}` is damaged within the {length} bytes from its byte {from} on; get a good copy of the file"
    )]
    Damaged { name: String, from: u64, length: u64 },
    #[error("section `{0}` is not a constant")]
    NotAConstant(String),
    #[error("section `{name}` has {length} bytes; {start} to {end} are not within it")]
    Range {
        name: String,
        length: u64,
        start: u64,
        end: u64,
    },
}

impl Classify for ConstantError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FixInput
    }
}
