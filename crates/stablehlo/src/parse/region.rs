//! Regions, blocks and the recovery within them.

use artifact_ir::location::LocationId;
use artifact_ir::module::{BlockId, OpId, RegionId, ValueId};
use artifact_ir::op::Op;
use artifact_ir::types::Type;

use super::cursor::{Failed, Parser, Read};
use super::scope::{Binding, ScopeMark};
use crate::lex::{Kind, Token};

/// An argument of a block.
#[derive(Clone, Debug)]
pub(super) struct BlockArgument {
    /// Its name, `%` included.
    pub(super) name: Token,
    pub(super) ty: Type,
    pub(super) location: LocationId,
}

/// What must be as before when a statement could not be read.
struct Saved {
    depth: u64,
    block: Option<BlockId>,
    in_function_block: bool,
    scope: ScopeMark,
}

impl<'a> Parser<'a> {
    /// A region of `op`, its braces included. `entry` are arguments that a pretty form gives its first block.
    pub(super) fn region(&mut self, op: OpId, entry: Option<Vec<BlockArgument>>) -> Read<RegionId> {
        let region = self.body.add_region(op);
        let in_function_block = std::mem::replace(&mut self.in_function_block, false);
        let result = self.nested(|parser| parser.region_contents(region, entry));
        self.in_function_block = in_function_block;
        result.map(|()| region)
    }

    /// `{ blocks }`, into a region that is there already.
    pub(super) fn region_contents(
        &mut self,
        region: RegionId,
        entry: Option<Vec<BlockArgument>>,
    ) -> Read<()> {
        self.expect(Kind::LeftBrace)?;
        let outer = self.block;
        let mark = self.scope.mark();
        if entry.is_some() || !matches!(self.kind(), Kind::Caret | Kind::RightBrace) {
            let block = self.body.add_block(region);
            for argument in entry.unwrap_or_default() {
                self.define_argument(block, argument)?;
            }
            self.statements(block);
        }
        while self.at(Kind::Caret) {
            self.bump();
            let block = self.body.add_block(region);
            if self.at(Kind::LeftParen) {
                self.list(Kind::LeftParen, |parser| {
                    let argument = parser.block_argument()?;
                    parser.define_argument(block, argument)
                })?;
            }
            self.expect(Kind::Colon)?;
            self.statements(block);
        }
        self.expect(Kind::RightBrace)?;
        self.scope.forget_since(mark);
        self.block = outer;
        Ok(())
    }

    /// `%a: type loc(...)`.
    pub(super) fn block_argument(&mut self) -> Read<BlockArgument> {
        let name = self.expect(Kind::Percent)?;
        self.expect(Kind::Colon)?;
        let ty = self.ty()?;
        let location = self.trailing_location()?;
        Ok(BlockArgument { name, ty, location })
    }

    pub(super) fn define_argument(&mut self, block: BlockId, argument: BlockArgument) -> Read<()> {
        let BlockArgument { name, ty, location } = argument;
        let value = self.body.add_argument(block, ty, location);
        self.define(
            name,
            Binding::Values {
                first: value,
                count: 1,
            },
        )
    }

    pub(super) fn define(&mut self, name: Token, binding: Binding) -> Read<()> {
        let text = self.slice(name);
        if self.scope.define(text, binding) {
            Ok(())
        } else {
            Err(self.error(name.start(), format!("redefinition of value '{text}'")))
        }
    }

    /// `%a` or `%a#1`.
    pub(super) fn value(&mut self) -> Read<ValueId> {
        let token = self.expect(Kind::Percent)?;
        let index = if self.at(Kind::Hash) {
            self.result_number()?
        } else {
            0
        };
        let name = self.slice(token);
        match self.scope.get(name) {
            Some(Binding::Values { first, count }) if index < count => Ok(nth_value(first, index)),
            Some(Binding::Values { count, .. }) => Err(self.error(
                token.start(),
                format!("'{name}#{index}' is beyond the {count} values of '{name}'"),
            )),
            Some(Binding::Broken) => Err(Failed),
            None => Err(self.error(token.start(), format!("use of undefined value '{name}'"))),
        }
    }

