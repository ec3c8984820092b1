func.func @main(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %q = stablehlo.divide %n, %two : tensor<i32>
  %r = stablehlo.remainder %n, %two : tensor<i32>
  %s = stablehlo.sign %n : tensor<i32>
  %d = stablehlo.compare NE, %s, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %m = stablehlo.select %d, %q, %r : tensor<i1>, tensor<i32>
  stablehlo.custom_call @shape_assertion(%d, %n) {error_message = "n is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %columns = stablehlo.constant dense<2> : tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  %z = func.call @f(%y, %m) : (tensor<?x2xf32>, tensor<i32>) -> tensor<?x2xf32>
  return %z : tensor<?x2xf32>
}
func.func private @f(%y: tensor<?x2xf32>, %m: tensor<i32>) -> tensor<?x2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %y) : tensor<i32>, tensor<?x2xf32>
  cond {
    %c = stablehlo.compare LT, %i, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.add %a, %a : tensor<?x2xf32>
    stablehlo.return %j, %b : tensor<i32>, tensor<?x2xf32>
  }
  return %r#1 : tensor<?x2xf32>
}
