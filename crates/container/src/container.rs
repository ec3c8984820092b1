//! An artifact that is open for reading.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use artifact_core::chunk::{CHUNK_BYTES, ChunkDigest};
use artifact_core::digest::Digest;

use crate::atomic::Original;
use crate::codec::{self, CodecError};
use crate::compat::{Reader, Requirements};
use crate::constants::{ConstantError, Verification, chunk_range, chunks_of};
use crate::error::{Classify, Error, ErrorKind, Fault};
use crate::header::{HEADER_BYTES, Header};
use crate::identity::{ContentDigest, FileDigest, content_digest, file_digest};
use crate::limits;
use crate::manifest::{Manifest, Preamble};
use crate::seal::{SealBlock, Seals};
use crate::source::Source;
use crate::table::{Codec, Section, SectionId, SectionKind, SectionTable};

/// How a file is opened.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    reader: Reader,
    describe_only: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::with_features([])
    }
}

impl ReadOptions {
    /// For `reader`; a file that needs another is refused.
    #[must_use]
    pub const fn for_reader(reader: Reader) -> Self {
        Self {
            reader,
            describe_only: false,
        }
    }

    /// A reader that knows exactly `features` and takes any program; a file that requires another is refused by name.
    #[must_use]
    pub fn with_features<'a>(features: impl IntoIterator<Item = &'a str>) -> Self {
        Self::for_reader(Reader::with_features(features))
    }

    /// A reader that only describes the file and executes nothing of it: it accepts what this release need not understand,
    /// such as an unknown required feature.
    #[must_use]
    pub fn describe_only() -> Self {
        Self {
            reader: Reader::current(),
            describe_only: true,
        }
    }
}

/// An open artifact. Header, section table and manifest are verified; every other byte is verified when it is read.
#[derive(Debug)]
pub struct Container {
    source: Source,
    header: Header,
    table: SectionTable,
    manifest: Manifest,
    requirements: Requirements,
    file_digest: FileDigest,
    seals: SealBlock,
    verification: Verification,
}

