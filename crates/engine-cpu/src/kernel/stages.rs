//! Cuts the passes of a kernel into stages, and gives arrays to the values that live longer than a loop.

use std::collections::{BTreeSet, HashMap};

use artifact_core::entity::EntityId as _;
use artifact_cpu_tile::{BinaryOp, CombineOp, TileOp, Width};
use artifact_ir::op::{Binary, Op};
use artifact_ir::types::ElementType;
use artifact_lower::kernel::{Columns, Combine, Instr, InstrId, InstrKind, Kernel, Level};

use super::accuracy::is_accurate;
use super::codegen::lanes::{self, Form};
use super::phases::{Time, at_element, result_time, times};
use super::program::{Loop, LoopKind, LoopOp, Phase, Program, Reduce, Slot, SlotKind, Stage};
use super::reuse::reuse;

/// Operations of a compiled loop at most: more would not find registers.
const LOOP_OPS_MAX: usize = 32;
/// Uses of a value from which on an array that repeats it is worth its filling.
const FILL_USERS_MIN: usize = 4;
/// Bytes that the arrays of a rectangle that one phase uses may take: a little more than a first-level cache, since a stage goes
/// through a few of them. Smaller rectangles lose more by their number than they win.
const TILE_BYTES: usize = 64 << 10;
/// Elements of a rectangle, between these.
const TILE_MIN: usize = 1024;
const TILE_MAX: usize = 4096;

/// Schedules a kernel. `evaluated` collects the operations that have no routine.
pub(crate) fn schedule(kernel: &Kernel, evaluated: &mut Vec<Evaluated>) -> Program {
    let times = times(kernel);
    let mut slots = Vec::new();
    for input in &kernel.inputs {
        slots.push(Slot {
            bytes: input.element.bytes(),
            kind: SlotKind::Input(input.level),
        });
    }
    for output in &kernel.outputs {
        slots.push(Slot {
            bytes: output.element.bytes(),
            kind: SlotKind::Output(output.level),
        });
    }
    let mut scheduler = Scheduler {
        kernel,
        times,
        slots,
        homes: HashMap::new(),
        repeated: HashMap::new(),
        constants: Vec::new(),
        evaluated,
    };
    scheduler.give_homes();
    let last = scheduler.last_time();
    let mut phases: Vec<Phase> = (0..=last).filter_map(|time| scheduler.phase(time)).collect();
    let fixed = kernel.inputs.len() + kernel.outputs.len();
    reuse(&mut scheduler.slots, &mut phases, fixed);
    let tile = tile_size(&scheduler.slots, &phases);
    Program {
        columns: kernel.columns,
        moves: moves(kernel, &phases),
        tile,
        constants: scheduler.constants,
        slots: scheduler.slots,
        inputs: kernel.inputs.len(),
        outputs: kernel.outputs.len(),
        phases,
        flops: flops(kernel),
    }
}

/// Whether all that a kernel does is to copy its one input to its one output.
fn moves(kernel: &Kernel, phases: &[Phase]) -> bool {
    let copies =
        |stage: &Stage| matches!(stage, Stage::Call { routine: TileOp::Copy(_), slots } if slots == &[1, 0]);
    let stages = phases.iter().flat_map(|phase| &phase.stages);
    (kernel.inputs.len(), kernel.outputs.len(), stages.clone().count()) == (1, 1, 1)
        && stages.into_iter().all(copies)
}

/// Arithmetic operations at each position.
fn flops(kernel: &Kernel) -> usize {
    let of = |instr: &Instr| match instr.kind {
        InstrKind::Input(_) | InstrKind::Constant(_) => 0,
        _ if instr.level == Level::Row
            && kernel.inner > 0
            && !matches!(instr.kind, InstrKind::Reduce { .. }) =>
        {
            0
        }
        InstrKind::MultiplyAdd(_) => 2,
        InstrKind::Apply { .. } | InstrKind::Reduce { .. } => 1,
    };
    kernel.body.iter().map(of).sum()
}

/// An operation on elements that has no routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evaluated {
    pub(crate) op: Op,
    pub(crate) operands: Vec<ElementType>,
    pub(crate) result: ElementType,
}

