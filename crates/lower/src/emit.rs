//! Writes the plan: buffers, kernels and steps.

mod kernels;
mod lives;
mod products;

use std::collections::{BTreeSet, HashMap};

use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, RegionId};
use artifact_ir::op::{Indexing, Op};
use artifact_ir::types::Element;

use crate::build::Builder;
use crate::error::LowerError;
use crate::graph::{Carried, Definition, TensorId, Value};
use crate::kernel::Kernel;
use crate::live::Homes;
use crate::plan::{Buffer, BufferId, KernelId, Operand, Plan, Slot, Step, StepKind, Storage};
use crate::region;
use crate::schedule::{Work, WorkKind, Works};

/// Makes the plan of a program whose work is in order.
pub(crate) fn emit(builder: Builder<'_>, works: &Works, homes: Homes) -> Result<Plan, LowerError> {
    let mut emitter = Emitter {
        builder,
        homes,
        plan: Plan::default(),
        buffers: HashMap::new(),
        kernels: HashMap::new(),
        needed: BTreeSet::new(),
    };
    emitter.note_needed(works);
    let arguments = emitter.builder.traced.arguments.clone();
    emitter.plan.arguments = arguments
        .iter()
        .map(|value| emitter.argument(value))
        .collect::<Result<_, _>>()?;
    let mut steps = emitter.sequence(works)?;
    let results = emitter.builder.traced.results.clone();
    let mut taken = BTreeSet::new();
    emitter.plan.results = results
        .iter()
        .map(|value| emitter.result(value, &mut taken, &mut steps))
        .collect::<Result<_, _>>()?;
    let mut plan = emitter.plan;
    plan.steps = steps;
    plan.sizes = std::mem::take(&mut emitter.builder.traced.sizes);
    plan.library = std::mem::take(&mut emitter.builder.traced.library);
    lives::number(&mut plan);
    Ok(plan)
}

struct Emitter<'a> {
    builder: Builder<'a>,
    homes: Homes,
    plan: Plan,
    buffers: HashMap<TensorId, BufferId>,
    kernels: HashMap<Kernel, KernelId>,
    /// Tensors that something reads from memory.
    needed: BTreeSet<TensorId>,
}

