//! `bench cpu`: how fast the CPU engine is beside XLA, program by program.
//!
//! The comparison is a Python program, which runs XLA itself and starts ours for each program: an example of the engine's crate.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{During, Failure, Outcome};
use crate::workspace::Workspace;
use crate::{corpus, process, setup};

/// What runs one program of ours.
const RUNNER: &str = "bench_runner";

/// The task.
pub(crate) fn run(workspace: &Workspace, options: &[String]) -> Outcome {
    let Some(("cpu", options)) = options.split_first().map(|(name, rest)| (name.as_str(), rest)) else {
        return Err(Failure::new("say what to measure: `cargo xtask bench cpu`"));
    };
    let python = setup::install(workspace)?;
    let runner = build(workspace)?;
    let mut comparison = Command::new(python);
    comparison
        .arg("tests/bench/compare.py")
        .arg("--runner")
        .arg(runner)
        .arg("--folder")
        .arg(workspace.target.join("bench"));
    match corpus::find(workspace)? {
        Some(folder) => {
            comparison.arg("--corpus").arg(folder);
        }
        None => println!("bench: SKIPPED the compile times of the programs in the corpus"),
    }
    process::run(comparison.args(options))
}

/// Builds the runner as users have the engine, and returns its path.
fn build(workspace: &Workspace) -> Outcome<PathBuf> {
    let package = ["--package", "artifact-engine-cpu", "--example", RUNNER];
    process::run(Command::new("cargo").args(["build", "--release"]).args(package))?;
    let runner = workspace.target.join("release/examples").join(RUNNER);
    absolute(&runner)
}

fn absolute(path: &Path) -> Outcome<PathBuf> {
    path.canonicalize()
        .during(|| format!("find {}, which was built", path.display()))
}
