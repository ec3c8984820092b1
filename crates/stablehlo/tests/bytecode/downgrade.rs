//! Operations with two versions. The older one says what the newer one says at its default, and nothing else (openxla/stablehlo,
//! `VhloToVersion.cpp`).

use super::{comes_back, needs};

/// `plain` can be written as `old`, the last version of the older form; `special` needs `new`, for the sake of `what`.
fn check(plain: &str, special: &str, what: &str, old: &str, new: &str) {
    comes_back(plain, old);
    comes_back(plain, new);
    needs(special, what, new, old);
}

fn elementwise(name: &str, accuracy: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
           %0 = \"stablehlo.{name}\"(%x) {accuracy} : (tensor<4xf32>) -> tensor<4xf32>
           return %0 : tensor<4xf32>
         }}"
    )
}

#[test]
fn accuracies_of_elementwise_functions() {
    let functions = [
        ("cbrt", "1.9.0", "1.10.0"),
        ("cosine", "1.9.0", "1.10.0"),
        ("exponential", "1.8.0", "1.9.0"),
        ("exponential_minus_one", "1.9.0", "1.10.0"),
        ("log", "1.9.0", "1.10.0"),
        ("log_plus_one", "1.9.0", "1.10.0"),
        ("logistic", "1.9.0", "1.10.0"),
        ("rsqrt", "1.9.0", "1.10.0"),
        ("sine", "1.9.0", "1.10.0"),
        ("sqrt", "1.9.0", "1.10.0"),
        ("tan", "1.9.0", "1.10.0"),
        ("tanh", "1.9.0", "1.10.0"),
    ];
    let accuracy = "{result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}";
    for (name, old, new) in functions {
        let what = format!("the attribute 'result_accuracy' of 'stablehlo.{name}'");
        check(
            &elementwise(name, ""),
            &elementwise(name, accuracy),
            &what,
            old,
            new,
        );
    }
}

/// The name of an operation's results, as many as there are.
fn results(count: usize) -> String {
    match count {
        1 => "%0".to_owned(),
        more => format!("%0:{more}"),
    }
}

fn all_gather(count: usize) -> String {
    let each = |text: &str| vec![text; count].join(", ");
    let (operands, from, to) = (each("%x"), each("tensor<8x2xf32>"), each("tensor<8x8xf32>"));
    let results = results(count);
    format!(
        "func.func @main(%x: tensor<8x2xf32>) {{
           {results} = \"stablehlo.all_gather\"({operands}) {{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : ({from}) -> ({to})
           return
         }}"
    )
}

fn all_reduce(count: usize) -> String {
    let each = |text: &str| vec![text; count].join(", ");
    let (operands, types) = (each("%x"), each("tensor<8x2xf32>"));
    let results = results(count);
    format!(
        "func.func @main(%x: tensor<8x2xf32>) {{
           {results} = \"stablehlo.all_reduce\"({operands}) ({{
             ^bb0(%a: tensor<f32>, %b: tensor<f32>):
               %1 = stablehlo.add %a, %b : tensor<f32>
               stablehlo.return %1 : tensor<f32>
           }}) {{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : ({types}) -> ({types})
           return
         }}"
    )
}

fn all_to_all(count: usize) -> String {
    let each = |text: &str| vec![text; count].join(", ");
    let (operands, from, to) = (each("%x"), each("tensor<4x16xf32>"), each("tensor<16x4xf32>"));
    let results = results(count);
    format!(
        "func.func @main(%x: tensor<4x16xf32>) {{
           {results} = \"stablehlo.all_to_all\"({operands}) {{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : ({from}) -> ({to})
           return
         }}"
    )
}

