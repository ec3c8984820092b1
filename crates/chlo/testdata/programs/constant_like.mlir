func.func public @main(%a: tensor<4x?xf32>) -> tensor<4x?xcomplex<f32>> {
 %0 = "chlo.constant_like"(%a) {value = #complex.number<:f32 1.5, -2.0>} : (tensor<4x?xf32>) -> tensor<4x?xcomplex<f32>>
 func.return %0 : tensor<4x?xcomplex<f32>>
}
