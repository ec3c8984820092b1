//! The verifier refuses nothing that is right: every program of the corpus is read and verified without a finding.
//!
//! The corpus is at `ARTIFACT_CORPUS_DIR`.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test says what it skips, and fails where its files are not as they should be"
)]

use std::path::{Path, PathBuf};

use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;

#[expect(
    clippy::disallowed_methods,
    reason = "tests find the corpus through the environment"
)]
fn corpus() -> Option<PathBuf> {
    let directory = std::env::var_os("ARTIFACT_CORPUS_DIR").map(PathBuf::from);
    if directory.is_none() {
        eprintln!("SKIPPED: ARTIFACT_CORPUS_DIR is not set, so no program of the corpus was verified");
    }
    directory
}

fn texts(directory: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut texts: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
        .collect();
    texts.sort();
    texts
}

/// Verifies every program of a folder and demands that the verifier refuses exactly `refused`.
fn check(folder: &str, refused: &[&str]) {
    let Some(corpus) = corpus() else { return };
    let paths = texts(&corpus.join(folder));
    assert!(!paths.is_empty(), "no program in {folder}");
    let mut failures = Vec::new();
    for path in &paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let parsed = parse_module(&text);
        let mut findings = parsed.diagnostics;
        findings.extend(parsed.modules.iter().flat_map(verify));
        if findings.is_empty() == refused.contains(&name.as_str()) {
            failures.push(SourceText::new(name, &text).render_all(&findings));
        }
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} of {} in {folder}:\n{}",
        paths.len(),
        failures.join("\n")
    );
}

#[test]
fn jax() {
    check("jax", &[]);
}

#[test]
fn jax_sharded() {
    check("jax_sharded", &[]);
}

#[test]
fn stablehlo_static() {
    check("stablehlo/static", &[]);
}

/// The convolution that is refused has more strides than dimensions; no other tool runs it either.
#[test]
fn stablehlo_dynamic() {
    check(
        "stablehlo/dynamic",
        &["conv_general_dilated_1d_stride_2_even_dynamic.mlir"],
    );
}

#[test]
fn stablehlo_interpret() {
    check("stablehlo/interpret", &[]);
}

#[test]
fn stablehlo_math() {
    check("stablehlo/math", &[]);
}

#[test]
fn stablehlo_quantized() {
    check("stablehlo/quantized", &[]);
}

/// The program that is refused calls itself, which refinement has to refuse.
#[test]
fn stablehlo_refine() {
    check("stablehlo/refine", &["refine_shapes.s55.mlir"]);
}