fn tile_size(slots: &[Slot], phases: &[Phase]) -> usize {
    let held = |slot: &usize| match slots[*slot].kind {
        SlotKind::Scratch | SlotKind::Input(_) | SlotKind::Output(_) | SlotKind::Resident => {
            slots[*slot].bytes
        }
        SlotKind::Row | SlotKind::Lanes | SlotKind::Constant(_) => 0,
    };
    let bytes = phases
        .iter()
        .map(|phase| phase.used.iter().map(held).sum::<usize>());
    let bytes = bytes.max().unwrap_or(0);
    let mut tile = TILE_MAX;
    while tile > TILE_MIN && tile * bytes > TILE_BYTES {
        tile /= 2;
    }
    tile
}

struct Scheduler<'a> {
    kernel: &'a Kernel,
    times: Vec<Time>,
    slots: Vec<Slot>,
    /// Where values are that outlive their pass, or are made by a reduction.
    homes: HashMap<InstrId, usize>,
    /// Values that are computed again in each pass that uses them, instead of being kept for the later ones.
    repeated: HashMap<InstrId, BTreeSet<Time>>,
    constants: Vec<Vec<u8>>,
    evaluated: &'a mut Vec<Evaluated>,
}

impl Scheduler<'_> {
    fn ids(&self) -> impl Iterator<Item = (InstrId, &Instr)> {
        let ids = 0..self.kernel.body.len() as u32;
        ids.map(InstrId::from_index).zip(&self.kernel.body)
    }

    fn instr(&self, id: InstrId) -> &Instr {
        &self.kernel.body[id.index()]
    }

    fn add_slot(&mut self, bytes: usize, kind: SlotKind) -> usize {
        self.slots.push(Slot { bytes, kind });
        self.slots.len() - 1
    }

    fn output_slots(&self, value: InstrId, level: Level) -> Vec<usize> {
        let outputs = self.kernel.outputs.iter().enumerate();
        let own = outputs.filter(|(_, output)| output.value == value && output.level == level);
        own.map(|(index, _)| self.kernel.inputs.len() + index).collect()
    }

    /// The pass in which an output is written.
    fn output_time(&self, index: usize) -> Time {
        let output = &self.kernel.outputs[index];
        match output.level {
            Level::Row => result_time(self.kernel, output.value, &self.times),
            Level::Element => at_element(self.kernel, output.value, &self.times),
        }
    }

    fn last_time(&self) -> Time {
        let outputs = (0..self.kernel.outputs.len()).map(|index| self.output_time(index));
        outputs.chain(self.times.iter().copied()).max().unwrap_or(0)
    }

    /// The passes in which a value is used.
    fn use_times(&self, id: InstrId) -> BTreeSet<Time> {
        let users = self
            .ids()
            .filter(|(_, instr)| instr.kind.operands().contains(&id));
        let mut times: BTreeSet<Time> = users.map(|(user, _)| self.times[user.index()]).collect();
        for (index, output) in self.kernel.outputs.iter().enumerate() {
            if output.value == id {
                times.insert(self.output_time(index));
            }
        }
        times
    }

    /// Arrays for values that are used in a later pass than their own, unless they are computed again.
    fn give_homes(&mut self) {
        let ids: Vec<InstrId> = self.ids().map(|(id, _)| id).collect();
        for id in ids {
            let instr = self.instr(id).clone();
            let is_leaf = matches!(instr.kind, InstrKind::Input(_) | InstrKind::Constant(_));
            let uses = self.use_times(id);
            let outlives = uses.iter().any(|time| *time > self.times[id.index()]);
            if is_leaf || !outlives {
                continue;
            }
            if self.is_cheap(id) {
                self.repeated.insert(id, uses);
                continue;
            }
            let is_reduce = matches!(instr.kind, InstrKind::Reduce { .. });
            let written = self
                .output_slots(id, Level::Row)
                .first()
                .copied()
                .filter(|_| is_reduce);
            let home = written.unwrap_or_else(|| {
                let kind = if instr.level == Level::Row {
                    SlotKind::Row
                } else {
                    SlotKind::Resident
                };
                self.add_slot(instr.element.bytes(), kind)
            });
            self.homes.insert(id, home);
        }
    }

    /// Whether to compute a value costs no more than to write it and read it: one operation on what is there in any pass.
    fn is_cheap(&self, id: InstrId) -> bool {
        let instr = self.instr(id);
        let is_simple = match &instr.kind {
            InstrKind::Apply { op, .. } => {
                matches!(op, Op::Binary(Binary::Add | Binary::Subtract | Binary::Multiply))
            }
            _ => false,
        };
        let is_there = |operand: &InstrId| {
            let own = self.instr(*operand);
            own.level == Level::Row || matches!(own.kind, InstrKind::Input(_) | InstrKind::Constant(_))
        };
        is_simple
            && instr.level == Level::Element
            && matches!(lanes::form(self.kernel, id), Some(Form::Width(_)))
            && self.output_slots(id, Level::Element).is_empty()
            && instr.kind.operands().iter().all(is_there)
    }

    fn phase(&mut self, time: Time) -> Option<Phase> {
        let level = if time.is_multiple_of(2) {
            Level::Row
        } else {
            Level::Element
        };
        let mut pass = Pass::new(self, time, level);
        pass.run();
        let Pass { stages, reduces, .. } = pass;
        let used: BTreeSet<usize> = stages.iter().flat_map(Stage::slots).collect();
        let used = used.into_iter().collect();
        (!stages.is_empty()).then_some(Phase {
            level,
            stages,
            used,
            reduces,
        })
    }
}

