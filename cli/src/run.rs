//! `artifact run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Outcome as RunOutcome, Value, evaluate};
use artifact_export::{Argument, Signature};
use artifact_ir::types::{ElementType, TensorType, Type};

use crate::archive::{self, Archive};
use crate::arguments::RunArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::files;
use crate::output;
use crate::program::Program;
use crate::random::Random;
use crate::tensors::{array_of, literal_of};

pub(crate) fn execute(options: &RunArguments) -> Outcome<Exit> {
    let program = Program::open(&options.program)?;
    runs_here(&program, &options.program)?;
    let files = named_files(&options.input)?;
    if let Some(output) = &options.output {
        let archives = [
            Some(&options.program),
            options.inputs.as_ref(),
            options.expect.as_ref(),
        ];
        let read = archives.into_iter().flatten().chain(files.values());
        files::refuse_overwriting(output, read.map(PathBuf::as_path))?;
    }
    let inputs = inputs(&program.signature, files, options)?;
    let steps = Options {
        steps_max: options.max_steps,
        bytes_max: Some(options.max_bytes),
    };
    let outcome = run(&program, &options.program, inputs, &steps)?;
    for line in &outcome.printed {
        output::text(&format!("{line}\n"))?;
    }
    let results = tensors(&outcome)?;
    if let Some(path) = &options.output {
        let names = program.signature.outputs.iter().enumerate();
        let arrays = names
            .zip(&results)
            .map(|((index, output), result)| (array_name(&output.name, index), array_of(result)));
        archive::write(path, &arrays.collect::<Vec<_>>())?;
    }
    let mut exit = Exit::Ok;
    for failure in &outcome.failures {
        let place = program
            .place(&options.program, failure.source)
            .unwrap_or_default();
        output::note(&format!("{}: {} {place}", failure.check, failure.message));
        exit = Exit::CheckFailed;
    }
    match &options.expect {
        Some(path) => {
            let equal = compare(path, &program.signature, &results, options)?;
            let all = results.len();
            let RunArguments { rtol, atol, .. } = options;
            output::text(&format!(
                "{equal} of {all} results agree (rtol {rtol:e}, atol {atol:e})\n"
            ))?;
            if equal < all {
                exit = Exit::CheckFailed;
            }
        }
        None => describe(&program.signature, &results)?,
    }
    Ok(exit)
}

/// Refuses a program that was made for other platforms. The reference engine counts as a CPU.
fn runs_here(program: &Program, path: &Path) -> Outcome<()> {
    const PLATFORM: &str = "cpu";
    if program.platforms.is_empty() || program.platforms.iter().any(|platform| platform == PLATFORM) {
        return Ok(());
    }
    let platforms = program.platforms.join(", ");
    let what = format!(
        "{} is for the platforms {platforms}; the reference engine is for {PLATFORM}",
        path.display()
    );
    Err(Failure::engine(what).hint("export the program for this platform"))
}

/// Runs a program on the values of its arguments, hoisted constants added.
pub(crate) fn run(
    program: &Program,
    path: &Path,
    inputs: Vec<Value>,
    options: &Options,
) -> Outcome<RunOutcome> {
    let stopped = |error| Failure::eval(path, &error, program.place(path, error.source_offset()));
    let mut values = inputs;
    for constant in &program.constants {
        let tensor = Tensor::from_literal(constant)
            .map_err(|error| Failure::input("a constant is too large").because(&error))?;
        values.push(Value::Tensor(tensor));
    }
    evaluate(&program.module, program.entry, values, options).map_err(stopped)
}

/// The tensors among the results, in order; other values have no array.
fn tensors(outcome: &RunOutcome) -> Outcome<Vec<Tensor>> {
    let tensor = |value: &Value| match value {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        other => Err(Failure::input(format!(
            "a result is a {}, which has no array",
            other.ty()
        ))),
    };
    outcome.results.iter().map(tensor).collect()
}

/// A result's name in an archive: its own, or its position where that cannot be a file name.
fn array_name(name: &str, index: usize) -> String {
    let usable = |c: char| c.is_alphanumeric() || "_-.[]()' ".contains(c);
    if name.chars().all(usable) && !name.starts_with('.') {
        name.to_owned()
    } else {
        format!("result{index}")
    }
}

