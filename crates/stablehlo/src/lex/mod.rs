//! Tokens of MLIR text, cut by hand from bytes, without copying.

mod string;

pub(crate) use string::{hex_digit, unescape};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The end of the text.
    End,
    /// A character that starts no token, or a string without an end.
    Invalid,
    /// `tensor`, `stablehlo.add`.
    Word,
    /// `@name` or `@"name"`.
    Symbol,
    /// `#name`, `#0`.
    Hash,
    /// `!name`.
    Bang,
    /// `%name`.
    Percent,
    /// `^name`.
    Caret,
    /// `12`, `0x1F`.
    Integer,
    /// `1.5`, `1.0e-3`.
    Float,
    /// `"text"`, quotes included.
    String,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    LeftSquare,
    RightSquare,
    Less,
    Greater,
    Comma,
    Colon,
    ColonColon,
    Equal,
    Arrow,
    Minus,
    Plus,
    Star,
    Question,
    Slash,
    Bar,
}

impl Kind {
    /// How messages call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::End => "the end of the file",
            Self::Invalid => "a token",
            Self::Word => "a word",
            Self::Symbol => "a symbol name such as '@main'",
            Self::Hash => "an attribute name such as '#loc'",
            Self::Bang => "a type name such as '!stablehlo.token'",
            Self::Percent => "a value such as '%0'",
            Self::Caret => "a block such as '^bb0'",
            Self::Integer => "an integer",
            Self::Float => "a floating-point number",
            Self::String => "a string",
            Self::LeftParen => "'('",
            Self::RightParen => "')'",
            Self::LeftBrace => "'{'",
            Self::RightBrace => "'}'",
            Self::LeftSquare => "'['",
            Self::RightSquare => "']'",
            Self::Less => "'<'",
            Self::Greater => "'>'",
            Self::Comma => "','",
            Self::Colon => "':'",
            Self::ColonColon => "'::'",
            Self::Equal => "'='",
            Self::Arrow => "'->'",
            Self::Minus => "'-'",
            Self::Plus => "'+'",
            Self::Star => "'*'",
            Self::Question => "'?'",
            Self::Slash => "'/'",
            Self::Bar => "'|'",
        }
    }

    /// The bracket that closes this one.
    pub(crate) const fn closer(self) -> Option<Self> {
        match self {
            Self::LeftParen => Some(Self::RightParen),
            Self::LeftBrace => Some(Self::RightBrace),
            Self::LeftSquare => Some(Self::RightSquare),
            Self::Less => Some(Self::Greater),
            _ => None,
        }
    }
}

/// A token: what, and from where to where in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) const fn start(self) -> usize {
        self.start as usize
    }

    pub(crate) const fn end(self) -> usize {
        self.end as usize
    }
}

/// Cuts tokens from `start` on. The text must be shorter than 4 GiB, which the parser checks.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    bytes: &'a [u8],
    position: usize,
}

const fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// What may stand after `%`, `#`, `!`, `^`.
const fn is_suffix(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

impl<'a> Lexer<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            position: 0,
        }
    }

    /// Continues at another place.
    pub(crate) const fn seek(&mut self, position: usize) {
        self.position = position;
    }

    /// Answers with the end of the text from now on.
    pub(crate) const fn stop(&mut self) {
        self.position = self.bytes.len();
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let length = rest.iter().position(|byte| !accept(*byte)).unwrap_or(rest.len());
        self.position += length;
    }

    /// Skips white space and comments.
    pub(crate) fn skip_blank(&mut self) {
        loop {
            match self.peek(0) {
                b' ' | b'\n' | b'\t' | b'\r' => self.position += 1,
                b'/' if self.peek(1) == b'/' => self.skip_while(|byte| byte != b'\n'),
                _ => return,
            }
        }
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Token {
        self.skip_blank();
        let start = self.position;
        let kind = match self.bytes.get(start) {
            None => Kind::End,
            Some(first) => self.cut(*first),
        };
        Token {
            kind,
            start: start as u32,
            end: self.position as u32,
        }
    }

    fn cut(&mut self, first: u8) -> Kind {
        if is_word_start(first) {
            self.skip_while(is_word);
            return Kind::Word;
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        let punctuation = |lexer: &mut Self, kind: Kind, length: usize| {
            lexer.position += length;
            kind
        };
        match first {
            b'%' => self.prefixed(Kind::Percent),
            b'#' => self.prefixed(Kind::Hash),
            b'!' => self.prefixed(Kind::Bang),
            b'^' => self.prefixed(Kind::Caret),
            b'@' => self.symbol(),
            b'"' => self.string(),
            b'(' => punctuation(self, Kind::LeftParen, 1),
            b')' => punctuation(self, Kind::RightParen, 1),
            b'{' => punctuation(self, Kind::LeftBrace, 1),
            b'}' => punctuation(self, Kind::RightBrace, 1),
            b'[' => punctuation(self, Kind::LeftSquare, 1),
            b']' => punctuation(self, Kind::RightSquare, 1),
            b'<' => punctuation(self, Kind::Less, 1),
            b'>' => punctuation(self, Kind::Greater, 1),
            b',' => punctuation(self, Kind::Comma, 1),
            b':' if self.peek(1) == b':' => punctuation(self, Kind::ColonColon, 2),
            b':' => punctuation(self, Kind::Colon, 1),
            b'=' => punctuation(self, Kind::Equal, 1),
            b'-' if self.peek(1) == b'>' => punctuation(self, Kind::Arrow, 2),
            b'-' => punctuation(self, Kind::Minus, 1),
            b'+' => punctuation(self, Kind::Plus, 1),
            b'*' => punctuation(self, Kind::Star, 1),
            b'?' => punctuation(self, Kind::Question, 1),
            b'/' => punctuation(self, Kind::Slash, 1),
            b'|' => punctuation(self, Kind::Bar, 1),
            _ => {
                self.position += 1;
                // The rest of a character outside ASCII.
                self.skip_while(|byte| byte & 0xC0 == 0x80);
                Kind::Invalid
            }
        }
    }

    fn prefixed(&mut self, kind: Kind) -> Kind {
        self.position += 1;
        let start = self.position;
        if self.peek(0).is_ascii_digit() {
            self.skip_while(|byte| byte.is_ascii_digit());
        } else {
            self.skip_while(is_suffix);
            // `%a->` is an arrow after a name.
            if self.peek(0) == b'>' && self.position > start && self.bytes[self.position - 1] == b'-' {
                self.position -= 1;
            }
        }
        if self.position == start {
            Kind::Invalid
        } else {
            kind
        }
    }

    fn symbol(&mut self) -> Kind {
        self.position += 1;
        if self.peek(0) == b'"' {
            return match self.string() {
                Kind::String => Kind::Symbol,
                other => other,
            };
        }
        if !is_word_start(self.peek(0)) {
            return Kind::Invalid;
        }
        self.skip_while(|byte| is_word(byte) || byte == b'-');
        Kind::Symbol
    }

    /// A string ends before the line does.
    fn string(&mut self) -> Kind {
        self.position += 1;
        loop {
            self.skip_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
            match self.peek(0) {
                b'"' => {
                    self.position += 1;
                    return Kind::String;
                }
                b'\\'
                    if self.position + 1 < self.bytes.len()
                        && self.peek(1).is_ascii()
                        && self.peek(1) != b'\n' =>
                {
                    self.position += 2;
                }
                b'\\' => self.position += 1,
                _ => return Kind::Invalid,
            }
        }
    }

    fn number(&mut self) -> Kind {
        if self.peek(0) == b'0' && self.peek(1) == b'x' && self.peek(2).is_ascii_hexdigit() {
            self.position += 2;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
            return Kind::Integer;
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.peek(0) != b'.' {
            return Kind::Integer;
        }
        self.position += 1;
        self.skip_while(|byte| byte.is_ascii_digit());
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                self.position += 1 + sign;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        Kind::Float
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut lexer = Lexer::new(text);
        let mut found = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::End {
                break;
            }
            found.push(format!("{:?}:{}", token.kind, &text[token.start()..token.end()]));
        }
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn tokens() {
        check(
            "%0:2 = \"a.b\"(%x#1)",
            "Percent:%0 Colon:: Integer:2 Equal:= String:\"a.b\" LeftParen:( Percent:%x Hash:#1 RightParen:)",
        );
        check(
            "@f @\"g h\"::@k",
            "Symbol:@f Symbol:@\"g h\" ColonColon::: Symbol:@k",
        );
        check(
            "1.0e-3 -2 0x1F 3.e x 1e5",
            "Float:1.0e-3 Minus:- Integer:2 Integer:0x1F Float:3. Word:e Word:x Integer:1 Word:e5",
        );
        check(
            "a -> %b->c // no\n!t<>",
            "Word:a Arrow:-> Percent:%b Arrow:-> Word:c Bang:!t Less:< Greater:>",
        );
        check("\"a\\\"b\" \"open", "String:\"a\\\"b\" Invalid:\"open");
        check("é % \"\\é\"", "Invalid:é Invalid:% String:\"\\é\"");
    }
}
