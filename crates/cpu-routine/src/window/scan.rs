//! Cumulative sums and their like: windows that cover a whole dimension.

use super::WindowDim;
use super::reduce::{Array, REDUCE_WINDOW};
use crate::combine::Combine;
use crate::copy::elements;
use crate::error::RoutineError;
use crate::odometer::Nest;
use crate::pool::Parallel;

/// Elements that one task combines, about.
const TASK_ELEMENTS: usize = 1 << 14;

/// Elements of neighbouring rows that are combined together.
const LANES: usize = 256;

/// Windows that begin at each element of a dimension, or end there, and go on to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cumulative {
    dim: usize,
    /// From the last element to the first.
    reverse: bool,
}

impl Cumulative {
    /// Whether windows are of this kind.
    pub(super) fn find(windows: &[WindowDim], shape: &[usize]) -> Option<Self> {
        let mut others = (0..windows.len()).filter(|dim| !windows[*dim].is_trivial());
        let (dim, None) = (others.next()?, others.next()) else {
            return None;
        };
        let (window, size) = (windows[dim], shape[dim]);
        let plain = WindowDim {
            size,
            ..WindowDim::default()
        };
        let edge = i64::try_from(size).ok()? - 1;
        let forward = WindowDim { low: edge, ..plain };
        let backward = WindowDim { high: edge, ..plain };
        (window == forward || window == backward).then_some(Self {
            dim,
            reverse: window == backward,
        })
    }

    pub(super) fn run(
        self,
        parallel: Parallel<'_>,
        array: &Array,
        combine: Combine,
    ) -> Result<(), RoutineError> {
        let kernels = combine
            .kernels(array.element)
            .ok_or_else(|| RoutineError::unsupported(REDUCE_WINDOW, array.element))?;
        let mut nest = Nest::of([&array.output, &array.input]);
        let along = nest.loops.remove(self.dim);
        let (mut first, mut steps) = ([0; 2], along.steps);
        if self.reverse {
            first = steps.map(|step| (along.size as isize - 1) * step);
            steps = steps.map(|step| -step);
        }
        let (to, from, init) = (array.to, array.from, array.init);
        let closest = nest
            .loops
            .iter()
            .filter(|one| one.size > 1)
            .map(|one| one.steps[0].abs())
            .min();
        if closest.is_none_or(|closest| closest > steps[0].abs()) {
            let nest = nest.collapsed();
            return parallel.ranges(nest.count(), TASK_ELEMENTS / along.size, &|range, _| {
                nest.for_each(range, |[target, source]| {
                    let results = (to.at(target + first[0]), steps[0]);
                    let elements = (from.at(source + first[1]), steps[1]);
                    // SAFETY: rows of the views, whose shapes are the same; a result is written by one task.
                    unsafe { (kernels.scan)(results, elements, along.size, init.at(0)) };
                });
            });
        }
        nest.loops
            .sort_by_key(|one| std::cmp::Reverse(one.steps[0].abs()));
        let (outer, last) = nest.collapsed().split_last();
        let pieces = last.size.div_ceil(LANES);
        let grain = TASK_ELEMENTS / (along.size * LANES.min(last.size));
        let width = array.element.bytes();
        parallel.ranges(outer.count() * pieces, grain, &|range, _| {
            for index in range {
                let lane = index % pieces * LANES;
                let base = outer.offsets(index / pieces);
                let [target, source] = [0, 1].map(|at| base[at] + first[at] + lane as isize * last.steps[at]);
                let lanes = LANES.min(last.size - lane);
                let mut before = (init.at(0), 0);
                for at in 0..along.size as isize {
                    let results = (to.at(target + at * steps[0]), last.steps[0]);
                    let row = (from.at(source + at * steps[1]), last.steps[1]);
                    // SAFETY: as above; the row before is complete.
                    unsafe {
                        elements(width, before, results, lanes);
                        (kernels.combine)(results, row, lanes);
                    }
                    before = (results.0.cast_const(), results.1);
                }
            }
        })
    }
}
