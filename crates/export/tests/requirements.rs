//! What a program needs of the sizes of its arguments is a constraint like those that a user states, and is checked before a
//! run.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use std::io::Cursor;
use std::sync::Arc;

use artifact_container::{Container, ContainerBuilder};
use artifact_dims::Assignment;
use artifact_export::{ExportError, Exported, Loaded, PackOptions, Shapes, Signature, pack, read_options};
use artifact_ir::types::{ElementType, Type};
use artifact_stablehlo::parse::parse_module;

const SUBTRACT: &str = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.subtract %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}";

const BOUNDED: &str = "func.func @main(%x: tensor<?x2xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x2xf32, #stablehlo.bounds<8, ?>> {
  return %x : tensor<?x2xf32, #stablehlo.bounds<8, ?>>
}";

fn program(text: &str) -> Exported {
    Exported::new(parse_module(text).into_module().unwrap()).unwrap()
}

fn exported(text: &str, shapes: &[&str], constraints: &[&str]) -> Result<Exported, ExportError> {
    let named = shapes.iter().enumerate();
    program(text).with_shapes(&Shapes {
        arguments: named
            .map(|(index, shape)| (format!("arg{index}"), (*shape).to_owned()))
            .collect(),
        constraints: constraints.iter().map(|text| (*text).to_owned()).collect(),
    })
}

fn file(exported: &Exported) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    pack(exported, &PackOptions::default(), &mut file).unwrap();
    file.into_inner()
}

fn loaded(file: Vec<u8>) -> Loaded {
    let container = Container::from_bytes_with(file, &read_options()).unwrap();
    Loaded::from_container(&Arc::new(container)).unwrap()
}

fn constraints(signature: &Signature) -> Vec<String> {
    let constraints = signature.dimensions.constraints().iter();
    constraints.map(ToString::to_string).collect()
}

/// What binding arguments of these shapes gives, or all that is wrong with them.
fn bound(signature: &Signature, shapes: &[&[u64]]) -> String {
    let types = shapes.iter().map(|shape| Type::tensor(shape, ElementType::F32));
    match signature.bind(&types.collect::<Vec<_>>(), &Assignment::default()) {
        Ok(values) => values.to_string(),
        Err(mismatches) => mismatches.to_string(),
    }
}

#[test]
fn sizes_that_an_operation_needs_to_be_equal() {
    let exported = exported(SUBTRACT, &["(n,)", "(m,)"], &[]).unwrap();
    assert_eq!(constraints(exported.signature()), ["n == m"]);
    let loaded = loaded(file(&exported));
    assert_eq!(loaded.signature(), exported.signature());
    for signature in [exported.signature(), loaded.signature()] {
        let text = bound(signature, &[&[2], &[3]]);
        for part in [
            "constraint n == m: 2 == 3 does not hold",
            "arg0.shape[0]",
            "arg1.shape[0]",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
        assert_eq!(bound(signature, &[&[3], &[3]]), "m = 3, n = 3");
    }
}

#[test]
fn names_that_contradict_the_program() {
    let refused = |shapes: &[&str], constraints: &[&str], part: &str| {
        let error = exported(SUBTRACT, shapes, constraints).unwrap_err();
        let text = match error.diagnostics.first() {
            Some(finding) => finding.message.clone(),
            None => error.to_string(),
        };
        assert!(text.contains(part), "no {part} in {text}");
    };
    refused(
        &["(n,)", "(n + 1,)"],
        &[],
        "'stablehlo.subtract' op needs n and n + 1 to be equal",
    );
    refused(&["(n,)", "(m,)"], &["n < m"], "needs n and m to be equal");
    // Each of two is possible, and not both together.
    let twice = SUBTRACT
        .replace("%y: tensor<?xf32>", "%y: tensor<?xf32>, %z: tensor<?xf32>")
        .replace("return %0", "%1 = stablehlo.add %0, %z : tensor<?xf32> return %1");
    let error = exported(&twice, &["(n,)", "(m,)", "(m + 1,)"], &[]).unwrap_err();
    let text = error.to_string();
    for part in [
        "`n == m` ('stablehlo.subtract')",
        "`n == m + 1` ('stablehlo.add')",
        "no such sizes",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn a_file_that_does_not_list_them() {
    let original = file(&exported(SUBTRACT, &["(n,)", "(m,)"], &[]).unwrap());
    let container = Container::from_bytes_with(original, &read_options()).unwrap();
    let mut manifest = container.manifest().clone();
    manifest.dimensions.as_mut().unwrap().constraints.clear();
    let mut output = Cursor::new(Vec::new());
    ContainerBuilder::new(manifest, &container.program().unwrap())
        .write_to(&mut output)
        .unwrap();
    let loaded = loaded(output.into_inner());
    assert_eq!(constraints(loaded.signature()), ["n == m"]);
}

#[test]
fn bounds_of_types() {
    let open = program(BOUNDED);
    let named = exported(BOUNDED, &["(2*b, 2)"], &[]).unwrap();
    assert_eq!(constraints(named.signature()), ["2*b <= 8"]);
    let [open_file, named_file] = [&open, &named].map(|exported| loaded(file(exported)));
    for signature in [open.signature(), open_file.signature()] {
        assert_eq!(bound(signature, &[&[8, 2]]), "");
        let text = bound(signature, &[&[9, 2]]);
        assert!(
            text.contains("arg0.shape[0] (= 9) is over the bound of 8"),
            "{text}"
        );
    }
    for signature in [named.signature(), named_file.signature()] {
        assert_eq!(bound(signature, &[&[8, 2]]), "b = 4");
        assert!(bound(signature, &[&[10, 2]]).contains("constraint 2*b <= 8: 10 <= 8 does not hold"));
    }
    let values = [(artifact_dims::Variable::new("b").unwrap(), 3)]
        .into_iter()
        .collect();
    let ty = named.signature().inputs[0].type_for(&values).unwrap();
    assert_eq!(ty.to_string(), "tensor<6x2xf32>");
    let error = exported(BOUNDED, &["(b, 2)"], &["b >= 9"])
        .unwrap_err()
        .to_string();
    assert!(error.contains("unsatisfiable"), "{error}");
}
