//! Functions.

use std::sync::Arc;

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::location::LocationId;
use artifact_ir::module::{Body, Function, Parameter, Visibility};
use artifact_ir::types::Type;

use super::cursor::{Parser, Read};
use super::region::BlockArgument;
use crate::lex::{Kind, Token};

/// A parameter, and the name of its value where it has one.
struct NamedParameter {
    parameter: Parameter,
    name: Option<Token>,
}

impl<'a> Parser<'a> {
    /// `func.func @name(...) -> ... {...}`; the word is ahead.
    pub(super) fn function(&mut self) -> Read<Function> {
        let source = SourceOffset::new(self.bump().start());
        let visibility = self.visibility();
        let symbol = self.expect(Kind::Symbol)?;
        let mut function = Function::new(self.symbol_text(symbol)?);
        function.source = source;
        function.visibility = visibility;
        let mut arguments = Vec::new();
        self.list(Kind::LeftParen, |parser| {
            arguments.push(parser.parameter()?);
            Ok(())
        })?;
        if self.take(Kind::Arrow) {
            function.results = self.function_results()?;
        }
        if self.take_word("attributes") {
            function.attributes = self.dictionary()?;
        }
        if self.at(Kind::LeftBrace) {
            function.body = Some(self.function_body(&arguments)?);
        }
        function.arguments = arguments.into_iter().map(|argument| argument.parameter).collect();
        function.location = self.trailing_location()?;
        Ok(function)
    }

    fn visibility(&mut self) -> Visibility {
        for (word, visibility) in VISIBILITIES {
            if self.take_word(word) {
                return visibility;
            }
        }
        Visibility::Public
    }

    /// `%a: type {attributes} loc(...)`, or without a name in a declaration.
    fn parameter(&mut self) -> Read<NamedParameter> {
        let name = if self.at(Kind::Percent) {
            let name = self.bump();
            self.expect(Kind::Colon)?;
            Some(name)
        } else {
            None
        };
        let ty = self.ty()?;
        let attributes = self.optional_dictionary()?;
        let location = self.trailing_location()?;
        let parameter = Parameter {
            ty,
            attributes,
            location,
        };
        Ok(NamedParameter { parameter, name })
    }

    fn function_results(&mut self) -> Read<Vec<Parameter>> {
        let mut results = Vec::new();
        if !self.at(Kind::LeftParen) {
            results.push(Parameter::new(self.ty()?));
            return Ok(results);
        }
        self.list(Kind::LeftParen, |parser| {
            let ty = parser.ty()?;
            let attributes = parser.optional_dictionary()?;
            results.push(Parameter {
                ty,
                attributes,
                location: LocationId::UNKNOWN,
            });
            Ok(())
        })?;
        Ok(results)
    }

    fn function_body(&mut self, arguments: &[NamedParameter]) -> Read<Body> {
        let mut entry = Vec::with_capacity(arguments.len());
        for NamedParameter { parameter, name } in arguments {
            let Some(name) = *name else {
                return Err(self.error_here("the arguments of a function with a body need names"));
            };
            entry.push(BlockArgument {
                name,
                ty: parameter.ty.clone(),
                location: parameter.location,
            });
        }
        self.body_region(Some(entry))
    }

    /// `{...}` as the body of a function.
    fn body_region(&mut self, entry: Option<Vec<BlockArgument>>) -> Read<Body> {
        self.body = Body::new();
        self.scope.clear();
        self.in_function_block = true;
        let root = self.body.root;
        let result = self.nested(|parser| parser.region_contents(root, entry));
        self.in_function_block = false;
        self.block = None;
        result?;
        Ok(std::mem::take(&mut self.body))
    }

    /// `"func.func"() <{...}> ({...}) : () -> ()`; the string is ahead.
    pub(super) fn generic_function(&mut self) -> Read<Function> {
        let start = self.bump().start();
        self.expect(Kind::LeftParen)?;
        self.expect(Kind::RightParen)?;
        let mut attributes = self.properties()?;
        self.expect(Kind::LeftParen)?;
        let declared = self.declaration_region();
        let body = if declared {
            None
        } else {
            Some(self.body_region(None)?)
        };
        self.expect(Kind::RightParen)?;
        let offset = self.token.start();
        let more = self.optional_dictionary()?;
        self.merge(&mut attributes, more, offset)?;
        self.empty_signature()?;
        let location = self.trailing_location()?;
        let mut function = self.function_of_attributes(&mut attributes, start)?;
        if let Some(body) = &body {
            self.check_entry(&function, body, start)?;
        }
        function.attributes = attributes;
        function.body = body;
        function.location = location;
        Ok(function)
    }

