//! Shardy: what is the identity on whole values, and bodies that are written for one device. Expected values are by hand.

#![expect(
    clippy::expect_used,
    reason = "a test fails where its program is not as it should be"
)]

use artifact_eval::{Options, evaluate};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

/// Runs `body` as `main`; how many expectations it met, or the message of what stops it.
fn run(meshes: &str, body: &str) -> Result<u64, String> {
    let text = format!("{meshes}\nfunc.func @main() {{\n{body}\nfunc.return\n}}");
    let module = parse_module(&text)
        .into_module()
        .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    assert!(verify(&module).is_empty(), "{:?}\n{text}", verify(&module));
    let main = module.function("main").expect("a function called main");
    let outcome =
        evaluate(&module, main, Vec::new(), &Options::default()).map_err(|error| error.to_string())?;
    assert!(outcome.failures.is_empty(), "{:?}\n{text}", outcome.failures);
    Ok(outcome.checks)
}

fn check(meshes: &str, body: &str) {
    let met = run(meshes, body).unwrap_or_else(|error| panic!("{error}\n{body}"));
    assert!(met > 0, "nothing is expected by\n{body}");
}

fn check_error(meshes: &str, body: &str, message: &str) {
    let error = run(meshes, body).expect_err(body);
    assert!(error.contains(message), "{error}\n{body}");
}

#[test]
fn whole_values_stay() {
    check(
        "sdy.mesh @m = <[\"x\"=2]>",
        "%0 = sdy.constant dense<[1, 2]> : tensor<2xi32>
         %1 = sdy.sharding_constraint %0 <@m, [{\"x\"}]> : tensor<2xi32>
         sdy.sharding_group %1 group_id=0 : tensor<2xi32>
         %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<2xi32>
         %3 = sdy.reshard %2 <@m, [{\"x\"}]> : tensor<2xi32>
         %4 = sdy.all_gather [{\"x\"}] %3 out_sharding=<@m, [{}]> : tensor<2xi32>
         %5 = sdy.named_computation<\"twice\">(%4) (%a: tensor<2xi32>) {
           %b = stablehlo.add %a, %a : tensor<2xi32>
           sdy.return %b : tensor<2xi32>
         } : (tensor<2xi32>) -> tensor<2xi32>
         check.expect_eq_const %5, dense<[2, 4]> : tensor<2xi32>",
    );
}

/// A body that adds ten times the number of its device to its part of 0, 1, 2...
fn numbered(axes: &str, parts: (&str, usize, usize), results: (&str, usize), expected: &str) -> String {
    let ((from, size, part), (to, whole)) = (parts, results);
    format!(
        "%0 = stablehlo.iota dim = 0 : tensor<{size}xi32>
         %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{from}]>] out_shardings=[<@m, [{to}]>] manual_axes={axes} (%a: tensor<{part}xi32>) {{
           %p = stablehlo.partition_id : tensor<ui32>
           %q = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
           %r = stablehlo.broadcast_in_dim %q, dims = [] : (tensor<i32>) -> tensor<{part}xi32>
           %t = stablehlo.constant dense<10> : tensor<{part}xi32>
           %u = stablehlo.multiply %r, %t : tensor<{part}xi32>
           %v = stablehlo.add %a, %u : tensor<{part}xi32>
           sdy.return %v : tensor<{part}xi32>
         }} : (tensor<{size}xi32>) -> tensor<{whole}xi32>
         check.expect_eq_const %1, dense<{expected}> : tensor<{whole}xi32>"
    )
}

#[test]
fn axes_divide_outermost_first() {
    check(
        "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>",
        &numbered(
            "{\"x\", \"y\"}",
            ("{\"y\", \"x\"}", 8, 2),
            ("{\"x\", \"y\"}", 8),
            "[0, 1, 14, 15, 22, 23, 36, 37]",
        ),
    );
}

#[test]
fn devices_stand_where_the_mesh_puts_them() {
    check(
        "sdy.mesh @m = <[\"x\"=2], device_ids=[1, 0]>",
        &numbered("{\"x\"}", ("{\"x\"}", 2, 1), ("{\"x\"}", 2), "[10, 1]"),
    );
}

#[test]
fn parts_of_axes() {
    let mesh = "sdy.mesh @m = <[\"x\"=4]>";
    check(
        mesh,
        &numbered(
            "{\"x\"}",
            ("{\"x\":(1)2}", 4, 2),
            ("{\"x\"}", 8),
            "[0, 1, 10, 11, 22, 23, 32, 33]",
        ),
    );
    check(
        mesh,
        &numbered(
            "{\"x\"}",
            ("{\"x\":(2)2}", 4, 2),
            ("{\"x\"}", 8),
            "[0, 1, 12, 13, 20, 21, 32, 33]",
        ),
    );
}

#[test]
fn devices_communicate() {
    for groups in [
        "dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>",
        "#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = \"x\">]>",
    ] {
        communicate(groups);
    }
}

fn communicate(groups: &str) {
    check(
        "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>",
        &"%0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
         %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{}, {}]>] manual_axes={\"x\"} (%a: tensor<1x2xi32>) {
           %s = \"stablehlo.all_reduce\"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = GROUPS, use_global_device_ids}> ({
           ^bb0(%l: tensor<i32>, %r: tensor<i32>):
             %t = stablehlo.add %l, %r : tensor<i32>
             stablehlo.return %t : tensor<i32>
           }) : (tensor<1x2xi32>) -> tensor<1x2xi32>
           sdy.return %s : tensor<1x2xi32>
         } : (tensor<2x2xi32>) -> tensor<1x2xi32>
         check.expect_eq_const %1, dense<[[4, 6]]> : tensor<1x2xi32>"
            .replace("GROUPS", groups),
    );
}

#[test]
fn what_is_not_evaluated_is_said() {
    let mesh = "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>";
    check_error(
        mesh,
        &numbered("{\"x\"}", ("{}", 2, 2), ("{}", 2), "[0, 1]"),
        "must be the same on devices",
    );
    check_error(
        mesh,
        &numbered("{\"x\"}", ("{\"x\"}", 2, 1), ("{}], unreduced={\"x\"", 1), "[0]")
            .replace("unreduced={\"x\"]", "unreduced={\"x\"}"),
        "unreduced",
    );
    check_error(
        "sdy.mesh @m = <[\"x\"=1024]>",
        &numbered("{\"x\"}", ("{}", 2, 2), ("{}", 2), "[0, 1]"),
        "number of simulated processes",
    );
    check_error(
        mesh,
        "%0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
         %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{\"x\"}]>] out_shardings=[<@m, [{\"x\"}]>] manual_axes={\"x\"} (%a: tensor<1xi32>) {
           %2 = sdy.manual_computation(%a) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}]>] manual_axes={\"y\"} (%b: tensor<1xi32>) {
             sdy.return %b : tensor<1xi32>
           } : (tensor<1xi32>) -> tensor<1xi32>
           sdy.return %2 : tensor<1xi32>
         } : (tensor<2xi32>) -> tensor<2xi32>
         check.expect_eq_const %1, dense<[1, 2]> : tensor<2xi32>",
        "inside another one",
    );
}
