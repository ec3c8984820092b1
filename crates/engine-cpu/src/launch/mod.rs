//! Runs kernels: cuts the iteration space into rectangles, brings operands next to each other where they are not, and calls the
//! code of the phases.
//!
//! Every rectangle is the same whatever the number of threads: threads take blocks of rows, and a block's results depend on
//! nothing but itself.

mod apart;
mod bound;
mod map;
mod movement;
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
use tiles::Desk;

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

/// Blocks that one thread does before it asks for more, at most; fewer where there are not many for each thread.
const BLOCKS_PER_TASK: usize = 32;
const TASKS_PER_THREAD: usize = 16;

/// Elements below which waking another thread costs more than it saves.
const PARALLEL_ELEMENTS_MIN: usize = 1 << 14;

impl Run<'_> {
    /// Runs all of it.
    pub(crate) fn run(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        if self.launch.is_empty {
            return Ok(());
        }
        match self.launch.shape {
            bound::Shape::Map => self.blocks(parallel, self.launch.blocks, &|desk, block| {
                self.map_block(desk, block);
            }),
            bound::Shape::Move => self.moved(parallel),
            bound::Shape::Together => self.together(parallel),
            bound::Shape::Apart => self.apart(parallel),
        }
    }

    /// Runs blocks, in tasks of several, each at one desk.
    fn blocks(
        &self,
        parallel: Parallel<'_>,
        count: usize,
        block: &(dyn Fn(&mut Desk, usize) + Sync),
    ) -> Result<(), RoutineError> {
        if self.launch.elements < PARALLEL_ELEMENTS_MIN || count == 1 {
            let mut desk = self.desk(0);
            (0..count).for_each(|index| block(&mut desk, index));
            return Ok(());
        }
        let per_task = (count / (TASKS_PER_THREAD * parallel.slots())).clamp(1, BLOCKS_PER_TASK);
        parallel.run(count.div_ceil(per_task), &|task| {
            let mut desk = self.desk(task.slot);
            for index in task.index * per_task..count.min((task.index + 1) * per_task) {
                block(&mut desk, index);
            }
        })
    }
}
