//! What is wrong with bytes, and where.

use std::fmt;

/// Bytes that are not what the schema says: which field, at which byte, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) table: &'static str,
    pub(crate) field: &'static str,
    pub(crate) offset: usize,
    pub(crate) problem: Problem,
}

impl Fault {
    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> Problem {
        self.problem
    }

    /// Where, in bytes from the start.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            table,
            field,
            offset,
            problem,
        } = self;
        match *field {
            "" => write!(f, "`{table}` at byte {offset}: {problem}"),
            field => write!(f, "`{table}.{field}` at byte {offset}: {problem}"),
        }
    }
}

impl std::error::Error for Fault {}

/// What can be wrong with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Something would lie past the end, or before the start.
    #[error("{what} lies outside the {length} bytes there are")]
    Outside {
        /// What.
        what: &'static str,
        /// Length of all bytes.
        length: usize,
    },
    /// An offset that leads to itself.
    #[error("the offset is 0, which leads nowhere")]
    OffsetZero,
    /// A vtable that cannot be one.
    #[error("the vtable claims {bytes} bytes: it has an even number, and 4 at least")]
    VtableSize {
        /// Its length as it says.
        bytes: u16,
    },
    /// A field outside its table.
    #[error("the field lies outside its table of {bytes} bytes")]
    OutsideTable {
        /// The table's length.
        bytes: u16,
    },
    /// A string that is no UTF-8.
    #[error("the string is not UTF-8")]
    Utf8,
    /// A number that the enumeration does not have.
    #[error("{enumeration} has no value {value}: a newer writer may know it")]
    Unknown {
        /// The enumeration.
        enumeration: &'static str,
        /// The number.
        value: i8,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("{value} is no boolean")]
    Boolean {
        /// The number.
        value: u8,
    },
    /// A required field without a value.
    #[error("the field is absent")]
    Absent,
    /// More is referred to than the reader allows.
    #[error("more objects are referred to than the budget of {budget} bytes allows")]
    Budget {
        /// The budget at the start.
        budget: u64,
    },
}
