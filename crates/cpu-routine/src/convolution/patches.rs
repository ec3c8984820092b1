//! What lies under windows, laid out as a matrix of positions by elements of the window.

use smallvec::SmallVec;

use super::Attributes;
use crate::convert;
use crate::odometer::{Cursor, Nest};
use crate::product::{Arithmetic, Factor};
use crate::view::{Axis, Source, View, product};
use crate::window::WindowDim;

pub(super) struct Patches {
    element: artifact_ir::types::ElementType,
    arithmetic: Arithmetic,
    data: Source,
    batch: Axis,
    feature: Axis,
    spatial: SmallVec<[Axis; 4]>,
    pub(super) windows: SmallVec<[WindowDim; 4]>,
    /// Input features of a group.
    channels: usize,
    pub(super) taps: usize,
    /// Sizes of batch and spatial dimensions of the result: the positions, in row-major order.
    pub(super) positions: Nest<0>,
    batch_groups: usize,
    /// Whether the features of one element of the window lie together in a patch, or the positions.
    features_last: bool,
}

impl Patches {
    /// Views have dimensions in the order batch, feature, spatial.
    pub(super) fn new(
        arithmetic: Arithmetic,
        attributes: &Attributes<'_>,
        input: &View<'_>,
        kernel: &View<'_>,
        result: &View<'_>,
    ) -> Self {
        let axes = input.axes();
        let spatial: SmallVec<[Axis; 4]> = axes[2..].into();
        let closest = spatial
            .iter()
            .filter(|axis| axis.size > 1)
            .map(|axis| axis.stride.abs())
            .min();
        let mut positions = Nest::default();
        let sizes = result.axes().iter().enumerate().filter(|(dim, _)| *dim != 1);
        sizes.for_each(|(_, axis)| positions.push(axis.size, []));
        Self {
            element: input.element(),
            arithmetic,
            data: Source::new(input.data()),
            batch: axes[0],
            feature: axes[1],
            features_last: closest.is_none_or(|closest| axes[1].stride.abs() <= closest),
            spatial,
            windows: attributes.windows.into(),
            channels: kernel.axes()[0].size,
            taps: product(attributes.windows.iter().map(|window| window.size)),
            positions,
            batch_groups: attributes.batch_groups,
        }
    }

    pub(super) const fn features_last(&self) -> bool {
        self.features_last
    }

    /// Elements under a window, all features of a group included.
    pub(super) const fn depth(&self) -> usize {
        self.channels.saturating_mul(self.taps)
    }

    /// Whether the input is of the arithmetic's type and its steps are multiples of the width.
    pub(super) fn is_in_place(&self) -> bool {
        let width = self.arithmetic.element().bytes() as isize;
        let axes = self.spatial.iter().chain([&self.batch, &self.feature]);
        self.element == self.arithmetic.element() && axes.into_iter().all(|axis| axis.stride % width == 0)
    }

    /// The input itself as the matrix of a group, for windows of one element: from an offset on, positions `step` apart.
    pub(super) fn in_place(&self, group: usize, offset: isize, step: isize) -> Factor {
        Factor {
            data: self.data.at(offset + self.group_offset(group)),
            row_step: step,
            column_step: self.feature.stride,
        }
    }

    fn group_offset(&self, group: usize) -> isize {
        if self.batch_groups > 1 {
            let batches = self.batch.size / self.batch_groups;
            (group * batches) as isize * self.batch.stride
        } else {
            (group * self.channels) as isize * self.feature.stride
        }
    }

    /// Lays out `count` positions from one on at `to`.
    ///
    /// # Safety
    /// There is room for as many rows of [`Self::depth`], and nobody else has it. The positions are of the result.
    pub(super) unsafe fn lay_out(&self, group: usize, first: usize, count: usize, to: *mut u8) -> Factor {
        let width = self.arithmetic.element().bytes();
        // SAFETY: the caller's promise.
        unsafe {
            if self.channels == 0 {
                // Nothing lies under a window, however large it is.
            } else if self.features_last {
                self.by_position(group, first, count, to);
            } else {
                self.by_element(group, first, count, to);
            }
        }
        let (row, column) = if self.features_last {
            (self.depth(), 1)
        } else {
            (1, count)
        };
        Factor {
            data: to,
            row_step: (row * width) as isize,
            column_step: (column * width) as isize,
        }
    }

    /// The first feature of a group under an element of the window at the cursor; null where there is padding.
    pub(super) fn element_under(&self, group: usize, cursor: &Cursor<0>, step: &[usize]) -> *const u8 {
        let mut offset = self.group_offset(group) + cursor.index[0] as isize * self.batch.stride;
        for (dim, window) in self.windows.iter().enumerate() {
            let axis = self.spatial[dim];
            match window.input(cursor.index[dim + 1], step[dim], axis.size) {
                Some(at) => offset += at as isize * axis.stride,
                None => return std::ptr::null(),
            }
        }
        self.data.at(offset)
    }

