//! The header and the sections of a file.

use std::ops::Range;

use super::super::read_error::ReadError;
use super::super::{MAGIC, section};
use super::cursor::{Cursor, Read};
use crate::vhlo::Version;

/// The newest version of MLIR's bytecode.
const BYTECODE_NEWEST: u64 = 6;

/// The header, and where the sections are.
#[derive(Debug)]
pub(super) struct Sections {
    /// The version of MLIR's bytecode.
    pub(super) bytecode: u64,
    /// Who wrote it.
    pub(super) producer: String,
    places: [Option<Range<usize>>; SECTIONS],
}

const SECTIONS: usize = 9;

/// Sections that every file has; that of properties is checked where the version has it.
const REQUIRED: [(u8, &str); 5] = [
    (section::STRING, "strings"),
    (section::DIALECT, "dialects"),
    (section::ATTRIBUTE_TYPE, "attributes and types"),
    (section::ATTRIBUTE_TYPE_OFFSET, "offsets of attributes and types"),
    (section::IR, "operations"),
];

impl Sections {
    pub(super) fn read(file: &[u8]) -> Read<Self> {
        let mut cursor = Cursor::new(file, 0..file.len());
        let magic = cursor.range(MAGIC.len() as u64)?;
        if file[magic] != MAGIC {
            return Err(ReadError::malformed(
                0,
                "this is not MLIR bytecode: it does not begin with its magic",
            ));
        }
        let bytecode = cursor.varint()?;
        let producer = producer(&mut cursor)?;
        check_version(bytecode, &producer)?;
        let mut places: [Option<Range<usize>>; SECTIONS] = Default::default();
        while !cursor.is_empty() {
            let start = cursor.offset();
            let (id, place) = next_section(&mut cursor)?;
            let Some(slot) = places.get_mut(usize::from(id)) else {
                return Err(ReadError::malformed(start, format!("there is no section {id}")));
            };
            if slot.replace(place).is_some() {
                return Err(ReadError::malformed(
                    start,
                    format!("section {id} stands here a second time"),
                ));
            }
        }
        for (id, what) in REQUIRED {
            if places[usize::from(id)].is_none() {
                return Err(cursor.malformed(format!("the section of {what} is missing")));
            }
        }
        Ok(Self {
            bytecode,
            producer,
            places,
        })
    }

    /// A section; empty when it is absent.
    pub(super) fn cursor<'a>(&self, file: &'a [u8], id: u8) -> Cursor<'a> {
        let place = self.places.get(usize::from(id)).cloned().flatten();
        Cursor::new(file, place.unwrap_or(0..0))
    }

    /// The version of StableHLO that the producer names; `None` for a producer that is not StableHLO.
    pub(super) fn version(&self) -> Option<Version> {
        version_of(&self.producer)
    }
}

fn version_of(producer: &str) -> Option<Version> {
    producer.strip_prefix("StableHLO_v")?.parse().ok()
}

/// Text that ends with a zero byte.
fn producer(cursor: &mut Cursor<'_>) -> Read<String> {
    let length = cursor.rest().iter().position(|byte| *byte == 0);
    let length = length.ok_or_else(|| cursor.malformed("the producer's name does not end"))?;
    let name = String::from_utf8_lossy(&cursor.rest()[..length]).into_owned();
    cursor.range(length as u64 + 1)?;
    Ok(name)
}

fn check_version(bytecode: u64, producer: &str) -> Read<()> {
    match version_of(producer) {
        Some(version) if version.opset() > Version::CURRENT => {
            Err(ReadError::too_new(version, "the file holds a program"))
        }
        Some(version) if version < Version::MINIMUM => Err(ReadError::unsupported(format!(
            "the file holds a program of StableHLO {version}, and the oldest that is read is {}; rewrite it with a release of \
             StableHLO that reads both",
            Version::MINIMUM
        ))),
        _ if bytecode > BYTECODE_NEWEST => Err(ReadError::unsupported(format!(
            "the file is MLIR bytecode of version {bytecode}, and the newest that is read is {BYTECODE_NEWEST}; export it as a \
             portable artifact of StableHLO {} or older",
            Version::CURRENT
        ))),
        _ => Ok(()),
    }
}

/// The number and place of the section that is ahead.
pub(super) fn next_section(cursor: &mut Cursor<'_>) -> Read<(u8, Range<usize>)> {
    let id = cursor.byte()?;
    let length = cursor.varint()?;
    if id & 0x80 != 0 {
        skip_padding(cursor)?;
    }
    Ok((id & 0x7F, cursor.range(length)?))
}

const PADDING: u8 = 0xCB;

/// Skips to a multiple of the alignment that is told. It is counted from the start of the file.
fn skip_padding(cursor: &mut Cursor<'_>) -> Read<()> {
    let alignment = cursor.varint()?;
    if !alignment.is_power_of_two() || alignment > ALIGNMENT_MAX {
        return Err(cursor.malformed(format!("{alignment} is no alignment")));
    }
    while !(cursor.offset() as u64).is_multiple_of(alignment) {
        if cursor.byte()? != PADDING {
            return Err(cursor.malformed("the padding before a section is damaged"));
        }
    }
    Ok(())
}

/// Largest alignment of a section, in bytes.
const ALIGNMENT_MAX: u64 = 1 << 21;
