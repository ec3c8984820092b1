//! Runs the steps of a bound plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artifact_core::blob::Blob;
use artifact_core::entity::EntityId as _;
use artifact_cpu_routine::copy::copy;
use artifact_cpu_routine::dot::{Dimensions, dot_general};
use artifact_cpu_routine::pool::Parallel;
use artifact_cpu_routine::view::{View, ViewMut};
use artifact_cpu_routine::workspace::Workspace;
use artifact_engine::Watch;
use artifact_eval::tensor::Tensor;
use artifact_eval::{CheckFailure, Options, Outcome, Value};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, Type};
use artifact_lower::plan::Operand;
use smallvec::SmallVec;

use crate::bind::{Bound, BoundKind, BoundProduct, BoundSide, BoundStep, Evaluation, RoutineOrElse};
use crate::error::CpuError;
use crate::launch::{BoundLaunch, Resolved, Run, integer};
use crate::loaded::Loaded;
use crate::machine::Machine;
use crate::memory::Scratch;
use crate::routine::Hands;
use crate::watched;

/// What a run of steps needs.
pub(crate) struct Runner<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) bound: &'a Bound,
    pub(crate) machine: Machine<'a>,
    /// Where each buffer lies.
    pub(crate) buffers: &'a [*mut u8],
    pub(crate) scratch: &'a Scratch,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) parallel: Parallel<'a>,
    pub(crate) stop: &'a AtomicBool,
    /// Ends what is evaluated.
    pub(crate) watch: &'a Watch,
    pub(crate) options: Options,
    /// What evaluated steps say besides their results.
    pub(crate) outcome: Outcome,
    /// Called before and after each step, when somebody wants to know how long it takes.
    pub(crate) observer: Option<&'a dyn Fn(u32, std::time::Duration)>,
}

