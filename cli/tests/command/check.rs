//! `artifact check`.

use crate::{ADD, Scratch, floats, npy, npz, run};

const RIGHT: &str = "func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.add %0, %0 : tensor<2xi32>
  check.expect_eq_const %1, dense<[2, 4]> : tensor<2xi32>
  func.return
}
";

#[test]
fn counts_and_reasons() {
    let scratch = Scratch::new();
    scratch.file("p/right.mlir", RIGHT);
    scratch.file("p/wrong.mlir", RIGHT.replace("[2, 4]", "[2, 5]"));
    scratch.file("p/needs.mlir", ADD);
    scratch.file("p/broken.mlir", "func.func @main() { return");
    let folder = scratch.path("p");
    let ended = run(&[&"check", &folder, &"-j", &"2"]).expect(1);
    let ended = ended
        .says("failed: ")
        .says("wrong.mlir")
        .says("broken.mlir")
        .says("it takes arguments");
    assert!(
        ended.out.ends_with("1 passed, 2 failed, 1 unsupported\n"),
        "{}",
        ended.out
    );
    run(&[&"check", &scratch.path("p/right.mlir"), &"--through-artifact"])
        .expect(0)
        .says("1 passed, 0 failed");
    run(&[&"check", &scratch.path("q")])
        .expect(3)
        .says("there is no file or folder");
}

#[test]
fn refusals_at_their_line() {
    let scratch = Scratch::new();
    let wrong = ADD.replace(
        "stablehlo.add %arg0, %0 : tensor<2x3xf32>",
        "stablehlo.add %arg0, %0 : tensor<2x4xf32>",
    );
    scratch.file("r/wrong.mlir", wrong);
    let list = |line: u32| {
        let list = format!(
            r#"{{"programs": {{"wrong.mlir": {{"expected": [{{"line": {line}, "message": "m"}}]}}}}}}"#
        );
        scratch.file("r/index.json", list);
        run(&[&"check", &scratch.path("r")])
    };
    list(4).expect(0).says("1 passed, 0 failed");
    list(2).expect(1).says("refused at line");
    scratch.file("r/index.json", "{");
    run(&[&"check", &scratch.path("r")]).expect(3).says("index.json");
}

#[test]
fn cases_with_arrays() {
    let scratch = Scratch::new();
    let program = scratch.file("c/add.mlir", ADD);
    let arrays = scratch.path("c/add.npz");
    run(&[&"run", &program, &"--random", &"7", &"--output", &arrays]).expect(0);
    let list = r#"{"add": {"program": "add.mlir", "rtol": 0.0, "atol": 0.0, "cases": [{"inputs": ["x", "bias"], "outputs": ["sum"]}]}}"#;
    scratch.file("c/cases.json", list);
    // The archive has the result and no inputs.
    run(&[&"check", &scratch.path("c")])
        .expect(1)
        .says("there is no array `x`");
}

