//! The section table: what lies where, in which form, and with which digests.
//!
//! The table has one layout for given sections: they follow each other in the order of the rows, each at the first offset
//! that its alignment allows. Overlaps, gaps and offsets outside the file are therefore impossible to express.

use std::collections::BTreeMap;
use std::fmt;

use artifact_core::chunk::{ChunkDigest, chunk_count};
use artifact_core::digest::Digest;
use artifact_core::entity::EntityId;
use artifact_core::entity_id;
use artifact_core::limit::Limit;

use crate::error::{Classify, ErrorKind, Fault};
use crate::fields::{Fields, Short};
use crate::header::{ALIGNMENT_BYTES, HEADER_BYTES, Header};
use crate::identity::{RawDigest, StoredDigest};
use crate::limits;

/// Alignment of constants: a page, so that a mapped constant can be handed to an engine as it lies.
pub const CONSTANT_ALIGNMENT_BYTES: u64 = 4096;

/// Length of a row without its name.
pub(crate) const ROW_BYTES: u64 = 96;

const REQUIRED_FLAG: u16 = 1;

/// The exponents of two that a row may state as its alignment: 64 bytes to 2 MiB.
pub(crate) const ALIGNMENT_LOGS: std::ops::RangeInclusive<u8> = 6..=21;

entity_id! {
    /// A section, by its place in the table.
    pub struct SectionId("section");
}

/// What a section holds. Numbers are permanent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectionKind(u16);

impl SectionKind {
    /// The manifest ([`crate::manifest::Manifest`]); exactly one.
    pub const MANIFEST: Self = Self(1);
    /// The program, in the format that the manifest names; exactly one.
    pub const PROGRAM: Self = Self(2);
    /// The bytes of a hoisted constant, stored as they are.
    pub const CONSTANT: Self = Self(3);
    /// The chunk digests of all constants of more than one chunk; at most one.
    pub const CHUNK_DIGESTS: Self = Self(4);
    /// The program of a derivative, in the format of the program: `vjp/1` computes the vector-Jacobian product of the
    /// program, `vjp/2` that of `vjp/1`, and so on. Optional: who only runs the program does without.
    pub const DERIVATIVE: Self = Self(5);

    /// A kind by number: 6 to 0x7fff are reserved for later versions, from 0x8000 on they belong to applications.
    #[must_use]
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The number in the file.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Whether this crate knows what such a section means.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.rule().is_some()
    }

    fn rule(self) -> Option<&'static KindRule> {
        KINDS.iter().find(|rule| rule.kind == self)
    }
}

/// How often a kind occurs in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    AtMostOne,
    Any,
}

/// The form of the sections of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindRule {
    pub(crate) kind: SectionKind,
    pub(crate) name: &'static str,
    pub(crate) count: Count,
    /// What its flag says.
    pub(crate) required: bool,
    pub(crate) alignment: u64,
    pub(crate) may_be_compressed: bool,
    /// Of the raw length.
    pub(crate) limit: Limit,
}

/// The kinds of this version, as `FORMAT.md` lists them.
pub(crate) const KINDS: &[KindRule] = &[
    KindRule {
        kind: SectionKind::MANIFEST,
        name: "manifest",
        count: Count::One,
        required: true,
        alignment: ALIGNMENT_BYTES,
        may_be_compressed: true,
        limit: limits::MANIFEST_BYTES,
    },
    KindRule {
        kind: SectionKind::PROGRAM,
        name: "program",
        count: Count::One,
        required: true,
        alignment: ALIGNMENT_BYTES,
        may_be_compressed: true,
        limit: limits::PAYLOAD_BYTES,
    },
    KindRule {
        kind: SectionKind::CONSTANT,
        name: "constant",
        count: Count::Any,
        required: true,
        alignment: CONSTANT_ALIGNMENT_BYTES,
        may_be_compressed: false,
        limit: limits::CONSTANT_BYTES,
    },
    KindRule {
        kind: SectionKind::CHUNK_DIGESTS,
        name: "chunk-digests",
        count: Count::AtMostOne,
        required: true,
        alignment: ALIGNMENT_BYTES,
        may_be_compressed: false,
        limit: limits::CHUNK_DIGESTS_BYTES,
    },
    KindRule {
        kind: SectionKind::DERIVATIVE,
        name: "derivative",
        count: Count::Any,
        required: false,
        alignment: ALIGNMENT_BYTES,
        may_be_compressed: true,
        limit: limits::PAYLOAD_BYTES,
    },
];

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule() {
            Some(rule) => f.write_str(rule.name),
            None => write!(f, "kind-{}", self.0),
        }
    }
}

