//! Writing to standard output and standard error.
//!
//! Names and texts come from files that anyone may have made. A terminal obeys control characters, so none is printed.

use std::borrow::Cow;
use std::io::{ErrorKind, Write};

use crate::failure::{Failure, Outcome};

/// Writes text. A reader that has gone away (`artifact ... | head`) is no failure.
pub(crate) fn text(text: &str) -> Outcome<()> {
    bytes(harmless(text).as_bytes())
}

/// Writes bytes, as [`text`] does.
pub(crate) fn bytes(bytes: &[u8]) -> Outcome<()> {
    let mut output = std::io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input("standard output cannot be written").because(&error))
        }
        _ => Ok(()),
    }
}

/// Writes a note to standard error.
pub(crate) fn note(text: &str) {
    // There is nowhere left to say that standard error is closed.
    let _ = writeln!(std::io::stderr(), "{}", harmless(text));
}

/// A text of one line, from a file: every control character is escaped, so that it cannot pass for another line either.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_invisible)
}

/// A text of several lines without any other control character.
fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_invisible(c) && !matches!(c, '\n' | '\t'))
}

/// Characters that show nothing themselves and change how others are shown: controls, and the format characters that turn or
/// join text (Unicode, general category Cf).
fn is_invisible(c: char) -> bool {
    let format = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    format || c.is_control()
}

fn escaped(text: &str, refused: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(refused) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if refused(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(one_line("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(harmless("a\n\tb\r\u{9b}"), "a\n\tb\\r\\u{9b}");
        assert_eq!(one_line("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
        assert!(matches!(one_line("plain é"), Cow::Borrowed(_)));
    }
}
