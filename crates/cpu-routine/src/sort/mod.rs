//! Sorts along one dimension, and the largest elements of rows. Always stable.
//!
//! A sort by keys makes an unsigned number of each element whose order is the one that is wanted, packs it with the element's
//! position and sorts those numbers, of which no two are the same: so there is one answer, however the work is cut.

mod item;
mod key;
mod merge;
mod radix;
mod top_k;

use smallvec::SmallVec;

pub use self::key::{FloatOrder, Key};
pub use self::merge::{Less, sort_by};
pub use self::top_k::top_k;

use self::item::Item;
use self::radix::Buffers;
use crate::copy::elements;
use crate::error::{RoutineError, check_same};
use crate::pool::{Parallel, Task};
use crate::view::{Axis, Source, Target, View, ViewMut, count};
use crate::workspace::{Parts, Workspace};

const SORT: &str = "sort";

/// Rows of at least so many elements are sorted by all threads together.
const SHARED_ROW: usize = 1 << 16;

/// Elements of a shared row that one task moves.
const PIECE: usize = 1 << 15;

/// Whether elements of a type can be keys.
#[must_use]
pub fn supports(element: artifact_ir::types::ElementType) -> bool {
    key::supports(element)
}

/// Sorts arrays together along a dimension by the elements of some of them, the first key first (spec, "sort", with a
/// comparator that compares the keys in turn).
///
/// # Errors
/// A mismatch of shapes or keys, a key without a routine, no memory, or [`RoutineError::Stopped`].
pub fn sort_by_keys(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    dim: usize,
    keys: &[Key],
    inputs: &[View<'_>],
    outputs: &mut [ViewMut<'_>],
) -> Result<(), RoutineError> {
    let rows = Rows::new(dim, inputs, outputs)?;
    let elements: Result<Vec<_>, _> = keys
        .iter()
        .map(|key| {
            let input = inputs.get(key.operand);
            input
                .map(View::element)
                .ok_or_else(|| RoutineError::mismatch(SORT, format!("there is no operand {}", key.operand)))
        })
        .collect();
    let elements = elements?;
    if let Some(element) = elements.iter().find(|element| !key::supports(**element)) {
        return Err(RoutineError::unsupported(SORT, *element));
    }
    if elements.iter().all(|element| element.bytes() <= 4) {
        sort_rows::<u64>(parallel, workspace, keys, &rows)
    } else {
        sort_rows::<u128>(parallel, workspace, keys, &rows)
    }
}

fn sort_rows<T: Item>(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    keys: &[Key],
    rows: &Rows,
) -> Result<(), RoutineError> {
    if rows.length == 0 {
        return Ok(());
    }
    if rows.length >= SHARED_ROW && rows.count < 4 * parallel.slots() {
        let mut parts = Parts::default();
        let layout = Buffers::<T>::layout(&mut parts, rows.length);
        let memory = workspace.reserve(parts.bytes()?)?;
        let buffers = Buffers::<T>::at(memory, layout);
        return (0..rows.count).try_for_each(|row| sort_shared(parallel, keys, rows, row, buffers));
    }
    let mut one = Parts::default();
    let layout = Buffers::<T>::layout(&mut one, rows.length);
    let each = one.bytes()?;
    let total = each
        .checked_mul(parallel.slots())
        .ok_or(RoutineError::Memory(usize::MAX))?;
    let memory = workspace.reserve(total)?;
    parallel.ranges(rows.count, PIECE / rows.length, &|range, slot| {
        let memory = Target::new(memory.at((slot * each) as isize));
        let buffers = Buffers::<T>::at(memory, layout);
        for row in range {
            sort_alone(keys, rows, row, buffers);
        }
    })
}

/// Sorts one row in this thread.
fn sort_alone<T: Item>(keys: &[Key], rows: &Rows, row: usize, mut buffers: Buffers<T>) {
    let length = rows.length;
    let mut sorted = false;
    for key in keys.iter().rev() {
        // SAFETY: the row is one of the operand's; the buffers are this task's own and have room for it; before the first
        // round the order is not read.
        unsafe {
            buffers.load(rows.key(key, row), key, 0..length, sorted);
            buffers.sort(length);
            buffers.compose(0..length, sorted);
        }
        buffers.turn();
        sorted = true;
    }
    if !sorted {
        // SAFETY: as above.
        unsafe { buffers.identity(0..length) };
    }
    // SAFETY: the order was made above and is a permutation of the row.
    unsafe { rows.permute(row, 0..length, buffers.order()) };
}

/// Sorts one row in all threads.
fn sort_shared<T: Item>(
    parallel: Parallel<'_>,
    keys: &[Key],
    rows: &Rows,
    row: usize,
    mut buffers: Buffers<T>,
) -> Result<(), RoutineError> {
    let length = rows.length;
    let mut sorted = false;
    for key in keys.iter().rev() {
        let loading = buffers;
        parallel.ranges(length, PIECE, &|range, _| {
            // SAFETY: as in `sort_alone`; each range is one task's.
            unsafe { loading.load(rows.key(key, row), key, range, sorted) };
        })?;
        buffers.sort_shared(parallel, length, PIECE)?;
        let composing = buffers;
        parallel.ranges(length, PIECE, &|range, _| {
            // SAFETY: as above.
            unsafe { composing.compose(range, sorted) };
        })?;
        buffers.turn();
        sorted = true;
    }
    parallel.ranges(length, PIECE, &|range, _| {
        // SAFETY: as above.
        unsafe {
            if !sorted {
                buffers.identity(range.clone());
            }
            rows.permute(row, range, buffers.order());
        }
    })
}

/// The rows of several arrays along one dimension.
struct Rows {
    count: usize,
    length: usize,
    arrays: SmallVec<[Array; 4]>,
}

struct Array {
    from: Source,
    to: Target,
    element: artifact_ir::types::ElementType,
    /// The other dimensions of input and output.
    rest: [SmallVec<[Axis; 6]>; 2],
    /// Steps along the dimension in input and output.
    steps: [isize; 2],
}

impl Rows {
    fn new(dim: usize, inputs: &[View<'_>], outputs: &mut [ViewMut<'_>]) -> Result<Self, RoutineError> {
        check_same(SORT, "the number of results", &[outputs.len()], &[inputs.len()])?;
        let Some(shape) = inputs.first().map(View::shape).filter(|shape| dim < shape.len()) else {
            return Err(RoutineError::mismatch(
                SORT,
                format!("there is no dimension {dim} to sort along"),
            ));
        };
        let mut arrays: SmallVec<[Array; 4]> = SmallVec::new();
        for (input, output) in inputs.iter().zip(outputs) {
            check_same(SORT, "the shape of an operand", &input.shape(), &shape)?;
            check_same(SORT, "the shape of a result", &output.shape(), &shape)?;
            check_same(SORT, "the width of a result", &[output.width()], &[input.width()])?;
            let rest = |axes: &[Axis]| {
                let mut axes: SmallVec<[Axis; 6]> = axes.into();
                axes.remove(dim);
                axes
            };
            arrays.push(Array {
                from: Source::new(input.data()),
                to: Target::new(output.data()),
                element: input.element(),
                steps: [input.axes()[dim].stride, output.axes()[dim].stride],
                rest: [rest(input.axes()), rest(output.axes())],
            });
        }
        let length = shape[dim];
        if u32::try_from(length).is_err() {
            return Err(RoutineError::mismatch(
                SORT,
                format!("a row of {length} elements is too long to sort"),
            ));
        }
        let count = arrays.first().map_or(0, |array| count(&array.rest[0]));
        Ok(Self {
            count,
            length,
            arrays,
        })
    }

    /// The elements that a key of a row is made of.
    fn key(&self, key: &Key, row: usize) -> key::Column {
        let array = &self.arrays[key.operand];
        key::Column {
            data: array.from.at(offset_at(&array.rest[0], row)),
            step: array.steps[0],
            element: array.element,
        }
    }

    /// Writes a range of a row of every result: element `i` is element `order[i]` of the operand.
    ///
    /// # Safety
    /// `order` holds `length` positions below it, and nobody else writes the range.
    unsafe fn permute(&self, row: usize, range: std::ops::Range<usize>, order: *const u32) {
        for array in &self.arrays {
            let from = array.from.at(offset_at(&array.rest[0], row));
            let to = array.to.at(offset_at(&array.rest[1], row));
            // SAFETY: the elements are of the row, by the caller's promise.
            unsafe {
                match array.element.bytes() {
                    1 => permuted::<u8>((from, array.steps[0]), (to, array.steps[1]), range.clone(), order),
                    2 => permuted::<u16>((from, array.steps[0]), (to, array.steps[1]), range.clone(), order),
                    4 => permuted::<u32>((from, array.steps[0]), (to, array.steps[1]), range.clone(), order),
                    8 => permuted::<u64>((from, array.steps[0]), (to, array.steps[1]), range.clone(), order),
                    width => {
                        for at in range.clone() {
                            let source = from.offset(order.add(at).read() as isize * array.steps[0]);
                            elements(
                                width,
                                (source, 0),
                                (to.offset(at as isize * array.steps[1]), 0),
                                1,
                            );
                        }
                    }
                }
            }
        }
    }
}

/// # Safety
/// As for [`Rows::permute`].
unsafe fn permuted<T: Copy>(
    from: (*const u8, isize),
    to: (*mut u8, isize),
    range: std::ops::Range<usize>,
    order: *const u32,
) {
    for at in range {
        // SAFETY: the caller's promise.
        unsafe {
            let source = from.0.offset(order.add(at).read() as isize * from.1);
            let value = source.cast::<T>().read_unaligned();
            to.0.offset(at as isize * to.1).cast::<T>().write_unaligned(value);
        }
    }
}

/// The offset of an index by its number in row-major order.
fn offset_at(axes: &[Axis], mut position: usize) -> isize {
    let mut offset = 0;
    for axis in axes.iter().rev() {
        offset += (position % axis.size.max(1)) as isize * axis.stride;
        position /= axis.size.max(1);
    }
    offset
}

/// Runs a task for each of some rows; several short rows make one task.
fn for_each_row(
    parallel: Parallel<'_>,
    rows: usize,
    length: usize,
    task: &(dyn Fn(Task) + Sync),
) -> Result<(), RoutineError> {
    parallel.ranges(rows, (PIECE / length.max(1)).max(1), &|range, slot| {
        range.for_each(|index| task(Task { index, slot }));
    })
}