    /// Takes `{}`, the region of a declaration, if it is ahead.
    fn declaration_region(&mut self) -> bool {
        let start = self.token.start();
        if self.take(Kind::LeftBrace) {
            if self.take(Kind::RightBrace) {
                return true;
            }
            self.seek(start);
        }
        false
    }

    /// `<{...}>`, if it is there.
    pub(super) fn properties(&mut self) -> Read<NamedAttributes> {
        if !self.take(Kind::Less) {
            return Ok(NamedAttributes::new());
        }
        let properties = self.dictionary()?;
        self.expect(Kind::Greater)?;
        Ok(properties)
    }

    /// `: () -> ()`.
    pub(super) fn empty_signature(&mut self) -> Read<()> {
        self.expect(Kind::Colon)?;
        let offset = self.token.start();
        let ty = self.function_type()?;
        if ty.inputs.is_empty() && ty.results.is_empty() {
            Ok(())
        } else {
            Err(self.error(offset, "expected '() -> ()'"))
        }
    }

    fn function_of_attributes(&mut self, attributes: &mut NamedAttributes, start: usize) -> Read<Function> {
        let name = self.symbol_name(attributes, start)?;
        let Some(Attribute::Type(Type::Function(ty))) = attributes.remove("function_type") else {
            return Err(self.error(start, "'func.func' op requires attribute 'function_type'"));
        };
        let mut function = Function::new(name);
        function.source = SourceOffset::new(start);
        function.visibility = match attributes.remove("sym_visibility") {
            None => Visibility::Public,
            Some(Attribute::String(text)) => VISIBILITIES
                .into_iter()
                .find(|(word, _)| text.as_str() == Some(*word))
                .map(|(_, visibility)| visibility)
                .ok_or_else(|| self.error(start, "the visibility is none of public, private, nested"))?,
            Some(_) => return Err(self.error(start, "the attribute 'sym_visibility' must be a string")),
        };
        function.arguments = ty.inputs.iter().cloned().map(Parameter::new).collect();
        function.results = ty.results.iter().cloned().map(Parameter::new).collect();
        self.parameter_attributes(attributes.remove("arg_attrs"), &mut function.arguments, start)?;
        self.parameter_attributes(attributes.remove("res_attrs"), &mut function.results, start)?;
        Ok(function)
    }

    fn parameter_attributes(
        &mut self,
        attributes: Option<Attribute>,
        parameters: &mut [Parameter],
        start: usize,
    ) -> Read<()> {
        let items = match attributes {
            None => return Ok(()),
            Some(Attribute::Array(items)) if items.len() == parameters.len() => items,
            Some(_) => {
                return Err(self.error(
                    start,
                    "arg_attrs and res_attrs must be arrays of one dictionary each",
                ));
            }
        };
        for (parameter, item) in parameters.iter_mut().zip(items) {
            let Attribute::Dictionary(dictionary) = item else {
                return Err(self.error(start, "arg_attrs and res_attrs must hold dictionaries"));
            };
            parameter.attributes = dictionary;
        }
        Ok(())
    }

    pub(super) fn symbol_name(&mut self, attributes: &mut NamedAttributes, start: usize) -> Read<Arc<str>> {
        match attributes.remove("sym_name").as_ref().and_then(Attribute::as_str) {
            Some(name) => Ok(name.into()),
            None => Err(self.error(start, "'func.func' op requires attribute 'sym_name'")),
        }
    }

    /// The first block must take what the function takes.
    fn check_entry(&mut self, function: &Function, body: &Body, start: usize) -> Read<()> {
        let arguments = body
            .entry_block()
            .map(|block| body.blocks[block].arguments.as_slice())
            .unwrap_or_default();
        let types = arguments.iter().map(|argument| body.ty(*argument));
        if types.eq(function.arguments.iter().map(|argument| &argument.ty)) {
            Ok(())
        } else {
            Err(self.error(
                start,
                "the arguments of the first block are not those of the function's type",
            ))
        }
    }
}

const VISIBILITIES: [(&str, Visibility); 3] = [
    ("public", Visibility::Public),
    ("private", Visibility::Private),
    ("nested", Visibility::Nested),
];
