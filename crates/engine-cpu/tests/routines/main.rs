//! What has a routine leaves what the evaluator leaves, and nothing of it is left to the evaluator.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where something is not as it should be"
)]

mod lapack;
mod regions;

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::{Argument, Buffer, CompileOptions, Engine as _, ExecuteOptions, Program, Value};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_eval::{Options, evaluate, tensor::Tensor};
use artifact_ir::literal::Literal;
use artifact_ir::module::Module;
use artifact_ir::types::{ElementType, TensorType};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

fn module(text: &str) -> Module {
    let module = parse_module(text).into_module().unwrap();
    assert_eq!(verify(&module).into_iter().next(), None);
    module
}

/// Small numbers of both signs, some of them equal.
fn elements(ty: &TensorType, number: usize) -> Vec<u8> {
    let count = ty.element_count().unwrap() as usize;
    let value = |index: usize| (index * 7919 + number * 31) as i32 % 101 - 50;
    match ty.element.as_plain() {
        Some(ElementType::F32) => (0..count)
            .flat_map(|index| (value(index) as f32).to_le_bytes())
            .collect(),
        _ => (0..count).flat_map(|index| value(index).to_le_bytes()).collect(),
    }
}

/// Runs a program in the engine and in the evaluator; results have the same bits, and no step of it is interpreted.
#[track_caller]
fn check(text: &str) {
    let interpreted = interpreted(text);
    assert!(interpreted.is_empty(), "{interpreted:?} of\n{text}");
}

/// Runs a program in both; results have the same bits. The steps that were left to the evaluator come back.
#[track_caller]
fn interpreted(text: &str) -> Vec<String> {
    let module = module(text);
    let entry = module.function("main").unwrap();
    let types: Vec<Arc<TensorType>> = module.functions[entry]
        .arguments
        .iter()
        .map(|argument| Arc::clone(argument.ty.as_tensor().unwrap()))
        .collect();
    let inputs: Vec<Vec<u8>> = types
        .iter()
        .enumerate()
        .map(|(number, ty)| elements(ty, number))
        .collect();
    let tensor = |(ty, bytes): (&Arc<TensorType>, &Vec<u8>)| {
        let literal = Literal::dense(Arc::clone(ty), Blob::new(bytes.clone())).unwrap();
        artifact_eval::Value::Tensor(Tensor::from_literal(&literal).unwrap())
    };
    let operands = types.iter().zip(&inputs).map(tensor).collect();
    let expected = evaluate(&module, entry, operands, &Options::default()).unwrap();

    let engine = CpuEngine::new(&Settings::default()).unwrap();
    let program = Program::of_module(Arc::new(module)).unwrap();
    let compiled = engine
        .compile(&program, &CompileOptions::for_engine(&engine))
        .unwrap();
    let executable = engine.load(&compiled).unwrap();
    let values: Vec<Value> = types
        .iter()
        .zip(&inputs)
        .map(|(ty, bytes)| Buffer::copy_of(Arc::clone(ty), bytes).unwrap().into())
        .collect();
    let mut arguments: Vec<Argument<'_>> = values.iter().map(Argument::from).collect();
    let mut results = Vec::new();
    let options = ExecuteOptions {
        profile: true,
        ..ExecuteOptions::default()
    };
    let report = executable.run(&mut arguments, &mut results, &options).unwrap();
    for (got, want) in results.iter().zip(&expected.results) {
        let want = want.as_tensor().unwrap();
        assert_eq!(got.as_array().unwrap().bytes(), want.bytes(), "{text}");
    }
    let steps = report.profile.unwrap().steps;
    let steps = steps.into_iter().filter(|step| step.kind == "interpret");
    steps.map(|step| step.name).collect()
}
