//! Attributes, types and locations of MLIR's builtin dialect.

use std::ops::Range;
use std::sync::Arc;

use artifact_ir::attribute::{
    Attribute, DenseArray, FloatAttribute, NamedAttributes, OpaqueAttribute, SymbolRef,
};
use artifact_ir::location::{Location, LocationId};
use artifact_ir::types::{ElementType, FunctionType, Type};

use super::super::builtin as code;
use super::super::read_error::ReadError;
use super::cursor::{Cursor, Read};
use super::pool::Pool;

impl Pool<'_> {
    pub(super) fn builtin_attribute(&mut self, cursor: &mut Cursor<'_>) -> Read<Attribute> {
        let start = cursor.offset();
        Ok(match cursor.varint()? {
            code::ARRAY => Attribute::Array(self.attribute_list(cursor)?),
            code::DICTIONARY => Attribute::Dictionary(self.dictionary(cursor)?),
            code::STRING => self.string(cursor)?,
            code::FLAT_SYMBOL => Attribute::Symbol(SymbolRef::flat(self.text_attribute(cursor)?)),
            code::SYMBOL => Attribute::Symbol(self.symbol(cursor)?),
            code::TYPE => Attribute::Type(self.ty(cursor)?),
            code::UNIT => Attribute::Unit,
            code::INTEGER => {
                let ty = self.scalar(cursor)?;
                integer(cursor, ty)?
            }
            code::FLOAT => {
                let ty = self.scalar(cursor)?;
                float(cursor, ty)?
            }
            code::DENSE_ARRAY => self.dense_array(cursor)?,
            code::DENSE_ELEMENTS => {
                let ty = self.ty(cursor)?;
                Attribute::Elements(self.literal(cursor, &ty)?)
            }
            code::CALL_SITE_LOCATION..=code::UNKNOWN_LOCATION | code::FILE_RANGE => {
                return Err(ReadError::foreign(
                    start,
                    "a location stands where an attribute is expected",
                ));
            }
            other => {
                let message = format!("builtin attribute {other}, which no StableHLO program has");
                return Err(ReadError::foreign(start, message));
            }
        })
    }

    pub(super) fn attribute_list(&mut self, cursor: &mut Cursor<'_>) -> Read<Vec<Attribute>> {
        cursor.list(|cursor| self.part(cursor))
    }

    /// An attribute in another. A constant in it is shared, and still shown at every use.
    fn part(&mut self, cursor: &mut Cursor<'_>) -> Read<Attribute> {
        let part = self.attribute(cursor)?;
        if let Attribute::Elements(literal) = &part {
            self.copied(cursor, literal.as_dense().map_or(0, |bytes| bytes.len()))?;
        }
        Ok(part)
    }

    /// Names and values. In VHLO and in builtin alike a name is a string attribute.
    pub(super) fn dictionary(&mut self, cursor: &mut Cursor<'_>) -> Read<NamedAttributes> {
        let mut items = cursor.list(|cursor| Ok((self.text_attribute(cursor)?, self.part(cursor)?)))?;
        // They come in order as a rule. In any other, each would be inserted before many.
        items.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut attributes = NamedAttributes::new();
        for (name, value) in items {
            if attributes.insert(Arc::clone(&name), value).is_some() {
                return Err(
                    cursor.malformed(format!("the attribute '{name}' stands twice in one dictionary"))
                );
            }
        }
        Ok(attributes)
    }

    pub(super) fn string(&mut self, cursor: &mut Cursor<'_>) -> Read<Attribute> {
        let number = cursor.varint()?;
        let bytes = self.strings.bytes(cursor, number)?;
        self.copied(cursor, bytes.len())?;
        Ok(Attribute::String(bytes.into()))
    }

    /// A string attribute that is text.
    pub(super) fn text_attribute(&mut self, cursor: &mut Cursor<'_>) -> Read<Arc<str>> {
        let number = cursor.varint()?;
        if let Some(known) = self.known_text(number) {
            // It is shared, and still hashed or compared at every use.
            if known.len() > TEXT_BYTES_FREE {
                self.copied(cursor, known.len())?;
            }
            return Ok(known);
        }
        let text: Arc<str> = match self.attribute_at(cursor, number)?.as_str() {
            Some(text) => text.into(),
            None => return Err(cursor.malformed("a name must be a string of UTF-8")),
        };
        self.copied(cursor, text.len())?;
        self.learn_text(number, &text);
        Ok(text)
    }

    fn symbol(&mut self, cursor: &mut Cursor<'_>) -> Read<SymbolRef> {
        let root = self.text_attribute(cursor)?;
        let nested = cursor.list(|cursor| match self.attribute(cursor)? {
            Attribute::Symbol(symbol) if symbol.nested.is_empty() => Ok(symbol.root),
            _ => Err(cursor.malformed("a nested symbol must be a flat one")),
        })?;
        Ok(SymbolRef { root, nested })
    }

    /// An element type that stands alone.
    pub(super) fn scalar(&mut self, cursor: &mut Cursor<'_>) -> Read<ElementType> {
        match self.ty(cursor)? {
            Type::Scalar(element) => Ok(element),
            other => Err(cursor.malformed(format!("'{other}' is not the type of a number"))),
        }
    }

    fn dense_array(&mut self, cursor: &mut Cursor<'_>) -> Read<Attribute> {
        let element = self.scalar(cursor)?;
        let count = cursor.varint()?;
        let length = cursor.varint()?;
        let place = cursor.range(length)?;
        let bytes = &self.file[place];
        let width = element.bytes();
        if (bytes.len() / width) as u64 != count || !bytes.len().is_multiple_of(width) {
            return Err(cursor.malformed("the length of a dense array is not that of its numbers"));
        }
        self.weigh(bytes.len() as u64);
        dense_array(element, bytes)
            .map(Attribute::DenseArray)
            .ok_or_else(|| cursor.malformed(format!("a dense array cannot be of '{element}'")))
    }

    /// An attribute of a dialect that we do not know, as it stands.
    pub(super) fn opaque(&self, dialect: &Arc<str>, place: &Range<usize>) -> Attribute {
        let bytes = self.file.slice(place.clone());
        Attribute::Opaque(OpaqueAttribute {
            dialect: Arc::clone(dialect),
            // The place was checked when it was read.
            bytes: bytes.unwrap_or_else(|| artifact_core::blob::Blob::new(Vec::new())),
        })
    }

    pub(super) fn builtin_type(&mut self, cursor: &mut Cursor<'_>) -> Read<Type> {
        let start = cursor.offset();
        Ok(match cursor.varint()? {
            code::INTEGER_TYPE => integer_type(cursor)?,
            code::INDEX_TYPE => Type::Scalar(ElementType::Index),
            code::FUNCTION_TYPE => self.function_type(cursor)?,
            code::BF16_TYPE => Type::Scalar(ElementType::BF16),
            code::F16_TYPE => Type::Scalar(ElementType::F16),
            code::F32_TYPE => Type::Scalar(ElementType::F32),
            code::F64_TYPE => Type::Scalar(ElementType::F64),
            code::COMPLEX_TYPE => self.complex_type(cursor)?,
            code::NONE_TYPE => Type::None,
            code::TENSOR_TYPE => self.tensor_type(cursor, None)?.into(),
            code::TENSOR_TYPE_WITH_ENCODING => {
                let encoding = self.encoding(cursor)?;
                self.tensor_type(cursor, Some(encoding))?.into()
            }
            code::TUPLE_TYPE => Type::Tuple(self.type_list(cursor)?.into()),
            other => {
                let message = format!("builtin type {other}, which no StableHLO program has");
                return Err(ReadError::foreign(start, message));
            }
        })
    }

    pub(super) fn type_list(&mut self, cursor: &mut Cursor<'_>) -> Read<Vec<Type>> {
        cursor.list(|cursor| self.ty(cursor))
    }

    pub(super) fn function_type(&mut self, cursor: &mut Cursor<'_>) -> Read<Type> {
        let inputs = self.type_list(cursor)?;
        let results = self.type_list(cursor)?;
        Ok(Type::Function(Arc::new(FunctionType { inputs, results })))
    }

    pub(super) fn complex_type(&mut self, cursor: &mut Cursor<'_>) -> Read<Type> {
        let part = self.scalar(cursor)?;
        let complex = part.complex_of();
        complex
            .map(Type::Scalar)
            .ok_or_else(|| cursor.malformed(format!("there are no complex numbers of '{part}'")))
    }

    pub(super) fn builtin_location(&mut self, cursor: &mut Cursor<'_>) -> Read<LocationId> {
        let start = cursor.offset();
        let location = match cursor.varint()? {
            code::UNKNOWN_LOCATION => return Ok(LocationId::UNKNOWN),
            code::CALL_SITE_LOCATION => Location::CallSite {
                callee: self.location(cursor)?,
                caller: self.location(cursor)?,
            },
            code::FILE_LOCATION => Location::File {
                file: self.text_attribute(cursor)?,
                start: (place(cursor)?, place(cursor)?),
                end: None,
            },
            code::FILE_RANGE => self.file_range(cursor)?,
            code::FUSED_LOCATION => Location::Fused {
                metadata: None,
                children: cursor.list(|cursor| self.location(cursor))?,
            },
            code::FUSED_LOCATION_WITH_METADATA => {
                let children = cursor.list(|cursor| self.location(cursor))?;
                let metadata = self.attribute(cursor)?;
                let metadata = crate::print::attribute_text(&metadata);
                self.copied(cursor, metadata.len())?;
                Location::Fused {
                    metadata: Some(metadata.into()),
                    children,
                }
            }
            code::NAME_LOCATION => Location::Name {
                name: self.text_attribute(cursor)?,
                child: self.location(cursor)?,
            },
            other => {
                return Err(ReadError::malformed(
                    start,
                    format!("attribute {other} is no location"),
                ));
            }
        };
        Ok(self.locations.push(location))
    }

    /// A file and up to four numbers: a line; line and column; these and the column of the end; these and line and column of
    /// the end.
    fn file_range(&mut self, cursor: &mut Cursor<'_>) -> Read<Location> {
        let file = self.text_attribute(cursor)?;
        let numbers = cursor.list(place)?;
        let (start, end) = match *numbers.as_slice() {
            [] => ((0, 0), None),
            [line] => ((line, 0), None),
            [line, column] => ((line, column), None),
            [line, column, end] => ((line, column), Some((line, end))),
            [line, column, end_line, end] => ((line, column), Some((end_line, end))),
            _ => return Err(cursor.malformed("a range in a file has at most four numbers")),
        };
        Ok(Location::File { file, start, end })
    }
}

