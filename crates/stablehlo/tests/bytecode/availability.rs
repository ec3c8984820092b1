//! What came with which version (openxla/stablehlo, `VhloDialect.td`, version log): refused in the one before, written in its own.

use super::{comes_back, needs};

fn of_type(ty: &str) -> String {
    format!("func.func @main(%x: {ty}) -> {ty} {{ return %x : {ty} }}")
}

#[test]
fn element_types() {
    let types = [
        ("f8E4M3FNUZ", "0.9.0", "0.10.0"),
        ("f8E5M2FNUZ", "0.9.0", "0.10.0"),
        ("f8E4M3B11FNUZ", "0.10.0", "0.11.0"),
        ("i2", "1.1.0", "1.2.0"),
        ("ui2", "1.1.0", "1.2.0"),
        ("f8E4M3", "1.6.0", "1.7.0"),
        ("f8E3M4", "1.6.0", "1.7.0"),
        ("f4E2M1FN", "1.7.0", "1.8.0"),
        ("f6E2M3FN", "1.7.0", "1.8.0"),
        ("f6E3M2FN", "1.7.0", "1.8.0"),
        ("f8E8M0FNU", "1.7.0", "1.8.0"),
    ];
    for (element, before, since) in types {
        let text = of_type(&format!("tensor<2x{element}>"));
        needs(&text, &format!("the element type '{element}'"), since, before);
    }
    let always = [
        "i1",
        "i4",
        "i8",
        "i16",
        "i32",
        "i64",
        "ui4",
        "ui8",
        "ui16",
        "ui32",
        "ui64",
        "bf16",
        "f16",
        "f32",
        "f64",
        "f8E4M3FN",
        "f8E5M2",
        "complex<f32>",
        "complex<f64>",
    ];
    for element in always {
        comes_back(&of_type(&format!("tensor<2x{element}>")), "0.9.0");
    }
}

#[test]
fn other_types() {
    let axis = "!quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>";
    let text = of_type(&format!("tensor<2x{axis}>"));
    needs(&text, &format!("the type '{axis}'"), "0.18.0", "0.17.0");
    needs(
        &of_type("memref<2xf32>"),
        "the type 'memref<2xf32>'",
        "1.13.0",
        "1.12.0",
    );
    let future = "!stablehlo.future<tensor<2xf32>>";
    needs(
        &of_type(future),
        &format!("the type '{future}'"),
        "1.15.0",
        "1.14.0",
    );
    let always = [
        "tensor<?x3xf32>",
        "tensor<?xf32, #stablehlo.bounds<16>>",
        "tensor<*xf32>",
        "tuple<tensor<f32>, tensor<i32>>",
        "!stablehlo.token",
        "tensor<2x!quant.uniform<i8:f32, 34.0:16>>",
    ];
    for ty in always {
        comes_back(&of_type(ty), "0.9.0");
    }
}

#[test]
fn operations() {
    let tan = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.tan %x : tensor<f32> return %0 : tensor<f32> }";
    needs(tan, "'stablehlo.tan'", "1.4.0", "1.3.0");
    let broadcast = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = \"stablehlo.collective_broadcast\"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
        return %0 : tensor<2xf32>
    }";
    needs(broadcast, "'stablehlo.collective_broadcast'", "0.16.0", "0.15.0");
    let composite = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %0 = stablehlo.composite \"my.op\" %x {decomposition = @impl} : (tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
    }
    func.func private @impl(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";
    needs(composite, "'stablehlo.composite'", "0.19.0", "0.18.0");
    let start = "func.func @main(%x: tensor<2xf32>) {
        %0 = \"stablehlo.async_start\"(%x) ({
          ^bb0(%y: tensor<2xf32>):
            %1 = \"stablehlo.collective_permute\"(%y) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
            stablehlo.return %1 : tensor<2xf32>
        }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
        %2 = \"stablehlo.async_done\"(%0) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
        return
    }";
    needs(start, "'stablehlo.async_start'", "1.15.0", "1.14.0");
    let reduce = "func.func @main(%x: tensor<2xf32>, %r: tensor<1xi32>) {
        %0 = \"stablehlo.collective_reduce\"(%x, %r) ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %1 = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %1 : tensor<f32>
        }) {has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
        return
    }";
    needs(reduce, "'stablehlo.collective_reduce'", "1.19.0", "1.18.0");
}

