//! What asks for more than a routine promises is left to the evaluator, and said so.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where something is not as it should be"
)]

use std::sync::Arc;

use artifact_engine::{CompileOptions, Program};
use artifact_engine_cpu::{CpuEngine, Emit, Settings, dump};
use artifact_stablehlo::parse::parse_module;

/// How `tanh` of `f32`, accurate to 1.7 units, is computed.
fn kernel(accuracy: &str) -> String {
    let text = format!(
        r#"
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %r = "stablehlo.tanh"(%x) {{result_accuracy = #stablehlo.result_accuracy<{accuracy}>}} : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}}"#
    );
    let module = parse_module(&text).into_module().unwrap();
    let program = Program::of_module(Arc::new(module)).unwrap();
    let engine = CpuEngine::new(&Settings::default()).unwrap();
    dump(&program, &CompileOptions::for_engine(&engine), Emit::Kernels).unwrap()
}

#[test]
fn tolerances_decide_who_computes() {
    for (accuracy, is_routine) in [
        (
            "ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>",
            true,
        ),
        (
            "ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>",
            false,
        ),
        (
            "rtol = 1.0e-6, mode = #stablehlo.result_accuracy_mode<TOLERANCE>",
            true,
        ),
        (
            "rtol = 1.0e-7, mode = #stablehlo.result_accuracy_mode<TOLERANCE>",
            false,
        ),
        ("mode = #stablehlo.result_accuracy_mode<DEFAULT>", true),
        ("mode = #stablehlo.result_accuracy_mode<HIGHEST>", true),
    ] {
        let kernel = kernel(accuracy);
        assert_eq!(
            kernel.contains("call tanh.f32"),
            is_routine,
            "{accuracy}: {kernel}"
        );
        assert_eq!(
            kernel.contains("interpret stablehlo.tanh"),
            !is_routine,
            "{accuracy}: {kernel}"
        );
    }
}
