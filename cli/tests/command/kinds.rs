//! Programs of every kind, recognised by what their files hold.

use std::path::Path;

use serde_json::Value;

use crate::{ADD, Scratch, run};

/// One program as text, as bytecode and as an artifact, under names that say nothing.
fn kinds(scratch: &Scratch) -> [std::path::PathBuf; 3] {
    let text = scratch.file("kinds/a.npz", ADD);
    let (bytecode, artifact) = (scratch.path("kinds/b.json"), scratch.path("kinds/c"));
    run(&[&"convert", &text, &"--to", &"mlirbc", &"-o", &bytecode]).expect(0);
    run(&[&"export", &bytecode, &"-o", &artifact]).expect(0);
    [text, bytecode, artifact]
}

fn described(file: &Path) -> Value {
    let shown = run(&[&"inspect", &file, &"--program", &"--json"]).expect(0).out;
    serde_json::from_str(&shown).unwrap()
}

#[test]
fn one_digest_for_one_program() {
    let scratch = Scratch::new();
    let [text, bytecode, artifact] = kinds(&scratch).map(|file| described(&file));
    let digest = |file: &Value| file["modules"][0]["program_digest"].as_str().unwrap().to_owned();
    assert_eq!(digest(&text).len(), 64);
    assert_eq!(digest(&text), digest(&bytecode));
    assert_eq!(digest(&text), digest(&artifact));
    let other = scratch.file("other.mlir", ADD.replace("stablehlo.add", "stablehlo.subtract"));
    assert_ne!(digest(&text), digest(&described(&other)));
    // An artifact keeps large constants apart; its program has them.
    let constant = "func.func @main() -> tensor<4096xi32> {
        %0 = stablehlo.iota dim = 0 : tensor<4096xi32>
        %1 = stablehlo.constant dense<\"0xDATA\"> : tensor<4096xi32>
        %2 = stablehlo.add %0, %1 : tensor<4096xi32>
        return %2 : tensor<4096xi32>
    }";
    let elements: String = (0..4096_u32)
        .map(|value| format!("{:08X}", value.swap_bytes()))
        .collect();
    let constant = scratch.file("constant.mlir", constant.replace("DATA", &elements));
    let packed = scratch.path("constant.artifact");
    run(&[&"export", &constant, &"-o", &packed]).expect(0);
    run(&[&"inspect", &packed]).expect(0).says("constant argument 0");
    assert_eq!(digest(&described(&constant)), digest(&described(&packed)));
}

#[test]
fn what_is_told_of_a_program() {
    let scratch = Scratch::new();
    let [text, bytecode, _] = kinds(&scratch);
    let told = |file: &Path, format: &str, stablehlo: Option<&str>, producer: Option<&str>| {
        let told = described(file);
        assert_eq!(told["format"], format);
        assert_eq!(told["stablehlo"].as_str(), stablehlo);
        let named = told["producer"].as_str();
        assert_eq!(named.is_some(), producer.is_some());
        assert!(
            named
                .unwrap_or_default()
                .starts_with(producer.unwrap_or_default())
        );
        let module = &told["modules"][0];
        assert_eq!(module["entry"]["inputs"][1]["name"], "bias", "{told}");
        assert_eq!(module["entry"]["outputs"][0]["type"], "tensor<2x3xf32>");
        assert_eq!(module["functions"][0]["name"], "main");
    };
    told(&text, "stablehlo-text", None, None);
    // Bytecode leaves out locations, and so the names in them, unless they are asked for.
    let named = scratch.path("named");
    run(&[
        &"convert",
        &text,
        &"--to",
        &"mlirbc",
        &"--locations",
        &"--stablehlo",
        &"1.4.0",
        &"-o",
        &named,
    ])
    .expect(0);
    told(
        &named,
        "stablehlo-bytecode",
        Some("1.4.0"),
        Some("StableHLO_v1.4.0"),
    );
    let artifact = scratch.path("artifact");
    run(&[&"export", &named, &"-o", &artifact]).expect(0);
    told(&artifact, "artifact", Some("1.20.0"), Some("artifact "));
    run(&[&"inspect", &named])
        .expect(0)
        .says("StableHLO_v1.4.0")
        .says("program digest")
        .says("function main, the entry")
        .says("bias: tensor<3xf32>");
    run(&[&"inspect", &bytecode, &"--dims"])
        .expect(0)
        .says("every value has a shape");
    let calls = scratch.file(
        "calls.mlir",
        "func.func @f(%x: tensor<f32>) -> tensor<f32> {
           %0 = stablehlo.custom_call @f77(%x) : (tensor<f32>) -> tensor<f32> return %0 : tensor<f32>
         }
         func.func private @g() { return }",
    );
    run(&[&"inspect", &calls])
        .expect(0)
        .says("custom call f77 (api 1), used 1x, no guarantee")
        .says("private functions 1");
    let wrong = scratch.file(
        "wrong.mlir",
        ADD.replace("-> (tensor<2x3xf32>", "-> (tensor<2x4xf32>"),
    );
    run(&[&"inspect", &wrong, &"--json"])
        .expect(3)
        .says("\"bad-input\"");
}

