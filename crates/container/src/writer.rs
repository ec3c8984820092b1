//! Streams sections into an output, in one pass, with the section table last.
//!
//! The table stands at the end because digests, lengths and the number of distinct constants are known only then; a
//! constant is read once, however long it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use artifact_core::chunk::{ChunkDigest, ChunkHasher};
use artifact_core::digest::Digest;

use crate::atomic::AtomicFile;
use crate::codec;
use crate::compat::{Reader, Requirements};
use crate::error::Fault;
use crate::header::{ALIGNMENT_BYTES, HEADER_BYTES, Header};
use crate::identity::{ContentDigest, FileDigest, RawDigest, StoredDigest, content_digest, file_digest};
use crate::limits;
use crate::table::{CONSTANT_ALIGNMENT_BYTES, Codec, Section, SectionKind, SectionTable};

/// Bytes copied at a time from a reader.
const COPY_BYTES: usize = 1 << 20;

/// What an artifact can be written to: it starts empty and belongs to the writer alone.
pub trait Output: Write + Seek {
    /// Cuts the output off after `length` bytes.
    ///
    /// # Errors
    /// Of the output.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

impl Output for File {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

impl Output for AtomicFile {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file_mut().set_len(length)
    }
}

impl Output for Cursor<Vec<u8>> {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.get_mut()
            .truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }
}

/// Where the bytes of a constant come from.
pub enum ConstantSource<'a> {
    /// They are in memory.
    Bytes(&'a [u8]),
    /// They are read once, to the end, a part at a time.
    Reader(Box<dyn Read + 'a>),
}

impl std::fmt::Debug for ConstantSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Reader(_) => f.write_str("Reader"),
        }
    }
}

/// A finished artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Names the file byte for byte.
    pub file_digest: FileDigest,
    /// Names what it contains.
    pub content_digest: ContentDigest,
    /// Length of the file in bytes.
    pub file_length: u64,
}

/// The content of a section as it is stored, and what the table says of it.
#[derive(Debug)]
pub(crate) struct StoredContent<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) codec: Codec,
    pub(crate) raw_length: u64,
    pub(crate) raw_digest: RawDigest,
}

pub(crate) struct Writer<'o, O: Output + ?Sized> {
    output: &'o mut O,
    /// Where the next byte goes.
    position: u64,
    sections: Vec<Section>,
    constants: BTreeMap<Digest, String>,
    chunks: Vec<ChunkDigest>,
}

impl<'o, O: Output + ?Sized> Writer<'o, O> {
    /// Leaves room for the header, which is written last: an output that was cut off has no magic.
    pub(crate) fn begin(output: &'o mut O) -> Result<Self, Fault> {
        output.seek(SeekFrom::Start(0))?;
        let mut writer = Self {
            output,
            position: 0,
            sections: Vec::new(),
            constants: BTreeMap::new(),
            chunks: Vec::new(),
        };
        writer.put(&[0; HEADER_BYTES as usize])?;
        Ok(writer)
    }

    /// Adds a section that is in memory, compressed where `compress` allows it and it helps.
    pub(crate) fn section(
        &mut self,
        kind: SectionKind,
        required: bool,
        name: String,
        raw: &[u8],
        compress: bool,
    ) -> Result<(), Fault> {
        let (codec, encoded) = if compress {
            codec::encode(raw)?
        } else {
            (Codec::None, None)
        };
        let content = StoredContent {
            raw_length: raw.len() as u64,
            raw_digest: RawDigest::new(Digest::of(raw)),
            codec,
            bytes: encoded.map_or(Cow::Borrowed(raw), Cow::Owned),
        };
        self.stored(kind, required, name, &content)
    }

    /// Adds a section as it is stored.
    pub(crate) fn stored(
        &mut self,
        kind: SectionKind,
        required: bool,
        name: String,
        content: &StoredContent<'_>,
    ) -> Result<(), Fault> {
        self.pad(ALIGNMENT_BYTES)?;
        let offset = self.position;
        self.put(&content.bytes)?;
        self.sections.push(Section {
            kind,
            required,
            name,
            offset,
            alignment: ALIGNMENT_BYTES,
            stored_length: content.bytes.len() as u64,
            raw_length: content.raw_length,
            codec: content.codec,
            stored_digest: StoredDigest::new(Digest::of(&content.bytes)),
            raw_digest: content.raw_digest,
        });
        Ok(())
    }

