//! Named dimensions: what they say is the same before and after the way through a file, and a file that lies is refused.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use std::io::Cursor;
use std::sync::Arc;

use artifact_container::manifest::{Dim, Manifest};
use artifact_container::{Container, ContainerBuilder};
use artifact_dims::Assignment;
use artifact_export::{ExportError, Exported, Loaded, PackOptions, Shapes, Signature, pack, read_options};
use artifact_ir::types::{ElementType, Type};
use artifact_stablehlo::parse::parse_module;

const PROGRAM: &str = "func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}";

fn exported(shapes: &[(&str, &str)], constraints: &[&str]) -> Result<Exported, ExportError> {
    let module = parse_module(PROGRAM).into_module().unwrap();
    let shapes = Shapes {
        arguments: shapes
            .iter()
            .map(|(name, shape)| ((*name).to_owned(), (*shape).to_owned()))
            .collect(),
        constraints: constraints.iter().map(|text| (*text).to_owned()).collect(),
    };
    Exported::new(module)?.with_shapes(&shapes)
}

fn sample() -> Exported {
    exported(
        &[("arg0", "(a + b, 2*a)"), ("arg1", "(a*b,)")],
        &["b <= 8", "0 <= a"],
    )
    .unwrap()
}

fn file(exported: &Exported) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    pack(exported, &PackOptions::default(), &mut file).unwrap();
    file.into_inner()
}

fn loaded(file: Vec<u8>) -> Result<Loaded, ExportError> {
    let container = Container::from_bytes_with(file, &read_options()).unwrap();
    Loaded::from_container(&Arc::new(container))
}

/// What binding the sizes gives, or all that is wrong with them.
fn bound(signature: &Signature, x: [u64; 2], y: u64) -> String {
    let types = [
        Type::tensor(&x, ElementType::F32),
        Type::tensor(&[y], ElementType::F32),
    ];
    match signature.bind(&types, &Assignment::default()) {
        Ok(values) => format!("{values}"),
        Err(mismatches) => mismatches.to_string(),
    }
}

#[test]
fn a_file_says_the_same() {
    let exported = sample();
    let loaded = loaded(file(&exported)).unwrap();
    assert_eq!(loaded.signature(), exported.signature());
    assert_eq!(
        exported.signature().outputs[0].shape_text(),
        "tensor<(2*a)x(b + a)xf32>"
    );
    for (x, y, part) in [
        ([5, 4], 6, "a = 2"),
        ([5, 3], 6, "division had remainder 1"),
        ([5, 4], 7, "arg1.shape[0] (= 7) and the specification 'a*b' (= 6)"),
        ([12, 4], 20, "b <= 8"),
        ([2, 4], 0, "'b', found 0"),
        ([3, 0], 0, "a = 0"),
    ] {
        let before = bound(exported.signature(), x, y);
        assert_eq!(bound(loaded.signature(), x, y), before);
        assert!(before.contains(part), "{x:?} {y}: {before}");
    }
}

#[test]
fn every_mismatch_is_reported() {
    let exported = sample();
    let types = [
        Type::tensor(&[5], ElementType::F32),
        Type::tensor(&[6], ElementType::I32),
    ];
    let mismatches = exported
        .signature()
        .bind(&types, &Assignment::default())
        .unwrap_err();
    let text = mismatches.to_string();
    for part in [
        "rank mismatch for `arg0`",
        "dtype mismatch for `arg1`",
        "variable 'a'",
        "variable 'b'",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn a_manifest_that_lies_about_dimensions() {
    type Lie = fn(&mut Manifest);
    let lies: [(Lie, &str); 7] = [
        (|manifest| manifest.dimensions = None, "in the program it is"),
        (
            |manifest| manifest.dimensions.as_mut().unwrap().variables.clear(),
            "other dimension variables",
        ),
        (
            |manifest| manifest.dimensions.as_mut().unwrap().variables[0].multiple_of = 0,
            "multiple of 0",
        ),
        (
            |manifest| {
                manifest
                    .dimensions
                    .as_mut()
                    .unwrap()
                    .constraints
                    .push("a > a".into())
            },
            "a > a",
        ),
        (
            |manifest| {
                manifest
                    .dimensions
                    .as_mut()
                    .unwrap()
                    .constraints
                    .push("q@".into())
            },
            "'@'",
        ),
        (
            |manifest| manifest.signature.outputs[0].shape = Some(vec![Dim::Expression("a".into()); 2]),
            "the manifest gives `result0` as tensor<(a)x(a)xf32>",
        ),
        (
            |manifest| manifest.signature.inputs[1].shape = Some(vec![Dim::Expression("a^99999".into())]),
            "over the limit",
        ),
    ];
    let original = file(&sample());
    for (lie, part) in lies {
        let container = Container::from_bytes_with(original.clone(), &read_options()).unwrap();
        let mut manifest = container.manifest().clone();
        lie(&mut manifest);
        let program = container.program().unwrap();
        let mut output = Cursor::new(Vec::new());
        ContainerBuilder::new(manifest, &program)
            .write_to(&mut output)
            .unwrap();
        let error = loaded(output.into_inner()).unwrap_err().to_string();
        assert!(error.contains(part), "no {part} in {error}");
    }
}

#[test]
fn a_reader_that_does_not_know_them_refuses() {
    let error = Container::from_bytes(file(&sample())).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("symbolic-dimensions"), "{error}: {source}");
}

#[test]
fn shapes_are_checked_against_the_program() {
    for (shapes, constraints, part) in [
        (&[("z", "(a,)")][..], &[][..], "no argument"),
        (&[("arg0", "(a,)")], &[], "arg0"),
        (&[("arg0", "(a, b")], &[], "arg0"),
        (&[("arg0", "(a, b)")], &["c > 1"], "'c'"),
        (&[("arg0", "(a, b)")], &["a > b", "b > a"], "unsatisfiable"),
    ] {
        let error = exported(shapes, constraints).unwrap_err().to_string();
        assert!(error.contains(part), "no {part} in {error}");
    }
}
