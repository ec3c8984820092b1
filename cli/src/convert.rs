//! `artifact convert`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artifact_container::atomic::atomic_write;
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{OperationForm, PrintOptions, print_module};

use crate::arguments::{ConvertArguments, Format};
use crate::failure::{Exit, Failure, Outcome};
use crate::files::{self, files_under, has_extension};
use crate::output;
use crate::program::{is_artifact, read_text, refused};
use crate::rewriting;

pub(crate) fn execute(options: &ConvertArguments) -> Outcome<Exit> {
    let Format::Mlir = options.to;
    let inputs = inputs(&options.inputs)?;
    if inputs.is_empty() {
        return Err(Failure::input("there is no program in what was given")
            .hint("name .mlir files, artifacts, or folders that hold them"));
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
        let text = convert(input, options)?;
        match target {
            Some(path) => {
                atomic_write(&path, text.as_bytes())
                    .map_err(|error| Failure::file("cannot write", &path, &error))?;
            }
            None => output::text(&text)?,
        }
    }
    Ok(Exit::Ok)
}

fn inputs(paths: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut inputs = Vec::new();
    for path in paths {
        if path.is_dir() {
            let found = files_under(path)?;
            inputs.extend(
                found
                    .into_iter()
                    .filter(|file| has_extension(file, "mlir") || has_extension(file, "artifact")),
            );
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
        Ok(folder.join(name).with_added_extension("mlir"))
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

fn convert(input: &Path, options: &ConvertArguments) -> Outcome<String> {
    let form = if options.generic {
        OperationForm::Generic
    } else {
        OperationForm::Pretty
    };
    let print = PrintOptions {
        locations: options.locations,
        form,
    };
    if is_artifact(input)? {
        let (loaded, dropped) = rewriting::open(input)?;
        let module = loaded
            .into_module()
            .map_err(|error| Failure::export(input, &error))?;
        rewriting::tell(dropped.as_ref(), input);
        return Ok(print_module(&module, &print));
    }
    let text = read_text(input)?;
    let modules = modules(input, &text)?;
    Ok(modules
        .iter()
        .map(|module| print_module(module, &print))
        .collect())
}

fn modules(path: &Path, text: &str) -> Outcome<Vec<Module>> {
    let modules = parse_module(text)
        .into_modules()
        .map_err(|diagnostics| refused(path, text, &diagnostics))?;
    if modules.is_empty() {
        return Err(Failure::input(format!("{} holds no module", path.display())));
    }
    let findings: Vec<_> = modules.iter().flat_map(verify).collect();
    if findings.is_empty() {
        Ok(modules)
    } else {
        Err(refused(path, text, &findings))
    }
}
