//! The parser's state, and its steps over tokens.

use std::collections::HashMap;
use std::sync::Arc;

use artifact_ir::diagnostic::{Diagnostic, SourceOffset};
use artifact_ir::location::Locations;
use artifact_ir::module::{BlockId, Body, Module};
use artifact_ir::types::Type;

use super::alias::Aliases;
use super::scope::Scope;
use super::{DIAGNOSTICS, NESTING};
use crate::lex::{Kind, Lexer, Token, unescape};

/// Something could not be read; the diagnostic that says so is recorded already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed;

/// What a step reads.
pub(super) type Read<T> = Result<T, Failed>;

#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) lexer: Lexer<'a>,
    /// The token ahead.
    pub(super) token: Token,
    /// Where the last token that was taken ended.
    pub(super) taken_end: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether the text was ended early.
    stopped: bool,
    pub(super) depth: u64,
    pub(super) modules: Vec<Module>,
    pub(super) aliases: Aliases<'a>,
    /// Types by their text, so that a type that comes again costs one look-up and shares memory.
    pub(super) types: HashMap<&'a str, Type>,
    names: HashMap<&'a str, Arc<str>>,
    /// Of the module that is being read.
    pub(super) locations: Locations,
    /// Of the function that is being read.
    pub(super) body: Body,
    pub(super) scope: Scope<'a>,
    /// The block that operations are added to.
    pub(super) block: Option<BlockId>,
    /// Whether a bare `return` or `call` is the function dialect's: directly in a function, it is.
    pub(super) in_function_block: bool,
}

impl<'a> Parser<'a> {
    /// Reads `text` from `start` on.
    pub(super) fn new(text: &'a str, start: usize, diagnostics: Vec<Diagnostic>) -> Self {
        let mut lexer = Lexer::new(text);
        lexer.seek(start);
        let token = lexer.next();
        Self {
            text,
            token,
            lexer,
            taken_end: start,
            diagnostics,
            stopped: false,
            depth: 0,
            modules: Vec::new(),
            aliases: Aliases::find(text, start),
            types: HashMap::new(),
            names: HashMap::new(),
            locations: Locations::new(),
            body: Body::new(),
            scope: Scope::default(),
            block: None,
            in_function_block: false,
        }
    }

    pub(super) fn finish(self) -> (Vec<Module>, Vec<Diagnostic>) {
        (self.modules, self.diagnostics)
    }

    /// Whether everything has been read, and without an error.
    pub(super) fn at_end(&self) -> bool {
        self.at(Kind::End) && self.diagnostics.is_empty()
    }