impl Container {
    /// Opens the file at `path`, for a reader without features. Reads header, section table and manifest only.
    ///
    /// # Errors
    /// Of every [`ErrorKind`]: see there.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, &ReadOptions::default())
    }

    /// As [`Container::open`], with options.
    ///
    /// # Errors
    /// Of every [`ErrorKind`].
    pub fn open_with(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        Source::open(path)
            .map_err(|fault| fault.read(Some(path)))
            .and_then(|source| Self::from_source(source, options))
    }

    /// Opens a file that is locked in order to be rewritten, as [`Container::open_with`]; the lock is held as long as this is.
    ///
    /// # Errors
    /// Of every [`ErrorKind`].
    pub fn open_original(original: &Original, options: &ReadOptions) -> Result<Self, Error> {
        let file = original.file().try_clone();
        let file = file.map_err(|error| Fault::from(error).read(Some(original.path())))?;
        Self::from_source(Source::of_file(file, original.path()), options)
    }

    /// Opens an artifact that is in memory, for a reader without features. Slices of constants are aligned only as far as
    /// the allocation of `bytes` is.
    ///
    /// # Errors
    /// Of every [`ErrorKind`] but [`ErrorKind::Io`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        Self::from_bytes_with(bytes, &ReadOptions::default())
    }

    /// As [`Container::from_bytes`], with options.
    ///
    /// # Errors
    /// Of every [`ErrorKind`] but [`ErrorKind::Io`].
    pub fn from_bytes_with(bytes: Vec<u8>, options: &ReadOptions) -> Result<Self, Error> {
        Self::from_source(Source::Memory(bytes), options)
    }

    pub(crate) fn from_source(source: Source, options: &ReadOptions) -> Result<Self, Error> {
        Self::read(source, options, |_, _| Ok(())).map(|(container, ())| container)
    }

    /// As [`Container::open_with`], of a file that `admit` lets in by its digest and seals, before anything else is decoded.
    pub(crate) fn read<T>(
        source: Source,
        options: &ReadOptions,
        admit: impl FnOnce(FileDigest, &SealBlock) -> Result<T, Fault>,
    ) -> Result<(Self, T), Error> {
        let path = source.path().map(Path::to_owned);
        Self::read_parts(source, options, admit).map_err(|fault| fault.read(path.as_deref()))
    }

    /// Cheapest and most explanatory check first; each part is verified before the next is believed.
    fn read_parts<T>(
        source: Source,
        options: &ReadOptions,
        admit: impl FnOnce(FileDigest, &SealBlock) -> Result<T, Fault>,
    ) -> Result<(Self, T), Fault> {
        let length = source.length()?;
        let header = Header::parse(&source.read_vec(0, length.min(HEADER_BYTES))?, &options.reader)?;
        let expected = header.file_length();
        let Some(seals) = SealBlock::read(&source, expected, length)? else {
            return Err(ContainerError::Length { length, expected }.into());
        };
        let table_bytes = source.read_vec(header.table_offset(), header.table_length())?;
        let table = SectionTable::parse(&header, &table_bytes)?;
        let file_digest = file_digest(&header, &table_bytes);
        let admitted = admit(file_digest, &seals)?;
        let mut requirements = Requirements::of_table(header.window(), &table);
        if let Codec::Unknown(_) = table.manifest().codec {
            options.reader.check(&requirements)?;
        }
        let bytes = payload(&source, table.manifest())?;
        requirements.manifest = Some(Preamble::decode(&bytes)?);
        let verdict = options.reader.check(&requirements);
        if !options.describe_only {
            verdict.clone()?;
        }
        // What cannot be understood is no fault of a file that needs more than this reader knows.
        let manifest = checked_manifest(&bytes, &header, &table).map_err(|fault| match verdict {
            Err(incompatible) => incompatible.into(),
            Ok(()) => fault,
        })?;
        let container = Self {
            requirements,
            verification: Verification::new(&table),
            source,
            header,
            table,
            manifest,
            file_digest,
            seals,
        };
        Ok((container, admitted))
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The section table.
    #[must_use]
    pub fn sections(&self) -> &SectionTable {
        &self.table
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What the file needs of its reader, and until when every release reads it.
    #[must_use]
    pub fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// Names the file byte for byte.
    #[must_use]
    pub fn file_digest(&self) -> FileDigest {
        self.file_digest
    }

    /// Names what the file contains, whatever its codecs and layout.
    #[must_use]
    pub fn content_digest(&self) -> ContentDigest {
        content_digest(&self.table)
    }

    /// Whether a seal block follows the section table, sound or not.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        !self.seals.is_empty()
    }

    /// The seals, which are not yet verified: [`crate::trust::TrustPolicy`] and [`crate::seal::Ed25519Seal::verify`] do that.
    ///
    /// # Errors
    /// When the seal block is damaged, or of a later version.
    pub fn seals(&self) -> Result<Seals, Error> {
        self.seals.parse().map_err(|error| self.error(error.into()))
    }

    /// The verified program, at most [`limits::PAYLOAD_BYTES`] long.
    ///
    /// # Errors
    /// When the section is damaged or cannot be read.
    pub fn program(&self) -> Result<Vec<u8>, Error> {
        payload(&self.source, self.table.program()).map_err(|fault| self.error(fault))
    }

    /// The verified raw bytes of any section, copied into memory: at most [`limits::PAYLOAD_BYTES`], so a large constant
    /// is read with [`Container::constant_bytes`] or [`Container::read_constant`].
    ///
    /// # Errors
    /// When the section is damaged, too large, of a codec of a later version, of another file, or cannot be read.
    pub fn section_bytes(&self, id: SectionId) -> Result<Vec<u8>, Error> {
        self.section(id)
            .and_then(|section| payload(&self.source, section))
            .map_err(|fault| self.error(fault))
    }

    /// A section as it is stored, of which only the stored bytes are verified: for a copy of it.
    pub(crate) fn stored_bytes(&self, id: SectionId) -> Result<Vec<u8>, Error> {
        self.section(id)
            .and_then(|section| stored(&self.source, section))
            .map_err(|fault| self.error(fault))
    }

    /// The bytes of a constant in place, page-aligned in a file; its chunks are verified by the first call.
    ///
    /// The slice of an opened file is a shared memory map. Artifacts are replaced by rename, which does not disturb it. A
    /// process that *truncates* the file kills this one with `SIGBUS` when the lost pages are touched, and one that
    /// *writes* into it changes verified bytes. Where a file may be written by someone who is not trusted,
    /// or lies on a file system that can lose it, use [`Container::read_constant`].
    ///
    /// # Errors
    /// When the constant is damaged, of another file, no constant, or cannot be read.
    pub fn constant_bytes(&self, id: SectionId) -> Result<&[u8], Error> {
        self.section(id)
            .and_then(|section| self.verified_range(id, section, 0..section.raw_length))
            .map_err(|fault| self.error(fault))
    }

    /// As [`Container::constant_bytes`], for a `range` in bytes: only the chunks that it touches are read and verified.
    ///
    /// # Errors
    /// As [`Container::constant_bytes`], and when the range is not within the constant.
    pub fn constant_range(&self, id: SectionId, range: Range<u64>) -> Result<&[u8], Error> {
        self.section(id)
            .and_then(|section| self.verified_range(id, section, range))
            .map_err(|fault| self.error(fault))
    }

    /// Copies a whole constant into `buffer`, which must have its length, and verifies the copy: nobody can change it
    /// afterwards, and a truncated file is an error. After an error the content of `buffer` is not to be used.
    ///
    /// # Errors
    /// As [`Container::constant_bytes`], and when the length of `buffer` differs.
    pub fn read_constant(&self, id: SectionId, buffer: &mut [u8]) -> Result<(), Error> {
        self.section(id)
            .and_then(|section| self.copy_constant(id, section, buffer))
            .map_err(|fault| self.error(fault))
    }

    /// Verifies one section completely, with little memory: stored bytes, and raw bytes where they differ.
    ///
    /// # Errors
    /// When the section is damaged, of another file, or cannot be read. The raw bytes of an unknown codec are not checked.
    pub fn verify_section(&self, id: SectionId) -> Result<(), Error> {
        self.section(id)
            .and_then(|section| self.verify(id, section))
            .map_err(|fault| self.error(fault))
    }

    /// Verifies every byte of the file: all sections, that the padding between them is zero, and that the seals are whole.
    /// Whether a seal is a valid one of the file is another question: see [`Container::seals`].
    ///
    /// # Errors
    /// At the first section, padding or seal that is damaged or cannot be read.
    pub fn verify_all(&self) -> Result<(), Error> {
        self.check_padding().map_err(|fault| self.error(fault))?;
        self.seals()?;
        self.table.iter().try_for_each(|(id, _)| self.verify_section(id))
    }

    pub(crate) fn seal_block(&self) -> &SealBlock {
        &self.seals
    }

    fn section(&self, id: SectionId) -> Result<&Section, Fault> {
        Ok(self.table.section(id).ok_or(ContainerError::ForeignSection)?)
    }

    fn error(&self, fault: Fault) -> Error {
        fault.read(self.source.path())
    }

    fn constant_chunks(&self, section: &Section) -> Result<&[ChunkDigest], Fault> {
        if section.kind != SectionKind::CONSTANT {
            return Err(ConstantError::NotAConstant(section.name.clone()).into());
        }
        if let Codec::Unknown(number) = section.codec {
            return Err(unknown_codec(section, number));
        }
        if section.stored_length <= CHUNK_BYTES {
            return Ok(&[]);
        }
        self.verification
            .digests(&self.table, |row| payload(&self.source, row))
    }

    fn verified_range(&self, id: SectionId, section: &Section, range: Range<u64>) -> Result<&[u8], Fault> {
        let digests = self.constant_chunks(section)?;
        let length = section.stored_length;
        if range.start > range.end || range.end > length {
            let Range { start, end } = range;
            return Err(ConstantError::Range {
                name: section.name.clone(),
                length,
                start,
                end,
            }
            .into());
        }
        for chunk in chunks_of(&range).filter(|chunk| !self.verification.is_verified(id, *chunk)) {
            let place = chunk_range(chunk, length);
            let bytes = self
                .source
                .in_place(section.offset + place.start, place.end - place.start)?;
            self.verification
                .check_chunk(id, section, digests, chunk, bytes)?;
            self.verification.set_verified(id, chunk);
        }
        self.source
            .in_place(section.offset + range.start, range.end - range.start)
    }

    fn copy_constant(&self, id: SectionId, section: &Section, buffer: &mut [u8]) -> Result<(), Fault> {
        let digests = self.constant_chunks(section)?;
        let length = section.stored_length;
        if buffer.len() as u64 != length {
            let (name, end) = (section.name.clone(), buffer.len() as u64);
            return Err(ConstantError::Range {
                name,
                length,
                start: 0,
                end,
            }
            .into());
        }
        for (chunk, bytes) in (0..).zip(buffer.chunks_mut(CHUNK_BYTES as usize)) {
            self.source.read(section.offset + chunk * CHUNK_BYTES, bytes)?;
            self.verification
                .check_chunk(id, section, digests, chunk, bytes)?;
        }
        Ok(())
    }

    fn verify(&self, id: SectionId, section: &Section) -> Result<(), Fault> {
        match (section.kind, section.codec) {
            (_, Codec::Unknown(_)) => stored(&self.source, section).map(drop),
            (SectionKind::CONSTANT, _) => self.verify_constant(id, section),
            _ => verify_payload(&self.source, section),
        }
    }

    fn verify_constant(&self, id: SectionId, section: &Section) -> Result<(), Fault> {
        let digests = self.constant_chunks(section)?;
        let length = section.stored_length;
        let mut buffer = vec![0; length.min(CHUNK_BYTES) as usize];
        for chunk in chunks_of(&(0..length)) {
            let place = chunk_range(chunk, length);
            let bytes = &mut buffer[..(place.end - place.start) as usize];
            self.source.read(section.offset + place.start, bytes)?;
            self.verification
                .check_chunk(id, section, digests, chunk, bytes)?;
        }
        if length == 0 {
            self.verification.check_chunk(id, section, digests, 0, &[])
        } else {
            Ok(())
        }
    }

    fn check_padding(&self) -> Result<(), Fault> {
        let mut end = HEADER_BYTES;
        let starts = self
            .table
            .iter()
            .map(|(_, section)| (section.offset, section.stored_length));
        for (start, length) in starts.chain([(self.header.table_offset(), 0)]) {
            // Shorter than an alignment, by the rules of the table.
            if self
                .source
                .read_vec(end, start - end)?
                .iter()
                .any(|byte| *byte != 0)
            {
                return Err(ContainerError::Padding {
                    start: end,
                    end: start,
                }
                .into());
            }
            end = start + length;
        }
        Ok(())
    }
}

