//! Artifacts that are written anew for another reader, and what conversions lose.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::{ADD, Scratch, jax_export, run};

fn inspected(file: &Path) -> Value {
    serde_json::from_str(&run(&[&"inspect", &file, &"--json"]).expect(0).out).unwrap()
}

fn digest(file: &Path) -> String {
    let shown = run(&[&"inspect", &file, &"--json", &"--program"]).expect(0).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    shown["modules"][0]["program_digest"].as_str().unwrap().to_owned()
}

/// Everything but the versions stays: signature, dimensions, interface, gradients, metadata; and it is what JAX reads.
#[test]
fn an_artifact_is_written_for_another_reader() {
    let scratch = Scratch::new();
    let (file, older) = (scratch.path("m.artifact"), scratch.path("older.artifact"));
    run(&[
        &"export",
        &jax_export("vjp2"),
        &"--metadata",
        &"a=b",
        &"-o",
        &file,
    ])
    .expect(0);
    run(&[
        &"export",
        &file,
        &"--for-reader",
        &"1.0",
        &"--stablehlo",
        &"1.13.0",
        &"--metadata",
        &"c=d",
        &"-o",
        &older,
    ])
    .expect(0)
    .says(&format!("program digest {}, as before", digest(&file)))
    .says("program stablehlo-bytecode 1.20.0 -> stablehlo-bytecode 1.13.0")
    .says("  content digest ")
    .says("  file digest ");
    let (before, mut after) = (inspected(&file), inspected(&older));
    assert_eq!(after["manifest"]["program"]["version"], "1.13.0");
    assert_eq!(
        after["manifest"]["metadata"],
        serde_json::json!({"a": "b", "c": "d", "upgraded-from": before["file_digest"]})
    );
    for field in ["program", "metadata"] {
        after["manifest"][field] = before["manifest"][field].clone();
    }
    assert_eq!(after["manifest"], before["manifest"]);
    assert_eq!(after["manifest"]["derivatives"].as_array().unwrap().len(), 2);
    assert_eq!(digest(&older), digest(&file));

    let exports = [&file, &older].map(|artifact| {
        let export = scratch.path("export.bin");
        run(&[&"convert", artifact, &"--to", &"jax", &"-o", &export]).expect(0);
        std::fs::read(export).unwrap()
    });
    assert_eq!(exports[0], exports[1]);
}

#[test]
fn what_an_older_version_cannot_say() {
    let scratch = Scratch::new();
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = chlo.erf %x : tensor<f32> -> tensor<f32> return %0 : tensor<f32> }";
    let (program, file) = (scratch.file("erf.mlir", text), scratch.path("erf.artifact"));
    let older = scratch.path("older.artifact");
    run(&[&"export", &program, &"-o", &file]).expect(0);
    // Without composites the operation is written out: another program that computes the same, and that is said.
    run(&[&"export", &file, &"--stablehlo", &"0.9.0", &"-o", &older])
        .expect(0)
        .says("it says the same in operations that its new version has");
    assert_ne!(digest(&older), digest(&file));
    run(&[&"run", &older, &"--random", &"1"]).expect(0);
    let text = text.replace(
        "chlo.erf %x : tensor<f32> -> tensor<f32>",
        "stablehlo.tan %x : tensor<f32>",
    );
    run(&[&"export", &scratch.file("tan.mlir", text), &"-o", &file]).expect(0);
    let refused = scratch.path("refused.artifact");
    run(&[&"export", &file, &"--stablehlo", &"1.3.0", &"-o", &refused])
        .expect(4)
        .says("needs StableHLO 1.4.0");
    assert!(!refused.exists());
}

#[test]
fn options_that_an_artifact_does_not_take() {
    let scratch = Scratch::new();
    let (program, file) = (scratch.file("add.mlir", ADD), scratch.path("add.artifact"));
    let output = scratch.path("new.artifact");
    run(&[&"export", &program, &"-o", &file]).expect(0);
    for (option, value) in [("--shapes", "x: (2, 3)"), ("--platform", "cpu")] {
        run(&[&"export", &file, &option, &value, &"-o", &output])
            .expect(2)
            .says(&format!("{option} is for programs: the artifact "));
    }
    run(&[&"export", &file, &"--allow-custom-call", &"other", &"-o", &output])
        .expect(3)
        .says("a waiver is given for `other`");
    run(&[&"export", &file, &"--for-reader", &"0.9", &"-o", &output])
        .expect(2)
        .says("was a preview, which is read and not written any more");
    run(&[&"export", &file, &"-o", &file])
        .expect(2)
        .says("over the input");
    assert_eq!(scratch.names(), ["add.artifact", "add.mlir"]);
}