#[test]
fn collectives_of_several_operands() {
    let two = |name: &str| format!("'stablehlo.{name}' with 2 operands");
    check(
        &all_gather(1),
        &all_gather(2),
        &two("all_gather"),
        "1.4.0",
        "1.5.0",
    );
    check(
        &all_reduce(1),
        &all_reduce(2),
        &two("all_reduce"),
        "1.4.0",
        "1.5.0",
    );
    check(
        &all_to_all(1),
        &all_to_all(2),
        &two("all_to_all"),
        "1.4.0",
        "1.5.0",
    );
}

#[test]
fn a_broadcast_from_a_dynamic_root() {
    let plain = "func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
        %0 = \"stablehlo.collective_broadcast\"(%x) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : (tensor<16x8xf32>) -> tensor<16x8xf32>
        return %0 : tensor<16x8xf32>
    }";
    let special = "func.func @main(%x: tensor<16x8xf32>, %r: tensor<1xi32>) -> tensor<16x8xf32> {
        %0 = \"stablehlo.collective_broadcast\"(%x, %r) {has_dynamic_root, replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : (tensor<16x8xf32>, tensor<1xi32>) -> tensor<16x8xf32>
        return %0 : tensor<16x8xf32>
    }";
    let what = "'stablehlo.collective_broadcast' with 2 operands";
    check(plain, special, what, "1.19.0", "1.20.0");
}

fn composite(region: &str) -> String {
    format!(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {{
           %0 = \"stablehlo.composite\"(%x) {region} {{name = \"my.op\", decomposition = @impl, version = 1 : i32}} : (tensor<f32>) -> tensor<f32>
           return %0 : tensor<f32>
         }}
         func.func private @impl(%x: tensor<f32>) -> tensor<f32> {{
           return %x : tensor<f32>
         }}"
    )
}

#[test]
fn composites_with_regions() {
    let region = "({ ^bb0(%a: tensor<f32>): stablehlo.return %a : tensor<f32> })";
    let what = "'stablehlo.composite' with regions";
    check(&composite(""), &composite(region), what, "1.13.0", "1.14.0");
}

fn custom_call(tilings: &str) -> String {
    format!(
        "func.func @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {{
           %0 = \"stablehlo.custom_call\"(%x) {{
             api_version = 2 : i32, call_target_name = \"foo\",
             operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]{tilings}
           }} : (tensor<64x256xf32>) -> tensor<64x256xf32>
           return %0 : tensor<64x256xf32>
         }}"
    )
}

#[test]
fn tilings_of_results_of_custom_calls() {
    let tilings = ", result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]";
    let what = "the attribute 'result_tilings' of 'stablehlo.custom_call'";
    check(&custom_call(""), &custom_call(tilings), what, "1.17.0", "1.18.0");
}

fn dot_general(algorithm: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {{
           %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]{algorithm} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
           return %0 : tensor<2x2xf32>
         }}"
    )
}

#[test]
fn algorithms_of_contractions() {
    let algorithm = ", algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>";
    let what = "the attribute 'accumulation_type' of 'stablehlo.dot_general'";
    check(&dot_general(""), &dot_general(algorithm), what, "1.5.0", "1.6.0");
}

/// The older form has a second padding that does not count.
#[test]
fn dynamic_convolutions_always_have_an_older_form() {
    let text = "func.func @main(%x: tensor<1x8x8x207xf32>, %y: tensor<3x3x207x16xf32>, %p: tensor<2x2xi64>) -> tensor<1x?x?x16xf32> {
        %0 = \"stablehlo.dynamic_conv\"(%x, %y, %p) {
            window_strides = array<i64: 2, 2>, lhs_dilation = array<i64: 2, 2>, rhs_dilation = array<i64: 2, 2>,
            dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
            feature_group_count = 1 : i64, batch_group_count = 1 : i64
        } : (tensor<1x8x8x207xf32>, tensor<3x3x207x16xf32>, tensor<2x2xi64>) -> tensor<1x?x?x16xf32>
        return %0 : tensor<1x?x?x16xf32>
    }";
    for version in ["0.9.0", "0.19.0", "0.20.0", "1.20.0"] {
        comes_back(text, version);
    }
}

