//! Brings operands into rectangles, and results out of them.

use smallvec::SmallVec;

use artifact_cpu_tile::{Affine, ColumnStride, Tile, TileOp, Width};

use super::Run;
use super::bound::{OperandSource, Resolved};
use crate::layout::{Axis, distance};

/// A rectangle of the space: around which outer position, from where, and how large.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rectangle {
    pub(super) row: usize,
    pub(super) rows: usize,
    pub(super) column: usize,
    pub(super) columns: usize,
}

/// The axes of an operand that the rows and the columns of a rectangle run over.
#[derive(Clone, Copy)]
pub(super) struct Axes<'a> {
    pub(super) rows: &'a [Axis],
    pub(super) columns: &'a [Axis],
}

impl Axes<'_> {
    pub(super) fn distance(self, row: usize, column: usize) -> isize {
        distance(self.rows, row) + distance(self.columns, column)
    }

    fn strides(self) -> Option<[isize; 2]> {
        let single = |axes: &[Axis]| match axes {
            [] => Some(0),
            [axis] => Some(axis.stride),
            _ => None,
        };
        Some([single(self.rows)?, single(self.columns)?])
    }
}

/// The tiles of one thread.
pub(super) struct Desk {
    pub(super) tiles: SmallVec<[Tile; 48]>,
    /// The thread's scratch memory.
    pub(super) memory: *mut u8,
}

