//! The module, functions, regions, blocks and operations.

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::location::LocationId;
use artifact_ir::module::{Block, BlockId, Body, Function, Operation, Parameter, RegionId, Visibility};
use artifact_ir::op::Op;
use artifact_ir::types::Type;

use super::super::{parts, since};
use super::attribute::OTHER_DIALECTS_SINCE;
use super::error::WriteError;
use super::sharding::{casts_of, is_sharding};
use super::tables::Dialect;
use super::token::Token;
use super::{Write, Writer, index};

/// What readers take for a cast between VHLO and another dialect, and leave out.
const CONVERSION_CAST: &str = "builtin.unrealized_conversion_cast";

impl Writer<'_> {
    /// The one operation outside of all others.
    pub(super) fn top(&mut self) -> Write<()> {
        // One operation, no arguments.
        self.varint(1 << 1);
        self.module()
    }

    fn varint(&mut self, value: u64) {
        self.tokens.push(Token::Varint(value));
    }

    fn module(&mut self) -> Write<()> {
        let module = self.module;
        let name = self.tables.op_name(Dialect::Builtin, "module");
        let mut attributes = module.attributes.clone();
        let has_properties = self.bytecode() >= since::PROPERTIES;
        let symbol = module
            .name
            .as_ref()
            .map(|name| self.builtin_string(name.as_bytes()));
        if let (Some(name), false) = (&module.name, has_properties) {
            attributes.insert("sym_name", Attribute::string(name));
        }
        let mut mask = parts::REGIONS;
        mask |= if attributes.is_empty() {
            0
        } else {
            parts::ATTRIBUTES
        };
        mask |= if has_properties { parts::PROPERTIES } else { 0 };
        self.varint(u64::from(name));
        self.tokens.push(Token::Byte(mask));
        let location = self.location(module.location)?;
        self.tokens.push(Token::Attribute(location));
        if !attributes.is_empty() {
            let number = self.builtin_dictionary(&attributes)?;
            self.tokens.push(Token::Attribute(number));
        }
        if has_properties {
            let symbol = symbol.map_or(Token::Varint(0), Token::PresentAttribute);
            let properties = self.tables.properties(&[symbol, Token::Varint(0)]);
            self.varint(u64::from(properties));
        }
        self.isolated(Self::members)
    }

    /// One region that sees nothing from outside: in a section of its own where the version has them.
    fn isolated(&mut self, region: impl FnOnce(&mut Self) -> Write<()>) -> Write<()> {
        self.varint(1 << 1 | 1);
        let own_section = self.bytecode() >= since::LAZY_REGIONS;
        if own_section {
            self.tokens.push(Token::Begin);
        }
        region(self)?;
        if own_section {
            self.tokens.push(Token::End);
        }
        Ok(())
    }

    /// The block of the module: no values, no arguments.
    fn members(&mut self) -> Write<()> {
        let module = self.module;
        if let Some(global) = module.foreign.first() {
            return Err(WriteError::no_form(format!("'{}' beside functions", global.name)));
        }
        self.varint(1);
        self.varint(0);
        let members = module.meshes.len() + module.functions.len();
        self.varint((members as u64) << 1);
        for (_, mesh) in module.meshes.iter() {
            self.mesh_global(mesh)?;
        }
        for (_, function) in module.functions.iter() {
            self.function(function)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &Function) -> Write<()> {
        let name = self.tables.op_name(Dialect::Vhlo, "func_v1");
        let own = self.function_attributes(function)?;
        let head = Head {
            name,
            own: self.own_attributes(own),
            discardable: &function.attributes,
            location: function.location,
            parts: parts::REGIONS,
        };
        self.head(head)?;
        self.isolated(|writer| match &function.body {
            None => {
                writer.varint(0);
                Ok(())
            }
            Some(body) => {
                writer.values = vec![u32::MAX; body.values.len()];
                writer.region(body, body.root, 0)
            }
        })
    }

    /// The attributes of a function, in the order of bytecode.
    fn function_attributes(&mut self, function: &Function) -> Write<Vec<(&'static str, u32)>> {
        let visibility = match function.visibility {
            Visibility::Public => "public",
            Visibility::Private => "private",
            Visibility::Nested => "nested",
        };
        let ty = Attribute::Type(Type::Function(function.ty().into()));
        Ok(vec![
            ("arg_attrs", self.parameter_attributes(&function.arguments)?),
            ("function_type", self.attribute(&ty)?),
            ("res_attrs", self.parameter_attributes(&function.results)?),
            ("sym_name", self.string(&function.name)?),
            ("sym_visibility", self.string(visibility)?),
        ])
    }

    /// A dictionary for each, or an empty list where all are empty.
    fn parameter_attributes(&mut self, parameters: &[Parameter]) -> Write<u32> {
        if parameters.iter().all(|parameter| parameter.attributes.is_empty()) {
            return self.dictionaries([].iter());
        }
        self.dictionaries(parameters.iter().map(|parameter| &parameter.attributes))
    }

    /// An operation's own attributes as the version has them.
    pub(super) fn own_attributes(&mut self, own: Vec<(&'static str, u32)>) -> Own {
        if self.bytecode() < since::PROPERTIES {
            return Own::Dictionary(own);
        }
        if own.is_empty() {
            return Own::Nothing;
        }
        let tokens: Vec<Token> = own.iter().map(|(_, number)| Token::Attribute(*number)).collect();
        Own::Properties(self.tables.properties(&tokens))
    }

    /// Name and attributes of an operation of another dialect, which is written as one that its dialect need not know.
    fn unregistered(&mut self, op: &Op) -> Write<(u32, Own)> {
        let full_name = op.name();
        self.require(OTHER_DIALECTS_SINCE, || format!("'{full_name}'"))?;
        let named = full_name.split_once('.').filter(|_| full_name != CONVERSION_CAST);
        let Some((dialect, name)) = named else {
            return Err(WriteError::no_form(format!("'{full_name}'")));
        };
        let dialect = Dialect::Other(self.tables.string(dialect.as_bytes()));
        let name = self.tables.any_op_name(dialect, name, false);
        let properties = op.attributes();
        if properties.is_empty() {
            return Ok((name, Own::Nothing));
        }
        let dictionary = match op {
            // Constants of every type are among the attributes of the test dialects, and no list that VHLO writes otherwise.
            Op::Testing(_) => self.discardable(&properties)?,
            _ => self.builtin_dictionary(&properties)?,
        };
        let number = self.tables.properties(&[Token::Attribute(dictionary)]);
        Ok((name, Own::Properties(number)))
    }

    /// What stands before results, operands and regions.
    fn head(&mut self, head: Head<'_>) -> Write<()> {
        let in_dictionary = match &head.own {
            Own::Dictionary(own) => own.as_slice(),
            Own::Nothing | Own::Properties(_) => &[],
        };
        let has_attributes = !head.discardable.is_empty() || !in_dictionary.is_empty();
        let mut mask = head.parts;
        mask |= if has_attributes { parts::ATTRIBUTES } else { 0 };
        mask |= if matches!(head.own, Own::Properties(_)) {
            parts::PROPERTIES
        } else {
            0
        };
        self.varint(u64::from(head.name));
        self.tokens.push(Token::Byte(mask));
        let location = self.location(head.location)?;
        self.tokens.push(Token::Attribute(location));
        if has_attributes {
            let number = self.operation_attributes(head.discardable, in_dictionary)?;
            self.tokens.push(Token::Attribute(number));
        }
        if let Own::Properties(number) = head.own {
            self.varint(u64::from(number));
        }
        Ok(())
    }

    pub(super) fn region(&mut self, body: &Body, region: RegionId, first: u32) -> Write<()> {
        let blocks = &body.regions[region].blocks;
        self.varint(blocks.len() as u64);
        if blocks.is_empty() {
            return Ok(());
        }
        let in_sharding = in_sharding(body, region);
        let defined: usize = blocks
            .iter()
            .map(|block| values_of(body, &body.blocks[*block], in_sharding))
            .sum();
        self.varint(defined as u64);
        // Regions inside number theirs after all values of this one.
        let inner = first + defined as u32;
        let mut next = first;
        for block in blocks {
            self.block(body, *block, &mut next, inner)?;
        }
        Ok(())
    }

    fn block(&mut self, body: &Body, id: BlockId, next: &mut u32, inner: u32) -> Write<()> {
        let block = &body.blocks[id];
        let in_sharding = in_sharding(body, block.region);
        let has_arguments = !block.arguments.is_empty();
        let casts: usize = block.ops.iter().map(|op| casts_of(&body.ops[*op])).sum();
        let casts = casts + if in_sharding { block.arguments.len() } else { 0 };
        self.varint(((block.ops.len() + casts) as u64) << 1 | u64::from(has_arguments));
        let first = *next;
        if has_arguments {
            self.varint(block.arguments.len() as u64);
            for (argument, location) in block.arguments.iter().zip(&block.argument_locations) {
                self.values[index(*argument)] = *next;
                *next += 1;
                self.argument(body.ty(*argument), *location, in_sharding)?;
            }
            if self.bytecode() >= since::USE_LIST_ORDERS {
                self.tokens.push(Token::Byte(0));
            }
        }
        if in_sharding {
            self.cast_arguments(body, id, first, next)?;
        }
        for op in &block.ops {
            self.operation(body, &body.ops[*op], next, inner)?;
        }
        Ok(())
    }

    fn argument(&mut self, ty: &Type, location: LocationId, in_sharding: bool) -> Write<()> {
        let ty = if in_sharding {
            self.builtin_type(ty)?
        } else {
            self.ty(ty)?
        };
        let known = self.options.locations && location != LocationId::UNKNOWN;
        if self.bytecode() < since::OPTIONAL_ARGUMENT_LOCATION {
            self.tokens.push(Token::Type(ty));
        } else {
            self.tokens.push(Token::FlaggedType(ty, known));
            if !known {
                return Ok(());
            }
        }
        let location = self.location(location)?;
        self.tokens.push(Token::Attribute(location));
        Ok(())
    }

    fn operation(&mut self, body: &Body, operation: &Operation, next: &mut u32, inner: u32) -> Write<()> {
        if is_sharding(operation) {
            return self.sharding(body, operation, next, inner);
        }
        let (name, own) = match &operation.op {
            Op::Foreign(_) | Op::Testing(_) => self.unregistered(&operation.op)?,
            op => {
                let (row, name) = self.row(op)?;
                self.check_shape(row, body, operation)?;
                (name, self.own(row, body, operation)?)
            }
        };
        let part = |present: bool, part: u8| if present { part } else { 0 };
        let head = Head {
            name,
            own,
            discardable: &operation.attributes,
            location: operation.location,
            parts: part(!operation.results.is_empty(), parts::RESULTS)
                | part(!operation.operands.is_empty(), parts::OPERANDS)
                | part(!operation.regions.is_empty(), parts::REGIONS),
        };
        self.head(head)?;
        if !operation.results.is_empty() {
            self.varint(operation.results.len() as u64);
            for result in &operation.results {
                let ty = self.ty(body.ty(*result))?;
                self.tokens.push(Token::Type(ty));
            }
        }
        if !operation.operands.is_empty() {
            self.varint(operation.operands.len() as u64);
            for operand in &operation.operands {
                let number = self.values[index(*operand)];
                self.varint(u64::from(number));
            }
        }
        for result in &operation.results {
            self.values[index(*result)] = *next;
            *next += 1;
        }
        if !operation.regions.is_empty() {
            self.varint((operation.regions.len() as u64) << 1);
            for region in &operation.regions {
                self.region(body, *region, inner)?;
            }
        }
        Ok(())
    }

    /// The dictionary of an operation: discardable attributes and, in old versions, its own.
    fn operation_attributes(
        &mut self,
        discardable: &NamedAttributes,
        own: &[(&'static str, u32)],
    ) -> Write<u32> {
        if own.is_empty() {
            return self.discardable(discardable);
        }
        let mut all: Vec<(&str, u32)> = own.to_vec();
        for (name, value) in discardable.iter() {
            all.push((name, self.attribute(value)?));
        }
        all.sort_by_key(|(name, _)| *name);
        let mut tokens = vec![
            Token::Varint(super::super::builtin::DICTIONARY),
            Token::Varint(all.len() as u64),
        ];
        for (name, value) in all {
            tokens.push(Token::Attribute(self.builtin_string(name.as_bytes())));
            tokens.push(Token::Attribute(value));
        }
        Ok(self.builtin_entry(&tokens))
    }
}

/// What stands before an operation's results, operands and regions.
struct Head<'a> {
    /// The number of its name.
    name: u32,
    own: Own,
    discardable: &'a NamedAttributes,
    location: LocationId,
    /// Which parts follow.
    parts: u8,
}

/// An operation's own attributes.
pub(super) enum Own {
    Nothing,
    /// By the number of the properties.
    Properties(u32),
    /// In versions without properties: names, and numbers of attributes.
    Dictionary(Vec<(&'static str, u32)>),
}

/// Values that a block defines, those of its regions apart.
fn values_of(body: &Body, block: &Block, in_sharding: bool) -> usize {
    let of_op = |op: &Operation| op.results.len() + casts_of(op);
    let results: usize = block.ops.iter().map(|op| of_op(&body.ops[*op])).sum();
    block.arguments.len() * if in_sharding { 2 } else { 1 } + results
}

/// Whether a region belongs to an operation of Shardy.
fn in_sharding(body: &Body, region: RegionId) -> bool {
    body.regions[region]
        .parent
        .is_some_and(|parent| is_sharding(&body.ops[parent]))
}
