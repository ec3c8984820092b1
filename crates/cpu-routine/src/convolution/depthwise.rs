//! Convolutions in which each feature is a group of its own: sums along rows of features, which no matrix product would share.

use smallvec::SmallVec;

use super::patches::{Patches, next};
use crate::level::leveled;
use crate::number::{Number, Truth, c32, c64};
use crate::odometer::Cursor;
use crate::product::{Arithmetic, Factor};

/// A row of results: the first, and its number of features, which lie together as those of the input and of the kernel do.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) to: *mut u8,
    pub(super) features: usize,
}

impl Patches {
    /// Writes the results of `count` positions from one on, whose rows are `step` bytes apart.
    ///
    /// # Safety
    /// The rows may be written. The kernel has a row for each element of the window, of as many features.
    pub(super) unsafe fn depthwise(&self, first: usize, count: usize, kernel: Factor, row: Row, step: isize) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.arithmetic() {
                Arithmetic::F32 => self.rows::<f32>(first, count, kernel, row, step),
                Arithmetic::F64 => self.rows::<f64>(first, count, kernel, row, step),
                Arithmetic::C64 => self.rows::<c32>(first, count, kernel, row, step),
                Arithmetic::C128 => self.rows::<c64>(first, count, kernel, row, step),
                Arithmetic::Integer8 => self.rows::<u8>(first, count, kernel, row, step),
                Arithmetic::Integer16 => self.rows::<u16>(first, count, kernel, row, step),
                Arithmetic::Integer32 => self.rows::<u32>(first, count, kernel, row, step),
                Arithmetic::Integer64 => self.rows::<u64>(first, count, kernel, row, step),
                Arithmetic::Boolean => self.rows::<Truth>(first, count, kernel, row, step),
            }
        }
    }

    /// # Safety
    /// As for [`Self::depthwise`], with `T` the type of the elements.
    unsafe fn rows<T: Number>(&self, first: usize, count: usize, kernel: Factor, row: Row, step: isize) {
        let mut cursor = Cursor::at(&self.positions, first);
        let mut window: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.windows.len());
        let mut to = row.to;
        for _ in 0..count {
            // SAFETY: a row of the results, which is this task's.
            let sums = unsafe { std::slice::from_raw_parts_mut(to.cast::<T>(), row.features) };
            sums.fill(T::ZERO);
            for tap in 0..self.taps {
                let factors = kernel
                    .data
                    .wrapping_offset(tap as isize * kernel.row_step)
                    .cast::<T>();
                let values = self.element_under(0, &cursor, &window).cast::<T>();
                // SAFETY: a row of the kernel; one of the input, unless there is padding, which is null.
                let factors = unsafe { std::slice::from_raw_parts(factors, row.features) };
                if values.is_null() {
                    pad::<T>(sums, factors);
                } else {
                    // SAFETY: as above.
                    add_products::<T>(
                        sums,
                        unsafe { std::slice::from_raw_parts(values, row.features) },
                        factors,
                    );
                }
                next(&mut window, &self.windows);
            }
            to = to.wrapping_offset(step);
            cursor.step(&self.positions);
        }
    }
}

leveled! {
    fn add_products[T: Number](sums: &mut [T], values: &[T], factors: &[T]) {
        for ((sum, value), factor) in sums.iter_mut().zip(values).zip(factors) {
            *sum = sum.plus(value.times(*factor));
        }
    }
}

/// Padding is zero, and is multiplied like any other element.
fn pad<T: Number>(sums: &mut [T], factors: &[T]) {
    for (sum, factor) in sums.iter_mut().zip(factors) {
        *sum = sum.plus(T::ZERO.times(*factor));
    }
}
