//! `artifact convert`.

use std::collections::BTreeMap;
use std::fmt;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use artifact_container::atomic::atomic_write;
use artifact_export::{
    ExportError, JAX_STABLEHLO, StablehloVersion, StablehloVersionError, Waivers, portable,
};
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::print::{OperationForm, PrintOptions, print_module};

use crate::arguments::{ConvertArguments, Format};
use crate::failure::{Exit, Failure, Outcome};
use crate::files::{self, files_under};
use crate::losses;
use crate::output;
use crate::program::{holds_program, is_artifact};
use crate::rewriting::{self, Original};
use crate::source::Source;

pub(crate) fn execute(options: &ConvertArguments) -> Outcome<Exit> {
    let writing = Writing::of(options)?;
    let Inputs {
        programs,
        unread,
        passed_over,
    } = inputs(&options.inputs)?;
    files::tell_passed_over(&passed_over);
    let count = programs.len() + unread.len();
    if count == 0 {
        return Err(Failure::input("there is no program in what was given").hint(
            "name artifacts, StableHLO as text or portable bytecode, JAX exports, or folders that hold them",
        ));
    }
    if count != 1 && options.output_dir.is_none() {
        let what = format!("{count} files cannot be written to one place");
        return Err(Failure::usage(what).hint("give --output-dir"));
    }
    if options.output.is_none() && options.output_dir.is_none() {
        writing.refuse_terminal()?;
    }
    let targets = targets(&programs, options)?;
    for target in targets.iter().flatten() {
        files::refuse_overwriting(target, programs.iter().map(PathBuf::as_path))?;
    }
    let converted = programs.iter().zip(targets).map(|(input, target)| {
        let bytes = writing.convert(input)?;
        match target {
            Some(path) => {
                atomic_write(&path, &bytes).map_err(|error| Failure::file("cannot write", &path, &error))?;
                output::text(&format!(
                    "{}: {} bytes, {writing}\n",
                    output::path(&path),
                    bytes.len()
                ))
            }
            None => output::bytes(&bytes),
        }
    });
    // One that fails does not keep the others from being converted.
    let failures = unread.into_iter().chain(converted.filter_map(Outcome::err));
    Failure::end(failures, count, "converted")
}

/// What is to be converted.
#[derive(Default)]
struct Inputs {
    programs: Vec<PathBuf>,
    /// Why files and folders cannot be read, one failure each.
    unread: Vec<Failure>,
    /// Files of folders that hold no program.
    passed_over: Vec<PathBuf>,
}

fn inputs(paths: &[PathBuf]) -> Outcome<Inputs> {
    let mut inputs = Inputs::default();
    for path in paths {
        if !path.is_dir() {
            inputs.programs.push(path.clone());
            continue;
        }
        let files::Found { files, failures } = files_under(path)?;
        inputs
            .unread
            .extend(failures.into_iter().map(|(_, failure)| failure));
        for file in files {
            match holds_program(&file) {
                Ok(true) => inputs.programs.push(file),
                Ok(false) => inputs.passed_over.push(file),
                Err(failure) => inputs.unread.push(failure),
            }
        }
    }
    Ok(inputs)
}

/// Where each input's text goes; standard output where there is no path. Two that would go to one file are refused.
fn targets(inputs: &[PathBuf], options: &ConvertArguments) -> Outcome<Vec<Option<PathBuf>>> {
    let Some(folder) = &options.output_dir else {
        return Ok(vec![options.output.clone(); inputs.len()]);
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("cannot make the folder", folder, &error))?;
    let mut sources: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    let target = |input: &PathBuf| {
        let name = input
            .file_stem()
            .ok_or_else(|| Failure::usage(format!("{} has no file name", input.display())))?;
        Ok(folder.join(name).with_added_extension(options.to.extension()))
    };
    let targets = inputs.iter().map(target).collect::<Outcome<Vec<PathBuf>>>()?;
    for (input, target) in inputs.iter().zip(&targets) {
        if let Some(other) = sources.insert(target.clone(), input) {
            let (other, input, target) = (other.display(), input.display(), target.display());
            let what = format!("{other} and {input} would both be written to {target}");
            return Err(Failure::usage(what).hint("give them one at a time, with -o"));
        }
    }
    Ok(targets.into_iter().map(Some).collect())
}

/// What is written, and how.
enum Writing {
    Text(PrintOptions),
    Bytecode {
        version: StablehloVersion,
        locations: bool,
    },
    Jax {
        version: StablehloVersion,
        allowed: Waivers,
    },
}

