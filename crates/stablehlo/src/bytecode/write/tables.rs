//! Strings, dialects, names of operations, attributes, types and properties, each once.

use std::collections::HashMap;
use std::sync::Arc;

use artifact_ir::types::{TensorType, Type};
use foldhash::fast::RandomState;

use super::super::{since, varint};
use super::encoded::Encoded;
use super::interned::Interned;
use super::token::{Order, Stream, Tail, Token, emit_one};

/// A dialect that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    Builtin,
    Vhlo,
    /// Another one, by the number of its name among the strings.
    Other(u32),
}

/// What stands before the tokens of an attribute or a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct EntryHead {
    dialect: Dialect,
    /// Whether it is in the dialect's encoding, and not text.
    binary: bool,
    tail: Option<Tail>,
}

/// Seeded, so that no input can choose its collisions.
pub(super) type Map<K, V> = HashMap<K, V, RandomState>;

/// The tables of a file.
#[derive(Debug, Default)]
pub(super) struct Tables {
    strings: Interned<u8>,
    dialects: Vec<(Dialect, u32)>,
    /// By dialect and string, and whether the dialect knows the operation.
    op_names: Interned<u8, (u32, u32, bool)>,
    attributes: Interned<Token, EntryHead>,
    types: Interned<Token, EntryHead>,
    properties: Interned<Token>,
    /// Types by what they are, so that each is encoded once.
    by_type: Map<Type, u32>,
    /// The same by address, for types that live as long as these tables.
    by_tensor: Map<*const TensorType, u32>,
    tensors: Vec<Arc<TensorType>>,
}

impl Tables {
    /// Makes room for so many attributes.
    pub(super) fn reserve(&mut self, attributes: usize) {
        self.attributes.reserve(attributes);
    }

    pub(super) fn string(&mut self, bytes: &[u8]) -> u32 {
        self.strings.number((), bytes)
    }

    /// The number of an operation's name, which is without its dialect.
    pub(super) fn op_name(&mut self, dialect: Dialect, name: &str) -> u32 {
        self.any_op_name(dialect, name, true)
    }

    /// The same for an operation that its dialect need not know.
    pub(super) fn any_op_name(&mut self, dialect: Dialect, name: &str, registered: bool) -> u32 {
        let name = self.string(name.as_bytes());
        let dialect = self.dialect(dialect);
        self.op_names.number((dialect, name, registered), &[])
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
        let head = EntryHead {
            dialect,
            binary,
            tail,
        };
        self.attributes.number(head, tokens)
    }

    pub(super) fn type_entry(&mut self, dialect: Dialect, tokens: &[Token]) -> u32 {
        self.dialect(dialect);
        let head = EntryHead {
            dialect,
            binary: true,
            tail: None,
        };
        self.types.number(head, tokens)
    }

    pub(super) fn properties(&mut self, tokens: &[Token]) -> u32 {
        self.properties.number((), tokens)
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
    pub(super) fn order(&self, operations: &Stream) -> Order {
        let mut uses = Uses {
            attributes: vec![0; self.attributes.len()],
            types: vec![0; self.types.len()],
        };
        uses.count(operations.places());
        for tokens in [
            self.attributes.items(),
            self.types.items(),
            self.properties.items(),
        ] {
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
        varint::encode(self.strings.len() as u64, &mut bytes);
        for ((), string) in self.strings.iter().rev() {
            varint::encode(string.len() as u64 + 1, &mut bytes);
        }
        for ((), string) in self.strings.iter() {
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
            varint::encode(self.op_names.len() as u64, &mut bytes);
        }
        let op_names: Vec<_> = self.op_names.iter().map(|(name, _)| *name).collect();
        for group in op_names.chunk_by(|(a, ..), (b, ..)| a == b) {
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
        varint::encode(self.properties.len() as u64, &mut bytes);
        let mut own = Vec::new();
        for ((), tokens) in self.properties.iter() {
            own.clear();
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
        varint::encode(self.attributes.len() as u64, &mut offsets);
        varint::encode(self.types.len() as u64, &mut offsets);
        let tables = [(&self.attributes, &order.attributes), (&self.types, &order.types)];
        for (entries, ranks) in tables {
            let mut ordered: Vec<Entry<'_>> = entries.iter().collect();
            for (entry, rank) in entries.iter().zip(ranks) {
                ordered[*rank as usize] = entry;
            }
            for group in ordered.chunk_by(|(a, _), (b, _)| a.dialect == b.dialect) {
                self.emit_group(group, order, &mut offsets, &mut data);
            }
        }
        (offsets, data)
    }

    fn emit_group(&self, group: &[Entry<'_>], order: &Order, offsets: &mut Vec<u8>, data: &mut Encoded) {
        let dialect = self
            .dialects
            .iter()
            .position(|(own, _)| *own == group[0].0.dialect);
        varint::encode(dialect.unwrap_or_default() as u64, offsets);
        varint::encode(group.len() as u64, offsets);
        for (head, tokens) in group {
            let start = data.len();
            let bytes = data.bytes();
            for token in *tokens {
                emit_one(token, order, bytes);
            }
            if let Some(Tail(bytes)) = &head.tail {
                varint::encode(bytes.len() as u64, data.bytes());
                data.push(bytes);
            }
            let length = (data.len() - start) as u64;
            varint::encode(length << 1 | u64::from(head.binary), offsets);
        }
    }
}

/// What stands before an entry's tokens, and they.
type Entry<'a> = (&'a EntryHead, &'a [Token]);

/// How often attributes and types are used.
#[derive(Debug)]
struct Uses {
    attributes: Vec<u32>,
    types: Vec<u32>,
}

impl Uses {
    fn count<'a>(&mut self, tokens: impl IntoIterator<Item = &'a Token>) {
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