impl Run<'_> {
    /// Tiles of all slots, where those that have memory of their own point to it.
    pub(super) fn desk(&self, slot: usize) -> Desk {
        let memory = self.scratch.of(slot);
        let places = self.launch.places.iter();
        let tiles = places
            .map(|place| Tile {
                data: memory.wrapping_add(*place),
                row_bytes: 0,
            })
            .collect();
        let desk = Desk { tiles, memory };
        for (index, slot) in self.kernel.program.slots.iter().enumerate() {
            if let crate::kernel::program::SlotKind::Constant(number) = slot.kind {
                let bytes = &self.kernel.program.constants[number];
                // SAFETY: the slot has room for one element.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), desk.tiles[index].data, bytes.len()) };
            }
        }
        desk
    }

    /// Where an operand begins at an outer position.
    pub(super) fn outer_base(&self, operand: usize, mut outer: usize) -> Resolved {
        let mut sum = 0;
        let walk = &self.launch.layout.walks[operand];
        for (size, stride) in self.launch.layout.outer.iter().zip(&walk.outer).rev() {
            sum += (outer % size) as isize * stride;
            outer /= size;
        }
        match self.resolved[operand] {
            Resolved::Array(data) => Resolved::Array(data.wrapping_offset(sum)),
            Resolved::Position(start) => Resolved::Position(start + sum as i64),
        }
    }

    /// The axes of an operand of the rectangles of a launch.
    pub(super) fn axes(&self, operand: usize) -> Axes<'_> {
        let walk = &self.launch.layout.walks[operand];
        Axes {
            rows: &walk.rows,
            columns: &walk.columns,
        }
    }

    /// Makes a rectangle of an input: where it lies, if its columns lie together, else a copy.
    pub(super) fn bring(&self, desk: &mut Desk, operand: usize, base: Resolved, rectangle: Rectangle) {
        self.bring_along(desk, operand, base, self.axes(operand), rectangle);
    }

    /// The same along other axes.
    pub(super) fn bring_along(
        &self,
        desk: &mut Desk,
        operand: usize,
        base: Resolved,
        axes: Axes<'_>,
        rectangle: Rectangle,
    ) {
        let width = self.launch.operands[operand].width;
        let Rectangle {
            row,
            rows,
            column,
            columns,
        } = rectangle;
        let data = desk.memory.wrapping_add(self.launch.places[operand]);
        let own = Tile {
            data,
            row_bytes: (columns * width) as isize,
        };
        desk.tiles[operand] = own;
        match (base, axes.strides()) {
            (Resolved::Array(data), Some([row_bytes, column_bytes])) => {
                let from = Tile {
                    data: data.wrapping_offset(axes.distance(row, column)),
                    row_bytes,
                };
                if column_bytes == width as isize || columns == 1 {
                    desk.tiles[operand] = from;
                } else {
                    self.copy_in(own, from, [rows, columns], column_bytes, width);
                }
            }
            // SAFETY: the launch was checked to stay within its buffers; the destination has room for the rectangle.
            (Resolved::Array(data), None) => unsafe { gather(own.data, data, axes, rectangle, width) },
            (Resolved::Position(start), _) => self.positions(own, start, operand, axes, rectangle),
        }
    }

    fn copy_in(&self, to: Tile, from: Tile, [rows, columns]: [usize; 2], column_bytes: isize, width: usize) {
        let Some(element) = Width::from_bytes(width) else {
            return;
        };
        // SAFETY: source and destination are rectangles of this size, apart from each other.
        unsafe {
            if column_bytes == 0 {
                self.machine
                    .run(TileOp::Fill(element), rows, columns, &[to, from]);
            } else if from.row_bytes == width as isize && rows > 1 {
                let from = Tile {
                    data: from.data,
                    row_bytes: column_bytes,
                };
                self.machine
                    .run(TileOp::Transpose(element), columns, rows, &[to, from]);
            } else {
                let stride = ColumnStride { bytes: column_bytes };
                let stride = Tile {
                    data: std::ptr::from_ref(&stride).cast_mut().cast(),
                    row_bytes: 0,
                };
                self.machine
                    .run(TileOp::GatherStrided(element), rows, columns, &[to, from, stride]);
            }
        }
    }

    fn positions(&self, to: Tile, start: i64, operand: usize, axes: Axes<'_>, rectangle: Rectangle) {
        let OperandSource::Position { op: Some(op), .. } = self.launch.operands[operand].source else {
            self.machine
                .failed
                .store(true, std::sync::atomic::Ordering::Relaxed);
            return;
        };
        let Rectangle {
            row,
            rows,
            column,
            columns,
        } = rectangle;
        let run = |to: Tile, rows: usize, columns: usize, affine: Affine| {
            let numbers = Tile {
                data: std::ptr::from_ref(&affine).cast_mut().cast(),
                row_bytes: 0,
            };
            // SAFETY: the destination has room for the rectangle.
            unsafe { self.machine.run(op, rows, columns, &[to, numbers]) }
        };
        if let Some([row_step, col_step]) = axes.strides() {
            let start = start + axes.distance(row, column) as i64;
            let affine = Affine {
                start,
                row_step: row_step as i64,
                col_step: col_step as i64,
            };
            run(to, rows, columns, affine);
            return;
        }
        let width = self.launch.operands[operand].width;
        for r in 0..rows {
            for c in 0..columns {
                let start = start + axes.distance(row + r, column + c) as i64;
                let data = to.data.wrapping_add((r * columns + c) * width);
                run(
                    Tile { data, row_bytes: 0 },
                    1,
                    1,
                    Affine {
                        start,
                        row_step: 0,
                        col_step: 0,
                    },
                );
            }
        }
    }

    /// Makes room for a rectangle of an output: where it will lie, if its columns lie together, else scratch memory.
    pub(super) fn prepare(
        &self,
        desk: &mut Desk,
        operand: usize,
        base: Resolved,
        axes: Axes<'_>,
        rectangle: Rectangle,
    ) {
        let width = self.launch.operands[operand].width;
        let Resolved::Array(data) = base else { return };
        let place = direct(axes, width, rectangle.columns).filter(|_| !self.launch.operands[operand].streams);
        desk.tiles[operand] = match place {
            Some(row_bytes) => Tile {
                data: data.wrapping_offset(axes.distance(rectangle.row, rectangle.column)),
                row_bytes,
            },
            None => Tile {
                data: desk.memory.wrapping_add(self.launch.places[operand]),
                row_bytes: (rectangle.columns * width) as isize,
            },
        };
    }

    /// Moves a rectangle of an output to where it belongs, unless it was made there.
    pub(super) fn send(
        &self,
        desk: &Desk,
        operand: usize,
        base: Resolved,
        axes: Axes<'_>,
        rectangle: Rectangle,
    ) {
        let width = self.launch.operands[operand].width;
        let Rectangle {
            row,
            rows,
            column,
            columns,
        } = rectangle;
        let Resolved::Array(data) = base else { return };
        let from = desk.tiles[operand];
        let at = data.wrapping_offset(axes.distance(row, column));
        if let Some(row_bytes) = direct(axes, width, columns) {
            if self.launch.operands[operand].streams {
                let to = Tile { data: at, row_bytes };
                // SAFETY: source and destination are rectangles of this size, apart from each other.
                unsafe { stream(to, from, rows, columns * width) };
            }
            return;
        }
        match (axes.strides(), Width::from_bytes(width)) {
            // SAFETY: source and destination are rectangles of this size, apart from each other.
            (Some([row_bytes, column_bytes]), Some(element)) => unsafe {
                if row_bytes == width as isize && rows > 1 && column_bytes != 0 {
                    let to = Tile {
                        data: at,
                        row_bytes: column_bytes,
                    };
                    self.machine
                        .run(TileOp::Transpose(element), rows, columns, &[to, from]);
                } else {
                    let stride = ColumnStride { bytes: column_bytes };
                    let stride = Tile {
                        data: std::ptr::from_ref(&stride).cast_mut().cast(),
                        row_bytes: 0,
                    };
                    let to = Tile { data: at, row_bytes };
                    self.machine.run(
                        TileOp::ScatterStrided(element),
                        rows,
                        columns,
                        &[to, from, stride],
                    );
                }
            },
            // SAFETY: the launch was checked to stay within its buffers.
            _ => unsafe { scatter(data, from.data, axes, rectangle, width) },
        }
    }
}

