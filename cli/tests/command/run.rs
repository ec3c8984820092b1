//! `artifact run`.

use std::io::Write;
use std::path::PathBuf;

use crate::{ADD, Scratch, floats, npy, run};

struct Add {
    scratch: Scratch,
    program: PathBuf,
    bias: String,
}

impl Add {
    fn new() -> Self {
        let scratch = Scratch::new();
        let program = scratch.file("add.mlir", ADD);
        let bias = scratch.file("bias.npy", npy("<f4", "(3,)", &floats(&[10.0, 20.0, 30.0])));
        Self {
            scratch,
            program,
            bias: format!("bias={}", bias.display()),
        }
    }

    fn x(&self, array: Vec<u8>) -> crate::Ended {
        let x = self.scratch.file("x.npy", array);
        run(&[
            &"run",
            &self.program,
            &"--input",
            &format!("x={}", x.display()),
            &"--input",
            &self.bias,
        ])
    }
}

#[test]
fn results_by_name() {
    let add = Add::new();
    let x = npy("<f4", "(2, 3)", &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    add.x(x).expect(0).says("sum: tensor<2x3xf32>").says("36");
}

#[test]
fn what_does_not_fit_is_named() {
    let add = Add::new();
    let six = floats(&[0.0; 6]);
    add.x(npy("<i4", "(2, 3)", &six))
        .expect(3)
        .says("argument `x` (number 0)")
        .says("f32")
        .says("<i4");
    add.x(npy("<f4", "(6,)", &six))
        .expect(3)
        .says("argument `x`")
        .says("rank 2")
        .says("rank 1");
    add.x(npy("<f4", "(3, 2)", &six))
        .expect(3)
        .says("expected shape [2, 3], found [3, 2]");
    add.x(npy("<f4", "(2, 3)", &six[..8])).expect(3).says("announces");
    add.x(b"not an array".to_vec()).expect(3).says("x.npy");
    // Two errors, neither of which is the cause of the other, and one remedy.
    run(&[&"run", &add.program])
        .expect(3)
        .says("error: argument `x` (number 0) of type tensor<2x3xf32> is not given\nerror: argument `bias` (number 1)")
        .says("is not given\n  help: give arrays with --inputs");
    let unknown = format!("y={}", add.scratch.path("x.npy").display());
    run(&[&"run", &add.program, &"--input", &unknown])
        .expect(3)
        .says("no argument `y`")
        .says("bias");
    run(&[&"run", &add.program, &"--input", &"x"])
        .expect(2)
        .says("NAME=FILE.npy");
}

#[test]
fn random_is_the_same_for_the_same_seed() {
    let add = Add::new();
    let out = |seed: &str, name: &str| {
        let path = add.scratch.path(name);
        run(&[&"run", &add.program, &"--random", &seed, &"--output", &path]).expect(0);
        std::fs::read(path).unwrap()
    };
    let (a, b, c) = (out("7", "a.npz"), out("7", "b.npz"), out("8", "c.npz"));
    assert!(a == b && a != c);
}

#[test]
fn comparison() {
    let add = Add::new();
    let want = add.scratch.path("want.npz");
    run(&[&"run", &add.program, &"--random", &"7", &"--output", &want]).expect(0);
    run(&[&"run", &add.program, &"--random", &"7", &"--expect", &want])
        .expect(0)
        .says("1 of 1 results agree");
    run(&[&"run", &add.program, &"--random", &"8", &"--expect", &want])
        .expect(1)
        .says("result `sum`");
}

#[test]
fn a_run_that_never_ends_can_be_bounded() {
    let scratch = Scratch::new();
    let program = scratch.file(
        "forever.mlir",
        r#"func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.while(%i = %0) : tensor<i32>
  cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return %1 : tensor<i32>
}
"#,
    );
    run(&[
        &"run",
        &program,
        &"--engine",
        &"reference",
        &"--max-steps",
        &"1000",
    ])
    .expect(3)
    .says("1000")
    .says("--max-steps");
    run(&[&"run", &program, &"--time-limit", &"0.1"])
        .expect(3)
        .says("runs for more than 0.1 seconds");
    run(&[&"run", &program, &"--max-bytes", &"3"])
        .expect(3)
        .says("--memory-limit");
}

#[test]
fn what_the_engine_lacks() {
    let scratch = Scratch::new();
    let text = r#"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @no_such_target(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"#;
    let program = scratch.file("custom.mlir", text);
    run(&[&"run", &program, &"--random", &"1"])
        .expect(6)
        .says("no_such_target")
        .says("custom.mlir:2:");
}

