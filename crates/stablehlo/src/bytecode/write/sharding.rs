//! Meshes, operations and attributes of Shardy.
//!
//! Values of its operations have builtin types, as upstream writes them: a cast stands between them and those of VHLO.

use artifact_ir::attribute::sdy::SdyAttribute;
use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::module::{BlockId, Body, MeshGlobal, Operation, ValueId};
use artifact_ir::op::Op;

use super::super::parts;
use super::super::sdy::{self, Sink};
use super::attribute::OTHER_DIALECTS_SINCE;
use super::error::WriteError;
use super::tables::Dialect;
use super::token::Token;
use super::{Write, Writer, index};

/// The tokens of an attribute under construction, and the tables that they refer to.
struct Fields<'w, 'a> {
    writer: &'w mut Writer<'a>,
    tokens: Vec<Token>,
}

impl Sink for Fields<'_, '_> {
    type Error = WriteError;

    fn varint(&mut self, value: u64) {
        self.tokens.push(Token::Varint(value));
    }

    fn signed_varint(&mut self, value: i64) {
        self.tokens.push(Token::signed(value));
    }

    fn byte(&mut self, value: u8) {
        self.tokens.push(Token::Byte(value));
    }

    fn attribute(&mut self, attribute: &Attribute) -> Write<()> {
        let number = self.writer.builtin_attribute(attribute)?;
        self.tokens.push(Token::Attribute(number));
        Ok(())
    }

    fn optional_attribute(&mut self, attribute: Option<&Attribute>) -> Write<()> {
        self.tokens.push(match attribute {
            None => Token::Varint(0),
            Some(attribute) => Token::PresentAttribute(self.writer.builtin_attribute(attribute)?),
        });
        Ok(())
    }

    fn string(&mut self, bytes: &[u8]) {
        let number = self.writer.tables.string(bytes);
        self.tokens.push(Token::Varint(u64::from(number)));
    }
}

