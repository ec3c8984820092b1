//! Kernels, and where their arrays lie.

use std::collections::HashMap;

use artifact_dims::Expr;

use crate::SizeId;
use crate::build::{Node, Term};
use crate::emit::Emitter;
use crate::error::LowerError;
use crate::fuse::Cluster;
use crate::graph::TensorId;
use crate::index::Index;
use crate::kernel::{Columns, Input, InputKind, Instr, InstrId, InstrKind, Kernel, Level, Output};
use crate::plan::{Access, Launch, Source, Start};

/// A kernel in the making.
struct Making {
    /// Axes of the cluster that are axes of the kernel: those that may have more than one position.
    axes: Vec<usize>,
    rows: usize,
    kernel: Kernel,
    inputs: Vec<Source>,
    outputs: Vec<Access>,
    known: HashMap<Instr, InstrId>,
    /// Values that members of the cluster pass on.
    passed: HashMap<TensorId, InstrId>,
}

impl Emitter<'_> {
    /// The launch of a cluster; `None` when nothing needs what it computes.
    pub(super) fn launch(&mut self, cluster: &Cluster) -> Result<Option<Launch>, LowerError> {
        let all: Vec<SizeId> = cluster.rows.iter().chain(&cluster.columns).copied().collect();
        let is_open = |axis: &usize| self.builder.traced.sizes.as_number(all[*axis]) != Some(1);
        let axes: Vec<usize> = (0..all.len()).filter(is_open).collect();
        let rows = axes.iter().filter(|axis| **axis < cluster.rows.len()).count();
        let mut making = Making {
            rows,
            kernel: Kernel {
                parallel: rows,
                inner: axes.len() - rows,
                columns: if cluster.is_trailing {
                    Columns::Together
                } else {
                    Columns::Apart
                },
                inputs: Vec::new(),
                body: Vec::new(),
                outputs: Vec::new(),
            },
            axes,
            inputs: Vec::new(),
            outputs: Vec::new(),
            known: HashMap::new(),
            passed: HashMap::new(),
        };
        for (node, _) in &cluster.members {
            self.member(node, &mut making)?;
        }
        if making.kernel.outputs.is_empty() {
            return Ok(None);
        }
        let Making {
            axes,
            mut kernel,
            inputs,
            outputs,
            ..
        } = making;
        let inputs = prune(&mut kernel, inputs);
        let extents = axes.iter().map(|axis| all[*axis]).collect();
        Ok(Some(Launch {
            kernel: self.intern(kernel),
            extents,
            inputs,
            outputs,
        }))
    }

    fn member(&mut self, node: &Node, making: &mut Making) -> Result<(), LowerError> {
        let mut values: Vec<InstrId> = Vec::with_capacity(node.values.len());
        for term in &node.values {
            let value = self.term(term, &values, making)?;
            values.push(value);
        }
        for store in &node.stores {
            let value = values[store.value];
            making.passed.insert(store.tensor, value);
            if !self.needed.contains(&store.tensor) {
                continue;
            }
            let dims = self.builder.traced.tensors[store.tensor].dims.clone();
            let access = self.kernel_access(store.tensor, &dims, &store.at, making)?;
            let Instr { element, .. } = making.kernel.body[entity(value)];
            // A value of the row that goes to every column is written at each of them.
            let is_spread = store
                .at
                .iter()
                .any(|index| index.terms.iter().any(|(axis, _)| is_column(*axis, making)));
            let level = if is_spread { Level::Element } else { Level::Row };
            making.kernel.outputs.push(Output {
                value,
                element,
                level,
            });
            making.outputs.push(access);
        }
        Ok(())
    }

    fn term(&mut self, term: &Term, values: &[InstrId], making: &mut Making) -> Result<InstrId, LowerError> {
        let element = term.element();
        let of = |operands: &[usize]| {
            operands
                .iter()
                .map(|operand| values[*operand])
                .collect::<Vec<_>>()
        };
        let (kind, level) = match term {
            Term::Load { tensor, dims, at, .. } => {
                if let Some(passed) = making.passed.get(tensor) {
                    return Ok(*passed);
                }
                let source = Source::Array(self.kernel_access(*tensor, dims, at, making)?);
                let level = level_of(at, making);
                let input = making.input(source, InputKind::Array, element, level);
                (InstrKind::Input(input), level)
            }
            Term::Position { at, .. } => {
                let offset = self.builder.traced.sizes.intern(at.offset.clone());
                let steps = self.steps(at, making);
                let level = level_of(std::slice::from_ref(at), making);
                let input = making.input(
                    Source::Position { offset, steps },
                    InputKind::Position,
                    element,
                    level,
                );
                (InstrKind::Input(input), level)
            }
            Term::Constant { bytes, .. } => (InstrKind::Constant(bytes.clone()), Level::Row),
            Term::Apply { op, operands, .. } => {
                let operands = of(operands);
                let level = making.level_of_all(&operands);
                (
                    InstrKind::Apply {
                        op: op.clone(),
                        operands,
                    },
                    level,
                )
            }
            Term::MultiplyAdd { operands, .. } => {
                let operands = operands.map(|operand| values[operand]);
                (InstrKind::MultiplyAdd(operands), making.level_of_all(&operands))
            }
            Term::Reduce {
                combine, operands, ..
            } => {
                let operands = operands.map(|operand| values[operand]);
                let combine = *combine;
                (InstrKind::Reduce { combine, operands }, Level::Row)
            }
        };
        let instr = Instr { kind, element, level };
        Ok(making.add(instr))
    }

    /// Where a kernel finds elements of a tensor, along its own axes.
    fn kernel_access(
        &mut self,
        tensor: TensorId,
        dims: &[SizeId],
        at: &[Index],
        making: &Making,
    ) -> Result<Access, LowerError> {
        let all = making.axes.iter().max().map_or(0, |axis| axis + 1);
        let mut access = self.access(tensor, dims, at, all)?;
        access.strides = making.axes.iter().map(|axis| access.strides[*axis]).collect();
        Ok(access)
    }

    fn steps(&mut self, at: &Index, making: &Making) -> Vec<SizeId> {
        let step = |axis: &usize| {
            at.terms
                .iter()
                .find(|(own, _)| own == axis)
                .map(|(_, factor)| factor.clone())
        };
        let steps: Vec<Expr> = making
            .axes
            .iter()
            .map(|axis| step(axis).unwrap_or_else(|| Expr::constant(0)))
            .collect();
        steps
            .into_iter()
            .map(|step| self.builder.traced.sizes.intern(step))
            .collect()
    }

    /// Where elements of a tensor, as a dense array of these sizes, lie along axes.
    pub(super) fn access(
        &mut self,
        tensor: TensorId,
        dims: &[SizeId],
        at: &[Index],
        axes: usize,
    ) -> Result<Access, LowerError> {
        let buffer = self.buffer(tensor)?;
        let dense = self.builder.traced.sizes.dense_strides(dims)?;
        let mut offset = Expr::constant(0);
        let mut strides = vec![Expr::constant(0); axes];
        let mut starts = Vec::new();
        for (index, stride) in at.iter().zip(dense) {
            let stride = self.builder.traced.sizes.expression(stride).clone();
            offset = offset.add(&index.offset.mul(&stride)?)?;
            for (axis, factor) in &index.terms {
                // Axes beyond have one position.
                if let Some(own) = strides.get_mut(*axis) {
                    *own = own.add(&factor.mul(&stride)?)?;
                }
            }
            for (start, max, factor) in &index.starts {
                let stride = self.builder.traced.sizes.intern(factor.mul(&stride)?);
                starts.push(Start {
                    index: self.buffer(*start)?,
                    max: *max,
                    stride,
                });
            }
        }
        let sizes = &mut self.builder.traced.sizes;
        Ok(Access {
            buffer,
            offset: sizes.intern(offset),
            strides: strides.into_iter().map(|stride| sizes.intern(stride)).collect(),
            starts,
        })
    }
}