/// One pass in the making.
struct Pass<'s, 'a> {
    scheduler: &'s mut Scheduler<'a>,
    time: Time,
    level: Level,
    /// Values of this pass that are not computed yet.
    open: Vec<InstrId>,
    /// Where values are that a stage of this pass has left.
    places: HashMap<InstrId, usize>,
    stages: Vec<Stage>,
    reduces: Vec<Reduce>,
}

impl<'s, 'a> Pass<'s, 'a> {
    fn new(scheduler: &'s mut Scheduler<'a>, time: Time, level: Level) -> Self {
        let is_own = |(id, instr): &(InstrId, &Instr)| {
            let is_due = match scheduler.repeated.get(id) {
                Some(uses) => uses.contains(&time),
                None => scheduler.times[id.index()] == time,
            };
            is_due && !matches!(instr.kind, InstrKind::Input(_) | InstrKind::Constant(_))
        };
        let open = scheduler.ids().filter(is_own).map(|(id, _)| id).collect();
        Self {
            scheduler,
            time,
            level,
            open,
            places: HashMap::new(),
            stages: Vec::new(),
            reduces: Vec::new(),
        }
    }

    fn run(&mut self) {
        while !self.open.is_empty() {
            let before = self.open.len();
            self.next_loop();
            self.ready_calls();
            if self.open.len() == before {
                // Nothing is ready: cannot be, since operands come first.
                break;
            }
        }
        self.copies();
    }

    fn is_leaf(&self, id: InstrId) -> bool {
        matches!(
            self.scheduler.instr(id).kind,
            InstrKind::Input(_) | InstrKind::Constant(_)
        )
    }

    /// Whether a value is in an array, an input or a constant.
    fn is_there(&self, id: InstrId) -> bool {
        self.is_leaf(id)
            || self.places.contains_key(&id)
            || (self.scheduler.homes.contains_key(&id) && self.made_before(id))
    }

    fn made_before(&self, id: InstrId) -> bool {
        result_time(self.scheduler.kernel, id, &self.scheduler.times) <= self.time
            && !self.open.contains(&id)
            && self.scheduler.times[id.index()] != self.time
    }

    fn form(&self, id: InstrId) -> Option<Form> {
        lanes::form(self.scheduler.kernel, id)
    }

    /// Collects operations that one loop can do, and emits it.
    fn next_loop(&mut self) {
        for width in [4, 8] {
            let mut group: Vec<InstrId> = Vec::new();
            for id in self.open.clone() {
                let fits = self.form(id).is_some_and(|form| form.fits(width)) && group.len() < LOOP_OPS_MAX;
                let operands = self.scheduler.instr(id).kind.operands().to_vec();
                let is_ready = operands
                    .iter()
                    .all(|operand| self.is_there(*operand) || group.contains(operand));
                if fits && is_ready {
                    group.push(id);
                }
            }
            if let [id] = group[..]
                && self.is_cheaper_called(id)
            {
                self.open.retain(|other| *other != id);
                let instr = self.scheduler.instr(id).clone();
                self.call(id, &instr);
                continue;
            }
            // Booleans alone belong to no width.
            if group.iter().any(|id| self.form(*id) == Some(Form::Width(width))) {
                self.emit_loop(width, &group);
            }
        }
    }

