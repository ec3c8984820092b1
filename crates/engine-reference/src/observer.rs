//! Ends runs that take too long, and measures operations.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artifact_engine::{EngineError, ProfileStep, Watch, Work};
use artifact_eval::{EvalError, EvalErrorKind, Observer};
use artifact_ir::module::{Body, Module, Operation};

/// Watches one run.
#[derive(Debug)]
pub(crate) struct RunObserver {
    watch: Watch,
    /// Why the watch ended the run.
    stopped: Mutex<Option<EngineError>>,
    /// What ran, by the address of the operation in its module; `None` where nobody asked for it.
    measured: Option<Mutex<HashMap<usize, ProfileStep>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Both are whole after each change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunObserver {
    pub(crate) fn new(watch: Watch, measures: bool) -> Self {
        Self {
            watch,
            stopped: Mutex::default(),
            measured: measures.then(Mutex::default),
        }
    }

    /// Why it ended the run, if it did.
    pub(crate) fn why_stopped(&self) -> Option<EngineError> {
        locked(&self.stopped).take()
    }

    /// What was measured, in the order of the program.
    pub(crate) fn steps(&self, module: &Module) -> Option<Vec<ProfileStep>> {
        let mut measured = locked(self.measured.as_ref()?);
        let bodies = module
            .functions
            .iter()
            .filter_map(|(_, function)| function.body.as_ref());
        let ops = bodies.flat_map(|body| body.ops.iter().map(|(_, op)| address(op)));
        Some(ops.filter_map(|op| measured.remove(&op)).collect())
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
        let mut measured = locked(measured);
        let step = measured.entry(address(operation)).or_insert_with(|| ProfileStep {
            name: operation.op.name().to_owned(),
            kind: "interpret",
            source: operation.source,
            calls: 0,
            time: Duration::ZERO,
            work: Work::default(),
        });
        step.calls += 1;
        step.time += own_time;
        step.work = step.work.and(Work::of(operation, body));
    }
}
