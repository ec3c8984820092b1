func.func @main() -> tensor<1x4x4x2xf32> {
  %x = stablehlo.iota dim = 1 : tensor<1x4x4x3xf32>
  %k = stablehlo.constant dense<0.5> : tensor<3x3x3x2xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = stablehlo.dot_general %0, %0, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2], precision = [HIGHEST, DEFAULT] : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