    fn result_number(&mut self) -> Read<u32> {
        let token = self.bump();
        let digits = self.slice(token).get(1..).unwrap_or_default();
        digits
            .parse()
            .map_err(|_| self.error(token.start(), "expected a result number such as '#1'"))
    }

    /// Operations up to the end of the block, each broken one skipped.
    fn statements(&mut self, block: BlockId) {
        self.block = Some(block);
        while !matches!(self.kind(), Kind::RightBrace | Kind::Caret | Kind::End) && !self.begins_function() {
            let start = self.token.start();
            let saved = self.save();
            if self.statement().is_err() {
                let names = self.result_names_at(start);
                self.restore(&saved);
                for name in names {
                    // A name that is there already was refused where it was defined.
                    self.scope.define(name, Binding::Broken);
                }
                self.recover(start);
            }
        }
        self.mark_terminator(block);
    }

    /// An operation of an unknown dialect that ends a block and makes nothing is taken for a terminator.
    fn mark_terminator(&mut self, block: BlockId) {
        if let Some(last) = self.body.terminator(block) {
            let operation = &mut self.body.ops[last];
            if let Op::Foreign(op) = &mut operation.op {
                op.terminator = operation.results.is_empty() && operation.regions.is_empty();
            }
        }
    }

    fn save(&self) -> Saved {
        Saved {
            depth: self.depth,
            block: self.block,
            in_function_block: self.in_function_block,
            scope: self.scope.mark(),
        }
    }

    fn restore(&mut self, saved: &Saved) {
        self.depth = saved.depth;
        self.block = saved.block;
        self.in_function_block = saved.in_function_block;
        self.scope.forget_since(saved.scope);
    }

    /// The names that the statement at `start` defines, as far as they can be read.
    fn result_names_at(&mut self, start: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        if self.gave_up() {
            return names;
        }
        self.seek(start);
        while self.at(Kind::Percent) {
            let token = self.bump();
            names.push(self.slice(token));
            if self.take(Kind::Colon) {
                self.take(Kind::Integer);
            }
            self.take(Kind::Comma);
        }
        names
    }

    /// Skips the statement at `start`: up to a line that begins another one, or the end of the block.
    pub(super) fn recover(&mut self, start: usize) {
        if self.gave_up() {
            self.stop();
            return;
        }
        self.seek(start);
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                Kind::End => return,
                // Brackets may be what is wrong, so a function begins wherever it is said to.
                Kind::Word if self.token.start() > start && self.begins_function() => return,
                Kind::LeftBrace | Kind::LeftParen | Kind::LeftSquare => depth += 1,
                Kind::RightBrace if depth == 0 => return,
                Kind::RightBrace | Kind::RightParen | Kind::RightSquare => depth = depth.saturating_sub(1),
                _ if depth == 0 && self.token.start() > start && self.begins_statement() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Whether the token ahead begins a function, as the first of its line.
    fn begins_function(&self) -> bool {
        self.at_word("func.func") && self.begins_line()
    }

    fn begins_line(&self) -> bool {
        let before = self.text.as_bytes().get(..self.token.start()).unwrap_or_default();
        before
            .iter()
            .rev()
            .find(|byte| !matches!(byte, b' ' | b'\t'))
            .is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
    }

    /// Whether the token ahead is the first of its line, and of a kind that statements begin with.
    fn begins_statement(&self) -> bool {
        let text = self.slice(self.token);
        let possible = match self.kind() {
            Kind::Percent | Kind::String | Kind::Caret | Kind::Hash | Kind::Bang => true,
            Kind::Word => {
                text.contains('.') || matches!(text, "return" | "call" | "call_indirect" | "module")
            }
            _ => false,
        };
        possible && self.begins_line()
    }
}

/// The value `index` places after `first`.
fn nth_value(first: ValueId, index: u32) -> ValueId {
    use artifact_core::entity::EntityId;
    ValueId::from_index((first.index() as u32).saturating_add(index))
}
