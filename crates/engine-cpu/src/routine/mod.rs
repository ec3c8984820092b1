//! Operations that a routine does, over whole arrays.
//!
//! A routine is bound with its sizes and keeps what can be made before a call. Regions are operations that it has loops for, or
//! functions that were compiled. What it does not do (regions that are more than that, types without a routine) is left to the
//! evaluator.

mod assertion;
mod convolution;
mod function;
mod indexing;
mod lapack;
mod linear;
mod regions;
mod sort;
mod windows;

use std::sync::Arc;

use artifact_core::entity::EntityId as _;
use artifact_cpu_routine::pool::Parallel;
use artifact_cpu_routine::view::{View, ViewMut};
use artifact_cpu_routine::workspace::Workspace;
use artifact_ir::module::{Body, FunctionId, Module, Operation};
use artifact_ir::op::{Chlo, Contraction, Control, Creation, Indexing, Linalg, Op, Reduction};
use artifact_ir::types::{ElementType, TensorType, Type};
use artifact_lower::plan::{BufferId, KernelId};

use crate::error::CpuError;
use crate::launch::LoadedKernel;
use crate::loaded::Loaded;
use crate::machine::Machine;
use function::Function;

/// An array of a routine: its buffer, and its type.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    buffer: usize,
    element: ElementType,
    shape: Vec<usize>,
}

impl Array {
    fn new(buffer: BufferId, ty: &TensorType) -> Option<Self> {
        let shape = ty
            .static_shape()?
            .into_iter()
            .map(usize::try_from)
            .collect::<Result<_, _>>()
            .ok()?;
        Some(Self {
            buffer: buffer.index(),
            element: ty.element.as_plain()?,
            shape,
        })
    }

    /// Strides in bytes of the dense array.
    fn strides(&self) -> Vec<isize> {
        let mut strides = vec![0; self.shape.len()];
        let mut stride = self.element.bytes() as isize;
        for (own, size) in strides.iter_mut().zip(&self.shape).rev() {
            *own = stride;
            stride *= *size as isize;
        }
        strides
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.element.bytes()
    }

    /// # Safety
    /// `buffers` must point to the buffers of the plan that it was bound for.
    unsafe fn view<'a>(&self, buffers: &'a [*mut u8]) -> View<'a> {
        // SAFETY: the buffer is as large as the dense array.
        unsafe { View::new(buffers[self.buffer], self.element, &self.shape, &self.strides()) }
    }

    /// # Safety
    /// As for [`Array::view`], and nobody else uses the buffer meanwhile.
    unsafe fn view_mut<'a>(&self, buffers: &'a [*mut u8]) -> ViewMut<'a> {
        // SAFETY: the buffer is as large as the dense array.
        unsafe { ViewMut::new(buffers[self.buffer], self.element, &self.shape, &self.strides()) }
    }
}

/// Memory and threads of one call.
pub(crate) struct Hands<'a> {
    pub(crate) buffers: &'a [*mut u8],
    pub(crate) parallel: Parallel<'a>,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) machine: &'a Machine<'a>,
    pub(crate) kernels: &'a [LoadedKernel],
}

/// What a routine does in a call.
pub(crate) trait Routine: std::fmt::Debug + Send + Sync {
    /// Runs it.
    ///
    /// # Safety
    /// The buffers must be those of the plan that it was bound for.
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError>;

    /// Whether what it has left is not the result, since the case was a rare one that only the evaluator knows.
    ///
    /// # Safety
    /// As for [`Routine::run`], after it.
    unsafe fn is_declined(&self, _buffers: &[*mut u8]) -> bool {
        false
    }
}

/// A routine with its sizes.
pub(crate) type BoundRoutine = Arc<dyn Routine>;

/// An operation to bind.
struct Site<'a> {
    loaded: &'a Loaded,
    body: &'a Body,
    op: &'a Operation,
    /// Kernels of its regions.
    regions: &'a [Option<KernelId>],
    operands: Vec<Array>,
    results: Vec<Array>,
}

/// The routine for a function of the library; `None` where the evaluator does it.
pub(crate) fn bind(
    loaded: &Loaded,
    library: &Module,
    function: FunctionId,
    [operands, results]: [&[BufferId]; 2],
    regions: &[Option<KernelId>],
) -> Option<BoundRoutine> {
    let function = &library.functions[function];
    let body = function.body.as_ref()?;
    let op = &body.ops[*body.blocks[body.entry_block()?].ops.first()?];
    let arrays = |buffers: &[BufferId], types: &[artifact_ir::module::Parameter]| -> Option<Vec<Array>> {
        let tensor = |ty: &'_ Type| ty.as_tensor().map(Arc::clone);
        buffers
            .iter()
            .zip(types)
            .map(|(buffer, own)| Array::new(*buffer, &*tensor(&own.ty)?))
            .collect()
    };
    let site = Site {
        operands: arrays(operands, &function.arguments)?,
        results: arrays(results, &function.results)?,
        loaded,
        body,
        op,
        regions,
    };
    match &op.op {
        Op::Indexing(Indexing::Gather(gather)) => indexing::gather(&site, gather),
        Op::Indexing(Indexing::DynamicGather(gather)) => indexing::dynamic_gather(&site, gather),
        Op::Indexing(Indexing::Scatter(scatter)) => indexing::scatter(&site, scatter),
        Op::Reduction(Reduction::Sort(own)) => sort::sort(&site, own),
        Op::Chlo(Chlo::TopK(_)) => sort::top_k(&site),
        Op::Reduction(Reduction::Reduce(own)) => windows::reduce(&site, own),
        Op::Reduction(Reduction::ReduceWindow(own)) => windows::reduce_window(&site, own),
        Op::Reduction(Reduction::SelectAndScatter(own)) => windows::select_and_scatter(&site, own),
        Op::Contraction(Contraction::Convolution(own)) => convolution::convolution(&site, own),
        Op::Contraction(Contraction::DynamicConv(own)) => convolution::dynamic_convolution(&site, own),
        Op::Linalg(Linalg::Cholesky(own)) => linear::cholesky(&site, own),
        Op::Linalg(Linalg::TriangularSolve(own)) => linear::triangular_solve(&site, own),
        Op::Linalg(Linalg::Fft(own)) => linear::fft(&site, own),
        Op::Creation(Creation::RngBitGenerator(own)) => linear::random(&site, own),
        Op::Control(Control::CustomCall(own)) => {
            assertion::shape_assertion(&site, own).or_else(|| lapack::call(&site, own))
        }
        _ => None,
    }
}

impl Site<'_> {
    /// A region that was compiled, where it takes and returns elements of these types.
    fn function(
        &self,
        region: usize,
        arguments: &[ElementType],
        results: &[ElementType],
    ) -> Option<Function> {
        let id = (*self.regions.get(region)?)?;
        let program = self.loaded.program(id).ok()?;
        Function::of(&self.loaded.plan, program, id, arguments, results)
    }

    /// The operands and the only result.
    fn fixed<const N: usize>(&self) -> Option<([Array; N], Array)> {
        let operands = self.operands.clone().try_into().ok()?;
        let [result] = self.results.as_slice() else {
            return None;
        };
        Some((operands, result.clone()))
    }
}

/// Dimensions of the program as positions.
fn positions(dims: &[i64]) -> Vec<usize> {
    dims.iter().filter_map(|dim| usize::try_from(*dim).ok()).collect()
}
