//! Custom calls that stand for operations, once their attributes are known.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use artifact_dims::Scope;
use artifact_refine::{Fact, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};

/// The refined program of a static one.
fn refined(program: &str) -> String {
    let module = parse_module(program).into_module().unwrap();
    let entry = module.entry().unwrap();
    let declared = &module.functions[entry].arguments;
    let facts: Vec<Fact> = declared
        .iter()
        .map(|argument| Fact::of_type(argument.ty.clone()))
        .collect();
    let scope = Scope::builder().build().unwrap();
    let refined = refine(&module, entry, &facts, &scope).unwrap();
    print_module(&refined.module, &PrintOptions::default())
}

#[track_caller]
fn check(program: &str, expected: &[&str]) {
    let text = refined(program);
    for part in expected {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    assert!(!text.contains("custom_call"), "{text}");
}

#[test]
fn windows() {
    let program = r#"
        func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
          %0 = stablehlo.add %a, %b : tensor<f32>
          return %0 : tensor<f32>
        }
        func.func public @main(%x: tensor<4x6xf32>, %i: tensor<f32>) -> tensor<?x?xf32> {
          %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
          %strides = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
          %ones = stablehlo.constant dense<1> : tensor<2xi32>
          %padding = stablehlo.constant dense<[[0, 0], [2, 0]]> : tensor<2x2xi32>
          %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %i, %sizes, %strides, %ones, %ones, %padding)
            {called_computations = [@add]}
            : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
          return %0 : tensor<?x?xf32>
        }"#;
    check(
        program,
        &[
            "stablehlo.reduce_window",
            "window_dimensions = array<i64: 1, 3>",
            "window_strides = array<i64: 1, 2>",
            "[2, 0]",
            "func.call @add",
            "-> tensor<4x3xf32>",
        ],
    );
}

#[test]
fn bits_and_largest() {
    let program = r#"
        func.func public @main(%state: tensor<2xui64>, %x: tensor<3x8xf32>)
            -> (tensor<2xui64>, tensor<?x?xui32>, tensor<3x?xf32>, tensor<3x?xi32>) {
          %shape = stablehlo.constant dense<[2, 5]> : tensor<2xi64>
          %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%state, %shape)
            {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}
            : (tensor<2xui64>, tensor<2xi64>) -> (tensor<2xui64>, tensor<?x?xui32>)
          %k = stablehlo.constant dense<3> : tensor<i32>
          %1:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k)
            : (tensor<3x8xf32>, tensor<i32>) -> (tensor<3x?xf32>, tensor<3x?xi32>)
          return %0#0, %0#1, %1#0, %1#1 : tensor<2xui64>, tensor<?x?xui32>, tensor<3x?xf32>, tensor<3x?xi32>
        }"#;
    check(
        program,
        &[
            "stablehlo.rng_bit_generator",
            "tensor<2x5xui32>",
            "chlo.top_k",
            "(tensor<3x3xf32>, tensor<3x3xi32>)",
        ],
    );
}
