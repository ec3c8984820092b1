func.func @main() -> tensor<i64> {
  %0 = stablehlo.constant dense<0> : tensor<i64>
  %1:2 = stablehlo.while(%i = %0, %s = %0) : tensor<i64>, tensor<i64>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i64>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %a = stablehlo.add %i, %one : tensor<i64>
    %b = call @add(%s, %i) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    stablehlo.return %a, %b : tensor<i64>, tensor<i64>
  }
  return %1#1 : tensor<i64>
}
func.func private @add(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.add %a, %b : tensor<i64>
  return %0 : tensor<i64>
}
