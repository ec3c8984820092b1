//! The attributes and types of a file, each decoded when it is first used.

use std::ops::Range;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::attribute::Attribute;
use artifact_ir::location::{LocationId, Locations};
use artifact_ir::types::{QuantizedType, Type};

use super::super::read_error::ReadError;
use super::super::{ENTRIES, MEMORY, MEMORY_FACTOR, NESTING, OP_MEMORY, section};
use super::cursor::{Cursor, Read};
use super::names::{Dialect, Names, Strings};
use super::sections::Sections;

/// Where an entry is, and in whose encoding.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    dialect: usize,
    /// Whether it is in the dialect's own encoding, and not text.
    binary: bool,
    place: Range<usize>,
}

/// An entry's value, once it is known.
#[derive(Clone, Debug)]
enum Slot<T> {
    Waiting,
    /// Being decoded: an entry that needs itself has no value.
    Busy,
    Ready(T),
}

/// An attribute, and what a copy of it takes in memory, in bytes.
#[derive(Debug)]
struct Weighed {
    attribute: Attribute,
    weight: u64,
}

/// What an entry of the table of types is.
#[derive(Clone, Debug)]
pub(super) enum AnyType {
    /// A type.
    Type(Type),
    /// A quantized type, which is an element and nothing else.
    Quantized(Arc<QuantizedType>),
}

/// The tables, and what decoding them needs.
pub(super) struct Pool<'a> {
    pub(super) file: &'a Blob,
    pub(super) strings: Strings<'a>,
    pub(super) names: Names,
    pub(super) locations: Locations,
    attributes: Vec<Entry>,
    types: Vec<Entry>,
    /// Where in `decoded` an attribute is. Most entries are locations, which never get there.
    attribute_values: Vec<Slot<u32>>,
    decoded: Vec<Weighed>,
    /// Values, and what a copy of each takes in memory, in bytes.
    type_values: Vec<Slot<(AnyType, u64)>>,
    location_values: Vec<Slot<LocationId>>,
    /// Attributes that were names before, so that names are shared.
    texts: Vec<Option<Arc<str>>>,
    depth: u64,
    /// What the value that is being decoded takes in memory, in bytes.
    weight: u64,
    memory_left: u64,
}

/// What a node of an attribute takes in memory at most: an entry of a dictionary, and the head of what it allocates.
pub(super) const NODE_BYTES: u64 = size_of::<(Arc<str>, Attribute)>() as u64 + 32;

/// What a node of a type counts for.
const TYPE_NODE_BYTES: u64 = 64;

/// A type is shared and not copied, but whoever walks it does so at every use. Up to this weight that is not accounted for.
const TYPE_BYTES_FREE: u64 = 1024;

impl<'a> Pool<'a> {
    pub(super) fn read(file: &'a Blob, sections: &Sections) -> Read<Self> {
        let strings = Strings::read(file, sections)?;
        let names = Names::read(file, sections, &strings)?;
        let mut offsets = sections.cursor(file, section::ATTRIBUTE_TYPE_OFFSET);
        let mut data = sections.cursor(file, section::ATTRIBUTE_TYPE);
        let counts = [table_size(&mut offsets)?, table_size(&mut offsets)?];
        let attributes = entries(&mut offsets, &mut data, counts[0], &names)?;
        let types = entries(&mut offsets, &mut data, counts[1], &names)?;
        offsets.finish("the offsets of attributes and types")?;
        data.finish("the section of attributes and types")?;
        let memory = MEMORY_FACTOR.saturating_mul(file.len() as u64);
        Ok(Self {
            file,
            attribute_values: vec![Slot::Waiting; attributes.len()],
            decoded: Vec::new(),
            type_values: vec![Slot::Waiting; types.len()],
            location_values: vec![Slot::Waiting; attributes.len()],
            texts: vec![None; attributes.len()],
            attributes,
            types,
            strings,
            names,
            locations: Locations::new(),
            depth: 0,
            weight: 0,
            memory_left: MEMORY.max().saturating_add(memory),
        })
    }

    /// Accounts for memory that the value being decoded takes.
    #[inline]
    pub(super) fn weigh(&mut self, bytes: u64) {
        self.weight = self.weight.saturating_add(bytes);
    }

    /// Accounts for a copy of bytes as a part of the value being decoded.
    pub(super) fn copied(&mut self, cursor: &Cursor<'_>, length: usize) -> Read<()> {
        self.weigh(length as u64);
        self.charge(cursor, length as u64)
    }

