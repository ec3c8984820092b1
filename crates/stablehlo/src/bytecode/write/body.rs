//! The module, functions, regions, blocks and operations.

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::module::{Block, BlockId, Body, Function, Operation, Parameter, RegionId, Visibility};
use artifact_ir::op::Op;
use artifact_ir::types::Type;

use super::super::{parts, since};
use super::error::WriteError;
use super::tables::Dialect;
use super::token::Token;
use super::{Write, Writer, index};

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
            let properties = self.tables.properties(vec![symbol, Token::Varint(0)]);
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
        self.varint((module.functions.len() as u64) << 1);
        for (_, function) in module.functions.iter() {
            self.function(function)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &Function) -> Write<()> {
        let mut discardable = function.attributes.clone();
        let own = self.function_attributes(function);
        self.head(
            "func_v1",
            &own,
            &mut discardable,
            function.location,
            parts::REGIONS,
        )?;
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

    /// The attributes of a function by name.
    fn function_attributes(&self, function: &Function) -> Vec<(&'static str, Attribute)> {
        let visibility = match function.visibility {
            Visibility::Public => "public",
            Visibility::Private => "private",
            Visibility::Nested => "nested",
        };
        vec![
            ("arg_attrs", parameter_attributes(&function.arguments)),
            (
                "function_type",
                Attribute::Type(Type::Function(function.ty().into())),
            ),
            ("res_attrs", parameter_attributes(&function.results)),
            ("sym_name", Attribute::string(&function.name)),
            ("sym_visibility", Attribute::string(visibility)),
        ]
    }

    /// Name, parts, location, attributes and properties of an operation of VHLO whose attributes are given by name.
    fn head(
        &mut self,
        name: &str,
        own: &[(&'static str, Attribute)],
        discardable: &mut NamedAttributes,
        location: artifact_ir::location::LocationId,
        other_parts: u8,
    ) -> Write<()> {
        let mut numbers = Vec::with_capacity(own.len());
        for (_, attribute) in own {
            numbers.push(self.attribute(attribute)?);
        }
        let names = own.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        self.numbered_head(name, &names, &numbers, discardable, location, other_parts)
    }

    fn numbered_head(
        &mut self,
        name: &str,
        names: &[&'static str],
        numbers: &[u32],
        discardable: &NamedAttributes,
        location: artifact_ir::location::LocationId,
        other_parts: u8,
    ) -> Write<()> {
        let name = self.tables.op_name(Dialect::Vhlo, name);
        let as_properties = self.bytecode() >= since::PROPERTIES;
        let in_dictionary: &[u32] = if as_properties { &[] } else { numbers };
        let has_attributes = !discardable.is_empty() || !in_dictionary.is_empty();
        let has_properties = as_properties && !numbers.is_empty();
        let mut mask = other_parts;
        mask |= if has_attributes { parts::ATTRIBUTES } else { 0 };
        mask |= if has_properties { parts::PROPERTIES } else { 0 };
        self.varint(u64::from(name));
        self.tokens.push(Token::Byte(mask));
        let location = self.location(location)?;
        self.tokens.push(Token::Attribute(location));
        if has_attributes {
            let number = self.operation_attributes(discardable, names, in_dictionary)?;
            self.tokens.push(Token::Attribute(number));
        }
        if has_properties {
            let tokens = numbers.iter().map(|number| Token::Attribute(*number)).collect();
            let properties = self.tables.properties(tokens);
            self.varint(u64::from(properties));
        }
        Ok(())
    }

    fn region(&mut self, body: &Body, region: RegionId, first: u32) -> Write<()> {
        let blocks = &body.regions[region].blocks;
        self.varint(blocks.len() as u64);
        if blocks.is_empty() {
            return Ok(());
        }
        let defined: usize = blocks
            .iter()
            .map(|block| values_of(body, &body.blocks[*block]))
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

    fn block(&mut self, body: &Body, block: BlockId, next: &mut u32, inner: u32) -> Write<()> {
        let block = &body.blocks[block];
        let has_arguments = !block.arguments.is_empty();
        self.varint((block.ops.len() as u64) << 1 | u64::from(has_arguments));
        if has_arguments {
            self.varint(block.arguments.len() as u64);
            for (argument, location) in block.arguments.iter().zip(&block.argument_locations) {
                self.values[index(*argument)] = *next;
                *next += 1;
                self.argument(body.ty(*argument), *location)?;
            }
            if self.bytecode() >= since::USE_LIST_ORDERS {
                self.tokens.push(Token::Byte(0));
            }
        }
        for op in &block.ops {
            self.operation(body, &body.ops[*op], next, inner)?;
        }
        Ok(())
    }

    fn argument(&mut self, ty: &Type, location: artifact_ir::location::LocationId) -> Write<()> {
        let ty = self.ty(ty)?;
        let known = self.options.locations && location != artifact_ir::location::LocationId::UNKNOWN;
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
        if let Op::Foreign(op) = &operation.op {
            return Err(WriteError::no_form(format!("'{}'", op.name)));
        }
        let row = self.row(&operation.op)?;
        let numbers = self.inherent(row, body, operation)?;
        let part = |present: bool, part: u8| if present { part } else { 0 };
        let other_parts = part(!operation.results.is_empty(), parts::RESULTS)
            | part(!operation.operands.is_empty(), parts::OPERANDS)
            | part(!operation.regions.is_empty(), parts::REGIONS);
        let names: Vec<&'static str> = row
            .row
            .attributes
            .iter()
            .map(|attribute| attribute.name)
            .collect();
        self.numbered_head(
            row.row.name,
            &names,
            &numbers,
            &operation.attributes,
            operation.location,
            other_parts,
        )?;
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
        names: &[&'static str],
        own: &[u32],
    ) -> Write<u32> {
        if own.is_empty() {
            return self.discardable(discardable);
        }
        let mut all: Vec<(&str, u32)> = names.iter().copied().zip(own.iter().copied()).collect();
        for (name, value) in discardable.iter() {
            all.push((name, self.attribute(value)?));
        }
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut tokens = vec![
            Token::Varint(super::super::builtin::DICTIONARY),
            Token::Varint(all.len() as u64),
        ];
        for (name, value) in all {
            tokens.push(Token::Attribute(self.builtin_string(name.as_bytes())));
            tokens.push(Token::Attribute(value));
        }
        Ok(self.builtin_entry(tokens))
    }
}

/// Values that a block defines, those of its regions apart.
fn values_of(body: &Body, block: &Block) -> usize {
    let results: usize = block.ops.iter().map(|op| body.ops[*op].results.len()).sum();
    block.arguments.len() + results
}

/// A dictionary for each, or an empty list where all are empty.
fn parameter_attributes(parameters: &[Parameter]) -> Attribute {
    if parameters.iter().all(|parameter| parameter.attributes.is_empty()) {
        return Attribute::Array(Vec::new());
    }
    let dictionaries = parameters
        .iter()
        .map(|parameter| Attribute::Dictionary(parameter.attributes.clone()));
    Attribute::Array(dictionaries.collect())
}