    /// Whether an operation that would have a loop to itself is left to its routine, whose vectors are wider: as long as no
    /// array has to be filled for this one use.
    fn is_cheaper_called(&self, id: InstrId) -> bool {
        let scheduler = &self.scheduler;
        let instr = scheduler.instr(id);
        let users = |id: InstrId| {
            let users = scheduler.ids();
            users
                .filter(|(_, user)| user.kind.operands().contains(&id))
                .count()
        };
        let is_array = |operand: &InstrId| {
            let own = scheduler.instr(*operand);
            let repeats = matches!(own.kind, InstrKind::Constant(_)) || self.is_spread(own.level);
            !repeats || self.places.contains_key(operand) || users(*operand) >= FILL_USERS_MIN
        };
        self.routine(instr).is_some() && instr.kind.operands().iter().all(is_array)
    }

    /// The routine of an operation.
    fn routine(&self, instr: &Instr) -> Option<TileOp> {
        let element = |id: &InstrId| self.scheduler.instr(*id).element;
        match &instr.kind {
            InstrKind::Apply { op, operands } => {
                let elements: Vec<ElementType> = operands.iter().map(element).collect();
                TileOp::of(op, &elements, instr.element)
                    .filter(|routine| is_accurate(op, *routine, instr.element))
            }
            InstrKind::MultiplyAdd(_) => {
                let routine = TileOp::MultiplyAdd(instr.element);
                routine.id().map(|_| routine)
            }
            InstrKind::Input(_) | InstrKind::Constant(_) | InstrKind::Reduce { .. } => None,
        }
    }

    fn emit_loop(&mut self, width: usize, group: &[InstrId]) {
        let mut ops: Vec<LoopOp> = Vec::new();
        let mut known: HashMap<InstrId, usize> = HashMap::new();
        for id in group {
            let instr = self.scheduler.instr(*id).clone();
            let mut operands = Vec::new();
            for operand in instr.kind.operands() {
                let position = match known.get(operand) {
                    Some(position) => *position,
                    None => {
                        let op = self.leaf(*operand);
                        ops.push(op);
                        known.insert(*operand, ops.len() - 1);
                        ops.len() - 1
                    }
                };
                operands.push(position);
            }
            ops.push(LoopOp {
                kind: LoopKind::Apply(*id, operands),
                element: instr.element,
            });
            known.insert(*id, ops.len() - 1);
        }
        self.open.retain(|id| !group.contains(id));
        let mut stores = Vec::new();
        for id in group {
            for slot in self.destinations(*id, Some(group)) {
                stores.push((known[id], slot));
            }
        }
        self.stages.push(Stage::Loop(Loop { width, ops, stores }));
    }

    /// A value that a loop does not compute itself.
    fn leaf(&self, id: InstrId) -> LoopOp {
        let instr = self.scheduler.instr(id);
        let kind = match &instr.kind {
            InstrKind::Constant(bytes) => LoopKind::Constant(bytes.clone()),
            InstrKind::Input(input) => self.load(*input as usize, instr.level),
            _ => self.load(self.place(id), instr.level),
        };
        LoopOp {
            kind,
            element: instr.element,
        }
    }

    fn load(&self, slot: usize, level: Level) -> LoopKind {
        if self.is_spread(level) {
            LoopKind::LoadRow(slot)
        } else {
            LoopKind::Load(slot)
        }
    }

    /// Whether a value of this level is one element a row of the rectangle.
    fn is_spread(&self, level: Level) -> bool {
        let together = self.scheduler.kernel.columns == Columns::Together;
        together && self.level == Level::Element && level == Level::Row
    }

    fn place(&self, id: InstrId) -> usize {
        let home = self.scheduler.homes.get(&id).copied();
        self.places.get(&id).copied().or(home).unwrap_or(0)
    }

