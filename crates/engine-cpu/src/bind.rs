//! A plan with its sizes: everything that can be known before the first byte of an input is.

use std::sync::Arc;

use artifact_core::entity::EntityId as _;
use artifact_dims::Assignment;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{ElementType, TensorType, Type};
use artifact_lower::plan::{Access, BufferId, KernelId, Operand, Plan, Product, Step, StepKind, Storage};

use crate::error::CpuError;
use crate::launch::{self, BoundLaunch};
use crate::loaded::Loaded;
use crate::memory::ALIGNMENT;
use crate::place::{Lifetime, place};
use crate::routine::{self, BoundRoutine};

/// A plan whose sizes are known.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) buffers: Vec<BoundBuffer>,
    pub(crate) arena_bytes: usize,
    pub(crate) scratch_bytes: usize,
    pub(crate) shared_bytes: usize,
    pub(crate) steps: Vec<BoundStep>,
    /// The library, with the sizes of this binding.
    pub(crate) library: Arc<Module>,
}

/// A buffer of known size.
#[derive(Clone, Debug)]
pub(crate) struct BoundBuffer {
    pub(crate) ty: Arc<TensorType>,
    pub(crate) bytes: usize,
    pub(crate) place: Place,
}

/// Where a buffer lies.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Argument,
    Result,
    Constant(Literal),
    Arena(usize),
}

/// A step of known sizes.
#[derive(Debug)]
pub(crate) struct BoundStep {
    pub(crate) kind: BoundKind,
    pub(crate) source: SourceOffset,
    pub(crate) number: u32,
}

#[derive(Debug)]
pub(crate) enum BoundKind {
    Launch(Box<BoundLaunch>),
    Product(Box<BoundProduct>),
    Copy {
        from: usize,
        to: usize,
        bytes: usize,
    },
    Routine(Box<RoutineOrElse>),
    Evaluate(Evaluation),
    While {
        condition: Vec<BoundStep>,
        predicate: usize,
        body: Vec<BoundStep>,
    },
    Case {
        index: usize,
        element: ElementType,
        branches: Vec<Vec<BoundStep>>,
    },
}

/// A routine, and the operation for the evaluator, which does what the routine declines.
#[derive(Debug)]
pub(crate) struct RoutineOrElse {
    pub(crate) routine: BoundRoutine,
    pub(crate) evaluation: Evaluation,
}

/// An operation that the evaluator does.
#[derive(Debug)]
pub(crate) struct Evaluation {
    pub(crate) function: FunctionId,
    pub(crate) operands: Vec<Operand>,
    pub(crate) results: Vec<Operand>,
}

/// A product of known sizes: shapes and strides in bytes, and which dimensions are which.
#[derive(Debug)]
pub(crate) struct BoundProduct {
    pub(crate) left: BoundSide,
    pub(crate) right: BoundSide,
    pub(crate) output: BoundSide,
    /// Numbers of batch dimensions, of free ones of either side, and of those summed over.
    pub(crate) batch: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) contracted: usize,
}

/// An array of a product.
#[derive(Debug)]
pub(crate) struct BoundSide {
    pub(crate) operand: launch::BoundOperand,
    pub(crate) element: ElementType,
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<isize>,
}

/// Binds a plan to the values of its dimension variables.
pub(crate) fn bind(loaded: &Loaded, values: &Assignment) -> Result<Bound, CpuError> {
    let plan = &loaded.plan;
    let sizes = plan.sizes.evaluate(values)?;
    let (buffers, arena_bytes) = buffers(plan, &sizes)?;
    let mut binder = Binder {
        loaded,
        plan,
        sizes: &sizes,
        library: plan.library.clone(),
        buffers: &buffers,
        scratch_bytes: 0,
        shared_bytes: 0,
    };
    let steps = binder.steps(&plan.steps)?;
    let Binder {
        library,
        scratch_bytes,
        shared_bytes,
        ..
    } = binder;
    Ok(Bound {
        buffers,
        arena_bytes,
        scratch_bytes,
        shared_bytes,
        steps,
        library: Arc::new(library),
    })
}

