//! `artifact convert`.

use crate::{ADD, Scratch, fixture, run};

#[test]
fn an_artifact_prints_as_its_program() {
    let scratch = Scratch::new();
    let file = scratch.path("block.artifact");
    run(&[&"export", &fixture(".mlir"), &"-o", &file]).expect(0);
    let of_text = run(&[&"convert", &fixture(".mlir")]).expect(0).out;
    let of_artifact = run(&[&"convert", &file]).expect(0).out;
    let again = scratch.file("again.mlir", &of_artifact);
    assert_eq!(run(&[&"convert", &again]).expect(0).out, of_artifact);
    assert_eq!(of_text.lines().count(), of_artifact.lines().count());
}

#[test]
fn many_files_need_a_folder() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.file("a/add.mlir", ADD), scratch.file("b/add.mlir", ADD));
    run(&[&"convert", &first, &second]).expect(2).says("--output-dir");
    let out = scratch.path("out");
    run(&[&"convert", &first, &second, &"--output-dir", &out])
        .expect(2)
        .says("add.mlir");
    run(&[&"convert", &scratch.path("a"), &"--output-dir", &out]).expect(0);
    assert!(out.join("add.mlir").is_file());
}

#[test]
fn generic_form_and_locations() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    run(&[&"convert", &program, &"--generic"])
        .expect(0)
        .says("\"stablehlo.add\"(");
    run(&[&"convert", &program, &"--locations"])
        .expect(0)
        .says("loc(");
}
