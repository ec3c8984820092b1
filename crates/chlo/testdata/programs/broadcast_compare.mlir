func.func public @main(%a: tensor<4x?xf32>, %b: tensor<?xf32>) -> tensor<4x?xi1> {
 %0 = "chlo.broadcast_compare"(%a, %b) {comparison_direction = #chlo<comparison_direction GT>, compare_type = #chlo<comparison_type TOTALORDER>, broadcast_dimensions = array<i64: 1>} : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xi1>
 func.return %0 : tensor<4x?xi1>
}