fn buffers(plan: &Plan, sizes: &[i64]) -> Result<(Vec<BoundBuffer>, usize), CpuError> {
    let mut buffers = Vec::with_capacity(plan.buffers.len());
    let mut lifetimes = Vec::new();
    let mut in_arena = Vec::new();
    for (index, (_, buffer)) in plan.buffers.iter().enumerate() {
        let dims = buffer.dims.iter().map(|dim| u64::try_from(sizes[dim.index()]));
        let dims: Vec<u64> = dims
            .collect::<Result<_, _>>()
            .map_err(|_| CpuError::input("a size is negative"))?;
        let ty = TensorType::of_static(&dims, buffer.element.clone());
        let bytes = ty
            .byte_count()
            .and_then(|bytes| usize::try_from(bytes).ok())
            .filter(|bytes| *bytes < isize::MAX as usize / 4);
        let bytes = bytes
            .ok_or_else(|| CpuError::input(format!("an array of type {ty} is larger than any memory")))?;
        let place = match &buffer.storage {
            Storage::Argument => Place::Argument,
            Storage::Result => Place::Result,
            Storage::Constant(literal) => Place::Constant(literal.clone()),
            Storage::Arena => {
                let (first, last) = buffer.life;
                lifetimes.push(Lifetime {
                    bytes: bytes.max(1),
                    first,
                    last,
                });
                in_arena.push(index);
                Place::Arena(0)
            }
        };
        buffers.push(BoundBuffer {
            ty: Arc::new(ty),
            bytes,
            place,
        });
    }
    let (offsets, arena_bytes) = place(&lifetimes, ALIGNMENT);
    for (index, offset) in in_arena.into_iter().zip(offsets) {
        buffers[index].place = Place::Arena(offset);
    }
    Ok((buffers, arena_bytes))
}

struct Binder<'a> {
    loaded: &'a Loaded,
    plan: &'a Plan,
    sizes: &'a [i64],
    library: Module,
    buffers: &'a [BoundBuffer],
    scratch_bytes: usize,
    shared_bytes: usize,
}

impl Binder<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<Vec<BoundStep>, CpuError> {
        steps
            .iter()
            .map(|step| {
                let kind = self.step(step).map_err(|error| error.at(step.source))?;
                Ok(BoundStep {
                    kind,
                    source: step.source,
                    number: step.number,
                })
            })
            .collect()
    }

    fn step(&mut self, step: &Step) -> Result<BoundKind, CpuError> {
        Ok(match &step.kind {
            StepKind::Launch(own) => {
                let program = self.loaded.program(own.kernel)?;
                let bound = launch::bind(self.plan, own, program, self.sizes)?;
                self.scratch_bytes = self.scratch_bytes.max(bound.scratch_bytes);
                let shared = bound.segments.as_ref().map_or(0, |segments| segments.bytes);
                self.shared_bytes = self.shared_bytes.max(shared);
                BoundKind::Launch(Box::new(bound))
            }
            StepKind::Product(product) => BoundKind::Product(Box::new(self.product(product)?)),
            StepKind::Copy { from, to } => {
                let bytes = self.buffers[to.index()].bytes;
                if self.buffers[from.index()].bytes != bytes {
                    return Err(CpuError::bounds("a copy between arrays of different sizes"));
                }
                BoundKind::Copy {
                    from: from.index(),
                    to: to.index(),
                    bytes,
                }
            }
            StepKind::Operation {
                function,
                regions,
                operands,
                results,
                ..
            } => self.operation(*function, regions, operands, results)?,
            StepKind::While {
                condition,
                predicate,
                body,
            } => BoundKind::While {
                condition: self.steps(condition)?,
                predicate: predicate.index(),
                body: self.steps(body)?,
            },
            StepKind::Case { index, branches } => BoundKind::Case {
                index: index.index(),
                element: self.plan.buffers[*index].storage_type(),
                branches: branches
                    .iter()
                    .map(|branch| self.steps(branch))
                    .collect::<Result<_, _>>()?,
            },
        })
    }

    fn size(&self, id: artifact_lower::SizeId) -> Result<usize, CpuError> {
        usize::try_from(self.sizes[id.index()]).map_err(|_| CpuError::input("a size is negative"))
    }

    fn product(&self, product: &Product) -> Result<BoundProduct, CpuError> {
        let Product {
            batch,
            rows,
            columns,
            contracted,
            left,
            right,
            output,
        } = product;
        let side = |access: &Access, axes: [&[artifact_lower::SizeId]; 3]| self.side(access, &axes.concat());
        let axes = [batch.as_slice(), rows, columns, contracted].concat();
        let sizes = axes.iter().map(|axis| self.size(*axis));
        launch::check_positions(&sizes.collect::<Result<Vec<_>, _>>()?)?;
        Ok(BoundProduct {
            left: side(left, [batch, rows, contracted])?,
            right: side(right, [batch, columns, contracted])?,
            output: side(output, [batch, rows, columns])?,
            batch: batch.len(),
            rows: rows.len(),
            columns: columns.len(),
            contracted: contracted.len(),
        })
    }

    fn side(&self, access: &Access, axes: &[artifact_lower::SizeId]) -> Result<BoundSide, CpuError> {
        let element = self.plan.buffers[access.buffer].storage_type();
        let shape: Vec<usize> = axes
            .iter()
            .map(|axis| self.size(*axis))
            .collect::<Result<_, _>>()?;
        let (operand, strides) = launch::bind_access(self.plan, access, &shape, self.sizes, element)?;
        Ok(BoundSide {
            operand,
            element,
            shape,
            strides,
        })
    }

    fn operation(
        &mut self,
        function: FunctionId,
        regions: &[Option<KernelId>],
        operands: &[Operand],
        results: &[Operand],
    ) -> Result<BoundKind, CpuError> {
        self.specialise(function, operands, results);
        let of = |operands: &[Operand]| -> Option<Vec<BufferId>> {
            let array = |operand: &Operand| match operand {
                Operand::Array(buffer, _) => Some(*buffer),
                Operand::Token | Operand::Tuple(_) => None,
            };
            operands.iter().map(array).collect()
        };
        let evaluation = Evaluation {
            function,
            operands: operands.to_vec(),
            results: results.to_vec(),
        };
        let arrays = of(operands).zip(of(results));
        let routine = arrays.and_then(|(operands, results)| {
            routine::bind(
                self.loaded,
                &self.library,
                function,
                [&operands, &results],
                regions,
            )
        });
        Ok(match routine {
            Some(routine) => BoundKind::Routine(Box::new(RoutineOrElse { routine, evaluation })),
            None => BoundKind::Evaluate(evaluation),
        })
    }

    /// Gives a function of the library the types of this binding.
    fn specialise(&mut self, function: FunctionId, operands: &[Operand], results: &[Operand]) {
        let inputs: Vec<Type> = operands.iter().map(|operand| self.type_of(operand)).collect();
        let outputs: Vec<Type> = results.iter().map(|operand| self.type_of(operand)).collect();
        let function = &mut self.library.functions[function];
        for (parameter, ty) in function.arguments.iter_mut().zip(&inputs) {
            parameter.ty = ty.clone();
        }
        for (parameter, ty) in function.results.iter_mut().zip(&outputs) {
            parameter.ty = ty.clone();
        }
        let Some(body) = &mut function.body else { return };
        let Some(block) = body.entry_block() else { return };
        let arguments = body.blocks[block].arguments.clone();
        let made = body.blocks[block]
            .ops
            .first()
            .map(|id| body.ops[*id].results.clone());
        let values = arguments
            .into_iter()
            .zip(inputs)
            .chain(made.into_iter().flatten().zip(outputs));
        for (value, ty) in values {
            body.values[value].ty = ty;
        }
    }

    fn type_of(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Array(buffer, dims) => {
                let dims = dims.iter().map(|dim| self.sizes[dim.index()].unsigned_abs());
                let dims: Vec<u64> = dims.collect();
                let element = self.buffers[buffer.index()].ty.element.clone();
                Type::from(TensorType::of_static(&dims, element))
            }
            Operand::Token => Type::Token,
            Operand::Tuple(parts) => Type::Tuple(parts.iter().map(|part| self.type_of(part)).collect()),
        }
    }
}

