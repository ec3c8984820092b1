//! The verifier refuses nothing that is right: every program is read and verified without a finding.

use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;
use artifact_testkit::corpus::programs;

/// Verifies every program of a folder and demands that the verifier refuses exactly `refused`.
fn check(folder: &str, refused: &[&str]) {
    let Some(programs) = programs(folder) else { return };
    let mut failures = Vec::new();
    for program in &programs {
        let parsed = parse_module(&program.text);
        let mut findings = parsed.diagnostics;
        findings.extend(parsed.modules.iter().flat_map(verify));
        if findings.is_empty() == refused.contains(&program.name.as_str()) {
            let source = SourceText::new(program.name.clone(), &program.text);
            failures.push(source.render_all(&findings));
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

/// The convolution that is refused has more strides than dimensions; no other tool runs it either.
#[test]
fn dynamic_programs() {
    check(
        "stablehlo/dynamic",
        &["conv_general_dilated_1d_stride_2_even_dynamic.mlir"],
    );
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

/// The program that is refused calls itself, which refinement has to refuse.
#[test]
fn programs_to_refine() {
    check("stablehlo/refine", &["refine_shapes.s55.mlir"]);
}
