func.func @main() {
  %x = stablehlo.constant dense<"0x000102030405060708090A0B"> : tensor<3x4xui8>
  %i = stablehlo.constant dense<[[0], [2]]> : tensor<2x1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false}> : (tensor<3x4xui8>, tensor<2x1xi32>) -> tensor<2x4xui8>
  %1 = stablehlo.slice %x [0:2, 1:4:2] : (tensor<3x4xui8>) -> tensor<2x2xui8>
  %2 = "sta\lehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %c = stablehlo.compare GT, %a, %b : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3x4xui8>) -> tensor<3x4xui8>
  check.expect_eq %0, %0 : tensor<2x4xui8>
  check.expect_eq_const %1, dense<1> : tensor<2x2xui8>
  return
}
