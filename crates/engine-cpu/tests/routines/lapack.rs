//! LAPACK, as JAX's exports call it. The numbers are chosen so that every step is exact; what must not be read is 9.

use crate::{check, interpreted};

const SINGLE: &str = "dense<[0, 1]> : tensor<2xindex>";
const BATCH: &str = "dense<[1, 2, 0]> : tensor<3xindex>";

/// A factorisation: the type of the matrices, that of the info, and their layouts.
fn potrf(
    routine: &str,
    [ty, info]: [&str; 2],
    [layout, order]: [&str; 2],
    letter: u8,
    matrices: &str,
) -> String {
    format!(
        r#"
func.func @main() -> ({ty}, {info}) {{
  %a = stablehlo.constant dense<{matrices}> : {ty}
  %r:2 = stablehlo.custom_call @lapack_{routine}_ffi(%a) {{api_version = 4 : i32, mhlo.backend_config = {{uplo = {letter} : ui8}},
    operand_layouts = [{layout}], result_layouts = [{layout}, {order}]}} : ({ty}) -> ({ty}, {info})
  return %r#0, %r#1 : {ty}, {info}
}}"#
    )
}

fn one(letter: u8, matrix: &str) -> String {
    let layouts = [SINGLE, "dense<> : tensor<0xindex>"];
    potrf(
        "spotrf",
        ["tensor<3x3xf32>", "tensor<i32>"],
        layouts,
        letter,
        matrix,
    )
}

fn several(matrices: &[&str]) -> String {
    let count = matrices.len();
    let (ty, info) = (format!("tensor<{count}x3x3xf32>"), format!("tensor<{count}xi32>"));
    let matrices = format!("[{}]", matrices.join(", "));
    potrf(
        "spotrf",
        [&ty, &info],
        [BATCH, "dense<0> : tensor<1xindex>"],
        b'L',
        &matrices,
    )
}

const LOWER: &str = "[[4.0, 9.0, 9.0], [2.0, 10.0, 9.0], [-2.0, 5.0, 6.0]]";

#[test]
fn factors_of_cholesky() {
    check(&one(b'L', LOWER));
    check(&one(
        b'U',
        "[[4.0, 2.0, -2.0], [9.0, 10.0, 5.0], [9.0, 9.0, 6.0]]",
    ));
    check(&several(&[LOWER, LOWER]));
    let complex = "[[(4.0, 0.0), (9.0, 9.0)], [(2.0, 2.0), (3.0, 0.0)]]";
    let types = ["tensor<2x2xcomplex<f32>>", "tensor<i32>"];
    check(&potrf(
        "cpotrf",
        types,
        [SINGLE, "dense<> : tensor<0xindex>"],
        b'L',
        complex,
    ));
}

#[test]
fn a_matrix_without_a_factor_is_declined() {
    let bad = "[[4.0, 9.0, 9.0], [2.0, -10.0, 9.0], [-2.0, 5.0, 6.0]]";
    let nan = "[[4.0, 9.0, 9.0], [2.0, 0x7FC00000, 9.0], [-2.0, 5.0, 6.0]]";
    check(&several(&[LOWER, bad]));
    check(&several(&[nan, LOWER]));
}

#[test]
fn triangular_systems() {
    for side in [b'L', b'R'] {
        for uplo in [b'L', b'U'] {
            for diag in [b'N', b'U'] {
                for trans in [b'N', b'T', b'C'] {
                    check(&trsm([side, uplo, diag, trans], ["", "", ""]));
                }
            }
        }
    }
}

#[test]
fn a_factor_of_the_right_side_is_interpreted() {
    let factor = [", %f", ", tensor<f32>", ", dense<> : tensor<0xindex>"];
    let found = interpreted(&trsm([b'L', b'L', b'N', b'N'], factor));
    assert_eq!(found, ["stablehlo.custom_call"]);
}

/// A system, with one more operand, its type and its layout.
fn trsm([side, uplo, diag, trans]: [u8; 4], [operand, ty, layout]: [&str; 3]) -> String {
    let matrix = match (uplo, diag) {
        (b'L', b'N') => "[[2.0, 9.0, 9.0], [1.0, 4.0, 9.0], [-2.0, 3.0, 1.0]]",
        (b'L', _) => "[[9.0, 9.0, 9.0], [1.0, 9.0, 9.0], [-2.0, 3.0, 9.0]]",
        (_, b'N') => "[[2.0, 1.0, -2.0], [9.0, 4.0, 3.0], [9.0, 9.0, 1.0]]",
        _ => "[[9.0, 1.0, -2.0], [9.0, 9.0, 3.0], [9.0, 9.0, 9.0]]",
    };
    let (right, values) = match side {
        b'L' => ("tensor<3x2xf32>", "[[4.0, 8.0], [2.0, -6.0], [1.0, 3.0]]"),
        _ => ("tensor<2x3xf32>", "[[4.0, 2.0, 1.0], [8.0, -6.0, 3.0]]"),
    };
    format!(
        r#"
func.func @main() -> {right} {{
  %f = stablehlo.constant dense<2.0> : tensor<f32>
  %a = stablehlo.constant dense<{matrix}> : tensor<3x3xf32>
  %b = stablehlo.constant dense<{values}> : {right}
  %r = stablehlo.custom_call @lapack_strsm_ffi(%a, %b{operand}) {{api_version = 4 : i32,
    mhlo.backend_config = {{diag = {diag} : ui8, side = {side} : ui8, trans_x = {trans} : ui8, uplo = {uplo} : ui8}},
    operand_layouts = [{SINGLE}, {SINGLE}{layout}], result_layouts = [{SINGLE}]}} : (tensor<3x3xf32>, {right}{ty}) -> {right}
  return %r : {right}
}}"#
    )
}
