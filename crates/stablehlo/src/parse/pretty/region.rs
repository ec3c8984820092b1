//! Pretty forms with regions: `reduce`, `while`, `scan`.

use artifact_ir::attribute::{Attribute, AttributeValue, NamedAttributes};
use artifact_ir::location::LocationId;
use artifact_ir::module::ValueId;
use artifact_ir::op::{Control, Op, OpSpec};
use artifact_ir::types::Type;

use super::signature::scalar_of;
use crate::lex::{Kind, Token};
use crate::parse::cursor::{Parser, Read};
use crate::parse::operation::Draft;
use crate::parse::region::BlockArgument;

/// What `reduce ... applies` may name.
const COMMUTATIVE: [&str; 7] = [
    "stablehlo.add",
    "stablehlo.and",
    "stablehlo.maximum",
    "stablehlo.minimum",
    "stablehlo.multiply",
    "stablehlo.or",
    "stablehlo.xor",
];

impl<'a> Parser<'a> {
    /// `(%a init: %b), ... applies op across dimensions = [0] : types`, or with `reducer(...) {...}` at the end.
    pub(super) fn reduce(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        let offset = self.token.start();
        let mut initial = Draft::new(draft.name, draft.offset);
        loop {
            self.expect(Kind::LeftParen)?;
            self.operand(draft)?;
            self.expect_word("init")?;
            self.expect(Kind::Colon)?;
            self.operand(&mut initial)?;
            self.expect(Kind::RightParen)?;
            if !self.take(Kind::Comma) {
                break;
            }
        }
        draft.operands.append(&mut initial.operands);
        draft.operand_offsets.append(&mut initial.operand_offsets);
        let applied = if self.take_word("applies") {
            Some(self.applied_operation(offset)?)
        } else {
            None
        };
        self.expect_word("across")?;
        self.expect_word("dimensions")?;
        self.expect(Kind::Equal)?;
        let dimensions = self.i64_list()?;
        draft
            .attributes
            .insert(self.name("dimensions"), dimensions.to_attribute());
        self.more_attributes(draft)?;
        self.expect(Kind::Colon)?;
        self.functional_types(draft)?;
        match applied {
            Some(spec) => self.applied_region(draft, spec),
            None => self.reducer(draft),
        }
    }

    fn applied_operation(&mut self, offset: usize) -> Read<&'static OpSpec> {
        let token = self.expect(Kind::Word)?;
        let name = self.slice(token);
        OpSpec::find(name).filter(|spec| COMMUTATIVE.contains(&spec.name)).ok_or_else(|| {
            self.error(
                offset,
                "expected the inner-op to be a commutative binary-op from the stablehlo dialect, with zero region, \
                 producing single result",
            )
        })
    }

    /// The region that a named operation stands for.
    fn applied_region(&mut self, draft: &mut Draft<'a>, spec: &OpSpec) -> Read<()> {
        let input = draft.operands.first().map(|value| self.body.ty(*value).clone());
        let Some(ty) = input.as_ref().and_then(scalar_of) else {
            return Err(self.error(draft.offset, "expected tensors to reduce"));
        };
        let inner = self.typed(spec, &mut NamedAttributes::new(), draft.offset)?;
        let op = self.place(draft);
        let region = self.body.add_region(op);
        let block = self.body.add_block(region);
        let arguments: Vec<ValueId> = (0..2)
            .map(|_| self.body.add_argument(block, ty.clone(), LocationId::UNKNOWN))
            .collect();
        let place = (LocationId::UNKNOWN, draft.offset);
        let results = self.implied_operation(block, (inner, arguments, vec![ty]), place);
        self.implied_operation(block, (Op::from(Control::Return), results, Vec::new()), place);
        Ok(())
    }

    /// `reducer(%a: T, %b: T) (%c: U, %d: U) {...}`: elements first, then accumulators.
    fn reducer(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.expect_word("reducer")?;
        let (mut elements, mut accumulators) = (Vec::new(), Vec::new());
        while self.take(Kind::LeftParen) {
            elements.push(self.block_argument()?);
            self.expect(Kind::Comma)?;
            accumulators.push(self.block_argument()?);
            self.expect(Kind::RightParen)?;
        }
        elements.append(&mut accumulators);
        let op = self.place(draft);
        self.region(op, Some(elements)).map(|_| ())
    }

    /// `(%a = %x, %b = %y) : A, B attributes {...} cond {...} do {...}`.
    pub(super) fn while_loop(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        let mut names: Vec<Token> = Vec::new();
        self.list(Kind::LeftParen, |parser| {
            names.push(parser.expect(Kind::Percent)?);
            parser.expect(Kind::Equal)?;
            parser.operand(draft)
        })?;
        if !names.is_empty() {
            self.expect(Kind::Colon)?;
            let offset = self.token.start();
            draft.results = self.type_list()?;
            self.check_operands(draft, &draft.results, offset)?;
        }
        if self.take_word("attributes") {
            self.more_attributes(draft)?;
        }
        let types: Vec<Type> = draft.results.clone();
        let arguments: Vec<BlockArgument> = names
            .into_iter()
            .zip(types)
            .map(|(name, ty)| BlockArgument {
                name,
                ty,
                location: LocationId::UNKNOWN,
            })
            .collect();
        let op = self.place(draft);
        self.expect_word("cond")?;
        self.region(op, Some(arguments.clone()))?;
        self.expect_word("do")?;
        self.region(op, Some(arguments))?;
        Ok(())
    }

    /// `(%inputs) inits (%carries) dimension=0 attributes {...} {...} : types`.
    pub(super) fn scan(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.list(Kind::LeftParen, |parser| parser.operand(draft))?;
        let inputs = draft.operands.len();
        self.expect_word("inits")?;
        self.list(Kind::LeftParen, |parser| parser.operand(draft))?;
        let carries = draft.operands.len() - inputs;
        self.expect_word("dimension")?;
        self.expect(Kind::Equal)?;
        let dimension = self.i64_value()?;
        draft
            .attributes
            .insert(self.name("dimension"), Attribute::i64(dimension));
        if self.take_word("attributes") {
            self.more_attributes(draft)?;
        }
        let op = self.place(draft);
        self.region(op, None)?;
        self.expect(Kind::Colon)?;
        self.functional_types(draft)?;
        let Some(outputs) = draft.results.len().checked_sub(carries) else {
            return Err(self.error(
                draft.offset,
                "not enough result types to cover the required carries",
            ));
        };
        let sizes = |first: usize, second: usize| vec![first as i32, second as i32].to_attribute();
        draft
            .attributes
            .insert(self.name("operand_segment_sizes"), sizes(inputs, carries));
        draft
            .attributes
            .insert(self.name("result_segment_sizes"), sizes(outputs, carries));
        Ok(())
    }
}
