//! Operations with shape operands, once the shapes are numbers: the operations with attributes that say the same.

use artifact_core::entity::EntityId as _;
use artifact_ir::attribute::{Attribute, NamedAttributes, Padding, SymbolRef};
use artifact_ir::module::{Operation, ValueId};
use artifact_ir::op::{
    BroadcastInDim, Constant, Contraction, Control, Creation, CustomCall, DimensionSize, Gather, Indexing,
    Op, Pad, Shape, Slice,
};
use artifact_ir::types::{TensorType, Type};

use crate::dynamic_call::{self, static_call};
use crate::fact::Fact;
use crate::shape_operands;

/// A custom call that gives its first operand, in the shape that its second one holds.
const OPERAND_WRAPPER: &str = "stablehlo.shape_refinement_operand_wrapper";

/// What becomes of an operation.
pub(crate) enum Rewritten {
    /// It stays.
    Kept,
    /// Its result is this operand.
    Operand(usize),
    /// It becomes another one with the same results.
    Other(Box<Form>),
}

/// An operation in another form.
pub(crate) struct Form {
    pub(crate) op: Op,
    pub(crate) operands: Vec<ValueId>,
    pub(crate) attributes: NamedAttributes,
    /// The function that its region calls, where it is to have one.
    pub(crate) region: Option<SymbolRef>,
}

impl Rewritten {
    fn other(op: impl Into<Op>, operands: &[ValueId], attributes: NamedAttributes) -> Self {
        Self::Other(Box::new(Form {
            op: op.into(),
            operands: operands.to_vec(),
            attributes,
            region: None,
        }))
    }
}

/// The simplest form of an operation that is known well enough.
pub(crate) fn rewrite(op: &Operation, facts: &[Fact]) -> Rewritten {
    let fact = |value: &ValueId| &facts[value.index()];
    if let [result] = op.results.as_slice()
        && !matches!(op.op, Op::Creation(Creation::Constant(_)))
        && op.op.is_pure()
        && let Some(value) = fact(result).literal()
    {
        return Rewritten::other(
            Creation::Constant(Constant { value }),
            &[],
            NamedAttributes::new(),
        );
    }
    if !op.results.iter().all(|value| is_static(&fact(value).ty)) {
        return Rewritten::Kept;
    }
    if let Op::Control(Control::CustomCall(call)) = &op.op {
        return match static_call(op, call, facts) {
            Some(known) => {
                let mut attributes = op.attributes.clone();
                for own in [shape_operands::NAME, dynamic_call::RNG_ALGORITHM] {
                    attributes.remove(own);
                }
                for (name, attribute) in known.attributes {
                    attributes.insert(name, attribute);
                }
                Rewritten::Other(Box::new(Form {
                    op: known.op,
                    operands: op.operands[..known.operands].to_vec(),
                    attributes,
                    region: known.region,
                }))
            }
            None => without_shape_operands(op, call),
        };
    }
    let operands: Vec<&Fact> = op.operands.iter().map(fact).collect();
    if let Op::Shape(Shape::SetDimensionSize(size)) = &op.op {
        return resized(op, size, operands[0], fact(&op.results[0]));
    }
    match static_form(&op.op, &operands) {
        Some((form, kept)) => Rewritten::other(form, &op.operands[..kept], op.attributes.clone()),
        None => Rewritten::Kept,
    }
}

fn is_static(ty: &Type) -> bool {
    match ty {
        Type::Tensor(tensor) => TensorType::is_static(tensor),
        Type::Tuple(items) => items.iter().all(is_static),
        _ => false,
    }
}

