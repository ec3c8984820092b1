//! Structured kernels: iteration spaces, access classes and a typed scalar body. No sizes, no schedule.
//!
//! A kernel runs over rows and columns. The *parallel* axes span the rows; the *inner* axes span the columns of a row. A value of
//! the body is of one of two [`Level`]s: one for each row, or one for each column of each row. A reduction makes the former of
//! the latter, and what is computed from it may be used at every column again, so that softmax is one kernel. A kernel without
//! reductions whose values are all of one level has no inner axes.
//!
//! **The order of a reduction** is part of what a kernel means, so that results depend on sizes alone, not on threads, on
//! vectors or on whether sizes were known. The K elements of one result, in row-major order of the inner axes, are cut into
//! segments of [`SEGMENT`]. In a segment element k goes to lane k mod [`LANES`]; lanes begin at the operation's identity and are
//! combined in pairs (l, l + 8), (l, l + 4), (l, l + 2), (l, l + 1); segments are combined in order onto the initial value.
//! That holds for the operations of [`Combine`]. A reduction by another function is no kernel, but a step of the plan: a fold in order,
//! or several of them whose results are folded in order.

use artifact_core::digest::Digest;
use artifact_core::entity_id;
use artifact_ir::op::{Binary, Op};
use artifact_ir::types::ElementType;

/// Elements that are reduced through lanes before their result is combined with that of those before them.
pub const SEGMENT: usize = 4096;

/// Independent partial results within a segment.
pub const LANES: usize = 16;

entity_id! {
    /// A value of a kernel's body.
    pub struct InstrId("v");
}

/// How often a value exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Once a row.
    Row,
    /// Once a column of each row.
    Element,
}

/// A kernel: what is computed at each point of an iteration space. Equal kernels are the same code, whatever their sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// Number of axes that span the rows.
    pub parallel: usize,
    /// Number of axes that span the columns of a row.
    pub inner: usize,
    /// How the elements of a row lie in most arrays.
    pub columns: Columns,
    /// What is read.
    pub inputs: Vec<Input>,
    /// The body, each value after those that it uses.
    pub body: Vec<Instr>,
    /// What is written.
    pub outputs: Vec<Output>,
}

/// How the elements of a row lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Columns {
    /// Next to each other, row after row.
    Together,
    /// Apart: neighbours are elements of neighbouring rows. Such a kernel goes through its columns once.
    Apart,
}

/// Something that a kernel reads at each point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Type of an element.
    pub element: ElementType,
    /// Whether it is an element of an array, or a number that follows from the position alone.
    pub kind: InputKind,
    /// Whether it moves along the columns: an input that does not is a value of its row.
    pub level: Level,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// An element of an array, at an affine function of the position.
    Array,
    /// The affine function itself, as `iota` has it.
    Position,
}

/// A value of the body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instr {
    /// What makes it.
    pub kind: InstrKind,
    /// Type of an element.
    pub element: ElementType,
    /// How often it exists.
    pub level: Level,
}

/// What makes a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InstrKind {
    /// The input of this number.
    Input(u32),
    /// A constant, by its little-endian bytes.
    Constant(Vec<u8>),
    /// An elementwise operation of the program.
    Apply {
        /// The operation.
        op: Op,
        /// Its operands.
        operands: Vec<InstrId>,
    },
    /// `a * b + c`, rounded once.
    MultiplyAdd([InstrId; 3]),
    /// All columns of a row, combined.
    Reduce {
        /// How.
        combine: Combine,
        /// The elements, and what they are combined onto, a value of the row.
        operands: [InstrId; 2],
    },
}

impl InstrKind {
    /// The values that it uses.
    #[must_use]
    pub fn operands(&self) -> &[InstrId] {
        match self {
            Self::Input(_) | Self::Constant(_) => &[],
            Self::Apply { operands, .. } => operands,
            Self::MultiplyAdd(operands) => operands,
            Self::Reduce { operands, .. } => operands,
        }
    }
}

/// Whether engines have routines for numbers of a type: those that processors compute with. Operations on others are evaluated
/// one by one, and none of them is reduced by a kernel or filled with positions.
pub(crate) fn has_routines(element: ElementType) -> bool {
    match element {
        ElementType::TF32 | ElementType::Index => false,
        _ if element.is_float() => element.bits() >= 16,
        _ => element.bits() >= 8 || element.is_boolean(),
    }
}

/// An operation that may combine partial results in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Sum.
    Add,
    /// Product.
    Multiply,
    /// Larger value.
    Maximum,
    /// Smaller value.
    Minimum,
    /// Bitwise or logical and.
    And,
    /// Bitwise or logical or.
    Or,
    /// Bitwise or logical exclusive or.
    Xor,
}

impl Combine {
    /// The operation on two elements.
    #[must_use]
    pub const fn operation(self) -> Binary {
        match self {
            Self::Add => Binary::Add,
            Self::Multiply => Binary::Multiply,
            Self::Maximum => Binary::Maximum,
            Self::Minimum => Binary::Minimum,
            Self::And => Binary::And,
            Self::Or => Binary::Or,
            Self::Xor => Binary::Xor,
        }
    }

    /// Its name in a program.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Multiply => "multiply",
            Self::Maximum => "maximum",
            Self::Minimum => "minimum",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }
}

/// Something that a kernel writes at each point, or at each row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// The value.
    pub value: InstrId,
    /// Type of an element.
    pub element: ElementType,
    /// Whether it is written at each column.
    pub level: Level,
}

impl Kernel {
    /// The identity of the kernel across processes: a digest of its text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(crate::text::kernel("kernel", self).as_bytes())
    }

    /// Whether it has a reduction.
    #[must_use]
    pub fn reduces(&self) -> bool {
        self.body
            .iter()
            .any(|instr| matches!(instr.kind, InstrKind::Reduce { .. }))
    }
}