    /// The text of a token.
    pub(super) fn slice(&self, token: Token) -> &'a str {
        self.text.get(token.start()..token.end()).unwrap_or_default()
    }

    pub(super) fn slice_from(&self, start: usize) -> &'a str {
        self.text.get(start..self.taken_end).unwrap_or_default()
    }

    /// A shared copy of a name.
    pub(super) fn name(&mut self, text: &'a str) -> Arc<str> {
        Arc::clone(self.names.entry(text).or_insert_with(|| text.into()))
    }

    pub(super) const fn kind(&self) -> Kind {
        self.token.kind
    }

    pub(super) const fn at(&self, kind: Kind) -> bool {
        self.token.kind as u8 == kind as u8
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.at(Kind::Word) && self.slice(self.token) == word
    }

    /// Takes the token ahead.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.token;
        self.taken_end = token.end();
        self.token = self.lexer.next();
        token
    }

    /// Continues at another place, as if what lies before it had been taken.
    pub(super) fn seek(&mut self, position: usize) {
        self.taken_end = position;
        self.lexer.seek(position);
        self.token = self.lexer.next();
    }

    pub(super) fn take(&mut self, kind: Kind) -> bool {
        let there = self.at(kind);
        if there {
            self.bump();
        }
        there
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.bump();
        }
        there
    }

    pub(super) fn expect(&mut self, kind: Kind) -> Read<Token> {
        if self.at(kind) {
            Ok(self.bump())
        } else {
            Err(self.unexpected(kind.name()))
        }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.take_word(word) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{word}'")))
        }
    }

    /// Says that something else was expected at the token ahead.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: &str) -> Failed {
        let found = match self.kind() {
            Kind::End => "the text ends".to_owned(),
            Kind::Invalid if self.slice(self.token).starts_with(['"', '@']) => {
                "there is a string without an end".to_owned()
            }
            _ => {
                let text: String = self.slice(self.token).chars().take(40).collect();
                format!("found '{text}'")
            }
        };
        self.error_here(format!("expected {expected}, {found}"))
    }

    #[cold]
    pub(super) fn error_here(&mut self, message: impl Into<String>) -> Failed {
        self.error(self.token.start(), message)
    }

    /// Records a finding. After too many of them the text ends early, and what comes after its end is no mistake of its own.
    #[cold]
    pub(super) fn error(&mut self, offset: usize, message: impl Into<String>) -> Failed {
        if !self.gave_up() {
            let source = SourceOffset::new(offset);
            self.diagnostics.push(Diagnostic::new(message, source));
        }
        if self.gave_up() {
            self.stop();
        }
        Failed
    }

    /// Ends the text here.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.lexer.stop();
        self.token = self.lexer.next();
    }

    /// Whether so much is wrong that reading has stopped.
    pub(super) fn gave_up(&self) -> bool {
        self.stopped || self.diagnostics.len() as u64 >= DIAGNOSTICS.max()
    }

    /// Reads something that may hold others of its kind, unless it is nested too deeply.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if let Err(error) = NESTING.check(self.depth + 1) {
            return Err(self.error_here(error.to_string()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Items separated by commas up to `close`, which is taken too; the opening bracket is taken already.
    pub(super) fn list_until(
        &mut self,
        close: Kind,
        mut item: impl FnMut(&mut Self) -> Read<()>,
    ) -> Read<()> {
        if self.take(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.take(close) {
                return Ok(());
            }
            if !self.take(Kind::Comma) {
                return Err(self.unexpected(&format!("',' or {}", close.name())));
            }
        }
    }

    /// A bracketed list.
    pub(super) fn list(&mut self, open: Kind, item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.expect(open)?;
        self.list_until(open.closer().unwrap_or(open), item)
    }

    /// Takes everything up to the bracket that closes the one ahead, both included, whatever it means.
    pub(super) fn skip_balanced(&mut self) -> Read<()> {
        let open = self.token.start();
        let mut closers = Vec::new();
        loop {
            let kind = self.kind();
            if let Some(closer) = kind.closer() {
                closers.push(closer);
            } else if closers.last() == Some(&kind) {
                closers.pop();
            } else if matches!(
                kind,
                Kind::End | Kind::RightParen | Kind::RightBrace | Kind::RightSquare | Kind::Greater
            ) {
                return Err(self.error(open, "the bracket is not closed"));
            }
            self.bump();
            if closers.is_empty() {
                return Ok(());
            }
        }
    }

    /// The text of a string token.
    pub(super) fn string_bytes(&mut self, token: Token) -> Read<std::borrow::Cow<'a, [u8]>> {
        unescape(self.slice(token))
            .ok_or_else(|| self.error(token.start(), "the string has an escape that there is not: \\n, \\t, \\\", \\\\ and two hexadecimal digits are known"))
    }

    /// A string that is text.
    pub(super) fn string_text(&mut self, token: Token) -> Read<Arc<str>> {
        let bytes = self.string_bytes(token)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.into()),
            Err(_) => Err(self.error(token.start(), "the string is not UTF-8 text")),
        }
    }

    /// The name in a string token that begins an operation in the generic form. Names of operations are plain: one with
    /// anything that is escaped in print would be another name there.
    pub(super) fn operation_name(&mut self, token: Token) -> Read<&'a str> {
        let quoted = self.slice(token);
        let name = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        if name.is_empty() || !name.bytes().all(plain) {
            let message = "the name of an operation consists of visible ASCII characters, without escapes";
            return Err(self.error(token.start(), message));
        }
        Ok(name)
    }

    /// The name in a token such as `@main` or `@"main"`.
    pub(super) fn symbol_text(&mut self, token: Token) -> Read<Arc<str>> {
        let text = self.slice(token).get(1..).unwrap_or_default();
        if text.starts_with('"') {
            let quoted = Token {
                start: token.start + 1,
                ..token
            };
            return self.string_text(quoted);
        }
        Ok(self.name(text))
    }
}