#[test]
fn seals_are_dropped_aloud_and_waivers_are_kept() {
    let scratch = Scratch::new();
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %0 = stablehlo.custom_call @mystery(%x) : (tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
    }";
    let (program, file) = (scratch.file("m.mlir", text), scratch.path("m.artifact"));
    let (key, made) = (scratch.path("key"), scratch.path("made.artifact"));
    run(&[
        &"export",
        &program,
        &"--allow-custom-call",
        &"mystery",
        &"-o",
        &file,
    ])
    .expect(0);
    run(&[&"keygen", &"-o", &key]).expect(0);
    run(&[&"sign", &file, &"--key", &key]).expect(0);
    run(&[&"export", &file, &"--stablehlo", &"1.13.0", &"-o", &made])
        .expect(0)
        .says("warning: ")
        .says("are not carried over");
    let (before, after) = (inspected(&file), inspected(&made));
    assert_eq!(after["is_sealed"], false);
    assert_eq!(
        after["manifest"]["metadata"]["upgraded-from"],
        before["file_digest"]
    );
    assert_eq!(after["manifest"]["custom_call_waivers"][0], "mystery");
}

#[test]
fn what_has_no_place_in_a_program_is_said() {
    let scratch = Scratch::new();
    let (file, output) = (scratch.path("m.artifact"), scratch.path("output"));
    run(&[
        &"export",
        &jax_export("vjp2"),
        &"--metadata",
        &"a=b",
        &"-o",
        &file,
    ])
    .expect(0);
    let of_program = [
        "how its caller sees it",
        "the programs of 2 gradients",
        "its platforms (`cpu`)",
    ];
    let names = "names of arguments (`x`, `count`; --locations keeps them)";
    for (input, metadata) in [(&file, true), (&jax_export("vjp2"), false)] {
        for format in ["mlir", "mlirbc"] {
            let convert = || run(&[&"convert", input, &"--to", &format, &"-o", &output]).expect(0);
            let said = convert().err;
            for part in of_program.iter().chain([&names]) {
                assert!(said.contains(part), "no `{part}` in {said}");
            }
            // JAX's programs check their sizes by name.
            assert!(!said.contains("names of dimensions"), "{said}");
            assert_eq!(said.contains("metadata (`a`)"), metadata, "{said}");
        }
    }
    let kept = run(&[&"convert", &file, &"--locations", &"-o", &output])
        .expect(0)
        .err;
    assert!(!kept.contains("names of arguments"), "{kept}");
    let of_jax = run(&[&"convert", &file, &"--to", &"jax", &"-o", &output])
        .expect(0)
        .err;
    assert!(of_jax.contains("has no place for: metadata (`a`)\n"), "{of_jax}");

    let open = "func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
        return %arg0 : tensor<?xf32>
    }";
    let program = scratch.file("open.mlir", open);
    run(&[&"export", &program, &"--shapes", &"arg0: (rows)", &"-o", &file]).expect(0);
    run(&[&"convert", &file, &"--to", &"mlirbc", &"-o", &output])
        .expect(0)
        .says("has no place for: names of dimensions (`rows`)\n");

    // What a text says is in its text.
    let program = scratch.file(
        "add.mlir",
        ADD.replace("loc(\"x\")", "").replace("loc(\"bias\")", ""),
    );
    run(&[&"export", &program, &"-o", &file]).expect(0);
    for input in [&program, &file] {
        let converted = run(&[&"convert", input, &"--to", &"mlirbc", &"-o", &output]).expect(0);
        assert_eq!(converted.err, "");
        converted.says("bytes, bytecode of StableHLO 1.20.0");
    }
}

#[test]
fn a_write_protected_file_is_not_replaced() {
    let scratch = Scratch::new();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/artifacts/v0_9/symbolic_rows.artifact");
    let bytes = std::fs::read(old).unwrap();
    let (file, other) = (
        scratch.file("kept.artifact", &bytes),
        scratch.file("other.artifact", &bytes),
    );
    let program = scratch.file("not.artifact", ADD);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    // The others are upgraded all the same.
    run(&[&"upgrade", &file, &program, &other])
        .expect(3)
        .says("kept.artifact\n  caused by: it is write-protected")
        .says("not.artifact is not an artifact, and only artifacts have versions")
        .says("2 of 3 files could not be upgraded")
        .says("other.artifact: ");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert_eq!(inspected(&other)["container_version"], "1.0");
    run(&[&"export", &other, &"-o", &file])
        .expect(3)
        .says("it is write-protected");
    run(&[&"upgrade", &other, &file, &"-o", &scratch.path("one")])
        .expect(2)
        .says("cannot be written to one place");
    let key = scratch.path("key");
    run(&[&"keygen", &"-o", &key]).expect(0);
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o444)).unwrap();
    run(&[&"sign", &other, &"--key", &key])
        .expect(3)
        .says("it is write-protected");
}
