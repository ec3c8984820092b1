//! Strings, dialects, names of operations, attributes, types and properties, each once.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};
use std::sync::Arc;

use artifact_ir::types::{TensorType, Type};
use foldhash::fast::RandomState;

use super::super::{since, varint};
use super::encoded::Encoded;
use super::token::{Order, Tail, Token, emit_one};

/// A dialect that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    Builtin,
    Vhlo,
    /// Another one, by the number of its name among the strings.
    Other(u32),
}

/// An attribute or a type.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    dialect: Dialect,
    /// Whether it is in the dialect's encoding, and not text.
    binary: bool,
    tokens: Box<[Token]>,
    tail: Option<Tail>,
}

/// Seeded, so that no input can choose its collisions.
pub(super) type Map<K, V> = HashMap<K, V, RandomState>;

/// Things by number, in order of discovery.
#[derive(Debug)]
struct Interned<T> {
    items: Vec<T>,
    /// Numbers by hash; where two things have one hash, the later has the next free one.
    numbers: Map<u64, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            numbers: Map::default(),
        }
    }
}

impl<T> Interned<T> {
    /// The number of a thing that is looked for by `query`, without making it where it is there.
    fn number(&mut self, query: &impl Hash, is_same: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> u32 {
        let mut hash = self.numbers.hasher().hash_one(query);
        while let Some(number) = self.numbers.get(&hash) {
            if is_same(&self.items[*number as usize]) {
                return *number;
            }
            hash = hash.wrapping_add(1);
        }
        let number = self.items.len() as u32;
        self.items.push(make());
        self.numbers.insert(hash, number);
        number
    }
}

/// The tables of a file.
#[derive(Debug, Default)]
pub(super) struct Tables {
    strings: Interned<Box<[u8]>>,
    dialects: Vec<(Dialect, u32)>,
    /// By dialect and string, and whether the dialect knows the operation.
    op_names: Interned<(u32, u32, bool)>,
    attributes: Interned<Entry>,
    types: Interned<Entry>,
    properties: Interned<Box<[Token]>>,
    /// Types by what they are, so that each is encoded once.
    by_type: Map<Type, u32>,
    /// The same by address, for types that live as long as these tables.
    by_tensor: Map<*const TensorType, u32>,
    tensors: Vec<Arc<TensorType>>,
}

impl Tables {
    pub(super) fn string(&mut self, bytes: &[u8]) -> u32 {
        self.strings
            .number(&bytes, |own| **own == *bytes, || bytes.into())
    }

    /// The number of an operation's name, which is without its dialect.
    pub(super) fn op_name(&mut self, dialect: Dialect, name: &str) -> u32 {
        self.any_op_name(dialect, name, true)
    }

    /// The same for an operation that its dialect need not know.
    pub(super) fn any_op_name(&mut self, dialect: Dialect, name: &str, registered: bool) -> u32 {
        let name = self.string(name.as_bytes());
        let dialect = self.dialect(dialect);
        let op_name = (dialect, name, registered);
        self.op_names.number(&op_name, |own| *own == op_name, || op_name)
    }

    fn dialect(&mut self, dialect: Dialect) -> u32 {
        if let Some(number) = self.dialects.iter().position(|(own, _)| *own == dialect) {
            return number as u32;
        }
        let name = match dialect {
            Dialect::Builtin => self.string(b"builtin"),
            Dialect::Vhlo => self.string(b"vhlo"),
            Dialect::Other(name) => name,
        };
        self.dialects.push((dialect, name));
        self.dialects.len() as u32 - 1
    }

    /// The number of an attribute of these tokens, which `tail` follows.
    pub(super) fn attribute(
        &mut self,
        dialect: Dialect,
        binary: bool,
        tokens: &[Token],
        tail: Option<Tail>,
    ) -> u32 {
        self.dialect(dialect);
        entry(&mut self.attributes, dialect, binary, tokens, tail)
    }

    pub(super) fn type_entry(&mut self, dialect: Dialect, tokens: &[Token]) -> u32 {
        self.dialect(dialect);
        entry(&mut self.types, dialect, true, tokens, None)
    }

    pub(super) fn properties(&mut self, tokens: &[Token]) -> u32 {
        self.properties
            .number(&tokens, |own| **own == *tokens, || tokens.into())
    }

    pub(super) fn known_type(&self, ty: &Type) -> Option<u32> {
        if let Type::Tensor(tensor) = ty
            && let Some(number) = self.by_tensor.get(&Arc::as_ptr(tensor))
        {
            return Some(*number);
        }
        self.by_type.get(ty).copied()
    }

    pub(super) fn learn_type(&mut self, ty: &Type, number: u32) {
        if let Type::Tensor(tensor) = ty {
            self.by_tensor.insert(Arc::as_ptr(tensor), number);
            self.tensors.push(Arc::clone(tensor));
        }
        self.by_type.insert(ty.clone(), number);
    }

    /// The final numbers: the most used first.
    pub(super) fn order(&self, operations: &[Token]) -> Order {
        let mut uses = Uses {
            attributes: vec![0; self.attributes.items.len()],
            types: vec![0; self.types.items.len()],
        };
        uses.count(operations);
        for entry in self.attributes.items.iter().chain(&self.types.items) {
            uses.count(&entry.tokens);
        }
        for tokens in &self.properties.items {
            uses.count(tokens);
        }
        Order {
            attributes: ranks(&uses.attributes),
            types: ranks(&uses.types),
        }
    }

