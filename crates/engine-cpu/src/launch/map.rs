//! Kernels that compute every position by itself.

use super::Run;
use super::tiles::{Desk, Rectangle};

impl Run<'_> {
    /// Computes one rectangle.
    pub(super) fn map_block(&self, desk: &mut Desk, block: usize) {
        let layout = &self.launch.layout;
        let [rows, columns] = layout.rectangle;
        let across = layout.columns.div_ceil(columns);
        let down = layout.rows.div_ceil(rows);
        let (outer, block) = (block / (across * down), block % (across * down));
        let (row, column) = (block / across * rows, block % across * columns);
        let rectangle = Rectangle {
            row,
            rows: rows.min(layout.rows - row),
            column,
            columns: columns.min(layout.columns - column),
        };
        let program = &self.kernel.program;
        let row_bytes = |width: usize| (rectangle.columns * width) as isize;
        for (tile, slot) in desk.tiles.iter_mut().zip(&program.slots) {
            if !matches!(slot.kind, crate::kernel::program::SlotKind::Constant(_)) {
                tile.row_bytes = row_bytes(slot.bytes);
            }
        }
        for input in 0..program.inputs {
            self.bring(desk, input, self.outer_base(input, outer), rectangle);
        }
        let outputs = program.inputs..program.inputs + program.outputs;
        for output in outputs.clone() {
            self.prepare(
                desk,
                output,
                self.outer_base(output, outer),
                self.axes(output),
                rectangle,
            );
        }
        for phase in &self.kernel.phases {
            // SAFETY: every slot that the phase uses is a rectangle of this size.
            unsafe {
                phase(
                    self.machine,
                    desk.tiles.as_ptr(),
                    rectangle.rows,
                    rectangle.columns,
                )
            };
        }
        for output in outputs {
            self.send(
                desk,
                output,
                self.outer_base(output, outer),
                self.axes(output),
                rectangle,
            );
        }
    }
}
