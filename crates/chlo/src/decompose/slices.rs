//! Slices of a tensor at a computed position along one dimension.

use artifact_ir::op::{DynamicSlice, Shape};
use artifact_ir::types::{Dim, ElementType, TensorType};

use crate::graph::{Graph, Size};
use crate::term::Term;

/// The slice at a position, an `i64` scalar, without the dimension.
pub(super) fn take<'g>(graph: &'g Graph, tensor: Term<'g>, dimension: usize, at: Term<'g>) -> Term<'g> {
    let Some(ty) = graph.tensor(tensor).filter(|ty| dimension < ty.rank()) else {
        return Term::new(graph, None);
    };
    let mut sizes = graph.sizes(tensor);
    let mut dims = ty.dims.to_vec();
    let slice = if let Some(mut shape) = ty.static_shape() {
        shape[dimension] = 1;
        let slice_sizes = shape.iter().map(|size| *size as i64).collect();
        let mut operands = vec![tensor];
        operands.extend(starts(graph, ty.rank(), dimension, at));
        graph.op(Shape::DynamicSlice(DynamicSlice { slice_sizes }), &operands)
    } else {
        let mut from = vec![Size::Static(0); ty.rank()];
        from[dimension] = Size::Computed(at);
        let mut to = sizes.clone();
        to[dimension] = Size::Computed(at + 1.0);
        let mut sliced = (*ty).clone();
        sliced.dims[dimension] = Dim::Static(1);
        let strides = graph.vector(&vec![1; ty.rank()]);
        let operands = [
            tensor,
            graph.shape_vector(&from),
            graph.shape_vector(&to),
            strides,
        ];
        graph.typed(Shape::RealDynamicSlice, &operands, sliced.into())
    };
    sizes.remove(dimension);
    dims.remove(dimension);
    graph.reshape(slice, &sizes, &dims)
}

/// The tensor with the slice at a position replaced.
pub(super) fn put<'g>(
    graph: &'g Graph,
    tensor: Term<'g>,
    slice: Term<'g>,
    dimension: usize,
    at: Term<'g>,
) -> Term<'g> {
    let types = graph.tensor(tensor).zip(graph.tensor(slice));
    let Some((ty, slice_type)) = types.filter(|(_, slice)| dimension <= slice.rank()) else {
        return Term::new(graph, None);
    };
    let mut sizes = graph.sizes(slice);
    let mut dims = slice_type.dims.to_vec();
    sizes.insert(dimension, Size::Static(1));
    dims.insert(dimension, Dim::Static(1));
    let update = graph.reshape(slice, &sizes, &dims);
    let mut operands = vec![tensor, update];
    operands.extend(starts(graph, ty.rank(), dimension, at));
    graph.op(Shape::DynamicUpdateSlice, &operands)
}

fn starts<'g>(
    graph: &'g Graph,
    rank: usize,
    dimension: usize,
    at: Term<'g>,
) -> impl Iterator<Item = Term<'g>> {
    let zero = graph.scalar(ElementType::I64, 0);
    (0..rank).map(move |index| if index == dimension { at } else { zero })
}

/// A tensor of these sizes whose every element is a scalar.
pub(super) fn fill<'g>(graph: &'g Graph, scalar: Term<'g>, sizes: &[Size<'g>], ty: &TensorType) -> Term<'g> {
    if ty.rank() == 0 {
        return scalar;
    }
    graph.broadcast(scalar, &[], sizes, ty)
}
