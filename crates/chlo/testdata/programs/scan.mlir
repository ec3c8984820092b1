func.func public @main(%a: tensor<4xi32>, %b: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
 %0:2 = "chlo.scan"(%a, %b) ({
 ^bb0(%x: tensor<i32>, %c: tensor<i32>):
 %s = stablehlo.add %x, %c : tensor<i32>
 stablehlo.return %s, %s : tensor<i32>, tensor<i32>
 }) {dimension = 0 : i64, operand_segment_sizes = array<i32: 1, 1>, result_segment_sizes = array<i32: 1, 1>} : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
 func.return %0#0, %0#1 : tensor<4xi32>, tensor<i32>
}
