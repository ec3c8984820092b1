//! Moves elements as they are: copies and transposes between views, fills, pads, concatenates, and takes and replaces parts.

mod pad;
mod part;
mod strided;
pub(crate) mod transpose;

pub use pad::{Padding, fill, pad};
pub use part::{concatenate, dynamic_slice, dynamic_update_slice, slice};
pub(crate) use strided::{elements, run};

use crate::error::{RoutineError, check_same};
use crate::odometer::{Loop, Nest};
use crate::pool::{Parallel, Task};
use crate::view::{Source, Target, View, ViewMut};

const COPY: &str = "copy";

/// Bytes that one task moves, about: enough to pay for handing it out, little enough to share.
const TASK_BYTES: usize = 1 << 18;

/// Results of at least so many bytes are written past the caches, which they would only sweep.
const STREAM_BYTES: usize = 8 << 20;

/// Copies every element of `from` to the same index of `to`. Their types may differ if they are equally wide, as in a
/// `bitcast_convert`.
///
/// # Errors
/// A mismatch of shapes or widths; [`RoutineError::Stopped`].
pub fn copy(parallel: Parallel<'_>, from: &View<'_>, to: &mut ViewMut<'_>) -> Result<(), RoutineError> {
    check_same(COPY, "the shape of the copy", &to.shape(), &from.shape())?;
    check_same(COPY, "the width of an element", &[to.width()], &[from.width()])?;
    if to.is_empty() {
        return Ok(());
    }
    let nest = Nest::of([from.axes(), to.axes()]);
    let plan = Plan::new(nest, Source::new(from.data()), Target::new(to.data()), to.width());
    plan.run(parallel)
}

/// A copy of which the destination is walked in ascending order.
struct Plan {
    from: Source,
    to: Target,
    width: usize,
    nest: Nest<2>,
}

impl Plan {
    fn new(mut nest: Nest<2>, from: Source, to: Target, width: usize) -> Self {
        let (mut from_start, mut to_start) = (0, 0);
        for one in &mut nest.loops {
            if one.steps[1] < 0 {
                let last = one.size.saturating_sub(1) as isize;
                from_start += last * one.steps[0];
                to_start += last * one.steps[1];
                one.steps = one.steps.map(|step| -step);
            }
        }
        nest.loops.sort_by_key(|one| std::cmp::Reverse(one.steps[1]));
        Self {
            from: Source::new(from.at(from_start)),
            to: Target::new(to.at(to_start)),
            width,
            nest: nest.collapsed(),
        }
    }

    fn run(self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        let width = self.width as isize;
        let (outer, last) = self.nest.clone().split_last();
        if last.steps == [width; 2] || last.size == 1 {
            return self.runs(parallel, &outer, last.size * self.width);
        }
        let turned = outer.loops.iter().rposition(|one| one.steps[0] == width);
        match turned {
            Some(at) if last.steps[1] == width => {
                let mut outer = outer;
                let column = outer.loops.remove(at);
                self.transposed(parallel, &outer, last, column)
            }
            _ => self.strided(parallel, &outer, last),
        }
    }

    /// Contiguous runs.
    fn runs(&self, parallel: Parallel<'_>, outer: &Nest<2>, bytes: usize) -> Result<(), RoutineError> {
        let pieces = bytes.div_ceil(TASK_BYTES).max(1);
        let (from, to) = (self.from, self.to);
        if pieces > 1 {
            return parallel.run(outer.count() * pieces, &|Task { index, .. }| {
                let [source, target] = outer.offsets(index / pieces);
                let start = index % pieces * TASK_BYTES;
                let length = TASK_BYTES.min(bytes - start);
                let start = start as isize;
                // SAFETY: the run is a part of both views, whose makers promise memory; each piece is written by one task.
                unsafe { strided::run(from.at(source + start), to.at(target + start), length) };
            });
        }
        parallel.ranges(outer.count(), TASK_BYTES / bytes.max(1), &|range, _| {
            outer.for_each(range, |[source, target]| {
                // SAFETY: as above.
                unsafe { strided::run(from.at(source), to.at(target), bytes) };
            });
        })
    }

    /// Elements that are contiguous along `row` in the destination and along `column` in the source.
    fn transposed(
        &self,
        parallel: Parallel<'_>,
        outer: &Nest<2>,
        row: Loop<2>,
        column: Loop<2>,
    ) -> Result<(), RoutineError> {
        const ROWS: usize = 128;
        // Long runs of the source, which the processor fetches ahead.
        const RUN_BYTES: usize = 2 << 10;
        let columns = (RUN_BYTES / self.width).max(16);
        let tiles = [column.size.div_ceil(columns), row.size.div_ceil(ROWS)];
        let per_matrix = tiles[0] * tiles[1];
        let bytes = outer.count() * row.size * column.size * self.width;
        let grain = TASK_BYTES / (ROWS.min(row.size) * columns.min(column.size) * self.width);
        let (from, to, width) = (self.from, self.to, self.width);
        parallel.ranges(outer.count() * per_matrix, grain, &|range, _| {
            for index in range {
                let [source, target] = outer.offsets(index / per_matrix);
                let tile = index % per_matrix;
                let at = [tile / tiles[1] * columns, tile % tiles[1] * ROWS];
                let corner = |base: isize, which: usize| {
                    base + at[0] as isize * column.steps[which] + at[1] as isize * row.steps[which]
                };
                let block = transpose::Block {
                    from: from.at(corner(source, 0)),
                    from_step: row.steps[0],
                    to: to.at(corner(target, 1)),
                    to_step: column.steps[1],
                    rows: ROWS.min(row.size - at[1]),
                    columns: columns.min(column.size - at[0]),
                    stream: bytes >= STREAM_BYTES,
                };
                // SAFETY: the tile lies within both views; each tile of the destination is written by one task.
                unsafe { transpose::transpose(&block, width) };
            }
        })
    }

    /// Elements at any distance.
    fn strided(&self, parallel: Parallel<'_>, outer: &Nest<2>, last: Loop<2>) -> Result<(), RoutineError> {
        let (from, to, width) = (self.from, self.to, self.width);
        let per_task = (TASK_BYTES / 4 / width).max(1);
        let pieces = last.size.div_ceil(per_task).max(1);
        let grain = if pieces > 1 {
            1
        } else {
            per_task / last.size.max(1)
        };
        parallel.ranges(outer.count() * pieces, grain, &|range, _| {
            for index in range {
                let [source, target] = outer.offsets(index / pieces);
                let start = index % pieces * per_task;
                let at = |base: isize, which: usize| base + start as isize * last.steps[which];
                let count = per_task.min(last.size - start);
                // SAFETY: the elements are of both views; those of the destination are written by one task.
                unsafe {
                    strided::elements(
                        width,
                        (from.at(at(source, 0)), last.steps[0]),
                        (to.at(at(target, 1)), last.steps[1]),
                        count,
                    );
                }
            }
        })
    }
}
