//! Lets arrays of a rectangle that are not needed at the same time share memory, and leaves out those that nobody uses.
//!
//! The fewer arrays there are, the larger a rectangle can be that stays in the first-level cache.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::program::{LoopKind, Phase, Slot, SlotKind, Stage};

/// Renumbers the slots of a program. The first `fixed` keep their numbers.
pub(super) fn reuse(slots: &mut Vec<Slot>, phases: &mut [Phase], fixed: usize) {
    let mut shared = Shared {
        slots,
        arrays: Vec::new(),
    };
    for phase in phases.iter_mut() {
        let names = shared.phase(phase);
        rename(phase, &|slot| names.get(&slot).copied().unwrap_or(slot));
    }
    drop_unused(slots, phases, fixed);
}

/// Arrays of a rectangle, each of which holds several of the scratch slots in turn.
struct Shared<'a> {
    slots: &'a [Slot],
    /// The first slot that each stands for.
    arrays: Vec<usize>,
}

impl Shared<'_> {
    /// The array of each scratch slot of a phase.
    fn phase(&mut self, phase: &Phase) -> HashMap<usize, usize> {
        let last = last_uses(phase);
        let mut names: HashMap<usize, usize> = HashMap::new();
        let mut free = self.arrays.clone();
        for (number, stage) in phase.stages.iter().enumerate() {
            let own: BTreeSet<usize> = stage
                .slots()
                .into_iter()
                .filter(|slot| self.is_scratch(*slot))
                .collect();
            for slot in &own {
                if let Entry::Vacant(entry) = names.entry(*slot) {
                    entry.insert(self.take(*slot, &mut free));
                }
            }
            // Not before the end of the stage: what it writes is apart from what it reads.
            let ended = own.iter().filter(|slot| last.get(slot) == Some(&number));
            free.extend(ended.filter_map(|slot| names.get(slot)));
        }
        names
    }

    fn is_scratch(&self, slot: usize) -> bool {
        self.slots[slot].kind == SlotKind::Scratch
    }

    /// An array that is free and as wide, the one that was used last if there are several; or a new one.
    fn take(&mut self, slot: usize, free: &mut Vec<usize>) -> usize {
        let fits = |array: &usize| self.slots[*array].bytes == self.slots[slot].bytes;
        if let Some(at) = free.iter().rposition(fits) {
            return free.remove(at);
        }
        self.arrays.push(slot);
        slot
    }
}

/// The number of the last stage that uses each slot.
fn last_uses(phase: &Phase) -> HashMap<usize, usize> {
    let stages = phase.stages.iter().enumerate();
    stages
        .flat_map(|(number, stage)| stage.slots().into_iter().map(move |slot| (slot, number)))
        .collect()
}

fn rename(phase: &mut Phase, name: &dyn Fn(usize) -> usize) {
    for stage in &mut phase.stages {
        match stage {
            Stage::Call { slots, .. } | Stage::Evaluate { slots, .. } => {
                slots.iter_mut().for_each(|slot| *slot = name(*slot));
            }
            Stage::Loop(own) => {
                for op in &mut own.ops {
                    if let LoopKind::Load(slot) | LoopKind::LoadRow(slot) = &mut op.kind {
                        *slot = name(*slot);
                    }
                }
                own.stores.iter_mut().for_each(|(_, slot)| *slot = name(*slot));
            }
        }
    }
    for reduce in &mut phase.reduces {
        for slot in [&mut reduce.lanes, &mut reduce.start, &mut reduce.result] {
            *slot = name(*slot);
        }
    }
    let used: BTreeSet<usize> = phase.used.iter().map(|slot| name(*slot)).collect();
    phase.used = used.into_iter().collect();
}

fn drop_unused(slots: &mut Vec<Slot>, phases: &mut [Phase], fixed: usize) {
    let reduced = phases.iter().flat_map(|phase| &phase.reduces);
    let reduced = reduced.flat_map(|reduce| [reduce.lanes, reduce.start, reduce.result]);
    let used: BTreeSet<usize> = phases
        .iter()
        .flat_map(|phase| phase.used.iter().copied())
        .chain(reduced)
        .chain(0..fixed)
        .collect();
    let numbers: HashMap<usize, usize> = used.iter().copied().zip(0..).collect();
    for phase in phases {
        rename(phase, &|slot| numbers.get(&slot).copied().unwrap_or(slot));
    }
    let all = std::mem::take(slots);
    slots.extend(used.into_iter().filter_map(|slot| all.get(slot)));
}
