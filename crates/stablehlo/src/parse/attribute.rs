//! Attributes of MLIR's builtin dialect, and dictionaries.

use std::sync::Arc;

use artifact_ir::attribute::{Attribute, ByteString, DenseArray, FloatAttribute, NamedAttributes, SymbolRef};
use artifact_ir::types::{ElementType, Type};

use super::cursor::{Parser, Read};
use super::number::{WrittenInteger, digits_to_i128, fit_integer, float_bits};
use crate::lex::{Kind, Token};

/// An entry of a dictionary, and where it stands.
struct Entry {
    name: Arc<str>,
    value: Attribute,
    offset: usize,
}

impl<'a> Parser<'a> {
    /// Any attribute.
    pub(super) fn attribute(&mut self) -> Read<Attribute> {
        match self.kind() {
            Kind::String => Ok(Attribute::String(self.byte_string()?)),
            Kind::Integer | Kind::Float | Kind::Minus => self.number_attribute(),
            Kind::Symbol => Ok(Attribute::Symbol(self.symbol_ref()?)),
            Kind::LeftSquare => self.nested(|parser| {
                let mut items = Vec::new();
                parser.list(Kind::LeftSquare, |parser| {
                    items.push(parser.attribute()?);
                    Ok(())
                })?;
                Ok(Attribute::Array(items))
            }),
            Kind::LeftBrace => Ok(Attribute::Dictionary(self.dictionary()?)),
            Kind::Hash => self.hash_attribute(),
            Kind::Word => self.word_attribute(),
            Kind::LeftParen | Kind::Bang => Ok(Attribute::Type(self.ty()?)),
            _ => Err(self.unexpected("an attribute")),
        }
    }

    pub(super) fn byte_string(&mut self) -> Read<ByteString> {
        let token = self.expect(Kind::String)?;
        Ok(ByteString::from(&*self.string_bytes(token)?))
    }

    /// `@root::@nested`.
    pub(super) fn symbol_ref(&mut self) -> Read<SymbolRef> {
        let token = self.expect(Kind::Symbol)?;
        let root = self.symbol_text(token)?;
        let mut nested = Vec::new();
        while self.take(Kind::ColonColon) {
            let token = self.expect(Kind::Symbol)?;
            nested.push(self.symbol_text(token)?);
        }
        Ok(SymbolRef { root, nested })
    }

    /// `{a = 1, b}`.
    pub(super) fn dictionary(&mut self) -> Read<NamedAttributes> {
        self.nested(|parser| {
            let mut entries = Vec::new();
            parser.expect(Kind::LeftBrace)?;
            parser.list_until(Kind::RightBrace, |parser| {
                entries.push(parser.dictionary_entry()?);
                Ok(())
            })?;
            parser.sorted(entries)
        })
    }

