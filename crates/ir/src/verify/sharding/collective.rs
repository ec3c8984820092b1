//! Whether a collective makes the sharding that it says out of the sharding of its operand.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::attributes::{Place, SHARDING};
use super::{MeshAxes, Shown, Span, Used, mesh_of};
use crate::attribute::sdy::{
    AllToAllParamList, AxisRefList, ListOfAxisRefLists, Mesh, ReductionOp, SdyAttribute, TensorSharding,
};
use crate::attribute::{Attribute, AxisRef};
use crate::module::{Body, Definition, Function, Operation, ValueId};
use crate::op::{Control, Op, Sharding};
use crate::verify::context::{OpError, OpResult, ensure};

/// The values of a function, for what they say about their sharding.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    /// How often each value is used, counted when that is asked for the first time.
    pub(crate) uses: &'a OnceCell<HashMap<ValueId, usize>>,
}

/// What is known of the sharding of a value.
enum Known<'a> {
    /// It is this one.
    Sharding(&'a TensorSharding),
    /// It has none.
    None,
    /// It follows from those of other values, which propagation has not joined yet.
    Open,
}

impl<'a> Values<'a> {
    fn uses(self) -> &'a HashMap<ValueId, usize> {
        self.uses.get_or_init(|| {
            let mut uses = HashMap::new();
            for operand in self
                .body
                .ops
                .iter()
                .flat_map(|(_, operation)| &operation.operands)
            {
                *uses.entry(*operand).or_default() += 1;
            }
            uses
        })
    }

    /// What stands before any barriers that made a value.
    fn before_barriers(self, mut value: ValueId) -> ValueId {
        // Each step leads to an earlier operation in a body that is well-formed; one that is not has so many at most.
        for _ in 0..self.body.ops.len() {
            let definition = self.body.values.get(value).map(|value| value.definition);
            let Some(Definition::Result { op, .. }) = definition else {
                break;
            };
            match self.body.ops.get(op) {
                Some(operation) if matches!(operation.op, Op::Sharding(Sharding::PropagationBarrier(_))) => {
                    let Some(operand) = operation.operands.first() else {
                        break;
                    };
                    value = *operand;
                }
                _ => break,
            }
        }
        value
    }

    fn sharding(self, value: ValueId) -> Known<'a> {
        let Some(found) = self.body.values.get(value) else {
            return Known::Open;
        };
        match found.definition {
            Definition::Argument { block, index } if self.body.entry_block() == Some(block) => {
                let parameter = self.function.arguments.get(index as usize);
                match parameter.and_then(|parameter| parameter.attributes.get(SHARDING)) {
                    Some(Attribute::Sdy(SdyAttribute::TensorSharding(sharding))) => Known::Sharding(sharding),
                    _ => Known::None,
                }
            }
            Definition::Argument { .. } => Known::Open,
            Definition::Result { op, index } => match self.body.ops.get(op) {
                Some(operation) => of_result(operation, index as usize),
                None => Known::Open,
            },
        }
    }
}

fn of_result(operation: &Operation, index: usize) -> Known<'_> {
    let own = match &operation.op {
        Op::Sharding(Sharding::ManualComputation(op)) => op.out_shardings.0.get(index),
        Op::Sharding(Sharding::NamedComputation(op)) => op
            .out_shardings
            .as_ref()
            .and_then(|shardings| shardings.0.get(index)),
        Op::Sharding(op) => op.out_sharding(),
        _ => None,
    };
    let attached = match operation.attributes.get(SHARDING) {
        Some(Attribute::Sdy(SdyAttribute::TensorShardingPerValue(shardings))) => shardings.0.get(index),
        _ => None,
    };
    match own.or(attached) {
        Some(sharding) => Known::Sharding(sharding),
        None if operation.regions.is_empty() => Known::None,
        None => Known::Open,
    }
}

/// Both sides of a collective, and the mesh of both.
struct Sides<'a> {
    axes: MeshAxes<'a>,
    operand: &'a TensorSharding,
    result: &'a TensorSharding,
}

