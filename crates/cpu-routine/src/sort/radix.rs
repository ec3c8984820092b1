//! Radix sort of items, from the least significant byte of their keys on.

use std::marker::PhantomData;
use std::ops::Range;

use super::item::Item;
use super::key::{self, Column, Key};
use crate::error::RoutineError;
use crate::pool::Parallel;
use crate::view::Target;
use crate::workspace::Parts;

const DIGITS: usize = 256;

/// Rows of fewer items are sorted by comparison.
const SHORT: usize = 1 << 10;

/// Memory for the items of one row and its order, twice each: what is read and what is written.
#[derive(Debug)]
pub(super) struct Buffers<T> {
    items: [Target; 2],
    orders: [Target; 2],
    counts: Target,
    kind: PhantomData<T>,
}

impl<T> Clone for Buffers<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Buffers<T> {}

/// Where the parts of [`Buffers`] lie.
pub(super) type Layout = [usize; 5];

impl<T: Item> Buffers<T> {
    /// Room for a row of `length` items.
    pub(super) fn layout(parts: &mut Parts, length: usize) -> Layout {
        let pieces = length.div_ceil(super::PIECE).max(1);
        [
            parts.add(length, size_of::<T>()),
            parts.add(length, size_of::<T>()),
            parts.add(length, size_of::<u32>()),
            parts.add(length, size_of::<u32>()),
            parts.add(pieces * DIGITS, size_of::<u32>()),
        ]
    }

    /// The buffers at `memory`, which has room for the layout.
    pub(super) fn at(memory: Target, layout: Layout) -> Self {
        let [items, other_items, order, other_order, counts] = layout;
        let at = |offset: usize| Target::new(memory.at(offset as isize));
        Self {
            items: [at(items), at(other_items)],
            orders: [at(order), at(other_order)],
            counts: at(counts),
            kind: PhantomData,
        }
    }

    const fn items(&self, which: usize) -> *mut T {
        self.items[which].at(0).cast()
    }

    /// The current order.
    pub(super) const fn order(&self) -> *const u32 {
        self.orders[0].at(0).cast::<u32>().cast_const()
    }

    /// What was composed becomes the order.
    pub(super) const fn turn(&mut self) {
        self.orders.swap(0, 1);
    }

    /// Makes items of a range of a row, in the current order if there is one.
    ///
    /// # Safety
    /// The elements may be read, the buffers have room, and nobody else has the range.
    pub(super) unsafe fn load(&self, column: Column, key: &Key, range: Range<usize>, ordered: bool) {
        let order = if ordered { self.order() } else { std::ptr::null() };
        // SAFETY: the caller's promise.
        unsafe { key::load(column, key, range, order, self.items(0)) };
    }

    /// Writes the next order of a range: where the sorted items were in the current one, or in the row.
    ///
    /// # Safety
    /// The items are sorted, and nobody else has the range.
    pub(super) unsafe fn compose(&self, range: Range<usize>, ordered: bool) {
        let next = self.orders[1].at(0).cast::<u32>();
        for at in range {
            // SAFETY: the caller's promise.
            unsafe {
                let position = self.items(0).add(at).read().position();
                let from = if ordered {
                    self.order().add(position as usize).read()
                } else {
                    position
                };
                next.add(at).write(from);
            }
        }
    }

    /// Makes a range of the current order the one of the row.
    ///
    /// # Safety
    /// The buffers have room, and nobody else has the range.
    pub(super) unsafe fn identity(&self, range: Range<usize>) {
        for at in range {
            // SAFETY: the caller's promise.
            unsafe { self.orders[0].at(0).cast::<u32>().add(at).write(at as u32) };
        }
    }

    /// Sorts the items in this thread.
    ///
    /// # Safety
    /// `length` items were loaded, and nobody else has the buffers.
    pub(super) unsafe fn sort(&mut self, length: usize) {
        if length < SHORT {
            // SAFETY: the caller's promise.
            unsafe { std::slice::from_raw_parts_mut(self.items(0), length) }.sort_unstable();
            return;
        }
        let mut counts = [0_u32; DIGITS];
        for digit in 0..T::KEY_BYTES {
            counts.fill(0);
            // SAFETY: the caller's promise.
            unsafe {
                self.count(digit, 0..length, &mut counts);
                if is_constant(&[&counts], length) {
                    continue;
                }
                starts(&mut [&mut counts]);
                self.scatter(digit, 0..length, &mut counts);
            }
            self.items.swap(0, 1);
        }
    }

    /// Sorts the items in all threads, in pieces of so many.
    pub(super) fn sort_shared(
        &mut self,
        parallel: Parallel<'_>,
        length: usize,
        piece: usize,
    ) -> Result<(), RoutineError> {
        let pieces = length.div_ceil(piece);
        let table = self.counts;
        // SAFETY: there is a row of counts for each piece, and one task has it at a time.
        let row = |at: usize| unsafe { &mut *table.at(0).cast::<[u32; DIGITS]>().add(at) };
        for digit in 0..T::KEY_BYTES {
            let buffers = *self;
            parallel.ranges(length, piece, &|range, _| {
                let counts = row(range.start / piece);
                counts.fill(0);
                // SAFETY: the items of the range, which the caller has loaded.
                unsafe { buffers.count(digit, range, counts) };
            })?;
            let mut rows: Vec<&mut [u32; DIGITS]> = (0..pieces).map(row).collect();
            if is_constant(&rows.iter().map(|row| &**row).collect::<Vec<_>>(), length) {
                continue;
            }
            starts(&mut rows);
            parallel.ranges(length, piece, &|range, _| {
                // SAFETY: as above; the counts send each item to a place of its own.
                unsafe { buffers.scatter(digit, range.clone(), row(range.start / piece)) };
            })?;
            self.items.swap(0, 1);
        }
        Ok(())
    }

    /// # Safety
    /// The items of the range were written.
    unsafe fn count(&self, digit: u32, range: Range<usize>, counts: &mut [u32; DIGITS]) {
        for at in range {
            // SAFETY: the caller's promise.
            let item = unsafe { self.items(0).add(at).read() };
            counts[item.digit(digit)] += 1;
        }
    }

    /// Moves items to where `places` has their digits, in order.
    ///
    /// # Safety
    /// The items of the range were written, and the places are theirs alone.
    unsafe fn scatter(&self, digit: u32, range: Range<usize>, places: &mut [u32; DIGITS]) {
        for at in range {
            // SAFETY: the caller's promise.
            unsafe {
                let item = self.items(0).add(at).read();
                let place = &mut places[item.digit(digit)];
                self.items(1).add(*place as usize).write(item);
                *place += 1;
            }
        }
    }
}

/// Whether all of `length` items have one digit.
fn is_constant(pieces: &[&[u32; DIGITS]], length: usize) -> bool {
    let total = |digit: usize| pieces.iter().map(|counts| counts[digit] as usize).sum::<usize>();
    (0..DIGITS).map(total).find(|total| *total > 0) == Some(length)
}

/// Replaces counts by the places at which the items of each piece and digit start.
fn starts(pieces: &mut [&mut [u32; DIGITS]]) {
    let mut next = 0;
    for digit in 0..DIGITS {
        for counts in &mut *pieces {
            next += std::mem::replace(&mut counts[digit], next);
        }
    }
}
