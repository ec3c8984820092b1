//! Strings, dialects and the names of operations.

use std::ops::Range;
use std::sync::Arc;

use artifact_ir::op::OpSpec;

use super::super::read_error::ReadError;
use super::super::{ENTRIES, MEMORY, MEMORY_FACTOR, sdy, section, since};
use super::cursor::{Cursor, Read};
use super::sections::{Sections, next_section};
use crate::vhlo::opset::{Opset, VersionedOp};

/// The strings of a file.
#[derive(Debug)]
pub(super) struct Strings<'a> {
    file: &'a [u8],
    places: Vec<Range<usize>>,
}

impl<'a> Strings<'a> {
    /// The number of strings, their lengths from the last to the first, then their bytes from the first to the last.
    pub(super) fn read(file: &'a [u8], sections: &Sections) -> Read<Self> {
        let mut cursor = sections.cursor(file, section::STRING);
        let count = entries(&mut cursor)?;
        let mut lengths = Vec::with_capacity(count);
        for _ in 0..count {
            lengths.push(cursor.varint()?);
        }
        let mut places = Vec::with_capacity(count);
        for length in lengths.into_iter().rev() {
            let place = cursor.range(length)?;
            // Each ends with a zero byte, which is not part of it.
            if place.is_empty() || file[place.end - 1] != 0 {
                return Err(ReadError::malformed(
                    place.start,
                    "a string does not end with a zero byte",
                ));
            }
            places.push(place.start..place.end - 1);
        }
        cursor.finish("the section of strings")?;
        Ok(Self { file, places })
    }

