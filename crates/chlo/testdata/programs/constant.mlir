func.func public @main() -> tensor<2xi8> {
 %0 = "chlo.constant"() {value = dense<[1,2]> : tensor<2xi8>} : () -> tensor<2xi8>
 func.return %0 : tensor<2xi8>
}
