//! Programs with inputs and results in archives.

use std::path::Path;

use artifact_dims::Assignment;
use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::tensor::Tensor;
use artifact_eval::{EvalErrorKind, Options, Value};
use artifact_ir::types::Type;

use crate::archive::Archive;
use crate::check::Settings;
use crate::check::embedded::reopened;
use crate::check::plan::{Case, Cases};
use crate::check::report::Verdict;
use crate::dimensions;
use crate::evaluation;
use crate::failure::Failure;
use crate::program::Program;
use crate::source::Source;
use crate::tensors::literal_of;

pub(crate) fn judge(path: &Path, cases: &Cases, settings: &Settings) -> Verdict {
    judge_all(path, cases, settings).unwrap_or_else(|failure| Verdict::Failed(failure.one_line()))
}

fn judge_all(path: &Path, cases: &Cases, settings: &Settings) -> Result<Verdict, Failure> {
    let program = if settings.through_artifact {
        reopened(path, &Source::read(path)?.export()?)?
    } else {
        Program::open(path)?
    };
    if cases.cases.is_empty() {
        return Ok(Verdict::Failed("its list has no case for it".to_owned()));
    }
    let mut archive = Archive::open(&cases.arrays)?;
    for (number, case) in cases.cases.iter().enumerate() {
        match judge_case(path, &program, cases, case, &mut archive, settings)? {
            Verdict::Passed => {}
            Verdict::Failed(reason) => return Ok(Verdict::Failed(format!("case {number}: {reason}"))),
            other => return Ok(other),
        }
    }
    Ok(Verdict::Passed)
}

fn judge_case(
    path: &Path,
    program: &Program,
    cases: &Cases,
    case: &Case,
    archive: &mut Archive,
    settings: &Settings,
) -> Result<Verdict, Failure> {
    let expected = program.signature.inputs.len();
    if cases.kept.is_none() && case.inputs.len() != expected {
        let given = case.inputs.len();
        return Ok(Verdict::Failed(format!(
            "it takes {expected} inputs, its list gives {given}"
        )));
    }
    let mut inputs = Vec::new();
    for (index, argument) in program.signature.inputs.iter().enumerate() {
        let position = cases
            .kept
            .as_ref()
            .map_or(Some(index), |kept| kept.get(index).copied());
        let Some(name) = position.and_then(|position| case.inputs.get(position)) else {
            return Ok(Verdict::Failed(format!("it has no input for argument {index}")));
        };
        inputs.push(Value::Tensor(tensor(archive, name, &argument.ty)?));
    }
    let types: Vec<Type> = inputs.iter().map(Value::ty).collect();
    dimensions::bind(path, &program.signature, &types, &Assignment::default())?;
    for constant in &program.constants {
        let constant =
            Tensor::from_literal(constant).map_err(|error| Failure::input("a constant").because(&error))?;
        inputs.push(Value::Tensor(constant));
    }
    let options = Options {
        steps_max: Some(settings.steps_max),
        bytes_max: Some(settings.bytes_max),
    };
    let outcome = match evaluation::run(&program.module, program.entry, inputs, &options) {
        Ok(outcome) => outcome,
        Err(error) => {
            let place = program.place(error.source_offset());
            let reason = place.map_or_else(|| error.to_string(), |place| format!("{error} {place}"));
            let unsupported = error.kind() == EvalErrorKind::Unsupported;
            return Ok(if unsupported {
                Verdict::Unsupported(reason)
            } else {
                Verdict::Failed(reason)
            });
        }
    };
    if outcome.results.len() != case.outputs.len() {
        let (results, outputs) = (outcome.results.len(), case.outputs.len());
        return Ok(Verdict::Failed(format!(
            "it has {results} results, expected {outputs}"
        )));
    }
    let closeness = Closeness::Relative {
        rtol: cases.rtol,
        atol: cases.atol,
    };
    for (index, (result, name)) in outcome.results.iter().zip(&case.outputs).enumerate() {
        let got = result
            .as_tensor()
            .map_err(|error| Failure::input("a result").because(&error))?;
        let want = tensor(archive, name, &Type::Tensor(got.ty().clone()))?;
        if let Some(difference) = difference(got, &want, closeness) {
            return Ok(Verdict::Failed(format!("result {index}: {difference}")));
        }
    }
    Ok(Verdict::Passed)
}

fn tensor(archive: &mut Archive, name: &str, ty: &Type) -> Result<Tensor, Failure> {
    let refuse = |why: String| Failure::input(format!("array `{name}`: {why}"));
    let ty = ty
        .as_tensor()
        .ok_or_else(|| refuse(format!("no array can be a {ty}")))?;
    let literal = literal_of(archive.read(name)?, ty).map_err(refuse)?;
    Tensor::from_literal(&literal).map_err(|error| refuse(error.to_string()))
}
