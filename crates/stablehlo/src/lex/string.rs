//! The inside of strings.

use std::borrow::Cow;

/// The bytes that a string token stands for; `token` has its quotes. `None` for an escape that there is not.
///
/// Escapes are `\n`, `\t`, `\"`, `\\` and a backslash with two hexadecimal digits.
pub(crate) fn unescape(token: &str) -> Option<Cow<'_, [u8]>> {
    let inside = token.as_bytes().get(1..token.len().checked_sub(1)?)?;
    if !inside.contains(&b'\\') {
        return Some(Cow::Borrowed(inside));
    }
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'\\' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let (byte, length) = match tail {
            [b'n', ..] => (b'\n', 1),
            [b't', ..] => (b'\t', 1),
            [b'"', ..] => (b'"', 1),
            [b'\\', ..] => (b'\\', 1),
            [high, low, ..] => (hex_digit(*high)? << 4 | hex_digit(*low)?, 2),
            _ => return None,
        };
        bytes.push(byte);
        rest = &tail[length..];
    }
    Some(Cow::Owned(bytes))
}

/// The value of a hexadecimal digit.
pub(crate) const fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let check = |token: &str, expected: Option<&[u8]>| {
            assert_eq!(unescape(token).as_deref(), expected, "{token}");
        };
        check(r#""plain""#, Some(b"plain"));
        check(r#""a\n\t\"\\\41\fF""#, Some(b"a\n\t\"\\A\xFF"));
        check(r#""\q1""#, None);
        check(r#""\4""#, None);
        check(r#""""#, Some(b""));
    }
}
