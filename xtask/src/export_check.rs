//! Exports that we wrote against those of JAX: read and written again, by way of an artifact, and made of a program's text
//! alone. Each must load as what its original is, in the JAX of the fixtures and in the newest one, and those of the corpus
//! must run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{files, process};

/// The script that compares.
const SCRIPT: &str = "tests/jaxlib/rewritten_exports.py";

/// The schema that our code is generated from; JAX's is generated from its own.
const SCHEMA: &str = "schemas/jax/exported.fbs";

/// Folders of fixtures with exports.
const FIXTURES: &[&str] = &["fixtures/jax_exports/schema11", "fixtures/jax_exports/schema12"];

/// Folders of the corpus with exports and what they compute.
const FOLDERS: &[&str] = &["jax", "jax_sharded"];

/// Originals, and the folder of what was written for them.
#[derive(Debug)]
struct Pair {
    originals: PathBuf,
    written: PathBuf,
}

/// The programs that write.
#[derive(Debug)]
struct Programs {
    rewrite: PathBuf,
    artifact: PathBuf,
}

/// Writes every export that there is anew, and compares in each JAX.
pub(crate) fn run(
    workspace: &Workspace,
    corpus: Option<&Path>,
    python: &Path,
    newest: Option<&Path>,
) -> Outcome {
    let programs = build(workspace)?;
    let mut originals: Vec<PathBuf> = FIXTURES.iter().map(PathBuf::from).collect();
    match corpus {
        Some(corpus) => originals.extend(FOLDERS.iter().map(|folder| corpus.join(folder))),
        None => println!("export check: SKIPPED the corpus, there is none; only the fixtures are compared"),
    }
    match newest {
        Some(newest) => originals.push(golden(workspace, newest)?),
        None => println!(
            "export check: SKIPPED the newest JAX, for want of Python 3.12; exports are loaded with the pinned one only"
        ),
    }
    let pairs: Outcome<Vec<Pair>> = originals
        .into_iter()
        .map(|originals| write(workspace, &programs, originals))
        .collect();
    let pairs = pairs?;
    // The two take as long as one, on two processors.
    std::thread::scope(|scope| {
        let other = newest.map(|newest| scope.spawn(|| compare(newest, "1", &pairs)));
        compare(python, "0", &pairs)?;
        other.map_or(Ok(()), |other| {
            other
                .join()
                .unwrap_or_else(|_| Err(Failure::new("the comparison in the newest JAX panicked")))
        })
    })
}

/// The example that reads exports and writes them again, and the command.
fn build(workspace: &Workspace) -> Outcome<Programs> {
    let example = ["build", "--package", "artifact-jax", "--example", "rewrite"];
    process::run(Command::new("cargo").args(example))?;
    process::run(Command::new("cargo").args(["build", "--package", "artifact-cli"]))?;
    Ok(Programs {
        rewrite: workspace.target.join("debug/examples/rewrite"),
        artifact: workspace.target.join("debug/artifact"),
    })
}

/// The exports of earlier releases that the newest JAX keeps, written into a folder.
fn golden(workspace: &Workspace, newest: &Path) -> Outcome<PathBuf> {
    let folder = workspace.target.join("golden_exports");
    files::create_empty_folder(&folder)?;
    process::run(Command::new(newest).args([SCRIPT, "golden"]).arg(&folder))?;
    Ok(folder)
}

/// Writes the exports of a folder in each way.
fn write(workspace: &Workspace, programs: &Programs, originals: PathBuf) -> Outcome<Pair> {
    let name = originals.file_name().unwrap_or_default();
    let written = workspace.target.join("written_exports").join(name);
    let folder = |name: &str| -> Outcome<PathBuf> {
        let folder = written.join(name);
        files::create_empty_folder(&folder)?;
        Ok(folder)
    };
    process::run(
        Command::new(&programs.rewrite)
            .arg(&originals)
            .arg(folder("rewritten")?),
    )?;
    let artifacts = folder("artifacts")?;
    for export in with_extension(&originals, "bin")? {
        let artifact = artifacts
            .join(export.file_stem().unwrap_or_default())
            .with_added_extension("artifact");
        let mut command = Command::new(&programs.artifact);
        process::capture(command.arg("export").arg(&export).arg("-o").arg(&artifact))?;
    }
    convert(&programs.artifact, &[artifacts], &folder("interchanged")?)?;
    let texts = with_extension(&originals, "mlir")?;
    if !texts.is_empty() {
        convert(&programs.artifact, &texts, &folder("from_text")?)?;
    }
    Ok(Pair { originals, written })
}

/// Files of a folder, in order.
fn with_extension(folder: &Path, extension: &str) -> Outcome<Vec<PathBuf>> {
    let mut found = files::list(folder)?;
    found.retain(|file| file.extension().is_some_and(|found| found == extension));
    Ok(found)
}

/// Makes exports of programs.
fn convert(artifact: &Path, programs: &[PathBuf], folder: &Path) -> Outcome {
    let mut command = Command::new(artifact);
    command
        .arg("convert")
        .args(programs)
        .args(["--to", "jax", "--output-dir"]);
    process::run(command.arg(folder))
}

/// One process for all, because starting JAX takes longer than most comparisons. Each program of the corpus runs as one of its
/// variants, which `part` says.
fn compare(python: &Path, part: &str, pairs: &[Pair]) -> Outcome {
    let folders = pairs.iter().flat_map(|pair| [&pair.originals, &pair.written]);
    let mut command = Command::new(python);
    process::run(command.args([SCRIPT, "compare", SCHEMA, part]).args(folders))
}
