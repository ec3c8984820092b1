//! What an update does to the part of a window that it meets.

use smallvec::SmallVec;

use super::{Array, Job, Ranges};
use crate::combine::CombineRun;
use crate::level::prefetch;
use crate::odometer::{Loop, Nest};

/// Updates for which the elements are asked before they are needed, and the bytes of one that are.
const AHEAD: usize = 8;
const AHEAD_BYTES: usize = 512;

/// The loop around a single element.
const ONCE: Loop<2> = Loop {
    size: 1,
    steps: [0; 2],
};

/// Offsets in an array and in its updates.
pub(super) type Bases = [isize; 2];

/// A part of every window: its first element and the loops over it, for each array.
pub(super) struct Part {
    pub(super) first: SmallVec<[Bases; 2]>,
    nests: SmallVec<[Nest<2>; 2]>,
    empty: bool,
}

impl Part {
    pub(super) fn new(job: &Job<'_>, ranges: &Ranges) -> Self {
        let nest = |array: &Array| {
            let mut nest = Nest::default();
            for ([from, to], strides) in ranges.iter().zip(&array.strides) {
                nest.push((to - from).max(0) as usize, *strides);
            }
            // Arrays that are combined together are walked in step.
            if job.together.is_some() && job.arrays.len() > 1 {
                nest
            } else {
                nest.collapsed()
            }
        };
        let first = |array: &Array| {
            let offset = |side: usize| -> isize {
                ranges
                    .iter()
                    .zip(&array.strides)
                    .map(|([from, _], strides)| *from as isize * strides[side])
                    .sum()
            };
            [offset(0), offset(1)]
        };
        Self {
            first: job.arrays.iter().map(first).collect(),
            nests: job.arrays.iter().map(nest).collect(),
            empty: ranges.iter().any(|[from, to]| from >= to),
        }
    }

    /// Bytes of the first array's part that lie together.
    fn run_bytes(&self, job: &Job<'_>) -> usize {
        let width = job.arrays[0].width;
        match self.nests[0].loops.last() {
            Some(last) if last.steps[0] == width as isize => last.size * width,
            _ => width,
        }
    }

    /// Combines parts of windows with their updates, in order. There is one entry for each array of each update.
    pub(super) fn apply(&self, job: &Job<'_>, found: &[Bases]) {
        if self.empty {
            return;
        }
        let arrays = job.arrays.len();
        let first = &job.arrays[0];
        let bytes = self.run_bytes(job).min(AHEAD_BYTES);
        let ask = |[to, from]: Bases| {
            prefetch(first.to.at(to), bytes);
            prefetch(first.from.at(from), bytes);
        };
        found.iter().step_by(arrays).take(AHEAD).copied().for_each(ask);
        for (number, bases) in found.chunks_exact(arrays).enumerate() {
            if let Some(later) = found.get((number + AHEAD) * arrays) {
                ask(*later);
            }
            match job.together {
                Some(together) => self.apply_together(job, together, bases),
                None => self.apply_each(job, bases),
            }
        }
    }

    #[inline]
    fn apply_each(&self, job: &Job<'_>, bases: &[Bases]) {
        for ((array, nest), [to, from]) in job.arrays.iter().zip(&self.nests).zip(bases) {
            let Some(kernel) = array.kernel else { continue };
            let (last, outer) = match nest.loops.split_last() {
                Some((last, outer)) => (*last, outer),
                None => (ONCE, &[][..]),
            };
            let combine = |[target, source]: [isize; 2]| {
                let accumulators = (array.to.at(to + target), last.steps[0]);
                let elements = (array.from.at(from + source), last.steps[1]);
                // SAFETY: the part lies within the array and the update; its range of the array is this task's.
                unsafe { kernel(accumulators, elements, last.size) };
            };
            if outer.is_empty() {
                combine([0; 2]);
            } else {
                let outer = Nest { loops: outer.into() };
                outer.for_each(0..outer.count(), combine);
            }
        }
    }

    fn apply_together(&self, job: &Job<'_>, together: &CombineRun<'_>, bases: &[Bases]) {
        let last = |number: usize| self.nests[number].loops.last();
        let dense = |number: usize| {
            last(number).is_some_and(|last| last.steps == [job.arrays[number].width as isize; 2])
        };
        let run = if (0..job.arrays.len()).all(dense) {
            last(0).map_or(1, |last| last.size)
        } else {
            1
        };
        for position in (0..self.nests[0].count()).step_by(run) {
            let mut accumulators: SmallVec<[*mut u8; 4]> = SmallVec::new();
            let mut elements: SmallVec<[*const u8; 4]> = SmallVec::new();
            for ((array, nest), [to, from]) in job.arrays.iter().zip(&self.nests).zip(bases) {
                let [target, source] = nest.offsets(position);
                accumulators.push(array.to.at(to + target));
                elements.push(array.from.at(from + source));
            }
            together(&accumulators, &elements, run);
        }
    }
}
