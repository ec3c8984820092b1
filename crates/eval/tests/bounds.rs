//! Bounds of types are kept: values over them do not enter a program, and do not come out of one.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, TensorType};
use artifact_stablehlo::parse::parse_module;

/// Runs a program on an array of so many zeros.
fn run(program: &str, size: u64) -> Result<usize, String> {
    let module = parse_module(program).into_module().unwrap();
    let ty = Arc::new(TensorType::of_static(&[size], ElementType::I8));
    let literal = Literal::dense(ty, Blob::new(vec![0; size.try_into().unwrap()])).unwrap();
    let value = Value::Tensor(Tensor::from_literal(&literal).unwrap());
    let main = module.function("main").unwrap();
    let outcome = evaluate(&module, main, vec![value], &Options::default());
    outcome
        .map(|outcome| outcome.results.len())
        .map_err(|error| error.to_string())
}

#[test]
fn arguments() {
    let program = "func.func @main(%x: tensor<?xi8, #stablehlo.bounds<8>>) -> tensor<?xi8> {
      %0 = stablehlo.negate %x : (tensor<?xi8, #stablehlo.bounds<8>>) -> tensor<?xi8>
      return %0 : tensor<?xi8>
    }";
    assert_eq!(run(program, 8), Ok(1));
    let error = run(program, 9).unwrap_err();
    assert!(error.contains("argument 0 of @main"), "{error}");
}

#[test]
fn results_of_operations() {
    let program = "func.func @main(%x: tensor<?xi8>) -> tensor<?xi8> {
      %0 = stablehlo.negate %x : (tensor<?xi8>) -> tensor<?xi8, #stablehlo.bounds<8>>
      %1 = stablehlo.negate %0 : (tensor<?xi8, #stablehlo.bounds<8>>) -> tensor<?xi8>
      return %1 : tensor<?xi8>
    }";
    assert_eq!(run(program, 8), Ok(1));
    assert!(run(program, 9).is_err());
}
