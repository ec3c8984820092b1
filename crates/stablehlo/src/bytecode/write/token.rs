//! Bytes to be, with places for numbers that are not known yet.

use std::hash::{Hash, Hasher};

use artifact_core::blob::Blob;

use super::super::{section, varint};

/// A piece of an entry, of properties or of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A byte as it is.
    Byte(u8),
    /// A number.
    Varint(u64),
    /// The number of an attribute.
    Attribute(u32),
    /// The number of an attribute that could be absent: shifted, with the lowest bit set.
    PresentAttribute(u32),
    /// The number of a type.
    Type(u32),
    /// The number of a type with a flag in the lowest bit.
    FlaggedType(u32, bool),
    /// A section of operations up to the matching end.
    Begin,
    /// See [`Token::Begin`].
    End,
}

/// One number for the kind and the value, which is all that tables of tokens need.
impl Hash for Token {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (kind, value) = match *self {
            Self::Byte(byte) => (0, u64::from(byte)),
            Self::Varint(value) => (1, value),
            Self::Attribute(number) => (2, u64::from(number)),
            Self::PresentAttribute(number) => (3, u64::from(number)),
            Self::Type(number) => (4, u64::from(number)),
            Self::FlaggedType(number, flag) => (5, u64::from(number) << 1 | u64::from(flag)),
            Self::Begin => (6, 0),
            Self::End => (7, 0),
        };
        state.write_u64(value << 3 ^ value >> 61 ^ kind);
    }
}

impl Token {
    /// A signed number.
    pub(super) const fn signed(value: i64) -> Self {
        Self::Varint(varint::zigzag(value))
    }
}

/// Numbers of attributes and types by order of discovery.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) attributes: Vec<u32>,
    pub(super) types: Vec<u32>,
}

/// The bytes of operations, and where numbers come between them once these are known.
#[derive(Debug, Default)]
pub(super) struct Stream {
    bytes: Vec<u8>,
    /// In order; each stands before the byte of that position.
    places: Vec<(usize, Token)>,
}

impl Stream {
    /// Makes room for about so many operations.
    pub(super) fn reserve(&mut self, operations: usize) {
        const BYTES: usize = 8;
        const PLACES: usize = 3;
        self.bytes.reserve(operations * BYTES);
        self.places.reserve(operations * PLACES);
    }

    #[inline]
    pub(super) fn push(&mut self, token: Token) {
        match token {
            Token::Byte(byte) => self.bytes.push(byte),
            Token::Varint(value) => varint::encode(value, &mut self.bytes),
            place => self.places.push((self.bytes.len(), place)),
        }
    }

    /// The tokens whose bytes are not known yet.
    pub(super) fn places(&self) -> impl Iterator<Item = &Token> {
        self.places.iter().map(|(_, token)| token)
    }

    /// All bytes.
    pub(super) fn emit(&self, order: &Order) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.len() + 2 * self.places.len());
        let mut outer = Vec::new();
        let mut done = 0;
        for (at, token) in &self.places {
            bytes.extend_from_slice(&self.bytes[done..*at]);
            done = *at;
            match token {
                Token::Begin => outer.push(std::mem::take(&mut bytes)),
                Token::End => {
                    let data = std::mem::replace(&mut bytes, outer.pop().unwrap_or_default());
                    super::append(&mut bytes, section::IR, &data);
                }
                token => emit_one(token, order, &mut bytes),
            }
        }
        bytes.extend_from_slice(&self.bytes[done..]);
        bytes
    }
}

impl Extend<Token> for Stream {
    fn extend<I: IntoIterator<Item = Token>>(&mut self, tokens: I) {
        tokens.into_iter().for_each(|token| self.push(token));
    }
}

/// The bytes of a token that is no bracket.
pub(super) fn emit_one(token: &Token, order: &Order, bytes: &mut Vec<u8>) {
    let attribute = |number: &u32| u64::from(order.attributes[*number as usize]);
    let ty = |number: &u32| u64::from(order.types[*number as usize]);
    match token {
        Token::Byte(byte) => bytes.push(*byte),
        Token::Varint(value) => varint::encode(*value, bytes),
        Token::Attribute(number) => varint::encode(attribute(number), bytes),
        Token::PresentAttribute(number) => varint::encode(attribute(number) << 1 | 1, bytes),
        Token::Type(number) => varint::encode(ty(number), bytes),
        Token::FlaggedType(number, flag) => varint::encode(ty(number) << 1 | u64::from(*flag), bytes),
        Token::Begin | Token::End => {}
    }
}

/// The bytes that end an entry, after its tokens: their number, then they themselves.
#[derive(Clone, Debug)]
pub(super) struct Tail(pub(super) Blob);

/// Tails are compared in full and hashed by their ends, so that a large constant costs little until an equal one comes.
impl PartialEq for Tail {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Tail {}

impl Hash for Tail {
    fn hash<H: Hasher>(&self, state: &mut H) {
        const ENDS_BYTES: usize = 64;
        let bytes = &*self.0;
        bytes.len().hash(state);
        bytes[..bytes.len().min(ENDS_BYTES)].hash(state);
        bytes[bytes.len().saturating_sub(ENDS_BYTES)..].hash(state);
    }
}