#[test]
fn bytecode_runs_and_is_exported() {
    let scratch = Scratch::new();
    let [text, bytecode, artifact] = kinds(&scratch);
    let results =
        [text, bytecode, artifact].map(|file| run(&[&"run", &file, &"--random", &"7"]).expect(0).out);
    assert!(results[0].contains("tensor<2x3xf32> = ["), "{}", results[0]);
    // Only names of results differ, which bytecode keeps and arguments lose.
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn a_folder_without_a_list_is_searched_by_content() {
    let scratch = Scratch::new();
    let expecting = "func.func @main() {
      %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      stablehlo.custom_call @check.expect_eq(%0, %0) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
      return
    }";
    let text = scratch.file("p/text.txt", expecting);
    let (bytecode, artifact) = (scratch.path("p/bytecode.npz"), scratch.path("p/artifact.mlir"));
    run(&[&"convert", &text, &"--to", &"mlirbc", &"-o", &bytecode]).expect(0);
    run(&[&"export", &text, &"-o", &artifact]).expect(0);
    scratch.file("p/notes.mlir", "Not a program.");
    scratch.file("p/table.mlirbc", "a,b\n1,2\n");
    scratch.file("p/bytes.artifact", [0x93, b'N', b'U', 0xff]);
    for more in ["-j1", "--through-artifact"] {
        let ended = run(&[&"check", &scratch.path("p"), &more, &"--json"]).expect(0);
        assert!(
            ended.err.contains("3 passed, 0 failed, 0 unsupported"),
            "{}",
            ended.err
        );
    }
    // What is named is judged, whatever it holds.
    run(&[&"check", &scratch.path("p/notes.mlir")])
        .expect(1)
        .says("expected a function or a module");
}