impl Bound {
    /// The step of this number, in whichever sequence.
    fn find(&self, number: u32) -> Option<&BoundStep> {
        find(&self.steps, number)
    }

    /// Whether a routine does an operation.
    pub(crate) fn has_routine(&self, number: u32) -> bool {
        self.find(number)
            .is_some_and(|step| matches!(step.kind, BoundKind::Routine(_)))
    }

    /// Arithmetic operations of a launch.
    pub(crate) fn launch_flops(&self, number: u32, loaded: &Loaded) -> u64 {
        match self.find(number).map(|step| &step.kind) {
            Some(BoundKind::Launch(launch)) => {
                let program = &loaded.kernels[launch.kernel].program;
                (launch.elements as u64).saturating_mul(program.flops as u64)
            }
            _ => 0,
        }
    }

    /// Arithmetic operations of a product: two for each product of elements.
    pub(crate) fn product_flops(&self, number: u32) -> u64 {
        match self.find(number).map(|step| &step.kind) {
            Some(BoundKind::Product(product)) => {
                let left: u64 = product.left.shape.iter().map(|size| *size as u64).product();
                let columns = &product.right.shape[product.batch..product.batch + product.columns];
                columns
                    .iter()
                    .fold(2 * left, |flops, size| flops.saturating_mul(*size as u64))
            }
            _ => 0,
        }
    }
}

fn find(steps: &[BoundStep], number: u32) -> Option<&BoundStep> {
    steps.iter().find_map(|step| {
        if step.number == number {
            return Some(step);
        }
        match &step.kind {
            BoundKind::While { condition, body, .. } => {
                find(condition, number).or_else(|| find(body, number))
            }
            BoundKind::Case { branches, .. } => branches.iter().find_map(|branch| find(branch, number)),
            _ => None,
        }
    })
}
