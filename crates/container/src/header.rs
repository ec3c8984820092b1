//! The fixed header: 128 bytes that say what the file is, who may read it, how long it is and where the section table lies.
//!
//! The byte layout is in `schemas/artifact/FORMAT.md`. Magic, versions and checksum keep their places in every future
//! version, so that any reader can tell a damaged file from a newer one.

use artifact_core::digest::Digest;
use artifact_core::version::{FormatVersion, ReaderRange, Window};

use crate::compat::{Reader, Requirements};
use crate::error::{Classify, ErrorKind, Fault};
use crate::fields::{Fields, Short};
use crate::limits;

/// Version of the container that this crate writes. `docs/VERSIONING.md` says how the next one is made.
///
/// Changelog:
/// * 0.9: a preview, without a compatibility window. This release still reads it.
/// * 1.0: the first version that promises one. Against 0.9: the manifest requires `producer.released` and has
///   `custom_call_waivers`; `program.version` has three numbers; sections of kind 5 are derivatives of the program, which
///   `derivatives` describes; `interface` says how the program is called from where it was written; what
///   decides about reading (producer, program, platforms, required features, calling convention) has a fixed form and is
///   decoded first; reserved bytes and flags stay zero for the whole major version.
pub const CONTAINER_VERSION: FormatVersion = FormatVersion::new(1, 0);

/// BLAKE3 of the description that [`crate::schema`] makes of this version. A change of the format without a new version
/// makes it wrong, which a test finds.
#[cfg(test)]
pub(crate) const SCHEMA_DIGEST: &str = "756b392ca1d601e2f9f717bf95e3033c552e440b5bbf0d6d08d09d70e970a170";

/// The oldest reader that understands what this crate writes: the first of the major version, since features and required
/// sections tell what an older minor version lacks.
pub const OLDEST_READER: FormatVersion = FormatVersion::new(1, 0);

/// The container versions that this crate reads.
pub const READABLE: ReaderRange = ReaderRange {
    oldest: FormatVersion::new(0, 9),
    newest: CONTAINER_VERSION,
};

/// First bytes of every artifact. As in PNG, the first is not ASCII and the line ends show a transfer that changes them.
pub const MAGIC: [u8; 8] = *b"\x89ART\r\n\x1a\n";

/// Length of the header.
pub const HEADER_BYTES: u64 = 128;

/// Where sections without a need of their own, and the section table, are aligned.
pub const ALIGNMENT_BYTES: u64 = 64;

const CHECKED_BYTES: usize = 96;

/// The header of a file, with its magic, checksum, versions and numbers checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    window: Window,
    file_length: u64,
    table_offset: u64,
    table_length: u64,
    section_count: u32,
    table_digest: Digest,
}

impl Header {
    /// For a table of `section_count` rows at `table_offset`, which ends the file.
    pub(crate) fn new(table_offset: u64, table: &[u8], section_count: u32) -> Self {
        Self {
            window: Window {
                written: CONTAINER_VERSION,
                oldest_reader: OLDEST_READER,
            },
            file_length: table_offset + table.len() as u64,
            table_offset,
            table_length: table.len() as u64,
            section_count,
            table_digest: Digest::of(table),
        }
    }

    /// Version of the writer and the oldest reader.
    #[must_use]
    pub fn window(&self) -> Window {
        self.window
    }