#[test]
fn a_list_says_which_files() {
    let scratch = Scratch::new();
    let text = scratch.file("p/a.mlir", ADD);
    let bytecode = scratch.path("p/b.bc");
    run(&[&"convert", &text, &"--to", &"mlirbc", &"-o", &bytecode]).expect(0);
    let other = scratch.file("p/c.mlir", ADD.replace("stablehlo.add", "stablehlo.subtract"));
    let list = |entry: &str| {
        scratch.file("p/index.json", format!(r#"{{"programs": {{"b.bc": {entry}}}}}"#));
        run(&[&"check", &scratch.path("p")])
    };
    list(r#"{"text": "a.mlir"}"#)
        .expect(0)
        .says("1 passed, 0 failed, 0 unsupported")
        .says("are not checked: 1, such as")
        .says("c.mlir");
    list(r#"{"text": "c.mlir"}"#)
        .expect(1)
        .says("it is another program than");
    list(r#"{"text": "absent.mlir"}"#)
        .expect(1)
        .says("which is not there");
    list(r#"{"must_be_rejected": true}"#)
        .expect(1)
        .says("it is accepted, and must be refused");
    list(r#"{"check": 1}"#).expect(0).says("1 unsupported");
    run(&[&"check", &other]).expect(0).says("it takes arguments");
    // A list speaks of files below its folder too.
    scratch.file("p/q/d.mlir", ADD);
    list(r#"{}, "q/d.mlir": {"text": "a.mlir"}"#)
        .expect(0)
        .says("1 passed, 0 failed, 1 unsupported");
    scratch.file("p/b.bc", b"ML\xefR\x63");
    list(r#"{"must_be_rejected": true}"#).expect(0).says("1 passed");
}

/// The text, the bytecode and the JAX export of a program are each checked.
#[test]
fn every_file_of_a_variant() {
    let Some(folder) = artifact_testkit::corpus::folder("jax") else {
        return;
    };
    every_file_passes(&folder, 38);
}

/// So many texts of a folder pass, and as many files of bytecode; nothing fails.
pub(crate) fn every_file_passes(folder: &Path, count: usize) {
    let ended = run(&[&"check", &folder, &"--json"]).expect(0);
    for extension in [".mlir (", ".mlirbc ("] {
        let passed = |line: &&str| line.contains(extension) && line.contains("\"passed\"");
        let passed = ended.out.lines().filter(passed).count();
        assert_eq!(passed, count, "{extension}\n{}", ended.out);
    }
}

/// A text and its bytecode are the same program to whoever looks.
#[test]
fn twins_of_the_corpus_have_one_digest() {
    let Some(texts) = artifact_testkit::corpus::files("jax", "mlir") else {
        return;
    };
    let digest = |file: &Path| described(file)["modules"][0]["program_digest"].to_string();
    for text in &texts {
        let bytecode = text.path.with_extension("mlirbc");
        assert_eq!(digest(&text.path), digest(&bytecode), "{}", text.name);
    }
}

/// JAX's own exports of three years, with their linear algebra.
#[test]
fn exports_of_older_releases() {
    let Some(folder) = artifact_testkit::corpus::folder("jax_backcompat") else {
        return;
    };
    for more in ["-j1", "--through-artifact"] {
        let ended = run(&[&"check", &folder, &more]).expect(0);
        assert_eq!(ended.out, "24 passed, 0 failed, 0 unsupported\n");
    }
}

/// Portable artifacts of every version are the programs of their texts; that of a future version is refused by its version.
#[test]
fn portable_artifacts_of_every_version() {
    let Some(files) = artifact_testkit::corpus::files("stablehlo/vhlo", "bc") else {
        return;
    };
    let folder = files[0].path.parent().unwrap();
    let ended = run(&[&"check", &folder]).expect(0);
    assert_eq!(ended.out, "18 passed, 0 failed, 0 unsupported\n");
    for file in &files {
        let is_future = file.name.contains("future");
        for command in ["inspect", "convert"] {
            let ended = run(&[&command, &file.path]);
            match is_future {
                true => drop(ended.expect(4).says("StableHLO 2.0.0")),
                false => drop(ended.expect(0)),
            }
        }
    }
}

/// Whoever gives something else is told what is accepted, and a part of a file is called that.
#[test]
fn what_is_no_program() {
    let scratch = Scratch::new();
    let export = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/jax_exports/schema12/vjp2.bin");
    let export = std::fs::read(export).unwrap();
    let cut = scratch.file("cut", &export[..export.len() / 2]);
    run(&[&"inspect", &cut])
        .expect(3)
        .says("begins as a JAX export does, and ends after ")
        .says("cut off");
    let kinds = "give an artifact, StableHLO as text or portable bytecode, or what jax.export serialized";
    for (text, says) in [
        ("hello", "'hello' is unknown"),
        ("", "holds no module"),
        ("{\"a\": 1}", "neither an artifact, nor StableHLO"),
        ("\u{7f}ELF\u{1}", "neither an artifact, nor StableHLO"),
    ] {
        let junk = scratch.file("junk", text);
        run(&[&"inspect", &junk]).expect(3).says(says).says(kinds);
    }
    // What was meant as a program keeps to its own mistakes.
    let wrong = scratch.file("wrong", "module { func.fun @x }");
    let said = run(&[&"inspect", &wrong]).expect(3).err;
    assert!(!said.contains(kinds), "{said}");
}

/// Once, with the names that its caller knows.
#[test]
fn an_export_is_described_once() {
    let export = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/jax_exports/schema12/vjp1.bin");
    let shown = run(&[&"inspect", &export]).expect(0).out;
    assert!(shown.contains("\nproducer            JAX 0."), "{shown}");
    assert!(shown.contains("\nplatforms           cpu\n"), "{shown}");
    assert_eq!(shown.matches("x: tensor<").count(), 1, "{shown}");
    // One a program: that of the function, and that of its gradient.
    assert_eq!(shown.matches("custom call shape_assertion").count(), 2, "{shown}");
}