    /// Accounts for a copy of something that the file holds once.
    #[inline]
    pub(super) fn charge(&mut self, cursor: &Cursor<'_>, bytes: u64) -> Read<()> {
        self.memory_left = self.memory_left.checked_sub(bytes).ok_or_else(|| {
            let message = "the file repeats its attributes and types so often that they do not fit the memory that a file of its length may take";
            ReadError::over_memory(cursor.offset(), message)
        })?;
        Ok(())
    }

    /// Allows as much memory as an operation may take for its attributes.
    #[inline]
    pub(super) const fn allow_operation(&mut self) {
        self.memory_left = self.memory_left.saturating_add(OP_MEMORY);
    }

    /// What `decode` gives, and what it takes in memory, `own` without its parts.
    pub(super) fn weighed<T>(
        &mut self,
        own: u64,
        decode: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<(T, u64)> {
        let outer = std::mem::replace(&mut self.weight, own);
        let value = decode(self);
        let weight = std::mem::replace(&mut self.weight, outer);
        Ok((value?, weight))
    }

    fn nested<T>(&mut self, offset: usize, decode: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        NESTING
            .check(self.depth + 1)
            .map_err(|error| ReadError::limit(offset, error))?;
        self.depth += 1;
        let value = decode(self);
        self.depth -= 1;
        value
    }

    /// The type whose number is ahead.
    pub(super) fn ty(&mut self, cursor: &mut Cursor<'_>) -> Read<Type> {
        let number = cursor.varint()?;
        self.type_at(cursor, number)
    }

    pub(super) fn type_at(&mut self, cursor: &Cursor<'_>, number: u64) -> Read<Type> {
        match self.any_type_at(cursor, number)? {
            AnyType::Type(ty) => Ok(ty),
            AnyType::Quantized(_) => Err(cursor.malformed("a quantized type stands outside of a tensor")),
        }
    }

    pub(super) fn any_type(&mut self, cursor: &mut Cursor<'_>) -> Read<AnyType> {
        let number = cursor.varint()?;
        self.any_type_at(cursor, number)
    }

    fn any_type_at(&mut self, cursor: &Cursor<'_>, number: u64) -> Read<AnyType> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        match self.type_values.get(index) {
            Some(Slot::Ready((ty, weight))) => {
                let (ty, weight) = (ty.clone(), *weight);
                self.use_type(cursor, weight)?;
                Ok(ty)
            }
            Some(Slot::Busy) => Err(cursor.malformed(format!("type {number} contains itself"))),
            Some(Slot::Waiting) => self.decode_type(cursor, index),
            None => Err(cursor.malformed(format!("there is no type {number}"))),
        }
    }

    fn decode_type(&mut self, cursor: &Cursor<'_>, index: usize) -> Read<AnyType> {
        let entry = self.types[index].clone();
        self.type_values[index] = Slot::Busy;
        let decode = |pool: &mut Self| {
            pool.weigh(entry.place.len() as u64);
            pool.nested(entry.place.start, |pool| pool.type_entry(&entry))
        };
        let (value, weight) = self.weighed(TYPE_NODE_BYTES, decode)?;
        self.type_values[index] = Slot::Ready((value.clone(), weight));
        self.use_type(cursor, weight)?;
        Ok(value)
    }

    #[inline]
    fn use_type(&mut self, cursor: &Cursor<'_>, weight: u64) -> Read<()> {
        self.weigh(weight);
        if weight > TYPE_BYTES_FREE {
            self.charge(cursor, weight)?;
        }
        Ok(())
    }

    fn type_entry(&mut self, entry: &Entry) -> Read<AnyType> {
        let mut cursor = Cursor::new(self.file, entry.place.clone());
        let (dialect, name) = self.names.dialects[entry.dialect].clone();
        let ty = match dialect {
            _ if !entry.binary => return self.type_text(&cursor).map(AnyType::Type),
            Dialect::Builtin => AnyType::Type(self.builtin_type(&mut cursor)?),
            Dialect::Vhlo => self.vhlo_type(&mut cursor)?,
            Dialect::Sdy | Dialect::Other => {
                let message = format!("a type of the dialect `{name}`, which is not known here");
                return Err(ReadError::foreign(cursor.offset(), message));
            }
        };
        cursor.finish("a type")?;
        Ok(ty)
    }

    /// The attribute whose number is ahead.
    pub(super) fn attribute(&mut self, cursor: &mut Cursor<'_>) -> Read<Attribute> {
        let number = cursor.varint()?;
        self.attribute_at(cursor, number)
    }

