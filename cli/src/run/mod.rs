//! `artifact run`.

mod calls;
mod expected;
mod inputs;
mod profile;
mod shown;

use std::path::{Path, PathBuf};

use artifact_engine::{Buffer, CheckFailure, ExecuteOptions, Value};
use artifact_eval::tensor::Tensor;
use artifact_export::Argument;
use artifact_ir::types::Type;
use artifact_runtime::Session;
use serde_json::json;

use crate::archive;
use crate::arguments::RunArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::output;
use crate::platform;
use crate::program::Program;
use crate::run::calls::Calls;
use crate::run::expected::{Expected, tolerance};
use crate::tensors::{array_of, tensor_of};
use crate::trust::Trust;
use crate::{dimensions, engine, files};

pub(crate) fn execute(options: &RunArguments) -> Outcome<Exit> {
    let session = engine::session(&options.engine)?;
    let limits = ExecuteOptions {
        profile: options.profile,
        ..engine::limits(&options.engine, &session, None)?
    };
    let program = program(options)?;
    let path = &options.program;
    let own = session.engine().platform();
    let platform = platform::position(&program, path, own, options.platform.as_deref())?;
    let outputs = arrays(&program.signature().outputs);
    let files = inputs::named_files(&options.input)?;
    if let Some(output) = &options.output {
        refuse_output(output, options, files.values())?;
    }
    // Opened before anything is written: the output may be a file of the same name that is not there yet.
    let expected = options
        .expect
        .as_deref()
        .map(|path| Expected::open(path, &outputs))
        .transpose()?;
    let dims = dimensions::values(path, program.signature(), &options.dim)?;
    let inputs = inputs::inputs(&program, platform, files, &dims, options)?;
    let types: Vec<Type> = inputs.iter().map(Value::ty).collect();
    let binding = program
        .within(&session, path)?
        .bind(&types, &dims)
        .map_err(|error| dimensions::unbound(path, &error))?;
    let calls = Calls::run(&binding, &inputs, &limits, options.repeat)
        .map_err(|error| Failure::run(path, &error, program.place(error.source_offset())))?;
    let run = Run {
        options,
        session: &session,
        program: &program,
        outputs: &outputs,
        results: arrays_among(&calls.results)?,
        calls,
    };
    run.tell(expected)
}

/// The program, of those whom the trust file names where there is one.
fn program(options: &RunArguments) -> Outcome<Program> {
    match &options.trust {
        Some(trust) => Program::open_trusted(&options.program, &Trust::read(trust)?),
        None => Program::open(&options.program),
    }
}

/// Refuses to write over a file that is read.
fn refuse_output<'a>(
    output: &Path,
    options: &'a RunArguments,
    files: impl Iterator<Item = &'a PathBuf>,
) -> Outcome<()> {
    if files::has_extension(output, "npy") {
        let what = format!(
            "--output writes an archive, but {} names a single array",
            output.display()
        );
        return Err(Failure::usage(what).hint("let the name end in .npz"));
    }
    let archives = [
        Some(&options.program),
        options.inputs.as_ref(),
        options.expect.as_ref(),
        options.trust.as_ref(),
    ];
    let read = archives.into_iter().flatten().chain(files);
    files::refuse_overwriting(output, read.map(PathBuf::as_path))
}

/// The results that are arrays. Tokens, by which a program orders its effects, are nobody's result.
fn arrays(outputs: &[Argument]) -> Vec<Argument> {
    let arrays = outputs.iter().filter(|output| output.ty != Type::Token);
    arrays.cloned().collect()
}

/// The arrays among the results, in order; other values but tokens have none.
fn arrays_among(results: &[Value]) -> Outcome<Vec<Buffer>> {
    let array = |value: &Value| match value {
        Value::Array(buffer) => Some(Ok(buffer.clone())),
        Value::Token => None,
        other => Some(Err(Failure::input(format!(
            "a result is a {}, which has no array",
            other.ty()
        )))),
    };
    results.iter().filter_map(array).collect()
}

/// A program that has run, and what came of it.
struct Run<'a> {
    options: &'a RunArguments,
    session: &'a Session,
    program: &'a Program,
    /// The results that are arrays.
    outputs: &'a [Argument],
    results: Vec<Buffer>,
    calls: Calls,
}

impl Run<'_> {
    /// Writes and prints everything.
    fn tell(&self, expected: Option<Expected<'_>>) -> Outcome<Exit> {
        let report = &self.calls.report;
        if !self.options.json {
            for line in &report.printed {
                output::text(&format!("{line}\n"))?;
            }
        }
        if let Some(path) = &self.options.output {
            self.write(path)?;
        }
        for note in &report.notes {
            output::note(&format!("note: {note}"));
        }
        for failure in &report.failures {
            let place = self.program.place(failure.source).unwrap_or_default();
            output::note(&format!("{}: {} {place}", failure.check, failure.message));
        }
        let compares = expected.is_some();
        let tensors: Result<Vec<Tensor>, String> = self.results.iter().map(tensor_of).collect();
        let tensors = tensors.map_err(|why| Failure::input(format!("a result: {why}")))?;
        let agreeing = expected
            .map(|expected| expected.compare(&tensors, self.options))
            .transpose()?;
        if self.options.json {
            output::json(&self.json(agreeing))?;
        } else {
            match agreeing {
                Some(equal) => self.tell_agreement(equal)?,
                None => shown::describe(self.outputs, &tensors)?,
            }
            self.tell_times()?;
        }
        let disagrees = compares && agreeing != Some(self.results.len());
        Ok(match report.failures.is_empty() && !disagrees {
            true => Exit::Ok,
            false => Exit::CheckFailed,
        })
    }

    fn write(&self, path: &Path) -> Outcome<()> {
        let names = self.outputs.iter().enumerate();
        let arrays = names
            .zip(&self.results)
            .map(|((index, output), result)| (shown::array_name(&output.name, index), array_of(result)));
        archive::write(path, &arrays.collect::<Vec<_>>())
    }

    fn tell_agreement(&self, equal: usize) -> Outcome<()> {
        let RunArguments { rtol, atol, .. } = self.options;
        output::text(&format!(
            "{equal} of {} results agree (rtol {}, atol {})\n",
            self.results.len(),
            tolerance(*rtol),
            tolerance(*atol)
        ))
    }

    /// How long it took, where that was asked for.
    fn tell_times(&self) -> Outcome<()> {
        if self.options.repeat > 1 {
            output::text(&self.calls.times_text())?;
        }
        match &self.calls.report.profile {
            Some(profile) => output::text(&profile::text(profile, |at| self.program.place(at))),
            None => Ok(()),
        }
    }

    fn json(&self, agreeing: Option<usize>) -> String {
        let report = &self.calls.report;
        let results = self.outputs.iter().zip(&self.results);
        let results: Vec<_> = results
            .map(|(output, result)| json!({ "name": output.name, "type": result.ty().to_string() }))
            .collect();
        let failure = |failure: &CheckFailure| {
            let place = self.program.place(failure.source);
            json!({ "check": failure.check, "message": failure.message, "place": place })
        };
        let profile = report.profile.as_ref();
        let value = json!({
            "engine": self.session.engine().name(),
            "target": self.session.options().target.name(),
            "results": results,
            "agreeing": agreeing,
            "failures": report.failures.iter().map(failure).collect::<Vec<_>>(),
            "printed": report.printed,
            "calls": self.calls.times_json(),
            "profile": profile.map(|profile| profile::json(profile, |at| self.program.place(at))),
        });
        value.to_string() + "\n"
    }
}
