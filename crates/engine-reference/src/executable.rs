//! A loaded program and its calls.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use artifact_engine::completion::{self, Completion};
use artifact_engine::{
    Argument, CheckFailure, EngineError, ErrorKind, Executable, ExecuteOptions, Profile, Report, Signature,
    Value, Watch,
};
use artifact_eval as eval;
use artifact_eval::{EvalError, EvalErrorKind};
use artifact_ir::module::{FunctionId, Module};

use crate::arguments;
use crate::obligations::Obligations;
use crate::observer::RunObserver;
use crate::payload::Loaded;
use crate::specialization::{Specializations, is_static};

/// A program of the reference engine.
#[derive(Debug)]
pub(crate) struct ReferenceExecutable {
    module: Module,
    entry: FunctionId,
    signature: Signature,
    /// What programs with open sizes need besides.
    open: Option<Open>,
}

#[derive(Debug, Default)]
struct Open {
    specializations: Specializations,
    obligations: OnceLock<Obligations>,
}

impl ReferenceExecutable {
    pub(crate) fn new(loaded: Loaded) -> Self {
        let Loaded {
            module,
            entry,
            signature,
        } = loaded;
        let open = (!is_static(&module)).then(Open::default);
        Self {
            module,
            entry,
            signature,
            open,
        }
    }

    fn run(
        &self,
        arguments: &mut [Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
    ) -> Result<Report, EngineError> {
        let run = Run {
            options,
            watch: Watch::start(options),
            start: Instant::now(),
        };
        self.signature.check(arguments)?;
        let inputs = arguments::taken(arguments)?;
        let Some(open) = &self.open else {
            return run.evaluate(&self.module, self.entry, inputs, results);
        };
        let refined = open.specializations.of(&self.module, self.entry, &inputs)?;
        let obligations = open
            .obligations
            .get_or_init(|| Obligations::of(&self.module, self.entry));
        obligations.check(&self.module, self.entry, &inputs)?;
        let mut report = run.evaluate(&refined.module, refined.entry, inputs, results)?;
        report.notes.extend(obligations.note());
        Ok(report)
    }
}

/// One call.
struct Run<'a> {
    options: &'a ExecuteOptions,
    watch: Watch,
    start: Instant,
}

impl Run<'_> {
    fn evaluate(
        self,
        module: &Module,
        entry: FunctionId,
        inputs: Vec<eval::Value>,
        results: &mut Vec<Value>,
    ) -> Result<Report, EngineError> {
        let Self {
            options,
            watch,
            start,
        } = self;
        let limits = eval::Options {
            steps_max: options.step_limit,
            bytes_max: options.memory_limit_bytes,
        };
        let is_watched = watch.is_set() || options.profile;
        let observer =
            is_watched.then(|| Arc::new(RunObserver::new(watch, options.profile.then_some(module))));
        let outcome = match &observer {
            None => eval::evaluate(module, entry, inputs, &limits),
            Some(observer) => {
                let observer = Arc::clone(observer) as Arc<dyn eval::Observer>;
                eval::evaluate_observed(module, entry, inputs, &limits, observer)
            }
        };
        let outcome = outcome.map_err(|error| {
            let stopped = observer.as_ref().and_then(|observer| observer.why_stopped());
            stopped.map_or_else(|| engine_error(&error), |stop| stop.at(error.source_offset()))
        })?;
        arguments::put(&outcome.results, results)?;
        let mut report = report(outcome)?;
        let steps = observer.and_then(|observer| observer.steps());
        report.profile = steps.map(|steps| Profile {
            steps,
            total: start.elapsed(),
        });
        Ok(report)
    }
}

impl Executable for ReferenceExecutable {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn execute<'a, 'b: 'a>(
        &'a self,
        arguments: &'a mut [Argument<'b>],
        results: &'a mut Vec<Value>,
        options: &'a ExecuteOptions,
    ) -> Completion<'a> {
        completion::at_once(results, |results| self.run(arguments, results, options))
    }
}

fn report(outcome: eval::Outcome) -> Result<Report, EngineError> {
    let eval::Outcome {
        results: _,
        failures,
        checks,
        printed,
        outfeed,
    } = outcome;
    let failure = |failure: eval::CheckFailure| CheckFailure {
        check: failure.check,
        source: failure.source,
        message: failure.message,
    };
    let written = |values: &Vec<eval::Value>| -> Result<Vec<Value>, EngineError> {
        values
            .iter()
            .map(|value| arguments::result(value, None))
            .collect()
    };
    Ok(Report {
        failures: failures.into_iter().map(failure).collect(),
        checks,
        printed,
        outfeed: outfeed.iter().map(written).collect::<Result<_, _>>()?,
        notes: Vec::new(),
        profile: None,
    })
}

fn engine_error(error: &EvalError) -> EngineError {
    let kind = match error.kind() {
        EvalErrorKind::Unsupported => ErrorKind::Unsupported,
        EvalErrorKind::InvalidInput => ErrorKind::InvalidInput,
        EvalErrorKind::FailedCheck => ErrorKind::FailedCheck,
        EvalErrorKind::Runtime => ErrorKind::NoResult,
        EvalErrorKind::Steps => ErrorKind::StepLimit,
        EvalErrorKind::Bytes => ErrorKind::MemoryLimit,
        EvalErrorKind::Stopped => ErrorKind::Cancelled,
    };
    EngineError::new(kind, error.to_string()).at(error.source_offset())
}
