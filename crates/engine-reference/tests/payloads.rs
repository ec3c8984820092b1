//! What a compiled module of the reference engine holds, right and wrong.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::{
    Argument, ArgumentFact, Buffer, CompileOptions, CompiledModule, Engine, ErrorKind, ExecuteOptions,
    Program, Value,
};
use artifact_engine_reference::ReferenceEngine;
use artifact_stablehlo::parse::parse_module;

/// Regions, a call, an operation of CHLO, an open size, and a check that fails.
const TEXT: &str = r#"func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> (tensor<?xf32>, tensor<i32>) {
  %0 = chlo.erf %x : tensor<?xf32> -> tensor<?xf32>
  %1 = func.call @twice(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %more = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %less = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%less, %i) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.return %less : tensor<i32>
  }
  return %1, %2 : tensor<?xf32>, tensor<i32>
}
func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}"#;

fn engine() -> ReferenceEngine {
    ReferenceEngine::new().unwrap()
}

fn compiled(engine: &ReferenceEngine) -> CompiledModule {
    let module = Arc::new(parse_module(TEXT).into_module().unwrap());
    let program = Program::of_module(module).unwrap();
    engine
        .compile(&program, &CompileOptions::for_engine(engine))
        .unwrap()
}

fn arguments() -> [Value; 2] {
    let x = Buffer::of_numbers(&[2], &[0.0_f32, 8.0]).unwrap();
    [x.into(), Buffer::of_numbers(&[], &[1]).unwrap().into()]
}

#[test]
fn places_are_those_of_the_text() {
    let engine = engine();
    let executable = engine.load(&compiled(&engine)).unwrap();
    let values = arguments();
    let mut borrowed = [Argument::from(&values[0]), Argument::from(&values[1])];
    let options = ExecuteOptions {
        profile: true,
        ..ExecuteOptions::default()
    };
    let outcome = executable.call(&mut borrowed, &options).unwrap();
    // erf is 1 from 4 on in this format.
    let x = outcome.results[0].as_array().unwrap();
    assert_eq!(x.to_numbers(), Some(vec![0.0_f32, 2.0]));
    let failure = outcome.report.failures[0].source.get();
    assert_eq!(failure, TEXT.find("stablehlo.custom_call"));
    for step in outcome.report.profile.unwrap().steps {
        let at = step.source.get().unwrap();
        assert!(TEXT[at..].starts_with(&step.name), "{} at {at}", step.name);
    }
}

#[test]
fn sizes_of_results_follow_those_of_arguments() {
    let engine = engine();
    let module = Arc::new(parse_module(TEXT).into_module().unwrap());
    let size: artifact_dims::Expr = "2*b".parse().unwrap();
    let x = artifact_ir::types::TensorType::new(
        [artifact_ir::types::Dim::Symbolic(size)],
        artifact_ir::types::ElementType::F32,
    );
    let entry = module.entry().unwrap();
    let n = module.functions[entry].arguments[1].ty.clone();
    let facts = vec![ArgumentFact::of_type(x.clone().into()), ArgumentFact::of_type(n)];
    let scope = artifact_dims::Scope::builder();
    let b = artifact_dims::Variable::new("b").unwrap();
    let scope = scope.range(b, artifact_dims::Range::default()).build().unwrap();
    let program = Program::new(module, entry, facts, scope).unwrap();
    let compiled = engine.compile(&program, &CompileOptions::for_engine(&engine));
    let executable = engine.load(&compiled.unwrap()).unwrap();
    let signature = executable.signature();
    assert_eq!(signature.arguments[0], x.clone().into());
    assert_eq!(signature.results[0], x.into());
}

/// Whatever byte is another one, the payload is loaded or refused, and what is loaded runs to some end.
#[test]
fn other_bytes() {
    let engine = engine();
    let module = compiled(&engine);
    let payload = module.payload().to_vec();
    let options = ExecuteOptions {
        step_limit: Some(1000),
        memory_limit_bytes: Some(1 << 20),
        ..ExecuteOptions::default()
    };
    let values = arguments();
    let mut loaded = 0;
    for place in 0..payload.len() {
        for other in [0, 1, 0x7f, 0xff] {
            let mut bytes = payload.clone();
            bytes[place] = other;
            match engine.load(&module.clone().with_payload(Blob::new(bytes))) {
                Ok(executable) => {
                    let mut borrowed = [Argument::from(&values[0]), Argument::from(&values[1])];
                    let _ = executable.call(&mut borrowed, &options);
                    loaded += 1;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Incompatible, "byte {place}: {error}"),
            }
        }
    }
    assert!(loaded > 0, "some bytes are names and places, which may be others");
}

/// Bytes that a caller wrote into a buffer, which its type does not have.
#[test]
fn arguments_with_other_bytes() {
    let engine = engine();
    let text = "func.func @main(%x: tensor<1xi1>) -> tensor<1xi1> { return %x : tensor<1xi1> }";
    let program = Program::of_module(Arc::new(parse_module(text).into_module().unwrap())).unwrap();
    let compiled = engine.compile(&program, &CompileOptions::for_engine(&engine));
    let executable = engine.load(&compiled.unwrap()).unwrap();
    let ty = artifact_ir::types::TensorType::of_static(&[1], artifact_ir::types::ElementType::I1);
    let mut buffer = Buffer::zeros(Arc::new(ty)).unwrap();
    buffer.bytes_mut().unwrap()[0] = 2;
    let outcome = executable.call(&mut [Argument::donate(buffer.into())], &ExecuteOptions::default());
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::InvalidInput);
}