impl fmt::Debug for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SectionKind({self})")
    }
}

/// How the stored bytes of a section become its raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// Stored as they are.
    None,
    /// One zstd frame.
    Zstd,
    /// A codec of a later version: a reader refuses the file if the section is required, and does not read it otherwise.
    Unknown(u8),
}

impl Codec {
    const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Zstd => 1,
            Self::Unknown(number) => number,
        }
    }

    pub(crate) const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Zstd,
            number => Self::Unknown(number),
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Zstd => f.write_str("zstd"),
            Self::Unknown(number) => write!(f, "codec-{number}"),
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub kind: SectionKind,
    /// Whether a reader that does not know the kind must refuse the file.
    pub required: bool,
    /// Unique in the file; ASCII letters, digits and `._/-`.
    pub name: String,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes; a power of two that divides `offset`.
    pub alignment: u64,
    /// Bytes in the file.
    pub stored_length: u64,
    /// Bytes after decoding.
    pub raw_length: u64,
    /// How stored bytes become raw bytes.
    pub codec: Codec,
    /// Checked before decoding.
    pub stored_digest: StoredDigest,
    /// Identity of the content, whatever the codec.
    pub raw_digest: RawDigest,
}

impl Section {
    pub(crate) fn to_row(&self) -> Vec<u8> {
        let mut row = Vec::with_capacity(ROW_BYTES as usize);
        row.extend_from_slice(&self.kind.0.to_le_bytes());
        row.extend_from_slice(&u16::from(self.required).to_le_bytes());
        row.push(self.codec.number());
        // At most 63.
        row.push(self.alignment.trailing_zeros() as u8);
        // A longer name is refused when the writer reads its own table back.
        row.extend_from_slice(&(self.name.len().min(usize::from(u16::MAX)) as u16).to_le_bytes());
        for number in [self.offset, self.stored_length, self.raw_length] {
            row.extend_from_slice(&number.to_le_bytes());
        }
        row.extend_from_slice(self.stored_digest.digest().as_bytes());
        row.extend_from_slice(self.raw_digest.digest().as_bytes());
        row
    }
}

/// The sections of a file, in the order of their offsets, all rules of the format checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionTable {
    sections: Vec<Section>,
    by_name: BTreeMap<String, usize>,
    manifest: usize,
    program: usize,
    chunk_digests: Option<usize>,
}

impl SectionTable {
    /// Reads and checks the table of a file with `header`.
    pub(crate) fn parse(header: &Header, bytes: &[u8]) -> Result<Self, Fault> {
        if Digest::of(bytes) != header.table_digest() {
            return Err(TableError::Digest.into());
        }
        let rows_length = u64::from(header.section_count()) * ROW_BYTES;
        let (rows, names) = usize::try_from(rows_length)
            .ok()
            .and_then(|length| bytes.split_at_checked(length))
            .ok_or(TableError::Length)?;
        let (mut names, mut sections) = (Fields::new(names), Vec::new());
        for row in rows.chunks_exact(ROW_BYTES as usize) {
            sections.push(parse_row(row, &mut names, sections.len())?);
        }
        if !names.is_empty() {
            return Err(TableError::Length.into());
        }
        let by_name = index_names(&sections)?;
        check_layout(&sections, header)?;
        check_counts(&sections)?;
        check_derivatives(&sections)?;
        check_decompressed(&sections)?;
        let place = |kind| sections.iter().position(|section| section.kind == kind);
        let one = |kind| place(kind).ok_or(TableError::Missing(kind));
        let table = Self {
            manifest: one(SectionKind::MANIFEST)?,
            program: one(SectionKind::PROGRAM)?,
            chunk_digests: place(SectionKind::CHUNK_DIGESTS),
            sections,
            by_name,
        };
        table.check_chunk_digests()?;
        Ok(table)
    }

    /// The bytes of the table: the rows, then the names.
    pub(crate) fn encode(sections: &[Section]) -> Vec<u8> {
        let rows = sections.iter().flat_map(Section::to_row);
        rows.chain(sections.iter().flat_map(|section| section.name.bytes()))
            .collect()
    }

