//! Meshes, operations and attributes of Shardy.

use artifact_ir::attribute::sdy::SdyAttribute;
use artifact_ir::attribute::{Attribute, ByteString, NamedAttributes};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::MeshGlobal;
use artifact_ir::op::{Op, OpSpec};

use super::super::read_error::ReadError;
use super::super::sdy::{self, Source, Unexpected};
use super::Reader;
use super::cursor::{Cursor, Read};
use super::operation::Head;
use super::pool::Pool;

/// Where the fields of an attribute are, and the tables that they refer to.
struct Fields<'p, 'c, 'a> {
    pool: &'p mut Pool<'a>,
    cursor: &'c mut Cursor<'a>,
}

/// What a byte of the file may become in memory: a list, or a number in one.
const FIELD_BYTES: u64 = 24;

/// A failure inside of an attribute, whose place the caller adds.
enum Failure {
    Read(ReadError),
    Unexpected(Unexpected),
}

impl From<Unexpected> for Failure {
    fn from(unexpected: Unexpected) -> Self {
        Self::Unexpected(unexpected)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl Source for Fields<'_, '_, '_> {
    type Error = Failure;

    fn varint(&mut self) -> Result<u64, Failure> {
        Ok(self.cursor.varint()?)
    }

    fn signed_varint(&mut self) -> Result<i64, Failure> {
        Ok(self.cursor.signed()?)
    }

    fn byte(&mut self) -> Result<u8, Failure> {
        Ok(self.cursor.byte()?)
    }

    fn attribute(&mut self, index: u64) -> Result<Attribute, Failure> {
        Ok(self.pool.attribute_at(self.cursor, index)?)
    }

    fn string(&mut self, index: u64) -> Result<ByteString, Failure> {
        let bytes = self.pool.strings.bytes(self.cursor, index)?;
        self.pool.copied(self.cursor, bytes.len())?;
        Ok(bytes.into())
    }
}

impl<'a> Pool<'a> {
    pub(super) fn sdy_attribute(&mut self, cursor: &mut Cursor<'a>) -> Read<Attribute> {
        let start = cursor.offset();
        let decoded = sdy::decode(&mut Fields { pool: self, cursor });
        self.weigh(FIELD_BYTES * (cursor.offset() - start) as u64);
        match decoded {
            Ok(attribute) => Ok(Attribute::Sdy(attribute)),
            Err(Failure::Read(error)) => Err(error),
            Err(Failure::Unexpected(unexpected)) => Err(ReadError::malformed(start, unexpected.to_string())),
        }
    }
}

impl Reader<'_> {
    /// An operation of the dialect.
    pub(super) fn sharding(
        &mut self,
        spec: &'static OpSpec,
        stored: &[(&'static str, bool)],
        head: &mut Head,
    ) -> Read<Op> {
        let mut named = self.sdy_properties(stored, head)?;
        spec.read(&mut named)
            .map_err(|error| ReadError::malformed(head.offset, format!("'{}': {error}", spec.name)))
    }

    /// The operation's own attributes by name. What an older file does not have is missing at the end.
    fn sdy_properties(&mut self, stored: &[(&'static str, bool)], head: &mut Head) -> Read<NamedAttributes> {
        let mut named = NamedAttributes::new();
        let Some(properties) = head.properties else {
            for (name, _) in stored {
                if let Some(value) = head.attributes.remove(name) {
                    named.insert(*name, value);
                }
            }
            return Ok(named);
        };
        let mut cursor = self.property_cursor(properties, head.offset)?;
        for (name, optional) in stored {
            if *optional {
                if cursor.is_empty() {
                    continue;
                }
                let (number, present) = cursor.flagged()?;
                if present {
                    named.insert(*name, self.pool.attribute_at(&cursor, number)?);
                }
            } else {
                named.insert(*name, self.pool.attribute(&mut cursor)?);
            }
        }
        cursor.finish("the properties of an operation")?;
        Ok(named)
    }

    /// A mesh beside the functions.
    pub(super) fn mesh(&mut self, mut head: Head) -> Read<()> {
        let mut named = self.sdy_properties(sdy::properties_of("sdy.mesh"), &mut head)?;
        let (name, mesh) = (named.remove("sym_name"), named.remove("mesh"));
        let (Some(name), Some(Attribute::Sdy(SdyAttribute::Mesh(mesh)))) =
            (name.as_ref().and_then(Attribute::as_str), mesh)
        else {
            return Err(ReadError::malformed(
                head.offset,
                "'sdy.mesh' must have a name and a mesh",
            ));
        };
        self.module.add_mesh(MeshGlobal {
            name: name.into(),
            mesh,
            attributes: std::mem::take(&mut head.attributes),
            location: head.location,
            source: SourceOffset::new(head.offset),
        });
        Ok(())
    }
}