/// Checks a collective, or another operation of the dialect that has an opinion on its operand.
pub(super) fn check(op: &Sharding, operation: &Operation, place: &Place<'_>) -> OpResult<()> {
    let needs_sharding = match op {
        Sharding::AllGather(_)
        | Sharding::AllToAll(_)
        | Sharding::CollectivePermute(_)
        | Sharding::ReplicatedToUnreduced(_)
        | Sharding::ShardedToUnreduced(_) => true,
        Sharding::AllReduce(_) | Sharding::AllSlice(_) | Sharding::ReduceScatter(_) => false,
        Sharding::Reshard(_) | Sharding::ShardingConstraint(_) => {
            return check_transition_from_source(op, operation, place);
        }
        Sharding::DataFlowEdge(_) | Sharding::FuncDataFlowEdge => {
            return check_edge(op, operation, place.values);
        }
        Sharding::Constant(_)
        | Sharding::ManualComputation(_)
        | Sharding::NamedComputation(_)
        | Sharding::PropagationBarrier(_)
        | Sharding::Return
        | Sharding::ShardingGroup(_) => return Ok(()),
    };
    let (Some(result), Some(operand)) = (op.out_sharding(), operation.operands.first()) else {
        return Ok(());
    };
    let Some(mesh) = mesh_of(&result.mesh, place.module)? else {
        return Ok(());
    };
    let rank = result.dim_shardings.len();
    let replicated;
    let operand = match place.values.sharding(*operand) {
        Known::Open => return Ok(()),
        Known::Sharding(sharding) => sharding,
        Known::None => {
            ensure!(!needs_sharding, "collective on operand without sharding");
            replicated = TensorSharding::replicated(result.mesh.clone(), rank);
            &replicated
        }
    };
    if let Some(operand_mesh) = mesh_of(&operand.mesh, place.module)? {
        check_meshes(op, [operand, result], [operand_mesh, mesh])?;
    }
    ensure!(
        operand.dim_shardings.len() == rank,
        "result sharding has rank {rank} but operand sharding has rank {}",
        operand.dim_shardings.len()
    );
    let sides = Sides {
        axes: MeshAxes::of(mesh)?,
        operand,
        result,
    };
    sides.check(op)
}

/// A new sharding may add axes to a sum, and may reduce any.
fn check_transition_from_source(op: &Sharding, operation: &Operation, place: &Place<'_>) -> OpResult<()> {
    let (Some(result), Some(operand)) = (op.out_sharding(), operation.operands.first()) else {
        return Ok(());
    };
    let Known::Sharding(operand) = place.values.sharding(place.values.before_barriers(*operand)) else {
        return Ok(());
    };
    let meshes = [&operand.mesh, &result.mesh].map(|mesh| mesh_of(mesh, place.module));
    let [Ok(Some(mesh)), Ok(Some(other))] = meshes else {
        return Ok(());
    };
    if mesh != other {
        return Ok(());
    }
    let sides = Sides {
        axes: MeshAxes::of(mesh)?,
        operand,
        result,
    };
    sides.unreduced(Some(ReductionOp::Sum), operand.reduction_op)
}

/// An edge has its value for itself, which another dialect or a named computation makes.
fn check_edge(op: &Sharding, operation: &Operation, values: Values<'_>) -> OpResult<()> {
    let Some(operand) = operation.operands.first() else {
        return Ok(());
    };
    let uses = values.uses();
    ensure!(
        uses.get(operand).is_some_and(|uses| *uses == 1),
        "expected input to have a single user"
    );
    let Some(value) = values.body.values.get(*operand) else {
        return Ok(());
    };
    let owner = match value.definition {
        Definition::Result { op, .. } => values.body.ops.get(op).map(|operation| &operation.op),
        Definition::Argument { .. } => None,
    };
    if matches!(op, Sharding::FuncDataFlowEdge) {
        let fits = match value.definition {
            Definition::Argument { block, .. } => values.body.entry_block() == Some(block),
            Definition::Result { .. } => matches!(owner, Some(Op::Control(Control::Call(_)))),
        };
        ensure!(
            fits,
            "expected operand to be an argument of the function or a result of a call"
        );
        return Ok(());
    }
    let own = matches!(owner, Some(Op::Sharding(op)) if !matches!(op, Sharding::ManualComputation(_) | Sharding::NamedComputation(_)));
    ensure!(
        !own,
        "expected input to not be defined by an sdy op other than a computation"
    );
    Ok(())
}

fn check_meshes(op: &Sharding, sides: [&TensorSharding; 2], meshes: [&Mesh; 2]) -> OpResult<()> {
    let [operand, result] = meshes;
    if matches!(op, Sharding::CollectivePermute(_)) {
        ensure!(
            result.axes == operand.axes,
            "result mesh has different axes than operand mesh"
        );
        ensure!(
            sides[0].mesh == sides[1].mesh || result.device_ids != operand.device_ids,
            "result mesh name is different but same device ids as operand"
        );
    } else {
        ensure!(result == operand, "result mesh does not match operand mesh");
    }
    Ok(())
}

