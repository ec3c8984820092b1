//! `setup`: a Python environment in the target folder with the exact packages of `tests/requirements.txt`. A second one,
//! with the newest JAX, is for the check of exports; it needs a newer Python, which not every machine has.
//!
//! An environment is complete when its stamp equals the interpreter's version and the requirements; then nothing is
//! done. The stamp is written last, so an interrupted installation is repeated.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{files, process};

/// The interpreters to try, in this order.
const INTERPRETERS: &[&str] = &["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// What an environment consists of.
#[derive(Debug)]
struct Environment {
    /// Its folder in the target folder.
    folder: &'static str,
    /// The exact packages to install.
    requirements: &'static str,
    /// The oldest Python that the packages support, as (major, minor).
    oldest_python: (u32, u32),
}

/// What the checks and the fixture scripts run with.
const PINNED: Environment = Environment {
    folder: "venv",
    requirements: "tests/requirements.txt",
    oldest_python: (3, 11),
};

/// The newest JAX.
const NEWEST: Environment = Environment {
    folder: "venv-newest",
    requirements: "tests/requirements-newest.txt",
    oldest_python: (3, 12),
};

/// XLA's CUDA plugin.
const CUDA: Environment = Environment {
    folder: "venv-cuda",
    requirements: "tests/requirements-cuda.txt",
    oldest_python: (3, 11),
};

/// The name of the stamp inside the environment.
const STAMP: &str = "installed-requirements.txt";

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    install(workspace).map(|_python| ())
}

/// Installs the environment unless it is there, and returns its interpreter.
pub(crate) fn install(workspace: &Workspace) -> Outcome<PathBuf> {
    let interpreter = find_interpreter(PINNED.oldest_python)?;
    PINNED.install(workspace, &interpreter)
}

/// Installs the environment of XLA's CUDA plugin unless it is there, and returns its interpreter.
pub(crate) fn install_cuda(workspace: &Workspace) -> Outcome<PathBuf> {
    CUDA.install(workspace, &find_interpreter(CUDA.oldest_python)?)
}

/// XLA's PJRT plugin for CPU in the environment of an interpreter that [`install`] returned.
pub(crate) fn cpu_plugin(python: &Path) -> Outcome<PathBuf> {
    const PACKAGE: &str = "fastatomstruct_xla_cpu";
    let program = format!("import importlib.util; print(importlib.util.find_spec('{PACKAGE}').origin)");
    let origin = process::capture(Command::new(python).args(["-c", &program]))?;
    let plugin = Path::new(origin.trim()).with_file_name("libpjrt_cpu.so");
    match plugin.is_file() {
        true => Ok(plugin),
        false => Err(Failure::new(format!(
            "the package {PACKAGE} has no {}",
            plugin.display()
        ))),
    }
}

/// Installs the environment of the newest JAX unless it is there, and returns its interpreter; none, and a line that says
/// so, where no Python is new enough.
pub(crate) fn install_newest(workspace: &Workspace) -> Outcome<Option<PathBuf>> {
    match find_interpreter(NEWEST.oldest_python) {
        Ok(interpreter) => NEWEST.install(workspace, &interpreter).map(Some),
        Err(missing) => {
            println!("setup: SKIPPED {}: {missing}", NEWEST.requirements);
            Ok(None)
        }
    }
}

impl Environment {
    fn install(&self, workspace: &Workspace, interpreter: &Interpreter) -> Outcome<PathBuf> {
        let Self {
            folder, requirements, ..
        } = self;
        let venv = workspace.target.join(folder);
        let packages = files::read(Path::new(requirements))?;
        let (major, minor) = interpreter.version;
        let stamp = format!("# Python {major}.{minor}\n{packages}");
        let python = venv.join("bin/python");
        if is_installed(&venv, &python, &stamp) {
            println!("setup: {} already has {requirements}", venv.display());
            return Ok(python);
        }
        println!(
            "setup: installing {requirements} into {} (up to 1 GB, once)",
            venv.display()
        );
        process::run(
            Command::new(&interpreter.program)
                .args(["-m", "venv", "--clear"])
                .arg(&venv),
        )?;
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ];
        process::run(Command::new(&python).args(pip).arg(requirements))?;
        files::write(&venv.join(STAMP), &stamp)?;
        Ok(python)
    }
}

/// Whether the environment holds these packages and its interpreter still starts.
fn is_installed(venv: &Path, python: &Path, stamp: &str) -> bool {
    files::read(&venv.join(STAMP)).is_ok_and(|found| found == stamp)
        && process::succeeds(Command::new(python).arg("--version"))
}

/// A Python that is new enough.
#[derive(Debug)]
struct Interpreter {
    program: PathBuf,
    version: (u32, u32),
}

fn find_interpreter(oldest: (u32, u32)) -> Outcome<Interpreter> {
    let mut found = Vec::new();
    let on_path = INTERPRETERS.iter().map(PathBuf::from);
    for program in on_path.chain(of_pyenv(oldest)) {
        let script = "import sys; print(sys.version_info[0], sys.version_info[1])";
        let Ok(output) = process::capture(Command::new(&program).args(["-c", script])) else {
            continue;
        };
        let name = program.display();
        match parse_version(&output) {
            Some(version) if version >= oldest => return Ok(Interpreter { program, version }),
            Some((major, minor)) => found.push(format!("{name} is {major}.{minor}")),
            None => found.push(format!("{name} does not tell its version")),
        }
    }
    let seen = if found.is_empty() {
        "none was found".to_owned()
    } else {
        found.join(", ")
    };
    Err(Failure::new(format!(
        "the tests need Python {}.{} or newer with its venv module, on PATH as one of [{}] or in pyenv; {seen}",
        oldest.0,
        oldest.1,
        INTERPRETERS.join(", ")
    )))
}

/// The interpreter that pyenv has of this version; on PATH it shows the one that is chosen for the folder only.
fn of_pyenv((major, minor): (u32, u32)) -> Option<PathBuf> {
    let version = format!("{major}.{minor}");
    let folder = process::capture(Command::new("pyenv").args(["prefix", &version])).ok()?;
    Some(Path::new(folder.trim()).join("bin/python"))
}

fn parse_version(output: &str) -> Option<(u32, u32)> {
    let (major, minor) = output.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(parse_version("3 11\n"), Some((3, 11)));
        assert_eq!(parse_version("3.11"), None);
        assert!(parse_version("3 9\n") < Some(PINNED.oldest_python));
        assert!(parse_version("4 0\n") > Some(NEWEST.oldest_python));
    }
}
