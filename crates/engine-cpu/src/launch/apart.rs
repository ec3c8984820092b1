//! Kernels that reduce along columns that lie apart: neighbours in memory belong to neighbouring rows.
//!
//! A rectangle has sixteen columns of the kernel, one a lane, above each other, and the rows at hand side by side. So the
//! reduction is an operation on whole rectangles, in the same order as everywhere.

use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::pool::Parallel;
use artifact_cpu_tile::Tile;
use artifact_lower::kernel::{LANES, Level, SEGMENT};

use super::Run;
use super::bound::Segments;
use super::tiles::{Axes, Desk, Rectangle};
use super::together::Rows;
use crate::kernel::program::{Phase, Reduce, SlotKind};

impl Run<'_> {
    pub(super) fn apart(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        match &self.launch.segments {
            None => self.blocks(parallel, self.launch.blocks, &|desk, block| {
                self.side_block(desk, self.side_by_side(block));
            }),
            Some(segments) => self.sides_by_segments(parallel, segments),
        }
    }

    /// The rows of a block, which lie side by side.
    fn side_by_side(&self, block: usize) -> Rows {
        let layout = &self.launch.layout;
        let size = layout.rectangle[1];
        let across = layout.columns.div_ceil(size).max(1);
        let first = block % across * size;
        Rows {
            outer: block / across,
            first,
            count: size.min(layout.columns - first),
        }
    }

    fn side_block(&self, desk: &mut Desk, rows: Rows) {
        self.bring_sides(desk, rows);
        for (phase, code) in self.kernel.program.phases.iter().zip(&self.kernel.phases) {
            match phase.level {
                // SAFETY: slots of rows have an element for each of them.
                Level::Row => unsafe { code(self.machine, desk.tiles.as_ptr(), 1, rows.count) },
                Level::Element => {
                    self.begin_reductions(desk, phase, rows.count);
                    for segment in 0..self.launch.layout.rows.div_ceil(SEGMENT) {
                        // A column may be longer than anybody waits for.
                        if self.machine.is_stopped() {
                            return;
                        }
                        self.side_segment(desk, phase, *code, rows, segment);
                        for reduce in &phase.reduces {
                            let (result, from) = (desk.tiles[reduce.result], desk.tiles[reduce.lanes]);
                            // SAFETY: slots of rows have an element for each of them.
                            unsafe {
                                self.machine
                                    .run(reduce.pair, 1, rows.count, &[result, result, from])
                            };
                        }
                    }
                }
            }
        }
        self.send_sides(desk, rows);
    }

    /// One segment; the first lane holds its results.
    fn side_segment(&self, desk: &mut Desk, phase: &Phase, code: super::PhaseFn, rows: Rows, segment: usize) {
        for reduce in &phase.reduces {
            let width = self.kernel.program.slots[reduce.lanes].bytes;
            let row_bytes = (rows.count * width) as isize;
            desk.tiles[reduce.lanes].row_bytes = row_bytes;
            self.init_lanes(desk, reduce, rows.count);
        }
        let end = self.launch.layout.rows.min((segment + 1) * SEGMENT);
        let mut row = segment * SEGMENT;
        while row < end {
            let count = LANES.min(end - row);
            let rectangle = Rectangle {
                row,
                rows: count,
                column: rows.first,
                columns: rows.count,
            };
            self.side_rectangle(desk, phase, code, rows.outer, rectangle);
            row += count;
        }
        for reduce in &phase.reduces {
            self.combine_sides(desk, reduce, rows.count);
        }
    }

    fn init_lanes(&self, desk: &Desk, reduce: &Reduce, count: usize) {
        // The routine fills rows of sixteen; here as many elements lie one after the other.
        let width = self.kernel.program.slots[reduce.lanes].bytes;
        let lanes = Tile {
            row_bytes: (LANES * width) as isize,
            ..desk.tiles[reduce.lanes]
        };
        // SAFETY: there are sixteen lanes for each row.
        unsafe { self.machine.run(reduce.init, count, LANES, &[lanes]) };
    }

    fn side_rectangle(
        &self,
        desk: &mut Desk,
        phase: &Phase,
        code: super::PhaseFn,
        outer: usize,
        rectangle: Rectangle,
    ) {
        let program = &self.kernel.program;
        let used = || phase.used.iter().map(|index| (*index, &program.slots[*index]));
        for (index, slot) in used() {
            match slot.kind {
                SlotKind::Input(Level::Element) => {
                    self.bring(desk, index, self.outer_base(index, outer), rectangle)
                }
                SlotKind::Output(Level::Element) => {
                    let base = self.outer_base(index, outer);
                    self.prepare(desk, index, base, self.axes(index), rectangle);
                }
                SlotKind::Scratch => desk.tiles[index].row_bytes = (rectangle.columns * slot.bytes) as isize,
                _ => {}
            }
        }
        // SAFETY: every slot that the phase uses is a rectangle of this size, or has one row for all of its rows.
        unsafe {
            code(
                self.machine,
                desk.tiles.as_ptr(),
                rectangle.rows,
                rectangle.columns,
            )
        };
        for (index, slot) in used() {
            if slot.kind == SlotKind::Output(Level::Element) {
                self.send(
                    desk,
                    index,
                    self.outer_base(index, outer),
                    self.axes(index),
                    rectangle,
                );
            }
        }
    }

    /// Combines lanes in pairs: the lower half with the upper one.
    fn combine_sides(&self, desk: &Desk, reduce: &Reduce, count: usize) {
        let width = self.kernel.program.slots[reduce.lanes].bytes;
        let lanes = desk.tiles[reduce.lanes];
        let mut half = LANES / 2;
        while half > 0 {
            let upper = Tile {
                data: lanes.data.wrapping_add(half * count * width),
                ..lanes
            };
            // SAFETY: both halves are lanes.
            unsafe {
                self.machine
                    .run(reduce.pair, 1, half * count, &[lanes, lanes, upper])
            };
            half /= 2;
        }
    }

    fn bring_sides(&self, desk: &mut Desk, rows: Rows) {
        let program = &self.kernel.program;
        let rectangle = Rectangle {
            row: 0,
            rows: 1,
            column: rows.first,
            columns: rows.count,
        };
        for (index, slot) in program.slots.iter().enumerate() {
            let walk = self.launch.layout.walks.get(index);
            let axes = walk.map(|walk| Axes {
                rows: &[],
                columns: &walk.columns,
            });
            match (slot.kind, axes) {
                (SlotKind::Input(Level::Row), Some(axes)) => {
                    self.bring_along(desk, index, self.outer_base(index, rows.outer), axes, rectangle);
                }
                (SlotKind::Output(Level::Row), Some(axes)) => {
                    self.prepare(desk, index, self.outer_base(index, rows.outer), axes, rectangle);
                }
                _ => {}
            }
            if matches!(
                slot.kind,
                SlotKind::Row | SlotKind::Input(Level::Row) | SlotKind::Output(Level::Row)
            ) {
                // The same for every column of the kernel.
                desk.tiles[index].row_bytes = 0;
            }
        }
    }

    fn send_sides(&self, desk: &Desk, rows: Rows) {
        let rectangle = Rectangle {
            row: 0,
            rows: 1,
            column: rows.first,
            columns: rows.count,
        };
        for (index, slot) in self.kernel.program.slots.iter().enumerate() {
            if slot.kind == SlotKind::Output(Level::Row) {
                let axes = Axes {
                    rows: &[],
                    columns: &self.launch.layout.walks[index].columns,
                };
                self.send(desk, index, self.outer_base(index, rows.outer), axes, rectangle);
            }
        }
    }

    /// Few rows of many columns: threads take segments, then one of them combines what they found.
    fn sides_by_segments(&self, parallel: Parallel<'_>, segments: &Segments) -> Result<(), RoutineError> {
        let layout = &self.launch.layout;
        let all = layout.outer_count() * layout.columns;
        let blocks = self.launch.blocks;
        let before = |rows: Rows, segment: usize| segment * all + rows.outer * layout.columns + rows.first;
        self.blocks(parallel, blocks * segments.count, &|desk, index| {
            let (block, segment) = (index / segments.count, index % segments.count);
            let rows = self.side_by_side(block);
            self.bring_sides(desk, rows);
            for (phase, code) in self.kernel.program.phases.iter().zip(&self.kernel.phases) {
                match phase.level {
                    Level::Element => {
                        self.side_segment(desk, phase, *code, rows, segment);
                        for (number, reduce) in phase.reduces.iter().enumerate() {
                            let to = self.kept_segment(segments, number, reduce, before(rows, segment));
                            let width = self.kernel.program.slots[reduce.lanes].bytes;
                            let from = desk.tiles[reduce.lanes].data;
                            // SAFETY: there is a place for each row of each segment.
                            unsafe { std::ptr::copy_nonoverlapping(from, to.data, rows.count * width) };
                        }
                        // What follows needs all segments.
                        break;
                    }
                    // SAFETY: slots of rows have an element for each of them.
                    Level::Row => unsafe { code(self.machine, desk.tiles.as_ptr(), 1, rows.count) },
                }
            }
        })?;
        for block in 0..blocks {
            let rows = self.side_by_side(block);
            let mut desk = self.desk(0);
            self.bring_sides(&mut desk, rows);
            for (phase, code) in self.kernel.program.phases.iter().zip(&self.kernel.phases) {
                match phase.level {
                    // SAFETY: slots of rows have an element for each of them.
                    Level::Row => unsafe { code(self.machine, desk.tiles.as_ptr(), 1, rows.count) },
                    Level::Element => {
                        self.begin_reductions(&desk, phase, rows.count);
                        for (number, reduce) in phase.reduces.iter().enumerate() {
                            let result = desk.tiles[reduce.result];
                            for segment in 0..segments.count {
                                let from = self.kept_segment(segments, number, reduce, before(rows, segment));
                                // SAFETY: as above.
                                unsafe {
                                    self.machine
                                        .run(reduce.pair, 1, rows.count, &[result, result, from])
                                };
                            }
                        }
                    }
                }
            }
            self.send_sides(&desk, rows);
        }
        Ok(())
    }
}
