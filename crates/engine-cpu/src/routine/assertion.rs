//! Shape assertions, by which JAX's exports check the sizes that they are called with.

use std::sync::Arc;

use artifact_ir::op::CustomCall;
use artifact_ir::types::ElementType;

use super::{Array, BoundRoutine, Hands, Routine, Site};
use crate::error::CpuError;

/// Nothing is to do while it holds; the evaluator says what does not.
#[derive(Debug)]
struct Assertion {
    holds: Array,
}

impl Routine for Assertion {
    unsafe fn run(&self, _hands: Hands<'_>) -> Result<(), CpuError> {
        Ok(())
    }

    unsafe fn is_declined(&self, buffers: &[*mut u8]) -> bool {
        // SAFETY: an array of one boolean.
        unsafe { buffers[self.holds.buffer].read() == 0 }
    }
}

pub(super) fn shape_assertion(site: &Site<'_>, call: &CustomCall) -> Option<BoundRoutine> {
    let holds = site.operands.first()?;
    let is_boolean = holds.element == ElementType::I1 && holds.shape.is_empty();
    let is_assertion = call.call_target_name.as_str() == Some("shape_assertion");
    let holds = holds.clone();
    (is_assertion && is_boolean).then(|| Arc::new(Assertion { holds }) as BoundRoutine)
}