    /// The arrays that a value of this pass is stored to; the first is where later stages find it.
    fn destinations(&mut self, id: InstrId, group: Option<&[InstrId]>) -> Vec<usize> {
        let level = self.scheduler.instr(id).level;
        let time = self.time;
        let outputs = self.scheduler.output_slots(id, level);
        let mut slots: Vec<usize> = self.scheduler.homes.get(&id).copied().into_iter().collect();
        slots.extend(outputs);
        let users = self
            .scheduler
            .ids()
            .filter(|(_, instr)| instr.kind.operands().contains(&id));
        let needed = users
            .filter(|(user, _)| self.scheduler.times[user.index()] == time)
            .any(|(user, _)| group.is_none_or(|group| !group.contains(&user)));
        if needed && slots.is_empty() {
            let bytes = self.scheduler.instr(id).element.bytes();
            slots.push(self.scheduler.add_slot(bytes, SlotKind::Scratch));
        }
        if let Some(first) = slots.first() {
            self.places.insert(id, *first);
        }
        slots
    }

    /// Emits the operations that are ready and have a routine of their own.
    fn ready_calls(&mut self) {
        for id in self.open.clone() {
            let instr = self.scheduler.instr(id).clone();
            let is_ready = instr
                .kind
                .operands()
                .iter()
                .all(|operand| self.is_there(*operand));
            let in_loop = self.form(id).is_some_and(|form| matches!(form, Form::Width(_)));
            if !is_ready || in_loop {
                continue;
            }
            self.open.retain(|other| *other != id);
            match &instr.kind {
                InstrKind::Reduce { combine, operands } => self.reduce(id, *combine, *operands),
                _ => self.call(id, &instr),
            }
        }
    }

    fn call(&mut self, id: InstrId, instr: &Instr) {
        let operands = instr.kind.operands().to_vec();
        let elements: Vec<ElementType> = operands
            .iter()
            .map(|operand| self.scheduler.instr(*operand).element)
            .collect();
        let sources: Vec<usize> = operands.iter().map(|operand| self.source(*operand)).collect();
        let routine = self.routine(instr);
        let mut destinations = self.destinations(id, None);
        let Some(first) = destinations.first().copied() else {
            return;
        };
        let slots: Vec<usize> = std::iter::once(first).chain(sources).collect();
        match (routine, &instr.kind) {
            (Some(routine), _) => self.stages.push(Stage::Call { routine, slots }),
            (None, InstrKind::Apply { op, .. }) => {
                let operation = Evaluated {
                    op: op.clone(),
                    operands: elements,
                    result: instr.element,
                };
                let number = self.number(operation);
                self.stages.push(Stage::Evaluate {
                    operation: number,
                    slots,
                });
            }
            (None, _) => {}
        }
        for slot in destinations.drain(1..) {
            self.copy(first, slot);
        }
    }

    fn number(&mut self, operation: Evaluated) -> usize {
        let known = self
            .scheduler
            .evaluated
            .iter()
            .position(|other| *other == operation);
        known.unwrap_or_else(|| {
            self.scheduler.evaluated.push(operation);
            self.scheduler.evaluated.len() - 1
        })
    }

    /// The array in which a routine finds a value.
    fn source(&mut self, id: InstrId) -> usize {
        let instr = self.scheduler.instr(id).clone();
        let slot = match &instr.kind {
            InstrKind::Constant(bytes) => match self.places.get(&id) {
                Some(place) => return *place,
                None => {
                    let constant = self.constant(bytes);
                    return self.filled(id, constant, instr.element);
                }
            },
            InstrKind::Input(input) => *input as usize,
            _ => self.place(id),
        };
        if self.is_spread(instr.level) {
            self.filled(id, slot, instr.element)
        } else {
            slot
        }
    }

    fn constant(&mut self, bytes: &[u8]) -> usize {
        self.scheduler.constants.push(bytes.to_vec());
        let kind = SlotKind::Constant(self.scheduler.constants.len() - 1);
        self.scheduler.add_slot(bytes.len(), kind)
    }

