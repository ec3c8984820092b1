//! `quickstart`: the main job on a real small model, from a fresh clone, one printed command after the other.

use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{files, process};

/// The program of the tour; its inputs and expected results lie beside it.
const FIXTURE: &str = "fixtures/transformer_block";

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    let program = build(workspace, Build::Release)?;
    let folder = workspace.target.join("quickstart");
    files::create_empty_folder(&folder)?;
    let artifact = folder.join("transformer_block.artifact");
    let fixture = |suffix: &str| format!("{FIXTURE}{suffix}");

    step("1. Pack the program: check it, and move its large constants out of the text");
    process::run(
        Command::new(&program)
            .args(["export", &fixture(".mlir"), "-o"])
            .arg(&artifact),
    )?;

    step("2. Look into the file: signature, versions, sections");
    process::run(Command::new(&program).arg("inspect").arg(&artifact))?;

    step("3. Run it, and compare with the results that JAX computed");
    let (inputs, expected) = (fixture(".inputs.npz"), fixture(".expected.npz"));
    process::run(Command::new(&program).arg("run").arg(&artifact).args([
        "--inputs", &inputs, "--expect", &expected, "--rtol", "1e-5", "--atol", "1e-5",
    ]))?;

    println!("\nquickstart: done; the artifact is {}", artifact.display());
    Ok(())
}

/// How a program is built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Build {
    /// As the tests are, which have built most of it.
    Dev,
    /// As users have it.
    Release,
}

/// Builds the `artifact` binary and returns its path.
pub(crate) fn build(workspace: &Workspace, build: Build) -> Outcome<PathBuf> {
    let mut command = Command::new("cargo");
    command.args(["build", "--workspace", "--bin", "artifact"]);
    let folder = match build {
        Build::Dev => {
            // With a test, dependencies get the features that the build of all tests gives them, and are compiled once.
            command.args(["--test", "command"]);
            "debug"
        }
        Build::Release => {
            command.arg("--release");
            "release"
        }
    };
    process::run(&mut command)?;
    let program = workspace.target.join(folder).join("artifact");
    if !program.is_file() {
        return Err(Failure::new(format!(
            "`artifact` was built, but {} is absent",
            program.display()
        )));
    }
    Ok(program)
}

fn step(title: &str) {
    println!("\n{title}");
}
