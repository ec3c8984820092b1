//! Operations with implicit broadcasting.

use artifact_ir::inference::{OpContext, Results, infer};
use artifact_ir::op::{Binary, BroadcastBinary, Chlo, Compare, Elementwise, Op};
use artifact_ir::types::{Dim, TensorType, Type};

use super::{Refusal, real_binary};
use crate::graph::{Graph, Size};
use crate::term::Term;

/// Brings the operands to one shape, and does without broadcasting what the operation does.
pub(super) fn broadcast<'g>(
    op: &Chlo,
    graph: &'g Graph,
    operands: &[Term<'g>],
    results: &[Type],
) -> Result<Term<'g>, Refusal> {
    let dimensions = match op {
        Chlo::BroadcastSelect => None,
        Chlo::BroadcastCompare(op) => op.broadcast_dimensions.as_deref(),
        other => binary_attributes(other)
            .ok_or(Refusal::Form("has no decomposition"))?
            .broadcast_dimensions
            .as_deref(),
    };
    let shape = result_type(op, graph, operands)?;
    let operands = to_one_shape(graph, operands, dimensions, &shape);
    let declared = results.first().and_then(Type::as_tensor);
    let element = declared.map_or_else(|| shape.element.clone(), |ty| ty.element.clone());
    let ty = Type::from(shape.with_element(element));
    match (op, operands.as_slice()) {
        (Chlo::BroadcastSelect, all) => Ok(graph.typed(Elementwise::Select, all, ty)),
        (Chlo::BroadcastCompare(op), all) => {
            let compare = Compare {
                comparison_direction: op.comparison_direction,
                compare_type: op.compare_type,
            };
            Ok(graph.typed(Elementwise::Compare(compare), all, ty))
        }
        (Chlo::BroadcastComplex(_), all) => Ok(graph.typed(Elementwise::Complex, all, ty)),
        (other, [lhs, rhs]) => match plain(other) {
            Some(binary) => Ok(graph.typed(binary, &[*lhs, *rhs], ty)),
            None => real_binary(other, *lhs, *rhs),
        },
        _ => Err(Refusal::Form("does not take two operands")),
    }
}

/// The type that the rules of the operation give its result.
fn result_type(op: &Chlo, graph: &Graph, operands: &[Term<'_>]) -> Result<TensorType, Refusal> {
    let types: Vec<Type> = operands
        .iter()
        .filter_map(|operand| graph.tensor(*operand).map(Type::Tensor))
        .collect();
    let context = OpContext {
        operands: &types.iter().collect::<Vec<_>>(),
        constants: &[],
        results: &[],
        regions: &[],
        module: None,
    };
    let inferred = match infer(&Op::from(op.clone()), &context).map_err(Refusal::Rule)? {
        Results::Inferred(types) => types,
        Results::Declared => Vec::new(),
    };
    let tensor = inferred.first().and_then(Type::as_tensor);
    tensor
        .map(|ty| (**ty).clone())
        .ok_or(Refusal::Form("does not give a tensor"))
}

/// All operands in the shape of `result`.
fn to_one_shape<'g>(
    graph: &'g Graph,
    operands: &[Term<'g>],
    dimensions: Option<&[i64]>,
    result: &TensorType,
) -> Vec<Term<'g>> {
    let rank = result.rank();
    let targets: Vec<Vec<usize>> = operands
        .iter()
        .map(|operand| {
            let own = graph.tensor(*operand).map_or(0, |ty| ty.rank());
            match dimensions {
                // The attribute speaks of the operand of lower rank.
                Some(dimensions) if own < rank => dimensions.iter().map(|dim| *dim as usize).collect(),
                _ => (rank.saturating_sub(own)..rank).collect(),
            }
        })
        .collect();
    let is_in_place = |operand: &Term<'g>| {
        graph
            .tensor(*operand)
            .is_some_and(|ty| ty.dims == result.dims && ty.dims.iter().all(|dim| *dim != Dim::Unknown))
    };
    if operands.iter().all(is_in_place) {
        return operands.to_vec();
    }
    let sizes = result_sizes(graph, operands, &targets, result);
    let expand = |(operand, targets): (&Term<'g>, &Vec<usize>)| {
        if is_in_place(operand) {
            *operand
        } else {
            graph.broadcast(*operand, targets, &sizes, result)
        }
    };
    operands.iter().zip(&targets).map(expand).collect()
}

