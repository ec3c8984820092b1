//! Programs in which random ones once showed a difference, by what was wrong.

use std::sync::Arc;

use artifact_dims::{Assignment, Expr, Range, Scope, Variable};
use artifact_engine::{ArgumentFact, CompileOptions, Program};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_ir::literal::Literal;
use artifact_ir::types::{Dim, TensorType};
use artifact_stablehlo::parse::parse_module;
use artifact_testkit::program::{Facts, Pattern, array};

use crate::runner::Runner;

/// Runs a program whose open sizes are all `b` with inputs of every pattern; results have to agree in every bit.
#[track_caller]
fn check(sizes: &[i64], text: &str) {
    let patterns = [Pattern::Small, Pattern::Ordinary, Pattern::Edges];
    check_with(&patterns, Facts::ANY, sizes, text);
}

/// Runs it with ordinary numbers. The evaluator may round otherwise; the engine with other threads or known sizes may not.
#[track_caller]
fn check_rounded(sizes: &[i64], text: &str) {
    let facts = Facts {
        error: 1e-3,
        ..Facts::ANY
    };
    check_with(&[Pattern::Ordinary], facts, sizes, text);
}

#[track_caller]
fn check_with(patterns: &[Pattern], facts: Facts, sizes: &[i64], text: &str) {
    let module = parse_module(text).into_module().unwrap();
    let entry = module.entry().unwrap();
    let variable = Variable::new("b").unwrap();
    let mut types: Vec<TensorType> = Vec::new();
    for argument in &module.functions[entry].arguments {
        let mut ty = TensorType::clone(argument.ty.as_tensor().unwrap());
        for dim in ty.dims.iter_mut().filter(|dim| !dim.is_static()) {
            *dim = Dim::Symbolic(Expr::variable(variable.clone()));
        }
        types.push(ty);
    }
    let results = vec![facts; module.functions[entry].results.len()];
    let facts = types
        .iter()
        .map(|ty| ArgumentFact::of_type(ty.clone().into()))
        .collect();
    let scope = Scope::builder()
        .range(variable.clone(), Range::at_least(0))
        .build()
        .unwrap();
    let program = Program::new(Arc::new(module), entry, facts, scope).unwrap();
    let runner = Runner::new(2).unwrap();
    let options = CompileOptions::for_engine(&CpuEngine::new(&Settings::default()).unwrap());
    let loaded = runner.load(&program, options);
    let bindings: Vec<Assignment> = match sizes {
        [] => vec![Assignment::new()],
        sizes => sizes
            .iter()
            .map(|size| [(variable.clone(), *size)].into_iter().collect())
            .collect(),
    };
    for binding in &bindings {
        for pattern in patterns.iter().copied() {
            let inputs: Vec<Literal> = types.iter().map(|ty| input(ty, binding, pattern)).collect();
            let outcome = loaded.check(binding, &inputs, &results);
            assert_eq!(outcome, Ok(()), "{binding}: {pattern:?}\n{text}");
        }
    }
}

fn input(ty: &TensorType, binding: &Assignment, pattern: Pattern) -> Literal {
    let size = |dim: &Dim| {
        dim.expression()
            .unwrap()
            .evaluate(binding)
            .unwrap()
            .unsigned_abs()
    };
    let shape: Vec<u64> = ty.dims.iter().map(size).collect();
    array(
        &Arc::new(TensorType::of_static(&shape, ty.element.clone())),
        pattern,
        1,
    )
}

#[test]
fn positions_as_numbers_that_processors_lack() {
    for element in ["i2", "ui2", "i4", "ui4", "f8E4M3FN", "f8E5M2"] {
        check(
            &[],
            &format!(
                "func.func @main() -> tensor<16x{element}> {{
                   %0 = stablehlo.iota dim = 0 : tensor<16x{element}>
                   return %0 : tensor<16x{element}>
                 }}"
            ),
        );
    }
}

#[test]
fn reductions_of_numbers_that_processors_lack() {
    for operation in ["add", "maximum", "and"] {
        check(
            &[],
            &format!(
                "func.func @main(%x: tensor<3x5xi4>, %init: tensor<i4>) -> tensor<3xi4> {{
                   %0 = stablehlo.reduce(%x init: %init) applies stablehlo.{operation} across dimensions = [1]
                     : (tensor<3x5xi4>, tensor<i4>) -> tensor<3xi4>
                   return %0 : tensor<3xi4>
                 }}"
            ),
        );
    }
}

