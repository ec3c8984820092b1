//! What compiled code and the driver call: the table of tile routines, and the evaluator for what has none.

use artifact_cpu_tile::{Level, Tile, TileFn, TileOp, table};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::evaluate::ElementEvaluator;

/// The first argument of compiled code. Its layout is a part of what code is compiled for.
#[repr(C)]
pub(crate) struct Machine<'a> {
    table: *const TileFn,
    evaluate: unsafe extern "C" fn(*const Machine<'_>, usize, usize, usize, *const Tile),
    evaluators: &'a [ElementEvaluator],
    /// Whether an evaluation failed, which makes the results worthless.
    pub(crate) failed: AtomicBool,
    stop: &'a AtomicBool,
}

// SAFETY: the table is static, evaluators are shared between threads as they are, and the flag is atomic.
unsafe impl Sync for Machine<'_> {}

const _: () = {
    assert!(std::mem::offset_of!(Machine<'_>, table) == crate::kernel::codegen::CONTEXT_TABLE as usize);
    assert!(std::mem::offset_of!(Machine<'_>, evaluate) == crate::kernel::codegen::CONTEXT_EVALUATE as usize);
    assert!(size_of::<Tile>() == 16);
};

impl<'a> Machine<'a> {
    pub(crate) fn new(level: Level, evaluators: &'a [ElementEvaluator], stop: &'a AtomicBool) -> Self {
        Self {
            table: table(level).as_ptr(),
            evaluate,
            evaluators,
            failed: AtomicBool::new(false),
            stop,
        }
    }

    /// Whether the call has to stop: its results are worthless then.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs a routine.
    ///
    /// # Safety
    /// The tiles must be rectangles of so many rows and columns in memory that nobody else uses, as the routine needs them.
    pub(crate) unsafe fn run(&self, op: TileOp, rows: usize, columns: usize, tiles: &[Tile]) {
        let Some(id) = op.id() else {
            self.failed.store(true, Ordering::Relaxed);
            return;
        };
        // SAFETY: ids are indices of the table; the rest is the caller's promise.
        unsafe { (*self.table.add(usize::from(id)))(rows, columns, tiles.as_ptr()) }
    }
}

/// Called by compiled code for an operation that has no routine.
unsafe extern "C" fn evaluate(
    machine: *const Machine<'_>,
    operation: usize,
    rows: usize,
    columns: usize,
    tiles: *const Tile,
) {
    // SAFETY: compiled code passes on the context that it was called with.
    let machine = unsafe { &*machine };
    let Some(evaluator) = machine.evaluators.get(operation) else {
        machine.failed.store(true, Ordering::Relaxed);
        return;
    };
    // SAFETY: compiled code passes as many tiles as the operation has operands, and its result, of this rectangle.
    let tiles = unsafe { std::slice::from_raw_parts(tiles, evaluator.operand_count() + 1) };
    // SAFETY: as above.
    if unsafe { evaluator.run(rows, columns, tiles) }.is_err() {
        machine.failed.store(true, Ordering::Relaxed);
    }
}