/// Copies rows of bytes past the caches.
///
/// # Safety
/// The source may be read and the destination written; they do not overlap.
unsafe fn stream(to: Tile, from: Tile, rows: usize, bytes: usize) {
    for row in 0..rows as isize {
        let to = to.data.wrapping_offset(row * to.row_bytes);
        let from = from.data.wrapping_offset(row * from.row_bytes);
        // SAFETY: the caller's promise.
        unsafe { stream_row(to, from, bytes) };
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// # Safety
/// As for [`stream`].
#[cfg(target_arch = "x86_64")]
unsafe fn stream_row(to: *mut u8, from: *const u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let head = to.align_offset(64).min(bytes);
    let whole = (bytes - head) / 64 * 64;
    // SAFETY: the caller's promise; from the first line on, destinations are aligned.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for at in (head..head + whole).step_by(16) {
            let value = _mm_loadu_si128(from.add(at).cast::<__m128i>());
            _mm_stream_si128(to.add(at).cast(), value);
        }
        let rest = head + whole;
        std::ptr::copy_nonoverlapping(from.add(rest), to.add(rest), bytes - rest);
    }
}

/// # Safety
/// As for [`stream`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stream_row(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// The distance of rows of an operand whose rectangles lie in its array as they are.
fn direct(axes: Axes<'_>, width: usize, columns: usize) -> Option<isize> {
    let [row, column] = axes.strides()?;
    (column == width as isize || columns == 1).then_some(row)
}

/// Copies the elements of a rectangle, wherever they lie, next to each other.
///
/// # Safety
/// All positions must lie in the source's array, and the destination must have room for them.
unsafe fn gather(to: *mut u8, from: *const u8, axes: Axes<'_>, rectangle: Rectangle, width: usize) {
    let Rectangle {
        row,
        rows: row_count,
        column,
        columns: column_count,
    } = rectangle;
    for r in 0..row_count {
        let base = from.wrapping_offset(distance(axes.rows, row + r));
        for c in 0..column_count {
            let address = base.wrapping_offset(distance(axes.columns, column + c));
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(address, to.add((r * column_count + c) * width), width) };
        }
    }
}

/// The other way round.
///
/// # Safety
/// As for [`gather`].
unsafe fn scatter(to: *mut u8, from: *const u8, axes: Axes<'_>, rectangle: Rectangle, width: usize) {
    let Rectangle {
        row,
        rows: row_count,
        column,
        columns: column_count,
    } = rectangle;
    for r in 0..row_count {
        let base = to.wrapping_offset(distance(axes.rows, row + r));
        for c in 0..column_count {
            let address = base.wrapping_offset(distance(axes.columns, column + c));
            // SAFETY: the caller's promise.
            unsafe {
                std::ptr::copy_nonoverlapping(from.add((r * column_count + c) * width), address, width)
            };
        }
    }
}
