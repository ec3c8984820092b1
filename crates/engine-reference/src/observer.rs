//! Ends runs that take too long, and measures operations.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artifact_engine::{EngineError, ProfileStep, Watch, Work};
use artifact_eval::{EvalError, EvalErrorKind, Observer};
use artifact_ir::module::{Body, Module, OpId, Operation};
use artifact_ir::op::Op;

/// Watches one run.
#[derive(Debug)]
pub(crate) struct RunObserver {
    watch: Watch,
    /// Why the watch ended the run.
    stopped: Mutex<Option<EngineError>>,
    /// `None` where nobody asked for it.
    measured: Option<Measured>,
}

/// A row for each operation. What a reduction, a sort or a scatter applies to elements is part of its row; what control flow runs
/// has rows of its own.
#[derive(Debug)]
struct Measured {
    /// The row of each operation, by its address in the module.
    rows: HashMap<usize, Row>,
    /// In the order of the program.
    steps: Mutex<Vec<ProfileStep>>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    position: usize,
    /// Whether the operation is the one that the row is named after.
    is_own: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each is whole after each change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunObserver {
    /// Watches a run of `module`, which stays where it is for as long.
    pub(crate) fn new(watch: Watch, measured: Option<&Module>) -> Self {
        Self {
            watch,
            stopped: Mutex::default(),
            measured: measured.map(Measured::new),
        }
    }

    /// Why it ended the run, if it did.
    pub(crate) fn why_stopped(&self) -> Option<EngineError> {
        locked(&self.stopped).take()
    }

    /// What was measured, in the order of the program.
    pub(crate) fn steps(&self) -> Option<Vec<ProfileStep>> {
        let mut steps = std::mem::take(&mut *locked(&self.measured.as_ref()?.steps));
        steps.retain(|step| step.calls > 0);
        Some(steps)
    }
}

impl Measured {
    fn new(module: &Module) -> Self {
        let mut rows = HashMap::new();
        let mut steps = Vec::new();
        let functions = module.functions.iter();
        for body in functions.filter_map(|(_, function)| function.body.as_ref()) {
            // An operation comes after the one that it is inside.
            for (id, operation) in body.ops.iter() {
                let named_after = named_after(body, id);
                let known = rows.get(&address(&body.ops[named_after])).copied();
                let position = known.map_or(steps.len(), |row: Row| row.position);
                if known.is_none() {
                    steps.push(step(&body.ops[named_after]));
                }
                let is_own = named_after == id;
                rows.insert(address(operation), Row { position, is_own });
            }
        }
        Self {
            rows,
            steps: Mutex::new(steps),
        }
    }
}

/// The outermost operation around one that does more than to hand values on, or itself.
fn named_after(body: &Body, id: OpId) -> OpId {
    let mut found = id;
    let mut inside = id;
    while let Some(around) = body.regions[body.blocks[body.ops[inside].block].region].parent {
        if !matches!(body.ops[around].op, Op::Control(_) | Op::Sharding(_)) {
            found = around;
        }
        inside = around;
    }
    found
}

fn step(operation: &Operation) -> ProfileStep {
    ProfileStep {
        name: operation.op.name().to_owned(),
        kind: "interpret",
        source: operation.source,
        calls: 0,
        time: Duration::ZERO,
        work: Work::default(),
    }
}

fn address(operation: &Operation) -> usize {
    std::ptr::from_ref(operation) as usize
}

impl Observer for RunObserver {
    fn before(&self, _operation: &Operation) -> Result<(), EvalError> {
        self.watch.check().map_err(|error| {
            let stop = EvalError::new(EvalErrorKind::Stopped, error.to_string());
            locked(&self.stopped).get_or_insert(error);
            stop
        })
    }

    fn after(&self, operation: &Operation, body: &Body, own_time: Duration) {
        let Some(measured) = &self.measured else { return };
        let Some(row) = measured.rows.get(&address(operation)) else {
            return;
        };
        let mut steps = locked(&measured.steps);
        if let Some(step) = steps.get_mut(row.position) {
            step.time += own_time;
            if row.is_own {
                step.calls += 1;
                step.work = step.work.and(Work::of(operation, body));
            }
        }
    }
}
