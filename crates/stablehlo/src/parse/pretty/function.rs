//! Returns and barriers.

use crate::lex::Kind;
use crate::parse::cursor::{Parser, Read};
use crate::parse::operation::Draft;

impl<'a> Parser<'a> {
    /// `%a, %b {attributes} : A, B`, or nothing but attributes.
    pub(super) fn return_values(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        // The function dialect writes attributes before operands, StableHLO after them.
        self.more_attributes(draft)?;
        self.operands(draft)?;
        self.more_attributes(draft)?;
        if !self.at(Kind::Colon) && draft.operands.is_empty() {
            return Ok(());
        }
        self.expect(Kind::Colon)?;
        let offset = self.token.start();
        let types = self.type_list()?;
        self.check_operands(draft, &types, offset)
    }

    /// `%a, %b : A, B`, or `()`.
    pub(super) fn barrier(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.take(Kind::LeftParen) {
            return self.expect(Kind::RightParen).map(|_| ());
        }
        if !self.at(Kind::Percent) {
            return Ok(());
        }
        self.operands(draft)?;
        self.expect(Kind::Colon)?;
        let offset = self.token.start();
        let types = self.type_list()?;
        if types.len() != draft.operands.len() {
            let message = format!(
                "number of operands and types do not match: got {} operands and {} types",
                draft.operands.len(),
                types.len()
            );
            return Err(self.error(offset, message));
        }
        self.check_operands(draft, &types, offset)?;
        draft.results = types;
        Ok(())
    }
}
