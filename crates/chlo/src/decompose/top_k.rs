//! The largest elements: a sort together with the positions.

use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::builder::RegionBuilder;
use artifact_ir::op::{Reduction, Shape, Slice, Sort, TopK};
use artifact_ir::types::{Dim, ElementClass, ElementType, TensorType, Type};

use super::Refusal;
use crate::graph::{Graph, Size, within};
use crate::term::Term;

/// The `k` largest elements of each row along the last dimension, and their positions. Floats are in total order; equal elements
/// keep their order, whether that is asked for or not.
pub(super) fn top_k<'g>(op: &TopK, operand: Term<'g>) -> Result<Vec<Term<'g>>, Refusal> {
    let graph = operand.graph();
    let (Some(ty), Some(k)) = (graph.tensor(operand), u64::try_from(op.k).ok()) else {
        return Err(Refusal::Form("does not take a tensor and a size"));
    };
    let Some(last) = ty.rank().checked_sub(1) else {
        return Err(Refusal::Form("takes a scalar"));
    };
    let compare_type = match ty.element.as_plain().map(ElementType::class) {
        Some(ElementClass::Float) => Some(ComparisonType::TotalOrder),
        Some(ElementClass::Complex) => return Err(Refusal::Element(ty.element.storage())),
        _ => None,
    };
    let sizes = graph.sizes(operand);
    let positions_type = TensorType::new(ty.dims.clone(), ElementType::I32);
    let positions = graph.iota(last, &sizes, positions_type);
    let sorted = sort(graph, [operand, positions], last, compare_type)?;
    Ok(sorted.map(|all| first(graph, all, &sizes, k)).to_vec())
}

/// Both tensors in descending order of the first one.
fn sort<'g>(
    graph: &'g Graph,
    operands: [Term<'g>; 2],
    dimension: usize,
    compare_type: Option<ComparisonType>,
) -> Result<[Term<'g>; 2], Refusal> {
    let scalars = operands.iter().filter_map(|operand| {
        let ty = graph.tensor(*operand)?;
        Some(Type::from(TensorType::new([], ty.element.clone())))
    });
    let arguments: Vec<Type> = scalars.flat_map(|ty| [ty.clone(), ty]).collect();
    let comparator = RegionBuilder::new(arguments, |builder, arguments| {
        let pair = arguments.first().copied().zip(arguments.get(1).copied());
        within(builder, |region| {
            let pair = pair.map(|(a, b)| [region.term(a), region.term(b)]);
            pair.map(|pair| region.compare(ComparisonDirection::Gt, compare_type, pair))
                .into_iter()
                .collect()
        })
    });
    let sort = Reduction::Sort(Sort {
        dimension: dimension as i64,
        is_stable: true,
    });
    let results = graph.add(sort.into(), &operands, None, vec![comparator]);
    let term = |index: usize| Term::new(graph, results.get(index).copied());
    Ok([term(0), term(1)])
}

/// The first `k` positions of the last dimension.
fn first<'g>(graph: &'g Graph, all: Term<'g>, sizes: &[Size<'g>], k: u64) -> Term<'g> {
    let Some(ty) = graph.tensor(all) else {
        return all;
    };
    let rank = ty.rank();
    if let Some(shape) = ty.static_shape() {
        let mut limit_indices: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        if let Some(last) = limit_indices.last_mut() {
            *last = k as i64;
        }
        let slice = Slice {
            start_indices: vec![0; rank],
            limit_indices,
            strides: vec![1; rank],
        };
        return graph.op(Shape::Slice(slice.into()), &[all]);
    }
    let mut sliced = (*ty).clone();
    let mut limits = sizes.to_vec();
    if let (Some(dim), Some(limit)) = (sliced.dims.last_mut(), limits.last_mut()) {
        (*dim, *limit) = (Dim::Static(k), Size::Static(k));
    }
    let operands = [
        all,
        graph.vector(&vec![0; rank]),
        graph.shape_vector(&limits),
        graph.vector(&vec![1; rank]),
    ];
    graph.typed(Shape::RealDynamicSlice, &operands, sliced.into())
}
