//! What a key is the digest of.

use std::collections::BTreeMap;
use std::fmt;

use artifact_core::digest::{Digest, Domain, Hasher};
use artifact_core::limit::{Limit, LimitExceeded};

/// Domain of the digests of records. A change of the encoding is a new one.
const DOMAIN: Domain = Domain::new("artifact cache key v1");

/// The first byte of an encoded record.
const VERSION: u8 = 1;

/// Longest record, encoded.
pub const RECORD_BYTES: Limit = Limit::new("size of a key record", 1 << 16, "bytes");
/// Most fields of a record, and most items of a list.
const FIELDS: Limit = Limit::new("the number of fields of a key record", 1 << 12, "fields");
/// Longest name of a field or a kind.
const NAME_BYTES: Limit = Limit::new("the name of a field of a key record", 128, "bytes");

/// The digest of a record, by which an entry is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Digest);

impl Key {
    /// The digest.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.0
    }
}

impl From<Digest> for Key {
    fn from(digest: Digest) -> Self {
        Self(digest)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A text, such as a version or the name of a target.
    Text(String),
    /// A number.
    Number(i64),
    /// A truth value.
    Flag(bool),
    /// The digest of something that is too long to stand here: a program, a compiler's library.
    Digest(Digest),
    /// Several values, of which the order counts.
    List(Vec<Value>),
}

/// Everything that decides what a compile gives, as named and typed fields. Equal records have equal keys, and records that differ in
/// anything do not; a record is kept with its entry, so that a miss can be explained.
///
/// Nothing belongs here that does not change what comes out: no path, host, process, time or order of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    kind: String,
    fields: BTreeMap<String, Value>,
}

/// What is no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// A name that is empty, or given twice.
    Name(String),
    /// Over a limit.
    Limit(LimitExceeded),
    /// Bytes that encode none, and where that shows.
    Malformed(usize),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "a key record has no second field called {name:?}"),
            Self::Limit(exceeded) => exceeded.fmt(f),
            Self::Malformed(at) => write!(f, "byte {at} is not one of a key record"),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<LimitExceeded> for RecordError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded)
    }
}

impl KeyRecord {
    /// A record of a kind of thing that is compiled, such as `artifact-module` or `cubin`: what the fields of one kind mean, those of
    /// another need not.
    ///
    /// # Errors
    /// A kind that is empty or too long.
    pub fn new(kind: &str) -> Result<Self, RecordError> {
        check_name(kind)?;
        Ok(Self {
            kind: kind.to_owned(),
            fields: BTreeMap::new(),
        })
    }

    /// The record with one more field. Names are parts joined by dots, from the general to the special: `toolchain.nvrtc`.
    ///
    /// # Errors
    /// A name that is empty, too long or there already; lists in lists; a record that grows too large.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Result<Self, RecordError> {
        check_name(name)?;
        let value = value.into();
        check_depth(&value, true)?;
        FIELDS.check(self.fields.len() as u64 + 1)?;
        if self.fields.insert(name.to_owned(), value).is_some() {
            return Err(RecordError::Name(name.to_owned()));
        }
        RECORD_BYTES.check(self.encode().len() as u64)?;
        Ok(self)
    }

    /// What kind of thing is compiled.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// A field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// The fields in the order of their names.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The digest of the encoded record.
    #[must_use]
    pub fn key(&self) -> Key {
        let mut hasher = Hasher::in_domain(DOMAIN);
        hasher.update(&self.encode());
        Key(hasher.finish())
    }

    /// The one encoding: a version; the kind; and each field, in the order of names, as its name, a tag and its value. Texts and lists
    /// have their length before them, and numbers are little-endian.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        text(&self.kind, &mut bytes);
        count(self.fields.len(), &mut bytes);
        for (name, value) in &self.fields {
            text(name, &mut bytes);
            encode(value, &mut bytes);
        }
        bytes
    }

    /// Reads an encoded record. Bytes that [`KeyRecord::encode`] would not write are none: a record has one encoding.
    ///
    /// # Errors
    /// [`RecordError`]. Sizes are checked before anything is allocated.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        RECORD_BYTES.check(bytes.len() as u64)?;
        let mut reader = Reader { bytes, at: 0 };
        if reader.u8()? != VERSION {
            return Err(RecordError::Malformed(0));
        }
        let kind = reader.name()?;
        let mut fields: BTreeMap<String, Value> = BTreeMap::new();
        let mut left = reader.count(FIELD_BYTES_MIN)?;
        while left > 0 {
            let at = reader.at;
            let name = reader.name()?;
            let is_next = fields.last_key_value().is_none_or(|(last, _)| *last < name);
            if !is_next {
                return Err(RecordError::Malformed(at));
            }
            let value = reader.value(true)?;
            fields.insert(name, value);
            left -= 1;
        }
        match reader.at == bytes.len() {
            true => Ok(Self { kind, fields }),
            false => Err(RecordError::Malformed(reader.at)),
        }
    }

    /// What tells another record from this one, field by field.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Difference<'a>> {
        let kinds = (self.kind != other.kind).then_some(Difference::Kind(&self.kind, &other.kind));
        let own = self.fields.iter().filter_map(move |(name, value)| {
            let there = other.fields.get(name);
            (there != Some(value)).then_some(Difference::Field {
                name,
                here: Some(value),
                there,
            })
        });
        let others = other
            .fields
            .iter()
            .filter(|(name, _)| !self.fields.contains_key(*name));
        let others = others.map(|(name, value)| Difference::Field {
            name,
            here: None,
            there: Some(value),
        });
        kinds.into_iter().chain(own).chain(others)
    }
}

