//! Which tensors are used, how often, and which of them need memory of their own.
//!
//! A tensor that kernels can compute where it is needed gets no buffer, unless it is worth keeping: it is used more than once
//! and not free, it is spread over more positions than it has, or something other than a kernel reads it.

use std::collections::HashSet;

use artifact_core::entity::EntityId as _;
use artifact_ir::op::{Chlo, Op};

use crate::error::LowerError;
use crate::graph::{Definition, Item, ItemKind, Sequence, TensorId, Value};
use crate::index::Index;
use crate::sizes::Sizes;
use crate::trace::Traced;
use crate::view::View;

/// Operations that a free tensor consists of at most.
const FREE_OPS_MAX: usize = 8;
/// Operations that are computed together without memory in between, at most. What a kernel costs to compile grows faster than it.
const INLINE_OPS_MAX: usize = 128;

/// What was found, by tensor.
#[derive(Debug)]
pub(crate) struct Demand {
    uses: Vec<u32>,
    buffer: Vec<bool>,
    free: Vec<Option<bool>>,
}

impl Demand {
    /// Looks at a whole program.
    pub(crate) fn of(traced: &mut Traced) -> Result<Self, LowerError> {
        let count = traced.tensors.len();
        let mut demand = Self {
            uses: vec![0; count],
            buffer: vec![false; count],
            free: vec![None; count],
        };
        let root = std::mem::take(&mut traced.root);
        let outcome = Walk {
            traced,
            demand: &mut demand,
            inlined: 0,
            open: Vec::new(),
        }
        .sequence(&root);
        traced.root = root;
        outcome.map(|()| demand)
    }

    /// Whether anything uses it.
    pub(crate) fn is_used(&self, tensor: TensorId) -> bool {
        self.uses[tensor.index()] > 0
    }

    /// Whether one thing uses it.
    pub(crate) fn is_used_once(&self, tensor: TensorId) -> bool {
        self.uses[tensor.index()] == 1
    }

    /// Whether a kernel computes it into a buffer.
    pub(crate) fn is_kept(&self, tensor: TensorId, definition: &Definition) -> bool {
        let index = tensor.index();
        match definition {
            Definition::Given | Definition::Literal(_) => false,
            Definition::View {
                view: View::Reshape, ..
            } => false,
            Definition::Apply { .. } => {
                self.buffer[index] || (self.uses[index] > 1 && self.free[index] != Some(true))
            }
            Definition::Splat(_)
            | Definition::Iota { .. }
            | Definition::Size(_)
            | Definition::View { .. } => self.buffer[index],
        }
    }
}

struct Walk<'a> {
    traced: &'a mut Traced,
    demand: &'a mut Demand,
    /// Operations so far of what is computed together.
    inlined: usize,
    /// Tensors that were kept because there were too many, whose operands nobody has looked at.
    open: Vec<TensorId>,
}

