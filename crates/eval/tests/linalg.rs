//! Runs the programs of `fixtures/linalg`: JAX's linear algebra on CPU, with what jaxlib's LAPACK makes of it.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its files are not as they should be"
)]

use std::path::{Path, PathBuf};

use artifact_eval::{Options, evaluate};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

#[test]
fn programs_meet_their_expectations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/linalg");
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 26, "{paths:?}");
    // The symbolic one is refined first: the tests of the command line run it.
    for path in paths.iter().filter(|path| !path.ends_with("symbolic.mlir")) {
        check(path);
    }
}

/// The program runs and meets every expectation, of which there are some.
fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.display();
    let module = parse_module(&text)
        .into_module()
        .unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
    assert!(verify(&module).is_empty(), "{name}: {:?}", verify(&module));
    let main = module.function("main").unwrap();
    let outcome = evaluate(&module, main, Vec::new(), &Options::default());
    let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error} at {:?}", error.source_offset()));
    assert!(outcome.checks > 0, "{name} expects nothing");
    assert!(outcome.failures.is_empty(), "{name}: {:?}", outcome.failures);
}

/// `main` stops, with an error that contains `message`.
fn check_error(call: &str, message: &str) {
    let text = format!(
        "func.func @main() {{
           %a = stablehlo.constant dense<1.0> : tensor<2x3xf64>
           %s = stablehlo.constant dense<1.0> : tensor<2x2xf64>
           %v = stablehlo.constant dense<1.0> : tensor<2xf64>
           {call}
           return
         }}"
    );
    let module = parse_module(&text)
        .into_module()
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    assert!(verify(&module).is_empty(), "{:?}\n{text}", verify(&module));
    let main = module.function("main").unwrap();
    let error = evaluate(&module, main, Vec::new(), &Options::default()).unwrap_err();
    assert!(error.to_string().contains(message), "{error}\n{text}");
}

#[test]
fn calls_that_no_routine_takes() {
    let square = "(tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)";
    check_error(
        "%0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : \
         (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<i32>)",
        "takes square matrices, not 2 rows and 3 columns",
    );
    check_error(
        &format!(
            "%0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%s) {{mhlo.backend_config = {{uplo = 88 : ui8}}}} : {square}"
        ),
        "the LAPACK option uplo is 'X'",
    );
    check_error(
        &format!("%0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%s) : {square}"),
        "the LAPACK option uplo is missing",
    );
    check_error(
        &format!(
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%s) {{mhlo.backend_config = {{uplo = 76 : ui8}}}} : {square}"
        ),
        "takes elements of type f32, tensor<2x2xf64> was given",
    );
    check_error(
        "%0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%v) : (tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)",
        "is no matrix",
    );
    check_error(
        "%0 = stablehlo.custom_call @lapack_dorgqr_ffi(%a, %s) : (tensor<2x3xf64>, tensor<2x2xf64>) -> tensor<2x3xf64>",
        "do not fit each other",
    );
    check_error(
        "%0 = stablehlo.custom_call @lapack_dorgqr_ffi(%a, %v) : (tensor<2x3xf64>, tensor<2xf64>) -> tensor<2x3xf64>",
        "2 rows and 3 columns hold no 2 reflectors",
    );
    check_error(
        "%0:3 = stablehlo.custom_call @lapack_dgehrd_ffi(%s) {mhlo.backend_config = {low = 0 : i32, high = 3 : i32}} : \
         (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<1xf64>, tensor<i32>)",
        "gehrd of 2 rows has no rows 0 to 3",
    );
    check_error(
        "%0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<3xf64>)",
        "is declared tensor<3xf64> and came out as tensor<2xf64>",
    );
    check_error(
        "%0:6 = stablehlo.custom_call @lapack_dgees_ffi(%s) {mhlo.backend_config = {mode = 86 : ui8, sort = 83 : ui8}} : \
         (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>, tensor<i32>)",
        "gees does not sort eigenvalues",
    );
}

#[test]
fn layouts_that_no_routine_takes() {
    check_error(
        "%b = stablehlo.constant dense<1.0> : tensor<2x2x2xf64>
         %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%b) {operand_layouts = [dense<[0, 1, 2]> : tensor<3xindex>], \
         result_layouts = [dense<[0, 1, 2]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>]} : \
         (tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2x2xf64>)",
        "of layout [0, 1, 2] is not evaluated",
    );
}

/// Exporters of 2024 asked for workspace, and multiplied b.
#[test]
fn older_calling_conventions() {
    let text = "func.func @main() {
         %a = stablehlo.constant dense<[[3.0], [4.0]]> : tensor<2x1xf64>
         %0:4 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], \
         result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>, \
         dense<0> : tensor<1xindex>]} : (tensor<2x1xf64>) -> (tensor<2x1xf64>, tensor<1xf64>, tensor<i32>, tensor<32xf64>)
         check.expect_almost_eq_const %0#0, dense<[[-5.0], [0.5]]> : tensor<2x1xf64> {tolerance = 1.0e-12 : f64}
         check.expect_almost_eq_const %0#1, dense<1.6> : tensor<1xf64> {tolerance = 1.0e-12 : f64}
         check.expect_eq_const %0#2, dense<0> : tensor<i32>
         %m = stablehlo.constant dense<4.0> : tensor<1x1xf64>
         %b = stablehlo.constant dense<[[2.0, 6.0]]> : tensor<1x2xf64>
         %alpha = stablehlo.constant dense<10.0> : tensor<f64>
         %1 = stablehlo.custom_call @lapack_dtrsm_ffi(%m, %b, %alpha) {mhlo.backend_config = {diag = \"N\", side = 76 : i8, \
         trans_x = 78 : i32, uplo = 76 : ui8}} : (tensor<1x1xf64>, tensor<1x2xf64>, tensor<f64>) -> tensor<1x2xf64>
         check.expect_eq_const %1, dense<[[5.0, 15.0]]> : tensor<1x2xf64>
         return
       }";
    let module = parse_module(text).into_module().unwrap();
    assert!(verify(&module).is_empty(), "{:?}", verify(&module));
    let main = module.function("main").unwrap();
    let outcome = evaluate(&module, main, Vec::new(), &Options::default()).unwrap();
    assert_eq!(outcome.checks, 4);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
}