impl Writer<'_> {
    pub(super) fn sdy_dialect(&mut self) -> Dialect {
        Dialect::Other(self.tables.string(b"sdy"))
    }

    pub(super) fn sdy(&mut self, attribute: &SdyAttribute) -> Write<u32> {
        let mut fields = Fields {
            writer: self,
            tokens: Vec::new(),
        };
        let has_code = sdy::encode(&mut fields, attribute)?;
        let mut tokens = fields.tokens;
        if !has_code {
            let text = crate::print::attribute_text(&Attribute::Sdy(attribute.clone()));
            tokens = text.bytes().chain([0]).map(Token::Byte).collect();
        }
        let dialect = self.sdy_dialect();
        Ok(self.tables.attribute(dialect, has_code, &tokens, None))
    }

    /// A mesh beside the functions.
    pub(super) fn mesh_global(&mut self, global: &MeshGlobal) -> Write<()> {
        self.require(OTHER_DIALECTS_SINCE, || "'sdy.mesh'".to_owned())?;
        let mut named = NamedAttributes::new();
        named.insert("mesh", Attribute::Sdy(SdyAttribute::Mesh(global.mesh.clone())));
        named.insert("sym_name", Attribute::string(&global.name));
        self.sdy_head("sdy.mesh", &named, &global.attributes, global.location, 0)
    }

    /// Name, parts, location, attributes and properties of an operation of the dialect.
    fn sdy_head(
        &mut self,
        name: &str,
        named: &NamedAttributes,
        discardable: &NamedAttributes,
        location: artifact_ir::location::LocationId,
        other_parts: u8,
    ) -> Write<()> {
        let dialect = self.sdy_dialect();
        let number = self.tables.op_name(dialect, name.trim_start_matches("sdy."));
        let mut properties = Vec::new();
        for (name, optional) in sdy::properties_of(name) {
            properties.push(match named.get(name) {
                None if *optional => Token::Varint(0),
                None => {
                    return Err(WriteError::no_form(format!(
                        "an operation of sdy without the attribute '{name}'"
                    )));
                }
                Some(value) if *optional => Token::PresentAttribute(self.builtin_attribute(value)?),
                Some(value) => Token::Attribute(self.builtin_attribute(value)?),
            });
        }
        // Readers of before an optional last attribute do not expect its absence to be told.
        while properties.last() == Some(&Token::Varint(0)) && name_ends_optional(name) {
            properties.pop();
        }
        let mut mask = other_parts;
        mask |= if discardable.is_empty() {
            0
        } else {
            parts::ATTRIBUTES
        };
        mask |= if properties.is_empty() {
            0
        } else {
            parts::PROPERTIES
        };
        self.tokens.push(Token::Varint(u64::from(number)));
        self.tokens.push(Token::Byte(mask));
        let location = self.location(location)?;
        self.tokens.push(Token::Attribute(location));
        if !discardable.is_empty() {
            let number = self.builtin_dictionary(discardable)?;
            self.tokens.push(Token::Attribute(number));
        }
        if !properties.is_empty() {
            let number = self.tables.properties(&properties);
            self.tokens.push(Token::Varint(u64::from(number)));
        }
        Ok(())
    }

    /// An operation of the dialect between casts.
    pub(super) fn sharding(
        &mut self,
        body: &Body,
        operation: &Operation,
        next: &mut u32,
        inner: u32,
    ) -> Write<()> {
        let name = operation.op.name();
        self.require(OTHER_DIALECTS_SINCE, || format!("'{name}'"))?;
        let mut operands = Vec::with_capacity(operation.operands.len());
        for operand in &operation.operands {
            operands.push(self.cast_to_builtin(body, *operand, next)?);
        }
        let part = |present: bool, part: u8| if present { part } else { 0 };
        let other_parts = part(!operation.results.is_empty(), parts::RESULTS)
            | part(!operation.operands.is_empty(), parts::OPERANDS)
            | part(!operation.regions.is_empty(), parts::REGIONS);
        self.sdy_head(
            name,
            &operation.op.attributes(),
            &operation.attributes,
            operation.location,
            other_parts,
        )?;
        if !operation.results.is_empty() {
            self.tokens.push(Token::Varint(operation.results.len() as u64));
            for result in &operation.results {
                let ty = self.builtin_type(body.ty(*result))?;
                self.tokens.push(Token::Type(ty));
            }
        }
        if !operands.is_empty() {
            self.tokens.push(Token::Varint(operands.len() as u64));
            self.tokens
                .extend(operands.iter().map(|number| Token::Varint(u64::from(*number))));
        }
        let first_result = *next;
        *next += operation.results.len() as u32;
        if !operation.regions.is_empty() {
            self.tokens
                .push(Token::Varint((operation.regions.len() as u64) << 1));
            for region in &operation.regions {
                self.region(body, *region, inner)?;
            }
        }
        for (result, number) in operation.results.iter().zip(first_result..) {
            self.cast_to_vhlo(body, *result, number, next)?;
        }
        Ok(())
    }

    /// Casts the arguments of a block of a region of the dialect, whose numbers are `first` and on.
    pub(super) fn cast_arguments(
        &mut self,
        body: &Body,
        block: BlockId,
        first: u32,
        next: &mut u32,
    ) -> Write<()> {
        for (argument, number) in body.blocks[block].arguments.iter().zip(first..) {
            self.cast_to_vhlo(body, *argument, number, next)?;
        }
        Ok(())
    }

    fn cast_to_builtin(&mut self, body: &Body, value: ValueId, next: &mut u32) -> Write<u32> {
        let ty = self.builtin_type(body.ty(value))?;
        let number = self.values[index(value)];
        self.cast(number, ty)?;
        *next += 1;
        Ok(*next - 1)
    }

    fn cast_to_vhlo(&mut self, body: &Body, value: ValueId, number: u32, next: &mut u32) -> Write<()> {
        let ty = self.ty(body.ty(value))?;
        self.cast(number, ty)?;
        self.values[index(value)] = *next;
        *next += 1;
        Ok(())
    }

    /// One value to one of another type.
    fn cast(&mut self, operand: u32, result: u32) -> Write<()> {
        let name = self
            .tables
            .op_name(Dialect::Builtin, "unrealized_conversion_cast");
        let location = self.location(artifact_ir::location::LocationId::UNKNOWN)?;
        self.tokens.extend([
            Token::Varint(u64::from(name)),
            Token::Byte(parts::RESULTS | parts::OPERANDS),
            Token::Attribute(location),
            Token::Varint(1),
            Token::Type(result),
            Token::Varint(1),
            Token::Varint(u64::from(operand)),
        ]);
        Ok(())
    }
}

/// Whether the last attribute of an operation was added after the first release that stored it.
fn name_ends_optional(name: &str) -> bool {
    matches!(name, "sdy.all_reduce" | "sdy.reduce_scatter")
}

/// Casts that go with an operation: one for each operand and each result.
pub(super) fn casts_of(operation: &Operation) -> usize {
    if is_sharding(operation) {
        operation.operands.len() + operation.results.len()
    } else {
        0
    }
}

/// Whether an operation is the dialect's.
pub(super) const fn is_sharding(operation: &Operation) -> bool {
    matches!(&operation.op, Op::Sharding(_))
}
