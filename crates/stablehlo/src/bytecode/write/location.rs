//! Locations.

use std::sync::Arc;

use artifact_ir::location::{Location, LocationId};

use super::super::builtin;
use super::token::Token;
use super::{Write, Writer, index};
use crate::vhlo::Version;

/// The first version whose readers know ranges in a file.
const RANGES_SINCE: Version = Version::new(1, 9, 0);

impl Writer<'_> {
    /// The number of a location's attribute.
    pub(super) fn location(&mut self, id: LocationId) -> Write<u32> {
        if !self.options.locations || id == LocationId::UNKNOWN {
            return Ok(self.unknown_location());
        }
        if let Some(Some(number)) = self.locations.get(index(id)) {
            return Ok(*number);
        }
        let module = self.module;
        let number = match module.locations.get(id) {
            Location::Unknown => self.unknown_location(),
            Location::File { file, start, end } => {
                let file = self.file_name(file);
                self.file_location(file, *start, *end)
            }
            Location::Name { name, child } => {
                let name = self.builtin_string(name.as_bytes());
                let child = self.location(*child)?;
                self.builtin_entry(&[
                    Token::Varint(builtin::NAME_LOCATION),
                    Token::Attribute(name),
                    Token::Attribute(child),
                ])
            }
            Location::CallSite { callee, caller } => {
                let (callee, caller) = (self.location(*callee)?, self.location(*caller)?);
                self.builtin_entry(&[
                    Token::Varint(builtin::CALL_SITE_LOCATION),
                    Token::Attribute(callee),
                    Token::Attribute(caller),
                ])
            }
            // What an exporter wrote beside the parts of a fused location is text here, and left out.
            Location::Fused { children, .. } => {
                let mut tokens = vec![
                    Token::Varint(builtin::FUSED_LOCATION),
                    Token::Varint(children.len() as u64),
                ];
                for child in children {
                    tokens.push(Token::Attribute(self.location(*child)?));
                }
                self.builtin_entry(&tokens)
            }
        };
        if let Some(slot) = self.locations.get_mut(index(id)) {
            *slot = Some(number);
        }
        Ok(number)
    }

    /// The number of a file's name, which many locations share.
    fn file_name(&mut self, name: &Arc<str>) -> u32 {
        if let Some(number) = self.file_names.get(&Arc::as_ptr(name).cast::<u8>()) {
            return *number;
        }
        let number = self.builtin_string(name.as_bytes());
        self.file_names.insert(Arc::as_ptr(name).cast::<u8>(), number);
        number
    }

    fn unknown_location(&mut self) -> u32 {
        match self.unknown_location {
            Some(number) => number,
            None => {
                let number = self.builtin_entry(&[Token::Varint(builtin::UNKNOWN_LOCATION)]);
                self.unknown_location = Some(number);
                number
            }
        }
    }

    fn file_location(&mut self, file: u32, start: (u32, u32), end: Option<(u32, u32)>) -> u32 {
        let number = |number: u32| Token::Varint(u64::from(number));
        let file = Token::Attribute(file);
        match end.filter(|_| self.options.version >= RANGES_SINCE) {
            None => self.builtin_entry(&[
                Token::Varint(builtin::FILE_LOCATION),
                file,
                number(start.0),
                number(start.1),
            ]),
            Some(end) => self.builtin_entry(&[
                Token::Varint(builtin::FILE_RANGE),
                file,
                Token::Varint(4),
                number(start.0),
                number(start.1),
                number(end.0),
                number(end.1),
            ]),
        }
    }
}
