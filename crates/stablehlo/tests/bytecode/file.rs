//! A file of bytecode in parts that can be changed one by one: writing puts counts, offsets and lengths right again. Written
//! apart from the reader, for its tests and its fuzz target.

/// Entries of one dialect that stand together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) dialect: u64,
    pub(crate) entries: Vec<Entry>,
}

/// An attribute or a type.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) binary: bool,
    pub(crate) bytes: Vec<u8>,
}

/// A piece of the section of operations.
#[derive(Clone, Debug)]
pub(crate) enum Token {
    Byte(u8),
    Number(u64),
    /// A section inside.
    Section(Vec<Token>),
}

#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) version: u64,
    pub(crate) producer: Vec<u8>,
    pub(crate) strings: Vec<Vec<u8>>,
    pub(crate) dialects: Vec<u8>,
    pub(crate) attributes: Vec<Group>,
    pub(crate) types: Vec<Group>,
    pub(crate) properties: Vec<Vec<u8>>,
    pub(crate) operations: Vec<Token>,
    /// Sections that are kept as they are.
    pub(crate) others: Vec<(u8, Vec<u8>)>,
}

const MAGIC: &[u8] = b"ML\xEFR";
const STRING: u8 = 0;
const DIALECT: u8 = 1;
const ENTRIES: u8 = 2;
const OFFSETS: u8 = 3;
const IR: u8 = 4;
const PROPERTIES: u8 = 8;
/// From this version on a file has properties.
const PROPERTIES_SINCE: u64 = 5;

impl File {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes.strip_prefix(MAGIC)?);
        let version = cursor.varint()?;
        let end = cursor.0.iter().position(|byte| *byte == 0)?;
        let producer = cursor.take(end as u64 + 1)?[..end].to_vec();
        let mut sections = Vec::new();
        while !cursor.0.is_empty() {
            let id = cursor.byte()?;
            let length = cursor.varint()?;
            // None of ours is aligned.
            sections.push((id, cursor.take(length)?));
        }
        let mut section = |wanted| {
            let index = sections.iter().position(|(id, _)| *id == wanted)?;
            Some(sections.remove(index).1)
        };
        let strings = strings(section(STRING)?)?;
        let dialects = section(DIALECT)?.to_vec();
        let (attributes, types) = entries(section(OFFSETS)?, section(ENTRIES)?)?;
        let operations = operations(section(IR)?, version)?;
        let properties = section(PROPERTIES).and_then(properties).unwrap_or_default();
        Some(Self {
            version,
            producer,
            strings,
            dialects,
            attributes,
            types,
            properties,
            operations,
            others: sections
                .into_iter()
                .map(|(id, data)| (id, data.to_vec()))
                .collect(),
        })
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        append_varint(&mut bytes, self.version);
        bytes.extend_from_slice(&self.producer);
        bytes.push(0);
        append_section(&mut bytes, DIALECT, &self.dialects);
        let (offsets, data) = self.emit_entries();
        append_section(&mut bytes, OFFSETS, &offsets);
        append_section(&mut bytes, ENTRIES, &data);
        append_section(&mut bytes, IR, &emit(&self.operations));
        append_section(&mut bytes, STRING, &self.emit_strings());
        if self.version >= PROPERTIES_SINCE {
            let mut data = Vec::new();
            append_varint(&mut data, self.properties.len() as u64);
            for properties in &self.properties {
                append_varint(&mut data, properties.len() as u64);
                data.extend_from_slice(properties);
            }
            append_section(&mut bytes, PROPERTIES, &data);
        }
        for (id, data) in &self.others {
            append_section(&mut bytes, *id, data);
        }
        bytes
    }

    fn emit_strings(&self) -> Vec<u8> {
        let mut data = Vec::new();
        append_varint(&mut data, self.strings.len() as u64);
        for string in self.strings.iter().rev() {
            append_varint(&mut data, string.len() as u64 + 1);
        }
        for string in &self.strings {
            data.extend_from_slice(string);
            data.push(0);
        }
        data
    }

    fn emit_entries(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut offsets, mut data) = (Vec::new(), Vec::new());
        for groups in [&self.attributes, &self.types] {
            let count: usize = groups.iter().map(|group| group.entries.len()).sum();
            append_varint(&mut offsets, count as u64);
        }
        for group in self.attributes.iter().chain(&self.types) {
            append_varint(&mut offsets, group.dialect);
            append_varint(&mut offsets, group.entries.len() as u64);
            for entry in &group.entries {
                append_varint(
                    &mut offsets,
                    (entry.bytes.len() as u64) << 1 | u64::from(entry.binary),
                );
                data.extend_from_slice(&entry.bytes);
            }
        }
        (offsets, data)
    }
}

fn append_section(bytes: &mut Vec<u8>, id: u8, data: &[u8]) {
    bytes.push(id);
    append_varint(bytes, data.len() as u64);
    bytes.extend_from_slice(data);
}

fn emit(tokens: &[Token]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for token in tokens {
        match token {
            Token::Byte(byte) => bytes.push(*byte),
            Token::Number(value) => append_varint(&mut bytes, *value),
            Token::Section(tokens) => append_section(&mut bytes, IR, &emit(tokens)),
        }
    }
    bytes
}

fn strings(data: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut cursor = Cursor(data);
    let count = cursor.varint()?;
    let lengths: Option<Vec<u64>> = (0..count).map(|_| cursor.varint()).collect();
    let taken = lengths?.into_iter().rev().map(|length| {
        let (_, string) = cursor.take(length)?.split_last()?;
        Some(string.to_vec())
    });
    taken.collect()
}

