//! `loc(...)`.

use std::sync::Arc;

use artifact_ir::location::{Location, LocationId};

use super::cursor::{Parser, Read};
use crate::lex::Kind;

/// A location, or aliases that must be read first.
type Pending<'a> = Result<LocationId, Vec<&'a str>>;

/// Unwraps a [`Pending`] that another location needs.
macro_rules! known {
    ($pending:expr) => {
        match $pending? {
            Ok(id) => id,
            Err(missing) => return Ok(Err(missing)),
        }
    };
}

impl<'a> Parser<'a> {
    /// `loc(...)`, if it is there; otherwise the unknown location.
    pub(super) fn trailing_location(&mut self) -> Read<LocationId> {
        if !self.at_word("loc") {
            return Ok(LocationId::UNKNOWN);
        }
        let start = self.token.start();
        loop {
            // Aliases inside are read first; each turn makes one more known.
            match self.location_value()? {
                Ok(id) => return Ok(id),
                Err(missing) => {
                    for name in missing {
                        self.location_alias(name, start)?;
                    }
                    self.seek(start);
                }
            }
        }
    }

    /// `loc(...)`, or the names of aliases in it that have not been read yet.
    pub(super) fn location_value(&mut self) -> Read<Pending<'a>> {
        self.expect_word("loc")?;
        self.expect(Kind::LeftParen)?;
        let id = known!(self.location());
        self.expect(Kind::RightParen)?;
        Ok(Ok(id))
    }

    fn location(&mut self) -> Read<Pending<'a>> {
        match self.kind() {
            Kind::Hash => {
                let token = self.bump();
                let name = self.slice(token);
                Ok(self.known_location(name).ok_or_else(|| vec![name]))
            }
            Kind::String => self.nested(Self::file_or_name),
            Kind::Word => match self.slice(self.token) {
                "unknown" => {
                    self.bump();
                    Ok(Ok(LocationId::UNKNOWN))
                }
                "callsite" => self.nested(Self::call_site),
                "fused" => self.nested(Self::fused),
                _ => Err(self.unexpected("a location")),
            },
            _ => Err(self.unexpected("a location")),
        }
    }

    fn file_or_name(&mut self) -> Read<Pending<'a>> {
        let token = self.bump();
        let text: Arc<str> = self.location_text(token)?;
        if !self.take(Kind::Colon) {
            let child = if self.take(Kind::LeftParen) {
                let child = known!(self.location());
                self.expect(Kind::RightParen)?;
                child
            } else {
                LocationId::UNKNOWN
            };
            return Ok(Ok(self.locations.intern(Location::Name { name: text, child })));
        }
        let line = self.line_or_column()?;
        let column = if self.take(Kind::Colon) {
            self.line_or_column()?
        } else {
            0
        };
        let end = if self.take_word("to") {
            let end_line = if self.at(Kind::Colon) {
                line
            } else {
                self.line_or_column()?
            };
            let end_column = if self.take(Kind::Colon) {
                self.line_or_column()?
            } else {
                0
            };
            Some((end_line, end_column))
        } else {
            None
        };
        let location = Location::File {
            file: text,
            start: (line, column),
            end,
        };
        Ok(Ok(self.locations.intern(location)))
    }

    /// File names come again and again: those without escapes are shared.
    fn location_text(&mut self, token: crate::lex::Token) -> Read<Arc<str>> {
        let text = self.slice(token);
        match text.get(1..text.len().saturating_sub(1)) {
            Some(inside) if !inside.contains('\\') => Ok(self.name(inside)),
            _ => self.string_text(token),
        }
    }

    fn line_or_column(&mut self) -> Read<u32> {
        let token = self.expect(Kind::Integer)?;
        self.slice(token)
            .parse()
            .map_err(|_| self.error(token.start(), "the line or column does not fit 32 bits"))
    }

    fn call_site(&mut self) -> Read<Pending<'a>> {
        self.bump();
        self.expect(Kind::LeftParen)?;
        let callee = known!(self.location());
        self.expect_word("at")?;
        let caller = known!(self.location());
        self.expect(Kind::RightParen)?;
        Ok(Ok(self.locations.intern(Location::CallSite { callee, caller })))
    }

    fn fused(&mut self) -> Read<Pending<'a>> {
        self.bump();
        let metadata = if self.at(Kind::Less) {
            let start = self.token.end();
            self.skip_balanced()?;
            let text = self
                .text
                .get(start..self.taken_end.saturating_sub(1))
                .unwrap_or_default();
            Some(self.name(text))
        } else {
            None
        };
        let mut children = Vec::new();
        let mut missing = Vec::new();
        self.list(Kind::LeftSquare, |parser| {
            match parser.location()? {
                Ok(id) => children.push(id),
                Err(names) => missing.extend(names),
            }
            Ok(())
        })?;
        if !missing.is_empty() {
            return Ok(Err(missing));
        }
        Ok(Ok(self.locations.intern(Location::Fused { metadata, children })))
    }
}
