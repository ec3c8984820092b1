//! `test`: everything. Rust tests, documentation tests, and the cross checks against JAX.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{corpus, cross_check, export_check, portable_check, process, setup};

/// The release of cargo-nextest that is installed where there is none.
const NEXTEST_VERSION: &str = "0.9.143";

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    let corpus = corpus::find(workspace)?;
    // Downloading goes on while the compiler works.
    let (python, newest) = std::thread::scope(|scope| {
        let python = scope.spawn(|| {
            let pinned = setup::install(workspace)?;
            Ok((pinned, setup::install_newest(workspace)?))
        });
        run_rust(workspace, corpus.as_deref())?;
        python
            .join()
            .unwrap_or_else(|_| Err(Failure::new("the installation of the Python packages panicked")))
    })?;
    cross_check::run(workspace, corpus.as_deref(), &python)?;
    portable_check::run(workspace, corpus.as_deref(), &python)?;
    export_check::run(workspace, corpus.as_deref(), &python, newest.as_deref())?;
    match corpus {
        Some(_) => println!("test: all passed"),
        None => println!("test: all that could run passed; WITHOUT THE CORPUS most programs were not tried"),
    }
    Ok(())
}

/// Tests and documentation tests.
fn run_rust(workspace: &Workspace, corpus: Option<&Path>) -> Outcome {
    run_nextest(workspace, corpus)?;
    process::run(cargo(corpus).args(["test", "--doc", "--workspace", "--quiet"]))
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
