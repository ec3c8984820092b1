//! Results that are too large for the caches, and are written past them.

use std::sync::Arc;

use artifact_engine::{Argument, Buffer, CompileOptions, Engine as _, ExecuteOptions, Program, Value};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_ir::types::{ElementType, TensorType};
use artifact_stablehlo::parse::parse_module;

const COUNT: i32 = 9_000_001;

/// The parts of the result begin at no multiple of a cache line.
const PROGRAM: &str = "
func.func @main(%x: tensor<9000001xi32>) -> tensor<9000006xi32> {
  %0 = stablehlo.slice %x [0:5] : (tensor<9000001xi32>) -> tensor<5xi32>
  %1 = stablehlo.negate %x : tensor<9000001xi32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<5xi32>, tensor<9000001xi32>) -> tensor<9000006xi32>
  return %2 : tensor<9000006xi32>
}";

#[test]
fn every_element_arrives() {
    for guard_pages in [false, true] {
        let settings = Settings {
            guard_pages,
            ..Settings::default()
        };
        let module = parse_module(PROGRAM).into_module().unwrap();
        let program = Program::of_module(Arc::new(module)).unwrap();
        let engine = CpuEngine::new(&settings).unwrap();
        let compiled = engine
            .compile(&program, &CompileOptions::for_engine(&engine))
            .unwrap();
        let executable = engine.load(&compiled).unwrap();
        let x: Vec<u8> = (0..COUNT).flat_map(i32::to_le_bytes).collect();
        let ty = TensorType::of_static(&[COUNT as u64], ElementType::I32);
        let x = Value::from(Buffer::copy_of(Arc::new(ty), &x).unwrap());
        let mut results = Vec::new();
        executable
            .run(
                &mut [Argument::from(&x)],
                &mut results,
                &ExecuteOptions::default(),
            )
            .unwrap();
        let expected = (0..5).chain((0..COUNT).map(|value| -value));
        let bytes = results[0].as_array().unwrap().bytes();
        let found = bytes
            .chunks_exact(4)
            .map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()));
        assert!(expected.eq(found));
    }
}
