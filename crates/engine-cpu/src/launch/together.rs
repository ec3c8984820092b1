//! Kernels that reduce along columns that lie together.

use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::pool::Parallel;
use artifact_cpu_tile::{Tile, TileOp, Width};
use artifact_lower::kernel::{LANES, Level, SEGMENT};

use super::Run;
use super::bound::{Resolved, Segments};
use super::tiles::{Axes, Desk, Rectangle};
use crate::kernel::program::{Phase, Reduce, SlotKind};

/// The rows that a thread has at hand.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) outer: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Run<'_> {
    pub(super) fn together(&self, parallel: Parallel<'_>) -> Result<(), RoutineError> {
        match &self.launch.segments {
            None => self.blocks(parallel, self.launch.blocks, &|desk, block| {
                self.rows_block(desk, self.rows_of(block));
            }),
            Some(segments) => self.rows_by_segments(parallel, segments),
        }
    }

    fn rows_of(&self, block: usize) -> Rows {
        let layout = &self.launch.layout;
        let size = layout.rectangle[0];
        let down = layout.rows.div_ceil(size).max(1);
        let first = block % down * size;
        Rows {
            outer: block / down,
            first,
            count: size.min(layout.rows - first),
        }
    }

    /// All passes over some rows.
    fn rows_block(&self, desk: &mut Desk, rows: Rows) {
        self.bring_rows(desk, rows);
        for (phase, code) in self.kernel.program.phases.iter().zip(&self.kernel.phases) {
            match phase.level {
                // SAFETY: slots of rows have an element for each of them.
                Level::Row => unsafe { code(self.machine, desk.tiles.as_ptr(), 1, rows.count) },
                Level::Element => {
                    self.begin_reductions(desk, phase, rows.count);
                    let columns = self.launch.layout.columns;
                    for segment in 0..columns.div_ceil(SEGMENT) {
                        // A row may be longer than anybody waits for.
                        if self.machine.is_stopped() {
                            return;
                        }
                        self.segment(desk, phase, *code, rows, segment);
                        self.end_segment(desk, phase, rows.count);
                    }
                }
            }
        }
        self.send_rows(desk, rows);
    }

    /// One segment of the columns of the rows at hand; lanes hold its partial results.
    fn segment(&self, desk: &mut Desk, phase: &Phase, code: super::PhaseFn, rows: Rows, segment: usize) {
        let layout = &self.launch.layout;
        self.init_lanes_of(desk, phase, rows.count);
        let end = layout.columns.min((segment + 1) * SEGMENT);
        let mut column = segment * SEGMENT;
        while column < end {
            let columns = layout.rectangle[1].min(end - column);
            let rectangle = Rectangle {
                row: rows.first,
                rows: rows.count,
                column,
                columns,
            };
            self.rectangle(desk, phase, code, rows.outer, rectangle);
            column += columns;
        }
    }

    /// Lanes that hold nothing yet, for so many rows.
    fn init_lanes_of(&self, desk: &mut Desk, phase: &Phase, count: usize) {
        for reduce in &phase.reduces {
            let width = self.kernel.program.slots[reduce.lanes].bytes;
            desk.tiles[reduce.lanes].row_bytes = (LANES * width) as isize;
            // SAFETY: there are sixteen lanes for each row.
            unsafe {
                self.machine
                    .run(reduce.init, count, LANES, &[desk.tiles[reduce.lanes]])
            };
        }
    }

    /// One pass over one rectangle.
    fn rectangle(
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
            let base = || self.outer_base(index, outer);
            match slot.kind {
                SlotKind::Input(Level::Element) => self.bring(desk, index, base(), rectangle),
                SlotKind::Output(Level::Element) => {
                    self.prepare(desk, index, base(), self.axes(index), rectangle);
                }
                SlotKind::Scratch => desk.tiles[index].row_bytes = (rectangle.columns * slot.bytes) as isize,
                SlotKind::Resident => {
                    let place = desk.memory.wrapping_add(self.launch.places[index]);
                    let row_bytes = (self.launch.layout.columns * slot.bytes) as isize;
                    desk.tiles[index] = Tile {
                        data: place.wrapping_add(rectangle.column * slot.bytes),
                        row_bytes,
                    };
                }
                _ => {}
            }
        }
        // SAFETY: every slot that the phase uses is a rectangle of this size, or has an element for each row.
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

    /// Results start as the initial values.
    pub(super) fn begin_reductions(&self, desk: &Desk, phase: &Phase, count: usize) {
        for reduce in &phase.reduces {
            let slot = self.kernel.program.slots[reduce.start];
            let Some(width) = Width::from_bytes(slot.bytes) else {
                continue;
            };
            let is_constant = matches!(slot.kind, SlotKind::Constant(_));
            let op = if is_constant {
                TileOp::Fill(width)
            } else {
                TileOp::Copy(width)
            };
            // SAFETY: slots of rows have an element for each of them.
            unsafe {
                self.machine.run(
                    op,
                    1,
                    count,
                    &[desk.tiles[reduce.result], desk.tiles[reduce.start]],
                )
            };
        }
    }

    /// Combines lanes, and the results of the segment with those of the segments before it.
    fn end_segment(&self, desk: &Desk, phase: &Phase, count: usize) {
        for reduce in &phase.reduces {
            let segment = self.segment_place(desk, reduce);
            self.combine_lanes(desk, reduce, segment, count);
            let result = desk.tiles[reduce.result];
            // SAFETY: as above.
            unsafe {
                self.machine
                    .run(reduce.pair, 1, count, &[result, result, segment])
            };
        }
    }

    fn combine_lanes(&self, desk: &Desk, reduce: &Reduce, to: Tile, count: usize) {
        let width = self.kernel.program.slots[reduce.lanes].bytes as isize;
        let to = Tile {
            row_bytes: width,
            ..to
        };
        // SAFETY: there are sixteen lanes for each row, and a place for each result.
        unsafe {
            self.machine
                .run(reduce.finish, count, LANES, &[to, desk.tiles[reduce.lanes]])
        };
    }

    /// Where the results of a segment go.
    pub(super) fn segment_place(&self, desk: &Desk, reduce: &Reduce) -> Tile {
        let slots = self.kernel.program.slots.len();
        let all = self.kernel.program.phases.iter().flat_map(|phase| &phase.reduces);
        let index = all
            .into_iter()
            .position(|other| other.lanes == reduce.lanes)
            .unwrap_or(0);
        desk.tiles[slots + index]
    }

    /// Inputs and outputs that have one element a row.
    pub(super) fn bring_rows(&self, desk: &mut Desk, rows: Rows) {
        let program = &self.kernel.program;
        for (index, slot) in program.slots.iter().enumerate() {
            let walk = self.launch.layout.walks.get(index);
            let axes = walk.map(|walk| Axes {
                rows: &[],
                columns: &walk.rows,
            });
            let rectangle = Rectangle {
                row: 0,
                rows: 1,
                column: rows.first,
                columns: rows.count,
            };
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
                desk.tiles[index].row_bytes = slot.bytes as isize;
            }
        }
    }

    pub(super) fn send_rows(&self, desk: &Desk, rows: Rows) {
        for (index, slot) in self.kernel.program.slots.iter().enumerate() {
            if slot.kind != SlotKind::Output(Level::Row) {
                continue;
            }
            let axes = Axes {
                rows: &[],
                columns: &self.launch.layout.walks[index].rows,
            };
            let rectangle = Rectangle {
                row: 0,
                rows: 1,
                column: rows.first,
                columns: rows.count,
            };
            self.send(desk, index, self.outer_base(index, rows.outer), axes, rectangle);
        }
    }

    /// Few long rows: threads take segments, then one of them combines what they found.
    fn rows_by_segments(&self, parallel: Parallel<'_>, segments: &Segments) -> Result<(), RoutineError> {
        let layout = &self.launch.layout;
        let all = layout.outer_count() * layout.rows;
        let single = |row: usize| Rows {
            outer: row / layout.rows,
            first: row % layout.rows,
            count: 1,
        };
        let groups = segments.count.div_ceil(segments.group);
        self.blocks(parallel, all * groups, &|desk, index| {
            let (row, first) = (index / groups, index % groups * segments.group);
            let end = segments.count.min(first + segments.group);
            self.bring_rows(desk, single(row));
            for (phase, code) in self.kernel.program.phases.iter().zip(&self.kernel.phases) {
                match phase.level {
                    Level::Element => {
                        let whole = end.min(layout.columns / SEGMENT);
                        if segments.group > 1 && first < whole {
                            self.segments_in_place(desk, phase, *code, single(row), first..whole);
                            self.keep(desk, segments, phase, row * segments.count + first, whole - first);
                        }
                        let next = if segments.group > 1 {
                            whole.max(first)
                        } else {
                            first
                        };
                        for segment in next..end {
                            self.segment(desk, phase, *code, single(row), segment);
                            self.keep(desk, segments, phase, row * segments.count + segment, 1);
                        }
                        // What follows needs all segments.
                        break;
                    }
                    // SAFETY: slots of rows have an element for the one row.
                    Level::Row => unsafe { code(self.machine, desk.tiles.as_ptr(), 1, 1) },
                }
            }
        })?;
        for row in 0..all {
            self.finish_row(segments, single(row), row);
        }
        Ok(())
    }

    /// Combines the lanes of segments, for the thread that combines the segments.
    fn keep(&self, desk: &Desk, segments: &Segments, phase: &Phase, index: usize, count: usize) {
        for (number, reduce) in phase.reduces.iter().enumerate() {
            let to = self.kept_segment(segments, number, reduce, index);
            self.combine_lanes(desk, reduce, to, count);
        }
    }

    /// Whole segments of one row as rows of a rectangle, where all operands lie in memory as they are.
    fn segments_in_place(
        &self,
        desk: &mut Desk,
        phase: &Phase,
        code: super::PhaseFn,
        rows: Rows,
        segments: std::ops::Range<usize>,
    ) {
        self.init_lanes_of(desk, phase, segments.len());
        for index in &phase.used {
            let slot = &self.kernel.program.slots[*index];
            if !matches!(slot.kind, SlotKind::Input(_)) {
                continue;
            }
            if let Resolved::Array(data) = self.outer_base(*index, rows.outer) {
                let first = self.axes(*index).distance(rows.first, segments.start * SEGMENT);
                desk.tiles[*index] = Tile {
                    data: data.wrapping_offset(first),
                    row_bytes: (SEGMENT * slot.bytes) as isize,
                };
            }
        }
        // SAFETY: every slot that the phase uses has so many elements for each segment.
        unsafe { code(self.machine, desk.tiles.as_ptr(), segments.len(), SEGMENT) };
    }

    fn finish_row(&self, segments: &Segments, rows: Rows, row: usize) {
        let mut desk = self.desk(0);
        self.bring_rows(&mut desk, rows);
        for (phase, code) in self.kernel.program.phases.iter().zip(&self.kernel.phases) {
            match phase.level {
                // SAFETY: slots of rows have an element for the one row.
                Level::Row => unsafe { code(self.machine, desk.tiles.as_ptr(), 1, 1) },
                Level::Element => {
                    self.begin_reductions(&desk, phase, 1);
                    for (number, reduce) in phase.reduces.iter().enumerate() {
                        let result = desk.tiles[reduce.result];
                        for segment in 0..segments.count {
                            let from =
                                self.kept_segment(segments, number, reduce, row * segments.count + segment);
                            // SAFETY: both are one element.
                            unsafe { self.machine.run(reduce.pair, 1, 1, &[result, result, from]) };
                        }
                    }
                }
            }
        }
        self.send_rows(&desk, rows);
    }

    /// Where the result of a segment is kept for the thread that combines them.
    pub(super) fn kept_segment(
        &self,
        segments: &Segments,
        number: usize,
        reduce: &Reduce,
        index: usize,
    ) -> Tile {
        let width = self.kernel.program.slots[reduce.lanes].bytes;
        let offset = segments.offsets[number] + index * width;
        Tile {
            data: self.scratch.shared().wrapping_add(offset),
            row_bytes: width as isize,
        }
    }
}