impl Walk<'_> {
    fn sequence(&mut self, sequence: &Sequence) -> Result<(), LowerError> {
        for result in &sequence.results {
            self.keep(*result, sequence.id)?;
            self.finish()?;
        }
        for item in sequence.items.iter().rev() {
            self.item(item, sequence.id)?;
            self.finish()?;
        }
        Ok(())
    }

    /// Looks at what was left open.
    fn finish(&mut self) -> Result<(), LowerError> {
        self.inlined = 0;
        while let Some(tensor) = self.open.pop() {
            let at = self.traced.tensors[tensor].sequence;
            if let Definition::Apply { operands, .. } = self.traced.tensors[tensor].definition.clone() {
                for operand in operands {
                    self.compute(operand, at)?;
                }
            }
            self.inlined = 0;
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, at: u32) -> Result<(), LowerError> {
        match &item.kind {
            ItemKind::Tensor(_) => {}
            ItemKind::Reduce {
                operand,
                init,
                result,
                ..
            } => {
                if self.demand.is_used(*result) {
                    self.compute(*operand, at)?;
                    self.compute(*init, at)?;
                }
            }
            ItemKind::Write { base, parts, result } => {
                if self.demand.is_used(*result) {
                    for part in parts {
                        self.compute(part.tensor, at)?;
                        for (start, _) in part.at.iter().filter_map(|place| place.start) {
                            self.keep(start, at)?;
                        }
                    }
                    if let Some(base) = base {
                        self.compute(*base, at)?;
                    }
                }
            }
            ItemKind::Product {
                left, right, result, ..
            } => {
                if self.demand.is_used(*result) {
                    self.reach(*left, at)?;
                    self.reach(*right, at)?;
                }
            }
            ItemKind::Operation {
                is_pure,
                operands,
                results,
                ..
            } => {
                let results: Vec<TensorId> = results.iter().flat_map(Value::tensors).collect();
                if !is_pure || results.is_empty() || results.iter().any(|result| self.demand.is_used(*result))
                {
                    for operand in operands.iter().flat_map(Value::tensors) {
                        self.keep(operand, at)?;
                    }
                }
            }
            ItemKind::While {
                carried,
                condition,
                body,
                ..
            } => {
                self.sequence(body)?;
                self.sequence(condition)?;
                for one in carried {
                    self.demand.uses[one.tensor.index()] += 1;
                    self.keep(one.init, at)?;
                }
            }
            ItemKind::Case { index, branches, .. } => {
                for branch in branches {
                    self.sequence(branch)?;
                }
                self.keep(*index, at)?;
            }
        }
        Ok(())
    }

    /// Something other than a kernel reads all of it.
    fn keep(&mut self, tensor: TensorId, at: u32) -> Result<(), LowerError> {
        if let Definition::View {
            view: View::Reshape,
            operand,
        } = self.traced.tensors[tensor].definition
        {
            // The same bytes.
            self.demand.uses[tensor.index()] += 1;
            return self.keep(operand, at);
        }
        self.demand.buffer[tensor.index()] = true;
        self.compute(tensor, at)
    }

    /// Something that follows strides reads it: what it is a view of needs a buffer.
    fn reach(&mut self, tensor: TensorId, at: u32) -> Result<(), LowerError> {
        match self.traced.tensors[tensor].definition.clone() {
            Definition::View { view, operand } if self.composes(&view, tensor, operand)? => {
                self.starts(&view, at)?;
                self.reach(operand, at)
            }
            _ => self.keep(tensor, at),
        }
    }

    /// A kernel uses it.
    fn compute(&mut self, tensor: TensorId, at: u32) -> Result<(), LowerError> {
        let index = tensor.index();
        self.demand.uses[index] += 1;
        let own = self.traced.tensors[tensor].sequence;
        let is_first = self.demand.uses[index] == 1;
        match self.traced.tensors[tensor].definition.clone() {
            Definition::Given
            | Definition::Literal(_)
            | Definition::Splat(_)
            | Definition::Iota { .. }
            | Definition::Size(_) => {}
            Definition::Apply { operands, .. } => {
                let free = self.is_free(tensor);
                if own != at && !free {
                    self.demand.buffer[index] = true;
                }
                if is_first && !free {
                    self.inlined += 1;
                    if self.inlined > INLINE_OPS_MAX {
                        self.demand.buffer[index] = true;
                        self.open.push(tensor);
                        return Ok(());
                    }
                }
                if is_first || free {
                    for operand in operands {
                        self.compute(operand, if free { at } else { own })?;
                    }
                }
            }
            Definition::View { view, operand } => {
                // A view with a buffer of its own reads what it is of once.
                let is_kept = self.demand.buffer[index];
                if is_kept && !is_first {
                    return Ok(());
                }
                let at = if is_kept { own } else { at };
                self.starts(&view, at)?;
                if !self.composes(&view, tensor, operand)? {
                    return self.keep(operand, at);
                }
                let is_moved = matches!(view, View::DynamicSlice(_));
                if is_moved && self.has_positions(operand) {
                    // Kernels know positions as numbers of their axes alone.
                    return self.keep(operand, at);
                }
                if self.repeats(&view, tensor, operand) && !self.is_free(operand) {
                    self.keep_computed(operand);
                }
                self.compute(operand, at)?;
            }
        }
        Ok(())
    }

    fn starts(&mut self, view: &View, at: u32) -> Result<(), LowerError> {
        if let View::DynamicSlice(starts) = view {
            for (start, _) in starts {
                self.keep(*start, at)?;
            }
        }
        Ok(())
    }

    /// Whether a view has an element of its operand at several positions.
    fn repeats(&self, view: &View, tensor: TensorId, operand: TensorId) -> bool {
        let View::Broadcast(dimensions) = view else {
            return false;
        };
        let Traced { tensors, sizes, .. } = &*self.traced;
        let (from, to) = (&tensors[operand].dims, &tensors[tensor].dims);
        let is_same = |dim: usize| {
            dimensions
                .iter()
                .zip(from)
                .any(|(to_dim, size)| *to_dim == dim && *size == to[dim])
        };
        (0..to.len()).any(|dim| sizes.as_number(to[dim]) != Some(1) && !is_same(dim))
    }

    /// Whether a kernel that computes it needs positions as numbers.
    fn has_positions(&self, tensor: TensorId) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![tensor];
        while let Some(tensor) = open.pop() {
            if !seen.insert(tensor) {
                continue;
            }
            match &self.traced.tensors[tensor].definition {
                Definition::Iota { .. } => return true,
                Definition::Apply { operands, .. } => open.extend(operands),
                Definition::View { operand, .. } => open.push(*operand),
                Definition::Given | Definition::Literal(_) | Definition::Splat(_) | Definition::Size(_) => {}
            }
        }
        false
    }

    /// Keeps what a view is computed from, so that it is computed once.
    fn keep_computed(&mut self, tensor: TensorId) {
        match self.traced.tensors[tensor].definition {
            Definition::Apply { .. } => self.demand.buffer[tensor.index()] = true,
            Definition::View { operand, .. } => self.keep_computed(operand),
            _ => {}
        }
    }

    /// Whether positions of a view are affine functions of positions of the operand, whatever the axes are.
    fn composes(&mut self, view: &View, tensor: TensorId, operand: TensorId) -> Result<bool, LowerError> {
        let Traced { tensors, sizes, .. } = &mut *self.traced;
        composes(view, &tensors[operand].dims, &tensors[tensor].dims, sizes)
    }

    /// Whether it costs next to nothing to compute it again: nothing is read, and little is done.
    fn is_free(&mut self, tensor: TensorId) -> bool {
        if let Some(known) = self.demand.free[tensor.index()] {
            return known;
        }
        let mut ops = 0;
        let free = self.counts_as_free(tensor, &mut ops) && ops <= FREE_OPS_MAX;
        self.demand.free[tensor.index()] = Some(free);
        free
    }

    fn counts_as_free(&self, tensor: TensorId, ops: &mut usize) -> bool {
        match &self.traced.tensors[tensor].definition {
            Definition::Splat(_) | Definition::Iota { .. } | Definition::Size(_) => true,
            Definition::Given | Definition::Literal(_) => false,
            Definition::View {
                view: View::DynamicSlice(_),
                ..
            } => false,
            Definition::View { operand, .. } => self.counts_as_free(*operand, ops),
            Definition::Apply { op, operands } => {
                *ops += 1;
                *ops <= FREE_OPS_MAX
                    && is_cheap(op)
                    && operands.iter().all(|operand| self.counts_as_free(*operand, ops))
            }
        }
    }
}

