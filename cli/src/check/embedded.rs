//! Programs that hold their expectations.

use std::path::Path;

use artifact_eval::{EvalError, EvalErrorKind, Options, Outcome as RunOutcome, Value};
use artifact_export::{Exported, PackOptions, Waivers, pack};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::verify::verify;

use crate::check::Settings;
use crate::check::report::Verdict;
use crate::evaluation;
use crate::failure::Failure;
use crate::program::{Program, is_artifact};
use crate::source::Source;

/// Runs every module of a file. `disabled` is why its list says that it is not run.
pub(crate) fn judge(path: &Path, disabled: Option<&str>, settings: &Settings) -> Verdict {
    let verdict = match run_file(path, settings) {
        Ok(verdict) => verdict,
        Err(failure) => Verdict::Failed(failure.one_line()),
    };
    match (verdict, disabled) {
        // Who listed it knows that it may fail.
        (Verdict::Failed(reason), Some(disabled)) => Verdict::Unsupported(format!("{disabled}; {reason}")),
        (verdict, _) => verdict,
    }
}

fn run_file(path: &Path, settings: &Settings) -> Result<Verdict, Failure> {
    if is_artifact(path)? {
        return run_artifact(path, settings);
    }
    let source = Source::read(path)?;
    let modules = source.modules()?;
    let mut checks = 0;
    for module in modules {
        let findings = verify(&module);
        if !findings.is_empty() {
            return Err(source.first_finding(&findings));
        }
        match run_module(path, &source, module, settings) {
            Ok(outcome) => {
                checks += outcome.checks;
                // The places in an artifact are those of the bytecode that is in it.
                let place = |at| match settings.through_artifact {
                    true => None,
                    false => source.place(at),
                };
                if let Some(reason) = failed_check(&outcome, place) {
                    return Ok(Verdict::Failed(reason));
                }
            }
            Err(stop) => return Ok(stop.verdict(&source)),
        }
    }
    Ok(passed(checks))
}

fn run_artifact(path: &Path, settings: &Settings) -> Result<Verdict, Failure> {
    let program = Program::open(path)?;
    if !program.signature.inputs.is_empty() {
        return Ok(needs_inputs());
    }
    let values = program.with_constants(Vec::new())?;
    match evaluation::run(&program.module, program.entry, values, &settings.options()) {
        Ok(outcome) => Ok(match failed_check(&outcome, |_| None) {
            Some(reason) => Verdict::Failed(reason),
            None => passed(outcome.checks),
        }),
        Err(error) => Ok(stopped(&error, None)),
    }
}

/// The first expectation that was not met, with its place, and how many others were not.
pub(crate) fn failed_check(
    outcome: &RunOutcome,
    place: impl Fn(SourceOffset) -> Option<String>,
) -> Option<String> {
    let failure = outcome.failures.first()?;
    let reason = format!("{}: {}", failure.check, failure.message);
    let more = match outcome.failures.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    Some(placed(reason, place(failure.source)) + &more)
}

const fn passed(checks: u64) -> Verdict {
    if checks > 0 {
        Verdict::Passed
    } else {
        Verdict::PassedWithoutExpectation
    }
}

fn needs_inputs() -> Verdict {
    let why =
        "it takes arguments, and neither a list nor NAME.inputs.npz and NAME.expected.npz beside it give any";
    Verdict::Unsupported(why.to_owned())
}

/// The verdict on a run that did not come to its end.
pub(crate) fn stopped(error: &EvalError, place: Option<String>) -> Verdict {
    let reason = placed(error.to_string(), place);
    if error.kind() == EvalErrorKind::Unsupported {
        Verdict::Unsupported(reason)
    } else {
        Verdict::Failed(reason)
    }
}

/// Why a module was not run to its end.
enum Stop {
    Eval(EvalError),
    NeedsInputs,
    NoEntry,
    Artifact(Failure),
}

impl Stop {
    fn verdict(self, source: &Source) -> Verdict {
        match self {
            Self::Eval(error) => stopped(&error, source.place(error.source_offset())),
            Self::NeedsInputs => needs_inputs(),
            Self::NoEntry => Verdict::Unsupported("it has no `main` and more than one function".to_owned()),
            Self::Artifact(failure) => Verdict::Failed(failure.one_line()),
        }
    }
}

fn run_module(path: &Path, source: &Source, module: Module, settings: &Settings) -> Result<RunOutcome, Stop> {
    let options = settings.options();
    let entry = module.entry().ok_or(Stop::NoEntry)?;
    if !module.functions[entry].arguments.is_empty() {
        return Err(Stop::NeedsInputs);
    }
    if settings.through_artifact {
        return through_artifact(path, source, module, &options);
    }
    run(&module, entry, Vec::new(), &options)
}

fn run(
    module: &Module,
    entry: FunctionId,
    inputs: Vec<Value>,
    options: &Options,
) -> Result<RunOutcome, Stop> {
    evaluation::run(module, entry, inputs, options).map_err(Stop::Eval)
}

/// A reason with the place of the operation, where there is one.
fn placed(reason: String, place: Option<String>) -> String {
    match place {
        Some(place) => format!("{reason} {place}"),
        None => reason,
    }
}

/// Packs the module in a temporary folder, opens the artifact and runs that.
fn through_artifact(
    path: &Path,
    source: &Source,
    module: Module,
    options: &Options,
) -> Result<RunOutcome, Stop> {
    let exported =
        Exported::new(module).map_err(|error| Stop::Artifact(source.first_finding(&error.diagnostics)))?;
    let program = reopened(path, &exported).map_err(Stop::Artifact)?;
    crate::run::run(&program, path, Vec::new(), options).map_err(Stop::Artifact)
}

/// The program after a way through an artifact file.
pub(crate) fn reopened(path: &Path, exported: &Exported) -> Result<Program, Failure> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    // The file is gone when its program has run.
    let options = PackOptions {
        waivers: Waivers::All,
        ..PackOptions::default()
    };
    pack(exported, &options, &mut bytes).map_err(|error| Failure::export(path, &error))?;
    Program::from_bytes(path, bytes.into_inner())
}
