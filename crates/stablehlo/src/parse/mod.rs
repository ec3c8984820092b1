//! From text to modules: MLIR's generic form and StableHLO's pretty form.
//!
//! A hand-written recursive descent over the tokens of [`crate::lex`], one token ahead. What it reads it checks for form;
//! whether types fit an operation is the verifier's question, except where a pretty form leaves types out. An error ends an
//! operation, not the file: reading goes on at the next operation, and values of the broken one count as defined, so that one
//! mistake gives one message.

mod alias;
mod attribute;
mod cursor;
mod dense;
mod dialect;
mod function;
mod location;
mod module;
mod number;
mod operation;
mod pretty;
mod recognise;
mod region;
mod scope;
mod sdy;
mod types;

use artifact_core::limit::Limit;
use artifact_ir::attribute::Attribute;
use artifact_ir::diagnostic::{Diagnostic, SourceOffset};
use artifact_ir::module::Module;
use artifact_ir::types::Type;

use alias::Aliases;
use cursor::Parser;

pub use recognise::begins_as_program;

/// Longest text; offsets are 32 bits wide.
pub const TEXT_BYTES: Limit = Limit::new("the text", u32::MAX as u64 - 1, "bytes");

/// Regions, attributes, types and locations inside one another.
pub const NESTING: Limit = Limit::new("nesting", 256, "levels");

/// Findings after which reading stops.
pub const DIAGNOSTICS: Limit = Limit::new("the number of errors", 20, "errors");

/// What a text holds, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// Modules in order. Functions outside of any module form one together. Where there are diagnostics, modules lack what
    /// could not be read, and only serve to show what could.
    pub modules: Vec<Module>,
    /// What is wrong, in order of appearance; nothing means that the text was read completely.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// The modules, when nothing is wrong.
    ///
    /// # Errors
    /// The diagnostics, when there are any.
    pub fn into_modules(self) -> Result<Vec<Module>, Vec<Diagnostic>> {
        if self.diagnostics.is_empty() {
            Ok(self.modules)
        } else {
            Err(self.diagnostics)
        }
    }

    /// The only module, when nothing is wrong.
    ///
    /// # Errors
    /// The diagnostics, or one that says that there is no module, or more than one.
    pub fn into_module(self) -> Result<Module, Vec<Diagnostic>> {
        let mut modules = self.into_modules()?;
        match (modules.pop(), modules.len()) {
            (Some(module), 0) => Ok(module),
            (None, _) => Err(vec![Diagnostic::new(
                "the text holds no module and no function",
                SourceOffset::NONE,
            )]),
            (Some(_), others) => Err(vec![Diagnostic::new(
                format!("the text holds {} modules, where one is expected", others + 1),
                SourceOffset::NONE,
            )]),
        }
    }
}

/// Reads a text. Parts separated by lines that begin with `// -----` are independent of one another.
#[must_use]
pub fn parse_module(text: &str) -> Parsed {
    if let Err(error) = TEXT_BYTES.check(text.len() as u64) {
        return Parsed {
            modules: Vec::new(),
            diagnostics: vec![Diagnostic::new(error.to_string(), SourceOffset::new(0))],
        };
    }
    let mut parsed = Parsed {
        modules: Vec::new(),
        diagnostics: Vec::new(),
    };
    let (mut start, mut written_out, mut gave_up) = (0, 0, false);
    for end in part_ends(text) {
        if gave_up {
            break;
        }
        let diagnostics = std::mem::take(&mut parsed.diagnostics);
        let mut parser = Parser::new(&text[..end], start, diagnostics);
        // Modules of all parts are held at once.
        parser.aliases.written_out = written_out;
        parser.read_file();
        (written_out, gave_up) = (parser.aliases.written_out, parser.gave_up());
        let (modules, diagnostics) = parser.finish();
        parsed.modules.extend(modules);
        parsed.diagnostics = diagnostics;
        start = end;
    }
    // Within a function, an error that is found at its end can come after one that is found inside.
    parsed.diagnostics.sort_by_key(|diagnostic| diagnostic.source);
    parsed
}

/// The only attribute of a text; `None` when it is not one. It defines no aliases.
pub(crate) fn attribute(text: &str) -> Option<Attribute> {
    let mut parser = Parser::new(text, 0, Vec::new());
    parser.aliases = Aliases::default();
    let attribute = parser.attribute().ok()?;
    parser.at_end().then_some(attribute)
}

/// The only type of a text; `None` when it is not one. It defines no aliases.
pub(crate) fn ty(text: &str) -> Option<Type> {
    let mut parser = Parser::new(text, 0, Vec::new());
    parser.aliases = Aliases::default();
    let ty = parser.ty().ok()?;
    parser.at_end().then_some(ty)
}

/// Where each part ends.
fn part_ends(text: &str) -> Vec<usize> {
    let mut ends: Vec<usize> = text.match_indices("\n// -----").map(|(at, _)| at + 1).collect();
    ends.push(text.len());
    ends
}

#[cfg(test)]
mod tests;
