//! Sizes that operations need to be equal: what each rule of the specification demands, and no more.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use artifact_dims::{Scope, parse_shape};
use artifact_ir::types::{Dim, TensorType};
use artifact_refine::{Fact, refine};
use artifact_stablehlo::parse::parse_module;

/// What a function requires for arguments of these shapes, or why it is refused.
fn requirements(program: &str, shapes: &[&str], constraints: &[&str]) -> String {
    let module = parse_module(program).into_module().unwrap();
    let entry = module.entry().unwrap();
    let declared = module.functions[entry].arguments.iter().zip(shapes);
    let facts = declared.map(|(argument, shape)| {
        let dims: Box<[Dim]> = parse_shape(shape, None)
            .unwrap()
            .into_iter()
            .map(Dim::from)
            .collect();
        let element = argument.ty.as_tensor().unwrap().element.clone();
        Fact::of_type(TensorType::new(dims, element).into())
    });
    let scope = constraints
        .iter()
        .fold(Scope::builder(), |scope, text| scope.parse(text).unwrap())
        .build()
        .unwrap();
    match refine(&module, entry, &facts.collect::<Vec<_>>(), &scope) {
        Ok(refined) => {
            let required = refined.requirements.iter();
            let text: Vec<String> = required
                .map(|one| format!("{}: {}", one.operation, one.constraint))
                .collect();
            text.join("; ")
        }
        Err(error) => format!("error: {error}"),
    }
}

/// A function of arguments of one or two unknown sizes with this body, of which `%0` is the result.
fn function(ranks: &[usize], body: &str, result: &str) -> String {
    let ty = |rank: &usize| format!("tensor<{}f32>", "?x".repeat(*rank));
    let arguments = ranks
        .iter()
        .enumerate()
        .map(|(index, rank)| format!("%x{index}: {}", ty(rank)));
    let arguments: Vec<String> = arguments.collect();
    format!(
        "func.func @main({}) -> {result} {{ {body} return %0 : {result} }}",
        arguments.join(", ")
    )
}

#[track_caller]
fn check(ranks: &[usize], body: &str, result: &str, shapes: &[&str], expected: &str) {
    assert_eq!(
        requirements(&function(ranks, body, result), shapes, &[]),
        expected,
        "{body}"
    );
}

const ADD: &str = "%0 = stablehlo.add %x0, %x1 : tensor<?xf32>";

#[test]
fn elements_one_by_one() {
    let add = |shapes: &[&str], expected: &str| check(&[1, 1], ADD, "tensor<?xf32>", shapes, expected);
    add(&["(n,)", "(n,)"], "");
    add(&["(n,)", "(m,)"], "stablehlo.add: n == m");
    add(&["(2*n,)", "(m,)"], "stablehlo.add: 2*n == m");
    add(&["(n,)", "(4,)"], "stablehlo.add: n == 4");
    add(
        &["(n,)", "(n + 1,)"],
        "error: 'stablehlo.add' op needs n and n + 1 to be equal, which they are for no sizes",
    );
    let clamp =
        "%0 = stablehlo.clamp %x0, %x1, %x2 : (tensor<f32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>";
    let shapes = ["()", "(n,)", "(m,)"];
    check(
        &[0, 1, 1],
        clamp,
        "tensor<?xf32>",
        &shapes,
        "stablehlo.clamp: n == m",
    );
}

#[test]
fn a_declared_result_counts() {
    let body = "%0 = stablehlo.negate %x0 : (tensor<?xf32>) -> tensor<4xf32>";
    check(&[1], body, "tensor<4xf32>", &["(n,)"], "stablehlo.negate: n == 4");
}

#[test]
fn dimensions_of_other_operations() {
    check(
        &[2, 2],
        "%0 = stablehlo.dot_general %x0, %x1, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        "tensor<?x?xf32>",
        &["(a, b)", "(c, d)"],
        "stablehlo.dot_general: b == c",
    );
    check(
        &[2, 2],
        "%0 = stablehlo.concatenate %x0, %x1, dim = 1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        "tensor<?x?xf32>",
        &["(a, b)", "(c, d)"],
        "stablehlo.concatenate: a == c",
    );
    check(
        &[2],
        "%0 = \"stablehlo.cholesky\"(%x0) {lower = true} : (tensor<?x?xf32>) -> tensor<?x?xf32>",
        "tensor<?x?xf32>",
        &["(a, b)"],
        "stablehlo.cholesky: a == b",
    );
}

/// A size that may be 1, or only has to be small enough, need not be equal to the other.
#[test]
fn what_is_no_equality() {
    let broadcast = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }";
    assert_eq!(requirements(broadcast, &["(n,)", "(m,)"], &[]), "");
    let pad = "%0 = stablehlo.dynamic_update_slice %x0, %x1, %i : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>";
    let body = format!("%i = stablehlo.constant dense<0> : tensor<i32> {pad}");
    check(&[1, 1], &body, "tensor<?xf32>", &["(n,)", "(m,)"], "");
}

#[test]
fn what_is_known_counts() {
    let program = function(&[1, 1], ADD, "tensor<?xf32>");
    let of = |constraints: &[&str]| requirements(&program, &["(n,)", "(m,)"], constraints);
    assert_eq!(of(&["n == m"]), "");
    assert_eq!(of(&["n >= m", "m >= n"]), "");
    assert!(of(&["n > m"]).starts_with("error: 'stablehlo.add' op needs n and m to be equal"));
}

/// Each function once, and only what always runs: a branch or a loop may not.
#[test]
fn what_always_runs() {
    let program = |body: &str| {
        format!(
            "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {{
               {body}
               return %0 : tensor<?xf32>
             }}
             func.func private @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {{
               %0 = stablehlo.add %x, %y : tensor<?xf32>
               %1 = stablehlo.multiply %y, %0 : tensor<?xf32>
               return %1 : tensor<?xf32>
             }}"
        )
    };
    let call = "func.call @sum(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>";
    let shapes = ["(n,)", "(m,)", "()"];
    let of = |body: &str| requirements(&program(body), &shapes, &[]);
    assert_eq!(of(&format!("%0 = {call}")), "stablehlo.add: n == m");
    let branch = |predicate: &str| {
        format!(
            "%t = stablehlo.constant dense<true> : tensor<i1>
             %0 = \"stablehlo.if\"({predicate}) ({{
               %s = {call} stablehlo.return %s : tensor<?xf32>
             }}, {{ stablehlo.return %x : tensor<?xf32> }}) : (tensor<i1>) -> tensor<?xf32>"
        )
    };
    assert_eq!(of(&branch("%p")), "");
    assert_eq!(of(&branch("%t")), "stablehlo.add: n == m");
    // The function is the same one where it is called in a branch first.
    let both = format!("{} %1 = {call}", branch("%p"));
    assert_eq!(of(&both), "stablehlo.add: n == m");
    let repeated = format!(
        "%0 = stablehlo.while(%a = %x) : tensor<?xf32>
           cond {{ stablehlo.return %p : tensor<i1> }}
           do {{ %s = {call} stablehlo.return %a : tensor<?xf32> }}"
    );
    assert_eq!(of(&repeated), "");
}
