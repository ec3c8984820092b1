//! The text under construction, and the spellings that everything else is made of.

use std::fmt;

use artifact_ir::attribute::SymbolRef;

/// Levels of nesting that show in the indentation.
const INDENTATION_LEVELS_MAX: usize = 32;

/// Bytes whose hexadecimal digits are made at a time.
const HEX_CHUNK_BYTES: usize = 4096;

/// A growing text. Writing to it cannot fail.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
}

impl Writer {
    /// The text so far.
    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Adds text as it is.
    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// What `write!` calls.
    pub(super) fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) {
        // A `String` takes everything, and no `Display` of ours fails by itself.
        let _: fmt::Result = fmt::Write::write_fmt(&mut self.out, arguments);
    }

    /// A line's indentation, which stops growing before deep nesting makes more blanks than text.
    pub(super) fn indent(&mut self, levels: usize) {
        for _ in 0..levels.min(INDENTATION_LEVELS_MAX) {
            self.push("  ");
        }
    }

    /// Items separated by `, `.
    pub(super) fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            each(self, item);
        }
    }

    /// `[1, 2]`.
    pub(super) fn numbers(&mut self, numbers: &[i64]) {
        self.push("[");
        self.list(numbers, |writer, number| write!(writer, "{number}"));
        self.push("]");
    }

    /// `"text"`: what is not printable ASCII, and the quote, as `\` and two hexadecimal digits.
    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.push("\"");
        for byte in bytes {
            match byte {
                b'\\' => self.push("\\\\"),
                b' '..=b'~' if *byte != b'"' => self.out.push(char::from(*byte)),
                _ => write!(self, "\\{byte:02X}"),
            }
        }
        self.push("\"");
    }

    /// `@name`, or `@"any text"`.
    pub(super) fn symbol(&mut self, name: &[u8]) {
        self.push("@");
        self.name(name);
    }

    /// `@root::@nested`.
    pub(super) fn symbol_ref(&mut self, symbol: &SymbolRef) {
        self.symbol(symbol.root.as_bytes());
        for nested in &symbol.nested {
            self.push("::");
            self.symbol(nested.as_bytes());
        }
    }

    /// A name, between quotes unless it is a bare identifier.
    pub(super) fn name(&mut self, name: &[u8]) {
        match std::str::from_utf8(name) {
            Ok(text) if is_bare(name) => self.push(text),
            _ => self.string(name),
        }
    }

    /// Two hexadecimal digits a byte.
    pub(super) fn hex(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.out.reserve(bytes.len().saturating_mul(2));
        let mut digits = [0; 2 * HEX_CHUNK_BYTES];
        for chunk in bytes.chunks(HEX_CHUNK_BYTES) {
            for (pair, byte) in digits.chunks_exact_mut(2).zip(chunk) {
                pair[0] = DIGITS[usize::from(byte >> 4)];
                pair[1] = DIGITS[usize::from(byte & 15)];
            }
            let digits = &digits[..2 * chunk.len()];
            #[expect(clippy::expect_used, reason = "the table holds ASCII only")]
            self.push(std::str::from_utf8(digits).expect("hexadecimal digits are ASCII"));
        }
    }
}

/// Whether a name can stand without quotes: a letter or `_`, then letters, digits, `_`, `$` and `.`.
fn is_bare(name: &[u8]) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let [first, rest @ ..] = name else {
        return false;
    };
    letter(*first)
        && rest
            .iter()
            .all(|byte| letter(*byte) || byte.is_ascii_digit() || matches!(byte, b'$' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Writer), text: &str) {
        let mut writer = Writer::default();
        write(&mut writer);
        assert_eq!(writer.finish(), text);
    }

    #[test]
    fn names_and_strings() {
        check(|w| w.symbol(b"main"), "@main");
        check(|w| w.symbol(b"_a.b$1"), "@_a.b$1");
        check(|w| w.symbol(b"1st"), "@\"1st\"");
        check(|w| w.symbol(b"a-b"), "@\"a-b\"");
        check(|w| w.symbol(b""), "@\"\"");
        check(|w| w.string(b"a\"b\\c\n\xC3"), r#""a\22b\\c\0A\C3""#);
    }

    #[test]
    fn hexadecimal() {
        check(|w| w.hex(&[0, 0x1F, 0xFF]), "001FFF");
        let bytes = vec![0xAB; HEX_CHUNK_BYTES + 1];
        check(|w| w.hex(&bytes), &"AB".repeat(HEX_CHUNK_BYTES + 1));
    }
}
