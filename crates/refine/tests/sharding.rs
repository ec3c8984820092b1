//! Sizes through bodies that see a part of each value.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use artifact_dims::Scope;
use artifact_ir::verify::verify;
use artifact_refine::{Fact, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};

const PROGRAM: &str = "sdy.mesh @m = <[\"x\"=2]>
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{\"x\"}, {}]>] manual_axes={\"x\"} (%b: tensor<?x4xf32>) {
    %1 = sdy.named_computation<\"n\">(%b) (%c: tensor<?x4xf32>) {
      %d = stablehlo.negate %c : tensor<?x4xf32>
      sdy.return %d : tensor<?x4xf32>
    } : (tensor<?x4xf32>) -> tensor<?x4xf32>
    sdy.return %1 : tensor<?x4xf32>
  } : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = sdy.sharding_constraint %0 <@m, [{\"x\"}, {}]> : tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}";

fn refined(rows: u64) -> Result<String, String> {
    let module = parse_module(PROGRAM).into_module().unwrap();
    assert_eq!(verify(&module), []);
    let argument = artifact_ir::types::Type::tensor(&[rows, 4], artifact_ir::types::ElementType::F32);
    let entry = module.entry().unwrap();
    let refined = refine(&module, entry, &[Fact::of_type(argument)], &Scope::default());
    let refined = refined.map_err(|error| error.to_string())?;
    assert!(refined.unknown.is_empty(), "{:?}", refined.unknown);
    Ok(print_module(&refined.module, &PrintOptions::default()))
}

#[test]
fn parts_get_their_size() {
    let text = refined(6).unwrap();
    assert!(text.contains("sdy.mesh @m"), "{text}");
    assert!(text.contains("%arg1: tensor<3x4xf32>"), "{text}");
    assert!(
        text.contains("stablehlo.negate %arg2 : tensor<3x4xf32>"),
        "{text}"
    );
    assert!(text.contains("(tensor<6x4xf32>) -> tensor<6x4xf32>"), "{text}");
    assert!(!text.contains('?'), "{text}");
}

#[test]
fn what_does_not_divide_is_refused() {
    let error = refined(5).unwrap_err();
    assert!(error.contains("no 2 equal parts"), "{error}");
}
