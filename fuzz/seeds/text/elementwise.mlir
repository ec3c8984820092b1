module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.arg_info = "x"} loc("x")) -> (tensor<2x3xf32> {jax.result_info = "y"}) {
    %cst = stablehlo.constant dense<[[1.0, -2.5e-3, 0x7F800000], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
    %0 = stablehlo.add %arg0, %cst : tensor<2x3xf32> loc(#loc1)
    %1 = stablehlo.tanh %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}
#loc1 = loc("f.py":1:2 to :3)
