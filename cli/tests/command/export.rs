//! `artifact export` and `artifact inspect`.

use std::process::Command;

use crate::{ADD, Scratch, artifact, ended, fixture, run};

#[test]
fn the_main_job() {
    let scratch = Scratch::new();
    let file = scratch.path("block.artifact");
    run(&[&"export", &fixture(".mlir"), &"-o", &file])
        .expect(0)
        .says("file digest");
    run(&[&"verify", &file]).expect(0).says("every byte");
    let shown = run(&[&"inspect", &file, &"--json"]).expect(0).out;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["container_version"], "1.0");
    assert_eq!(shown["manifest"]["signature"]["function"], "main");
    run(&[&"inspect", &file]).expect(0).says("function main");
    let (inputs, expected) = (fixture(".inputs.npz"), fixture(".expected.npz"));
    let compare: [&dyn AsRef<std::ffi::OsStr>; 9] = [
        &"run",
        &file,
        &"--inputs",
        &inputs,
        &"--expect",
        &expected,
        &"--rtol",
        &"1e-5",
        &"--atol=1e-5",
    ];
    run(&compare).expect(0).says("results agree");
}

#[test]
fn the_same_bytes_twice() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.path("a.artifact"), scratch.path("b.artifact"));
    run(&[&"export", &fixture(".mlir"), &"-o", &first]).expect(0);
    run(&[&"export", &fixture(".mlir"), &"-o", &second]).expect(0);
    assert_eq!(std::fs::read(first).unwrap(), std::fs::read(second).unwrap());
}

#[test]
fn time_and_metadata_only_when_asked() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let file = scratch.path("add.artifact");
    run(&[
        &"export",
        &program,
        &"-o",
        &file,
        &"--created=1700000000",
        &"--metadata",
        &"run=a\u{1b}[31m=b",
    ])
    .expect(0);
    let shown = run(&[&"inspect", &file]).expect(0).says("1700000000").out;
    assert!(
        !shown.contains('\u{1b}'),
        "a terminal would obey what the file says: {shown:?}"
    );
    run(&[&"export", &program, &"-o", &file, &"--created"])
        .expect(2)
        .says("SOURCE_DATE_EPOCH");
    run(&[&"export", &program, &"-o", &file, &"--created=noon"])
        .expect(2)
        .says("noon");
    // What follows without `=` is the program.
    run(&[&"export", &"--created", &program, &"-o", &file])
        .expect(2)
        .says("--created=SECONDS");
    run(&[&"export", &program, &"-o", &file, &"--metadata", &"k"])
        .expect(2)
        .says("KEY=VALUE");
}

/// What only the command can know is not for others to say.
#[test]
fn metadata_and_times_that_are_refused() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let file = scratch.path("add.artifact");
    let export = |option: &str, value: &str| {
        let option = format!("{option}={value}");
        run(&[&"export", &program, &"-o", &file, &option])
    };
    for key in ["upgraded-from", "sealed-original"] {
        export("--metadata", &format!("{key}=00"))
            .expect(2)
            .says(&format!("`{key}` is written by this command alone"));
    }
    export("--metadata", "upgraded-from-us=00").expect(0);
    let says = "is after the year 9999";
    export("--created", "253402300800").expect(2).says(says);
    export("--created", "99999999999999999").expect(2).says(says);
    export("--created", "253402300799").expect(0);
}

/// 1.0 is the first reader that is promised anything.
#[test]
fn for_a_reader_and_a_version() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let (plain, asked) = (scratch.path("plain.artifact"), scratch.path("asked.artifact"));
    run(&[&"export", &program, &"-o", &plain]).expect(0);
    let newest = [&"--for-reader", &"1.0", &"--stablehlo", &"1.20.0"];
    let export: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"export", &program, &"-o", &asked];
    let with = |options: &[&'static &'static str]| {
        let options = options
            .iter()
            .map(|option| *option as &dyn AsRef<std::ffi::OsStr>);
        run(&export.iter().copied().chain(options).collect::<Vec<_>>())
    };
    with(&newest).expect(0);
    assert_eq!(std::fs::read(&plain).unwrap(), std::fs::read(&asked).unwrap());
    for reader in [&"1.1", &"0.9", &"newest"] {
        with(&[&"--for-reader", reader])
            .expect(2)
            .says("the container versions that can be chosen: 1.0");
    }
    for version in [&"0.8.0", &"1.20.1", &"1.13"] {
        with(&[&"--stablehlo", version])
            .expect(2)
            .says("is not a version of StableHLO from 0.9.0 to 1.20.0");
    }
}

