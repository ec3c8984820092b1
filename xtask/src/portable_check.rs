//! Portable bytecode against JAX's StableHLO, in both directions: JAX must read what we write in each version as it reads its own,
//! and we must read what JAX writes as the program of the text.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Outcome;
use crate::workspace::Workspace;
use crate::{files, process};

/// A text with every operation, attribute and type of the newest version that the pinned JAX knows and that has one.
const OPSET: &str = "stablehlo/vhlo/stablehlo_legalize_to_vhlo.1_16_0.mlir";

/// Whole programs.
const FOLDERS: &[&str] = &["jax", "jax_sharded", "stablehlo/static"];

/// For whole programs: the oldest version, with attributes in dictionaries; one from which on JAX's exports are read for long; the
/// newest that the pinned JAX knows.
const FOLDER_VERSIONS: &[&str] = &["0.9.0", "1.13.0", "1.17.0"];

/// All versions that the pinned JAX writes; 0.20 is followed by 1.0.
const VERSIONS: &[&str] = &[
    "0.9.0", "0.10.0", "0.11.0", "0.12.0", "0.13.0", "0.14.0", "0.15.0", "0.16.0", "0.17.0", "0.18.0",
    "0.19.0", "0.20.0", "1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0", "1.7.0", "1.8.0",
    "1.9.0", "1.10.0", "1.11.0", "1.12.0", "1.13.0", "1.14.0", "1.15.0", "1.16.0", "1.17.0",
];

/// Programs, and where their bytecode goes.
#[derive(Debug)]
struct Folders {
    programs: PathBuf,
    ours: PathBuf,
    theirs: PathBuf,
}

/// Compares the opset in every version, and the programs of the corpus in some.
pub(crate) fn run(workspace: &Workspace, corpus: Option<&Path>, python: &Path) -> Outcome {
    let Some(corpus) = corpus else {
        println!("portable check: SKIPPED, there is no corpus to write");
        return Ok(());
    };
    let program = build(workspace)?;
    let target = workspace.target.join("portable");
    files::create_empty_folder(&target)?;
    let opset = target.join("opset");
    process::run(
        Command::new(&program)
            .arg("split")
            .arg(corpus.join(OPSET))
            .arg(&opset),
    )?;
    let mut all = vec![write(&program, opset, &target, VERSIONS)?];
    for folder in FOLDERS {
        all.push(write(&program, corpus.join(folder), &target, FOLDER_VERSIONS)?);
    }
    let mut comparison = Command::new(python);
    comparison.arg("tests/jaxlib/portable.py");
    for folders in &all {
        comparison.args([&folders.programs, &folders.ours, &folders.theirs]);
    }
    process::run(&mut comparison)?;
    all.iter().try_for_each(|folders| {
        process::run(
            Command::new(&program)
                .arg("compare")
                .args([&folders.programs, &folders.theirs]),
        )
    })
}

/// The example that writes and compares.
fn build(workspace: &Workspace) -> Outcome<PathBuf> {
    let package = ["build", "--package", "artifact-export", "--example", "portable"];
    process::run(Command::new("cargo").args(package))?;
    Ok(workspace.target.join("debug/examples/portable"))
}

fn write(program: &Path, programs: PathBuf, target: &Path, versions: &[&str]) -> Outcome<Folders> {
    let name = programs.file_name().unwrap_or_default();
    let folders = Folders {
        ours: target.join("ours").join(name),
        theirs: target.join("theirs").join(name),
        programs,
    };
    process::run(
        Command::new(program)
            .arg("write")
            .args([&folders.programs, &folders.ours])
            .args(versions),
    )?;
    Ok(folders)
}
