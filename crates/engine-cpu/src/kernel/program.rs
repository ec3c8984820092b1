//! A scheduled kernel: what its code expects to find, and what it leaves.

use artifact_cpu_tile::TileOp;
use artifact_lower::kernel::{Columns, InstrId, Level};

/// A kernel, scheduled.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Whether its rows or its columns lie together.
    pub(crate) columns: Columns,
    /// Whether all that it does is to copy its one input to its one output.
    pub(crate) moves: bool,
    /// Elements of a rectangle at most; a multiple of 16.
    pub(crate) tile: usize,
    /// Every array that a phase works on. Inputs come first, outputs after them.
    pub(crate) slots: Vec<Slot>,
    pub(crate) constants: Vec<Vec<u8>>,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// In the order in which they run.
    pub(crate) phases: Vec<Phase>,
    /// Arithmetic operations at each position.
    pub(crate) flops: usize,
}

impl Program {
    /// Whether it has a reduction.
    pub(crate) fn reduces(&self) -> bool {
        self.phases.iter().any(|phase| !phase.reduces.is_empty())
    }
}

/// An array that a phase works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Bytes of an element.
    pub(crate) bytes: usize,
    pub(crate) kind: SlotKind,
}

/// What a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// An input of the kernel, an array or a position.
    Input(Level),
    /// An output of the kernel.
    Output(Level),
    /// One element a row, for the rows at hand.
    Row,
    /// One element a position, for all columns of the rows at hand.
    Resident,
    /// One element a position of the rectangle.
    Scratch,
    /// Partial results of a reduction: sixteen for each row at hand.
    Lanes,
    /// One element, the constant of this number.
    Constant(usize),
}

/// A pass over the rows at hand.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    /// Whether it runs over the rows alone, or over their columns.
    pub(crate) level: Level,
    pub(crate) stages: Vec<Stage>,
    /// The slots that its stages use, ascending.
    pub(crate) used: Vec<usize>,
    /// Reductions that end with it.
    pub(crate) reduces: Vec<Reduce>,
}

/// A reduction of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduce {
    /// How two values are combined.
    pub(crate) pair: TileOp,
    /// Sets lanes to the identity.
    pub(crate) init: TileOp,
    /// Combines lanes.
    pub(crate) finish: TileOp,
    /// The elements, as the phase leaves them.
    pub(crate) lanes: usize,
    /// The initial value, by row.
    pub(crate) start: usize,
    /// The result, by row.
    pub(crate) result: usize,
}

/// A step over a rectangle.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// A loop that is compiled.
    Loop(Loop),
    /// A call of a tile routine.
    Call {
        routine: TileOp,
        /// Destination first.
        slots: Vec<usize>,
    },
    /// An operation that the evaluator does.
    Evaluate {
        /// Its number among those of the module.
        operation: usize,
        slots: Vec<usize>,
    },
}

impl Stage {
    /// The slots that it reads and writes.
    pub(crate) fn slots(&self) -> Vec<usize> {
        match self {
            Self::Call { slots, .. } | Self::Evaluate { slots, .. } => slots.clone(),
            Self::Loop(own) => own.slots(),
        }
    }
}

/// Operations that are compiled into one loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Width of its numbers in bytes, 4 or 8; booleans apart.
    pub(crate) width: usize,
    pub(crate) ops: Vec<LoopOp>,
    /// Values that are stored: the position among the operations, and the slot.
    pub(crate) stores: Vec<(usize, usize)>,
}

impl Loop {
    /// The slots that it reads and writes.
    pub(crate) fn slots(&self) -> Vec<usize> {
        let loads = self.ops.iter().filter_map(|op| match op.kind {
            LoopKind::Load(slot) | LoopKind::LoadRow(slot) => Some(slot),
            LoopKind::Constant(_) | LoopKind::Apply(..) => None,
        });
        loads.chain(self.stores.iter().map(|(_, slot)| *slot)).collect()
    }
}

/// An operation of a loop. Operands are positions of earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoopOp {
    pub(crate) kind: LoopKind,
    pub(crate) element: artifact_ir::types::ElementType,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoopKind {
    /// An element of a slot at the position.
    Load(usize),
    /// An element of a slot at the row.
    LoadRow(usize),
    Constant(Vec<u8>),
    /// An operation of the kernel's body.
    Apply(InstrId, Vec<usize>),
}