/// Forms of operations that have one row in all versions.
#[test]
fn uses_of_operations() {
    let reduce = "func.func @main(%x: tensor<4xf32>, %i: tensor<f64>) -> tensor<f64> {
        %0 = \"stablehlo.reduce\"(%x, %i) ({
          ^bb0(%a: tensor<f64>, %b: tensor<f64>):
            %1 = stablehlo.add %a, %b : tensor<f64>
            stablehlo.return %1 : tensor<f64>
        }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f64>) -> tensor<f64>
        return %0 : tensor<f64>
    }";
    let what = "'stablehlo.reduce' whose result has another element type than its operand";
    needs(reduce, what, "0.17.0", "0.16.0");
    let typed = "func.func @main() {
        \"stablehlo.custom_call\"() {call_target_name = \"f\", api_version = 4 : i32, has_side_effect = true, backend_config = {a = 1 : i32}} : () -> ()
        return
    }";
    let what = "'stablehlo.custom_call' with the typed calling convention";
    needs(typed, what, "1.3.0", "1.2.0");
    let mesh = "func.func @main(%x: tensor<f32>) {
        %0 = \"stablehlo.all_reduce\"(%x) ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %1 = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %1 : tensor<f32>
        }) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = \"x\">]>} : (tensor<f32>) -> tensor<f32>
        return
    }
    sdy.mesh @mesh = <[\"x\"=2]>";
    let error = super::written(&super::parsed(mesh), "1.15.0", false).expect_err("meshes are newer");
    assert!(error.to_string().contains("needs StableHLO 1.16.0"), "{error}");
    comes_back(mesh, "1.16.0");
}

#[test]
fn other_dialects() {
    let sharded = "sdy.mesh @mesh = <[\"x\"=2]>
    func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> tensor<4xf32> {
        %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>
        return %0 : tensor<4xf32>
    }";
    let error = super::written(&super::parsed(sharded), "1.10.0", false).expect_err("Shardy is newer");
    assert!(error.to_string().contains("needs StableHLO 1.11.0"), "{error}");
    comes_back(sharded, "1.11.0");
    let cast = "func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
        %0 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<?xf32>
        return %0 : tensor<?xf32>
    }";
    let error = super::written(&super::parsed(cast), "1.20.0", false).expect_err("readers leave it out");
    let message = "'builtin.unrealized_conversion_cast' has no form in portable bytecode";
    assert_eq!(error.to_string(), message);
    let unit = "func.func @main(%x: tensor<f32> {mine.flag}) -> tensor<f32> { return %x : tensor<f32> }";
    let what = "the attribute `unit`, which VHLO has no form for,";
    needs(unit, what, "1.11.0", "1.10.0");
}

#[test]
fn versions_that_do_not_exist() {
    let module = super::parsed("func.func @main() { return }");
    for asked in ["0.8.0", "1.21.0", "2.0.0"] {
        let error = super::written(&module, asked, false).expect_err("there is no such version");
        let message = format!("StableHLO {asked} cannot be written: versions 0.9.0 to 1.20.0 can");
        assert_eq!(error.to_string(), message);
    }
    // A patch changes the producer's name and nothing else.
    let own = |asked: &str| super::written(&module, asked, false).expect("it has no more than a function");
    assert_eq!(own("1.13.7").len(), own("1.13.0").len());
    assert_eq!(super::reread(own("1.13.7")).producer, "StableHLO_v1.13.7");
}