/// Where the values of arguments come from.
struct Sources {
    archive: Option<Archive>,
    files: BTreeMap<String, PathBuf>,
    random: Option<Random>,
}

fn inputs(
    signature: &Signature,
    files: BTreeMap<String, PathBuf>,
    options: &RunArguments,
) -> Outcome<Vec<Value>> {
    let mut sources = Sources {
        archive: options.inputs.as_deref().map(Archive::open).transpose()?,
        files,
        random: options.random.map(Random::new),
    };
    refuse_unknown_names(signature, &sources)?;
    let inputs = signature.inputs.iter().enumerate();
    inputs
        .map(|(index, argument)| input(&mut sources, signature, index, argument))
        .collect()
}

fn named_files(inputs: &[String]) -> Outcome<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for input in inputs {
        // A name may hold `=`, a path seldom does.
        let Some((name, path)) = input.rsplit_once('=') else {
            return Err(Failure::usage(format!(
                "`--input {input}` is not of the form NAME=FILE.npy"
            )));
        };
        if name.is_empty() || path.is_empty() {
            return Err(Failure::usage(format!(
                "`--input {input}` lacks the name or the file of NAME=FILE.npy"
            )));
        }
        if files.insert(name.to_owned(), path.into()).is_some() {
            return Err(Failure::usage(format!("`--input {name}=` is given twice")));
        }
    }
    Ok(files)
}

/// The names that an argument answers to, best first.
fn aliases(index: usize, argument: &Argument) -> [String; 3] {
    [
        argument.name.clone(),
        format!("arg{index}"),
        format!("arr_{index}"),
    ]
}