impl Making {
    fn input(
        &mut self,
        source: Source,
        kind: InputKind,
        element: artifact_ir::types::ElementType,
        level: Level,
    ) -> u32 {
        let input = Input { element, kind, level };
        let same = |(own, of): (&Source, &Input)| *own == source && *of == input;
        let known = self.inputs.iter().zip(&self.kernel.inputs).position(same);
        let position = known.unwrap_or_else(|| {
            self.inputs.push(source);
            self.kernel.inputs.push(input);
            self.inputs.len() - 1
        });
        position as u32
    }

    fn add(&mut self, instr: Instr) -> InstrId {
        use artifact_core::entity::EntityId as _;
        if let Some(known) = self.known.get(&instr) {
            return *known;
        }
        let id = InstrId::from_index(self.kernel.body.len() as u32);
        self.kernel.body.push(instr.clone());
        self.known.insert(instr, id);
        id
    }

    fn level_of_all(&self, operands: &[InstrId]) -> Level {
        let levels = operands
            .iter()
            .map(|operand| self.kernel.body[entity(*operand)].level);
        levels.max().unwrap_or(Level::Row)
    }
}

/// Whether an axis of the cluster runs along the columns of the kernel.
fn is_column(axis: usize, making: &Making) -> bool {
    making
        .axes
        .iter()
        .position(|own| *own == axis)
        .is_some_and(|position| position >= making.rows)
}

