//! What a run leaves behind besides its results: failed expectations, printed text, probes; and its step budget.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Body, Operation};

use crate::error::{EvalError, EvalErrorKind};
use crate::tensor::Tensor;
use crate::value::Value;

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The most steps that may be taken, all processes and all applications of regions together; `None` for any number. An
    /// operation is one step, one on large arrays several. A program that is not trusted may loop for ever without it.
    pub steps_max: Option<u64>,
    /// The most bytes that the values of all activations may take together; `None` for any number. Values that share their
    /// bytes count each. What one operation needs while it runs is not counted.
    pub bytes_max: Option<u64>,
}

/// Watches a run from outside. Its methods are called by every process of the run, on threads of their own.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Called before each operation, those in regions included.
    ///
    /// # Errors
    /// Whatever it returns ends the run.
    fn before(&self, operation: &Operation) -> Result<(), EvalError>;

    /// Called after each operation that ran, with the time that it took without the operations inside it.
    fn after(&self, operation: &Operation, body: &Body, own_time: Duration);
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Results of the function.
    pub results: Vec<Value>,
    /// Expectations that were not met, in the order in which they were found.
    pub failures: Vec<CheckFailure>,
    /// Number of expectations, met or not.
    pub checks: u64,
    /// What `interpreter.print` printed.
    pub printed: Vec<String>,
    /// What `outfeed` wrote.
    pub outfeed: Vec<Vec<Value>>,
}

/// An expectation that was not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// The operation or custom call.
    pub check: String,
    /// Where in the file.
    pub source: SourceOffset,
    /// How the values differ, as a lowercase fragment.
    pub message: String,
}

/// The shared side of a run: every process writes to it.
#[derive(Debug)]
pub(crate) struct Record {
    steps_left: Option<AtomicU64>,
    steps_max: u64,
    bytes_held: AtomicU64,
    bytes_max: u64,
    observer: Option<Arc<dyn Observer>>,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    outcome: Outcome,
    probes: HashMap<Vec<u8>, Vec<Tensor>>,
}

impl Record {
    pub(crate) fn new(options: &Options, observer: Option<Arc<dyn Observer>>) -> Self {
        Self {
            steps_left: options.steps_max.map(AtomicU64::new),
            steps_max: options.steps_max.unwrap_or(u64::MAX),
            bytes_held: AtomicU64::new(0),
            bytes_max: options.bytes_max.unwrap_or(u64::MAX),
            observer,
            notes: Mutex::new(Notes::default()),
        }
    }

    /// Who watches, if somebody does.
    pub(crate) fn observer(&self) -> Option<&dyn Observer> {
        self.observer.as_deref()
    }

    /// Takes steps off the budget.
    pub(crate) fn count_steps(&self, steps: u64) -> Result<(), EvalError> {
        let Some(left) = &self.steps_left else {
            return Ok(());
        };
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(steps)
        });
        match taken {
            Ok(_) => Ok(()),
            Err(_) => {
                let message = format!("the program runs for more than {} steps", self.steps_max);
                Err(EvalError::new(EvalErrorKind::Steps, message))
            }
        }
    }

    /// Whether values of so many bytes may be made beside those that are there.
    pub(crate) fn check_bytes(&self, bytes: u64) -> Result<(), EvalError> {
        let held = self.bytes_held.load(Ordering::Relaxed);
        if held.saturating_add(bytes) <= self.bytes_max {
            return Ok(());
        }
        let message = format!(
            "the values of the program take {held} bytes, and with those of this operation {}, over the limit of {}",
            held.saturating_add(bytes),
            self.bytes_max
        );
        Err(EvalError::new(EvalErrorKind::Bytes, message))
    }

    /// Counts values that an activation now holds, or holds no more.
    pub(crate) fn hold_bytes(&self, taken: u64, given_back: u64) {
        self.bytes_held.fetch_add(taken, Ordering::Relaxed);
        self.bytes_held.fetch_sub(given_back, Ordering::Relaxed);
    }

    /// Notes that an expectation was examined, and how it failed if it did.
    pub(crate) fn check(&self, check: &str, source: SourceOffset, failure: Option<String>) {
        let mut notes = self.notes();
        notes.outcome.checks += 1;
        if let Some(message) = failure {
            let check = check.to_owned();
            notes.outcome.failures.push(CheckFailure {
                check,
                source,
                message,
            });
        }
    }

    /// Notes a printed line.
    pub(crate) fn print(&self, text: String) {
        self.notes().outcome.printed.push(text);
    }

    /// Notes what an outfeed wrote.
    pub(crate) fn outfeed(&self, values: Vec<Value>) {
        self.notes().outcome.outfeed.push(values);
    }

    /// Notes the value of a probe.
    pub(crate) fn probe(&self, id: &[u8], value: Tensor) {
        self.notes().probes.entry(id.to_vec()).or_default().push(value);
    }

    /// The value of a probe the `iteration`-th time, counted from 0.
    pub(crate) fn probed(&self, id: &[u8], iteration: u32) -> Option<Tensor> {
        self.notes().probes.get(id)?.get(iteration as usize).cloned()
    }

    pub(crate) fn into_outcome(self, results: Vec<Value>) -> Outcome {
        let notes = self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        Outcome {
            results,
            ..notes.outcome
        }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        // Notes are only ever appended to, so that they are whole even where a process panicked.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
