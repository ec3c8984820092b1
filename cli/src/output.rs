//! Writing to standard output and standard error.
//!
//! Names and texts come from files that anyone may have made. A terminal obeys control characters, so none is printed.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::failure::{Failure, Outcome};

/// Writes text. A reader that has gone away (`artifact ... | head`) is no failure.
pub(crate) fn text(text: &str) -> Outcome<()> {
    bytes(harmless(text).as_bytes())
}

/// Writes JSON. What a terminal would obey is escaped as JSON does it.
pub(crate) fn json(text: &str) -> Outcome<()> {
    bytes(escaped(text, |c| is_invisible(c) && c != '\n', escape_in_json).as_bytes())
}

/// Writes bytes, as [`text`] does.
pub(crate) fn bytes(bytes: &[u8]) -> Outcome<()> {
    let mut output = std::io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let failure = Failure::input("standard output cannot be written").because(&error);
            Err(failure.hint("files that the command had written before are complete"))
        }
        _ => Ok(()),
    }
}

/// Writes a note of one line to standard error.
pub(crate) fn note(text: &str) {
    notes(&one_line(text));
}

/// Writes lines to standard error. Who calls this sees to it that each begins with words of his own.
pub(crate) fn notes(text: &str) {
    // There is nowhere left to say that standard error is closed.
    let _ = writeln!(std::io::stderr(), "{}", harmless(text));
}

/// The name of a file, in one line: a name may hold line breaks.
pub(crate) fn path(path: &Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

/// Refuses a text that is to be kept for people, and that has characters which they would not see.
pub(crate) fn refuse_invisible(option: &str, text: &str) -> Outcome<()> {
    match text.chars().find(|c| is_invisible(*c)) {
        None => Ok(()),
        Some(c) => {
            let what = format!(
                "{option} has the character {}, which shows nothing",
                c.escape_unicode()
            );
            Err(Failure::usage(what).hint("leave it out"))
        }
    }
}

/// A text of one line, from a file: every control character is escaped, so that it cannot pass for another line either.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_invisible, escape_plain)
}

/// A text of several lines without any other control character.
fn harmless(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| is_invisible(c) && !matches!(c, '\n' | '\t'),
        escape_plain,
    )
}

/// Characters that show nothing themselves and change how others are shown: controls, and the format characters that turn or
/// join text (Unicode, general category Cf).
fn is_invisible(c: char) -> bool {
    let format = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    format || c.is_control()
}

fn escape_plain(c: char, out: &mut String) {
    out.extend(c.escape_default());
}

/// `\u202e`, in two parts above 16 bits (RFC 8259, section 7). JSON has these characters within strings only.
fn escape_in_json(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string does not fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

fn escaped(text: &str, refused: fn(char) -> bool, escape: fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(refused) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if refused(c) {
            escape(c, &mut escaped);
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
    fn json_stays_json() {
        let mut escaped = String::new();
        "\u{202e}\u{e0001}\u{9b}"
            .chars()
            .for_each(|c| escape_in_json(c, &mut escaped));
        assert_eq!(escaped, "\\u202e\\udb40\\udc01\\u009b");
        let back: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
        assert_eq!(back, "\u{202e}\u{e0001}\u{9b}");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(one_line("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(harmless("a\n\tb\r\u{9b}"), "a\n\tb\\r\\u{9b}");
        assert_eq!(one_line("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
        assert!(matches!(one_line("plain é"), Cow::Borrowed(_)));
    }
}
