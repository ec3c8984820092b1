sdy.mesh @m = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}p1, {}], replicated={"y":(1)2}>}) -> tensor<8x16xf32> {
  %0 = sdy.sharding_constraint %a <mesh<["x"=2]>, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {"y":(2)2}]>] out_shardings=[<@m, [{"x"}, {"y":(2)2}]>] manual_axes={"x", "y"} (%b: tensor<4x8xf32>) {
    %c = stablehlo.abs %b {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>} : tensor<4x8xf32>
    sdy.return %c : tensor<4x8xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@m, [{}, {"y":(2)2, "x"}]> : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