/// Stored bytes of a section that fits into memory, verified.
fn stored(source: &Source, section: &Section) -> Result<Vec<u8>, Fault> {
    limits::PAYLOAD_BYTES.check(section.stored_length)?;
    let stored = source.read_vec(section.offset, section.stored_length)?;
    if Digest::of(&stored) != *section.stored_digest.digest() {
        return Err(ContainerError::Damaged(section.name.clone()).into());
    }
    Ok(stored)
}

/// Raw bytes of a section that fits into memory: the stored bytes are verified before they are decompressed.
fn payload(source: &Source, section: &Section) -> Result<Vec<u8>, Fault> {
    limits::PAYLOAD_BYTES.check(section.raw_length)?;
    let stored = stored(source, section)?;
    match section.codec {
        // The table has checked that lengths and digests agree.
        Codec::None => Ok(stored),
        Codec::Zstd => {
            let raw = codec::decode_zstd(&stored, section.raw_length);
            let raw = raw.map_err(|error| undecoded(section, error))?;
            check_raw(section, Digest::of(&raw))?;
            Ok(raw)
        }
        Codec::Unknown(number) => Err(unknown_codec(section, number)),
    }
}

/// Verifies what [`payload`] gives, without the memory for it.
fn verify_payload(source: &Source, section: &Section) -> Result<(), Fault> {
    let stored = stored(source, section)?;
    if section.codec != Codec::Zstd {
        return Ok(());
    }
    limits::PAYLOAD_BYTES.check(section.raw_length)?;
    let digest = codec::digest_zstd(&stored, section.raw_length);
    check_raw(section, digest.map_err(|error| undecoded(section, error))?)
}

