//! Launch plans: buffers, and the steps that fill them.

use artifact_core::entity::Arena;
use artifact_core::entity_id;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Element, ElementType};

use crate::kernel::Kernel;
use crate::sizes::{SizeId, Sizes};

entity_id! {
    /// A buffer of a plan.
    pub struct BufferId("b");
}
entity_id! {
    /// A kernel of a plan.
    pub struct KernelId("k");
}

/// What an executable does: everything but machine code and sizes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Every size, as an expression over dimension variables.
    pub sizes: Sizes,
    /// The arguments of the program in order.
    pub arguments: Vec<Slot>,
    /// Its results in order.
    pub results: Vec<Slot>,
    /// Everything that has bytes.
    pub buffers: Arena<BufferId, Buffer>,
    /// Kernels, each once.
    pub kernels: Arena<KernelId, Kernel>,
    /// The operations that are no kernels, each as a function of its operands.
    pub library: Module,
    /// What is done.
    pub steps: Vec<Step>,
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// An array.
    Array(BufferId),
    /// A token, which has no bytes.
    Token,
    /// The components of a tuple.
    Tuple(Vec<Self>),
}

/// An array in memory: dense, row-major, 64-byte aligned.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Type of an element.
    pub element: Element,
    /// Sizes, outermost first.
    pub dims: Vec<SizeId>,
    /// Number of elements.
    pub count: SizeId,
    /// Where it lies.
    pub storage: Storage,
    /// The first and the last step that uses it, counted through nested sequences in order ([`Step::number`]). Buffers of the
    /// arena whose lives do not meet may lie at the same place.
    pub life: (u32, u32),
}

impl Buffer {
    /// Type of what lies in memory.
    #[must_use]
    pub fn storage_type(&self) -> ElementType {
        self.element.storage()
    }
}

/// Where a buffer lies.
#[derive(Clone, Debug)]
pub enum Storage {
    /// In an argument: read only, unless it is donated.
    Argument,
    /// In the program.
    Constant(Literal),
    /// In memory that is handed out as a result.
    Result,
    /// In the arena.
    Arena,
}

/// One thing that is done.
#[derive(Clone, Debug)]
pub struct Step {
    /// What.
    pub kind: StepKind,
    /// Its number, in order through nested sequences.
    pub number: u32,
    /// What it is called: the operations that it stands for.
    pub name: String,
    /// The operation in the program that it comes from.
    pub source: SourceOffset,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// Runs a kernel.
    Launch(Launch),
    /// Multiplies.
    Product(Product),
    /// Copies an array, all of it.
    Copy {
        /// From where.
        from: BufferId,
        /// To where: an array of as many elements.
        to: BufferId,
    },
    /// Runs an operation of the library: by a routine of the engine, or else by the evaluator.
    Operation {
        /// The function, which has the operation, and a return.
        function: FunctionId,
        /// Whether it writes nothing but its results.
        is_pure: bool,
        /// Its regions that are functions of elements, as kernels over vectors: inputs are the region's arguments, outputs what
        /// it returns. None for a region that is one operation on two elements, or more than such a function.
        regions: Vec<Option<KernelId>>,
        /// Its operands.
        operands: Vec<Operand>,
        /// Its results.
        results: Vec<Operand>,
    },
    /// Runs `body` while `condition` leaves true in `predicate`.
    While {
        /// Computes the predicate.
        condition: Vec<Step>,
        /// One boolean.
        predicate: BufferId,
        /// Computes the next values.
        body: Vec<Step>,
    },
    /// Runs one of the branches.
    Case {
        /// One integer, or one boolean of which true chooses the first.
        index: BufferId,
        /// The branches; the last one is run for an index out of range.
        branches: Vec<Vec<Step>>,
    },
}

/// What an operation takes or gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An array: a buffer, seen in this shape.
    Array(BufferId, Vec<SizeId>),
    /// A token.
    Token,
    /// A tuple.
    Tuple(Vec<Self>),
}

/// A kernel with its sizes and arrays.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: KernelId,
    /// Sizes of its axes, parallel ones first.
    pub extents: Vec<SizeId>,
    /// Its inputs in order.
    pub inputs: Vec<Source>,
    /// Its outputs in order.
    pub outputs: Vec<Access>,
}

/// Where an input of a launch comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An array.
    Array(Access),
    /// The position: `offset` plus the sum of the axes' positions times `steps`.
    Position {
        /// The number at the first position.
        offset: SizeId,
        /// What each axis adds.
        steps: Vec<SizeId>,
    },
}

/// Elements of a buffer at an affine function of the position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The buffer.
    pub buffer: BufferId,
    /// The element at the first position.
    pub offset: SizeId,
    /// The distance of elements along each axis, in elements.
    pub strides: Vec<SizeId>,
    /// Offsets that are read when the step runs.
    pub starts: Vec<Start>,
}

/// An offset that a program computes: `stride` times an integer that is clamped to 0 and `max`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Start {
    /// An array of one integer.
    pub index: BufferId,
    /// The largest integer that stays inside.
    pub max: SizeId,
    /// Elements that each one moves by.
    pub stride: SizeId,
}

/// A product of two arrays: for each batch position, the sum over the contracted positions of left times right.
#[derive(Clone, Debug)]
pub struct Product {
    /// Sizes of the batch axes.
    pub batch: Vec<SizeId>,
    /// Sizes of the axes that only the left side has.
    pub rows: Vec<SizeId>,
    /// Sizes of the axes that only the right side has.
    pub columns: Vec<SizeId>,
    /// Sizes of the axes that are summed over.
    pub contracted: Vec<SizeId>,
    /// Along batch, rows, contracted.
    pub left: Access,
    /// Along batch, columns, contracted.
    pub right: Access,
    /// Along batch, rows, columns.
    pub output: Access,
}

impl Plan {
    /// A buffer's type, where its sizes have these values.
    #[must_use]
    pub fn shape(&self, buffer: BufferId, sizes: &[i64]) -> Vec<i64> {
        use artifact_core::entity::EntityId as _;
        self.buffers[buffer]
            .dims
            .iter()
            .map(|dim| sizes[dim.index()])
            .collect()
    }
}