    /// Adds a constant unless its bytes are there already. Returns the name of its section and its digest.
    pub(crate) fn constant(&mut self, source: ConstantSource<'_>) -> Result<(String, RawDigest), Fault> {
        let before = self.position;
        let (digest, chunks, offset) = match source {
            ConstantSource::Bytes(bytes) => {
                let mut hasher = ChunkHasher::new();
                hasher.update(bytes);
                let (digest, chunks) = hasher.finish();
                if let Some(name) = self.constants.get(&digest) {
                    return Ok((name.clone(), RawDigest::new(digest)));
                }
                self.pad(CONSTANT_ALIGNMENT_BYTES)?;
                let offset = self.position;
                self.put(bytes)?;
                (digest, chunks, offset)
            }
            ConstantSource::Reader(reader) => {
                self.pad(CONSTANT_ALIGNMENT_BYTES)?;
                let offset = self.position;
                let (digest, chunks) = self.copy(reader)?;
                if let Some(name) = self.constants.get(&digest).cloned() {
                    // What was copied is overwritten, or cut off at the end.
                    self.position = before;
                    self.output.seek(SeekFrom::Start(before))?;
                    return Ok((name, RawDigest::new(digest)));
                }
                (digest, chunks, offset)
            }
        };
        let name = format!("constant/{}", self.constants.len());
        let length = self.position - offset;
        self.sections.push(Section {
            kind: SectionKind::CONSTANT,
            required: true,
            name: name.clone(),
            offset,
            alignment: CONSTANT_ALIGNMENT_BYTES,
            stored_length: length,
            raw_length: length,
            codec: Codec::None,
            stored_digest: StoredDigest::new(digest),
            raw_digest: RawDigest::new(digest),
        });
        self.constants.insert(digest, name.clone());
        self.chunks.extend(chunks);
        Ok((name, RawDigest::new(digest)))
    }

    fn copy(&mut self, mut reader: Box<dyn Read + '_>) -> Result<(Digest, Vec<ChunkDigest>), Fault> {
        let mut hasher = ChunkHasher::new();
        let mut buffer = vec![0; COPY_BYTES];
        let mut length = 0_u64;
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            length += count as u64;
            limits::CONSTANT_BYTES.check(length)?;
            hasher.update(&buffer[..count]);
            self.put(&buffer[..count])?;
        }
    }

    /// Adds the digests of the chunks of all constants so far, where there are any.
    pub(crate) fn chunk_digests(&mut self) -> Result<(), Fault> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = self.chunks.iter().flat_map(|chunk| *chunk.as_bytes()).collect();
        self.section(
            SectionKind::CHUNK_DIGESTS,
            true,
            "chunk-digests".to_owned(),
            &bytes,
            false,
        )
    }

    /// Writes the table, then the header. The table is read back by the reader's own rules, so that a file which cannot
    /// be opened is never finished.
    pub(crate) fn finish(mut self) -> Result<Written, Fault> {
        self.pad(ALIGNMENT_BYTES)?;
        let bytes = SectionTable::encode(&self.sections);
        limits::SECTIONS.check(self.sections.len() as u64)?;
        let header = Header::new(self.position, &bytes, self.sections.len() as u32);
        Header::parse(&header.to_bytes(), &Reader::current())?;
        let table = SectionTable::parse(&header, &bytes)?;
        Reader::current().check_written(&Requirements::of_table(header.window(), &table))?;
        self.put(&bytes)?;
        self.output.truncate(self.position)?;
        self.output.seek(SeekFrom::Start(0))?;
        self.output.write_all(&header.to_bytes())?;
        self.output.flush()?;
        Ok(Written {
            file_digest: file_digest(&header, &bytes),
            content_digest: content_digest(&table),
            file_length: header.file_length(),
        })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.output.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn pad(&mut self, alignment: u64) -> Result<(), Fault> {
        let padding = self.position.next_multiple_of(alignment) - self.position;
        // Less than an alignment, which is a constant of this crate.
        self.put(&vec![0; padding as usize])
    }
}
