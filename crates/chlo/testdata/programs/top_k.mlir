func.func public @main(%a: tensor<4x?xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
 %0:2 = "chlo.top_k"(%a) {k = 2 : i64} : (tensor<4x?xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
 func.return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xi32>
}