fn refuse_unknown_names(signature: &Signature, sources: &Sources) -> Outcome<()> {
    let known: Vec<String> = signature
        .inputs
        .iter()
        .enumerate()
        .flat_map(|(index, argument)| aliases(index, argument))
        .collect();
    let given = sources
        .files
        .keys()
        .map(String::as_str)
        .chain(sources.archive.iter().flat_map(Archive::names));
    let unknown: Vec<&str> = given
        .filter(|name| !known.iter().any(|known| known == name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let what = format!("the program has no argument `{}`", unknown.join("`, `"));
    Err(Failure::input(what).hint(format!("its arguments are {}", names(&signature.inputs))))
}

/// Arguments as a user may give them: `x: tensor<2xf32>, y: tensor<f32>`.
fn names(arguments: &[Argument]) -> String {
    const SHOWN_MAX: usize = 32;
    let shown = arguments.iter().take(SHOWN_MAX);
    let mut text: Vec<String> = shown
        .map(|argument| format!("{}: {}", argument.name, argument.ty))
        .collect();
    if arguments.len() > SHOWN_MAX {
        text.push(format!("and {} more", arguments.len() - SHOWN_MAX));
    }
    text.join(", ")
}

fn input(sources: &mut Sources, signature: &Signature, index: usize, argument: &Argument) -> Outcome<Value> {
    let ty = match &argument.ty {
        Type::Tensor(ty) => ty,
        Type::Token => return Ok(Value::Token),
        other => {
            return Err(Failure::input(format!(
                "argument `{}` is a {other}, which cannot be given",
                argument.name
            )));
        }
    };
    let mut array = None;
    for name in aliases(index, argument) {
        array = match (sources.files.get(&name), &mut sources.archive) {
            (Some(path), _) => Some(archive::read_array(path)?),
            (None, Some(archive)) => archive.read(&name)?,
            (None, None) => None,
        };
        if array.is_some() {
            break;
        }
    }
    let mismatch =
        |why: String| Failure::input(format!("argument `{}` (number {index}): {why}", argument.name));
    if let Some(array) = array {
        let literal = literal_of(array, ty).map_err(mismatch)?;
        return Tensor::from_literal(&literal)
            .map(Value::Tensor)
            .map_err(|error| mismatch(error.to_string()));
    }
    match &mut sources.random {
        Some(random) => random_input(random, ty).map_err(mismatch),
        None => {
            let what = format!(
                "argument `{}` (number {index}) of type {} is not given",
                argument.name, argument.ty
            );
            let hint = format!(
                "the arguments are {}; use --inputs, --input or --random",
                names(&signature.inputs)
            );
            Err(Failure::input(what).hint(hint))
        }
    }
}

fn random_input(random: &mut Random, ty: &Arc<TensorType>) -> Result<Value, String> {
    if !ty.is_static() {
        return Err(format!(
            "{ty} has sizes that are not known, so that no random value can be made"
        ));
    }
    random
        .tensor(Arc::clone(ty))
        .map(Value::Tensor)
        .map_err(|error| error.to_string())
}

/// Refuses arrays that are no result: a wrong name would else compare nothing.
fn refuse_unknown_results(path: &Path, signature: &Signature, archive: &Archive) -> Outcome<()> {
    let results: Vec<[String; 3]> = signature
        .outputs
        .iter()
        .enumerate()
        .map(|(index, output)| result_names(&output.name, index))
        .collect();
    let is_result = |name: &str| results.iter().flatten().any(|known| known == name);
    let unknown: Vec<&str> = archive.names().filter(|name| !is_result(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{} has arrays that are no result: `{}`",
        path.display(),
        unknown.join("`, `")
    );
    Err(Failure::input(what).hint(format!("the results are {}", names(&signature.outputs))))
}

/// The names that the array of a result may have, best first.
fn result_names(name: &str, index: usize) -> [String; 3] {
    [name.to_owned(), format!("result{index}"), format!("arr_{index}")]
}

/// Compares results with an archive, says what differs, and counts those that agree.
fn compare(path: &Path, signature: &Signature, results: &[Tensor], options: &RunArguments) -> Outcome<usize> {
    let closeness = Closeness::Relative {
        rtol: options.rtol,
        atol: options.atol,
    };
    let mut archive = Archive::open(path)?;
    refuse_unknown_results(path, signature, &archive)?;
    let mut equal = 0;
    for (index, (output, result)) in signature.outputs.iter().zip(results).enumerate() {
        let mut array = None;
        for name in result_names(&output.name, index) {
            array = array.or(archive.read(&name)?);
        }
        let missing = || {
            let what = format!(
                "{} has no array for result `{}` (number {index})",
                path.display(),
                output.name
            );
            let [best, by_number, unnamed] = result_names(&output.name, index);
            Failure::input(what).hint(format!("name it `{best}`, `{by_number}` or `{unnamed}`"))
        };
        let array = array.ok_or_else(missing)?;
        let mismatch = |why: String| Failure::input(format!("expected result `{}`: {why}", output.name));
        let want = literal_of(array, result.ty()).map_err(mismatch)?;
        let want = Tensor::from_literal(&want).map_err(|error| mismatch(error.to_string()))?;
        match difference(result, &want, closeness) {
            None => equal += 1,
            Some(difference) => output::note(&format!("result `{}`: {difference}", output.name)),
        }
    }
    Ok(equal)
}

/// Says what came out, small values in full.
fn describe(signature: &Signature, results: &[Tensor]) -> Outcome<()> {
    const SHOWN_MAX: usize = 8;
    for (output, result) in signature.outputs.iter().zip(results) {
        let shown: Vec<String> = result
            .scalars()
            .take(SHOWN_MAX)
            .map(|scalar| element_text(scalar, result.storage()))
            .collect();
        let more = if result.len() > SHOWN_MAX { ", ..." } else { "" };
        output::text(&format!(
            "{}: {} = [{}{more}]\n",
            output.name,
            result.ty(),
            shown.join(", ")
        ))?;
    }
    Ok(())
}

/// An element, with no more digits than its type holds.
fn element_text(scalar: Scalar, ty: ElementType) -> String {
    match scalar {
        Scalar::Float(value) if ty != ElementType::F64 => format!("{:?}", value as f32),
        Scalar::Complex(real, imag) if ty == ElementType::C64 => {
            format!("({:?}, {:?})", real as f32, imag as f32)
        }
        other => other.to_string(),
    }
}
