//! The arguments of a run: from files, from an archive, or random.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artifact_dims::{Assignment, Variable};
use artifact_engine::{Buffer, Value};
use artifact_export::{Argument, Signature};
use artifact_ir::literal::Literal;
use artifact_ir::types::{Dim, TensorType, Type};

use crate::archive::{self, Archive};
use crate::arguments::RunArguments;
use crate::failure::{Failure, Outcome};
use crate::names::Names;
use crate::npy::ArrayReader;
use crate::platform::{self, Position};
use crate::program::Program;
use crate::random::Random;
use crate::tensors::{buffer_of, literal_of};

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
        self.0 = left.ok_or_else(|| format!("it has {bytes} bytes, and --memory-limit leaves {}", self.0))?;
        Ok(())
    }
}

/// The values of all arguments, hoisted constants apart.
pub(super) fn inputs(
    program: &Program,
    platform: Position,
    files: BTreeMap<String, PathBuf>,
    dims: &Assignment,
    options: &RunArguments,
) -> Outcome<Vec<Value>> {
    let signature = program.signature();
    let arguments = &signature.inputs;
    let must_be_told = matches!(platform, Position::Unknown);
    let platform = platform.value();
    let bound = usize::from(platform.is_some());
    let names = Names::of_arguments(arguments, bound);
    let mut sources = Sources {
        archive: options.inputs.as_deref().map(Archive::open).transpose()?,
        files,
        random: options.random.map(Random::new),
        budget: Budget(options.engine.memory_limit),
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

/// The files of `--input` by the names of arguments.
pub(super) fn named_files(inputs: &[String]) -> Outcome<BTreeMap<String, PathBuf>> {
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
        return Buffer::of_literal(&literal)
            .map(Value::Array)
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
    let tensor = random.tensor(Arc::clone(ty)).map_err(|error| error.to_string())?;
    buffer_of(&tensor).map(Value::Array)
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
