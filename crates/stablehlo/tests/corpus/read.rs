//! Every text is understood.

use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;
use artifact_testkit::corpus::programs;

/// Reads every text of a folder and demands that all but `refused` are understood.
fn check(folder: &str, refused: &[&str]) {
    let Some(programs) = programs(folder) else { return };
    let mut failures = Vec::new();
    for program in &programs {
        let parsed = parse_module(&program.text);
        let fine = parsed.diagnostics.is_empty() && !parsed.modules.is_empty();
        if fine == refused.contains(&program.name.as_str()) {
            let source = SourceText::new(program.name.clone(), &program.text);
            failures.push(source.render_all(&parsed.diagnostics));
        }
    }
    let (count, all) = (failures.len(), programs.len());
    assert!(
        failures.is_empty(),
        "{count} of {all} in {folder}:\n{}",
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
fn static_programs() {
    check("stablehlo/static", &[]);
}

#[test]
fn dynamic_programs() {
    check("stablehlo/dynamic", &[]);
}

#[test]
fn interpreter_programs() {
    check("stablehlo/interpret", &[]);
}

#[test]
fn mathematical_functions() {
    check("stablehlo/math", &[]);
}

#[test]
fn quantized_programs() {
    check("stablehlo/quantized", &[]);
}

#[test]
fn programs_to_refine() {
    check("stablehlo/refine", &[]);
}

/// One is written in the versioned dialect of a future that there is not.
#[test]
fn versioned_programs() {
    check("stablehlo/vhlo", &["invalid_vhlo_future.mlir"]);
}

/// Programs that are wrong are read without a panic; most of them are refused by the verifier only.
#[test]
fn refused_programs() {
    for program in programs("stablehlo/reject").unwrap_or_default() {
        let parsed = parse_module(&program.text);
        let received = !parsed.diagnostics.is_empty() || !parsed.modules.is_empty();
        assert!(received, "{}", program.name);
    }
}