impl Sides<'_> {
    fn check(&self, op: &Sharding) -> OpResult<()> {
        match op {
            Sharding::AllGather(op) => self.gathered(&op.gathering_axes, "gathering"),
            Sharding::AllSlice(op) => self.sliced(&op.slicing_axes),
            Sharding::ReduceScatter(op) => {
                self.unreduced(None, op.reduction_op)?;
                self.sliced(&op.reduce_scatter_axes)
            }
            Sharding::AllToAll(op) => self.exchanged(&op.params),
            Sharding::CollectivePermute(_) => self.permuted(),
            Sharding::AllReduce(op) => {
                self.reduced(&op.reduction_axes)?;
                self.unreduced(None, op.reduction_op)
            }
            Sharding::ShardedToUnreduced(op) => {
                self.is_sum()?;
                self.gathered(&op.axes, "shard-to-unreduce")?;
                let moved = op.axes.0.iter().flat_map(|list| &list.0);
                self.became_unreduced(moved, "sharded_to_unreduced_axes")
            }
            Sharding::ReplicatedToUnreduced(op) => self.copies_became_parts(&op.axes),
            _ => Ok(()),
        }
    }

    fn dim(&self, sharding: &TensorSharding, dim: usize) -> OpResult<Vec<Span>> {
        let axes = sharding.dim_shardings.get(dim).map(|dim| dim.axes.as_slice());
        self.axes.spans(axes.unwrap_or_default())
    }

    fn expect(&self, dim: usize, expected: &[Span]) -> OpResult<()> {
        ensure!(
            self.dim(self.result, dim)? == expected,
            "result sharding doesn't match expected sharding on dimension {dim}"
        );
        Ok(())
    }

    /// Checks the axes of each dimension: as many lists as dimensions, no axis twice.
    fn lists(&self, lists: &ListOfAxisRefLists) -> OpResult<Vec<Vec<Span>>> {
        let mut used = Used::default();
        let spans = lists.0.iter().map(|list| used.add(&self.axes, &list.0));
        let spans = spans.collect::<OpResult<Vec<_>>>()?;
        let rank = self.result.dim_shardings.len();
        ensure!(
            spans.len() == rank,
            "result sharding has rank {rank} but collective axes has rank {}",
            spans.len()
        );
        Ok(spans)
    }

    fn gathered(&self, lists: &ListOfAxisRefLists, what: &str) -> OpResult<()> {
        for (dim, axes) in self.lists(lists)?.iter().enumerate() {
            let mut expected = self.dim(self.operand, dim)?;
            take_suffix(&mut expected, axes, what, dim)?;
            self.expect(dim, &expected)?;
        }
        Ok(())
    }

    fn sliced(&self, lists: &ListOfAxisRefLists) -> OpResult<()> {
        for (dim, axes) in self.lists(lists)?.iter().enumerate() {
            let mut expected = self.dim(self.operand, dim)?;
            axes.iter()
                .for_each(|axis| MeshAxes::append(&mut expected, *axis));
            self.expect(dim, &expected)?;
        }
        Ok(())
    }

    fn exchanged(&self, params: &AllToAllParamList) -> OpResult<()> {
        ensure!(!params.0.is_empty(), "parameter list is empty");
        let rank = self.result.dim_shardings.len();
        let mut expected = (0..rank)
            .map(|dim| self.dim(self.operand, dim))
            .collect::<OpResult<Vec<_>>>()?;
        let (mut used, mut seen) = (Used::default(), vec![false; rank]);
        let mut last = None;
        for param in &params.0 {
            let axes = used.add(&self.axes, &param.axes)?;
            let mut ends = [0; 2];
            for (end, (dim, name)) in ends
                .iter_mut()
                .zip([(param.src_dim, "source"), (param.tgt_dim, "target")])
            {
                let position = usize::try_from(dim).ok().filter(|dim| *dim < rank);
                *end = position.ok_or_else(|| {
                    OpError::new(format!("{name} dimension {dim} is out of range [0, {rank})"))
                })?;
                ensure!(
                    !std::mem::replace(&mut seen[*end], true),
                    "overlapping source/target dimensions in all-to-all params: {dim}"
                );
            }
            let [source, target] = ends;
            ensure!(
                last.is_none_or(|last| last < source),
                "source dimensions are not sorted in ascending order"
            );
            last = Some(source);
            take_suffix(&mut expected[source], &axes, "all-to-all", source)?;
            axes.iter()
                .for_each(|axis| MeshAxes::append(&mut expected[target], *axis));
        }
        (0..rank).try_for_each(|dim| self.expect(dim, &expected[dim]))
    }

    fn permuted(&self) -> OpResult<()> {
        let size = |spans: Vec<Span>| {
            spans
                .iter()
                .try_fold(1_i64, |size, span| size.checked_mul(span.size))
        };
        for dim in 0..self.result.dim_shardings.len() {
            ensure!(
                size(self.dim(self.operand, dim)?) == size(self.dim(self.result, dim)?),
                "sharded size of result doesn't match operand on dimension {dim}"
            );
        }
        Ok(())
    }

    fn same_dims(&self) -> OpResult<bool> {
        for dim in 0..self.result.dim_shardings.len() {
            if self.dim(self.operand, dim)? != self.dim(self.result, dim)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn reduced(&self, list: &AxisRefList) -> OpResult<()> {
        ensure!(
            self.same_dims()?,
            "operand and result shardings are not equivalent"
        );
        let axes = Used::default().add_sorted(&self.axes, &list.0, "reduction")?;
        let dims = self.operand.dim_shardings.iter().flat_map(|dim| &dim.axes);
        let kept = dims.chain(&self.operand.replicated_axes);
        self.apart(
            &axes,
            &list.0,
            kept,
            "operand dimension sharding or replicated axes",
        )?;
        self.apart(
            &axes,
            &list.0,
            &self.result.unreduced_axes,
            "result unreduced axes",
        )
    }

    /// None of `axes`, as written in `shown`, overlaps one of the others.
    fn apart<'b>(
        &self,
        axes: &[Span],
        shown: &[AxisRef],
        others: impl IntoIterator<Item = &'b AxisRef>,
        what: &str,
    ) -> OpResult<()> {
        for other in others {
            let other = self.axes.span(other)?;
            if let Some(index) = axes.iter().position(|axis| axis.overlaps(other)) {
                return Err(OpError::new(format!(
                    "axis {} overlaps with {what}",
                    Shown(&shown[index])
                )));
            }
        }
        Ok(())
    }

    /// Which axes become unreduced or reduced, and by what; those that stay keep their reduction.
    fn unreduced(&self, introduced: Option<ReductionOp>, removed: ReductionOp) -> OpResult<()> {
        let before = self.axes.spans(&self.operand.unreduced_axes)?;
        let after = self.axes.spans(&self.result.unreduced_axes)?;
        let (from, to) = (self.operand.reduction_op, self.result.reduction_op);
        let within = |span: &Span, all: &[Span]| all.iter().any(|other| other.contains(*span));
        let kept = |span: &Span| before.iter().any(|other| other.overlaps(*span));
        if !after.iter().all(|span| within(span, &before)) {
            let Some(expected) = introduced else {
                return Err(OpError::new("cannot add new unreduced axes"));
            };
            ensure!(
                to == expected || after.iter().any(kept),
                "cannot introduce '{}' unreduced axes. Expected '{}'",
                to.name(),
                expected.name()
            );
        }
        if !before.iter().all(|span| within(span, &after)) {
            ensure!(
                from == removed,
                "cannot reduce '{}' unreduced axes. Expected '{}'",
                from.name(),
                removed.name()
            );
        }
        ensure!(
            from == to || !after.iter().any(kept),
            "cannot change the reduction operator of kept unreduced axes from {} to {}",
            from.name(),
            to.name()
        );
        Ok(())
    }

    fn is_sum(&self) -> OpResult<()> {
        ensure!(
            self.result.reduction_op == ReductionOp::Sum,
            "out_sharding reduction_op must be SUM"
        );
        Ok(())
    }

    fn became_unreduced<'b>(&self, moved: impl Iterator<Item = &'b AxisRef>, what: &str) -> OpResult<()> {
        let mut expected = self.axes.spans(&self.operand.unreduced_axes)?;
        for axis in moved {
            expected.push(self.axes.span(axis)?);
        }
        ensure!(
            MeshAxes::sorted(expected) == self.axes.spans(&self.result.unreduced_axes)?,
            "out_unreduced_axes should be in_unreduced_axes + {what}"
        );
        Ok(())
    }

    fn copies_became_parts(&self, list: &AxisRefList) -> OpResult<()> {
        self.is_sum()?;
        ensure!(
            self.operand.dim_shardings == self.result.dim_shardings,
            "input and output must share the same dimension shardings"
        );
        ensure!(!list.0.is_empty(), "axes must not be empty");
        let axes = Used::default().add_sorted(&self.axes, &list.0, "replicated-to-unreduced")?;
        let dims = self.operand.dim_shardings.iter().flat_map(|dim| &dim.axes);
        self.apart(&axes, &list.0, dims, "operand dimension sharding")?;
        self.apart(
            &axes,
            &list.0,
            &self.operand.unreduced_axes,
            "operand unreduced axes",
        )?;
        self.became_unreduced(list.0.iter(), "the axes")
    }
}

/// Takes axes off the inner end of a list.
fn take_suffix(list: &mut Vec<Span>, axes: &[Span], what: &str, dim: usize) -> OpResult<()> {
    for axis in axes.iter().rev() {
        let last = list.last_mut().filter(|last| axis.is_suffix_of(**last));
        let whole = last.as_ref().map(|last| last.pre == axis.pre);
        match (last, whole) {
            (Some(_), Some(true)) => {
                list.pop();
            }
            (Some(last), _) if axis.pre % last.pre == 0 => last.size = axis.pre / last.pre,
            _ => {
                return Err(OpError::new(format!(
                    "can't apply {what} axis of size {} to operand sharding on dimension {dim}",
                    axis.size
                )));
            }
        }
    }
    Ok(())
}