fn check_raw(section: &Section, digest: Digest) -> Result<(), Fault> {
    if digest == *section.raw_digest.digest() {
        Ok(())
    } else {
        Err(ContainerError::RawDigest(section.name.clone()).into())
    }
}

fn undecoded(section: &Section, source: CodecError) -> Fault {
    let name = section.name.clone();
    ContainerError::Codec { name, source }.into()
}

fn unknown_codec(section: &Section, number: u8) -> Fault {
    let name = section.name.clone();
    ContainerError::UnknownCodec { name, number }.into()
}

fn checked_manifest(bytes: &[u8], header: &Header, table: &SectionTable) -> Result<Manifest, Fault> {
    let manifest = Manifest::decode(bytes)?;
    manifest.check_version(header.window().written)?;
    check_constants(&manifest, table)?;
    Ok(manifest)
}

/// Manifest and table agree: each derivative and each constant has its section, and no section is without a use.
fn check_constants(manifest: &Manifest, table: &SectionTable) -> Result<(), ContainerError> {
    let (sections, described) = (table.derivatives().count(), manifest.derivatives.len());
    if sections != described {
        return Err(ContainerError::Derivatives { sections, described });
    }
    let mut unused: BTreeMap<_, _> = table
        .iter()
        .filter(|(_, section)| section.kind == SectionKind::CONSTANT)
        .map(|(_, section)| (section.name.as_str(), (section.raw_digest, false)))
        .collect();
    for constant in manifest.parts().flat_map(|part| part.constants) {
        match unused.get_mut(constant.section.as_str()) {
            Some((digest, used)) if *digest == constant.digest => *used = true,
            _ => return Err(ContainerError::Constant(constant.argument)),
        }
    }
    match unused.iter().find(|(_, (_, used))| !used) {
        Some((name, _)) => Err(ContainerError::UnusedConstant((*name).to_owned())),
        None => Ok(()),
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ContainerError {
    #[error(
        "the file has {length} bytes, its header says {expected}; it was cut off or something was appended"
    )]
    Length { length: u64, expected: u64 },
    #[error(
        "section `{0}` is damaged: its digest does not match the section table's; get a good copy of the file"
    )]
    Damaged(String),
    #[error("section `{name}` cannot be decompressed")]
    Codec { name: String, source: CodecError },
    #[error("section `{0}` decompresses to other bytes than the section table's digest names")]
    RawDigest(String),
    #[error(
        "section `{name}` is stored with codec {number}, which this release does not know; install a newer one to read it"
    )]
    UnknownCodec { name: String, number: u8 },
    #[error("the padding between bytes {start} and {end} is not zero")]
    Padding { start: u64, end: u64 },
    #[error("the manifest's constant for argument {0} names no constant section of that digest")]
    Constant(u32),
    #[error("constant section `{0}` is not used by the manifest")]
    UnusedConstant(String),
    #[error("the file has {sections} derivatives, its manifest describes {described}")]
    Derivatives { sections: usize, described: usize },
    #[error("the section id belongs to another file")]
    ForeignSection,
}

impl Classify for ContainerError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownCodec { .. } => ErrorKind::Upgrade,
            _ => ErrorKind::FixInput,
        }
    }
}
