//! Portable bytecode: MLIR's binary format with the VHLO dialect (MLIR, "Bytecode format"; openxla/stablehlo, `docs/bytecode.md`).
//!
//! A file is a magic, a version, the producer's name and sections: strings, dialects with the names of their operations,
//! attributes and types with their offsets, properties, and the operations themselves. Versions 0, 1, 3, 4 and 6 exist in
//! portable artifacts; [`crate::vhlo`] says which goes with which version of StableHLO.
//!
//! Invariants:
//! * Reading goes straight to `artifact_ir`: older operations come out as the current ones, attributes that VHLO has to spell
//!   out and StableHLO leaves at a default are left out. Dense constants are views of the file, `i1` and signed sub-byte ones apart.
//! * Nothing that a file holds panics, overflows the stack or makes the reader use more memory than named limits and a small
//!   multiple of the file's length allow: counts are compared with the bytes that are left before anything is reserved, and
//!   an attribute that repeats others is charged for every repetition.
//! * Equal modules give equal bytes. What an older version cannot say is refused by name, never dropped.
//!
//! Entry points: [`read`], [`write`], [`is_bytecode`].

mod read;
mod read_error;
mod sdy;
mod varint;
mod write;

pub use read::{Portable, read};
pub use read_error::{ReadError, ReadErrorKind};
pub use write::{Encoded, WriteError, WriteErrorKind, WriteOptions, write};

use artifact_core::limit::Limit;

/// The first bytes of every file: `ML`, 0xEF, `R`.
pub const MAGIC: [u8; 4] = [b'M', b'L', 0xEF, b'R'];

/// Longest file.
pub const FILE_BYTES: Limit = Limit::new("the bytecode", 1 << 31, "bytes");

/// Regions, attributes, types and locations inside one another.
pub const NESTING: Limit = Limit::new("nesting", 256, "levels");

/// Attributes, types, strings, properties: entries of each table.
pub const ENTRIES: Limit = Limit::new("the number of entries in a table", 1 << 21, "entries");

/// Memory for repetitions of attributes, types and names that the file holds once, besides [`MEMORY_FACTOR`] bytes for each of its bytes.
pub const MEMORY: Limit = Limit::new("the memory for repeated attributes", 128 << 20, "bytes");

/// See [`MEMORY`].
pub const MEMORY_FACTOR: u64 = 32;

/// What each operation adds to [`MEMORY`]: its attributes are copies.
pub const OP_MEMORY: u64 = 512;

/// Whether these are the first bytes of a file of MLIR bytecode. Four are enough.
#[must_use]
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Numbers of sections.
mod section {
    pub(super) const STRING: u8 = 0;
    pub(super) const DIALECT: u8 = 1;
    pub(super) const ATTRIBUTE_TYPE: u8 = 2;
    pub(super) const ATTRIBUTE_TYPE_OFFSET: u8 = 3;
    pub(super) const IR: u8 = 4;
    pub(super) const DIALECT_VERSIONS: u8 = 7;
    pub(super) const PROPERTIES: u8 = 8;
}

/// Bits of the byte that says which parts an operation has.
mod parts {
    pub(super) const ATTRIBUTES: u8 = 1;
    pub(super) const RESULTS: u8 = 2;
    pub(super) const OPERANDS: u8 = 4;
    pub(super) const SUCCESSORS: u8 = 8;
    pub(super) const REGIONS: u8 = 16;
    pub(super) const USE_LIST_ORDERS: u8 = 32;
    pub(super) const PROPERTIES: u8 = 64;
}

/// Versions of MLIR's bytecode from which something is so.
mod since {
    /// Dialects may have a version.
    pub(super) const DIALECT_VERSIONS: u64 = 1;
    /// Isolated regions stand in a section of their own.
    pub(super) const LAZY_REGIONS: u64 = 2;
    /// Orders of uses may follow.
    pub(super) const USE_LIST_ORDERS: u64 = 3;
    /// The location of a block argument may be left out; the number of operation names is told.
    pub(super) const OPTIONAL_ARGUMENT_LOCATION: u64 = 4;
    /// Inherent attributes are properties.
    pub(super) const PROPERTIES: u64 = 5;
}

/// Numbers of attributes and types of the builtin dialect (MLIR, `BuiltinDialectBytecode.td`).
mod builtin {
    pub(super) const ARRAY: u64 = 0;
    pub(super) const DICTIONARY: u64 = 1;
    pub(super) const STRING: u64 = 2;
    pub(super) const FLAT_SYMBOL: u64 = 4;
    pub(super) const SYMBOL: u64 = 5;
    pub(super) const TYPE: u64 = 6;
    pub(super) const UNIT: u64 = 7;
    pub(super) const INTEGER: u64 = 8;
    pub(super) const FLOAT: u64 = 9;
    pub(super) const CALL_SITE_LOCATION: u64 = 10;
    pub(super) const FILE_LOCATION: u64 = 11;
    pub(super) const FUSED_LOCATION: u64 = 12;
    pub(super) const FUSED_LOCATION_WITH_METADATA: u64 = 13;
    pub(super) const NAME_LOCATION: u64 = 14;
    pub(super) const UNKNOWN_LOCATION: u64 = 15;
    pub(super) const DENSE_ARRAY: u64 = 17;
    pub(super) const DENSE_ELEMENTS: u64 = 18;
    pub(super) const FILE_RANGE: u64 = 22;

    pub(super) const INTEGER_TYPE: u64 = 0;
    pub(super) const INDEX_TYPE: u64 = 1;
    pub(super) const FUNCTION_TYPE: u64 = 2;
    pub(super) const BF16_TYPE: u64 = 3;
    pub(super) const F16_TYPE: u64 = 4;
    pub(super) const F32_TYPE: u64 = 5;
    pub(super) const F64_TYPE: u64 = 6;
    pub(super) const COMPLEX_TYPE: u64 = 9;
    pub(super) const NONE_TYPE: u64 = 12;
    pub(super) const TENSOR_TYPE: u64 = 13;
    pub(super) const TENSOR_TYPE_WITH_ENCODING: u64 = 14;
    pub(super) const TUPLE_TYPE: u64 = 15;
}

/// What stands for a size that is not known in shapes and bounds.
const DYNAMIC: i64 = i64::MIN;