fn gather(name: &str, batching: bool) -> String {
    let (operand, dims, rank) = if batching {
        let dims = "collapsed_slice_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1, 2]";
        ("tensor<5x2x4x9xf32>", dims, 4)
    } else {
        let dims = "collapsed_slice_dims = [0, 1], start_index_map = [0, 1]";
        ("tensor<2x4x9xf32>", dims, 3)
    };
    let sizes = vec!["1"; rank].join(", ");
    let (argument, value, ty, sizes) = if name == "dynamic_gather" {
        let ty = format!(", tensor<{rank}xi32>");
        (format!(", %s: tensor<{rank}xi32>"), ", %s", ty, String::new())
    } else {
        (
            String::new(),
            "",
            String::new(),
            format!(", slice_sizes = array<i64: {sizes}>"),
        )
    };
    format!(
        "func.func @main(%x: {operand}, %i: tensor<1x5x2xi32>{argument}) -> tensor<1x5x1xf32> {{
           %0 = \"stablehlo.{name}\"(%x, %i{value}) {{
             dimension_numbers = #stablehlo.gather<offset_dims = [2], {dims}, index_vector_dim = 2>{sizes}
           }} : ({operand}, tensor<1x5x2xi32>{ty}) -> tensor<1x5x1xf32>
           return %0 : tensor<1x5x1xf32>
         }}"
    )
}

fn scatter(batching: bool) -> String {
    let (operand, dims) = if batching {
        let dims = "inserted_window_dims = [1, 2], input_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], scatter_indices_batching_dims = [0]";
        ("tensor<10x200x100x300xf32>", dims)
    } else {
        let dims = "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]";
        ("tensor<200x100x300xf32>", dims)
    };
    format!(
        "func.func @main(%x: {operand}, %i: tensor<10x2xi32>, %u: tensor<10x300xf32>) -> {operand} {{
           %0 = \"stablehlo.scatter\"(%x, %i, %u) ({{
             ^bb0(%a: tensor<f32>, %b: tensor<f32>):
               %1 = stablehlo.add %a, %b : tensor<f32>
               stablehlo.return %1 : tensor<f32>
           }}) {{
             scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], {dims}, index_vector_dim = 1>
           }} : ({operand}, tensor<10x2xi32>, tensor<10x300xf32>) -> {operand}
           return %0 : {operand}
         }}"
    )
}

#[test]
fn batching_dimensions_of_gathers_and_scatters() {
    for name in ["gather", "dynamic_gather"] {
        let what = format!("the attribute 'operand_batching_dims' of 'stablehlo.{name}'");
        check(&gather(name, false), &gather(name, true), &what, "1.0.0", "1.1.0");
    }
    let what = "the attribute 'input_batching_dims' of 'stablehlo.scatter'";
    check(&scatter(false), &scatter(true), what, "1.0.0", "1.1.0");
}

fn send(pairs: &str) -> String {
    format!(
        "func.func @main(%x: tensor<f32>, %t: !stablehlo.token) -> !stablehlo.token {{
           %0 = \"stablehlo.send\"(%x, %t) {{channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>{pairs}}} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
           return %0 : !stablehlo.token
         }}"
    )
}

fn recv(pairs: &str) -> String {
    format!(
        "func.func @main(%t: !stablehlo.token) -> !stablehlo.token {{
           %0:2 = \"stablehlo.recv\"(%t) {{channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>{pairs}}} : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
           return %0#1 : !stablehlo.token
         }}"
    )
}

#[test]
fn pairs_of_processes_in_transfers() {
    let pairs = ", source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>";
    let what = |name: &str| format!("the attribute 'source_target_pairs' of 'stablehlo.{name}'");
    check(&send(""), &send(pairs), &what("send"), "1.11.0", "1.12.0");
    check(&recv(""), &recv(pairs), &what("recv"), "1.11.0", "1.12.0");
}
