//! Tokens of the dimension language.

use crate::parse_error::{ParseError, ParseProblem};
use crate::variable::{continues_name, starts_name};

/// The symbols; one that starts like another comes before it.
const SYMBOLS: [&str; 18] = [
    "...", "//", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "^", "%", "(", ")", ",", "&", ";",
];

/// Digits and names that are quoted in an error.
const QUOTED: usize = 40;

/// The smallest piece of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// An identifier or a reserved word.
    Name(&'t str),
    /// A number without a sign.
    Number(i64),
    /// One of the symbols.
    Symbol(&'static str),
    /// Nothing is left.
    End,
}

impl Token<'_> {
    /// The token as an error message quotes it.
    pub(crate) fn quoted(&self) -> String {
        match self {
            Self::Name(name) => format!("'{}'", clipped(name)),
            Self::Number(number) => format!("'{number}'"),
            Self::Symbol(symbol) => format!("'{symbol}'"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Cuts a text into tokens, one at a time.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Lexer<'t> {
    /// Starts at the beginning.
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { text, offset: 0 }
    }

    /// The next token and its position in bytes.
    pub(crate) fn next(&mut self) -> Result<(Token<'t>, usize), ParseError> {
        let spaces = self.text[self.offset..]
            .bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let start = self.offset + spaces;
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            self.offset = start;
            return Ok((Token::End, start));
        };
        let (token, length) = if first.is_ascii_digit() {
            self.number(start)?
        } else if starts_name(first) {
            let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
            (Token::Name(&rest[..length]), length)
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            let found = format!("'{}'", first.escape_debug());
            let expected = "a name, a number, an operator or a parenthesis";
            return Err(ParseError::new(
                self.text,
                start,
                ParseProblem::Unexpected { expected, found },
            ));
        };
        self.offset = start + length;
        Ok((token, start))
    }

    /// Decimal digits, with single underscores between them.
    fn number(&self, start: usize) -> Result<(Token<'t>, usize), ParseError> {
        let rest = &self.text[start..];
        let length = rest
            .find(|c| !continues_name(c) && c != '.')
            .unwrap_or(rest.len());
        let written = &rest[..length];
        let refuse = |help| {
            let text = clipped(written);
            Err(ParseError::new(
                self.text,
                start,
                ParseProblem::Number { text, help },
            ))
        };
        if written.contains('.') {
            return refuse("write a size without a point");
        }
        if !written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
            || written.contains("__")
            || written.ends_with('_')
        {
            return refuse("write decimal digits, and '2*a' for a product");
        }
        let digits = written
            .bytes()
            .filter(u8::is_ascii_digit)
            .try_fold(0_i64, |value, digit| {
                value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
            });
        match digits {
            Some(value) => Ok((Token::Number(value), length)),
            None => refuse("use a smaller number"),
        }
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
