//! What runs programs, how far it may go, and how long it takes.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::{ADD, Scratch, artifact, ended, run};

/// A loop that adds 1 five times, and a reduction.
const LOOP: &str = "func.func @main(%x: tensor<8xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %step = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %more = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %sum = stablehlo.add %y, %step : tensor<8xf32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<8xf32>
  }
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0#1 init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
";

#[test]
fn the_engine_has_a_name() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    run(&[&"run", &program, &"--random", &"1", &"--engine", &"reference"]).expect(0);
    run(&[&"run", &program, &"--random", &"1", &"--engine", &"warp"])
        .expect(2)
        .says("reference");
    let with = |engine: &str| {
        let mut command = artifact();
        command.env("ARTIFACT_ENGINE", engine).arg("check").arg(&program);
        ended(command.output().unwrap())
    };
    with("reference").expect(0);
    with("").expect(0);
    with("warp")
        .expect(2)
        .says("ARTIFACT_ENGINE is \"warp\"")
        .says("the engines are `cpu`, `reference`");
    // A plugin has a path, which must be one of a plugin.
    for (engine, why) in [
        ("pjrt", "set ARTIFACT_PJRT_PLUGIN to one of both"),
        ("pjrt:absent.so", "absent.so cannot be used as a PJRT plugin"),
        ("pjrt:/dev/null", "it is no file"),
    ] {
        let mut command = artifact();
        command
            .env_remove("ARTIFACT_PJRT_PLUGIN")
            .arg("run")
            .arg(&program);
        ended(
            command
                .args(["--random", "1", "--engine", engine])
                .output()
                .unwrap(),
        )
        .expect(6)
        .says(why);
    }
    run(&[&"run", &program, &"--random", &"1", &"--engine", &"pjrt:"]).expect(2);
    // What the command line says counts.
    let mut command = artifact();
    command.env("ARTIFACT_ENGINE", "warp").arg("check").arg(&program);
    ended(command.arg("--engine=reference").output().unwrap()).expect(0);
}

#[test]
fn time_and_memory_are_limited() {
    let scratch = Scratch::new();
    let forever = LOOP.replace("dense<1> : tensor<i32>", "dense<0> : tensor<i32>");
    let program = scratch.file("forever.mlir", &forever);
    run(&[&"run", &program, &"--random", &"1", &"--time-limit", &"0.05"])
        .expect(3)
        .says("more than 0.05 seconds")
        .says("forever.mlir:")
        .says("--time-limit");
    for wrong in ["0", "-1", "soon", "1e400"] {
        run(&[&"run", &program, &"--random", &"1", &"--time-limit", &wrong]).expect(2);
    }
    let checked = scratch.file(
        "checked.mlir",
        forever.replace("%x: tensor<8xf32>", "").replace(
            "%step =",
            "%x = stablehlo.constant dense<0.0> : tensor<8xf32>\n  %step =",
        ),
    );
    run(&[&"check", &checked, &"--time-limit", &"0.05"])
        .expect(1)
        .says("more than 0.05 seconds");
    for option in ["--memory-limit", "--max-bytes"] {
        run(&[&"check", &checked, &option, &"7"])
            .expect(1)
            .says("over the limit of 7");
    }
}

