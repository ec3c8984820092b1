//! `artifact run`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artifact_dims::{Assignment, Variable};
use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Outcome as RunOutcome, Value};
use artifact_export::{Argument, Signature};
use artifact_ir::literal::Literal;
use artifact_ir::types::{Dim, ElementType, TensorType, Type};

use crate::archive::{self, Archive};
use crate::arguments::RunArguments;
use crate::dimensions;
use crate::evaluation;
use crate::failure::{Exit, Failure, Outcome};
use crate::files;
use crate::names::Names;
use crate::npy::ArrayReader;
use crate::output::{self, one_line};
use crate::platform::{self, Position};
use crate::program::Program;
use crate::random::Random;
use crate::tensors::{array_of, literal_of};
use crate::trust::Trust;

pub(crate) fn execute(options: &RunArguments) -> Outcome<Exit> {
    let program = program(options)?;
    let platform = platform::position(&program, &options.program, options.platform.as_deref())?;
    let outputs = arrays(&program.signature.outputs);
    let files = named_files(&options.input)?;
    if let Some(output) = &options.output {
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
        let read = archives.into_iter().flatten().chain(files.values());
        files::refuse_overwriting(output, read.map(PathBuf::as_path))?;
    }
    // Opened before anything is written: the output may be a file of the same name that is not there yet.
    let expected = options
        .expect
        .as_deref()
        .map(|path| Expected::open(path, &outputs))
        .transpose()?;
    let dims = dimensions::values(&options.program, &program.signature, &options.dim)?;
    let inputs = inputs(&program, platform, files, &dims, options)?;
    check_sizes(&program, &options.program, &inputs, &dims)?;
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
        let names = outputs.iter().enumerate();
        let arrays = names
            .zip(&results)
            .map(|((index, output), result)| (array_name(&output.name, index), array_of(result)));
        archive::write(path, &arrays.collect::<Vec<_>>())?;
    }
    let mut exit = Exit::Ok;
    for failure in &outcome.failures {
        let place = program.place(failure.source).unwrap_or_default();
        output::note(&format!("{}: {} {place}", failure.check, failure.message));
        exit = Exit::CheckFailed;
    }
    match expected {
        Some(expected) => {
            let equal = expected.compare(&results, options)?;
            let all = results.len();
            let RunArguments { rtol, atol, .. } = options;
            output::text(&format!(
                "{equal} of {all} results agree (rtol {}, atol {})\n",
                tolerance(*rtol),
                tolerance(*atol)
            ))?;
            if equal < all {
                exit = Exit::CheckFailed;
            }
        }
        None => describe(&outputs, &results)?,
    }
    Ok(exit)
}

/// The program, of those whom the trust file names where there is one.
fn program(options: &RunArguments) -> Outcome<Program> {
    match &options.trust {
        Some(trust) => Program::open_trusted(&options.program, &Trust::read(trust)?),
        None => Program::open(&options.program),
    }
}

/// Refuses inputs whose sizes do not fit the named dimensions of a program, or for which it computes sizes too narrowly.
fn check_sizes(program: &Program, path: &Path, inputs: &[Value], dims: &Assignment) -> Outcome<()> {
    let types: Vec<Type> = inputs.iter().map(Value::ty).collect();
    let values = dimensions::bind(path, &program.signature, &types, dims)?;
    dimensions::check_obligations(path, &program.obligations(path)?, &values)
}

/// The results that are arrays. Tokens, by which a program orders its effects, are nobody's result.
fn arrays(outputs: &[Argument]) -> Vec<Argument> {
    let arrays = outputs.iter().filter(|output| output.ty != Type::Token);
    arrays.cloned().collect()
}

/// Runs a program on the values of its arguments, hoisted constants added.
pub(crate) fn run(
    program: &Program,
    path: &Path,
    inputs: Vec<Value>,
    options: &Options,
) -> Outcome<RunOutcome> {
    let stopped = |error| Failure::eval(path, &error, program.place(error.source_offset()));
    let values = program.with_constants(inputs)?;
    evaluation::run(&program.module, program.entry, values, options).map_err(stopped)
}