    pub(super) const fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Whether every feature is a group of its own, and the features of an element lie together.
    pub(super) fn is_depthwise(&self) -> bool {
        let together = self.feature.stride == self.arithmetic.element().bytes() as isize;
        self.channels == 1
            && self.feature.size > 1
            && self.batch_groups == 1
            && together
            && self.is_in_place()
    }

    /// Rows of positions: for each element of the window its features.
    ///
    /// # Safety
    /// As for [`Self::lay_out`].
    unsafe fn by_position(&self, group: usize, first: usize, count: usize, to: *mut u8) {
        let bytes = self.channels * self.arithmetic.element().bytes();
        let mut cursor = Cursor::at(&self.positions, first);
        let mut to = to;
        let mut step: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.windows.len());
        for _ in 0..count {
            for _ in 0..self.taps {
                let from = self.element_under(group, &cursor, &step);
                // SAFETY: the element lies within the input; otherwise the caller's promise.
                unsafe {
                    if from.is_null() {
                        to.write_bytes(0, bytes);
                    } else {
                        let from = (from, self.feature.stride);
                        convert::widen(self.element, from, self.arithmetic, to, self.channels);
                    }
                }
                to = to.wrapping_add(bytes);
                next(&mut step, &self.windows);
            }
            cursor.step(&self.positions);
        }
    }

    /// Rows of features and elements of the window: all positions.
    ///
    /// # Safety
    /// As for [`Self::lay_out`].
    unsafe fn by_element(&self, group: usize, first: usize, count: usize, to: *mut u8) {
        let width = self.arithmetic.element().bytes();
        let mut to = to;
        let mut step: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.windows.len());
        for channel in 0..self.channels {
            let base = self.group_offset(group) + channel as isize * self.feature.stride;
            for _ in 0..self.taps {
                let mut cursor = Cursor::at(&self.positions, first);
                let mut done = 0;
                while done < count {
                    // Positions up to the end of the last dimension go together.
                    let last = self.windows.len();
                    let length = self.positions.loops[last].size;
                    let run = (length - cursor.index[last]).min(count - done);
                    // SAFETY: the caller's promise.
                    unsafe { self.run(base, &cursor, &step, run, to.add(done * width)) };
                    done += run;
                    cursor = Cursor::at(&self.positions, first + done);
                }
                to = to.wrapping_add(count * width);
                next(&mut step, &self.windows);
            }
        }
    }

    /// One element of the windows of neighbouring positions, and one feature.
    ///
    /// # Safety
    /// There is room for `count` elements at `to`.
    unsafe fn run(&self, base: isize, cursor: &Cursor<0>, step: &[usize], count: usize, to: *mut u8) {
        let width = self.arithmetic.element().bytes();
        let zero = |from: usize, to_end: usize| {
            // SAFETY: the caller's promise.
            unsafe { to.add(from * width).write_bytes(0, (to_end - from) * width) };
        };
        let mut offset = base + cursor.index[0] as isize * self.batch.stride;
        let last = self.windows.len() - 1;
        for (dim, window) in self.windows.iter().enumerate().take(last) {
            match window.input(cursor.index[dim + 1], step[dim], self.spatial[dim].size) {
                Some(at) => offset += at as isize * self.spatial[dim].stride,
                None => return zero(0, count),
            }
        }
        let (window, axis) = (self.windows[last], self.spatial[last]);
        let start = cursor.index[last + 1];
        let widen = |place: usize, at: usize, count: usize| {
            let from = self.data.at(offset + at as isize * axis.stride);
            let stride = axis.stride * window.stride as isize;
            // SAFETY: the elements lie within the input; otherwise the caller's promise.
            unsafe {
                convert::widen(
                    self.element,
                    (from, stride),
                    self.arithmetic,
                    to.add(place * width),
                    count,
                )
            };
        };
        if window.base_dilation > 1 {
            for place in 0..count {
                match window.input(start + place, step[last], axis.size) {
                    Some(at) => widen(place, at, 1),
                    None => zero(place, place + 1),
                }
            }
            return;
        }
        let inside = window.inside(step[last], axis.size, start + count);
        let from = inside.start.clamp(start, start + count);
        let end = inside.end.clamp(from, start + count);
        zero(0, from - start);
        zero(end - start, count);
        if let Some(at) = window.input(from, step[last], axis.size).filter(|_| end > from) {
            widen(from - start, at, end - from);
        }
    }
}

/// The next element of a window; the first after the last.
pub(super) fn next(step: &mut [usize], windows: &[WindowDim]) {
    for (at, window) in step.iter_mut().zip(windows).rev() {
        *at += 1;
        if *at < window.size {
            return;
        }
        *at = 0;
    }
}
