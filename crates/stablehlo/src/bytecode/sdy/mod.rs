//! Attributes of the Shardy dialect in MLIR bytecode (Shardy: `bytecode.td`).
//!
//! An attribute is a code and its fields. Attributes in it, and strings, are numbers into tables of the file, which the reader
//! and the writer of files have: they are reached through [`Source`] and [`Sink`]. A code is never used again for another
//! form; an attribute is written with the oldest code that holds it, as Shardy does, so that old readers read it.
//!
//! Edges of propagation and what they are made of have no code. They are stored as text, as every attribute may be.

mod decode;
mod encode;

use std::fmt;

use artifact_ir::attribute::{Attribute, ByteString};

pub(super) use decode::decode;
pub(super) use encode::encode;

/// What the fields of an attribute are read from.
pub(super) trait Source {
    /// How reading fails.
    type Error: From<Unexpected>;

    /// An unsigned number of variable length.
    fn varint(&mut self) -> Result<u64, Self::Error>;

    /// A signed number of variable length, zigzag.
    fn signed_varint(&mut self) -> Result<i64, Self::Error>;

    /// One byte.
    fn byte(&mut self) -> Result<u8, Self::Error>;

    /// The attribute with that number, read if it has not been yet.
    fn attribute(&mut self, index: u64) -> Result<Attribute, Self::Error>;

    /// The string with that number.
    fn string(&mut self, index: u64) -> Result<ByteString, Self::Error>;
}

/// What the fields of an attribute are written to.
pub(super) trait Sink {
    /// How writing fails.
    type Error;

    /// Writes an unsigned number.
    fn varint(&mut self, value: u64);

    /// Writes a signed number.
    fn signed_varint(&mut self, value: i64);

    /// Writes one byte.
    fn byte(&mut self, value: u8);

    /// Writes the number of an attribute, which is added to the file if it is not there.
    fn attribute(&mut self, attribute: &Attribute) -> Result<(), Self::Error>;

    /// Writes the number of an attribute that may be absent: doubled, plus 1 where it is there, or 0.
    fn optional_attribute(&mut self, attribute: Option<&Attribute>) -> Result<(), Self::Error>;

    /// Writes the number of a string, which is added to the file if it is not there.
    fn string(&mut self, bytes: &[u8]);
}

/// Bytes that are no attribute of the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unexpected {
    /// A code that we do not know: the file is newer, or damaged.
    Code(u64),
    /// An attribute of another kind where one of this is needed.
    Attribute {
        /// The kind that is needed.
        expected: &'static str,
    },
    /// A number that is none of the field's.
    Number {
        /// The field.
        field: &'static str,
    },
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(
                f,
                "attribute of the sdy dialect has the unknown code {code}: the file may be newer than this reader"
            ),
            Self::Attribute { expected } => {
                write!(
                    f,
                    "attribute of the sdy dialect refers to an attribute that is not {expected}"
                )
            }
            Self::Number { field } => {
                write!(f, "attribute of the sdy dialect has a number that is no {field}")
            }
        }
    }
}

impl std::error::Error for Unexpected {}

/// An operation's own attributes in the order in which they are stored: by name. Each is the number of an attribute; one that
/// may be absent is that number doubled, plus 1 where it is there (0 where it is not).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpProperties {
    /// The operation.
    pub(super) op: &'static str,
    /// Name of each, and whether it may be absent.
    pub(super) properties: &'static [(&'static str, bool)],
}

/// All operations of the dialect that have attributes of their own. `reduction_op` is not there in files of before Shardy had
/// it (jaxlib 0.10.2 among them), and then is at the end of what is stored.
pub(super) const OP_PROPERTIES: &[OpProperties] = &[
    of(
        "sdy.all_gather",
        &[("gathering_axes", false), ("out_sharding", false)],
    ),
    of(
        "sdy.all_reduce",
        &[
            ("out_sharding", false),
            ("reduction_axes", false),
            ("reduction_op", true),
        ],
    ),
    of(
        "sdy.all_slice",
        &[("out_sharding", false), ("slicing_axes", false)],
    ),
    of("sdy.all_to_all", &[("out_sharding", false), ("params", false)]),
    of("sdy.collective_permute", &[("out_sharding", false)]),
    of("sdy.constant", &[("value", false)]),
    of("sdy.data_flow_edge", &[("sharding", true)]),
    of(
        "sdy.manual_computation",
        &[
            ("in_shardings", false),
            ("manual_axes", false),
            ("out_shardings", false),
        ],
    ),
    of("sdy.mesh", &[("mesh", false), ("sym_name", false)]),
    of(
        "sdy.named_computation",
        &[("in_shardings", true), ("name", false), ("out_shardings", true)],
    ),
    of("sdy.propagation_barrier", &[("allowed_direction", false)]),
    of(
        "sdy.reduce_scatter",
        &[
            ("out_sharding", false),
            ("reduce_scatter_axes", false),
            ("reduction_op", true),
        ],
    ),
    of(
        "sdy.replicated_to_unreduced",
        &[("axes", false), ("out_sharding", false)],
    ),
    of("sdy.reshard", &[("sharding", false)]),
    of(
        "sdy.sharded_to_unreduced",
        &[("axes", false), ("out_sharding", false)],
    ),
    of("sdy.sharding_constraint", &[("sharding", false)]),
    of("sdy.sharding_group", &[("group_id", false)]),
];

/// The attributes of an operation of the dialect in the order in which they are stored; none for one that has none.
pub(super) fn properties_of(op: &str) -> &'static [(&'static str, bool)] {
    let found = OP_PROPERTIES.iter().find(|properties| properties.op == op);
    found.map_or(&[], |found| found.properties)
}

const fn of(op: &'static str, properties: &'static [(&'static str, bool)]) -> OpProperties {
    OpProperties { op, properties }
}

macro_rules! codes {
    ($($name:ident = $number:literal,)*) => {
        /// The form of an attribute.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Code { $($name,)* }

        impl Code {
            const fn number(self) -> u64 {
                match self { $(Self::$name => $number,)* }
            }

            const fn from_number(number: u64) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

codes! {
    ManualAxes = 0,
    MeshAxis = 1,
    Mesh = 2,
    SubAxisInfo = 3,
    AxisRef = 4,
    DimensionSharding = 5,
    TensorSharding = 6,
    TensorShardingPerValue = 7,
    DimMapping = 8,
    TensorMapping = 9,
    OpShardingRule = 10,
    AxisRefList = 11,
    ListOfAxisRefLists = 12,
    AllToAllParam = 13,
    AllToAllParamList = 14,
    // With unreduced axes.
    TensorShardingUnreduced = 15,
    TensorShardingPerValueUnreduced = 16,
    // With unreduced axes and their reduction.
    TensorShardingReduction = 17,
}

#[cfg(test)]
mod tests;
