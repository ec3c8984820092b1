//! Files, and diagnostics shown at their place in them.

use std::borrow::Cow;
use std::fmt::Write as _;

use artifact_ir::diagnostic::Diagnostic;

/// Bytes of a message that are shown.
const MESSAGE_MAX: usize = 4 << 10;
/// Characters of a source line that are shown at most.
const SHOWN_MAX: usize = 120;

/// Characters kept before the place when a line is cut.
const BEFORE_MAX: usize = 60;

/// A file that was read: its name as the user gave it, and its text.
#[derive(Clone, Debug)]
pub struct SourceText<'a> {
    name: Cow<'a, str>,
    text: &'a str,
}

/// A line and a column, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl<'a> SourceText<'a> {
    /// A file called `name`.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>, text: &'a str) -> Self {
        Self {
            name: name.into(),
            text,
        }
    }

    /// The file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file's text.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// Line and column of a byte offset; the end of the text for one beyond it.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let (start, offset) = self.line_start(offset);
        let lines = self.text[..start].bytes().filter(|byte| *byte == b'\n').count();
        Position {
            line: lines + 1,
            column: self.text[start..offset].chars().count() + 1,
        }
    }

    /// `file:line:column: error: message`, the line and a caret below the place. Without a place, the first line only.
    #[must_use]
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let message = printable(cut(&diagnostic.message, MESSAGE_MAX));
        let Some(offset) = diagnostic.source.get() else {
            return format!("{}: error: {message}", self.name);
        };
        let Position { line, column } = self.position(offset);
        let mut shown = format!("{}:{line}:{column}: error: {message}", self.name);
        let (start, offset) = self.line_start(offset);
        let text = self.text[start..].split('\n').next().unwrap_or_default();
        let before = self.text[start..offset].chars().count();
        let skipped = if text.chars().count() > SHOWN_MAX {
            before.saturating_sub(BEFORE_MAX)
        } else {
            0
        };
        let rest: String = text
            .trim_end()
            .chars()
            .skip(skipped)
            .take(SHOWN_MAX + 1)
            .collect();
        let (mark, room) = if skipped > 0 { ("...", 3) } else { ("", 0) };
        let cut: String = rest.chars().take(SHOWN_MAX).collect();
        let tail = if cut.len() < rest.len() { "..." } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            shown,
            "\n  {mark}{}{tail}\n  {:>width$}",
            printable(&cut),
            "^",
            width = before - skipped + room + 1
        );
        shown
    }

    /// Every diagnostic, one after the other.
    #[must_use]
    pub fn render_all(&self, diagnostics: &[Diagnostic]) -> String {
        let shown: Vec<String> = diagnostics
            .iter()
            .map(|diagnostic| self.render(diagnostic))
            .collect();
        shown.join("\n")
    }

    /// Where the line of `offset` begins, and `offset` moved to the start of its character and into the text.
    fn line_start(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let start = self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        (start, offset)
    }
}

/// At most so many bytes: the types in a message may be as long as aliases make them.
fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Text that a terminal shows and does not obey: a tab is one space, other control characters are replaced.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(|char: char| char.is_control()) {
        return Cow::Borrowed(text);
    }
    let show = |char: char| match char {
        '\t' => ' ',
        other if other.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    };
    Cow::Owned(text.chars().map(show).collect())
}

#[cfg(test)]
mod tests {
    use artifact_ir::diagnostic::SourceOffset;

    use super::*;

    fn check(text: &str, offset: usize, expected: &str) {
        let source = SourceText::new("a.mlir", text);
        let diagnostic = Diagnostic::new("bad", SourceOffset::new(offset));
        assert_eq!(source.render(&diagnostic), expected);
    }

    #[test]
    fn lines_and_carets() {
        check("ab\ncd\n", 4, "a.mlir:2:2: error: bad\n  cd\n   ^");
        check("", 0, "a.mlir:1:1: error: bad\n  \n  ^");
        check("é\tb", 3, "a.mlir:1:3: error: bad\n  é b\n    ^");
        check(
            "x\u{1b}[1m",
            99,
            "a.mlir:1:6: error: bad\n  x\u{fffd}[1m\n       ^",
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("{}!{}", "a".repeat(500), "b".repeat(500));
        let expected = format!(
            "a.mlir:1:501: error: bad\n  ...{}!{}...\n  {}^",
            "a".repeat(60),
            "b".repeat(59),
            " ".repeat(63)
        );
        check(&text, 500, &expected);
    }

    #[test]
    fn without_a_place() {
        let source = SourceText::new("a.mlir", "");
        let diagnostic = Diagnostic::new("bad", SourceOffset::NONE);
        assert_eq!(source.render(&diagnostic), "a.mlir: error: bad");
    }
}
