//! Our printed programs against JAX's StableHLO parser: it must read each, and see the same program as in the original.

use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::quickstart::{self, Build};
use crate::workspace::Workspace;
use crate::{files, process};

/// Folders of the corpus whose programs are printed and compared.
const FOLDERS: &[&str] = &["jax", "jax_sharded", "stablehlo/static"];

/// Prints every program of the corpus folders with `artifact convert`, and compares with the originals.
pub(crate) fn run(workspace: &Workspace, corpus: Option<&Path>, python: &Path) -> Outcome {
    let Some(corpus) = corpus else {
        println!("cross check: SKIPPED, there is no corpus to print");
        return Ok(());
    };
    let program = quickstart::build(workspace, Build::Dev)?;
    for folder in FOLDERS {
        check_folder(workspace, &program, python, &corpus.join(folder), folder)?;
    }
    Ok(())
}

fn check_folder(
    workspace: &Workspace,
    program: &Path,
    python: &Path,
    originals: &Path,
    name: &str,
) -> Outcome {
    let printed = workspace.target.join("printed").join(name);
    files::create_empty_folder(&printed)?;
    process::run(
        Command::new(program)
            .arg("convert")
            .arg(originals)
            .args(["--to", "mlir", "--output-dir"])
            .arg(&printed),
    )?;
    let (wanted, found) = (
        files::count_with_extension(originals, "mlir")?,
        files::count_with_extension(&printed, "mlir")?,
    );
    if wanted != found || wanted == 0 {
        return Err(Failure::new(format!(
            "{} holds {wanted} programs, but `artifact convert` printed {found} into {}",
            originals.display(),
            printed.display()
        )));
    }
    process::run(
        Command::new(python)
            .arg("tests/jaxlib/parse_printed.py")
            .arg(&printed)
            .arg("--originals")
            .arg(originals),
    )
}