/// A name with a value of the smallest size.
const FIELD_BYTES_MIN: usize = 4 + 1 + 2;

/// What tells a record from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference<'a> {
    /// They are of things that do not compare.
    Kind(&'a str, &'a str),
    /// A field that one of them does not have, or that has another value.
    Field {
        /// Its name.
        name: &'a str,
        /// The value in this record.
        here: Option<&'a Value>,
        /// The value in the other one.
        there: Option<&'a Value>,
    },
}

impl fmt::Display for Difference<'_> {
    /// `toolchain.nvrtc: 12.9.86 -> 13.5.37`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<&Value>| value.map_or_else(|| "none".to_owned(), ToString::to_string);
        match self {
            Self::Kind(here, there) => write!(f, "kind: {here} -> {there}"),
            Self::Field { name, here, there } => write!(f, "{name}: {} -> {}", shown(here), shown(there)),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Digest(digest) => f.write_str(&digest.short()),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}

macro_rules! values {
    ($($from:ty => $make:expr,)*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                ($make)(value)
            }
        }
    )*};
}

values! {
    &str => |text: &str| Self::Text(text.to_owned()),
    String => Self::Text,
    i64 => Self::Number,
    u32 => |number| Self::Number(i64::from(number)),
    bool => Self::Flag,
    Digest => Self::Digest,
    Vec<Value> => Self::List,
}

fn check_name(name: &str) -> Result<(), RecordError> {
    NAME_BYTES.check(name.len() as u64)?;
    match name.is_empty() {
        true => Err(RecordError::Name(String::new())),
        false => Ok(()),
    }
}

/// Lists hold values that are none.
fn check_depth(value: &Value, is_outer: bool) -> Result<(), RecordError> {
    match value {
        Value::List(items) if is_outer => {
            FIELDS.check(items.len() as u64)?;
            items.iter().try_for_each(|item| check_depth(item, false))
        }
        Value::List(_) => Err(RecordError::Name("list".to_owned())),
        _ => Ok(()),
    }
}

fn count(count: usize, bytes: &mut Vec<u8>) {
    // Limits are far below.
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
}

fn text(text: &str, bytes: &mut Vec<u8>) {
    count(text.len(), bytes);
    bytes.extend_from_slice(text.as_bytes());
}

fn encode(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Text(value) => {
            bytes.push(1);
            text(value, bytes);
        }
        Value::Number(number) => {
            bytes.push(2);
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        Value::Flag(flag) => bytes.extend_from_slice(&[3, u8::from(*flag)]),
        Value::Digest(digest) => {
            bytes.push(4);
            bytes.extend_from_slice(digest.as_bytes());
        }
        Value::List(items) => {
            bytes.push(5);
            count(items.len(), bytes);
            items.iter().for_each(|item| encode(item, bytes));
        }
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8], RecordError> {
        let malformed = RecordError::Malformed(self.at);
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let taken = &self.bytes[self.at..end.ok_or(malformed)?];
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, RecordError> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    /// A number of things that take so many bytes each at least, which must be there.
    fn count(&mut self, bytes_min: usize) -> Result<usize, RecordError> {
        let at = self.at;
        let count = u32::from_le_bytes(self.array()?) as usize;
        let fits = count
            .checked_mul(bytes_min)
            .is_some_and(|bytes| bytes <= self.bytes.len() - self.at);
        match fits {
            true => Ok(count),
            false => Err(RecordError::Malformed(at)),
        }
    }

    fn text(&mut self) -> Result<String, RecordError> {
        let at = self.at;
        let length = self.count(1)?;
        let text = std::str::from_utf8(self.take(length)?);
        Ok(text.map_err(|_| RecordError::Malformed(at))?.to_owned())
    }

    fn name(&mut self) -> Result<String, RecordError> {
        let name = self.text()?;
        check_name(&name)?;
        Ok(name)
    }

    fn value(&mut self, is_outer: bool) -> Result<Value, RecordError> {
        let at = self.at;
        let malformed = RecordError::Malformed(at);
        Ok(match self.u8()? {
            1 => Value::Text(self.text()?),
            2 => Value::Number(i64::from_le_bytes(self.array()?)),
            3 => match self.u8()? {
                0 => Value::Flag(false),
                1 => Value::Flag(true),
                _ => return Err(malformed),
            },
            4 => Value::Digest(Digest::from_bytes(self.array()?)),
            5 if is_outer => {
                let count = self.count(2)?;
                Value::List((0..count).map(|_| self.value(false)).collect::<Result<_, _>>()?)
            }
            _ => return Err(malformed),
        })
    }
}

#[cfg(test)]
mod tests;
