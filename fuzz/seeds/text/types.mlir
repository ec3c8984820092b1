func.func private @f(%a: tensor<4x!quant.uniform<i8:f32:0, {0.1:-30, 0.5:20, 1.0:0, 2.0:1}>>, %b: tuple<tensor<?xi4>, !stablehlo.token>, %c: tensor<?x2xf8E4M3FN, #stablehlo.bounds<4, ?>>, %d: tensor<complex<f64>>, %e: tensor<3x!quant.uniform<u8:f32, 3.4e-2:16>>) -> tensor<bf16> attributes {a.b = [1 : i8, "x\0A", unit, #foo.bar<baz>], sym = @f::@g, n = {x = 1.5 : f16, y = array<i1: true>}}
func.func @main(%t: !stablehlo.token, %n: tensor<0x3xui2>) -> !stablehlo.token {
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  %1 = chlo.erf %2 : tensor<f32> -> tensor<f32>
  %2 = stablehlo.constant dense<0x7FC00001> : tensor<f32>
  %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<f32>) -> tensor<f32>
  return %0 : !stablehlo.token
}
