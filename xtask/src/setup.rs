//! `setup`: a Python environment in the target folder with the exact packages of `tests/requirements.txt`.
//!
//! The environment is complete when its stamp equals the interpreter's version and the requirements; then nothing is
//! done. The stamp is written last, so an interrupted installation is repeated.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{files, process};

/// The interpreters to try, in this order.
const INTERPRETERS: &[&str] = &["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// The oldest Python that the pinned packages support, as (major, minor).
const OLDEST_PYTHON: (u32, u32) = (3, 11);

/// The exact packages to install.
const REQUIREMENTS: &str = "tests/requirements.txt";

/// The name of the stamp inside the environment.
const STAMP: &str = "installed-requirements.txt";

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    install(workspace).map(|_python| ())
}

/// Installs the environment unless it is there, and returns its interpreter.
pub(crate) fn install(workspace: &Workspace) -> Outcome<PathBuf> {
    let venv = workspace.target.join("venv");
    let requirements = files::read(Path::new(REQUIREMENTS))?;
    let interpreter = find_interpreter()?;
    let stamp = format!(
        "# Python {}.{}\n{requirements}",
        interpreter.version.0, interpreter.version.1
    );
    let python = venv.join("bin/python");
    if is_installed(&venv, &python, &stamp) {
        println!("setup: {} already has {REQUIREMENTS}", venv.display());
        return Ok(python);
    }
    println!(
        "setup: installing {REQUIREMENTS} into {} (about 500 MB, once)",
        venv.display()
    );
    process::run(
        Command::new(interpreter.program)
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
    process::run(Command::new(&python).args(pip).arg(REQUIREMENTS))?;
    files::write(&venv.join(STAMP), &stamp)?;
    Ok(python)
}

/// Whether the environment holds these packages and its interpreter still starts.
fn is_installed(venv: &Path, python: &Path, stamp: &str) -> bool {
    files::read(&venv.join(STAMP)).is_ok_and(|found| found == stamp)
        && process::succeeds(Command::new(python).arg("--version"))
}

/// A Python that is new enough.
#[derive(Debug)]
struct Interpreter {
    program: &'static str,
    version: (u32, u32),
}

fn find_interpreter() -> Outcome<Interpreter> {
    let mut found = Vec::new();
    for &program in INTERPRETERS {
        let script = "import sys; print(sys.version_info[0], sys.version_info[1])";
        let Ok(output) = process::capture(Command::new(program).args(["-c", script])) else {
            continue;
        };
        match parse_version(&output) {
            Some(version) if version >= OLDEST_PYTHON => return Ok(Interpreter { program, version }),
            Some((major, minor)) => found.push(format!("{program} is {major}.{minor}")),
            None => found.push(format!("{program} does not tell its version")),
        }
    }
    let seen = if found.is_empty() {
        "none was found".to_owned()
    } else {
        found.join(", ")
    };
    Err(Failure::new(format!(
        "the tests need Python {}.{} or newer with its venv module, on PATH as one of [{}]; {seen}",
        OLDEST_PYTHON.0,
        OLDEST_PYTHON.1,
        INTERPRETERS.join(", ")
    )))
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
        assert!(parse_version("3 9\n") < Some(OLDEST_PYTHON));
        assert!(parse_version("4 0\n") > Some(OLDEST_PYTHON));
    }
}