    /// An array of the rectangle that repeats one element a row.
    fn filled(&mut self, id: InstrId, from: usize, element: ElementType) -> usize {
        if let Some(place) = self.places.get(&id) {
            return *place;
        }
        let slot = self.scheduler.add_slot(element.bytes(), SlotKind::Scratch);
        if let Some(width) = Width::from_bytes(element.bytes()) {
            self.stages.push(Stage::Call {
                routine: TileOp::Fill(width),
                slots: vec![slot, from],
            });
        }
        self.places.insert(id, slot);
        slot
    }

    fn copy(&mut self, from: usize, to: usize) {
        if let Some(width) = Width::from_bytes(self.scheduler.slots[to].bytes) {
            self.stages.push(Stage::Call {
                routine: TileOp::Copy(width),
                slots: vec![to, from],
            });
        }
    }

    fn reduce(&mut self, id: InstrId, combine: Combine, [value, init]: [InstrId; 2]) {
        let element = self.scheduler.instr(id).element;
        let from = self.source(value);
        let lanes = self.scheduler.add_slot(element.bytes(), SlotKind::Lanes);
        let (combine, pair) = combine_ops(combine);
        let pair = TileOp::Binary(pair, element);
        let stage = match self.scheduler.kernel.columns {
            Columns::Together => Stage::Call {
                routine: TileOp::Reduce(combine, element),
                slots: vec![lanes, from],
            },
            // Sixteen rows of the rectangle at a time, one a lane.
            Columns::Apart => Stage::Call {
                routine: pair,
                slots: vec![lanes, lanes, from],
            },
        };
        self.stages.push(stage);
        let start = self.row_slot(init);
        let result = self.scheduler.homes.get(&id).copied().unwrap_or(0);
        self.reduces.push(Reduce {
            pair,
            init: TileOp::LanesInit(combine, element),
            finish: TileOp::LanesCombine(combine, element),
            lanes,
            start,
            result,
        });
    }

    /// Where the driver finds a value of the row.
    fn row_slot(&mut self, id: InstrId) -> usize {
        let instr = self.scheduler.instr(id).clone();
        match &instr.kind {
            InstrKind::Constant(bytes) => self.constant(bytes),
            InstrKind::Input(input) => *input as usize,
            _ => self.place(id),
        }
    }

    /// Outputs of values that are not computed by a stage of this pass.
    fn copies(&mut self) {
        for index in 0..self.scheduler.kernel.outputs.len() {
            let output = self.scheduler.kernel.outputs[index].clone();
            if self.scheduler.output_time(index) != self.time {
                continue;
            }
            let slot = self.scheduler.kernel.inputs.len() + index;
            let instr = self.scheduler.instr(output.value).clone();
            let is_reduce = matches!(instr.kind, InstrKind::Reduce { .. });
            let is_stored = !self.is_leaf(output.value) && !is_reduce && instr.level == output.level;
            let is_home = self.scheduler.homes.get(&output.value) == Some(&slot);
            if is_stored || is_home {
                continue;
            }
            let from = match &instr.kind {
                InstrKind::Constant(bytes) => self.constant(bytes),
                InstrKind::Input(input) => *input as usize,
                _ => self.place(output.value),
            };
            let repeats = matches!(instr.kind, InstrKind::Constant(_)) || self.is_spread(instr.level);
            match Width::from_bytes(self.scheduler.slots[slot].bytes) {
                Some(width) if repeats => {
                    self.stages.push(Stage::Call {
                        routine: TileOp::Fill(width),
                        slots: vec![slot, from],
                    });
                }
                _ => self.copy(from, slot),
            }
        }
    }
}

const fn combine_ops(combine: Combine) -> (CombineOp, BinaryOp) {
    match combine {
        Combine::Add => (CombineOp::Add, BinaryOp::Add),
        Combine::Multiply => (CombineOp::Multiply, BinaryOp::Multiply),
        Combine::Maximum => (CombineOp::Maximum, BinaryOp::Maximum),
        Combine::Minimum => (CombineOp::Minimum, BinaryOp::Minimum),
        Combine::And => (CombineOp::And, BinaryOp::And),
        Combine::Or => (CombineOp::Or, BinaryOp::Or),
        Combine::Xor => (CombineOp::Xor, BinaryOp::Xor),
    }
}
