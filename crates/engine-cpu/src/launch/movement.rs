//! Kernels that compute nothing: each element goes to another place as it is.

use smallvec::SmallVec;

use artifact_cpu_routine::copy::copy;
use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::pool::Parallel;
use artifact_cpu_routine::view::{View, ViewMut};
use artifact_ir::types::ElementType;

use super::Run;
use super::bound::Resolved;

type Strides = SmallVec<[isize; 6]>;

impl Run<'_> {
    /// Copies the only input to the only output.
    pub(super) fn moved(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        let [Resolved::Array(from), Resolved::Array(to)] = *self.resolved else {
            return Ok(());
        };
        let [source, target] = [0, 1].map(|operand| self.strides(operand));
        if from == to && source == target {
            return Ok(());
        }
        let layout = &self.launch.layout;
        let mut shape: SmallVec<[usize; 6]> = layout.outer.iter().copied().collect();
        shape.extend([layout.rows, layout.columns]);
        let element = element(self.launch.operands[0].width);
        // SAFETY: the launch was checked to stay within its buffers, in which elements are multiples of their width apart.
        let (from, mut to) = unsafe {
            (
                View::new(from, element, &shape, &source),
                ViewMut::new(to, element, &shape, &target),
            )
        };
        copy(parallel, &from, &mut to)
    }

    /// Strides of an operand along the axes of the launch.
    fn strides(&self, operand: usize) -> Strides {
        let walk = &self.launch.layout.walks[operand];
        let along = |axes: &[crate::layout::Axis]| axes.first().map_or(0, |axis| axis.stride);
        let mut strides: Strides = walk.outer.iter().copied().collect();
        strides.extend([along(&walk.rows), along(&walk.columns)]);
        strides
    }
}

/// A type of elements of so many bytes, for which it does not matter what they mean.
const fn element(width: usize) -> ElementType {
    match width {
        1 => ElementType::UI8,
        2 => ElementType::UI16,
        4 => ElementType::UI32,
        8 => ElementType::UI64,
        _ => ElementType::C128,
    }
}
