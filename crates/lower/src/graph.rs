//! The program as a graph of tensors, before it is decided what has a buffer.

use artifact_core::entity::Arena;
use artifact_core::entity_id;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::Literal;
use artifact_ir::module::FunctionId;
use artifact_ir::op::Op;
use artifact_ir::types::Element;

use crate::kernel::Combine;
use crate::sizes::SizeId;
use crate::view::View;

entity_id! {
    /// A tensor of the graph.
    pub(crate) struct TensorId("t");
}

/// A tensor.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) element: Element,
    pub(crate) dims: Vec<SizeId>,
    pub(crate) definition: Definition,
    /// Where the operation that makes it stands.
    pub(crate) source: SourceOffset,
    /// The sequence that it is made in.
    pub(crate) sequence: u32,
}

/// What makes a tensor.
#[derive(Clone, Debug)]
pub(crate) enum Definition {
    /// An item of a sequence, an argument, or a value that a loop carries: it has a buffer.
    Given,
    /// A constant of the program.
    Literal(Literal),
    /// One element, repeated: its bytes.
    Splat(Vec<u8>),
    /// Positions along a dimension.
    Iota { dimension: usize },
    /// A number that follows from the dimension variables.
    Size(SizeId),
    /// An elementwise operation on tensors of the same shape.
    Apply { op: Op, operands: Vec<TensorId> },
    /// The elements of another tensor at other places.
    View { view: View, operand: TensorId },
}

/// A value of the program: tensors, and what else there is.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Tensor(TensorId),
    Token,
    Tuple(Vec<Self>),
}

impl Value {
    /// The tensors in it, in order.
    pub(crate) fn tensors(&self) -> Vec<TensorId> {
        match self {
            Self::Tensor(tensor) => vec![*tensor],
            Self::Token => Vec::new(),
            Self::Tuple(values) => values.iter().flat_map(Self::tensors).collect(),
        }
    }
}

/// Operations in order, with what they leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub(crate) id: u32,
    pub(crate) items: Vec<Item>,
    /// The tensors that must have a buffer at the end.
    pub(crate) results: Vec<TensorId>,
}

/// Something done in a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    pub(crate) name: String,
    pub(crate) source: SourceOffset,
}

#[derive(Clone, Debug)]
pub(crate) enum ItemKind {
    /// Computes a tensor, if it turns out to need a buffer.
    Tensor(TensorId),
    /// Combines the elements along dimensions.
    Reduce {
        operand: TensorId,
        init: TensorId,
        dimensions: Vec<usize>,
        combine: Combine,
        result: TensorId,
    },
    /// Writes parts of a new tensor, onto a copy of another one if there is one.
    Write {
        base: Option<TensorId>,
        parts: Vec<Part>,
        result: TensorId,
    },
    Product {
        left: TensorId,
        right: TensorId,
        dimensions: Dimensions,
        result: TensorId,
    },
    Operation {
        function: FunctionId,
        is_pure: bool,
        operands: Vec<Value>,
        results: Vec<Value>,
    },
    While {
        /// What the loop carries, before, within the condition and the body, and after: one tensor each.
        carried: Vec<Carried>,
        condition: Sequence,
        predicate: TensorId,
        body: Sequence,
    },
    Case {
        index: TensorId,
        branches: Vec<Sequence>,
        results: Vec<TensorId>,
    },
}

/// One value that a loop carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) init: TensorId,
    /// The loop's own tensor: the argument of both regions, and the result.
    pub(crate) tensor: TensorId,
    /// What the body returns for it.
    pub(crate) next: TensorId,
}

/// Elements that are written into a larger tensor.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) tensor: TensorId,
    /// The position of its first element in each dimension, and the distance of elements.
    pub(crate) at: Vec<Place>,
}

#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) offset: SizeId,
    pub(crate) stride: i64,
    /// A position that is computed when the program runs, and the largest one.
    pub(crate) start: Option<(TensorId, SizeId)>,
}

/// Which dimensions of a product are which.
#[derive(Clone, Debug)]
pub(crate) struct Dimensions {
    pub(crate) left_batch: Vec<usize>,
    pub(crate) right_batch: Vec<usize>,
    pub(crate) left_contracted: Vec<usize>,
    pub(crate) right_contracted: Vec<usize>,
    /// For each dimension of the result, its place among batch dimensions, those of the left and those of the right.
    pub(crate) result: Vec<usize>,
}

/// All tensors.
pub(crate) type Tensors = Arena<TensorId, Tensor>;
