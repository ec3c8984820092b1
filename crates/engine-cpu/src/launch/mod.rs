//! Runs kernels: cuts the iteration space into rectangles, brings operands next to each other where they are not, and calls the
//! code of the phases.
//!
//! Every rectangle is the same whatever the number of threads: threads take blocks of rows, and a block's results depend on
//! nothing but itself.

mod apart;
mod bound;
mod map;
mod tiles;
mod together;

pub(crate) use bound::{
    BoundLaunch, Operand as BoundOperand, Resolved, bind, bind_access, check_positions, integer,
};

use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::pool::Parallel;

use crate::kernel::program::Program;
use crate::machine::Machine;
use crate::memory::Scratch;

/// The code of one phase.
pub(crate) type PhaseFn =
    unsafe extern "C" fn(*const Machine<'_>, *const artifact_cpu_tile::Tile, usize, usize);

/// A kernel that can be run.
#[derive(Debug)]
pub(crate) struct LoadedKernel {
    pub(crate) program: Program,
    /// One function for each phase.
    pub(crate) phases: Vec<PhaseFn>,
}

/// What a launch needs besides its own sizes.
pub(crate) struct Run<'a> {
    pub(crate) machine: &'a Machine<'a>,
    pub(crate) kernel: &'a LoadedKernel,
    pub(crate) launch: &'a BoundLaunch,
    /// Where operands begin.
    pub(crate) resolved: &'a [Resolved],
    pub(crate) scratch: &'a Scratch,
}

/// Blocks that one thread does before it asks for more.
const BLOCKS_PER_TASK: usize = 4;

/// Elements below which waking another thread costs more than it saves.
const PARALLEL_ELEMENTS_MIN: usize = 1 << 14;

impl Run<'_> {
    /// Runs all of it.
    pub(crate) fn run(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        if self.launch.is_empty {
            return Ok(());
        }
        match self.launch.shape {
            bound::Shape::Map => self.blocks(parallel, self.launch.blocks, &|slot, block| {
                self.map_block(slot, block)
            }),
            bound::Shape::Together => self.together(parallel),
            bound::Shape::Apart => self.apart(parallel),
        }
    }

    /// Runs blocks, in tasks of several.
    fn blocks(
        &self,
        parallel: Parallel<'_>,
        count: usize,
        block: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), RoutineError> {
        if self.launch.elements < PARALLEL_ELEMENTS_MIN || count == 1 {
            for index in 0..count {
                block(0, index);
            }
            return Ok(());
        }
        let per_task = BLOCKS_PER_TASK.min(count.div_ceil(8)).max(1);
        parallel.run(count.div_ceil(per_task), &|task| {
            for index in task.index * per_task..count.min((task.index + 1) * per_task) {
                block(task.slot, index);
            }
        })
    }
}
