//! `test`: everything. Rust tests, documentation tests, and the cross checks against JAX.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{corpus, cross_check, export_check, portable_check, process, setup};

/// The release of cargo-nextest that is installed where there is none.
const NEXTEST_VERSION: &str = "0.9.143";

/// The variable by which tests know the PJRT plugin.
const PLUGIN_VARIABLE: &str = "ARTIFACT_PJRT_PLUGIN";

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    let corpus = corpus::find(workspace)?;
    // Downloading goes on while the compiler works.
    let (python, newest) = std::thread::scope(|scope| {
        let python = scope.spawn(|| {
            let pinned = setup::install(workspace)?;
            Ok((pinned, setup::install_newest(workspace)?))
        });
        process::run(Command::new("cargo").args(["test", "--no-run", "--workspace", "--quiet"]))?;
        python
            .join()
            .unwrap_or_else(|_| Err(Failure::new("the installation of the Python packages panicked")))
    })?;
    let needs = Needs {
        corpus: corpus.clone(),
        plugin: setup::cpu_plugin(&python)?,
    };
    run_rust(workspace, &needs)?;
    cross_check::run(workspace, corpus.as_deref(), &python)?;
    portable_check::run(workspace, corpus.as_deref(), &python)?;
    export_check::run(workspace, corpus.as_deref(), &python, newest.as_deref())?;
    match corpus {
        Some(_) => println!("test: all passed"),
        None => println!("test: all that could run passed; WITHOUT THE CORPUS most programs were not tried"),
    }
    Ok(())
}

/// What tests need that is not in the repository.
#[derive(Debug)]
struct Needs {
    corpus: Option<PathBuf>,
    /// The PJRT plugin.
    plugin: PathBuf,
}

impl Needs {
    /// A command whose tests know where it is.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env(PLUGIN_VARIABLE, &self.plugin);
        // What the plugin says of itself would hide what a test says; what ends the process is told still.
        command.env("TF_CPP_MIN_LOG_LEVEL", "3");
        if let Some(folder) = &self.corpus {
            command.env(corpus::VARIABLE, folder);
        }
        command
    }
}

/// Tests and documentation tests.
fn run_rust(workspace: &Workspace, needs: &Needs) -> Outcome {
    run_nextest(workspace, needs)?;
    let documentation = ["test", "--doc", "--workspace", "--quiet"];
    process::run(needs.command("cargo").args(documentation))
}

fn run_nextest(workspace: &Workspace, needs: &Needs) -> Outcome {
    let options = ["nextest", "run", "--workspace", "--no-fail-fast"];
    if process::succeeds(Command::new("cargo").args(["nextest", "--version"])) {
        return process::run(needs.command("cargo").args(options));
    }
    let program = install_nextest(workspace)?;
    process::run(needs.command(program).args(options))
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