/// The tensors among the results, in order; other values but tokens have no array.
fn tensors(outcome: &RunOutcome) -> Outcome<Vec<Tensor>> {
    let tensor = |value: &Value| match value {
        Value::Tensor(tensor) => Some(Ok(tensor.clone())),
        Value::Token => None,
        other => Some(Err(Failure::input(format!(
            "a result is a {}, which has no array",
            other.ty()
        )))),
    };
    outcome.results.iter().filter_map(tensor).collect()
}

/// A result's name in an archive: its own, or its position where that cannot be a file name.
fn array_name(name: &str, index: usize) -> String {
    let usable = |c: char| c.is_alphanumeric() || "_-.[]()' ".contains(c);
    /// What an entry of a zip file may be called, with room for the rest.
    const LENGTH_MAX: usize = 1 << 10;
    if name.len() <= LENGTH_MAX && name.chars().all(usable) && !name.starts_with('.') {
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
    budget: Budget,
}

impl Sources {
    /// Whether an array is given for an argument.
    fn has(&self, names: &Names<'_>, index: usize) -> bool {
        let archive = self.archive.as_ref();
        let given =
            |name: &String| self.files.contains_key(name) || archive.is_some_and(|archive| archive.has(name));
        names.at(index).iter().any(given)
    }
}

/// Bytes that arguments may still take.
struct Budget(u64);

impl Budget {
    /// Counts an argument of so many bytes, before memory is spent on it.
    fn take(&mut self, bytes: u64) -> Result<(), String> {
        let left = self.0.checked_sub(bytes);
        self.0 = left.ok_or_else(|| format!("it has {bytes} bytes, and --max-bytes leaves {}", self.0))?;
        Ok(())
    }
}

fn inputs(
    program: &Program,
    platform: Position,
    files: BTreeMap<String, PathBuf>,
    dims: &Assignment,
    options: &RunArguments,
) -> Outcome<Vec<Value>> {
    let signature = &program.signature;
    let arguments = &signature.inputs;
    let must_be_told = matches!(platform, Position::Unknown);
    let platform = platform.value();
    let bound = usize::from(platform.is_some());
    let names = Names::of_arguments(arguments, bound);
    let mut sources = Sources {
        archive: options.inputs.as_deref().map(Archive::open).transpose()?,
        files,
        random: options.random.map(Random::new),
        budget: Budget(options.max_bytes),
    };
    refuse_unknown_arguments(&names, &sources, program.unused_inputs)?;
    if (0..bound).any(|index| sources.has(&names, index)) {
        let what = "the position of the platform is given as an array";
        return Err(Failure::input(what).hint("leave it out, and name the platform with --platform"));
    }
    // Arrays come first: they tell sizes of what is random.
    let (given, others): (Vec<usize>, Vec<usize>) =
        (bound..arguments.len()).partition(|index| sources.has(&names, *index));
    if must_be_told && others.contains(&0) {
        return Err(platform::untold(&options.program));
    }
    let mut found: BTreeMap<usize, Outcome<Value>> = BTreeMap::new();
    for index in given {
        let value = input(&mut sources, &names, index, &arguments[index], dims);
        found.insert(index, value);
    }
    let dims = sizes_told(signature, &found, dims);
    for index in others {
        let value = input(&mut sources, &names, index, &arguments[index], &dims);
        found.insert(index, value);
    }
    let mut values: Vec<Value> = platform.into_iter().collect();
    let mut failures = Vec::new();
    for outcome in found.into_values() {
        match outcome {
            Ok(value) => values.push(value),
            Err(failure) => failures.push(failure),
        }
    }
    match Failure::of_all(failures) {
        None => Ok(values),
        Some(failure) => Err(failure),
    }
}

/// The values of dimension variables as far as arrays tell them, with those of the command line. Whether they fit is checked
/// when every array is there.
fn sizes_told(
    signature: &Signature,
    found: &BTreeMap<usize, Outcome<Value>>,
    dims: &Assignment,
) -> Assignment {
    let ty = |index: usize| match found.get(&index) {
        Some(Ok(value)) => value.ty(),
        // What has no sizes tells none.
        _ => Type::Token,
    };
    let types: Vec<Type> = (0..signature.inputs.len()).map(ty).collect();
    match signature.bind(&types, dims) {
        Ok(values) => values,
        Err(mismatches) => {
            let told = mismatches.obtained.into_iter();
            let told = told.filter_map(|(variable, value, _)| Some((variable, value.as_constant()?)));
            let given = dims.iter().map(|(variable, value)| (variable.clone(), value));
            told.chain(given).collect()
        }
    }
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

/// `unused` inputs of the function that was exported are none of the program.
fn refuse_unknown_arguments(names: &Names<'_>, sources: &Sources, unused: usize) -> Outcome<()> {
    let known = names.all();
    let files = sources.files.keys().map(String::as_str);
    let given = files.chain(sources.archive.iter().flat_map(Archive::names));
    let unknown: Vec<&str> = given.filter(|name| !known.contains(*name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let what = format!("the program has no argument `{}`", unknown.join("`, `"));
    let listed = format!("its arguments are {}", names.listed());
    let hint = match unused {
        0 => listed,
        1 => format!("{listed}; the program does not use 1 input of the function, which JAX left out"),
        more => {
            format!("{listed}; the program does not use {more} inputs of the function, which JAX left out")
        }
    };
    Err(Failure::input(what).hint(hint))
}

fn input(
    sources: &mut Sources,
    names: &Names<'_>,
    index: usize,
    argument: &Argument,
    dims: &Assignment,
) -> Outcome<Value> {
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
    let mismatch =
        |why: String| Failure::input(format!("argument `{}` (number {index}): {why}", argument.name));
    if let Some(literal) = given_input(sources, names, index, ty, mismatch)? {
        return Tensor::from_literal(&literal)
            .map(Value::Tensor)
            .map_err(|error| mismatch(error.to_string()));
    }
    match &mut sources.random {
        Some(_) => argument
            .type_for(dims)
            .map_err(|error| error.to_string())
            .and_then(|ty| random_input(sources, &ty))
            .map_err(mismatch),
        None => {
            let what = format!(
                "argument `{}` (number {index}) of type {} is not given",
                argument.name,
                argument.shape_text()
            );
            let hint = "give arrays with --inputs or --input, by name or by position as argN or arr_N; or take random ones \
                        with --random";
            Err(Failure::input(what).hint(hint))
        }
    }
}

/// The array that the user gave for an argument: a file of its own counts before the archive.
fn given_input(
    sources: &mut Sources,
    names: &Names<'_>,
    index: usize,
    ty: &TensorType,
    mismatch: impl Fn(String) -> Failure,
) -> Outcome<Option<Literal>> {
    let Sources {
        archive,
        files,
        budget,
        ..
    } = sources;
    if let Some(name) = names.find(index, |name| files.contains_key(name))? {
        let path = &files[&name];
        let literal = read_within(budget, archive::read_array(path)?, ty);
        return literal.map(Some).map_err(|why| mismatch(in_file(&why, path)));
    }
    let Some(archive) = archive else {
        return Ok(None);
    };
    let Some(name) = names.in_archive(index, archive)? else {
        return Ok(None);
    };
    let path = archive.path().to_owned();
    let literal = read_within(budget, archive.read(&name)?, ty);
    literal.map(Some).map_err(|why| mismatch(in_file(&why, &path)))
}

fn in_file(why: &str, path: &Path) -> String {
    format!("{why} (in {})", path.display())
}

/// The value of an array that fits, of which the memory is granted.
fn read_within(
    budget: &mut Budget,
    array: ArrayReader<impl Read>,
    ty: &TensorType,
) -> Result<Literal, String> {
    budget.take(array.header.byte_count)?;
    literal_of(array, ty)
}

fn random_input(sources: &mut Sources, ty: &Type) -> Result<Value, String> {
    let Type::Tensor(ty) = ty else {
        return Err(format!("no random value can be a {ty}"));
    };
    if !ty.is_static() {
        return Err(unknown_sizes(ty));
    }
    let bytes = ty.byte_count();
    sources
        .budget
        .take(bytes.ok_or_else(|| format!("{ty} has 2^64 bytes or more, which no memory holds"))?)?;
    let random = sources.random.as_mut().ok_or("no seed is given")?;
    random
        .tensor(Arc::clone(ty))
        .map(Value::Tensor)
        .map_err(|error| error.to_string())
}

/// Why an array of this type cannot be made up, and what to do.
fn unknown_sizes(ty: &TensorType) -> String {
    let variables: BTreeSet<Variable> = ty
        .dims
        .iter()
        .filter_map(Dim::expression)
        .flat_map(|size| size.variables())
        .collect();
    let options: Vec<String> = variables.iter().map(|name| format!("--dim {name}=N")).collect();
    let remedy = match options.is_empty() {
        true => "which have no names: export the program again, which names them,".to_owned(),
        false => format!("which no array tells: give {},", options.join(" ")),
    };
    format!("no random value can be made for the open sizes of {ty}, {remedy} or give the array with --input")
}

/// The results that are expected.
struct Expected<'a> {
    path: &'a Path,
    outputs: &'a [Argument],
    archive: Archive,
}

impl<'a> Expected<'a> {
    /// Opens an archive of results. One with arrays that are no result is refused: a wrong name would else compare nothing.
    fn open(path: &'a Path, outputs: &'a [Argument]) -> Outcome<Self> {
        let names = Names::of_results(outputs);
        let archive = Archive::open(path)?;
        let known = names.all();
        let unknown: Vec<&str> = archive.names().filter(|name| !known.contains(*name)).collect();
        if !unknown.is_empty() {
            let (path, unknown) = (path.display(), unknown.join("`, `"));
            let what = format!("{path} has arrays that are no result: `{unknown}`");
            return Err(Failure::input(what).hint(format!("the results are {}", names.listed())));
        }
        Ok(Self {
            path,
            outputs,
            archive,
        })
    }

    /// Compares results with the archive, says what differs, and counts those that agree.
    fn compare(mut self, results: &[Tensor], options: &RunArguments) -> Outcome<usize> {
        let closeness = Closeness::Relative {
            rtol: options.rtol,
            atol: options.atol,
        };
        let names = Names::of_results(self.outputs);
        let mut equal = 0;
        for (index, (output, result)) in self.outputs.iter().zip(results).enumerate() {
            let Some(name) = names.in_archive(index, &self.archive)? else {
                let (file, own) = (self.path.display(), &output.name);
                let what = format!("{file} has no array for result `{own}` (number {index})");
                let hint = format!("name it `{}`", names.at(index).join("` or `"));
                return Err(Failure::input(what).hint(hint));
            };
            let mismatch = |why: String| {
                Failure::input(format!(
                    "the array for result `{}` does not fit: {why}",
                    output.name
                ))
            };
            let want = literal_of(self.archive.read(&name)?, result.ty()).map_err(mismatch)?;
            let want = Tensor::from_literal(&want).map_err(|error| mismatch(error.to_string()))?;
            match difference(result, &want, closeness) {
                None => equal += 1,
                Some(difference) => output::note(&format!("result `{}`: {difference}", output.name)),
            }
        }
        Ok(equal)
    }
}

/// A tolerance as it is usually written.
fn tolerance(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else {
        format!("{value:e}")
    }
}

/// Says what came out, small values in full.
fn describe(outputs: &[Argument], results: &[Tensor]) -> Outcome<()> {
    const SHOWN_MAX: usize = 8;
    for (output, result) in outputs.iter().zip(results) {
        let shown: Vec<String> = result
            .scalars()
            .take(SHOWN_MAX)
            .map(|scalar| element_text(scalar, result.storage()))
            .collect();
        let more = if result.len() > SHOWN_MAX { ", ..." } else { "" };
        output::text(&format!(
            "{}: {} = [{}{more}]\n",
            one_line(&output.name),
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
