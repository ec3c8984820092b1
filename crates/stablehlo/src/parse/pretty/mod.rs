//! Pretty forms: operations without quotes.
//!
//! What each form is made of stands in [`table`]; this module reads the pieces.

mod foreign;
mod function;
mod region;
mod sharding;
mod signature;
mod table;
mod window;

use artifact_ir::attribute::{
    Attribute, AttributeValue, ByteString, DotDimensionNumbers, FloatAttribute, NamedAttributes, Precision,
    PrecisionConfig, StablehloAttribute, SymbolRef,
};
use artifact_ir::module::OpId;
use artifact_ir::op::OpSpec;
use artifact_ir::types::ElementType;

use super::cursor::{Parser, Read};
use super::operation::{Draft, is_own_dialect};
use crate::lex::Kind;
use signature::Signature;

/// A part of a pretty form.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// One operand.
    Operand,
    /// Operands separated by commas, perhaps none.
    Operands,
    /// Operands with a comma after each, perhaps none.
    LeadingOperands,
    Word(&'static str),
    Sign(Kind),
    /// An attribute of this name.
    Attribute(&'static str, Form),
    /// Pieces that are there when a comma is.
    IfComma(&'static [Piece]),
    /// `{...}`, if it is there.
    Dictionary,
    /// `:` and types.
    Types(Signature),
    /// What only one or two operations have.
    Own(Own),
}

/// How an attribute is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    I64,
    I32,
    UI64,
    UI32,
    I64s,
    Bool,
    F64,
    String,
    Literal,
    /// A word; the function reads it.
    Keyword(fn(&mut Parser<'_>) -> Read<Attribute>),
    /// An attribute without the name that it has alone; the function reads it.
    Bare(fn(&mut Parser<'_>) -> Read<Attribute>),
}

/// Parts with a syntax of their own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Own {
    /// `constant`: attributes and value, or the generic form without a name.
    Constant,
    /// `[1:2, 3:4:2]`.
    SliceRanges,
    /// `@target`.
    CallTarget,
    /// `batching_dims = [0] x [0], contracting_dims = [1] x [0]`.
    DotDimensions,
    /// `, precision = [...]`.
    Precision,
    /// `, precision = [...], algorithm = <...>`.
    PrecisionAndAlgorithm,
    /// `e8m23`.
    ExponentMantissa,
    /// `[b, 0, f]x[0, i, o]->[b, 0, f]`.
    ConvolutionDimensions,
    /// `stride = [...], pad = [...]`, in braces.
    Window,
    /// `({...}, {...})`, if it is there.
    CompositeRegions,
    /// `reduce` from its operands on.
    Reduce,
    /// `while` from its operands on.
    While,
    /// `scan` from its operands on.
    Scan,
    /// Operands and types, or `()`.
    Barrier,
    /// Operands, attributes, and types when there are operands.
    Return,
    /// `@callee`.
    Callee,
    /// `sdy.manual_computation` from its operands on.
    ManualComputation,
    /// `sdy.named_computation` from its name on.
    NamedComputation,
    /// `sharding=<...>`, if it is there.
    EdgeSharding,
    /// `sum`, `max` or `min`, if it is there.
    ReductionOp,
    /// Operands and types, if there are operands.
    TypedOperands,
}

impl<'a> Parser<'a> {
    /// An operation in pretty form; its name is ahead.
    pub(super) fn pretty_operation(&mut self) -> Read<OpId> {
        let token = self.token;
        let written = self.slice(token);
        let name = match written {
            "return" if self.in_function_block => "func.return",
            "call" if self.in_function_block => "func.call",
            "call_indirect" if self.in_function_block => "func.call_indirect",
            other => other,
        };
        let mut draft = Draft::new(name, token.start());
        if let Some(pieces) = table::pieces(name) {
            self.bump();
            self.pieces(pieces, &mut draft)?;
            return self.finish_operation(draft, NamedAttributes::new());
        }
        if OpSpec::find(name).is_some() {
            return Err(self.error_here(format!(
                "'{name}' has no pretty form: write it as \"{name}\"(...)"
            )));
        }
        if is_own_dialect(name) {
            return Err(self.error_here(format!("unknown operation '{name}'")));
        }
        self.foreign_operation(draft)
    }

    pub(super) fn pieces(&mut self, pieces: &[Piece], draft: &mut Draft<'a>) -> Read<()> {
        for piece in pieces {
            self.piece(*piece, draft)?;
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece, draft: &mut Draft<'a>) -> Read<()> {
        match piece {
            Piece::Operand => self.operand(draft),
            Piece::Operands => self.operands(draft),
            Piece::LeadingOperands => {
                while self.at(Kind::Percent) {
                    self.operand(draft)?;
                    self.expect(Kind::Comma)?;
                }
                Ok(())
            }
            Piece::Word(word) => self.expect_word(word),
            Piece::Sign(kind) => self.expect(kind).map(|_| ()),
            Piece::Attribute(name, form) => {
                let value = self.form(form)?;
                draft.attributes.insert(self.name(name), value);
                Ok(())
            }
            Piece::IfComma(pieces) => {
                if self.take(Kind::Comma) {
                    self.pieces(pieces, draft)?;
                }
                Ok(())
            }
            Piece::Dictionary => self.more_attributes(draft),
            Piece::Types(signature) => self.signature(signature, draft),
            Piece::Own(own) => self.own(own, draft),
        }
    }

    /// `%a, %b`, perhaps none.
    pub(super) fn operands(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        if self.at(Kind::Percent) {
            self.operand(draft)?;
            while self.take(Kind::Comma) {
                self.operand(draft)?;
            }
        }
        Ok(())
    }

    /// `{...}`, if it is there, added to the operation's attributes.
    pub(super) fn more_attributes(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        if self.at(Kind::LeftBrace) {
            let offset = self.token.start();
            let more = self.dictionary()?;
            self.merge(&mut draft.attributes, more, offset)?;
        }
        Ok(())
    }

    fn form(&mut self, form: Form) -> Read<Attribute> {
        let integer = |value: i128, ty| Attribute::Integer { value, ty };
        Ok(match form {
            Form::I64 => integer(self.integer::<i64>()?.into(), ElementType::I64),
            Form::I32 => integer(self.integer::<i32>()?.into(), ElementType::I32),
            Form::UI64 => integer(self.integer::<u64>()?.into(), ElementType::UI64),
            Form::UI32 => integer(self.integer::<u32>()?.into(), ElementType::UI32),
            Form::I64s => self.i64_list()?.to_attribute(),
            Form::Bool => {
                let start = self.token.start();
                match self.attribute()? {
                    Attribute::Bool(value) => Attribute::Bool(value),
                    _ => return Err(self.error(start, "expected true or false")),
                }
            }
            Form::F64 => Attribute::Float(FloatAttribute::of_f64(self.f64_value()?)),
            Form::String => Attribute::String(self.byte_string()?),
            Form::Literal => self.literal()?,
            Form::Keyword(read) | Form::Bare(read) => read(self)?,
        })
    }

    /// `dense<...> : type`, or an alias of one.
    fn literal(&mut self) -> Read<Attribute> {
        let start = self.token.start();
        match self.attribute()? {
            Attribute::Elements(literal) => Ok(Attribute::Elements(literal)),
            _ => Err(self.error(start, "expected a constant such as 'dense<0> : tensor<2xi32>'")),
        }
    }

    fn own(&mut self, own: Own, draft: &mut Draft<'a>) -> Read<()> {
        match own {
            Own::Constant => self.constant(draft),
            Own::SliceRanges => self.slice_ranges(draft),
            Own::CallTarget => {
                let token = self.expect(Kind::Symbol)?;
                let target = self.symbol_bytes(token)?;
                draft
                    .attributes
                    .insert(self.name("call_target_name"), Attribute::String(target));
                Ok(())
            }
            Own::DotDimensions => self.dot_dimensions(draft),
            Own::Precision => self.precision(draft),
            Own::PrecisionAndAlgorithm => self.precision_and_algorithm(draft),
            Own::ExponentMantissa => self.exponent_mantissa(draft),
            Own::ConvolutionDimensions => {
                let numbers = self.conv_dimensions()?;
                draft
                    .attributes
                    .insert(self.name("dimension_numbers"), numbers.to_attribute());
                Ok(())
            }
            Own::Window => self.window(draft),
            Own::CompositeRegions => {
                if self.take(Kind::LeftParen) {
                    self.region_list(draft)
                } else {
                    Ok(())
                }
            }
            Own::Reduce => self.reduce(draft),
            Own::While => self.while_loop(draft),
            Own::Scan => self.scan(draft),
            Own::Barrier => self.barrier(draft),
            Own::Return => self.return_values(draft),
            Own::ManualComputation => self.manual_computation(draft),
            Own::NamedComputation => self.named_computation(draft),
            Own::EdgeSharding => self.edge_sharding(draft),
            Own::ReductionOp => self.optional_reduction_op(draft),
            Own::TypedOperands => self.typed_operands(draft),
            Own::Callee => {
                let callee: SymbolRef = self.symbol_ref()?;
                draft
                    .attributes
                    .insert(self.name("callee"), Attribute::Symbol(callee));
                Ok(())
            }
        }
    }

    fn symbol_bytes(&mut self, token: crate::lex::Token) -> Read<ByteString> {
        let text = self.slice(token).get(1..).unwrap_or_default();
        if text.starts_with('"') {
            let quoted = crate::lex::Token {
                start: token.start + 1,
                ..token
            };
            return Ok(ByteString::from(&*self.string_bytes(quoted)?));
        }
        Ok(ByteString::from(text))
    }

    /// `{attributes} dense<...> : type`, or `() <{...}> {...} : () -> type`.
    fn constant(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.take(Kind::LeftParen) {
            self.expect(Kind::RightParen)?;
            draft.attributes = self.properties()?;
            self.more_attributes(draft)?;
            self.expect(Kind::Colon)?;
            return self.functional_types(draft);
        }
        self.more_attributes(draft)?;
        let value = self.literal()?;
        if let Attribute::Elements(literal) = &value {
            draft
                .results
                .push(artifact_ir::types::Type::Tensor(literal.ty().clone()));
        }
        draft.attributes.insert(self.name("value"), value);
        Ok(())
    }

    fn slice_ranges(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        self.list(Kind::LeftSquare, |parser| {
            starts.push(parser.i64_value()?);
            parser.expect(Kind::Colon)?;
            limits.push(parser.i64_value()?);
            strides.push(if parser.take(Kind::Colon) {
                parser.i64_value()?
            } else {
                1
            });
            Ok(())
        })?;
        for (name, values) in [
            ("start_indices", starts),
            ("limit_indices", limits),
            ("strides", strides),
        ] {
            draft.attributes.insert(self.name(name), values.to_attribute());
        }
        Ok(())
    }

    fn dot_dimensions(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        let mut numbers = DotDimensionNumbers::default();
        if self.take_word("batching_dims") {
            (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions) = self.dimension_pair()?;
            self.expect(Kind::Comma)?;
        }
        self.expect_word("contracting_dims")?;
        (
            numbers.lhs_contracting_dimensions,
            numbers.rhs_contracting_dimensions,
        ) = self.dimension_pair()?;
        let value = Attribute::Stablehlo(StablehloAttribute::Dot(numbers));
        draft.attributes.insert(self.name("dot_dimension_numbers"), value);
        Ok(())
    }

    /// `= [...] x [...]`.
    fn dimension_pair(&mut self) -> Read<(Vec<i64>, Vec<i64>)> {
        self.expect(Kind::Equal)?;
        let lhs = self.i64_list()?;
        self.expect_word("x")?;
        Ok((lhs, self.i64_list()?))
    }

    fn precision(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        if self.take(Kind::Comma) {
            self.precision_list(draft)
        } else {
            Ok(())
        }
    }

    fn precision_list(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        self.expect_word("precision")?;
        self.expect(Kind::Equal)?;
        let mut config = PrecisionConfig::default();
        self.list(Kind::LeftSquare, |parser| {
            config.0.push(parser.keyword::<Precision>()?);
            Ok(())
        })?;
        draft
            .attributes
            .insert(self.name("precision_config"), config.to_attribute());
        Ok(())
    }

    fn precision_and_algorithm(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        if !self.take(Kind::Comma) {
            return Ok(());
        }
        if !self.at_word("algorithm") {
            self.precision_list(draft)?;
            if !self.take(Kind::Comma) {
                return Ok(());
            }
        }
        self.expect_word("algorithm")?;
        self.expect(Kind::Equal)?;
        let algorithm = self.dot_algorithm()?;
        draft
            .attributes
            .insert(self.name("algorithm"), algorithm.to_attribute());
        Ok(())
    }

    fn exponent_mantissa(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        let token = self.expect(Kind::Word)?;
        let text = self.slice(token);
        let parts = text.strip_prefix('e').and_then(|rest| rest.split_once('m'));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let Some((exponent, mantissa)) =
            parts.filter(|(exponent, mantissa)| digits(exponent) && digits(mantissa))
        else {
            let message = format!("expected exponent mantissa in format e#m#, saw {text}");
            return Err(self.error(token.start(), message));
        };
        for (name, what, digits) in [
            ("exponent_bits", "exponent", exponent),
            ("mantissa_bits", "mantissa", mantissa),
        ] {
            let Ok(bits) = digits.parse::<i32>() else {
                return Err(self.error(token.start(), format!("unable to parse {what} '{digits}'")));
            };
            draft.attributes.insert(self.name(name), bits.to_attribute());
        }
        Ok(())
    }
}