/// Arrays of the program's name beside it are what it takes and gives, in a folder and by itself.
#[test]
fn archives_of_its_name() {
    let scratch = Scratch::new();
    let program = scratch.file("p/add.mlir", ADD);
    let artifact = scratch.path("p/add.artifact");
    run(&[&"export", &program, &"-o", &artifact]).expect(0);
    let array = |shape: &str, values: &[f32]| npy("<f4", shape, &floats(values));
    let numpy = |name: &str, arrays: &[(&str, &[u8])]| scratch.file(name, npz(arrays));
    let x = array("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let bias = array("(3,)", &[10.0, 20.0, 30.0]);
    let sum = array("(2, 3)", &[11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    let check = |what: &std::path::Path| run(&[&"check", &what]);
    check(&program)
        .expect(0)
        .says("neither a list nor NAME.inputs.npz and NAME.expected.npz beside it");
    numpy("p/add.inputs.npz", &[("x", &x), ("arr_1", &bias)]);
    numpy("p/add.expected.npz", &[("sum", &sum)]);
    check(&program).expect(0).says("1 passed, 0 failed");
    let ended = check(&scratch.path("p")).expect(0).says("2 passed, 0 failed");
    assert!(!ended.err.contains("passed over"), "{}", ended.err);
    run(&[&"check", &scratch.path("p"), &"--through-artifact"])
        .expect(0)
        .says("2 passed");
    numpy("p/add.expected.npz", &[("result0", &x)]);
    check(&artifact).expect(1).says("result `sum`: ");
    numpy("p/add.expected.npz", &[("total", &sum)]);
    check(&artifact).expect(1).says("the array `total` of ");
    numpy("p/add.inputs.npz", &[("x", &x)]);
    check(&artifact).expect(1).says("there is no such array");
    std::fs::remove_file(scratch.path("p/add.inputs.npz")).unwrap();
    check(&artifact)
        .expect(1)
        .says("its arguments do not")
        .says("add.inputs.npz with x: ");
}

/// Who takes nothing has results to compare all the same.
#[test]
fn results_of_a_program_without_arguments() {
    let scratch = Scratch::new();
    let text = "func.func @main() -> tensor<2xf32> {
        %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        return %0 : tensor<2xf32>
    }";
    let program = scratch.file("two.mlir", text);
    let expect = |values: &[f32]| {
        let array = npy("<f4", "(2,)", &floats(values));
        scratch.file("two.expected.npz", npz(&[("result0", &array)]));
        run(&[&"check", &program])
    };
    expect(&[1.0, 2.0]).expect(0).says("1 passed, 0 failed");
    expect(&[1.0, 3.0]).expect(1).says("result `result0`: ");
    scratch.file(
        "two.inputs.npz",
        npz(&[("x", &npy("<f4", "(2,)", &floats(&[0.0; 2])))]),
    );
    expect(&[1.0, 2.0])
        .expect(1)
        .says("is none that the program has: none");
}

#[test]
fn one_object_a_program() {
    let scratch = Scratch::new();
    scratch.file("p/right.mlir", RIGHT);
    let ended = run(&[&"check", &scratch.path("p"), &"--json"]).expect(0);
    let object: serde_json::Value = serde_json::from_str(ended.out.trim()).unwrap();
    assert_eq!(object["verdict"], "passed");
}

/// A list with a mistake must not pass for a list of nothing.
#[test]
fn broken_lists() {
    let check = |name: &str, list: &str, says: &str| {
        let scratch = Scratch::new();
        scratch.file("p/right.mlir", RIGHT);
        scratch.file(&format!("p/{name}"), list);
        run(&[&"check", &scratch.path("p")]).expect(1).says(says);
    };
    for list in ["null", "5", "[]"] {
        check("cases.json", list, "no list of programs");
    }
    check(
        "cases.json",
        "{\"right.mlir\": {\"check\": \"qr\", \"npz\": \"right.mlir\", \"rtol\": 0, \"atol\": 0}}",
        "unknown variant `qr`",
    );
    check("manifest.json", "{\"a\": 1}", "no list of programs");
    check("index.json", "{\"programs\": []}", "no list of programs");
    check("cases.json", "{\"absent.mlir\": {}}", "which is not there");
    check(
        "cases.json",
        "{\"a\": {\"program\": \"../right.mlir\"}}",
        "outside the folder",
    );
    check("cases.json", "{\"right.mlir\": {\"cases\": [{}]}}", "malformed");
    let entry = |rest: &str| format!("{{\"right\": {{\"npz\": \"right.mlir\", \"atol\": 0, {rest}}}}}");
    check("cases.json", &entry("\"rtol\": -1"), "negative");
    check("cases.json", &entry("\"rtol\": 0, \"casess\": []"), "no case");
    check(
        "index.json",
        "{\"programs\": {\"right.mlir\": {\"expected\": []}}}",
        "no line",
    );
}

#[test]
fn each_entry_of_a_list_counts() {
    let scratch = Scratch::new();
    let program = scratch.file("c/add.mlir", ADD);
    let arrays = scratch.path("c/add.npz");
    run(&[&"run", &program, &"--random", &"7", &"--output", &arrays]).expect(0);
    let entry = |name: &str| {
        let cases = r#"[{"inputs": ["x", "bias"], "outputs": ["sum"]}]"#;
        let files = r#""program": "add.mlir", "npz": "add.npz", "rtol": 0, "atol": 0"#;
        format!(r#""{name}": {{{files}, "cases": {cases}}}"#)
    };
    scratch.file(
        "c/cases.json",
        format!("{{{}, {}}}", entry("add"), entry("other")),
    );
    let ended = run(&[&"check", &scratch.path("c"), &program, &"--json"]).expect(1);
    assert_eq!(ended.out.lines().count(), 2, "{}", ended.out);
    ended.says("add.mlir (other)").says("0 passed, 2 failed");
}

#[test]
fn links_between_folders_end() {
    let scratch = Scratch::new();
    scratch.file("p/right.mlir", RIGHT);
    for name in ["a", "b"] {
        std::os::unix::fs::symlink(".", scratch.path(&format!("p/{name}"))).unwrap();
    }
    run(&[&"check", &scratch.path("p")])
        .expect(0)
        .says("1 passed, 0 failed");
}

#[test]
fn nothing_to_check() {
    let scratch = Scratch::new();
    scratch.file("p/notes.txt", "");
    run(&[&"check", &scratch.path("p")]).expect(3).says("no program");
    run(&[&"check", &scratch.path("p"), &"-j", &"0"]).expect(2);
    // In a folder, what holds no program is passed over; a file that is named is not.
    let empty = scratch.file("p/empty.mlir", "");
    run(&[&"check", &scratch.path("p")]).expect(3).says("no program");
    run(&[&"check", &empty]).expect(1).says("no module");
}

/// JAX's programs for several devices run on as many simulated ones, and give what JAX got.
#[test]
fn sharded_programs() {
    let Some(folder) = artifact_testkit::corpus::folder("jax_sharded") else {
        return;
    };
    crate::kinds::every_file_passes(&folder, 6);
}

/// JAX's linear algebra on a batch of a size that the program does not say.
#[test]
fn linear_algebra_of_any_batch() {
    let program = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/linalg/symbolic.mlir");
    run(&[&"check", &program]).expect(0).says("1 passed, 0 failed");
}
