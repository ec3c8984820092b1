//! Regions that were compiled: functions of elements, called for as many as lie together.

use std::mem::MaybeUninit;

use artifact_cpu_tile::Tile;
use artifact_ir::types::ElementType;
use artifact_lower::plan::{KernelId, Plan};
use smallvec::SmallVec;

use super::Hands;
use crate::kernel::program::{Program, SlotKind};
use crate::launch::LoadedKernel;
use crate::machine::Machine;

/// Memory for what a function computes on the way.
const MEMORY_BYTES: usize = 8 << 10;
/// Elements that are computed at once, at most.
const ELEMENTS_MAX: usize = 512;
/// Every array begins at a multiple of this.
const ALIGNMENT: usize = 16;

/// A region as a kernel of the plan, whose arguments and results were found to be of certain types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    kernel: usize,
    /// Elements at once.
    room: usize,
}

impl Function {
    /// The kernel as a function; `None` where it takes or returns something else, or more than there is memory for.
    pub(super) fn of(
        plan: &Plan,
        program: &Program,
        id: KernelId,
        arguments: &[ElementType],
        results: &[ElementType],
    ) -> Option<Self> {
        use artifact_core::entity::EntityId as _;
        let kernel = &plan.kernels[id];
        let takes = kernel.inputs.iter().map(|input| input.element);
        let gives = kernel.outputs.iter().map(|output| output.element);
        let fits = takes.eq(arguments.iter().copied()) && gives.eq(results.iter().copied());
        let room = room(program);
        (fits && room > 0).then_some(Self {
            kernel: id.index(),
            room,
        })
    }

    /// What is needed to call it.
    pub(super) fn ready<'a>(self, hands: &Hands<'a>) -> Option<Ready<'a>> {
        Some(Ready {
            machine: hands.machine,
            kernel: hands.kernels.get(self.kernel)?,
            room: self.room,
        })
    }
}

/// Elements for which the memory has room.
fn room(program: &Program) -> usize {
    let own = |kind: SlotKind| !matches!(kind, SlotKind::Input(_) | SlotKind::Constant(_));
    let slots = program.slots.iter().filter(|slot| own(slot.kind));
    let (count, bytes) = slots.fold((0, 0), |(count, bytes), slot| (count + 1, bytes + slot.bytes));
    let memory = MEMORY_BYTES.saturating_sub(count * ALIGNMENT);
    (memory / bytes.max(1)).min(ELEMENTS_MAX)
}

/// A function that can be called, by any thread.
#[derive(Clone, Copy)]
pub(super) struct Ready<'a> {
    machine: &'a Machine<'a>,
    kernel: &'a LoadedKernel,
    room: usize,
}

impl Ready<'_> {
    /// Computes `count` elements of each result. Results may take the place of arguments.
    ///
    /// # Safety
    /// There is a pointer for each argument, and one for each result, to as many elements that lie together.
    pub(super) unsafe fn call(
        &self,
        arguments: impl Iterator<Item = *const u8>,
        results: &[*mut u8],
        count: usize,
    ) {
        let arguments: SmallVec<[*const u8; 8]> = arguments.collect();
        let mut memory = [const { MaybeUninit::<u128>::uninit() }; MEMORY_BYTES / ALIGNMENT];
        let memory = memory.as_mut_ptr().cast::<u8>();
        for from in (0..count).step_by(self.room) {
            let length = self.room.min(count - from);
            let tiles = self.tiles(&arguments, from, length, memory);
            for phase in &self.kernel.phases {
                // SAFETY: every array that a phase uses has so many elements.
                unsafe { phase(self.machine, tiles.as_ptr(), 1, length) };
            }
            let program = &self.kernel.program;
            for (number, result) in results.iter().enumerate() {
                let slot = program.inputs + number;
                let width = program.slots[slot].bytes;
                let to = result.wrapping_add(from * width);
                // SAFETY: the caller's promise; what was computed lies in memory of this call.
                unsafe { std::ptr::copy_nonoverlapping(tiles[slot].data, to, length * width) };
            }
        }
    }

    /// Where each array of the function lies.
    fn tiles(
        &self,
        arguments: &[*const u8],
        from: usize,
        length: usize,
        mut memory: *mut u8,
    ) -> SmallVec<[Tile; 32]> {
        let program = &self.kernel.program;
        let mut tiles = SmallVec::new();
        for (index, slot) in program.slots.iter().enumerate() {
            let data = match (slot.kind, arguments.get(index)) {
                (SlotKind::Input(_), Some(argument)) => argument.cast_mut().wrapping_add(from * slot.bytes),
                (SlotKind::Constant(number), _) => program.constants[number].as_ptr().cast_mut(),
                _ => {
                    let own = memory;
                    memory = memory.wrapping_add((length * slot.bytes).next_multiple_of(ALIGNMENT));
                    own
                }
            };
            tiles.push(Tile { data, row_bytes: 0 });
        }
        tiles
    }
}