/// Up to this length, in bytes, uses of a text that is known are not accounted for.
const TEXT_BYTES_FREE: usize = 1024;

/// A line or a column.
fn place(cursor: &mut Cursor<'_>) -> Read<u32> {
    let number = cursor.varint()?;
    u32::try_from(number).map_err(|_| cursor.malformed(format!("{number} is no line and no column")))
}

/// An integer in as many bits as its type has: one byte up to 8 bits, a signed number up to 64.
pub(super) fn integer(cursor: &mut Cursor<'_>, ty: ElementType) -> Read<Attribute> {
    if !(ty.is_integer() || ty.is_boolean()) {
        return Err(cursor.malformed(format!("'{ty}' is not the type of an integer")));
    }
    let bits = ty.bits();
    let raw = raw_bits(cursor, bits)?;
    if ty.is_boolean() {
        return Ok(Attribute::Bool(raw & 1 == 1));
    }
    let unused = 64 - bits;
    let value = if ty.is_unsigned_integer() && ty != ElementType::Index {
        i128::from(raw << unused >> unused)
    } else {
        i128::from(((raw << unused) as i64) >> unused)
    };
    Ok(Attribute::Integer { value, ty })
}

/// The bits of a number of `bits` bits.
pub(super) fn raw_bits(cursor: &mut Cursor<'_>, bits: u32) -> Read<u64> {
    if bits <= 8 {
        cursor.byte().map(u64::from)
    } else {
        cursor.signed().map(|value| value as u64)
    }
}