#[test]
fn custom_calls_without_a_guarantee() {
    let scratch = Scratch::new();
    let program = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @mystery(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
";
    let program = scratch.file("mystery.mlir", program);
    let file = scratch.path("mystery.artifact");
    run(&[&"export", &program, &"-o", &file])
        .expect(3)
        .says("`mystery`, which has no guarantee")
        .says("--allow-custom-call mystery");
    assert!(!file.exists());
    run(&[
        &"export",
        &program,
        &"-o",
        &file,
        &"--allow-custom-call",
        &"mystery",
    ])
    .expect(0);
    run(&[&"inspect", &file])
        .expect(0)
        .says("custom call mystery (api 1), used 1x, no guarantee, which the exporter accepted");
    run(&[&"export", &program, &"-o", &file, &"--allow-custom-call", &"mist"])
        .expect(3)
        .says("`mystery`");
}

#[test]
fn programs_that_are_refused() {
    let scratch = Scratch::new();
    let file = scratch.path("f.artifact");
    let refused = |text: &str| {
        let program = scratch.file("wrong.mlir", text);
        let ended = run(&[&"export", &program, &"-o", &file]).expect(3);
        assert!(!file.exists());
        ended
    };
    let wrong = ADD.replace("stablehlo.add %arg0, %0", "stablehlo.add %arg0, %nothing");
    refused(&wrong).says("wrong.mlir:4:").says("^");
    refused(&ADD.replace("-> tensor<2x3xf32>\n    %1", "-> tensor<2x4xf32>\n    %1")).says("wrong.mlir:");
    refused("").says("error");
    refused("\0\0\0\0").says("error");
    let missing = scratch.path("missing.mlir");
    run(&[&"export", &missing, &"-o", &file])
        .expect(3)
        .says("missing.mlir");
    let folder = scratch.path("no/such/folder/f.artifact");
    run(&[&"export", &fixture(".mlir"), &"-o", &folder])
        .expect(3)
        .says("cannot write");
}

/// `ulimit -f` makes the write fail (EFBIG), or kills the process when the signal is not ignored.
#[test]
fn a_folder_that_is_not_there() {
    let scratch = Scratch::new();
    let output = scratch.path("nowhere/f.artifact");
    let ended = run(&[&"export", &fixture(".mlir"), &"-o", &output]).expect(3);
    assert!(!ended.err.contains("partial"), "{}", ended.err);
    ended.says("nowhere/f.artifact").says("there is no directory");
}

#[test]
fn a_write_that_fails_leaves_the_old_file() {
    let scratch = Scratch::new();
    let file = scratch.file("f.artifact", "the old file");
    for trap in ["trap '' XFSZ", "true"] {
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("{trap}; ulimit -f 1; exec \"$@\""))
            .arg("sh");
        shell
            .arg(artifact().get_program())
            .arg("export")
            .arg(fixture(".mlir"))
            .arg("-o")
            .arg(&file);
        let ended = ended(shell.output().unwrap());
        assert_ne!(ended.code, Some(0));
        assert_eq!(std::fs::read(&file).unwrap(), b"the old file");
        if trap != "true" {
            ended.says("cannot write");
            assert_eq!(scratch.names(), ["f.artifact"], "a temporary file is left");
        }
    }
}

#[test]
fn damaged_artifacts() {
    let scratch = Scratch::new();
    let file = scratch.path("f.artifact");
    run(&[&"export", &fixture(".mlir"), &"-o", &file]).expect(0);
    let good = std::fs::read(&file).unwrap();
    for length in [0, 7, 100, 1000, good.len() - 1] {
        let cut = scratch.file("cut.artifact", &good[..length]);
        run(&[&"inspect", &cut]).expect(3).says("error");
        run(&[&"run", &cut, &"--random", &"1"]).expect(3).says("error");
    }
    for position in (0..good.len()).step_by(good.len() / 40) {
        let mut bad = good.clone();
        bad[position] ^= 0x10;
        let bad = scratch.file("bad.artifact", bad);
        let ended = run(&[&"verify", &bad, &"--json"]);
        assert!(
            matches!(ended.code, Some(3 | 4)),
            "byte {position}: {:?}",
            ended.code
        );
        let said: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(said["error"]["exit_code"], ended.code.unwrap());
    }
}

#[test]
fn an_output_never_replaces_an_input() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let link = scratch.path("link.mlir");
    std::os::unix::fs::symlink(&program, &link).unwrap();
    for output in [&program, &link] {
        run(&[&"export", &program, &"-o", output])
            .expect(2)
            .says("over the input");
        run(&[&"convert", &program, &"-o", output])
            .expect(2)
            .says("over the input");
    }
    assert_eq!(std::fs::read_to_string(&program).unwrap(), ADD);
}

#[test]
fn only_regular_files() {
    let scratch = Scratch::new();
    for device in ["/dev/zero", "/dev/null"] {
        run(&[&"export", &device, &"-o", &scratch.path("f.artifact")])
            .expect(3)
            .says("not a regular file");
        run(&[&"run", &device]).expect(3).says("not a regular file");
        run(&[&"inspect", &device]).expect(3).says("not a regular file");
    }
    run(&[&"run", &"/"]).expect(3).says("is a folder");
    let bytecode = scratch.file("f.mlirbc", b"ML\xefR\x0d");
    run(&[&"run", &bytecode]).expect(3).says("at byte 5");
    let marked = scratch.file("marked.mlir", format!("\u{feff}{ADD}"));
    run(&[&"run", &marked]).expect(3).says("byte order mark");
    let latin = scratch.file("latin.mlir", b"// one\n// \xe9\n");
    run(&[&"run", &latin]).expect(3).says("line 2");
}
