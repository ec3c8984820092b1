//! Programs with two archives beside them: the arguments, and the results that they give.

use std::path::Path;

use artifact_dims::Assignment;
use artifact_engine::{Argument as Given, Value};
use artifact_eval::comparison::difference;
use artifact_eval::tensor::Tensor;
use artifact_export::Argument;
use artifact_ir::types::Type;

use crate::archive::Archive;
use crate::check::Settings;
use crate::check::embedded::{failed_check, reopened, stopped};
use crate::check::judgement::Tolerance;
use crate::check::plan::Pair;
use crate::check::report::Verdict;
use crate::failure::{Exit, Failure};
use crate::names::Names;
use crate::program::{Program, is_artifact};
use crate::source::Source;
use crate::tensors::{buffer_of, literal_of, tensor_of};
use crate::{dimensions, platform};

pub(crate) fn judge(path: &Path, pair: &Pair, settings: &Settings) -> Verdict {
    judge_pair(path, pair, settings).unwrap_or_else(|failure| match failure.exit() {
        // Such as a program for another platform.
        Exit::Engine => Verdict::Unsupported(failure.one_line()),
        _ => Verdict::Failed(failure.one_line()),
    })
}

fn judge_pair(path: &Path, pair: &Pair, settings: &Settings) -> Result<Verdict, Failure> {
    let program = if settings.through_artifact && !is_artifact(path)? {
        reopened(path, &Source::read(path)?.export()?)?
    } else {
        Program::open(path)?
    };
    let inputs = inputs(&program, path, pair, settings)?;
    let types: Vec<Type> = inputs.iter().map(Value::ty).collect();
    let binding = program
        .within(&settings.session, path)?
        .bind(&types, &Assignment::default())
        .map_err(|error| dimensions::unbound(path, &error))?;
    let mut arguments: Vec<Given<'_>> = inputs.iter().map(Given::from).collect();
    let mut results = Vec::new();
    let report = match binding.run(&mut arguments, &mut results, &settings.limits) {
        Ok(report) => report,
        Err(error) => return Ok(stopped(&error, program.place(error.source_offset()))),
    };
    if let Some(reason) = failed_check(&report, |at| program.place(at)) {
        return Ok(Verdict::Failed(reason));
    }
    compare(&program, &results, pair)
}

/// The arguments, each under one of its names. Tokens and the position of the platform are nobody's arrays.
fn inputs(program: &Program, path: &Path, pair: &Pair, settings: &Settings) -> Result<Vec<Value>, Failure> {
    let arguments = &program.signature().inputs;
    let own = settings.session.engine().platform();
    let position = platform::position(program, path, own, None)?;
    let mut values: Vec<Value> = position.value().into_iter().collect();
    let names = Names::of_arguments(arguments, values.len());
    let mut archive = pair.inputs.as_deref().map(Archive::open).transpose()?;
    if let Some(archive) = &archive {
        refuse_others(&names, archive)?;
    }
    for (index, argument) in arguments.iter().enumerate().skip(values.len()) {
        if argument.ty == Type::Token {
            values.push(Value::Token);
            continue;
        }
        let archive = archive.as_mut().ok_or_else(|| lacks(path, &names))?;
        let array = array(&names, index, &argument.ty, archive)?;
        values.push(Value::Array(buffer_of(&array).map_err(Failure::input)?));
    }
    Ok(values)
}

/// Only a program without arguments needs no archive of them.
fn lacks(path: &Path, names: &Names<'_>) -> Failure {
    let (inputs, names) = (Pair::inputs_of(path), names.listed());
    Failure::input(format!(
        "its results lie beside it and its arguments do not: there is no {} with {names}",
        inputs.display()
    ))
}

fn compare(program: &Program, results: &[Value], pair: &Pair) -> Result<Verdict, Failure> {
    let arrays = |output: &&Argument| output.ty != Type::Token;
    let outputs: Vec<Argument> = program
        .signature()
        .outputs
        .iter()
        .filter(arrays)
        .cloned()
        .collect();
    let names = Names::of_results(&outputs);
    let mut archive = Archive::open(&pair.expected)?;
    refuse_others(&names, &archive)?;
    let results = results.iter().filter(|result| !matches!(result, Value::Token));
    for (index, (output, result)) in outputs.iter().zip(results).enumerate() {
        let of_result = |why: &dyn std::fmt::Display| format!("result `{}`: {why}", output.name);
        let got = result
            .as_array()
            .ok_or_else(|| Failure::input(of_result(&format!("it is a {}", result.ty()))))?;
        let got = &tensor_of(got).map_err(|why| Failure::input(of_result(&why)))?;
        let want = array(&names, index, &Type::Tensor(got.ty().clone()), &mut archive)?;
        if let Some(difference) = difference(got, &want, Tolerance::DEFAULT.closeness()) {
            return Ok(Verdict::Failed(of_result(&difference)));
        }
    }
    Ok(Verdict::Passed)
}

/// A wrong name would else give nothing, or compare nothing.
fn refuse_others(names: &Names<'_>, archive: &Archive) -> Result<(), Failure> {
    let known = names.all();
    match archive.names().find(|name| !known.contains(*name)) {
        None => Ok(()),
        Some(other) => {
            let path = archive.path().display();
            let what = format!(
                "the array `{other}` of {path} is none that the program has: {}",
                names.listed()
            );
            Err(Failure::input(what))
        }
    }
}

fn array(names: &Names<'_>, index: usize, ty: &Type, archive: &mut Archive) -> Result<Tensor, Failure> {
    let path = archive.path().display().to_string();
    let refuse = |why: String| Failure::input(format!("{path}, `{}`: {why}", names.at(index).join("` or `")));
    let ty = ty
        .as_tensor()
        .ok_or_else(|| refuse(format!("no array can be a {ty}")))?;
    let name = names.in_archive(index, archive)?;
    let name = name.ok_or_else(|| refuse("there is no such array".to_owned()))?;
    let literal = literal_of(archive.read(&name)?, ty).map_err(refuse)?;
    Tensor::from_literal(&literal).map_err(|error| refuse(error.to_string()))
}
