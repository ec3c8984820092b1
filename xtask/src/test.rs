//! `test`: everything. Rust tests, documentation tests, and the cross checks against JAX.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Outcome;
use crate::workspace::Workspace;
use crate::{corpus, cross_check, process, setup};

/// The release of cargo-nextest that is installed where there is none.
const NEXTEST_VERSION: &str = "0.9.143";

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    let python = setup::install(workspace)?;
    let corpus = corpus::find(workspace)?;
    run_nextest(workspace, corpus.as_deref())?;
    process::run(cargo(corpus.as_deref()).args(["test", "--doc", "--workspace", "--quiet"]))?;
    cross_check::run(workspace, corpus.as_deref(), &python)?;
    match corpus {
        Some(_) => println!("test: all passed"),
        None => println!("test: all that could run passed; WITHOUT THE CORPUS most programs were not tried"),
    }
    Ok(())
}

/// A cargo command whose tests know the corpus.
fn cargo(corpus: Option<&Path>) -> Command {
    let mut command = Command::new("cargo");
    if let Some(folder) = corpus {
        command.env(corpus::VARIABLE, folder);
    }
    command
}

fn run_nextest(workspace: &Workspace, corpus: Option<&Path>) -> Outcome {
    let options = ["nextest", "run", "--workspace", "--no-fail-fast"];
    if process::succeeds(Command::new("cargo").args(["nextest", "--version"])) {
        return process::run(cargo(corpus).args(options));
    }
    let program = install_nextest(workspace)?;
    let mut command = Command::new(program);
    if let Some(folder) = corpus {
        command.env(corpus::VARIABLE, folder);
    }
    process::run(command.args(options))
}

/// Builds cargo-nextest into the target folder, unless an earlier run did.
fn install_nextest(workspace: &Workspace) -> Outcome<PathBuf> {
    let tools = workspace.target.join("tools");
    let program = tools.join("bin/cargo-nextest");
    if process::succeeds(Command::new(&program).args(["nextest", "--version"])) {
        return Ok(program);
    }
    println!(
        "test: cargo-nextest is not installed; building it into {} (once)",
        tools.display()
    );
    // Unoptimised: it builds in a third of the time, and it only starts processes.
    let options = [
        "install",
        "cargo-nextest",
        "--locked",
        "--debug",
        "--version",
        NEXTEST_VERSION,
    ];
    process::run(Command::new("cargo").args(options).arg("--root").arg(&tools))?;
    Ok(program)
}