impl Writing {
    fn of(options: &ConvertArguments) -> Outcome<Self> {
        let locations = options.locations;
        let version = options.stablehlo.as_deref().map(str::parse).transpose();
        let version = version.map_err(|error: StablehloVersionError| Failure::usage(error.to_string()))?;
        let form = if options.generic {
            OperationForm::Generic
        } else {
            OperationForm::Pretty
        };
        if options.to != Format::Mlir && options.generic {
            return Err(Failure::usage("--generic is for text"));
        }
        if options.to != Format::Jax && !options.allow_custom_call.is_empty() {
            return Err(Failure::usage(
                "--allow-custom-call is for JAX exports: other programs record nothing",
            ));
        }
        match options.to {
            Format::Mlir if version.is_some() => Err(Failure::usage(
                "--stablehlo is for bytecode: text has no versions",
            )),
            Format::Mlir => Ok(Self::Text(PrintOptions { locations, form })),
            Format::Mlirbc => Ok(Self::Bytecode {
                version: version.unwrap_or(StablehloVersion::CURRENT),
                locations,
            }),
            Format::Jax if locations => Err(Failure::usage(
                "--locations is not for JAX exports, which keep the names of arguments and nothing else",
            )),
            Format::Jax => Ok(Self::Jax {
                version: version.unwrap_or(JAX_STABLEHLO),
                allowed: Waivers::Targets(options.allow_custom_call.iter().cloned().collect()),
            }),
        }
    }

    /// A terminal would obey what it takes for commands.
    fn refuse_terminal(&self) -> Outcome<()> {
        if matches!(self, Self::Text(_)) || !std::io::stdout().is_terminal() {
            return Ok(());
        }
        let what = format!("{self} is no text, and standard output is a terminal");
        Err(Failure::usage(what).hint("give a file with -o, or lead the output to one"))
    }

    fn convert(&self, input: &Path) -> Outcome<Vec<u8>> {
        match self {
            Self::Text(print) => {
                let modules = modules(input, print.locations)?;
                let texts = modules.iter().map(|module| print_module(module, print));
                Ok(texts.collect::<String>().into_bytes())
            }
            Self::Bytecode { version, locations } => {
                let modules = modules(input, *locations)?;
                let count = modules.len();
                let (Some(module), 1) = (modules.into_iter().next(), count) else {
                    let what = format!(
                        "{} holds {count} modules, and bytecode holds one",
                        input.display()
                    );
                    return Err(Failure::input(what));
                };
                let encoded =
                    portable(module, *version, *locations).map_err(|error| Failure::export(input, &error))?;
                Ok(encoded.to_vec())
            }
            Self::Jax { version, allowed } => jax(input, *version, allowed),
        }
    }
}

impl fmt::Display for Writing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("StableHLO text"),
            Self::Bytecode { version, .. } => write!(f, "bytecode of StableHLO {version}"),
            Self::Jax { version, .. } => write!(f, "a JAX export of StableHLO {version}"),
        }
    }
}

/// The verified modules of a file. Says what of the file is in none of them.
fn modules(input: &Path, locations: bool) -> Outcome<Vec<Module>> {
    let refuse = |error: ExportError| Failure::export(input, &error);
    if is_artifact(input)? {
        let Original {
            loaded,
            manifest,
            dropped,
        } = rewriting::open(input)?;
        let module = loaded.into_module().map_err(refuse)?;
        let gradients = manifest.derivatives.len();
        let lost = losses::of_program(&manifest, gradients, &module, locations).map_err(refuse)?;
        tell_lost(input, &lost);
        rewriting::tell(dropped.as_ref(), input);
        return Ok(vec![module]);
    }
    let source = Source::read(input)?;
    let modules = source.modules()?;
    let findings: Vec<_> = modules.iter().flat_map(verify).collect();
    if !findings.is_empty() {
        return Err(source.refused(&findings));
    }
    match source.exported_functions() {
        Ok(functions) => {
            if let ([module], [said, gradients @ ..]) = (&*modules, &*functions) {
                let lost = losses::of_program(said, gradients.len(), module, locations);
                tell_lost(input, &lost.map_err(refuse)?);
            }
        }
        // The program is sound by itself.
        Err(failure) => output::note(&format!(
            "warning: only the program is written: {}",
            failure.one_line()
        )),
    }
    Ok(modules)
}

/// Says what the format of the output has no place for.
fn tell_lost(input: &Path, lost: &[String]) {
    if !lost.is_empty() {
        output::note(&format!(
            "warning: {}: the output has no place for: {}",
            input.display(),
            lost.join("; ")
        ));
    }
}

/// A file of `jax.export`, with all that the input says of how its program is called.
fn jax(input: &Path, version: StablehloVersion, allowed: &Waivers) -> Outcome<Vec<u8>> {
    let (exported, dropped, only_here) = match is_artifact(input)? {
        true => {
            let original = rewriting::open(input)?;
            let exported = original.loaded.into_exported();
            let exported = exported.map_err(|error| Failure::export(input, &error))?;
            (
                exported,
                original.dropped,
                losses::of_metadata(&original.manifest),
            )
        }
        false => (Source::read(input)?.export()?, None, Vec::new()),
    };
    let file = exported
        .to_jax(version, allowed)
        .map_err(|error| Failure::export(input, &error))?;
    let bytes = artifact_jax::write(&file)
        .map_err(|error| Failure::input(format!("{} is refused", input.display())).because(&error))?;
    tell_lost(input, &only_here);
    rewriting::tell(dropped.as_ref(), input);
    let open = exported.arguments_that_may_be_empty();
    let open = open.map_err(|error| Failure::export(input, &error))?;
    if !open.is_empty() {
        output::note(&format!(
            "warning: {}: JAX takes no size of 0, which a size of `{}` may be here",
            input.display(),
            open.join("`, `")
        ));
    }
    Ok(bytes)
}
