//! Our printed programs against JAX's StableHLO parser: it must read each, and see the same program as in the original. Legalized
//! ones must have a portable artifact of the version that their form is for.

use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::quickstart::{self, Build};
use crate::workspace::Workspace;
use crate::{files, process};

/// Folders of the corpus whose programs are printed and compared.
const FOLDERS: &[&str] = &["jax", "jax_sharded", "stablehlo/static"];

/// Folders whose programs with CHLO operations are legalized: one of the corpus, and one of ours with what else there is.
const LEGALIZED: &[&str] = &["stablehlo/static", "crates/chlo/testdata/programs"];

/// The forms of the example `legalize`, each with the oldest version of VHLO that has it, or the newest that JAX knows.
const FORMS: &[(&str, &str)] = &[
    ("composites-with-regions", "1.17.0"),
    ("composites", "0.19.0"),
    ("calls", "0.9.0"),
];

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
    check_legalized(workspace, corpus, python)
}

fn check_legalized(workspace: &Workspace, corpus: &Path, python: &Path) -> Outcome {
    process::run(Command::new("cargo").args([
        "build",
        "--package",
        "artifact-chlo",
        "--example",
        "legalize",
    ]))?;
    let program = workspace.target.join("debug/examples/legalize");
    for folder in LEGALIZED {
        let inside = workspace.root.join(folder);
        let originals = if inside.is_dir() {
            inside
        } else {
            corpus.join(folder)
        };
        for (form, version) in FORMS {
            let legalized = workspace.target.join("legalized").join(folder).join(form);
            files::create_empty_folder(&legalized)?;
            process::run(Command::new(&program).arg(form).arg(&originals).arg(&legalized))?;
            process::run(
                Command::new(python)
                    .arg("tests/jaxlib/parse_printed.py")
                    .arg(&legalized)
                    .args(["--portable", version]),
            )?;
        }
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
    // Beside texts there are other forms of the same programs, which would go to the same files.
    let texts: Vec<_> = files::list(originals)?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
        .collect();
    println!(
        "$ artifact convert {}/*.mlir --to mlir --output-dir {}",
        originals.display(),
        printed.display()
    );
    process::capture(
        Command::new(program)
            .args(["convert", "--to", "mlir", "--output-dir"])
            .arg(&printed)
            .args(&texts),
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