    pub(super) fn attribute_at(&mut self, cursor: &Cursor<'_>, number: u64) -> Read<Attribute> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let at = match self.attribute_values.get(index) {
            Some(Slot::Ready(at)) => *at as usize,
            Some(Slot::Busy) => return Err(cursor.malformed(format!("attribute {number} contains itself"))),
            Some(Slot::Waiting) => self.decode_attribute(index)?,
            None => return Err(cursor.malformed(format!("there is no attribute {number}"))),
        };
        // The first use is a copy too. Each is paid for before it is made.
        let weight = self.decoded[at].weight;
        self.weigh(weight);
        self.charge(cursor, weight)?;
        Ok(self.decoded[at].attribute.clone())
    }

    /// Where in `decoded` the attribute is then.
    fn decode_attribute(&mut self, index: usize) -> Read<usize> {
        let entry = self.attributes[index].clone();
        self.attribute_values[index] = Slot::Busy;
        let decode = |pool: &mut Self| pool.nested(entry.place.start, |pool| pool.attribute_entry(&entry));
        let (attribute, weight) = self.weighed(NODE_BYTES, decode)?;
        let at = self.decoded.len();
        // Tables are limited to fewer entries than 2^32.
        self.attribute_values[index] = Slot::Ready(at as u32);
        self.decoded.push(Weighed { attribute, weight });
        Ok(at)
    }

    fn attribute_entry(&mut self, entry: &Entry) -> Read<Attribute> {
        let mut cursor = Cursor::new(self.file, entry.place.clone());
        let (dialect, name) = self.names.dialects[entry.dialect].clone();
        let attribute = match dialect {
            _ if !entry.binary => return self.attribute_text(&cursor),
            Dialect::Builtin => self.builtin_attribute(&mut cursor)?,
            Dialect::Vhlo => self.vhlo_attribute(&mut cursor)?,
            Dialect::Sdy => self.sdy_attribute(&mut cursor)?,
            Dialect::Other => {
                // It is shared, and still shown at every use.
                self.copied(&cursor, entry.place.len())?;
                return Ok(self.opaque(&name, &entry.place));
            }
        };
        cursor.finish("an attribute")?;
        Ok(attribute)
    }

    pub(super) fn known_text(&self, number: u64) -> Option<Arc<str>> {
        let index = usize::try_from(number).ok()?;
        self.texts.get(index)?.clone()
    }

    pub(super) fn learn_text(&mut self, number: u64, text: &Arc<str>) {
        let slot = usize::try_from(number)
            .ok()
            .and_then(|index| self.texts.get_mut(index));
        if let Some(slot) = slot {
            *slot = Some(Arc::clone(text));
        }
    }

    /// The location whose number is ahead.
    #[inline]
    pub(super) fn location(&mut self, cursor: &mut Cursor<'_>) -> Read<LocationId> {
        let number = cursor.varint()?;
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        match self.location_values.get(index) {
            Some(Slot::Ready(location)) => Ok(*location),
            Some(Slot::Busy) => Err(cursor.malformed(format!("location {number} contains itself"))),
            Some(Slot::Waiting) => self.decode_location(index),
            None => Err(cursor.malformed(format!("there is no location {number}"))),
        }
    }

    fn decode_location(&mut self, index: usize) -> Read<LocationId> {
        let Entry {
            dialect,
            binary,
            place,
        } = self.attributes[index].clone();
        let mut cursor = Cursor::new(self.file, place.clone());
        let known = binary && self.names.dialects[dialect].0 == Dialect::Builtin;
        if !known {
            // A location in another form says nothing about what the program computes.
            return Ok(LocationId::UNKNOWN);
        }
        self.location_values[index] = Slot::Busy;
        let location = self.nested(place.start, |pool| pool.builtin_location(&mut cursor))?;
        cursor.finish("a location")?;
        self.location_values[index] = Slot::Ready(location);
        Ok(location)
    }
}

fn table_size(offsets: &mut Cursor<'_>) -> Read<usize> {
    let count = offsets.count()?;
    ENTRIES
        .check(count as u64)
        .map_err(|error| ReadError::limit(offsets.offset(), error))?;
    Ok(count)
}

/// The places of `count` entries, told in groups of one dialect each.
fn entries(offsets: &mut Cursor<'_>, data: &mut Cursor<'_>, count: usize, names: &Names) -> Read<Vec<Entry>> {
    let mut entries = Vec::with_capacity(count);
    while entries.len() < count {
        let dialect = offsets.varint()? as usize;
        if dialect >= names.dialects.len() {
            return Err(offsets.malformed(format!("there is no dialect {dialect}")));
        }
        let group = offsets.count()?;
        if group > count - entries.len() {
            return Err(offsets.malformed("a group of attributes or types has more than there are"));
        }
        for _ in 0..group {
            let (length, binary) = offsets.flagged()?;
            let place = data.range(length)?;
            entries.push(Entry {
                dialect,
                binary,
                place,
            });
        }
    }
    Ok(entries)
}
