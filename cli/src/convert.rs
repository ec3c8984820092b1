//! `artifact convert`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artifact_container::atomic::atomic_write;
use artifact_export::{JAX_STABLEHLO, StablehloVersion, StablehloVersionError, Waivers, portable};
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::print::{OperationForm, PrintOptions, print_module};

use crate::arguments::{ConvertArguments, Format};
use crate::failure::{Exit, Failure, Outcome};
use crate::files::{self, files_under};
use crate::output;
use crate::program::{holds_program, is_artifact};
use crate::rewriting;
use crate::source::Source;

pub(crate) fn execute(options: &ConvertArguments) -> Outcome<Exit> {
    let writing = Writing::of(options)?;
    let inputs = inputs(&options.inputs)?;
    if inputs.is_empty() {
        return Err(Failure::input("there is no program in what was given").hint(
            "name artifacts, StableHLO as text or portable bytecode, JAX exports, or folders that hold them",
        ));
    }
    if inputs.len() != 1 && options.output_dir.is_none() {
        let what = format!("{} files cannot be written to one place", inputs.len());
        return Err(Failure::usage(what).hint("give --output-dir"));
    }
    let targets = targets(&inputs, options)?;
    for target in targets.iter().flatten() {
        files::refuse_overwriting(target, inputs.iter().map(PathBuf::as_path))?;
    }
    for (input, target) in inputs.iter().zip(targets) {
        let bytes = writing.convert(input)?;
        match target {
            Some(path) => {
                atomic_write(&path, &bytes).map_err(|error| Failure::file("cannot write", &path, &error))?;
            }
            None => output::bytes(&bytes)?,
        }
    }
    Ok(Exit::Ok)
}

fn inputs(paths: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut inputs = Vec::new();
    for path in paths {
        if path.is_dir() {
            inputs.extend(files_under(path)?.into_iter().filter(|file| holds_program(file)));
        } else {
            inputs.push(path.clone());
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

    fn convert(&self, input: &Path) -> Outcome<Vec<u8>> {
        match self {
            Self::Text(print) => {
                let modules = modules(input)?;
                let texts = modules.iter().map(|module| print_module(module, print));
                Ok(texts.collect::<String>().into_bytes())
            }
            Self::Bytecode { version, locations } => {
                let modules = modules(input)?;
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

/// The verified modules of a file.
fn modules(input: &Path) -> Outcome<Vec<Module>> {
    if is_artifact(input)? {
        let (loaded, dropped) = rewriting::open(input)?;
        let module = loaded
            .into_module()
            .map_err(|error| Failure::export(input, &error))?;
        rewriting::tell(dropped.as_ref(), input);
        return Ok(vec![module]);
    }
    let source = Source::read(input)?;
    let modules = source.modules()?;
    let findings: Vec<_> = modules.iter().flat_map(verify).collect();
    if findings.is_empty() {
        Ok(modules)
    } else {
        Err(source.refused(&findings))
    }
}

/// A file of `jax.export`, with all that the input says of how its program is called.
fn jax(input: &Path, version: StablehloVersion, allowed: &Waivers) -> Outcome<Vec<u8>> {
    let (exported, dropped) = rewriting::open_any(input)?;
    let file = exported
        .to_jax(version, allowed)
        .map_err(|error| Failure::export(input, &error))?;
    let bytes = artifact_jax::write(&file)
        .map_err(|error| Failure::input(format!("{} is refused", input.display())).because(&error))?;
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
