//! Pretty forms of other dialects, as far as StableHLO programs hold them.
//!
//! They become what their generic form would have become, so that they can be written in that form: their own attributes
//! are the properties of a [`artifact_ir::op::ForeignOp`].

use std::sync::Arc;

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::module::OpId;
use artifact_ir::types::Type;

use super::signature::INDEX;
use crate::lex::Kind;
use crate::parse::cursor::{Parser, Read};
use crate::parse::operation::Draft;

impl<'a> Parser<'a> {
    /// An operation that is not ours, in pretty form; its name is ahead.
    pub(super) fn foreign_operation(&mut self, mut draft: Draft<'a>) -> Read<OpId> {
        let token = self.bump();
        let discardable = match draft.name {
            "arith.constant" => self.arith_constant(&mut draft)?,
            "func.constant" => self.function_constant(&mut draft)?,
            "func.call_indirect" => self.call_indirect(&mut draft)?,
            "tensor.dim" => self.tensor_dim(&mut draft)?,
            "builtin.unrealized_conversion_cast" => self.conversion_cast(&mut draft)?,
            name => {
                let message = format!(
                    "unknown operation '{name}': operations of other dialects are read in generic form, \"{name}\"(...)"
                );
                return Err(self.error(token.start(), message));
            }
        };
        self.finish_operation(draft, discardable)
    }

    /// `{attributes} value`, whose type is the result's.
    fn arith_constant(&mut self, draft: &mut Draft<'a>) -> Read<NamedAttributes> {
        let discardable = self.optional_dictionary()?;
        let start = self.token.start();
        let value = self.attribute()?;
        let ty = match &value {
            Attribute::Elements(literal) => Type::Tensor(literal.ty().clone()),
            Attribute::Integer { ty, .. } => Type::Scalar(*ty),
            Attribute::Bool(_) => Type::Scalar(artifact_ir::types::ElementType::I1),
            Attribute::Float(float) => Type::Scalar(float.ty),
            _ => return Err(self.error(start, "expected a number or a dense constant")),
        };
        draft.attributes.insert("value", value);
        draft.results.push(ty);
        Ok(discardable)
    }

    /// `@f : (A) -> B`.
    fn function_constant(&mut self, draft: &mut Draft<'a>) -> Read<NamedAttributes> {
        let discardable = self.optional_dictionary()?;
        let symbol = self.symbol_ref()?;
        draft.attributes.insert("value", Attribute::Symbol(symbol));
        self.expect(Kind::Colon)?;
        draft.results.push(self.ty()?);
        Ok(discardable)
    }

    /// `%f(%a, %b) : (A, B) -> C`. The function is the first operand.
    fn call_indirect(&mut self, draft: &mut Draft<'a>) -> Read<NamedAttributes> {
        self.operand(draft)?;
        self.list(Kind::LeftParen, |parser| parser.operand(draft))?;
        let discardable = self.optional_dictionary()?;
        self.expect(Kind::Colon)?;
        let offset = self.token.start();
        let function = self.function_type()?;
        draft.results.clone_from(&function.results);
        let callee = std::iter::once(Type::Function(Arc::new(function.clone())));
        let operands: Vec<Type> = callee.chain(function.inputs).collect();
        self.check_operands(draft, &operands, offset)?;
        Ok(discardable)
    }

    /// `%tensor, %index : type`.
    fn tensor_dim(&mut self, draft: &mut Draft<'a>) -> Read<NamedAttributes> {
        self.operands(draft)?;
        let discardable = self.optional_dictionary()?;
        self.expect(Kind::Colon)?;
        let offset = self.token.start();
        let ty = self.ty()?;
        self.check_operands(draft, &[ty, INDEX], offset)?;
        draft.results.push(INDEX);
        Ok(discardable)
    }

    /// `%a : A to B`.
    fn conversion_cast(&mut self, draft: &mut Draft<'a>) -> Read<NamedAttributes> {
        self.operands(draft)?;
        if !draft.operands.is_empty() {
            self.expect(Kind::Colon)?;
            let offset = self.token.start();
            let types = self.type_list()?;
            self.check_operands(draft, &types, offset)?;
        }
        self.expect_word("to")?;
        draft.results = self.type_list()?;
        self.optional_dictionary()
    }
}