    /// The section of strings: how many, their lengths from the last to the first, their bytes with a zero each.
    pub(super) fn emit_strings(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        varint::encode(self.strings.items.len() as u64, &mut bytes);
        for string in self.strings.items.iter().rev() {
            varint::encode(string.len() as u64 + 1, &mut bytes);
        }
        for string in &self.strings.items {
            bytes.extend_from_slice(string);
            bytes.push(0);
        }
        bytes
    }

    /// The section of dialects: their names, then the names of operations in groups of one dialect.
    pub(super) fn emit_dialects(&self, bytecode: u64) -> Vec<u8> {
        let flag = |value: u32, shifted: bool| u64::from(value) << u32::from(shifted);
        let mut bytes = Vec::new();
        varint::encode(self.dialects.len() as u64, &mut bytes);
        for (_, name) in &self.dialects {
            // The lowest bit says whether a version follows.
            varint::encode(flag(*name, bytecode >= since::DIALECT_VERSIONS), &mut bytes);
        }
        if bytecode >= since::OPTIONAL_ARGUMENT_LOCATION {
            varint::encode(self.op_names.items.len() as u64, &mut bytes);
        }
        for group in self.op_names.items.chunk_by(|(a, ..), (b, ..)| a == b) {
            varint::encode(u64::from(group[0].0), &mut bytes);
            varint::encode(group.len() as u64, &mut bytes);
            for (_, name, registered) in group {
                let registered = u64::from(*registered && bytecode >= since::PROPERTIES);
                varint::encode(
                    flag(*name, bytecode >= since::PROPERTIES) | registered,
                    &mut bytes,
                );
            }
        }
        bytes
    }

    /// The section of properties: how many, then each with its length.
    pub(super) fn emit_properties(&self, order: &Order) -> Vec<u8> {
        let mut bytes = Vec::new();
        varint::encode(self.properties.items.len() as u64, &mut bytes);
        for tokens in &self.properties.items {
            let mut own = Vec::new();
            for token in tokens {
                emit_one(token, order, &mut own);
            }
            varint::encode(own.len() as u64, &mut bytes);
            bytes.extend_from_slice(&own);
        }
        bytes
    }

    /// The offsets of attributes and types, and the section that holds them.
    pub(super) fn emit_entries(&self, order: &Order) -> (Vec<u8>, Encoded) {
        let mut data = Encoded::default();
        let mut offsets = Vec::new();
        varint::encode(self.attributes.items.len() as u64, &mut offsets);
        varint::encode(self.types.items.len() as u64, &mut offsets);
        let tables = [
            (&self.attributes.items, &order.attributes),
            (&self.types.items, &order.types),
        ];
        for (items, ranks) in tables {
            let mut ordered: Vec<&Entry> = items.iter().collect();
            for (entry, rank) in items.iter().zip(ranks) {
                ordered[*rank as usize] = entry;
            }
            for group in ordered.chunk_by(|a, b| a.dialect == b.dialect) {
                self.emit_group(group, order, &mut offsets, &mut data);
            }
        }
        (offsets, data)
    }

    fn emit_group(&self, group: &[&Entry], order: &Order, offsets: &mut Vec<u8>, data: &mut Encoded) {
        let dialect = self.dialects.iter().position(|(own, _)| *own == group[0].dialect);
        varint::encode(dialect.unwrap_or_default() as u64, offsets);
        varint::encode(group.len() as u64, offsets);
        for entry in group {
            let start = data.len();
            for token in &entry.tokens {
                emit_one(token, order, data.bytes());
            }
            if let Some(Tail(bytes)) = &entry.tail {
                varint::encode(bytes.len() as u64, data.bytes());
                data.push(bytes);
            }
            let length = (data.len() - start) as u64;
            varint::encode(length << 1 | u64::from(entry.binary), offsets);
        }
    }
}

/// The number of an entry.
fn entry(
    table: &mut Interned<Entry>,
    dialect: Dialect,
    binary: bool,
    tokens: &[Token],
    tail: Option<Tail>,
) -> u32 {
    let query = (dialect, binary, tokens, &tail);
    let is_same = |own: &Entry| {
        own.dialect == dialect && own.binary == binary && *own.tokens == *tokens && own.tail == tail
    };
    let make = || Entry {
        dialect,
        binary,
        tokens: tokens.into(),
        tail: tail.clone(),
    };
    table.number(&query, is_same, make)
}

/// How often attributes and types are used.
#[derive(Debug)]
struct Uses {
    attributes: Vec<u32>,
    types: Vec<u32>,
}

impl Uses {
    fn count(&mut self, tokens: &[Token]) {
        for token in tokens {
            match token {
                Token::Attribute(number) | Token::PresentAttribute(number) => {
                    self.attributes[*number as usize] += 1
                }
                Token::Type(number) | Token::FlaggedType(number, _) => self.types[*number as usize] += 1,
                Token::Byte(_) | Token::Varint(_) | Token::Begin | Token::End => {}
            }
        }
    }
}

/// The place of each number when the most used come first; equally used ones stay in their order.
fn ranks(uses: &[u32]) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..uses.len() as u32).collect();
    numbers.sort_by_key(|number| std::cmp::Reverse(uses[*number as usize]));
    let mut ranks = vec![0; uses.len()];
    for (rank, number) in numbers.into_iter().enumerate() {
        ranks[number as usize] = rank as u32;
    }
    ranks
}
