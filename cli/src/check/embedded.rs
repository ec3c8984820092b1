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
use crate::program::Program;
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
                if let Some(failure) = outcome.failures.first() {
                    let reason = format!("{}: {}", failure.check, failure.message);
                    // The places in an artifact are those of the bytecode that is in it.
                    let at = if settings.through_artifact {
                        SourceOffset::NONE
                    } else {
                        failure.source
                    };
                    let more = match outcome.failures.len() - 1 {
                        0 => String::new(),
                        more => format!(" ({more} more)"),
                    };
                    return Ok(Verdict::Failed(placed(reason, &source, at) + &more));
                }
            }
            Err(stop) => return Ok(stop.verdict(&source)),
        }
    }
    Ok(if checks > 0 {
        Verdict::Passed
    } else {
        Verdict::PassedWithoutExpectation
    })
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
            Self::Eval(error) => {
                let reason = placed(error.to_string(), source, error.source_offset());
                if error.kind() == EvalErrorKind::Unsupported {
                    Verdict::Unsupported(reason)
                } else {
                    Verdict::Failed(reason)
                }
            }
            Self::NeedsInputs => Verdict::Unsupported("it takes arguments, and no list gives any".to_owned()),
            Self::NoEntry => Verdict::Unsupported("it has no `main` and more than one function".to_owned()),
            Self::Artifact(failure) => Verdict::Failed(failure.one_line()),
        }
    }
}

fn run_module(path: &Path, source: &Source, module: Module, settings: &Settings) -> Result<RunOutcome, Stop> {
    let options = Options {
        steps_max: Some(settings.steps_max),
        bytes_max: Some(settings.bytes_max),
    };
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
fn placed(reason: String, source: &Source, at: SourceOffset) -> String {
    match source.place(at) {
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
