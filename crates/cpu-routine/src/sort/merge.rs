//! Merge sort by a comparator of the program.

use smallvec::SmallVec;

use super::{Rows, for_each_row, offset_at};
use crate::error::RoutineError;
use crate::pool::{Parallel, Task};
use crate::view::{Target, View, ViewMut};
use crate::workspace::{Parts, Workspace};

/// Whether one element of each array comes before others: pointers to the elements on the left, then to those on the right.
pub type Less<'a> = dyn Fn(&[*const u8], &[*const u8]) -> bool + Sync + 'a;

/// Elements whose merges make one task.
const PIECE: usize = 1 << 12;

type Pointers = SmallVec<[*const u8; 4]>;

/// Sorts arrays together along a dimension (spec, "sort"). Elements that the comparator finds equal keep their order; one that
/// is no order gives some permutation, always the same: runs of 1, 2, 4.. elements are merged from the left.
///
/// # Errors
/// A mismatch of shapes, no memory, or [`RoutineError::Stopped`].
pub fn sort_by(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    dim: usize,
    less: &Less<'_>,
    inputs: &[View<'_>],
    outputs: &mut [ViewMut<'_>],
) -> Result<(), RoutineError> {
    let rows = Rows::new(dim, inputs, outputs)?;
    if rows.length == 0 {
        return Ok(());
    }
    let mut one = Parts::default();
    let orders = [
        one.add(rows.length, size_of::<u32>()),
        one.add(rows.length, size_of::<u32>()),
    ];
    let each = one.bytes()?;
    let shared = rows.length > PIECE && rows.count < 4 * parallel.slots();
    let copies = if shared { 1 } else { parallel.slots() };
    let memory = workspace.reserve(each.checked_mul(copies).ok_or(RoutineError::Memory(usize::MAX))?)?;
    let at = |slot: usize| orders.map(|start| Target::new(memory.at((slot * each + start) as isize)));
    if shared {
        return (0..rows.count).try_for_each(|row| sort_shared(parallel, &rows, row, less, at(0)));
    }
    for_each_row(parallel, rows.count, rows.length, &|Task { index: row, slot }| {
        let mut sort = MergeSort::new(&rows, row, less, at(slot));
        sort.start(0..rows.length);
        let mut width = 1;
        while width < rows.length {
            sort.merge(0..rows.length, width);
            sort.orders.swap(0, 1);
            width *= 2;
        }
        // SAFETY: the order is a permutation of the row, which is this task's.
        unsafe { rows.permute(row, 0..rows.length, sort.orders[0].at(0).cast::<u32>()) };
    })
}

/// Sorts one row in all threads.
fn sort_shared(
    parallel: Parallel<'_>,
    rows: &Rows,
    row: usize,
    less: &Less<'_>,
    mut orders: [Target; 2],
) -> Result<(), RoutineError> {
    let length = rows.length;
    let first = orders;
    parallel.ranges(length, PIECE, &|range, _| {
        MergeSort::new(rows, row, less, first).start(range)
    })?;
    let mut width = 1;
    while width < length {
        let current = orders;
        // Ranges begin where runs do: both are powers of two.
        parallel.ranges(length, PIECE.max(2 * width), &|range, _| {
            MergeSort::new(rows, row, less, current).merge(range, width);
        })?;
        orders.swap(0, 1);
        width *= 2;
    }
    parallel.ranges(length, PIECE, &|range, _| {
        // SAFETY: the order is a permutation of the row; each range is one task's.
        unsafe { rows.permute(row, range, orders[0].at(0).cast::<u32>()) };
    })
}

struct MergeSort<'a> {
    less: &'a Less<'a>,
    /// The first element of each array in the row, and the step along it.
    columns: SmallVec<[(*const u8, isize); 4]>,
    orders: [Target; 2],
    left: Pointers,
    right: Pointers,
}

impl<'a> MergeSort<'a> {
    fn new(rows: &Rows, row: usize, less: &'a Less<'a>, orders: [Target; 2]) -> Self {
        let column = |array: &super::Array| (array.from.at(offset_at(&array.rest[0], row)), array.steps[0]);
        Self {
            less,
            columns: rows.arrays.iter().map(column).collect(),
            orders,
            left: Pointers::new(),
            right: Pointers::new(),
        }
    }

    fn start(&self, range: std::ops::Range<usize>) {
        for at in range {
            // SAFETY: there is room for the order of a row, and the range is one task's.
            unsafe { self.orders[0].at(0).cast::<u32>().add(at).write(at as u32) };
        }
    }

    /// Merges the runs of `width` in a range by pairs.
    fn merge(&mut self, range: std::ops::Range<usize>, width: usize) {
        let length = range.len();
        let [from, to] = self
            .orders
            .map(|order| order.at(0).cast::<u32>().wrapping_add(range.start));
        // SAFETY: both have room for the order of a row, of which the range is this task's; the first was written.
        let (from, to) = unsafe {
            (
                std::slice::from_raw_parts(from, length),
                std::slice::from_raw_parts_mut(to, length),
            )
        };
        for (run, merged) in from.chunks(2 * width).zip(to.chunks_mut(2 * width)) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            for place in merged {
                // The right one goes first only if it must: equal elements keep their order.
                let takes_right = match (left.first(), right.first()) {
                    (Some(first), Some(second)) => self.is_less(*second, *first),
                    (None, _) => true,
                    (Some(_), None) => false,
                };
                let side = if takes_right { &mut right } else { &mut left };
                if let Some((first, rest)) = side.split_first() {
                    *place = *first;
                    *side = rest;
                }
            }
        }
    }

    fn is_less(&mut self, left: u32, right: u32) -> bool {
        let element = |position: u32| {
            move |(data, step): &(*const u8, isize)| data.wrapping_offset(position as isize * step)
        };
        self.left.clear();
        self.left.extend(self.columns.iter().map(element(left)));
        self.right.clear();
        self.right.extend(self.columns.iter().map(element(right)));
        (self.less)(&self.left, &self.right)
    }
}
