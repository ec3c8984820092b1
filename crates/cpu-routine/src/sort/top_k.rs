//! The largest elements of rows.

use artifact_ir::types::ElementType;

use super::item::Item;
use super::key::{self, Column, FloatOrder, Key};
use super::{for_each_row, offset_at};
use crate::copy::elements;
use crate::error::{RoutineError, check_same};
use crate::pool::{Parallel, Task};
use crate::view::{Source, Target, View, ViewMut, count};
use crate::workspace::{Parts, Workspace};

const TOP_K: &str = "top_k";

/// The largest elements along the last dimension and their positions (CHLO, "top_k"), as many as the results' last size.
///
/// Floats are in total order, NaN above infinity; equal elements keep their order. Positions are integers of 32 or 64 bits.
///
/// # Errors
/// A mismatch of shapes, types without a routine, no memory, or [`RoutineError::Stopped`].
pub fn top_k(
    parallel: Parallel<'_>,
    workspace: &mut Workspace,
    input: &View<'_>,
    values: &mut ViewMut<'_>,
    positions: &mut ViewMut<'_>,
) -> Result<(), RoutineError> {
    if !key::supports(input.element()) {
        return Err(RoutineError::unsupported(TOP_K, input.element()));
    }
    if !positions.element().is_integer() || positions.width() < 4 {
        return Err(RoutineError::unsupported(TOP_K, positions.element()));
    }
    let rows = Rows::new(input, values, positions)?;
    if input.width() <= 4 {
        rows.run::<u64>(parallel, workspace)
    } else {
        rows.run::<u128>(parallel, workspace)
    }
}

struct Rows<'a> {
    input: &'a View<'a>,
    values: Target,
    positions: Target,
    outputs: [&'a ViewMut<'a>; 2],
    count: usize,
    length: usize,
    k: usize,
}

impl<'a> Rows<'a> {
    fn new(
        input: &'a View<'_>,
        values: &'a ViewMut<'_>,
        positions: &'a ViewMut<'_>,
    ) -> Result<Self, RoutineError> {
        let (shape, found) = (input.shape(), values.shape());
        check_same(TOP_K, "the shape of the positions", &positions.shape(), &found)?;
        check_same(TOP_K, "the width of a value", &[values.width()], &[input.width()])?;
        let (Some((length, rest)), Some((k, found))) = (shape.split_last(), found.split_last()) else {
            return Err(RoutineError::mismatch(
                TOP_K,
                "there is no dimension to look along",
            ));
        };
        check_same(TOP_K, "the number of rows", found, rest)?;
        if k > length || u32::try_from(*length).is_err() {
            return Err(RoutineError::mismatch(
                TOP_K,
                format!("a row of {length} has no {k} largest elements"),
            ));
        }
        Ok(Self {
            input,
            values: Target::new(values.data()),
            positions: Target::new(positions.data()),
            outputs: [values, positions],
            count: count(&input.axes()[..rest.len()]),
            length: *length,
            k: *k,
        })
    }

    fn run<T: Item>(&self, parallel: Parallel<'_>, workspace: &mut Workspace) -> Result<(), RoutineError> {
        if self.k == 0 {
            return Ok(());
        }
        let mut parts = Parts::default();
        parts.add(self.length, size_of::<T>());
        let each = parts.bytes()?;
        let total = each
            .checked_mul(parallel.slots())
            .ok_or(RoutineError::Memory(usize::MAX))?;
        let memory = workspace.reserve(total)?;
        for_each_row(parallel, self.count, self.length, &|Task { index, slot }| {
            let items = memory.at((slot * each) as isize).cast::<T>();
            // SAFETY: the items are this slot's and have room for a row.
            unsafe { self.row(index, items) };
        })
    }

    /// # Safety
    /// There is room for a row at `items`, and nobody else has it or the row.
    unsafe fn row<T: Item>(&self, row: usize, items: *mut T) {
        let rest = self.input.rank() - 1;
        let step = self.input.axes()[rest].stride;
        let from = Source::new(self.input.data()).at(offset_at(&self.input.axes()[..rest], row));
        let column = Column {
            data: from,
            step,
            element: self.input.element(),
        };
        let key = Key {
            operand: 0,
            descending: true,
            order: FloatOrder::Total,
        };
        // SAFETY: the row is one of the input's; otherwise the caller's promise.
        let items = unsafe {
            key::load(column, &key, 0..self.length, std::ptr::null(), items);
            std::slice::from_raw_parts_mut(items, self.length)
        };
        if self.k < self.length {
            items.select_nth_unstable(self.k - 1);
        }
        items[..self.k].sort_unstable();
        let to = self.outputs.map(|output| {
            let axes = output.axes();
            (offset_at(&axes[..rest], row), axes[rest].stride)
        });
        for (at, item) in items[..self.k].iter().enumerate() {
            let position = item.position();
            let value = self.values.at(to[0].0 + at as isize * to[0].1);
            let place = self.positions.at(to[1].0 + at as isize * to[1].1);
            // SAFETY: elements of the views, whose shapes were compared; a row is written by one task.
            unsafe {
                elements(
                    self.input.width(),
                    (from.offset(position as isize * step), 0),
                    (value, 0),
                    1,
                );
                write_position(self.outputs[1].element(), place, position);
            }
        }
    }
}

/// # Safety
/// There is room for an element at `to`.
unsafe fn write_position(element: ElementType, to: *mut u8, position: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        if element.bytes() == 4 {
            to.cast::<u32>().write_unaligned(position);
        } else {
            to.cast::<u64>().write_unaligned(position.into());
        }
    }
}
