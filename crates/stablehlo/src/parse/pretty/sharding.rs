//! Pretty forms of Shardy that have a syntax of their own.

use artifact_ir::attribute::sdy::PropagationDirection;
use artifact_ir::attribute::{Attribute, AttributeValue};

use crate::lex::Kind;
use crate::parse::cursor::{Parser, Read};
use crate::parse::operation::Draft;

impl<'a> Parser<'a> {
    /// `(%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%b: T) {...} {attributes} : (A) -> B`.
    pub(super) fn manual_computation(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.list(Kind::LeftParen, |parser| parser.operand(draft))?;
        for name in ["in_shardings", "out_shardings"] {
            self.expect_word(name)?;
            self.shardings_of(name, draft)?;
        }
        self.expect_word("manual_axes")?;
        self.expect(Kind::Equal)?;
        let axes = self.manual_axes()?;
        draft
            .attributes
            .insert(self.name("manual_axes"), axes.to_attribute());
        self.sharded_body(draft)
    }

    /// `<"name">(%a) in_shardings=[...] out_shardings=[...] (%b: T) {...} {attributes} : (A) -> B`.
    pub(super) fn named_computation(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.expect(Kind::Less)?;
        let name = self.byte_string()?;
        draft
            .attributes
            .insert(self.name("name"), Attribute::String(name));
        self.expect(Kind::Greater)?;
        self.list(Kind::LeftParen, |parser| parser.operand(draft))?;
        for name in ["in_shardings", "out_shardings"] {
            if self.take_word(name) {
                self.shardings_of(name, draft)?;
            }
        }
        self.sharded_body(draft)
    }

    /// `=[...]`.
    fn shardings_of(&mut self, name: &'static str, draft: &mut Draft<'a>) -> Read<()> {
        self.expect(Kind::Equal)?;
        let shardings = self.shardings()?;
        draft.attributes.insert(self.name(name), shardings.to_attribute());
        Ok(())
    }

    /// `(%b: T) {...} {attributes} : (A) -> B`.
    fn sharded_body(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        let mut arguments = Vec::new();
        self.list(Kind::LeftParen, |parser| {
            arguments.push(parser.block_argument()?);
            Ok(())
        })?;
        let op = self.place(draft);
        self.region(op, Some(arguments))?;
        self.more_attributes(draft)?;
        self.expect(Kind::Colon)?;
        self.functional_types(draft)
    }

    /// `sharding=<...>`, if it is there.
    pub(super) fn edge_sharding(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.take_word("sharding") {
            self.expect(Kind::Equal)?;
            let sharding = self.tensor_sharding()?;
            draft
                .attributes
                .insert(self.name("sharding"), sharding.to_attribute());
        }
        Ok(())
    }

    /// `max`, if it is there.
    pub(super) fn optional_reduction_op(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.at(Kind::Word) {
            let reduction = self.reduction_op()?;
            draft
                .attributes
                .insert(self.name("reduction_op"), reduction.to_attribute());
        }
        Ok(())
    }

    /// `%a, %b : A, B`, or nothing.
    pub(super) fn typed_operands(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if !self.at(Kind::Percent) {
            return Ok(());
        }
        self.operands(draft)?;
        self.expect(Kind::Colon)?;
        let offset = self.token.start();
        let types = self.type_list()?;
        self.check_operands(draft, &types, offset)
    }

    /// `FORWARD`.
    pub(super) fn propagation_direction(&mut self) -> Read<Attribute> {
        let token = self.expect(Kind::Word)?;
        match PropagationDirection::from_name(self.slice(token)) {
            Some(direction) => Ok(direction.to_attribute()),
            None => Err(self.error(
                token.start(),
                "expected a direction: NONE, FORWARD, BACKWARD or BOTH",
            )),
        }
    }
}
