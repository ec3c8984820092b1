//! What becomes a file of `jax.export` is what JAX can call. What it can was tried with JAX 0.10.2.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use artifact_export::{ExportError, Exported, JAX_STABLEHLO, Shapes, Waivers};
use artifact_ir::module::Module;
use artifact_stablehlo::bytecode;
use artifact_stablehlo::parse::parse_module;

const DOUBLE: &str = "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.add %x, %x : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}";

fn exported(text: &str, shape: Option<&str>, constraints: &[&str]) -> Exported {
    let exported = Exported::new(parse_module(text).into_module().unwrap()).unwrap();
    let Some(shape) = shape else { return exported };
    let shapes = Shapes {
        arguments: vec![("arg0".to_owned(), shape.to_owned())],
        constraints: constraints.iter().map(|text| (*text).to_owned()).collect(),
    };
    exported.with_shapes(&shapes).unwrap()
}

fn file(exported: &Exported) -> Result<artifact_jax::Exported, ExportError> {
    exported.to_jax(JAX_STABLEHLO, &Waivers::default())
}

#[track_caller]
fn refused(exported: &Exported, part: &str) {
    let error = file(exported).map(drop).unwrap_err().to_string();
    assert!(error.contains(part), "no {part} in {error}");
}

/// The program of a file, and the name of its function.
fn written(text: &str) -> (Module, String) {
    let file = file(&exported(text, None, &[])).unwrap();
    (bytecode::read(&file.module).unwrap().module, file.function_name)
}

#[test]
fn the_entry_is_called_main() {
    for name in ["main", "foo", "\"we ird\\22x\""] {
        let (module, _) = written(&DOUBLE.replace("main", name));
        assert!(module.function("main").is_some(), "{name}");
        assert_eq!(module.functions.iter().count(), 1);
    }
    let (_, name) = written(&DOUBLE.replace("main", "foo"));
    assert_eq!(name, "foo");
    let taken = "sdy.mesh @main = <[\"x\"=2]>\n".to_owned() + &DOUBLE.replace("main", "foo");
    refused(
        &exported(&taken, None, &[]),
        "something else in the module is called `main`",
    );
}

#[test]
fn sizes_from_which_jax_finds_names() {
    for shape in ["(b, 2)", "(2*b, 2)", "(8 - b, 2)"] {
        file(&exported(DOUBLE, Some(shape), &[])).unwrap();
    }
    for (shape, part) in [
        ("(b*c, 2)", "cannot find 'b' from the size 'b*c'"),
        ("(b + c, 2)", "cannot find"),
        ("(b^2, 2)", "cannot find 'b'"),
        ("(max(b, 4), 2)", "cannot find 'b'"),
        ("(min(b, 4), 2)", "cannot find 'b'"),
        ("(b // 2, 2)", "cannot find 'b'"),
    ] {
        refused(&exported(DOUBLE, Some(shape), &[]), part);
    }
    let two = DOUBLE.replace("%x: tensor<?x2xf32>)", "%x: tensor<?x2xf32>, %y: tensor<?xf32>)");
    let named = |first: &str, second: &str| {
        let exported = Exported::new(parse_module(&two).into_module().unwrap()).unwrap();
        let shape = |name: &str, shape: &str| (name.to_owned(), shape.to_owned());
        let arguments = vec![shape("arg0", first), shape("arg1", second)];
        let shapes = Shapes {
            arguments,
            constraints: Vec::new(),
        };
        exported.with_shapes(&shapes).unwrap()
    };
    // The order of the arguments does not matter, and a product is not divided.
    file(&named("(b + c, 2)", "(c,)")).unwrap();
    refused(&named("(b*c, 2)", "(c,)"), "cannot find 'b' from the size 'b*c'");
}

#[test]
fn sizes_of_zero() {
    refused(
        &exported(DOUBLE, Some("(b, 2)"), &["b >= 0"]),
        "`b >= 0` lets the size 'b' be 0",
    );
    let empty = |exported: &Exported| {
        file(exported).unwrap();
        exported.arguments_that_may_be_empty().unwrap()
    };
    assert!(empty(&exported(DOUBLE, Some("(b, 2)"), &[])).is_empty());
    assert_eq!(empty(&exported(DOUBLE, None, &[])), ["arg0"]);
    // As JAX exports a program, it asserts that its sizes are at least 1.
    let asserting = DOUBLE.replace(
        "%0 =",
        "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
         %one = stablehlo.constant dense<1> : tensor<i32>
         %holds = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         stablehlo.custom_call @shape_assertion(%holds, %n) {error_message = \"{0}\", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
         %0 =",
    );
    assert!(empty(&exported(&asserting, None, &[])).is_empty());
}

#[test]
fn bounds() {
    let bounded = DOUBLE.replace("?x2xf32", "?x2xf32, #stablehlo.bounds<8, ?>");
    refused(
        &exported(&bounded, None, &[]),
        "the argument `arg0` is tensor<?x2xf32, #stablehlo.bounds<8, ?>>",
    );
    refused(&exported(&bounded, Some("(b, 2)"), &[]), "no place for bounds");
}

#[test]
fn sizes_that_must_be_equal_have_one_name() {
    let text = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.subtract %x, %y : tensor<?xf32>
      return %0 : tensor<?xf32>
    }";
    let file = file(&exported(text, None, &[])).unwrap();
    let leaves = file.inputs.leaves.iter().chain(&file.outputs.leaves);
    let sizes: Vec<String> = leaves.map(|leaf| leaf.aval.shape[0].to_string()).collect();
    assert_eq!(sizes, ["d0", "d0", "d0"]);
}

#[test]
fn several_platforms() {
    let platforms = |text: &str| {
        let names = ["cpu", "cuda"].map(str::to_owned).to_vec();
        exported(text, None, &[]).with_platforms(names).unwrap()
    };
    let add = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
    refused(
        &platforms(add),
        "which this program does not take; export it for one platform",
    );
    let told = add.replace(
        "(%x",
        "(%p: tensor<i32> {jax.global_constant = \"_platform_index\"}, %x",
    );
    assert_eq!(file(&platforms(&told)).unwrap().platforms, ["cpu", "cuda"]);
    let wrong = exported(add, None, &[]).with_platforms(vec!["CPU".to_owned()]);
    assert!(wrong.unwrap_err().to_string().contains("did you mean `cpu`?"));
}
