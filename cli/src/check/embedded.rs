//! Programs that hold their expectations.

use std::path::Path;

use artifact_engine::{EngineError, ErrorKind, Report};
use artifact_export::{Exported, PackOptions, Waivers, pack};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_runtime::{CallError, Definition};

use crate::check::Settings;
use crate::check::report::Verdict;
use crate::dimensions;
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
            Ok(report) => {
                checks += report.checks;
                // The places in an artifact are those of the bytecode that is in it.
                let place = |at| match settings.through_artifact {
                    true => None,
                    false => source.place(at),
                };
                if let Some(reason) = failed_check(&report, place) {
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
    if !program.signature().inputs.is_empty() {
        return Ok(needs_inputs());
    }
    match run(path, &program.within(&settings.session, path)?, settings) {
        Ok(report) => Ok(match failed_check(&report, |_| None) {
            Some(reason) => Verdict::Failed(reason),
            None => passed(report.checks),
        }),
        Err(Stop::Engine(error)) => Ok(stopped(&error, None)),
        Err(Stop::Artifact(failure)) => Err(failure),
        Err(Stop::NeedsInputs) => Ok(needs_inputs()),
        Err(Stop::NoEntry) => Ok(no_entry()),
    }
}

/// The first expectation that was not met, with its place, and how many others were not.
pub(crate) fn failed_check(
    report: &Report,
    place: impl Fn(SourceOffset) -> Option<String>,
) -> Option<String> {
    let failure = report.failures.first()?;
    let reason = format!("{}: {}", failure.check, failure.message);
    let more = match report.failures.len() - 1 {
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

fn no_entry() -> Verdict {
    Verdict::Unsupported("it has no `main` and more than one function".to_owned())
}

/// The verdict on a run that did not come to its end.
pub(crate) fn stopped(error: &EngineError, place: Option<String>) -> Verdict {
    let source = std::error::Error::source(error).map(|source| format!(": {source}"));
    let reason = placed(error.to_string() + &source.unwrap_or_default(), place);
    if error.kind() == ErrorKind::Unsupported {
        Verdict::Unsupported(reason)
    } else {
        Verdict::Failed(reason)
    }
}

/// Why a module was not run to its end.
enum Stop {
    Engine(EngineError),
    NeedsInputs,
    NoEntry,
    Artifact(Failure),
}

impl Stop {
    fn verdict(self, source: &Source) -> Verdict {
        match self {
            Self::Engine(error) => stopped(&error, source.place(error.source_offset())),
            Self::NeedsInputs => needs_inputs(),
            Self::NoEntry => no_entry(),
            Self::Artifact(failure) => Verdict::Failed(failure.one_line()),
        }
    }
}

fn run_module(path: &Path, source: &Source, module: Module, settings: &Settings) -> Result<Report, Stop> {
    let entry = module.entry().ok_or(Stop::NoEntry)?;
    if !module.functions[entry].arguments.is_empty() {
        return Err(Stop::NeedsInputs);
    }
    if settings.through_artifact {
        return through_artifact(path, source, module, settings);
    }
    let definition = Definition::of_module(module, entry);
    let program = settings.session.program(definition);
    let program = program
        .map_err(|error| Stop::Artifact(Failure::input("it cannot be given to an engine").because(&error)))?;
    run(path, &program, settings)
}

/// Runs a program that takes nothing.
fn run(path: &Path, program: &artifact_runtime::Program, settings: &Settings) -> Result<Report, Stop> {
    let outcome = program.run(&mut [], &mut Vec::new(), &settings.limits);
    outcome.map_err(|error| match error {
        CallError::Bind(error) => Stop::Artifact(dimensions::unbound(path, &error)),
        CallError::Engine(error) => Stop::Engine(error),
        other => Stop::Artifact(Failure::internal("the run failed").because(&other)),
    })
}

/// A reason with the place of the operation, where there is one.
fn placed(reason: String, place: Option<String>) -> String {
    match place {
        Some(place) => format!("{reason} {place}"),
        None => reason,
    }
}

/// Packs the module, opens the artifact and runs that.
fn through_artifact(
    path: &Path,
    source: &Source,
    module: Module,
    settings: &Settings,
) -> Result<Report, Stop> {
    let exported =
        Exported::new(module).map_err(|error| Stop::Artifact(source.first_finding(&error.diagnostics)))?;
    let program = reopened(path, &exported).map_err(Stop::Artifact)?;
    let program = program.within(&settings.session, path).map_err(Stop::Artifact)?;
    run(path, &program, settings)
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
