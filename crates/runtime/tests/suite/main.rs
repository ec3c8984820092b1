//! Sessions over the reference engine, and over one that says what it was asked for.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

mod artifacts;
mod compiles;
mod probe;
mod sizes;

use std::sync::Arc;

use artifact_engine::{Buffer, Value};
use artifact_export::Exported;
use artifact_runtime::{Definition, Program, Session};
use artifact_stablehlo::parse::parse_module;

use crate::probe::Probe;

/// Sums of the rows of a matrix of any size.
const ROWS: &str = "func.func @main(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}";

fn exported(text: &str) -> Exported {
    let module = parse_module(text).into_module().unwrap();
    Exported::new(module).unwrap().with_named_sizes().unwrap()
}

fn program(engine: &Arc<Probe>, text: &str) -> Program {
    let session = Session::new(Arc::clone(engine) as Arc<dyn artifact_engine::Engine>);
    session.program(Definition::from(&exported(text))).unwrap()
}

fn ones(shape: &[u64]) -> Value {
    let count = shape.iter().product::<u64>() as usize;
    Buffer::of_numbers(shape, &vec![1.0_f32; count]).unwrap().into()
}

fn floats(values: &[Value]) -> Vec<f32> {
    values[0].as_array().unwrap().to_numbers().unwrap()
}

/// Whoever serves requests has one of each for all threads.
#[test]
fn sessions_and_programs_are_shared() {
    const fn shared<T: Send + Sync + Clone>() {}
    shared::<Session>();
    shared::<Program>();
    shared::<artifact_runtime::Binding>();
}