#[test]
fn bit_casts_of_open_sizes() {
    check(
        &[2, 3],
        "func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
           %0 = stablehlo.bitcast_convert %x : (tensor<?xi32>) -> tensor<?x2xui16>
           %1 = stablehlo.add %0, %0 : tensor<?x2xui16>
           %2 = stablehlo.bitcast_convert %1 : (tensor<?x2xui16>) -> tensor<?xi32>
           return %2 : tensor<?xi32>
         }",
    );
}

#[test]
fn positions_from_where_a_slice_starts() {
    for value in [
        "stablehlo.convert %0 : tensor<8xf32>",
        "stablehlo.add %0, %x : tensor<8xf32>",
        "stablehlo.reverse %0, dims = [0] : tensor<8xf32>",
    ] {
        check(
            &[],
            &format!(
                "func.func @main(%x: tensor<8xf32>) -> tensor<3xf32> {{
                   %0 = stablehlo.iota dim = 0 : tensor<8xf32>
                   %1 = {value}
                   %start = stablehlo.constant dense<2> : tensor<i32>
                   %2 = stablehlo.dynamic_slice %1, %start, sizes = [3] : (tensor<8xf32>, tensor<i32>) -> tensor<3xf32>
                   return %2 : tensor<3xf32>
                 }}"
            ),
        );
    }
}

#[test]
fn convolutions_whose_padding_is_an_operand_are_those_of_known_padding() {
    check_rounded(
        &[2, 5],
        "func.func @main(%x: tensor<3x3x?xf32>, %k: tensor<1x3x1xf32>) -> tensor<3x1x?xf32> {
  %pad = stablehlo.constant dense<0> : tensor<1x2xi64>
  %r = \"stablehlo.dynamic_conv\"(%x, %k, %pad) {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[0, f, b]x[0, i, o]->[0, f, b]>}
    : (tensor<3x3x?xf32>, tensor<1x3x1xf32>, tensor<1x2xi64>) -> tensor<3x1x?xf32>
  return %r : tensor<3x1x?xf32>
}",
    );
}

#[test]
fn sums_of_few_products_that_are_negative_zeros() {
    check(
        &[],
        "func.func @main(%x: tensor<1500x1xf32>) -> tensor<1500x16xf32> {
           %zeros = stablehlo.constant dense<0.0> : tensor<1500x1xf32>
           %y = stablehlo.constant dense<-2.0> : tensor<1x16xf32>
           %0 = stablehlo.multiply %x, %zeros : tensor<1500x1xf32>
           %1 = stablehlo.abs %0 : tensor<1500x1xf32>
           %2 = stablehlo.dot %1, %y : (tensor<1500x1xf32>, tensor<1x16xf32>) -> tensor<1500x16xf32>
           return %2 : tensor<1500x16xf32>
         }",
    );
}

#[test]
fn constants_that_a_loop_carries_from_its_beginning_to_its_end() {
    for value in ["-2.0", "[1.0, 2.0, 3.0]"] {
        check(
            &[],
            &format!(
                "func.func @main(%n: tensor<i32>) -> tensor<3xf32> {{
                   %0 = stablehlo.constant dense<{value}> : tensor<3xf32>
                   %1:3 = stablehlo.while(%i = %n, %kept = %0, %next = %0) : tensor<i32>, tensor<3xf32>, tensor<3xf32>
                   cond {{
                     %zero = stablehlo.constant dense<0> : tensor<i32>
                     %2 = stablehlo.compare NE, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
                     stablehlo.return %2 : tensor<i1>
                   }} do {{
                     %zero = stablehlo.constant dense<0> : tensor<i32>
                     %2 = stablehlo.multiply %i, %zero : tensor<i32>
                     stablehlo.return %2, %kept, %kept : tensor<i32>, tensor<3xf32>, tensor<3xf32>
                   }}
                   return %1#2 : tensor<3xf32>
                 }}"
            ),
        );
    }
}

#[test]
fn rows_that_are_longer_than_many_segments() {
    check(
        &[0, 7, 4096, 8193, 140_001],
        "func.func @main(%x: tensor<2x?xi32>, %y: tensor<2x?xi16>) -> (tensor<2xi32>, tensor<2xi16>) {
           %0 = stablehlo.constant dense<3> : tensor<i32>
           %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
             : (tensor<2x?xi32>, tensor<i32>) -> tensor<2xi32>
           %2 = stablehlo.constant dense<-5> : tensor<i16>
           %3 = stablehlo.reduce(%y init: %2) applies stablehlo.maximum across dimensions = [1]
             : (tensor<2x?xi16>, tensor<i16>) -> tensor<2xi16>
           return %1, %3 : tensor<2xi32>, tensor<2xi16>
         }",
    );
}