fn properties(data: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut cursor = Cursor(data);
    let count = cursor.varint()?;
    (0..count)
        .map(|_| {
            let length = cursor.varint()?;
            Some(cursor.take(length)?.to_vec())
        })
        .collect()
}

fn entries(offsets: &[u8], data: &[u8]) -> Option<(Vec<Group>, Vec<Group>)> {
    let (mut offsets, mut data) = (Cursor(offsets), Cursor(data));
    let counts = [offsets.varint()?, offsets.varint()?];
    let mut groups = |count: u64| {
        let (mut groups, mut left) = (Vec::new(), count);
        while left > 0 {
            let dialect = offsets.varint()?;
            let size = offsets.varint()?.min(left);
            let entries = (0..size).map(|_| {
                let length = offsets.varint()?;
                Some(Entry {
                    binary: length & 1 == 1,
                    bytes: data.take(length >> 1)?.to_vec(),
                })
            });
            let entries: Vec<Entry> = entries.collect::<Option<_>>()?;
            left = left.checked_sub(size.max(1))?;
            groups.push(Group { dialect, entries });
        }
        Some(groups)
    };
    Some((groups(counts[0])?, groups(counts[1])?))
}

/// The tokens of a section of operations.
fn operations(data: &[u8], version: u64) -> Option<Vec<Token>> {
    let mut parser = Operations {
        cursor: Cursor(data),
        version,
        tokens: Vec::new(),
        depth: 0,
    };
    parser.block()?;
    parser.cursor.0.is_empty().then_some(parser.tokens)
}

/// The parser of operations of `file`: it needs no more of their meaning than what follows what.
struct Operations<'a> {
    cursor: Cursor<'a>,
    version: u64,
    tokens: Vec<Token>,
    depth: u32,
}

const DEPTH_MAX: u32 = 300;

impl Operations<'_> {
    fn number(&mut self) -> Option<u64> {
        let value = self.cursor.varint()?;
        self.tokens.push(Token::Number(value));
        Some(value)
    }

    fn byte(&mut self) -> Option<u8> {
        let value = self.cursor.byte()?;
        self.tokens.push(Token::Byte(value));
        Some(value)
    }

    fn list(&mut self) -> Option<u64> {
        let count = self.number()?;
        (0..count).try_for_each(|_| self.number().map(drop))?;
        Some(count)
    }

    fn block(&mut self) -> Option<()> {
        let ops = self.number()?;
        if ops & 1 == 1 {
            let count = self.number()?;
            for _ in 0..count {
                let ty = self.number()?;
                if self.version < 4 || ty & 1 == 1 {
                    self.number()?;
                }
            }
            if self.version >= 3 && self.byte()? != 0 {
                self.use_lists(count)?;
            }
        }
        (0..ops >> 1).try_for_each(|_| self.operation())
    }

    fn operation(&mut self) -> Option<()> {
        self.number()?;
        let mask = self.byte()?;
        self.number()?;
        for part in [1, 64] {
            if mask & part != 0 {
                self.number()?;
            }
        }
        let results = if mask & 2 != 0 { self.list()? } else { 0 };
        for part in [4, 8] {
            if mask & part != 0 {
                self.list()?;
            }
        }
        if mask & 32 != 0 {
            self.use_lists(results)?;
        }
        if mask & 16 != 0 { self.regions() } else { Some(()) }
    }

    fn use_lists(&mut self, values: u64) -> Option<()> {
        let orders = if values > 1 { self.number()? } else { 1 };
        for _ in 0..orders {
            if values > 1 {
                self.number()?;
            }
            let length = self.number()? >> 1;
            (0..length).try_for_each(|_| self.number().map(drop))?;
        }
        Some(())
    }

    fn regions(&mut self) -> Option<()> {
        let count = self.number()?;
        if self.depth == DEPTH_MAX {
            return None;
        }
        let isolated = count & 1 == 1 && self.version >= 2;
        if !isolated {
            return (0..count >> 1).try_for_each(|_| self.region());
        }
        if self.cursor.byte()? != IR {
            return None;
        }
        let length = self.cursor.varint()?;
        let mut inner = Operations {
            cursor: Cursor(self.cursor.take(length)?),
            version: self.version,
            tokens: Vec::new(),
            depth: self.depth + 1,
        };
        (0..count >> 1).try_for_each(|_| inner.region())?;
        inner.cursor.0.is_empty().then_some(())?;
        self.tokens.push(Token::Section(inner.tokens));
        Some(())
    }

    fn region(&mut self) -> Option<()> {
        let blocks = self.number()?;
        if blocks == 0 {
            return Some(());
        }
        self.number()?;
        self.depth += 1;
        let read = (0..blocks).try_for_each(|_| {
            if self.depth < DEPTH_MAX {
                self.block()
            } else {
                None
            }
        });
        self.depth -= 1;
        read
    }
}

/// Bytes that are read from the front.
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn varint(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        if first == 0 {
            let bytes = self.take(9)?;
            return Some(u64::from_le_bytes(bytes[1..].try_into().ok()?));
        }
        let length = first.trailing_zeros() + 1;
        let mut wide = [0; 8];
        wide[..length as usize].copy_from_slice(self.take(length.into())?);
        Some(u64::from_le_bytes(wide) >> length)
    }
}

pub(crate) fn append_varint(bytes: &mut Vec<u8>, value: u64) {
    let length = (64 - (value | 1).leading_zeros()).div_ceil(7);
    if length > 8 {
        bytes.push(0);
        bytes.extend_from_slice(&value.to_le_bytes());
    } else {
        let encoded = value << length | 1 << (length - 1);
        bytes.extend_from_slice(&encoded.to_le_bytes()[..length as usize]);
    }
}
