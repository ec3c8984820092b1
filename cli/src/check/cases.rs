//! Programs with inputs and results in archives.

use std::path::Path;

use artifact_dims::Assignment;
use artifact_engine::{Argument, Buffer, Value};
use artifact_eval::tensor::Tensor;
use artifact_ir::types::Type;

use crate::archive::Archive;
use crate::check::Settings;
use crate::check::embedded::{reopened, stopped};
use crate::check::judgement::{self, Run};
use crate::check::plan::{Case, Cases};
use crate::check::report::Verdict;
use crate::dimensions;
use crate::failure::Failure;
use crate::program::{Program, is_artifact};
use crate::source::Source;
use crate::tensors::{buffer_of, literal_of, tensor_of, type_of};

pub(crate) fn judge(path: &Path, cases: &Cases, settings: &Settings) -> Verdict {
    judge_all(path, cases, settings).unwrap_or_else(|failure| Verdict::Failed(failure.one_line()))
}

fn judge_all(path: &Path, cases: &Cases, settings: &Settings) -> Result<Verdict, Failure> {
    let program = if settings.through_artifact && !is_artifact(path)? {
        reopened(path, &Source::read(path)?.export()?)?
    } else {
        Program::open(path)?
    };
    if cases.cases.is_empty() {
        return Ok(Verdict::Failed("its list has no case for it".to_owned()));
    }
    let runnable = program.within(&settings.session, path)?;
    let runs = Runs {
        path,
        program: &program,
        runnable: &runnable,
        cases,
        settings,
    };
    let mut archive = Archive::open(&cases.arrays)?;
    for (number, case) in cases.cases.iter().enumerate() {
        let of_case = |reason: String| Verdict::Failed(format!("case {number}: {reason}"));
        match judge_case(&runs, case, &mut archive) {
            Ok(Verdict::Passed) => {}
            Ok(Verdict::Failed(reason)) => return Ok(of_case(reason)),
            Ok(other) => return Ok(other),
            Err(failure) => return Ok(of_case(failure.one_line())),
        }
    }
    Ok(Verdict::Passed)
}

/// What the runs of one program have in common.
struct Runs<'a> {
    path: &'a Path,
    program: &'a Program,
    runnable: &'a artifact_runtime::Program,
    cases: &'a Cases,
    settings: &'a Settings,
}

fn judge_case(runs: &Runs<'_>, case: &Case, archive: &mut Archive) -> Result<Verdict, Failure> {
    let Runs {
        path,
        program,
        runnable,
        cases,
        settings,
    } = runs;
    let inputs = arguments(program, cases, case, archive)?;
    let types: Vec<Type> = inputs
        .iter()
        .map(|input| Type::Tensor(input.ty().clone()))
        .collect();
    let values: Result<Vec<Buffer>, String> = inputs.iter().map(buffer_of).collect();
    let values = values.map_err(|why| Failure::input(format!("an input: {why}")))?;
    let values: Vec<Value> = values.into_iter().map(Value::Array).collect();
    let binding = runnable
        .bind(&types, &Assignment::default())
        .map_err(|error| dimensions::unbound(path, &error))?;
    let mut arguments: Vec<Argument<'_>> = values.iter().map(Argument::from).collect();
    let mut outputs = Vec::new();
    if let Err(error) = binding.run(&mut arguments, &mut outputs, &settings.limits) {
        return Ok(stopped(&error, program.place(error.source_offset())));
    }
    if outputs.len() != case.outputs.len() {
        let (results, outputs) = (outputs.len(), case.outputs.len());
        return Ok(Verdict::Failed(format!(
            "it has {results} results, expected {outputs}"
        )));
    }
    let mut results = Vec::new();
    for output in &outputs {
        let refuse = |why: String| Failure::input(format!("a result: {why}"));
        let array = output
            .as_array()
            .ok_or_else(|| refuse(format!("it is a {}", output.ty())))?;
        results.push(tensor_of(array).map_err(refuse)?);
    }
    let operand = match &cases.operand {
        Some(name) => Some(untyped(archive, name)?),
        None => inputs.first().cloned().filter(|_| cases.rule.needs_operand()),
    };
    let wanted = results.iter().zip(&case.outputs);
    let wanted = wanted
        .map(|(got, name)| tensor(archive, name, &Type::Tensor(got.ty().clone())))
        .collect::<Result<Vec<Tensor>, Failure>>()?;
    let run = Run {
        operand: operand.as_ref(),
        inputs: &inputs,
        results: &results,
        wanted: &wanted,
    };
    let judged = judgement::judge(cases.rule, &run, cases.tolerance);
    Ok(judged.map_or_else(Verdict::Failed, |()| Verdict::Passed))
}

/// The arguments of the program among the inputs of a case.
fn arguments(
    program: &Program,
    cases: &Cases,
    case: &Case,
    archive: &mut Archive,
) -> Result<Vec<Tensor>, Failure> {
    let (expected, given) = (program.signature().inputs.len(), case.inputs.len());
    if cases.kept.is_none() && given != expected {
        let what = format!("it takes {expected} inputs, its list gives {given}");
        return Err(Failure::input(what));
    }
    let mut arguments = Vec::new();
    for (index, argument) in program.signature().inputs.iter().enumerate() {
        let position = match &cases.kept {
            Some(kept) => kept.get(index).copied(),
            None => Some(index),
        };
        let name = position.and_then(|position| case.inputs.get(position));
        let name = name.ok_or_else(|| Failure::input(format!("it has no input for argument {index}")))?;
        arguments.push(tensor(archive, name, &argument.ty)?);
    }
    Ok(arguments)
}

fn tensor(archive: &mut Archive, name: &str, ty: &Type) -> Result<Tensor, Failure> {
    let refuse = |why: String| Failure::input(format!("array `{name}`: {why}"));
    let ty = ty
        .as_tensor()
        .ok_or_else(|| refuse(format!("no array can be a {ty}")))?;
    let literal = literal_of(archive.read(name)?, ty).map_err(refuse)?;
    Tensor::from_literal(&literal).map_err(|error| refuse(error.to_string()))
}

/// An array that no type of the program says anything of.
fn untyped(archive: &mut Archive, name: &str) -> Result<Tensor, Failure> {
    let ty = type_of(&archive.read(name)?.header);
    let ty = ty.map_err(|why| Failure::input(format!("array `{name}`: {why}")))?;
    tensor(archive, name, &ty.into())
}
