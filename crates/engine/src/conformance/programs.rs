//! The programs of the suite.

/// x + y, of 4 floats.
pub(super) const ADD: &str = "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}";

/// The product of two matrices, and the sums of its rows.
pub(super) const PRODUCT: &str = "func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %p, %s : tensor<2x2xf32>, tensor<2xf32>
}";

/// The sum of 1 to n, by a loop.
pub(super) const LOOP: &str = "func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i, %sum = stablehlo.while(%k = %n, %s = %zero) : tensor<i32>, tensor<i32>
  cond {
    %more = stablehlo.compare GT, %k, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %t = stablehlo.add %s, %k : tensor<i32>
    %l = stablehlo.subtract %k, %one : tensor<i32>
    stablehlo.return %l, %t : tensor<i32>, tensor<i32>
  }
  return %sum : tensor<i32>
}";

/// A loop without end.
pub(super) const FOREVER: &str = "func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return %0 : tensor<i32>
}";

/// 4 MiB of numbers, and their sum.
pub(super) const LARGE: &str = "func.func @main() -> tensor<i32> {
  %0 = stablehlo.iota dim = 0 : tensor<1048576xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<1048576xi32>, tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}";

/// One expectation that holds, and one that fails.
pub(super) const EXPECTS: &str = "func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  stablehlo.custom_call @check.expect_eq(%0, %0) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
  stablehlo.custom_call @check.expect_eq(%x, %0) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
  return %x : tensor<2xi32>
}";

/// A token and an array go through.
pub(super) const TOKEN: &str =
    "func.func @main(%t: !stablehlo.token, %x: tensor<2xui8>) -> (!stablehlo.token, tensor<2xui8>) {
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  return %0, %x : !stablehlo.token, tensor<2xui8>
}";

/// Booleans, and integers of 4 bits, which take a byte each.
pub(super) const NARROW: &str =
    "func.func @main(%a: tensor<2xi1>, %b: tensor<2xi4>) -> (tensor<2xi1>, tensor<2xi4>) {
  %0 = stablehlo.not %a : tensor<2xi1>
  %1 = stablehlo.add %b, %b : tensor<2xi4>
  return %0, %1 : tensor<2xi1>, tensor<2xi4>
}";

/// Sums of the rows of a matrix of any size.
pub(super) const ROWS: &str = "func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %x : tensor<?x?xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}";

/// Two arrays of any size, which go through.
pub(super) const TWO: &str =
    "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  return %x, %y : tensor<?xf32>, tensor<?xf32>
}";

/// An array in a shape that an argument tells.
pub(super) const RESHAPE: &str =
    "func.func @main(%x: tensor<?xi32>, %shape: tensor<2xi32>) -> tensor<?x?xi32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}";

/// An assertion on a size: no more than 4.
pub(super) const ASSERTS: &str = r#"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %holds = stablehlo.compare LE, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%holds, %n) {error_message = "at most four, not {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %x : tensor<?xf32>
}"#;

/// Two calls of one function, an exponential between them.
pub(super) const CHAIN: &str = "func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = func.call @half(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %1 = stablehlo.exponential %0 : tensor<5xf32>
  %2 = func.call @half(%1) : (tensor<5xf32>) -> tensor<5xf32>
  %3 = stablehlo.tanh %2 : tensor<5xf32>
  return %3 : tensor<5xf32>
}
func.func private @half(%x: tensor<5xf32>) -> tensor<5xf32> {
  %h = stablehlo.constant dense<0.5> : tensor<5xf32>
  %0 = stablehlo.multiply %x, %h : tensor<5xf32>
  return %0 : tensor<5xf32>
}";

/// A reduction whose function has no end.
pub(super) const FOREVER_INSIDE: &str = "
func.func @main(%x: tensor<4xi32>, %init: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %1 = stablehlo.while(%i = %a) : tensor<i32>
        cond {
          %true = stablehlo.constant dense<true> : tensor<i1>
          stablehlo.return %true : tensor<i1>
        } do {
          %2 = stablehlo.add %i, %b : tensor<i32>
          stablehlo.return %2 : tensor<i32>
        }
      stablehlo.return %1 : tensor<i32>
    }
  return %0 : tensor<i32>
}
";

/// A loop without end, whose result is a size.
pub(super) const FOREVER_SIZED: &str = "
func.func @main(%x: tensor<1xi32>) -> tensor<?xi32> {
  %0 = stablehlo.while(%i = %x) : tensor<1xi32>
    cond {
      %true = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %true : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %i : tensor<1xi32>
      stablehlo.return %1 : tensor<1xi32>
    }
  %2 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %2 : tensor<?xi32>
}
";