    pub(super) fn bytes(&self, cursor: &Cursor<'_>, index: u64) -> Read<&'a [u8]> {
        let place = usize::try_from(index)
            .ok()
            .and_then(|index| self.places.get(index));
        let place = place.ok_or_else(|| cursor.malformed(format!("there is no string {index}")))?;
        Ok(&self.file[place.clone()])
    }

    pub(super) fn text(&self, cursor: &Cursor<'_>, index: u64) -> Read<&'a str> {
        let bytes = self.bytes(cursor, index)?;
        std::str::from_utf8(bytes)
            .map_err(|_| cursor.malformed(format!("the name in string {index} is not UTF-8")))
    }
}

/// The number of entries of a table.
pub(super) fn entries(cursor: &mut Cursor<'_>) -> Read<usize> {
    let count = cursor.count()?;
    ENTRIES
        .check(count as u64)
        .map_err(|error| ReadError::limit(cursor.offset(), error))?;
    Ok(count)
}

/// A dialect that the file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Builtin,
    Vhlo,
    Sdy,
    Other,
}

/// What an operation is called.
#[derive(Clone, Debug)]
pub(super) enum OpName {
    /// `builtin.module`.
    Module,
    /// `builtin.unrealized_conversion_cast`, which stands between VHLO and other dialects.
    Cast,
    /// A function of VHLO.
    Function,
    /// Any other operation of VHLO.
    Versioned(&'static VersionedOp),
    /// One of VHLO that no version up to the current one has: its name.
    Unknown(Arc<str>),
    /// An operation of Shardy, and how its attributes are stored.
    Sharding(&'static OpSpec, &'static [(&'static str, bool)]),
    /// `sdy.mesh`.
    Mesh,
    /// One of another dialect: its full name, and whether its dialect knew it when the file was written.
    Foreign { name: Arc<str>, registered: bool },
}

/// Dialects and operations by number.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) dialects: Vec<(Dialect, Arc<str>)>,
    pub(super) ops: Vec<OpName>,
    /// Bytes that names may still take: one string may be the name of many.
    bytes_left: u64,
}

impl Names {
    pub(super) fn read(file: &[u8], sections: &Sections, strings: &Strings<'_>) -> Read<Self> {
        let mut cursor = sections.cursor(file, section::DIALECT);
        let mut names = Self {
            dialects: Vec::new(),
            ops: Vec::new(),
            bytes_left: MEMORY
                .max()
                .saturating_add(MEMORY_FACTOR.saturating_mul(file.len() as u64)),
        };
        for _ in 0..entries(&mut cursor)? {
            let dialect = names.dialect(&mut cursor, sections, strings)?;
            names.dialects.push(dialect);
        }
        if sections.bytecode >= since::OPTIONAL_ARGUMENT_LOCATION {
            // The number of names is a hint that we do not need.
            cursor.varint()?;
        }
        while !cursor.is_empty() {
            names.group(&mut cursor, sections, strings)?;
        }
        Ok(names)
    }

    /// The operations of one dialect.
    fn group(&mut self, cursor: &mut Cursor<'_>, sections: &Sections, strings: &Strings<'_>) -> Read<()> {
        let number = cursor.varint()?;
        let dialect = usize::try_from(number)
            .ok()
            .and_then(|number| self.dialects.get(number));
        let dialect = dialect.cloned();
        let (dialect, dialect_name) =
            dialect.ok_or_else(|| cursor.malformed(format!("there is no dialect {number}")))?;
        for _ in 0..entries(cursor)? {
            let (name, registered) = if sections.bytecode >= since::PROPERTIES {
                cursor.flagged()?
            } else {
                (cursor.varint()?, true)
            };
            let name = self.text(cursor, strings, name, dialect_name.len())?;
            self.ops.push(op_name(dialect, &dialect_name, name, registered));
        }
        Ok(())
    }

    /// A name that is copied behind `prefix` bytes.
    fn text<'a>(
        &mut self,
        cursor: &Cursor<'_>,
        strings: &Strings<'a>,
        index: u64,
        prefix: usize,
    ) -> Read<&'a str> {
        let length = strings.bytes(cursor, index)?.len().saturating_add(prefix);
        self.bytes_left = self.bytes_left.checked_sub(length as u64).ok_or_else(|| {
            let message = "the names of dialects and operations do not fit the memory that a file of its length may take";
            ReadError::over_memory(cursor.offset(), message)
        })?;
        strings.text(cursor, index)
    }

    fn dialect(
        &mut self,
        cursor: &mut Cursor<'_>,
        sections: &Sections,
        strings: &Strings<'_>,
    ) -> Read<(Dialect, Arc<str>)> {
        let (name, versioned) = if sections.bytecode >= since::DIALECT_VERSIONS {
            cursor.flagged()?
        } else {
            (cursor.varint()?, false)
        };
        if versioned {
            let (id, _) = next_section(cursor)?;
            if id != section::DIALECT_VERSIONS {
                return Err(cursor.malformed(format!(
                    "section {id} stands where the version of a dialect is expected"
                )));
            }
        }
        let name = self.text(cursor, strings, name, 0)?;
        let dialect = match name {
            "builtin" => Dialect::Builtin,
            "vhlo" => Dialect::Vhlo,
            "sdy" => Dialect::Sdy,
            _ => Dialect::Other,
        };
        Ok((dialect, name.into()))
    }
}

fn op_name(dialect: Dialect, dialect_name: &str, name: &str, registered: bool) -> OpName {
    match (dialect, name) {
        (Dialect::Builtin, "module") => OpName::Module,
        (Dialect::Builtin, "unrealized_conversion_cast") => OpName::Cast,
        (Dialect::Vhlo, "func_v1") => OpName::Function,
        (Dialect::Vhlo, name) => match Opset::get().versioned(name) {
            Some(op) => OpName::Versioned(op),
            None => OpName::Unknown(name.into()),
        },
        (Dialect::Sdy, "mesh") => OpName::Mesh,
        _ => other_name(&format!("{dialect_name}.{name}"), registered),
    }
}

fn other_name(name: &str, registered: bool) -> OpName {
    match OpSpec::find(name).filter(|_| name.starts_with("sdy.")) {
        Some(spec) => OpName::Sharding(spec, sdy::properties_of(name)),
        None => OpName::Foreign {
            name: name.into(),
            registered,
        },
    }
}