/// The size of each dimension of the result: that of the first operand which is not 1 there.
fn result_sizes<'g>(
    graph: &'g Graph,
    operands: &[Term<'g>],
    targets: &[Vec<usize>],
    result: &TensorType,
) -> Vec<Size<'g>> {
    let own: Vec<Vec<Size<'g>>> = operands.iter().map(|operand| graph.sizes(*operand)).collect();
    let size = |(dimension, dim): (usize, &Dim)| {
        if let Dim::Static(size) = dim {
            return Size::Static(*size);
        }
        let candidates = own.iter().zip(targets).filter_map(|(sizes, targets)| {
            let position = targets.iter().position(|target| *target == dimension)?;
            sizes.get(position).copied()
        });
        let computed = candidates.filter_map(|size| match size {
            Size::Computed(term) => Some(term),
            Size::Static(_) => None,
        });
        let joined =
            computed.reduce(|size, next| next.when(size.eq(graph.size_scalar(Size::Static(1))), size));
        joined.map_or(Size::Static(1), Size::Computed)
    };
    result.dims.iter().enumerate().map(size).collect()
}

const fn binary_attributes(op: &Chlo) -> Option<&BroadcastBinary> {
    match op {
        Chlo::BroadcastAdd(attributes)
        | Chlo::BroadcastAnd(attributes)
        | Chlo::BroadcastAtan2(attributes)
        | Chlo::BroadcastComplex(attributes)
        | Chlo::BroadcastDivide(attributes)
        | Chlo::BroadcastMaximum(attributes)
        | Chlo::BroadcastMinimum(attributes)
        | Chlo::BroadcastMultiply(attributes)
        | Chlo::BroadcastNextAfter(attributes)
        | Chlo::BroadcastOr(attributes)
        | Chlo::BroadcastPolygamma(attributes)
        | Chlo::BroadcastPower(attributes)
        | Chlo::BroadcastRemainder(attributes)
        | Chlo::BroadcastShiftLeft(attributes)
        | Chlo::BroadcastShiftRightArithmetic(attributes)
        | Chlo::BroadcastShiftRightLogical(attributes)
        | Chlo::BroadcastSubtract(attributes)
        | Chlo::BroadcastXor(attributes)
        | Chlo::BroadcastZeta(attributes) => Some(attributes),
        _ => None,
    }
}

/// The operation without broadcasting, where StableHLO has it.
const fn plain(op: &Chlo) -> Option<Binary> {
    Some(match op {
        Chlo::BroadcastAdd(_) => Binary::Add,
        Chlo::BroadcastAnd(_) => Binary::And,
        Chlo::BroadcastAtan2(_) => Binary::Atan2,
        Chlo::BroadcastDivide(_) => Binary::Divide,
        Chlo::BroadcastMaximum(_) => Binary::Maximum,
        Chlo::BroadcastMinimum(_) => Binary::Minimum,
        Chlo::BroadcastMultiply(_) => Binary::Multiply,
        Chlo::BroadcastOr(_) => Binary::Or,
        Chlo::BroadcastPower(_) => Binary::Power,
        Chlo::BroadcastRemainder(_) => Binary::Remainder,
        Chlo::BroadcastShiftLeft(_) => Binary::ShiftLeft,
        Chlo::BroadcastShiftRightArithmetic(_) => Binary::ShiftRightArithmetic,
        Chlo::BroadcastShiftRightLogical(_) => Binary::ShiftRightLogical,
        Chlo::BroadcastSubtract(_) => Binary::Subtract,
        Chlo::BroadcastXor(_) => Binary::Xor,
        _ => return None,
    })
}