pub(super) fn float(cursor: &mut Cursor<'_>, ty: ElementType) -> Read<Attribute> {
    if !ty.is_float() {
        return Err(cursor.malformed(format!("'{ty}' is not a floating-point type")));
    }
    let unused = 64 - ty.bits();
    let bits = raw_bits(cursor, ty.bits())? << unused >> unused;
    Ok(Attribute::Float(FloatAttribute { bits, ty }))
}

/// Width, then two bits for the sign: 0 none, 1 signed, 2 unsigned.
fn integer_type(cursor: &mut Cursor<'_>) -> Read<Type> {
    let value = cursor.varint()?;
    let (width, sign) = (value >> 2, value & 3);
    let element = match (sign, width) {
        (0, 1) => Some(ElementType::I1),
        (0, _) => with_bits(width, ElementType::is_signed_integer),
        (2, _) => with_bits(width, |element| {
            element.is_unsigned_integer() && element != ElementType::Index
        }),
        _ => None,
    };
    let sign_name = ["i", "si", "ui", "?"][sign as usize];
    element.map(Type::Scalar).ok_or_else(|| {
        ReadError::foreign(
            cursor.offset(),
            format!("StableHLO has no type '{sign_name}{width}'"),
        )
    })
}

fn with_bits(width: u64, is_kind: impl Fn(ElementType) -> bool) -> Option<ElementType> {
    let mut all = ElementType::ALL.iter().copied();
    all.find(|element| is_kind(*element) && u64::from(element.bits()) == width)
}

fn dense_array(element: ElementType, bytes: &[u8]) -> Option<DenseArray> {
    macro_rules! numbers {
        ($ty:ty) => {{
            let (chunks, _) = bytes.as_chunks();
            chunks.iter().map(|chunk| <$ty>::from_le_bytes(*chunk)).collect()
        }};
    }
    Some(match element {
        ElementType::I1 => DenseArray::Bool(bytes.iter().map(|byte| *byte != 0).collect()),
        ElementType::I8 => DenseArray::I8(numbers!(i8)),
        ElementType::I16 => DenseArray::I16(numbers!(i16)),
        ElementType::I32 => DenseArray::I32(numbers!(i32)),
        ElementType::I64 => DenseArray::I64(numbers!(i64)),
        ElementType::F32 => DenseArray::F32(numbers!(u32)),
        ElementType::F64 => DenseArray::F64(numbers!(u64)),
        _ => return None,
    })
}