    /// Every section with its id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (SectionId, &Section)> {
        self.sections
            .iter()
            .enumerate()
            .map(|(index, section)| (SectionId::from_index(index as u32), section))
    }

    /// The section, or `None` if `id` is of another file.
    #[must_use]
    pub fn section(&self, id: SectionId) -> Option<&Section> {
        self.sections.get(id.index())
    }

    /// The section of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(SectionId, &Section)> {
        let index = *self.by_name.get(name)?;
        Some((SectionId::from_index(index as u32), &self.sections[index]))
    }

    /// The manifest's row.
    #[must_use]
    pub fn manifest(&self) -> &Section {
        &self.sections[self.manifest]
    }

    /// The program's row.
    #[must_use]
    pub fn program(&self) -> &Section {
        &self.sections[self.program]
    }

    /// The derivatives of the program, in order, from the first.
    pub fn derivatives(&self) -> impl Iterator<Item = (SectionId, &Section)> {
        self.iter()
            .filter(|(_, section)| section.kind == SectionKind::DERIVATIVE)
    }

    /// The row of the chunk digests, where a constant has more than one chunk.
    #[must_use]
    pub fn chunk_digests(&self) -> Option<&Section> {
        self.chunk_digests.map(|index| &self.sections[index])
    }

    /// There are exactly as many chunk digests as the constants have, and none without need.
    fn check_chunk_digests(&self) -> Result<(), Fault> {
        let constants = self
            .sections
            .iter()
            .filter(|section| section.kind == SectionKind::CONSTANT);
        // Every stored length is within the file, so the sum of their chunk counts does not overflow.
        let chunks: u64 = constants
            .map(|constant| chunk_count(constant.stored_length))
            .sum();
        let expected = chunks.saturating_mul(ChunkDigest::BYTES as u64);
        let found = self.chunk_digests().map(|section| section.raw_length);
        if found != (expected > 0).then_some(expected) {
            let found = found.unwrap_or(0);
            return Err(TableError::ChunkDigests { expected, found }.into());
        }
        Ok(())
    }
}

fn parse_row(row: &[u8], names: &mut Fields<'_>, index: usize) -> Result<Section, Fault> {
    let mut fields = Fields::new(row);
    let (kind, flags) = (SectionKind(fields.u16()?), fields.u16()?);
    let codec = Codec::from_number(fields.u8()?);
    let (alignment_log, name_length) = (fields.u8()?, fields.u16()?);
    let name = names
        .bytes(name_length.into())
        .map_err(|Short| TableError::Length)?;
    let name = parse_name(name).ok_or(TableError::Name(index))?;
    if !ALIGNMENT_LOGS.contains(&alignment_log) {
        return Err(TableError::Alignment {
            name,
            log: alignment_log,
        }
        .into());
    }
    if flags & !REQUIRED_FLAG != 0 || kind.0 == 0 {
        return Err(TableError::Reserved(name).into());
    }
    let section = Section {
        kind,
        required: flags & REQUIRED_FLAG != 0,
        name,
        offset: fields.u64()?,
        alignment: 1 << alignment_log,
        stored_length: fields.u64()?,
        raw_length: fields.u64()?,
        codec,
        stored_digest: StoredDigest::new(fields.digest()?),
        raw_digest: RawDigest::new(fields.digest()?),
    };
    check_kind(&section)?;
    check_codec(&section)?;
    Ok(section)
}

fn parse_name(bytes: &[u8]) -> Option<String> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._/-".contains(byte);
    let fits = limits::SECTION_NAME_BYTES.check(bytes.len() as u64).is_ok() && !bytes.is_empty();
    (fits && bytes.iter().all(allowed)).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// A kind that is known has its form. Kinds and codecs that are not known are left to [`crate::compat`].
fn check_kind(section: &Section) -> Result<(), Fault> {
    let Some(rule) = section.kind.rule() else {
        return Ok(());
    };
    let compressed = section.codec == Codec::Zstd;
    let same_form = section.required == rule.required && section.alignment == rule.alignment;
    if !same_form || (compressed && !rule.may_be_compressed) {
        return Err(TableError::Form {
            name: section.name.clone(),
            kind: section.kind,
        }
        .into());
    }
    Ok(rule.limit.check(section.raw_length)?)
}

fn check_codec(section: &Section) -> Result<(), TableError> {
    let same = section.stored_length == section.raw_length
        && section.stored_digest.digest() == section.raw_digest.digest();
    if section.codec == Codec::None && !same {
        return Err(TableError::PlainDiffers(section.name.clone()));
    }
    Ok(())
}

