//! `bench`: how fast our engines are beside others, program by program.
//!
//! A comparison is a Python program, which runs the other side itself and starts ours for each program: an example of the command's crate.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{During, Failure, Outcome};
use crate::workspace::Workspace;
use crate::{corpus, process, setup};

/// What runs one program of ours.
const RUNNER: &str = "bench_runner";

/// The task.
pub(crate) fn run(workspace: &Workspace, options: &[String]) -> Outcome {
    match options.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        Some(("cpu", options)) => cpu(workspace, options),
        Some(("pjrt", options)) => pjrt(workspace, options),
        _ => Err(Failure::new(
            "say what to measure: `cargo xtask bench cpu` or `cargo xtask bench pjrt`",
        )),
    }
}

/// The CPU engine beside XLA.
fn cpu(workspace: &Workspace, options: &[String]) -> Outcome {
    let python = setup::install(workspace)?;
    let mut comparison = Command::new(python);
    comparison
        .arg("tests/bench/compare.py")
        .arg("--runner")
        .arg(build(workspace)?)
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

/// Calls of XLA's CPU plugin beside a bare loop over its functions, and beside jax.
fn pjrt(workspace: &Workspace, options: &[String]) -> Outcome {
    let python = setup::install(workspace)?;
    let plugin = setup::cpu_plugin(&python)?;
    let Some(corpus) = corpus::find(workspace)? else {
        println!("bench: SKIPPED, without the programs of the corpus");
        return Ok(());
    };
    let folder = workspace.target.join("bench-pjrt");
    std::fs::create_dir_all(&folder).during(|| format!("make {}", folder.display()))?;
    let bare = folder.join("bare_loop");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "tests/bench/bare_loop.c", "-ldl", "-o"]);
    process::run(compiler.arg(&bare))?;
    let mut comparison = Command::new(python);
    comparison.arg("tests/bench/pjrt.py");
    for (option, path) in [
        ("--runner", build(workspace)?),
        ("--bare", absolute(&bare)?),
        ("--plugin", plugin),
        ("--folder", folder),
        ("--corpus", corpus),
    ] {
        comparison.arg(option).arg(path);
    }
    process::run(comparison.args(options))
}

/// Builds the runner as users have the engines, and returns its path.
fn build(workspace: &Workspace) -> Outcome<PathBuf> {
    let package = ["--package", "artifact-cli", "--example", RUNNER];
    process::run(Command::new("cargo").args(["build", "--release"]).args(package))?;
    absolute(&workspace.target.join("release/examples").join(RUNNER))
}

fn absolute(path: &Path) -> Outcome<PathBuf> {
    path.canonicalize()
        .during(|| format!("find {}, which was built", path.display()))
}