#[test]
fn tolerances_that_make_no_sense() {
    let add = Add::new();
    let want = add.scratch.path("want.npz");
    run(&[&"run", &add.program, &"--random", &"7", &"--output", &want]).expect(0);
    for tolerance in ["--atol=-1", "--rtol=nan", "--atol=inf"] {
        run(&[
            &"run",
            &add.program,
            &"--random",
            &"7",
            &"--expect",
            &want,
            &tolerance,
        ])
        .expect(2)
        .says("not negative");
    }
    run(&[&"run", &add.program, &"--random", &"7", &"--rtol", &"1"])
        .expect(2)
        .says("--expect");
}

#[test]
fn an_archive_with_other_results() {
    let add = Add::new();
    let text = ADD.replace("\"sum\"", "\"other\"");
    let other = add.scratch.file("other.mlir", text);
    let want = add.scratch.path("want.npz");
    run(&[&"run", &other, &"--random", &"7", &"--output", &want]).expect(0);
    run(&[&"run", &add.program, &"--random", &"7", &"--expect", &want])
        .expect(3)
        .says("no result: `other`")
        .says("sum");
    run(&[
        &"run",
        &add.program,
        &"--random",
        &"7",
        &"--inputs",
        &want,
        &"--output",
        &want,
    ])
    .expect(2);
}

#[test]
fn an_argument_that_is_given_twice() {
    let add = Add::new();
    let x = npy("<f4", "(2, 3)", &floats(&[0.0; 6]));
    let x = add.scratch.file("x.npy", x);
    let input = |name: &str| format!("{name}={}", x.display());
    run(&[
        &"run",
        &add.program,
        &"--input",
        &input("arg0"),
        &"--input",
        &input("arr_0"),
        &"--input",
        &add.bias,
    ])
    .expect(3)
    .says("`x` (number 0) is given twice, as `arg0` and as `arr_0`");
}

#[test]
fn results_are_not_compared_with_themselves() {
    let add = Add::new();
    let absent = add.scratch.path("absent.npz");
    let random: [&dyn AsRef<std::ffi::OsStr>; 4] = [&"run", &add.program, &"--random", &"7"];
    let with = |rest: &[&dyn AsRef<std::ffi::OsStr>]| run(&[&random, rest].concat());
    with(&[&"--output", &absent, &"--expect", &absent]).expect(3);
    assert!(!absent.exists());
    with(&[&"--output", &add.scratch.path("one.npy")])
        .expect(2)
        .says(".npz");
}

#[test]
fn arguments_count_against_the_limit() {
    let add = Add::new();
    run(&[&"run", &add.program, &"--random", &"7", &"--max-bytes", &"35"])
        .expect(3)
        .says("it has 12 bytes, and --memory-limit leaves 11");
}

#[test]
fn every_argument_that_does_not_fit_is_named() {
    let add = Add::new();
    let wrong = npy("<f4", "(1,)", &floats(&[0.0]));
    let wrong = add.scratch.file("wrong.npy", wrong);
    let input = |name: &str| format!("{name}={}", wrong.display());
    run(&[
        &"run",
        &add.program,
        &"--input",
        &input("x"),
        &"--input",
        &input("bias"),
    ])
    .expect(3)
    .says("argument `x` (number 0): expected rank 2")
    .says("argument `bias` (number 1): expected shape [3]");
}

/// Of two arrays of one name one would count, and nobody can say which.
#[test]
fn an_archive_with_a_name_twice() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["x.npy", "y.npy", "bias.npy"] {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(name, options.compression_method(zip::CompressionMethod::Stored))
            .unwrap();
        let (shape, count) = if name == "bias.npy" {
            ("(3,)", 3)
        } else {
            ("(2, 3)", 6)
        };
        zip.write_all(&npy("<f4", shape, &floats(&vec![1.0; count])))
            .unwrap();
    }
    let mut bytes = zip.finish().unwrap().into_inner();
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let check = |bytes: &[u8], says: &str| {
        let inputs = scratch.file("inputs.npz", bytes);
        run(&[&"run", &program, &"--inputs", &inputs])
            .expect(3)
            .says(says);
    };
    check(&bytes, "has no argument `y`");
    for at in 0..bytes.len() - 5 {
        if bytes[at..].starts_with(b"y.npy") {
            bytes[at] = b'x';
        }
    }
    check(&bytes, "two arrays of one name");
}

#[test]
fn an_argument_that_no_memory_holds() {
    let scratch = Scratch::new();
    let huge = "tensor<9223372036854775807xf32>";
    let program = format!("func.func public @main(%a: {huge}) -> {huge} {{\n  return %a : {huge}\n}}\n");
    let program = scratch.file("huge.mlir", program);
    run(&[&"run", &program, &"--random", &"1"])
        .expect(3)
        .says("has 2^64 bytes or more");
}
