//! Operations that a routine does, over whole arrays.

use artifact_cpu_routine::pool::Parallel;
use artifact_cpu_routine::workspace::Workspace;
use artifact_ir::module::{FunctionId, Module};
use artifact_lower::plan::BufferId;

use crate::bind::BoundBuffer;
use crate::error::CpuError;

/// A routine with its sizes.
#[derive(Debug)]
pub(crate) enum BoundRoutine {}

/// The routine for a function of the library; `None` where the evaluator does it.
pub(crate) fn bind(
    _library: &Module,
    _function: FunctionId,
    _operands: &[BufferId],
    _results: &[BufferId],
    _buffers: &[BoundBuffer],
) -> Option<BoundRoutine> {
    None
}

impl BoundRoutine {
    /// Runs it.
    ///
    /// # Safety
    /// `buffers` must point to the buffers of the plan that it was bound for.
    pub(crate) unsafe fn run(
        &self,
        _buffers: &[*mut u8],
        _parallel: Parallel<'_>,
        _workspace: &mut Workspace,
    ) -> Result<(), CpuError> {
        match *self {}
    }
}
