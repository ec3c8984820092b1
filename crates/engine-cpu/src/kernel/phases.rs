//! When each value of a kernel is computed, and where it is kept.

use artifact_core::entity::EntityId as _;
use artifact_lower::kernel::{Instr, InstrId, InstrKind, Kernel, Level};

/// A point in the order of passes: even ones run over rows, odd ones over columns.
pub(crate) type Time = usize;

/// When each value of a body is computed. Inputs and constants have the earliest time at which they may be needed.
pub(crate) fn times(kernel: &Kernel) -> Vec<Time> {
    let mut times: Vec<Time> = Vec::with_capacity(kernel.body.len());
    for instr in &kernel.body {
        let time = match &instr.kind {
            InstrKind::Input(_) | InstrKind::Constant(_) => usize::from(instr.level == Level::Element),
            InstrKind::Apply { .. } | InstrKind::MultiplyAdd(_) => applied(kernel, instr, &times),
            // The pass in which it runs; its result is there in the next one.
            InstrKind::Reduce {
                operands: [value, init],
                ..
            } => {
                let value = at_element(kernel, *value, &times);
                value.max(result_time(kernel, *init, &times) + 1)
            }
        };
        times.push(time);
    }
    times
}

fn applied(kernel: &Kernel, instr: &Instr, times: &[Time]) -> Time {
    let operands = instr.kind.operands().iter();
    match instr.level {
        Level::Row => operands
            .map(|operand| result_time(kernel, *operand, times))
            .max()
            .unwrap_or(0),
        Level::Element => operands
            .map(|operand| at_element(kernel, *operand, times))
            .max()
            .unwrap_or(1)
            .max(1),
    }
}

/// The first pass in which a value can be used by something of its own level.
pub(crate) fn result_time(kernel: &Kernel, id: InstrId, times: &[Time]) -> Time {
    let instr = &kernel.body[id.index()];
    times[id.index()] + usize::from(matches!(instr.kind, InstrKind::Reduce { .. }))
}

/// The first pass over columns in which a value can be used.
pub(crate) fn at_element(kernel: &Kernel, id: InstrId, times: &[Time]) -> Time {
    let time = result_time(kernel, id, times);
    match kernel.body[id.index()].level {
        Level::Row => time + 1,
        Level::Element => time,
    }
}
