//! Limits of what routines take, which programs of the port's suite are too small for.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use artifact_engine::{CompileOptions, Engine, ErrorKind, ExecuteOptions, Program};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_stablehlo::parse::parse_module;

/// The kind of the error of a call without arguments, if there is one.
fn error(text: &str, options: &ExecuteOptions) -> Option<ErrorKind> {
    let module = parse_module(text).into_module().unwrap();
    let program = Program::of_module(Arc::new(module)).unwrap();
    let engine = CpuEngine::new(&Settings::default()).unwrap();
    let module = engine
        .compile(&program, &CompileOptions::for_engine(&engine))
        .unwrap();
    let outcome = engine.load(&module).unwrap().call(&mut [], options);
    outcome.err().map(|error| error.kind())
}

fn memory(bytes: u64) -> ExecuteOptions {
    ExecuteOptions {
        memory_limit_bytes: Some(bytes),
        ..ExecuteOptions::default()
    }
}

#[test]
fn a_limit_of_memory_counts_what_routines_work_in() {
    // A prime length: a convolution in many times the memory of the array.
    let text = "func.func @main() -> tensor<4099xcomplex<f32>> {
      %0 = stablehlo.iota dim = 0 : tensor<4099xf32>
      %1 = stablehlo.complex %0, %0 : tensor<4099xcomplex<f32>>
      %2 = stablehlo.fft %1, type = FFT, length = [4099] : (tensor<4099xcomplex<f32>>) -> tensor<4099xcomplex<f32>>
      return %2 : tensor<4099xcomplex<f32>>
    }";
    assert_eq!(error(text, &memory(1 << 20)), Some(ErrorKind::MemoryLimit));
    assert_eq!(error(text, &memory(16 << 30)), None);
}

#[test]
fn a_limit_of_memory_counts_rows_that_threads_keep() {
    let text = "func.func @main() -> tensor<2x4000000xf32> {
      %0 = stablehlo.iota dim = 1 : tensor<2x4000000xf32>
      %1 = stablehlo.constant dense<0.0> : tensor<f32>
      %2 = stablehlo.sine %0 : tensor<2x4000000xf32>
      %3 = stablehlo.reduce(%2 init: %1) applies stablehlo.add across dimensions = [1]
        : (tensor<2x4000000xf32>, tensor<f32>) -> tensor<2xf32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<2xf32>) -> tensor<2x4000000xf32>
      %5 = stablehlo.divide %2, %4 : tensor<2x4000000xf32>
      return %5 : tensor<2x4000000xf32>
    }";
    // The result takes 32 MB, and a row half of that.
    assert_eq!(error(text, &memory(40 << 20)), Some(ErrorKind::MemoryLimit));
    assert_eq!(error(text, &memory(16 << 30)), None);
}

#[test]
fn a_limit_of_time_ends_windows_of_one_task() {
    let text = "func.func @main() -> tensor<200000xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<200000xf32>
      %1 = stablehlo.iota dim = 0 : tensor<195905xf32>
      %2 = stablehlo.constant dense<0.0> : tensor<f32>
      %3 = \"stablehlo.select_and_scatter\"(%0, %1, %2) <{window_dimensions = array<i64: 4096>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %4 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %4 : tensor<i1>
      }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %4 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }) : (tensor<200000xf32>, tensor<195905xf32>, tensor<f32>) -> tensor<200000xf32>
      return %3 : tensor<200000xf32>
    }";
    let options = ExecuteOptions {
        time_limit: Some(Duration::from_millis(20)),
        ..ExecuteOptions::default()
    };
    assert_eq!(error(text, &options), Some(ErrorKind::TimeLimit));
}

/// Sizes that nothing in memory has: whatever products of them an engine makes, it refuses the call or is right.
#[test]
fn sizes_that_no_memory_has_are_refused() {
    let refused = |text: &str| {
        assert_eq!(
            error(text, &ExecuteOptions::default()),
            Some(ErrorKind::InvalidInput),
            "{text}"
        )
    };
    refused(
        "func.func @main() -> tensor<i32> {
      %0 = stablehlo.iota dim = 1 : tensor<2305843009213693952x64xi32>
      %1 = stablehlo.constant dense<0> : tensor<i32>
      %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<2305843009213693952x64xi32>, tensor<i32>) -> tensor<i32>
      return %2 : tensor<i32>
    }",
    );
    refused(
        "func.func @main() -> tensor<3x3xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<3xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xf32>) -> tensor<3x2305843009213693952x64xf32>
      %2 = stablehlo.dot_general %1, %1, contracting_dims = [1, 2] x [1, 2]
        : (tensor<3x2305843009213693952x64xf32>, tensor<3x2305843009213693952x64xf32>) -> tensor<3x3xf32>
      return %2 : tensor<3x3xf32>
    }",
    );
    let empty = "func.func @main() -> tensor<2305843009213693952x0x2305843009213693952xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<0x2305843009213693952x2305843009213693952xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0, 2]
        : (tensor<0x2305843009213693952x2305843009213693952xf32>) -> tensor<2305843009213693952x0x2305843009213693952xf32>
      return %1 : tensor<2305843009213693952x0x2305843009213693952xf32>
    }";
    assert_eq!(error(empty, &ExecuteOptions::default()), None);
}

#[test]
fn a_limit_of_time_ends_a_sum_of_repeated_elements() {
    let text = "func.func @main() -> tensor<3x3xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<3xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xf32>) -> tensor<3x1099511627776xf32>
      %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [1]
        : (tensor<3x1099511627776xf32>, tensor<3x1099511627776xf32>) -> tensor<3x3xf32>
      return %2 : tensor<3x3xf32>
    }";
    let options = ExecuteOptions {
        time_limit: Some(Duration::from_millis(20)),
        ..ExecuteOptions::default()
    };
    assert_eq!(error(text, &options), Some(ErrorKind::TimeLimit));
}

#[test]
fn a_limit_of_time_ends_rows_without_end() {
    let text = "func.func @main() -> tensor<512xf32> {
      %0 = stablehlo.iota dim = 1 : tensor<512x68719476736xf32>
      %1 = stablehlo.constant dense<0.0> : tensor<f32>
      %2 = stablehlo.sine %0 : tensor<512x68719476736xf32>
      %3 = stablehlo.reduce(%2 init: %1) applies stablehlo.add across dimensions = [1]
        : (tensor<512x68719476736xf32>, tensor<f32>) -> tensor<512xf32>
      return %3 : tensor<512xf32>
    }";
    let options = ExecuteOptions {
        time_limit: Some(Duration::from_millis(20)),
        ..ExecuteOptions::default()
    };
    assert_eq!(error(text, &options), Some(ErrorKind::TimeLimit));
}