#[test]
fn a_profile_has_a_row_for_each_operation() {
    let scratch = Scratch::new();
    let program = scratch.file("loop.mlir", LOOP);
    let profile = run(&[
        &"run",
        &program,
        &"--engine",
        &"reference",
        &"--random",
        &"1",
        &"--repeat",
        &"3",
        &"--profile",
    ])
    .expect(0);
    let out = &profile.out;
    assert!(out.contains(", called 3 times: the first "), "{out}");
    let row = |name: &str, place: &str| {
        let is_it = |line: &&str| line.contains(name) && line.ends_with(&format!("loop.mlir:{place}"));
        let row = out
            .lines()
            .find(is_it)
            .unwrap_or_else(|| panic!("{name} in {out}"));
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    // A time and its unit, a share and its sign, calls, bytes, FLOPs.
    assert_eq!(row("stablehlo.compare", "8:13")[4..7], ["6", "54", "6"]);
    assert_eq!(row("stablehlo.add", "12:12")[4..7], ["5", "480", "40"]);
    assert_eq!(row("stablehlo.reduce", "16:8")[4..7], ["1", "40", "8"]);
    assert!(!out.contains("stablehlo.maximum"), "part of the reduction: {out}");
}

/// The default engine joins operations: a step is called by all of them, and says who does it.
#[test]
fn a_profile_of_machine_code() {
    let scratch = Scratch::new();
    let program = scratch.file("loop.mlir", LOOP);
    let out = run(&[&"run", &program, &"--random", &"1", &"--profile"])
        .expect(0)
        .out;
    assert!(out.contains("kernel") && out.contains("stablehlo.add"), "{out}");
    assert!(!out.contains("interpret"), "{out}");
}

#[test]
fn stages_of_compilation() {
    let scratch = Scratch::new();
    let program = scratch.file("loop.mlir", LOOP);
    for (stage, says) in [
        ("refined", "stablehlo.while"),
        ("fused", "kernel k0"),
        ("plan", "while b"),
        ("kernels", "loop of 4-byte lanes"),
        ("asm", "ret"),
    ] {
        let out = run(&[&"compile", &program, &"--emit", &stage]).expect(0).out;
        assert!(out.contains(says), "{stage}: {out}");
    }
    let out = run(&[&"compile", &program, &"--target", &"x86-64-v3"])
        .expect(0)
        .out;
    assert!(out.contains("compiled for x86-64-v3 in "), "{out}");
    run(&[&"compile", &program, &"--target", &"pdp-11"]).expect(2);
}

#[test]
fn json_says_the_same() {
    let scratch = Scratch::new();
    let program = scratch.file("loop.mlir", LOOP);
    let out = run(&[
        &"run",
        &program,
        &"--engine",
        &"reference",
        &"--random",
        &"1",
        &"--json",
        &"--profile",
        &"--repeat",
        &"2",
    ])
    .expect(0)
    .out;
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["engine"], "reference");
    assert_eq!(value["results"][0]["type"], "tensor<f32>");
    assert_eq!(value["calls"]["count"], 2);
    let steps = value["profile"]["steps"].as_array().unwrap();
    assert!(
        steps
            .iter()
            .any(|step| step["name"] == "stablehlo.reduce" && step["flops"] == 8)
    );
    let want = scratch.path("want.npz");
    run(&[&"run", &program, &"--random", &"1", &"--output", &want]).expect(0);
    let compared = |seed: &str, code: i32| -> Value {
        let ended = run(&[
            &"run",
            &program,
            &"--random",
            &seed,
            &"--json",
            &"--expect",
            &want,
        ])
        .expect(code);
        serde_json::from_str(&ended.out).unwrap()
    };
    assert_eq!(compared("1", 0)["agreeing"], 1);
    assert_eq!(compared("2", 1)["agreeing"], 0);
    let failed = run(&[&"run", &program, &"--json"]).expect(3).out;
    let failed: Value = serde_json::from_str(&failed).unwrap();
    assert_eq!(failed["error"]["kind"], "bad-input");
}

#[test]
fn perf_finds_the_names_of_kernels() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let mut child = artifact()
        .args(["run", "--perf-map", "--random", "1"])
        .arg(&program)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let map = PathBuf::from(format!("/tmp/perf-{}.map", child.id()));
    assert!(child.wait().unwrap().success());
    let names = std::fs::read_to_string(&map).unwrap();
    std::fs::remove_file(&map).unwrap();
    let fields: Vec<&str> = names.lines().next().unwrap().split(' ').collect();
    let [address, bytes, name] = fields[..] else {
        panic!("{names}");
    };
    assert_ne!(u64::from_str_radix(address, 16).unwrap(), 0);
    assert_ne!(u64::from_str_radix(bytes, 16).unwrap(), 0);
    assert_eq!(name, "artifact:k0.0:stablehlo.add");
    run(&[
        &"run",
        &"--engine",
        &"reference",
        &"--perf-map",
        &program,
        &"--random",
        &"1",
    ])
    .expect(6)
    .says("no kernels");
}