/// Whether a view's positions are affine functions of the axes of its consumer.
pub(crate) fn composes(
    view: &View,
    from: &[crate::SizeId],
    to: &[crate::SizeId],
    sizes: &mut Sizes,
) -> Result<bool, LowerError> {
    if !matches!(view, View::Reshape) {
        return Ok(true);
    }
    let at: Vec<Index> = (0..to.len()).map(Index::axis).collect();
    Ok(view.compose(from, to, &at, sizes)?.is_some())
}

/// Operations of about one instruction.
const fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Binary(op) => {
            use artifact_ir::op::Binary;
            !matches!(
                op,
                Binary::Atan2 | Binary::Divide | Binary::Power | Binary::Remainder
            )
        }
        Op::Unary(op) => {
            use artifact_ir::op::Unary;
            matches!(
                op,
                Unary::Abs
                    | Unary::Negate
                    | Unary::Not
                    | Unary::Ceil
                    | Unary::Floor
                    | Unary::Real
                    | Unary::Imag
            )
        }
        Op::Elementwise(_) => true,
        Op::Chlo(op) => matches!(
            op,
            Chlo::Conj | Chlo::IsInf | Chlo::IsNegInf | Chlo::IsPosInf | Chlo::Square
        ),
        _ => false,
    }
}