    /// A dictionary of these entries. They are sorted first: adding them one by one would move the others each time.
    fn sorted(&mut self, mut entries: Vec<Entry>) -> Read<NamedAttributes> {
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].name == pair[1].name) {
            let message = format!("the attribute '{}' stands twice", pair[1].name);
            return Err(self.error(pair[1].offset, message));
        }
        Ok(entries
            .into_iter()
            .map(|entry| (entry.name, entry.value))
            .collect())
    }

    /// A dictionary, if there is one.
    pub(super) fn optional_dictionary(&mut self) -> Read<NamedAttributes> {
        if self.at(Kind::LeftBrace) {
            self.dictionary()
        } else {
            Ok(NamedAttributes::new())
        }
    }

    fn dictionary_entry(&mut self) -> Read<Entry> {
        let token = self.token;
        let name = match token.kind {
            Kind::Word => {
                self.bump();
                self.name(self.slice(token))
            }
            Kind::String => {
                self.bump();
                self.string_text(token)?
            }
            _ => return Err(self.unexpected("an attribute's name")),
        };
        let value = if self.take(Kind::Equal) {
            self.attribute()?
        } else {
            Attribute::Unit
        };
        Ok(Entry {
            name,
            value,
            offset: token.start(),
        })
    }

    /// Adds `more`, which stands at `offset`, to `attributes`; one name in both is an error.
    pub(super) fn merge(
        &mut self,
        attributes: &mut NamedAttributes,
        more: NamedAttributes,
        offset: usize,
    ) -> Read<()> {
        if attributes.is_empty() {
            *attributes = more;
        } else if !more.is_empty() {
            let entry = |(name, value): (&Arc<str>, &Attribute)| Entry {
                name: Arc::clone(name),
                value: value.clone(),
                offset,
            };
            let entries = attributes.iter().chain(more.iter()).map(entry).collect();
            *attributes = self.sorted(entries)?;
        }
        Ok(())
    }

    fn word_attribute(&mut self) -> Read<Attribute> {
        let token = self.token;
        match self.slice(token) {
            "true" => {
                self.bump();
                Ok(Attribute::Bool(true))
            }
            "false" => {
                self.bump();
                Ok(Attribute::Bool(false))
            }
            "unit" => {
                self.bump();
                Ok(Attribute::Unit)
            }
            "dense" => Ok(Attribute::Elements(self.dense()?)),
            "array" => Ok(Attribute::DenseArray(self.dense_array()?)),
            "dense_resource" => Err(self.error_here(
                "dense_resource is not supported: the constant's bytes are not in the module; export it with dense constants",
            )),
            "affine_map" | "affine_set" | "strided" | "sparse" | "opaque" | "distinct" | "loc" => {
                self.foreign_attribute(token)
            }
            _ => Ok(Attribute::Type(self.ty()?)),
        }
    }

    /// An attribute that is carried as text: a word or name, brackets, and for some `: type`.
    fn foreign_attribute(&mut self, token: Token) -> Read<Attribute> {
        self.bump();
        while matches!(self.kind(), Kind::Less | Kind::LeftSquare | Kind::LeftParen) {
            self.skip_balanced()?;
        }
        if matches!(self.slice(token), "sparse" | "opaque") && self.take(Kind::Colon) {
            self.ty()?;
        }
        Ok(Attribute::Foreign(self.slice_from(token.start()).into()))
    }

    /// `#alias`, `#stablehlo<...>`, `#dialect.name<...>`.
    fn hash_attribute(&mut self) -> Read<Attribute> {
        let token = self.token;
        let name = self.slice(token).get(1..).unwrap_or_default();
        let (dialect, mnemonic) = match name.split_once('.') {
            Some((dialect, mnemonic)) => (dialect, Some(mnemonic)),
            None => (name, None),
        };
        self.bump();
        let bracketed = self.at(Kind::Less) && self.token.start() == token.end();
        match (dialect, mnemonic) {
            (_, None) if !bracketed => self.attribute_alias(self.slice(token), token.start()),
            ("sdy", _) => self.nested(|parser| parser.sdy_attribute(token, mnemonic)),
            ("stablehlo" | "chlo", _) => self.nested(|parser| parser.own_attribute(token, mnemonic)),
            _ => {
                if bracketed {
                    self.skip_balanced()?;
                }
                Ok(Attribute::Foreign(self.slice_from(token.start()).into()))
            }
        }
    }

    /// `1`, `1 : i32`, `1.5`, `1.5 : f32`, `0x7F800000 : f32`.
    fn number_attribute(&mut self) -> Read<Attribute> {
        let start = self.token.start();
        let negative = self.take(Kind::Minus);
        if self.take(Kind::Float) {
            let text = self.slice_from(start);
            return self.float_attribute(start, text);
        }
        if !self.at(Kind::Integer) {
            return Err(self.unexpected("a number"));
        }
        let token = self.bump();
        let digits = self.slice(token);
        let magnitude =
            digits_to_i128(digits).ok_or_else(|| self.error(start, "the integer is too large"))?;
        let written = WrittenInteger {
            value: if negative { -magnitude } else { magnitude },
            hexadecimal: digits.starts_with("0x"),
            offset: start,
        };
        if !self.take(Kind::Colon) {
            return self.typed_integer(written, ElementType::I64);
        }
        match self.ty()? {
            Type::Scalar(ty) => self.typed_integer(written, ty),
            Type::Foreign(_) => Ok(Attribute::Foreign(self.slice_from(start).into())),
            other => Err(self.error(start, format!("a number cannot have the type {other}"))),
        }
    }

    fn float_attribute(&mut self, start: usize, text: &str) -> Read<Attribute> {
        let ty = if self.take(Kind::Colon) {
            match self.ty()? {
                Type::Scalar(ty) => ty,
                Type::Foreign(_) => return Ok(Attribute::Foreign(self.slice_from(start).into())),
                other => return Err(self.error(start, format!("a number cannot have the type {other}"))),
            }
        } else {
            ElementType::F64
        };
        match float_bits(ty, text) {
            Some(bits) => Ok(Attribute::Float(FloatAttribute { bits, ty })),
            None => Err(self.error(start, format!("the floating-point number has the type {ty}"))),
        }
    }

    fn typed_integer(&mut self, written: WrittenInteger, ty: ElementType) -> Read<Attribute> {
        let WrittenInteger {
            value,
            hexadecimal,
            offset,
        } = written;
        if ty.is_float() && hexadecimal {
            let bits = u64::try_from(value)
                .ok()
                .filter(|bits| ty.bits() >= 64 || bits >> ty.bits() == 0);
            return match bits {
                Some(bits) => Ok(Attribute::Float(FloatAttribute { bits, ty })),
                None => Err(self.error(offset, format!("the bits do not fit {ty}"))),
            };
        }
        if ty.is_float() || ty.is_complex() {
            return Err(self.error(offset, format!("the integer has the type {ty}")));
        }
        match fit_integer(ty, value) {
            Some(value) if ty == ElementType::I1 => Ok(Attribute::Bool(value == 1)),
            Some(value) => Ok(Attribute::Integer { value, ty }),
            None => Err(self.error(
                offset,
                format!("integer constant out of range for attribute of type {ty}"),
            )),
        }
    }

    /// `array<i64: 1, 2>`.
    fn dense_array(&mut self) -> Read<DenseArray> {
        self.bump();
        self.expect(Kind::Less)?;
        let token = self.expect(Kind::Word)?;
        let empty = !self.take(Kind::Colon);
        if empty && !self.at(Kind::Greater) {
            return Err(self.unexpected("':' or '>'"));
        }
        let array = match self.slice(token) {
            "i1" => {
                DenseArray::Bool(self.array_items(|parser| Ok(parser.array_integer(ElementType::I1)? != 0))?)
            }
            "i8" => {
                DenseArray::I8(self.array_items(|parser| Ok(parser.array_integer(ElementType::I8)? as i8))?)
            }
            "i16" => DenseArray::I16(
                self.array_items(|parser| Ok(parser.array_integer(ElementType::I16)? as i16))?,
            ),
            "i32" => DenseArray::I32(
                self.array_items(|parser| Ok(parser.array_integer(ElementType::I32)? as i32))?,
            ),
            "i64" => DenseArray::I64(
                self.array_items(|parser| Ok(parser.array_integer(ElementType::I64)? as i64))?,
            ),
            "f32" => {
                DenseArray::F32(self.array_items(|parser| Ok(parser.array_float(ElementType::F32)? as u32))?)
            }
            "f64" => DenseArray::F64(self.array_items(|parser| parser.array_float(ElementType::F64))?),
            other => {
                let message = format!(
                    "an array of '{other}' is not supported: expected i1, i8, i16, i32, i64, f32 or f64"
                );
                return Err(self.error(token.start(), message));
            }
        };
        Ok(array)
    }

    fn array_items<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        self.list_until(Kind::Greater, |parser| {
            items.push(item(parser)?);
            Ok(())
        })?;
        Ok(items)
    }

    fn array_integer(&mut self, ty: ElementType) -> Read<i128> {
        let written = self.written_integer()?;
        fit_integer(ty, written.value).ok_or_else(|| {
            self.error(
                written.offset,
                format!("the integer {} does not fit {ty}", written.value),
            )
        })
    }

    fn array_float(&mut self, ty: ElementType) -> Read<u64> {
        let start = self.token.start();
        self.take(Kind::Minus);
        if !self.at(Kind::Float) && !self.at(Kind::Integer) {
            return Err(self.unexpected("a floating-point number"));
        }
        self.bump();
        let text = self.slice_from(start);
        let bits = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16)
                .ok()
                .filter(|bits| ty.bits() >= 64 || bits >> ty.bits() == 0),
            None => float_bits(ty, text),
        };
        bits.ok_or_else(|| self.error(start, format!("not a number of type {ty}")))
    }
}
