//! Regions that are more than one operation are compiled.

use crate::check;

/// The largest element and where it is, of what a shape keeps when it loses dimensions.
fn largest(shape: &str, kept: &str, dims: &str) {
    let rank = shape.split('x').count() - 1;
    check(&format!(
        r#"
func.func @main(%x: tensor<{shape}f32>) -> (tensor<{kept}f32>, tensor<{kept}i32>) {{
  %i = stablehlo.iota dim = {last} : tensor<{shape}i32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = "stablehlo.reduce"(%x, %i, %low, %zero) ({{
  ^bb0(%a: tensor<f32>, %p: tensor<i32>, %b: tensor<f32>, %q: tensor<i32>):
    %gt = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %first = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %takes = stablehlo.or %first, %tie : tensor<i1>
    %m = stablehlo.select %first, %a, %b : tensor<i1>, tensor<f32>
    %n = stablehlo.select %takes, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %m, %n : tensor<f32>, tensor<i32>
  }}) {{dimensions = array<i64: {dims}>}} : (tensor<{shape}f32>, tensor<{shape}i32>, tensor<f32>, tensor<i32>) -> (tensor<{kept}f32>, tensor<{kept}i32>)
  return %r#0, %r#1 : tensor<{kept}f32>, tensor<{kept}i32>
}}"#,
        last = rank - 1
    ));
}

#[test]
fn reductions_of_several_arrays() {
    largest("7x33x", "7x", "1");
    largest("33x7x", "7x", "0");
    largest("5x6x7x", "6x", "0, 2");
    largest("9000x", "", "0");
    largest("3x4097x", "3x", "1");
}

#[test]
fn comparators() {
    check(
        r#"
func.func @main(%x: tensor<3x700xf32>, %y: tensor<3x700xi32>) -> (tensor<3x700xf32>, tensor<3x700xi32>) {
  %r:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.abs %a : tensor<f32>
    %d = stablehlo.abs %b : tensor<f32>
    %lt = stablehlo.compare LT, %c, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %lt : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x700xf32>, tensor<3x700xi32>) -> (tensor<3x700xf32>, tensor<3x700xi32>)
  return %r#0, %r#1 : tensor<3x700xf32>, tensor<3x700xi32>
}"#,
    );
}

#[test]
fn windows() {
    check(
        r#"
func.func @main(%x: tensor<12x40xi32>, %i: tensor<i32>) -> tensor<12x38xi32> {
  %r = "stablehlo.reduce_window"(%x, %i) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %two = stablehlo.constant dense<2> : tensor<i32>
    %d = stablehlo.multiply %b, %two : tensor<i32>
    %s = stablehlo.add %a, %d : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 1, 3>} : (tensor<12x40xi32>, tensor<i32>) -> tensor<12x38xi32>
  return %r : tensor<12x38xi32>
}"#,
    );
    check(
        r#"
func.func @main(%x: tensor<12x40xf32>, %s: tensor<6x20xf32>, %i: tensor<f32>) -> tensor<12x40xf32> {
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.abs %a : tensor<f32>
    %d = stablehlo.abs %b : tensor<f32>
    %ge = stablehlo.compare GE, %c, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %ge : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %n = stablehlo.negate %b : tensor<f32>
    %s1 = stablehlo.add %a, %n : tensor<f32>
    stablehlo.return %s1 : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<12x40xf32>, tensor<6x20xf32>, tensor<f32>) -> tensor<12x40xf32>
  return %r : tensor<12x40xf32>
}"#,
    );
}

#[test]
fn scatters() {
    check(
        r#"
func.func @main(%x: tensor<80x24xi32>, %k: tensor<50x1xi32>, %u: tensor<50x24xi32>) -> tensor<80x24xi32> {
  %r = "stablehlo.scatter"(%x, %k, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %two = stablehlo.constant dense<3> : tensor<i32>
    %d = stablehlo.multiply %a, %two : tensor<i32>
    %s = stablehlo.subtract %d, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<80x24xi32>, tensor<50x1xi32>, tensor<50x24xi32>) -> tensor<80x24xi32>
  return %r : tensor<80x24xi32>
}"#,
    );
}

#[test]
fn maps_and_clamps() {
    check(
        r#"
func.func @main(%x: tensor<5x300xi32>, %y: tensor<5x300xi32>) -> tensor<5x300xi32> {
  %low = stablehlo.constant dense<-20> : tensor<i32>
  %high = stablehlo.constant dense<20> : tensor<i32>
  %z = stablehlo.clamp %low, %y, %high : (tensor<i32>, tensor<5x300xi32>, tensor<i32>) -> tensor<5x300xi32>
  %r = "stablehlo.map"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.constant dense<5> : tensor<i32>
    %d = stablehlo.clamp %b, %a, %c : tensor<i32>
    %s = stablehlo.multiply %d, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<5x300xi32>, tensor<5x300xi32>) -> tensor<5x300xi32>
  return %r : tensor<5x300xi32>
}"#,
    );
}
