//! Exports that we read and wrote again against JAX: each must load as what its original is, in the JAX of the fixtures and
//! in the newest one, and those of the corpus must run.

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

/// Originals, and what was written for them.
#[derive(Debug)]
struct Pair {
    originals: PathBuf,
    rewritten: PathBuf,
}

/// Rewrites every export that there is, and compares in each JAX.
pub(crate) fn run(
    workspace: &Workspace,
    corpus: Option<&Path>,
    python: &Path,
    newest: Option<&Path>,
) -> Outcome {
    let program = build(workspace)?;
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
        .map(|originals| rewrite(workspace, &program, originals))
        .collect();
    let pairs = pairs?;
    // The two take as long as one, on two processors.
    std::thread::scope(|scope| {
        let other = newest.map(|newest| scope.spawn(|| compare(newest, &pairs)));
        compare(python, &pairs)?;
        other.map_or(Ok(()), |other| {
            other
                .join()
                .unwrap_or_else(|_| Err(Failure::new("the comparison in the newest JAX panicked")))
        })
    })
}

/// The example that reads exports and writes them again.
fn build(workspace: &Workspace) -> Outcome<PathBuf> {
    let package = ["build", "--package", "artifact-jax", "--example", "rewrite"];
    process::run(Command::new("cargo").args(package))?;
    Ok(workspace.target.join("debug/examples/rewrite"))
}

/// The exports of earlier releases that the newest JAX keeps, written into a folder.
fn golden(workspace: &Workspace, newest: &Path) -> Outcome<PathBuf> {
    let folder = workspace.target.join("golden_exports");
    files::create_empty_folder(&folder)?;
    process::run(Command::new(newest).args([SCRIPT, "golden"]).arg(&folder))?;
    Ok(folder)
}

fn rewrite(workspace: &Workspace, program: &Path, originals: PathBuf) -> Outcome<Pair> {
    let name = originals.file_name().unwrap_or_default();
    let rewritten = workspace.target.join("rewritten_exports").join(name);
    files::create_empty_folder(&rewritten)?;
    process::run(Command::new(program).arg(&originals).arg(&rewritten))?;
    Ok(Pair { originals, rewritten })
}

/// One process for all, because starting JAX takes longer than most comparisons.
fn compare(python: &Path, pairs: &[Pair]) -> Outcome {
    let folders = pairs.iter().flat_map(|pair| [&pair.originals, &pair.rewritten]);
    let mut command = Command::new(python);
    process::run(command.args([SCRIPT, "compare", SCHEMA]).args(folders))
}
