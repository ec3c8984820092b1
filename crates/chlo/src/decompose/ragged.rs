//! Products whose left operand has one dimension that is cut into consecutive groups.
//!
//! A loop over the groups keeps where the current one begins. What is not of the group is masked out of both factors or out of
//! the product, so that infinities and not-a-number of one group do not reach another.

use artifact_ir::attribute::DotDimensionNumbers;
use artifact_ir::op::{Contraction, DotGeneral, RaggedDot};
use artifact_ir::types::{ElementType, TensorType, Type};

use super::Refusal;
use super::slices::{fill, put, take};
use crate::graph::{Graph, Size};
use crate::term::Term;

/// `ragged_dot` as the dialect's own passes understand it: what lies behind the last group gives zeros.
pub(super) fn ragged_dot<'g>(
    op: &RaggedDot,
    [lhs, rhs, group_sizes]: [Term<'g>; 3],
    results: &[Type],
) -> Result<Term<'g>, Refusal> {
    let graph = lhs.graph();
    let types = [lhs, rhs, group_sizes].map(|term| graph.tensor(term));
    let [Some(lhs_type), Some(rhs_type), Some(sizes_type)] = types else {
        return Err(Refusal::Form("does not take tensors"));
    };
    let result = results.first().and_then(Type::as_tensor);
    let result = result.ok_or(Refusal::Form("does not give a tensor"))?;
    if [&lhs_type, &rhs_type, result]
        .iter()
        .any(|ty| ty.element.as_plain().is_none())
    {
        return Err(Refusal::Form("has quantized operands"));
    }
    let roles = Roles::new(op, lhs_type.rank(), rhs_type.rank())?;
    let product = Product {
        op,
        ty: (**result).clone(),
        groups: Groups {
            has_prefix: sizes_type.rank() > 1,
            last: sizes_type.rank().saturating_sub(1),
            ragged: roles.ragged,
        },
        roles,
    };
    let group_sizes = as_i64(group_sizes);
    Ok(match product.roles.mode {
        Mode::Kept => product.kept(lhs, rhs, group_sizes),
        Mode::Contracting => product.contracting(lhs, rhs, group_sizes),
        Mode::Batching => product.batching(lhs, rhs, group_sizes),
    })
}

/// As `i64`; sizes that it does not hold are larger than any dimension.
fn as_i64(sizes: Term<'_>) -> Term<'_> {
    if sizes.element() == ElementType::UI64 {
        let largest = sizes.splat((1_u64 << 62) as f64);
        return sizes.min(largest).convert(ElementType::I64);
    }
    sizes.convert(ElementType::I64)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Kept,
    Contracting,
    Batching,
}

/// What each dimension is for.
struct Roles {
    mode: Mode,
    ragged: usize,
    /// Left dimensions for whose positions group sizes may differ.
    prefix: Vec<usize>,
    batching: [Vec<usize>; 2],
    contracting: [Vec<usize>; 2],
    lhs_free: Vec<usize>,
    group: Option<usize>,
}

impl Roles {
    fn new(op: &RaggedDot, lhs_rank: usize, rhs_rank: usize) -> Result<Self, Refusal> {
        let numbers = &op.ragged_dot_dimension_numbers;
        let list = |dims: &[i64], rank: usize| -> Result<Vec<usize>, Refusal> {
            let valid = dims
                .iter()
                .map(|dim| usize::try_from(*dim).ok().filter(|dim| *dim < rank));
            valid
                .collect::<Option<_>>()
                .ok_or(Refusal::Form("names a dimension that its operands do not have"))
        };
        let dot = &numbers.dot;
        let batching = [
            list(&dot.lhs_batching_dimensions, lhs_rank)?,
            list(&dot.rhs_batching_dimensions, rhs_rank)?,
        ];
        let contracting = [
            list(&dot.lhs_contracting_dimensions, lhs_rank)?,
            list(&dot.rhs_contracting_dimensions, rhs_rank)?,
        ];
        let [ragged] = list(&numbers.lhs_ragged_dimensions, lhs_rank)?[..] else {
            return Err(Refusal::Form("does not have one ragged dimension"));
        };
        let group = list(&numbers.rhs_group_dimensions, rhs_rank)?.first().copied();
        let lhs_free: Vec<usize> = (0..lhs_rank)
            .filter(|dim| !batching[0].contains(dim) && !contracting[0].contains(dim))
            .collect();
        let before = |dims: &[usize]| {
            dims.iter()
                .copied()
                .take_while(|dim| *dim != ragged)
                .collect::<Vec<_>>()
        };
        let (mode, prefix) = if batching[0].contains(&ragged) {
            (Mode::Batching, before(&batching[0]))
        } else if contracting[0].contains(&ragged) {
            (
                Mode::Contracting,
                [batching[0].clone(), before(&contracting[0])].concat(),
            )
        } else {
            (Mode::Kept, [batching[0].clone(), before(&lhs_free)].concat())
        };
        Ok(Self {
            mode,
            ragged,
            prefix,
            batching,
            contracting,
            lhs_free,
            group,
        })
    }

    /// The dimension of a product without groups in which a kept or batching dimension of the left operand is.
    fn in_product(&self, dim: usize) -> usize {
        let order = self.batching[0].iter().chain(&self.lhs_free);
        order.take_while(|other| **other != dim).count()
    }

    /// The dimension of the right operand that goes with one of the left operand.
    fn in_rhs(&self, dim: usize) -> usize {
        let left = self.batching[0].iter().chain(&self.contracting[0]);
        let mut right = self.batching[1].iter().chain(&self.contracting[1]);
        let position = left.take_while(|other| **other != dim).count();
        right.nth(position).copied().unwrap_or(0)
    }
}

/// How the vector, or the vectors, of group sizes are read.
#[derive(Clone, Copy)]
struct Groups {
    has_prefix: bool,
    last: usize,
    ragged: usize,
}

impl Groups {
    /// Where the first group begins: 0 for every prefix.
    fn start<'g>(self, graph: &'g Graph, group_sizes: Term<'g>) -> Term<'g> {
        let zero = graph.scalar(ElementType::I64, 0);
        let Some(ty) = graph.tensor(group_sizes) else {
            return zero;
        };
        let sizes = graph.sizes(group_sizes);
        let ty = TensorType::new(&ty.dims[..self.last], ElementType::I64);
        fill(graph, zero, &sizes[..self.last], &ty)
    }

    fn count<'g>(self, graph: &'g Graph, group_sizes: Term<'g>) -> Term<'g> {
        let size = graph.sizes(group_sizes).get(self.last).copied();
        graph.size_scalar(size.unwrap_or(Size::Static(0)))
    }

    /// Where a group that begins at `start` ends.
    fn end<'g>(
        self,
        graph: &'g Graph,
        sizes: Term<'g>,
        lhs: Term<'g>,
        group: Term<'g>,
        start: Term<'g>,
    ) -> Term<'g> {
        let size = take(graph, sizes, self.last, group);
        let Some(ty) = graph.tensor(size) else {
            return size;
        };
        let length = graph.sizes(lhs).get(self.ragged).copied();
        let length = graph.size_scalar(length.unwrap_or(Size::Static(0)));
        let length = fill(graph, length, &graph.sizes(size), &ty);
        let zero = graph.splat(size, ElementType::I64, 0.0);
        (start + size.max(zero).min(length)).min(length)
    }
}

