//! `gpu`: compiles programs for GPUs that are not there, with XLA's CUDA plugin. Its package takes half a gigabyte, so that `test` leaves
//! it out.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{During, Failure, Outcome};
use crate::workspace::Workspace;
use crate::{corpus, process, setup};

/// What is compiled for.
const TARGETS: &[&str] = &["h100", "a100"];

/// The programs of JAX that call LAPACK, which is the CPU's.
const OF_CPU: &[&str] = &["linalg_chol_solve"];

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    let python = setup::install_cuda(workspace)?;
    process::run(Command::new("cargo").args(["build", "--package", "artifact-cli"]))?;
    let artifact = workspace.target.join("debug/artifact");
    let mut programs = vec![PathBuf::from("fixtures/transformer_block.mlir")];
    match corpus::find(workspace)? {
        Some(folder) => programs.extend(static_programs(&folder.join("jax"))?),
        None => println!("gpu: SKIPPED the programs of the corpus"),
    }
    let environment = python.ancestors().nth(2).unwrap_or(Path::new("/"));
    let environment = environment.canonicalize();
    let environment = environment.during(|| format!("find the environment of {}", python.display()))?;
    for target in TARGETS {
        for program in &programs {
            let mut compile = Command::new(&artifact);
            compile
                .env("VIRTUAL_ENV", &environment)
                .arg("compile")
                .arg(program);
            process::run(compile.args(["--engine", "pjrt:cuda", "--target", target]))?;
        }
    }
    println!(
        "gpu: {} programs compile for each of {}",
        programs.len(),
        TARGETS.join(", ")
    );
    Ok(())
}

fn static_programs(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).during(|| format!("read {}", folder.display()))?;
    let mut programs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    programs.retain(|path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let of_cpu = OF_CPU.iter().any(|program| name.starts_with(program));
        name.ends_with(".static.mlir") && !of_cpu
    });
    programs.sort();
    match programs.is_empty() {
        true => Err(Failure::new(format!("{} has no program", folder.display()))),
        false => Ok(programs),
    }
}