    /// Length of the file in bytes, up to the end of the section table; seals may follow.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        self.file_length
    }

    /// Where the section table begins, in bytes from the start of the file.
    #[must_use]
    pub fn table_offset(&self) -> u64 {
        self.table_offset
    }

    /// Length of the section table in bytes.
    #[must_use]
    pub fn table_length(&self) -> u64 {
        self.table_length
    }

    /// Rows in the section table.
    #[must_use]
    pub fn section_count(&self) -> u32 {
        self.section_count
    }

    /// BLAKE3 of the section table.
    #[must_use]
    pub fn table_digest(&self) -> Digest {
        self.table_digest
    }

    /// Reads a header from the first bytes of a file: cheapest and most explanatory check first.
    pub(crate) fn parse(bytes: &[u8], reader: &Reader) -> Result<Self, Fault> {
        check_magic(bytes)?;
        let (checked, rest) = bytes.split_at_checked(CHECKED_BYTES).ok_or(HeaderError::Short)?;
        let checksum = Fields::new(rest).digest().map_err(|Short| HeaderError::Short)?;
        if checksum != Digest::of(checked) {
            return Err(HeaderError::Checksum.into());
        }
        let mut fields = Fields::new(checked);
        fields.bytes(MAGIC.len())?;
        let window = Window {
            written: FormatVersion::new(fields.u16()?, fields.u16()?),
            oldest_reader: FormatVersion::new(fields.u16()?, fields.u16()?),
        };
        // A newer version may give the rest of the header another meaning.
        reader.check(&Requirements::of_window(window))?;
        let (file_length, table_offset, table_length) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let (section_count, reserved) = (fields.u32()?, fields.u32()?);
        let table_digest = fields.digest()?;
        if reserved != 0 || fields.bytes(16)?.iter().any(|byte| *byte != 0) {
            return Err(HeaderError::Reserved.into());
        }
        let header = Self {
            window,
            file_length,
            table_offset,
            table_length,
            section_count,
            table_digest,
        };
        header.check_numbers()?;
        Ok(header)
    }

    /// The window is not upside down, the table ends what the header covers and is within the limits.
    fn check_numbers(&self) -> Result<(), Fault> {
        if self.window.oldest_reader > self.window.written {
            return Err(HeaderError::Window(self.window).into());
        }
        let end = self.table_offset.checked_add(self.table_length);
        if end != Some(self.file_length)
            || self.table_offset < HEADER_BYTES
            || !self.table_offset.is_multiple_of(ALIGNMENT_BYTES)
        {
            return Err(HeaderError::TableLocation {
                offset: self.table_offset,
                length: self.table_length,
                file_length: self.file_length,
            }
            .into());
        }
        limits::SECTIONS.check(self.section_count.into())?;
        limits::TABLE_BYTES.check(self.table_length)?;
        Ok(())
    }

    /// The bytes of the header.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES as usize] {
        let Self {
            window,
            file_length,
            table_offset,
            table_length,
            section_count,
            table_digest,
        } = self;
        let mut bytes = Vec::with_capacity(HEADER_BYTES as usize);
        bytes.extend_from_slice(&MAGIC);
        for version in [window.written, window.oldest_reader] {
            bytes.extend_from_slice(&version.major.to_le_bytes());
            bytes.extend_from_slice(&version.minor.to_le_bytes());
        }
        for number in [file_length, table_offset, table_length] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&section_count.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(table_digest.as_bytes());
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(Digest::of(&bytes).as_bytes());
        let mut header = [0; HEADER_BYTES as usize];
        header.copy_from_slice(&bytes);
        header
    }
}

/// The magic alone, so that a file which is none of ours is called that, however short it is.
fn check_magic(bytes: &[u8]) -> Result<(), HeaderError> {
    if bytes.is_empty() {
        return Err(HeaderError::Empty);
    }
    let seen = &bytes[..bytes.len().min(MAGIC.len())];
    if MAGIC.starts_with(seen) {
        return Ok(());
    }
    // `\x89ART` is there, the line ends are not: text mode replaced CRLF by LF, LF by CRLF, or cleared the high bit.
    let mangled = seen.starts_with(&MAGIC[..4]) || seen.starts_with(b"\x09ART");
    Err(if mangled {
        HeaderError::Mangled
    } else {
        HeaderError::Magic
    })
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("the file is empty")]
    Empty,
    #[error("this is not an artifact: it does not begin with the artifact magic")]
    Magic,
    #[error("the first bytes were changed by a transfer in text mode; copy the file again in binary mode")]
    Mangled,
    #[error("the file ends inside its header of {HEADER_BYTES} bytes; get a good copy of it")]
    Short,
    #[error("the header is damaged: its checksum does not match; get a good copy of the file")]
    Checksum,
    #[error("the header uses bytes that are reserved in this version")]
    Reserved,
    #[error("the header says that it was written by version {} but needs a reader of {}", .0.written, .0.oldest_reader)]
    Window(Window),
    #[error(
        "the header places a section table of {length} bytes at {offset} in a file of {file_length}; it must end the file and be aligned to {ALIGNMENT_BYTES}"
    )]
    TableLocation {
        offset: u64,
        length: u64,
        file_length: u64,
    },
}

impl Classify for HeaderError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FixInput
    }
}