/// Where in a tensor the ragged dimension lies, and the dimensions before it that tell groups apart.
struct Place {
    ragged: usize,
    prefix: Vec<usize>,
}

impl Place {
    /// Whether each element of a tensor is of the positions from `start` up to `end`.
    fn holds<'g>(&self, graph: &'g Graph, target: Term<'g>, [start, end]: [Term<'g>; 2]) -> Term<'g> {
        let Some(ty) = graph.tensor(target) else {
            return target;
        };
        let ty = ty.with_element(ElementType::I64);
        let sizes = graph.sizes(target);
        let position = graph.iota(self.ragged, &sizes, ty.clone());
        let [start, end] = [start, end].map(|bound| graph.broadcast(bound, &self.prefix, &sizes, &ty));
        position.ge(start) & position.lt(end)
    }
}

struct Product<'a> {
    op: &'a RaggedDot,
    ty: TensorType,
    roles: Roles,
    groups: Groups,
}

impl Product<'_> {
    fn place(&self, of: impl Fn(usize) -> usize) -> Place {
        let prefix = if self.groups.has_prefix {
            self.roles.prefix.iter().map(|dim| of(*dim)).collect()
        } else {
            Vec::new()
        };
        Place {
            ragged: of(self.roles.ragged),
            prefix,
        }
    }

    fn dot<'g>(&self, graph: &'g Graph, operands: [Term<'g>; 2], ty: TensorType) -> Term<'g> {
        let mut numbers: DotDimensionNumbers = self.op.ragged_dot_dimension_numbers.dot.clone();
        if let Some(group) = self.roles.group {
            // The right operand has lost its group dimension.
            let lists = [
                &mut numbers.rhs_batching_dimensions,
                &mut numbers.rhs_contracting_dimensions,
            ];
            for dim in lists.into_iter().flatten() {
                *dim -= i64::from(*dim > group as i64);
            }
        }
        let dot = DotGeneral {
            dot_dimension_numbers: numbers,
            precision_config: self.op.precision_config.clone(),
            algorithm: None,
        };
        graph.typed(Contraction::DotGeneral(Box::new(dot)), &operands, ty.into())
    }

    fn zero<'g>(&self, graph: &'g Graph, sizes: &[Size<'g>]) -> Term<'g> {
        let element = self.ty.element.storage();
        let bytes = vec![0; element.bytes()];
        let scalar = graph.scalar_of_bytes(element, &bytes);
        fill(graph, scalar, sizes, &self.ty)
    }

    /// The sizes of the result.
    fn sizes<'g>(
        &self,
        graph: &'g Graph,
        lhs: Term<'g>,
        rhs: Term<'g>,
        groups: Option<Size<'g>>,
    ) -> Vec<Size<'g>> {
        let (left, right) = (graph.sizes(lhs), graph.sizes(rhs));
        let kept_right = (0..right.len()).filter(|dim| {
            !self.roles.batching[1].contains(dim)
                && !self.roles.contracting[1].contains(dim)
                && self.roles.group != Some(*dim)
        });
        let order = self.roles.batching[0].iter().chain(&self.roles.lhs_free);
        let left = order.filter_map(|dim| left.get(*dim).copied());
        let right = kept_right.filter_map(|dim| right.get(dim).copied());
        let all = groups.into_iter().chain(left).chain(right);
        // A size that the result's type tells is that number.
        all.zip(&self.ty.dims)
            .map(|(size, dim)| dim.as_static().map_or(size, Size::Static))
            .collect()
    }

    /// Each group has its own slice of the right operand.
    fn kept<'g>(&self, lhs: Term<'g>, rhs: Term<'g>, group_sizes: Term<'g>) -> Term<'g> {
        let graph = lhs.graph();
        let start = self.groups.start(graph, group_sizes);
        let result = self.zero(graph, &self.sizes(graph, lhs, rhs, None));
        if self.has_no_groups(graph, group_sizes) {
            return result;
        }
        let count = self.groups.count(graph, group_sizes);
        let place = self.place(|dim| self.roles.in_product(dim));
        let results = graph.repeat(count, &[start, result], |region, group, state| {
            let [start, result] = [state[0], state[1]];
            let [lhs, rhs, sizes] = [lhs, rhs, group_sizes].map(|term| Term::new(region, term.id()));
            let end = self.groups.end(region, sizes, lhs, group, start);
            let own = take(region, rhs, self.roles.group.unwrap_or(0), group);
            let product = self.dot(region, [lhs, own], self.ty.clone());
            let is_own = place.holds(region, result, [start, end]);
            vec![end, product.when(is_own, result)]
        });
        results[1]
    }

    /// Each group has its own slice of the result, in front.
    fn contracting<'g>(&self, lhs: Term<'g>, rhs: Term<'g>, group_sizes: Term<'g>) -> Term<'g> {
        let graph = lhs.graph();
        let start = self.groups.start(graph, group_sizes);
        let groups = graph.sizes(group_sizes).get(self.groups.last).copied();
        let result = self.zero(graph, &self.sizes(graph, lhs, rhs, groups));
        if self.has_no_groups(graph, group_sizes) {
            return result;
        }
        let count = self.groups.count(graph, group_sizes);
        let slice = TensorType::new(self.ty.dims.get(1..).unwrap_or_default(), self.ty.element.clone());
        let places = [self.place(|dim| dim), self.place(|dim| self.roles.in_rhs(dim))];
        let results = graph.repeat(count, &[start, result], |region, group, state| {
            let [start, result] = [state[0], state[1]];
            let [lhs, rhs, sizes] = [lhs, rhs, group_sizes].map(|term| Term::new(region, term.id()));
            let end = self.groups.end(region, sizes, lhs, group, start);
            let own = [(lhs, &places[0]), (rhs, &places[1])].map(|(operand, place)| {
                let zero = vec![0; operand.element().bytes()];
                let zero = region.splat_bytes(operand, &operand.element().into(), &zero);
                operand.when(place.holds(region, operand, [start, end]), zero)
            });
            let product = self.dot(region, own, slice.clone());
            vec![end, put(region, result, product, 0, group)]
        });
        results[1]
    }

    /// The groups only tell which batches take part.
    fn batching<'g>(&self, lhs: Term<'g>, rhs: Term<'g>, group_sizes: Term<'g>) -> Term<'g> {
        let graph = lhs.graph();
        let start = self.groups.start(graph, group_sizes);
        let zero = self.zero(graph, &self.sizes(graph, lhs, rhs, None));
        if self.has_no_groups(graph, group_sizes) {
            return zero;
        }
        let count = self.groups.count(graph, group_sizes);
        let ends = graph.repeat(count, &[start], |region, group, state| {
            let [lhs, sizes] = [lhs, group_sizes].map(|term| Term::new(region, term.id()));
            vec![self.groups.end(region, sizes, lhs, group, state[0])]
        });
        let product = self.dot(graph, [lhs, rhs], self.ty.clone());
        let place = self.place(|dim| self.roles.in_product(dim));
        product.when(place.holds(graph, product, [start, ends[0]]), zero)
    }

    /// Whether it is known that there is no group, whose slices could not be taken.
    fn has_no_groups(&self, graph: &Graph, group_sizes: Term<'_>) -> bool {
        let ty = graph.tensor(group_sizes);
        ty.is_some_and(|ty| ty.dims.last().and_then(artifact_ir::types::Dim::as_static) == Some(0))
    }
}