fn level_of(at: &[Index], making: &Making) -> Level {
    let moves = at
        .iter()
        .any(|index| index.terms.iter().any(|(axis, _)| is_column(*axis, making)));
    if moves { Level::Element } else { Level::Row }
}

fn entity(id: InstrId) -> usize {
    use artifact_core::entity::EntityId as _;
    id.index()
}

/// Leaves out what no output needs.
fn prune(kernel: &mut Kernel, inputs: Vec<Source>) -> Vec<Source> {
    use artifact_core::entity::EntityId as _;
    let mut used = vec![false; kernel.body.len()];
    for output in &kernel.outputs {
        used[entity(output.value)] = true;
    }
    for index in (0..kernel.body.len()).rev() {
        if used[index] {
            for operand in kernel.body[index].kind.operands().to_vec() {
                used[entity(operand)] = true;
            }
        }
    }
    let mut sources = Vec::new();
    let mut kept_inputs = Vec::new();
    let mut names = vec![InstrId::from_index(0); kernel.body.len()];
    let mut body = Vec::new();
    for (index, mut instr) in std::mem::take(&mut kernel.body).into_iter().enumerate() {
        if !used[index] {
            continue;
        }
        match &mut instr.kind {
            InstrKind::Input(input) => {
                sources.push(inputs[*input as usize].clone());
                kept_inputs.push(kernel.inputs[*input as usize].clone());
                *input = (sources.len() - 1) as u32;
            }
            InstrKind::Constant(_) => {}
            InstrKind::Apply { operands, .. } => {
                operands
                    .iter_mut()
                    .for_each(|operand| *operand = names[entity(*operand)]);
            }
            InstrKind::MultiplyAdd(operands) => {
                operands
                    .iter_mut()
                    .for_each(|operand| *operand = names[entity(*operand)]);
            }
            InstrKind::Reduce { operands, .. } => {
                operands
                    .iter_mut()
                    .for_each(|operand| *operand = names[entity(*operand)]);
            }
        }
        names[index] = InstrId::from_index(body.len() as u32);
        body.push(instr);
    }
    for output in &mut kernel.outputs {
        output.value = names[entity(output.value)];
    }
    kernel.inputs = kept_inputs;
    kernel.body = body;
    sources
}