/// Each section is limited by itself; a file may have many.
fn check_decompressed(sections: &[Section]) -> Result<(), Fault> {
    let compressed = sections.iter().filter(|section| section.codec == Codec::Zstd);
    let together = compressed.fold(0_u64, |sum, section| sum.saturating_add(section.raw_length));
    Ok(limits::DECOMPRESSED_BYTES.check(together)?)
}

/// Name of the derivative of an order, from 1.
pub(crate) fn derivative_name(order: usize) -> String {
    format!("vjp/{order}")
}

/// Derivatives are named by their order and follow each other: none is missing below another.
fn check_derivatives(sections: &[Section]) -> Result<(), Fault> {
    let derivatives = sections
        .iter()
        .filter(|section| section.kind == SectionKind::DERIVATIVE);
    for (order, section) in (1..).zip(derivatives) {
        limits::DERIVATIVES.check(order as u64)?;
        let expected = derivative_name(order);
        if section.name != expected {
            let name = section.name.clone();
            return Err(TableError::Derivative { name, expected }.into());
        }
    }
    Ok(())
}

fn index_names(sections: &[Section]) -> Result<BTreeMap<String, usize>, TableError> {
    let mut by_name = BTreeMap::new();
    for (index, section) in sections.iter().enumerate() {
        if by_name.insert(section.name.clone(), index).is_some() {
            return Err(TableError::DuplicateName(section.name.clone()));
        }
    }
    Ok(by_name)
}

/// Each section begins where the one before it ends, rounded up to its alignment; the table follows the last.
fn check_layout(sections: &[Section], header: &Header) -> Result<(), TableError> {
    let mut end = HEADER_BYTES;
    for section in sections {
        let expected = end.checked_next_multiple_of(section.alignment);
        if expected != Some(section.offset) {
            return Err(TableError::Offset {
                name: section.name.clone(),
                offset: section.offset,
                end,
                alignment: section.alignment,
            });
        }
        end = section
            .offset
            .checked_add(section.stored_length)
            .filter(|end| *end <= header.table_offset())
            .ok_or_else(|| TableError::OutOfRange(section.name.clone()))?;
    }
    if end.checked_next_multiple_of(ALIGNMENT_BYTES) != Some(header.table_offset()) {
        return Err(TableError::TableOffset {
            offset: header.table_offset(),
            end,
        });
    }
    Ok(())
}

fn check_counts(sections: &[Section]) -> Result<(), TableError> {
    for rule in KINDS {
        let count = sections
            .iter()
            .filter(|section| section.kind == rule.kind)
            .count();
        match (rule.count, count) {
            (Count::One, 0) => return Err(TableError::Missing(rule.kind)),
            (Count::One | Count::AtMostOne, 2..) => return Err(TableError::Twice(rule.kind)),
            _ => {}
        }
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TableError {
    #[error(
        "the section table is damaged: its digest does not match the header's; get a good copy of the file"
    )]
    Digest,
    #[error("the section table has not the length that its rows and names need")]
    Length,
    #[error(
        "the name of section {0} is empty, too long, or has characters other than letters, digits and `._/-`"
    )]
    Name(usize),
    #[error("two sections are named `{0}`")]
    DuplicateName(String),
    #[error("section `{name}` is aligned to 2^{log} bytes; 2^6 to 2^21 are allowed")]
    Alignment { name: String, log: u8 },
    #[error("section `{0}` uses flags or a kind that are reserved in this version")]
    Reserved(String),
    #[error("section `{name}` has not the form of a {kind} section (required flag, alignment and codec)")]
    Form { name: String, kind: SectionKind },
    #[error("section `{0}` is not compressed, yet its stored and raw lengths or digests differ")]
    PlainDiffers(String),
    #[error(
        "section `{name}` begins at {offset}; after byte {end} and aligned to {alignment} it must follow without a gap or overlap"
    )]
    Offset {
        name: String,
        offset: u64,
        end: u64,
        alignment: u64,
    },
    #[error("section `{0}` does not end before the section table")]
    OutOfRange(String),
    #[error("the section table begins at {offset}, but the last section ends at {end}")]
    TableOffset { offset: u64, end: u64 },
    #[error("a derivative is named `{name}` where `{expected}` follows")]
    Derivative { name: String, expected: String },
    #[error("there is no {0} section")]
    Missing(SectionKind),
    #[error("there is more than one {0} section")]
    Twice(SectionKind),
    #[error("the constants need {expected} bytes of chunk digests, the file has {found}")]
    ChunkDigests { expected: u64, found: u64 },
}

impl Classify for TableError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FixInput
    }
}