/// The operation with attributes, and how many operands it keeps.
fn static_form(op: &Op, operands: &[&Fact]) -> Option<(Op, usize)> {
    let numbers = |index: usize| operands.get(index)?.numbers();
    Some(match op {
        Op::Creation(Creation::DynamicIota(iota)) => (Creation::Iota(iota.clone()).into(), 0),
        Op::Shape(Shape::DynamicBroadcastInDim(op)) => {
            let broadcast_dimensions = op.broadcast_dimensions.clone();
            (
                Shape::BroadcastInDim(BroadcastInDim { broadcast_dimensions }).into(),
                1,
            )
        }
        Op::Shape(Shape::DynamicReshape) => (Shape::Reshape.into(), 1),
        Op::Shape(Shape::DynamicPad) => {
            let pad = Pad {
                edge_padding_low: numbers(2)?,
                edge_padding_high: numbers(3)?,
                interior_padding: numbers(4)?,
            };
            (Shape::Pad(pad.into()).into(), 2)
        }
        Op::Shape(Shape::RealDynamicSlice) => {
            let slice = Slice {
                start_indices: numbers(1)?,
                limit_indices: numbers(2)?,
                strides: numbers(3)?,
            };
            (Shape::Slice(slice.into()).into(), 1)
        }
        Op::Indexing(Indexing::DynamicGather(op)) => {
            let gather = Gather {
                dimension_numbers: op.dimension_numbers.clone(),
                slice_sizes: numbers(2)?,
                indices_are_sorted: op.indices_are_sorted,
            };
            (Indexing::Gather(Box::new(gather)).into(), 2)
        }
        Op::Contraction(Contraction::DynamicConv(op)) => {
            let pairs = numbers(2)?
                .chunks_exact(2)
                .map(|pair| [pair[0], pair[1]])
                .collect();
            let mut convolution = op.clone();
            convolution.padding = Some(Padding(pairs));
            (Contraction::Convolution(convolution).into(), 2)
        }
        _ => return None,
    })
}

/// A dimension that is cut to its size: a slice, or nothing at all.
fn resized(op: &Operation, size: &DimensionSize, operand: &Fact, result: &Fact) -> Rewritten {
    let (Type::Tensor(from), Type::Tensor(to)) = (&operand.ty, &result.ty) else {
        return Rewritten::Kept;
    };
    if from == to {
        return Rewritten::Operand(0);
    }
    let dimension = usize::try_from(size.dimension).unwrap_or(usize::MAX);
    let limits: Option<Vec<i64>> = to
        .dims
        .iter()
        .map(|dim| i64::try_from(dim.as_static()?).ok())
        .collect();
    let others_agree = (0..to.rank()).all(|dim| dim == dimension || from.dims[dim] == to.dims[dim]);
    match limits {
        Some(limit_indices) if from.is_static() && others_agree => {
            let slice = Slice {
                start_indices: vec![0; to.rank()],
                limit_indices,
                strides: vec![1; to.rank()],
            };
            Rewritten::other(
                Shape::Slice(slice.into()),
                &op.operands[..1],
                op.attributes.clone(),
            )
        }
        _ => Rewritten::Kept,
    }
}

/// A custom call whose results are known needs no operands that hold their shapes.
fn without_shape_operands(op: &Operation, call: &CustomCall) -> Rewritten {
    let Ok(Some(positions)) = shape_operands::positions(op) else {
        return Rewritten::Kept;
    };
    if call.call_target_name.as_str() == Some(OPERAND_WRAPPER) && op.operands.len() > 1 {
        return Rewritten::Operand(0);
    }
    let kept = |index: usize| !positions.contains(&index);
    let mut call = call.clone();
    if let Some(Attribute::Array(layouts)) = &call.operand_layouts {
        let layouts = layouts.iter().enumerate().filter(|(index, _)| kept(*index));
        call.operand_layouts = Some(Attribute::Array(
            layouts.map(|(_, layout)| layout.clone()).collect(),
        ));
    }
    for alias in &mut call.output_operand_aliases {
        let before = positions
            .iter()
            .filter(|index| (**index as i64) < alias.operand_index);
        alias.operand_index -= before.count() as i64;
    }
    let operands = op.operands.iter().enumerate();
    let operands = operands.filter(|(index, _)| kept(*index));
    let mut attributes = op.attributes.clone();
    attributes.remove(shape_operands::NAME);
    let form = Form {
        op: Control::CustomCall(Box::new(call)).into(),
        operands: operands.map(|(_, value)| *value).collect(),
        attributes,
        region: None,
    };
    Rewritten::Other(Box::new(form))
}