impl Runner<'_> {
    /// Runs steps in order.
    ///
    /// # Safety
    /// Each address of `buffers` must be that of a buffer of its size, which nobody else uses but to read arguments and
    /// constants.
    pub(crate) unsafe fn steps(&mut self, steps: &[BoundStep]) -> Result<(), CpuError> {
        for step in steps {
            if self.stop.load(Ordering::Relaxed) {
                return Err(CpuError::stopped("it was cancelled, or its time is over").at(step.source));
            }
            let begin = self.observer.is_some().then(std::time::Instant::now);
            // SAFETY: the caller's promise.
            unsafe { self.step(step) }.map_err(|error| error.at(step.source))?;
            if let (Some(begin), Some(observer)) = (begin, self.observer) {
                observer(step.number, begin.elapsed());
            }
        }
        Ok(())
    }

    unsafe fn step(&mut self, step: &BoundStep) -> Result<(), CpuError> {
        match &step.kind {
            // SAFETY: the caller's promise.
            BoundKind::Launch(launch) => unsafe { self.launch(launch) },
            // SAFETY: the caller's promise.
            BoundKind::Product(product) => unsafe { self.product(product) },
            BoundKind::Copy { from, to, bytes } => {
                // SAFETY: both buffers have so many bytes, and lie apart.
                let (from, mut to) = unsafe {
                    (
                        View::new(self.buffers[*from], ElementType::UI8, &[*bytes], &[1]),
                        ViewMut::new(self.buffers[*to], ElementType::UI8, &[*bytes], &[1]),
                    )
                };
                Ok(copy(self.parallel, &from, &mut to)?)
            }
            // SAFETY: the caller's promise.
            BoundKind::Routine(own) => unsafe { self.routine(own, step.source) },
            // SAFETY: the caller's promise.
            BoundKind::Evaluate(evaluation) => unsafe { self.evaluate(evaluation, step.source) },
            BoundKind::While {
                condition,
                predicate,
                body,
            } => loop {
                // SAFETY: the caller's promise.
                unsafe {
                    self.steps(condition)?;
                    if self.buffers[*predicate].read() == 0 {
                        return Ok(());
                    }
                    self.steps(body)?;
                }
            },
            BoundKind::Case {
                index,
                element,
                branches,
            } => {
                // SAFETY: the buffer has one element of this type.
                let index = unsafe { integer(self.buffers[*index], *element) };
                let index = if element.is_boolean() {
                    i64::from(index == 0)
                } else {
                    index
                };
                let last = branches.len().saturating_sub(1);
                let chosen = usize::try_from(index).map_or(last, |index| index.min(last));
                match branches.get(chosen) {
                    // SAFETY: the caller's promise.
                    Some(branch) => unsafe { self.steps(branch) },
                    None => Ok(()),
                }
            }
        }
    }

    unsafe fn launch(&self, launch: &BoundLaunch) -> Result<(), CpuError> {
        // SAFETY: the caller's promise.
        let resolved = launch
            .operands
            .iter()
            .map(|operand| unsafe { operand.resolve(self.buffers) });
        let resolved: SmallVec<[Resolved; 16]> = resolved.collect();
        let run = Run {
            machine: &self.machine,
            kernel: &self.loaded.kernels[launch.kernel],
            launch,
            resolved: &resolved,
            scratch: self.scratch,
        };
        run.run(self.parallel)?;
        self.check()
    }

    /// Whether the step was done to its end, and all elements that the evaluator had to compute could be.
    fn check(&self) -> Result<(), CpuError> {
        if self.machine.is_stopped() {
            return Err(CpuError::stopped("it was cancelled, or its time is over"));
        }
        if self.machine.failed.load(Ordering::Relaxed) {
            return Err(CpuError::input("an operation is not defined for its elements"));
        }
        Ok(())
    }

    unsafe fn routine(&mut self, own: &RoutineOrElse, source: SourceOffset) -> Result<(), CpuError> {
        let (buffers, parallel) = (self.buffers, self.parallel);
        let hands = Hands {
            buffers,
            parallel,
            workspace: self.workspace,
            machine: &self.machine,
            kernels: &self.loaded.kernels,
        };
        // SAFETY: the caller's promise.
        let is_declined = unsafe {
            own.routine.run(hands)?;
            own.routine.is_declined(buffers)
        };
        self.check()?;
        if is_declined {
            // SAFETY: the caller's promise.
            unsafe { self.evaluate(&own.evaluation, source)? };
        }
        Ok(())
    }

    unsafe fn product(&mut self, product: &BoundProduct) -> Result<(), CpuError> {
        let BoundProduct {
            left,
            right,
            output,
            batch,
            rows,
            columns,
            contracted,
        } = product;
        let indices: SmallVec<[usize; 16]> = (0..16).collect();
        let part = |from: usize, count: usize| indices.get(from..from + count).unwrap_or_default();
        let dimensions = Dimensions {
            batch: [part(0, *batch), part(0, *batch)],
            free: [part(*batch, *rows), part(*batch, *columns)],
            contracting: [
                part(batch + rows, *contracted),
                part(batch + columns, *contracted),
            ],
        };
        // SAFETY: the caller's promise.
        let data = |side: &BoundSide| match unsafe { side.operand.resolve(self.buffers) } {
            Resolved::Array(data) => data,
            Resolved::Position(_) => std::ptr::null_mut(),
        };
        // SAFETY: the sides were checked to stay within their buffers.
        unsafe {
            let lhs = View::new(data(left), left.element, &left.shape, &left.strides);
            let rhs = View::new(data(right), right.element, &right.shape, &right.strides);
            let mut out = ViewMut::new(data(output), output.element, &output.shape, &output.strides);
            dot_general(self.parallel, self.workspace, &dimensions, &lhs, &rhs, &mut out)?;
        }
        Ok(())
    }

    /// Lets the evaluator do an operation.
    unsafe fn evaluate(&mut self, evaluation: &Evaluation, source: SourceOffset) -> Result<(), CpuError> {
        let Evaluation {
            function,
            operands,
            results,
        } = evaluation;
        let function = *function;
        let parameters = self.bound.library.functions[function].arguments.iter();
        let inputs = operands
            .iter()
            .zip(parameters)
            // SAFETY: the caller's promise.
            .map(|(operand, parameter)| unsafe { self.value(operand, &parameter.ty) });
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let library = &self.bound.library;
        let outcome = watched::evaluate(library, function, inputs, &self.options, self.watch)?;
        for (operand, value) in results.iter().zip(&outcome.results) {
            // SAFETY: the caller's promise.
            unsafe { self.keep(operand, value)? };
        }
        self.outcome.checks += outcome.checks;
        // What it was read from has no places; the step has.
        let placed = outcome
            .failures
            .into_iter()
            .map(|failure| CheckFailure { source, ..failure });
        self.outcome.failures.extend(placed);
        self.outcome.printed.extend(outcome.printed);
        self.outcome.outfeed.extend(outcome.outfeed);
        Ok(())
    }

    unsafe fn value(&self, operand: &Operand, ty: &Type) -> Result<Value, CpuError> {
        Ok(match operand {
            Operand::Token => Value::Token,
            Operand::Tuple(parts) => {
                // SAFETY: the caller's promise.
                let types = if let Type::Tuple(types) = ty {
                    types
                } else {
                    &Arc::default()
                };
                let parts = parts
                    .iter()
                    .zip(types.iter())
                    // SAFETY: the caller's promise.
                    .map(|(part, ty)| unsafe { self.value(part, ty) });
                Value::Tuple(parts.collect::<Result<Arc<[Value]>, _>>()?)
            }
            Operand::Array(buffer, _) => {
                let own = &self.bound.buffers[buffer.index()];
                // SAFETY: the buffer has so many bytes.
                let bytes = unsafe { std::slice::from_raw_parts(self.buffers[buffer.index()], own.bytes) };
                let refused = |error: &dyn std::fmt::Display| CpuError::input(error.to_string());
                let ty = ty.as_tensor().unwrap_or(&own.ty);
                let literal = Literal::dense(Arc::clone(ty), Blob::new(bytes.to_vec()));
                let literal = literal.map_err(|error| refused(&error))?;
                Value::Tensor(Tensor::from_literal(&literal).map_err(|error| refused(&error))?)
            }
        })
    }

    unsafe fn keep(&self, operand: &Operand, value: &Value) -> Result<(), CpuError> {
        match (operand, value) {
            (Operand::Array(buffer, _), Value::Tensor(tensor)) => {
                let own = &self.bound.buffers[buffer.index()];
                let bytes = tensor.bytes();
                if bytes.len() != own.bytes {
                    return Err(CpuError::input("an operation gave a result of another size"));
                }
                // SAFETY: the buffer has so many bytes.
                unsafe {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.buffers[buffer.index()], bytes.len())
                };
                Ok(())
            }
            (Operand::Tuple(parts), Value::Tuple(values)) => {
                for (part, value) in parts.iter().zip(values.iter()) {
                    // SAFETY: the caller's promise.
                    unsafe { self.keep(part, value)? };
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
