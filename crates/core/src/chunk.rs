//! Digests of long content in chunks that can be verified alone, and that add up to the plain digest of the whole.
//!
//! BLAKE3 is a tree (BLAKE3 paper, section 2.1). A [`ChunkDigest`] is the chaining value of the subtree over one aligned
//! [`CHUNK_BYTES`] piece, so the ordinary [`Digest`] of the whole follows from the chunk digests alone: a list of them
//! cannot describe other content than the digest names, and hashing once yields both.
//!
//! Content of at most one chunk has no chunk digests: its digest already covers exactly that chunk.

use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

use crate::digest::{Digest, digest_of_hash};

/// Bytes in a chunk, the last one of some content apart: 1 MiB. Permanent, and a power of two so that chunks are subtrees.
pub const CHUNK_BYTES: u64 = 1 << 20;

/// The BLAKE3 chaining value of one chunk at its place in the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkDigest([u8; ChunkDigest::BYTES]);

impl ChunkDigest {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    /// Of the chunk `index`, whose content is `bytes`: [`CHUNK_BYTES`] of them, or fewer in the last chunk.
    ///
    /// # Panics
    /// When `bytes` is empty or longer than a chunk, or lies beyond 2^64 bytes: such a chunk does not exist.
    #[must_use]
    pub fn of(index: u64, bytes: &[u8]) -> Self {
        assert!(
            !bytes.is_empty() && bytes.len() as u64 <= CHUNK_BYTES && index <= u64::MAX / CHUNK_BYTES,
            "chunk {index} of {} bytes does not exist",
            bytes.len()
        );
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(index * CHUNK_BYTES);
        hasher.update(bytes);
        Self(hasher.finalize_non_root())
    }

    /// Wraps bytes that are already a chunk digest, as read from a file.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

/// How many chunk digests describe content of `length` bytes: none up to one chunk.
#[must_use]
pub const fn chunk_count(length: u64) -> u64 {
    if length <= CHUNK_BYTES {
        0
    } else {
        length.div_ceil(CHUNK_BYTES)
    }
}

/// The plain digest of the content that `chunks` describe, or `None` for fewer than two chunks, which describe none.
#[must_use]
pub fn whole(chunks: &[ChunkDigest]) -> Option<Digest> {
    (chunks.len() >= 2).then(|| root(chunks))
}

/// Of at least two chunks.
fn root(chunks: &[ChunkDigest]) -> Digest {
    let (left, right) = halves(chunks);
    digest_of_hash(merge_subtrees_root(&subtree(left), &subtree(right), Mode::Hash))
}

/// Of at least one chunk. The depth is at most 44.
fn subtree(chunks: &[ChunkDigest]) -> [u8; ChunkDigest::BYTES] {
    if let [only] = chunks {
        return only.0;
    }
    let (left, right) = halves(chunks);
    merge_subtrees_non_root(&subtree(left), &subtree(right), Mode::Hash)
}

/// The left subtree of BLAKE3 is the largest power of two that leaves something for the right.
fn halves(chunks: &[ChunkDigest]) -> (&[ChunkDigest], &[ChunkDigest]) {
    chunks.split_at(chunks.len().next_power_of_two() / 2)
}

/// Digests a stream: the plain digest and the chunk digests in one pass.
#[derive(Clone, Debug)]
pub struct ChunkHasher {
    /// State of the chunk that is being filled.
    current: blake3::Hasher,
    /// Bytes in it, at most [`CHUNK_BYTES`].
    filled: u64,
    finished: Vec<ChunkDigest>,
}

impl ChunkHasher {
    /// Nothing hashed yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            current: blake3::Hasher::new(),
            filled: 0,
            finished: Vec::new(),
        }
    }

    /// Adds bytes. The result depends on the concatenation only, not on how it is cut.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.filled == CHUNK_BYTES {
                self.next_chunk();
            }
            let (now, later) = bytes.split_at(bytes.len().min((CHUNK_BYTES - self.filled) as usize));
            self.current.update(now);
            self.filled += now.len() as u64;
            bytes = later;
        }
    }

    /// A full chunk is closed only when more follows: content of exactly one chunk must end as a root.
    fn next_chunk(&mut self) {
        self.finished.push(ChunkDigest(self.current.finalize_non_root()));
        // A reset hasher keeps its offset, so a new one is made.
        self.current = blake3::Hasher::new();
        self.current
            .set_input_offset(self.finished.len() as u64 * CHUNK_BYTES);
        self.filled = 0;
    }

    /// The plain digest of all that was added, and its chunk digests ([`chunk_count`] of them).
    #[must_use]
    pub fn finish(mut self) -> (Digest, Vec<ChunkDigest>) {
        if self.finished.is_empty() {
            return (digest_of_hash(self.current.finalize()), Vec::new());
        }
        // `current` is never empty here: a chunk is closed only when more follows.
        self.finished.push(ChunkDigest(self.current.finalize_non_root()));
        (root(&self.finished), self.finished)
    }
}

impl Default for ChunkHasher {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A period that no power of two divides, so that no two chunks are alike.
    fn content(length: usize) -> Vec<u8> {
        let period: Vec<u8> = (0..=250).collect();
        let mut content = period.repeat(length.div_ceil(period.len()));
        content.truncate(length);
        content
    }

    #[test]
    fn chunks_add_up_to_the_plain_digest() {
        const MIB: usize = CHUNK_BYTES as usize;
        let all = content(5 * MIB + 1024);
        for length in [0, 1, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB - 5, all.len()] {
            let content = &all[..length];
            let mut hasher = ChunkHasher::new();
            // Cut at an odd size so that pieces straddle chunks.
            content.chunks(700_001).for_each(|piece| hasher.update(piece));
            let (digest, chunks) = hasher.finish();
            assert_eq!(digest, Digest::of(content), "{length} bytes");
            assert_eq!(chunks.len() as u64, chunk_count(length as u64), "{length} bytes");
            for (index, chunk) in chunks.iter().enumerate() {
                let bytes = &content[index * MIB..length.min((index + 1) * MIB)];
                assert_eq!(
                    *chunk,
                    ChunkDigest::of(index as u64, bytes),
                    "{length} bytes, chunk {index}"
                );
            }
            assert_eq!(whole(&chunks), (length > MIB).then_some(digest));
        }
    }

    #[test]
    fn a_chunk_is_bound_to_its_place() {
        let bytes = content(100);
        assert_ne!(ChunkDigest::of(0, &bytes), ChunkDigest::of(1, &bytes));
    }
}