impl Emitter<'_> {
    fn note_needed(&mut self, works: &Works) {
        self.needed.extend(&works.results);
        for work in &works.works {
            self.needed.extend(work.reads());
            match &work.kind {
                WorkKind::While {
                    condition,
                    body,
                    carried,
                    predicate,
                } => {
                    self.needed.insert(*predicate);
                    self.needed.extend(carried.iter().map(|one| one.next));
                    self.note_needed(condition);
                    self.note_needed(body);
                }
                WorkKind::Case { branches, .. } => {
                    for branch in branches {
                        self.note_needed(branch);
                    }
                }
                WorkKind::Kernel(_)
                | WorkKind::Copy { .. }
                | WorkKind::Product { .. }
                | WorkKind::Operation { .. } => {}
            }
        }
    }

    /// The buffer of a tensor.
    fn buffer(&mut self, tensor: TensorId) -> Result<BufferId, LowerError> {
        let home = self.homes.home(self.builder.dense_base(tensor));
        if let Some(buffer) = self.buffers.get(&home) {
            return Ok(*buffer);
        }
        let storage = match &self.builder.traced.tensors[home].definition {
            Definition::Literal(literal) => Storage::Constant(Literal::clone(literal)),
            _ => Storage::Arena,
        };
        self.new_buffer(home, storage)
    }

    fn new_buffer(&mut self, home: TensorId, storage: Storage) -> Result<BufferId, LowerError> {
        let tensor = &self.builder.traced.tensors[home];
        let (element, dims): (Element, _) = (tensor.element.clone(), tensor.dims.clone());
        let count = self.builder.traced.sizes.count(&dims)?;
        let buffer = self.plan.buffers.push(Buffer {
            element,
            dims,
            count,
            storage,
            life: (0, 0),
        });
        self.buffers.insert(home, buffer);
        Ok(buffer)
    }

    fn argument(&mut self, value: &Value) -> Result<Slot, LowerError> {
        Ok(match value {
            Value::Tensor(tensor) => Slot::Array(self.new_buffer(*tensor, Storage::Argument)?),
            Value::Token => Slot::Token,
            Value::Tuple(values) => Slot::Tuple(
                values
                    .iter()
                    .map(|value| self.argument(value))
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    /// A result's buffer: the tensor's own, where nobody else has it.
    fn result(
        &mut self,
        value: &Value,
        taken: &mut BTreeSet<BufferId>,
        steps: &mut Vec<Step>,
    ) -> Result<Slot, LowerError> {
        match value {
            Value::Token => Ok(Slot::Token),
            Value::Tuple(values) => {
                let slots = values.iter().map(|value| self.result(value, taken, steps));
                Ok(Slot::Tuple(slots.collect::<Result<_, _>>()?))
            }
            Value::Tensor(tensor) => {
                let own = self.buffer(*tensor)?;
                let is_free = matches!(self.plan.buffers[own].storage, Storage::Arena) && taken.insert(own);
                let dims = self.builder.traced.tensors[*tensor].dims.clone();
                if is_free {
                    let buffer = &mut self.plan.buffers[own];
                    buffer.storage = Storage::Result;
                    // The same bytes, perhaps in another shape.
                    buffer.dims = dims;
                    return Ok(Slot::Array(own));
                }
                let Buffer { element, count, .. } = self.plan.buffers[own].clone();
                let storage = Storage::Result;
                let to = self.plan.buffers.push(Buffer {
                    element,
                    dims,
                    count,
                    storage,
                    life: (0, 0),
                });
                let source = self.builder.traced.tensors[*tensor].source;
                steps.push(step(StepKind::Copy { from: own, to }, "copy", source));
                Ok(Slot::Array(to))
            }
        }
    }

    fn sequence(&mut self, works: &Works) -> Result<Vec<Step>, LowerError> {
        let mut steps = Vec::with_capacity(works.works.len());
        for work in &works.works {
            self.work(work, &mut steps)
                .map_err(|error| error.at(work.source))?;
        }
        Ok(steps)
    }

    fn work(&mut self, work: &Work, steps: &mut Vec<Step>) -> Result<(), LowerError> {
        let kind = match &work.kind {
            WorkKind::Kernel(cluster) => match self.launch(cluster)? {
                Some(launch) => StepKind::Launch(launch),
                None => return Ok(()),
            },
            WorkKind::Copy { from, to } => {
                let (from, to) = (self.buffer(*from)?, self.buffer(*to)?);
                if from == to {
                    return Ok(());
                }
                StepKind::Copy { from, to }
            }
            WorkKind::Product {
                left,
                right,
                dimensions,
                result,
            } => StepKind::Product(self.product(*left, *right, dimensions, *result)?),
            WorkKind::Operation {
                function,
                is_pure,
                operands,
                results,
            } => StepKind::Operation {
                function: *function,
                is_pure: *is_pure,
                regions: self.regions(*function),
                operands: self.operands(operands)?,
                results: self.operands(results)?,
            },
            WorkKind::While {
                carried,
                condition,
                predicate,
                body,
            } => {
                self.before_loop(carried, work, steps)?;
                let condition = self.sequence(condition)?;
                let mut inner = self.sequence(body)?;
                self.after_body(carried, work.source, &mut inner)?;
                StepKind::While {
                    condition,
                    predicate: self.buffer(*predicate)?,
                    body: inner,
                }
            }
            WorkKind::Case {
                index,
                branches,
                results,
            } => {
                let branches = branches
                    .iter()
                    .map(|branch| self.branch(branch, results, work.source));
                let branches = branches.collect::<Result<_, _>>()?;
                StepKind::Case {
                    index: self.buffer(*index)?,
                    branches,
                }
            }
        };
        steps.push(step(kind, &work.name, work.source));
        Ok(())
    }

    /// The kernels of an operation's regions.
    fn regions(&mut self, function: FunctionId) -> Vec<Option<KernelId>> {
        let library = &self.builder.traced.library;
        let Some(body) = &library.functions[function].body else {
            return Vec::new();
        };
        let first = body
            .entry_block()
            .and_then(|block| body.blocks[block].ops.first());
        let Some(op) = first.map(|id| &body.ops[*id]) else {
            return Vec::new();
        };
        let has_elements = matches!(op.op, Op::Reduction(_) | Op::Indexing(Indexing::Scatter(_)));
        let kernel = |region: &RegionId| {
            let is_needed = has_elements && region::combine(body, *region).is_none();
            is_needed.then(|| region::kernel(body, *region)).flatten()
        };
        let kernels: Vec<Option<Kernel>> = op.regions.iter().map(kernel).collect();
        let intern = |kernel: Option<Kernel>| kernel.map(|kernel| self.intern(kernel));
        kernels.into_iter().map(intern).collect()
    }

    /// The number of a kernel, the same for equal ones.
    fn intern(&mut self, kernel: Kernel) -> KernelId {
        if let Some(id) = self.kernels.get(&kernel) {
            return *id;
        }
        let id = self.plan.kernels.push(kernel.clone());
        self.kernels.insert(kernel, id);
        id
    }

    fn operands(&mut self, values: &[Value]) -> Result<Vec<Operand>, LowerError> {
        let operand = |value: &Value| {
            Ok(match value {
                Value::Tensor(tensor) => {
                    let dims = self.builder.traced.tensors[*tensor].dims.clone();
                    Operand::Array(self.buffer(*tensor)?, dims)
                }
                Value::Token => Operand::Token,
                Value::Tuple(values) => Operand::Tuple(self.operands(values)?),
            })
        };
        values.iter().map(operand).collect()
    }

    fn before_loop(
        &mut self,
        carried: &[Carried],
        work: &Work,
        steps: &mut Vec<Step>,
    ) -> Result<(), LowerError> {
        for one in carried {
            let (from, to) = (self.buffer(one.init)?, self.buffer(one.tensor)?);
            if from != to {
                steps.push(step(StepKind::Copy { from, to }, "copy", work.source));
            }
        }
        Ok(())
    }

    /// Moves what the body left to where the loop carries it. A value that another move overwrites is set aside first.
    fn after_body(
        &mut self,
        carried: &[Carried],
        source: SourceOffset,
        steps: &mut Vec<Step>,
    ) -> Result<(), LowerError> {
        let mut moves = Vec::new();
        for one in carried {
            let (from, to) = (self.buffer(one.next)?, self.buffer(one.tensor)?);
            if from != to {
                moves.push((from, to));
            }
        }
        let targets: BTreeSet<BufferId> = moves.iter().map(|(_, to)| *to).collect();
        for (from, _) in &mut moves {
            if targets.contains(from) {
                let aside = Buffer {
                    storage: Storage::Arena,
                    ..self.plan.buffers[*from].clone()
                };
                let aside = self.plan.buffers.push(aside);
                steps.push(step(
                    StepKind::Copy {
                        from: *from,
                        to: aside,
                    },
                    "copy",
                    source,
                ));
                *from = aside;
            }
        }
        steps.extend(
            moves
                .into_iter()
                .map(|(from, to)| step(StepKind::Copy { from, to }, "copy", source)),
        );
        Ok(())
    }

    fn branch(
        &mut self,
        branch: &Works,
        results: &[TensorId],
        source: SourceOffset,
    ) -> Result<Vec<Step>, LowerError> {
        let mut steps = self.sequence(branch)?;
        for (own, result) in branch.results.iter().zip(results) {
            let (from, to) = (self.buffer(*own)?, self.buffer(*result)?);
            if from != to {
                steps.push(step(StepKind::Copy { from, to }, "copy", source));
            }
        }
        Ok(steps)
    }
}

fn step(kind: StepKind, name: &str, source: SourceOffset) -> Step {
    Step {
        kind,
        number: 0,
        name: name.to_owned(),
        source,
    }
}
