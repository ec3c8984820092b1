//! `artifact export --shapes`: whatever it writes, every command that reads the program takes, and says the same.

use std::path::{Path, PathBuf};

use crate::{Ended, Scratch, floats, npy, run};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures")
        .join(name)
}

/// A program of JAX as text: `b` rows, 2 to 64 of them, as its assertions say.
fn rows() -> PathBuf {
    fixture("symbolic_rows.mlir")
}

/// An export with functions of gradients: `x: f32[b]`, and a count.
fn gradients() -> PathBuf {
    fixture("jax_exports/schema12/vjp2.bin")
}

/// An export of `x: f32[a]` and `y: f32[b]` with `b <= 8` and `a >= 2*b`.
fn constrained() -> PathBuf {
    fixture("jax_exports/schema12/constraints.bin")
}

/// A folder with the artifact that an export writes.
struct Written {
    scratch: Scratch,
    artifact: PathBuf,
}

impl Written {
    fn new(program: &Path, options: &[&str]) -> Self {
        let scratch = Scratch::new();
        let artifact = scratch.path("written.artifact");
        export(program, options, &artifact).expect(0);
        Self { scratch, artifact }
    }

    fn dims(&self) -> Ended {
        run(&[&"inspect", &"--dims", &self.artifact]).expect(0)
    }

    fn inspect(&self) -> Ended {
        run(&[&"inspect", &self.artifact]).expect(0)
    }

    /// The commands that read the program, with these values for its variables.
    fn taken_by_all(self, dims: &[&str]) -> Self {
        let output = self.scratch.path("output");
        let dims: Vec<&str> = dims.iter().flat_map(|dim| ["--dim", dim]).collect();
        let with = |start: &[&dyn AsRef<std::ffi::OsStr>], dims: &[&str]| {
            let mut arguments = start.to_vec();
            arguments.extend(dims.iter().map(|text| text as &dyn AsRef<std::ffi::OsStr>));
            run(&arguments)
        };
        with(&[&"run", &self.artifact, &"--random", &"1"], &dims).expect(0);
        if !dims.is_empty() {
            with(&[&"specialize", &self.artifact, &"-o", &output], &dims).expect(0);
        }
        run(&[&"verify", &self.artifact]).expect(0);
        run(&[&"inspect", &"--program", &self.artifact]).expect(0);
        for format in ["mlir", "mlirbc"] {
            run(&[&"convert", &self.artifact, &"--to", &format, &"-o", &output]).expect(0);
        }
        self
    }

    /// The same file, which a file of JAX can say, too.
    fn taken_by_jax(self) -> Self {
        let output = self.scratch.path("output.bin");
        run(&[&"convert", &self.artifact, &"--to", &"jax", &"-o", &output]).expect(0);
        run(&[&"inspect", &output]).expect(0);
        self
    }
}

fn export(program: &Path, options: &[&str], artifact: &Path) -> Ended {
    let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"export", &program, &"-o", &artifact];
    arguments.extend(options.iter().map(|text| text as &dyn AsRef<std::ffi::OsStr>));
    run(&arguments)
}

/// Refused with these words, and nothing is written.
#[track_caller]
fn refused(program: &Path, options: &[&str], says: &str) {
    let scratch = Scratch::new();
    let artifact = scratch.path("refused.artifact");
    export(program, options, &artifact).expect(3).says(says);
    assert!(!artifact.exists());
}

#[test]
fn names_and_constraints_of_a_text_travel() {
    let written = Written::new(&rows(), &[]).taken_by_all(&["b=3"]).taken_by_jax();
    written
        .dims()
        .says("in  arg0: tensor<(b)x8xf32>")
        .says("out result[2]: tensor<(b)xf32>")
        .says("dimension b: at least 1\n")
        .says("constraint b - 2 >= 0")
        .says("constraint - b + 64 >= 0")
        .says_not("asserts")
        .says_not("unknown");
    // The text itself, and its bytecode, say the same.
    let of_text = run(&[&"inspect", &"--dims", &rows()]).expect(0).out;
    assert_eq!(of_text, written.dims().out);
    let bytecode = written.scratch.path("rows.mlirbc");
    run(&[&"convert", &rows(), &"--to", &"mlirbc", &"-o", &bytecode]).expect(0);
    assert_eq!(Written::new(&bytecode, &[]).dims().out, of_text);
    for file in [&rows(), &bytecode, &written.artifact] {
        let random = |dim: &str| run(&[&"run", file, &"--random", &"1", &"--dim", &dim]);
        random("b=5").expect(0).says("tensor<5x8xf32>");
        random("b=65")
            .expect(3)
            .says("- b + 64 >= 0: - 1 >= 0 does not hold");
        random("n=5").expect(3).says("its variables are b");
        let fixed = written.scratch.path("fixed.artifact");
        run(&[&"specialize", file, &"--dim", &"b=5", &"-o", &fixed]).expect(0);
    }
}

/// Sizes that are expressions of a name are so again: JAX computes the name from them.
#[test]
fn names_are_recovered_from_what_is_computed_of_sizes() {
    let scratch = Scratch::new();
    let text = scratch.path("program.mlir");
    let dims = |file: &Path| {
        let dims = run(&[&"inspect", &"--dims", &file]).expect(0).out;
        let names = dims
            .replace("arg0:", "x:")
            .replace("arg1:", "y:")
            .replace("arg2:", "z:");
        assert!(names.contains("dimension b: at least 1"), "{names}");
        names
    };
    for name in ["dimensions", "shardings", "constraints"] {
        let original = fixture("jax_exports/schema12")
            .join(name)
            .with_added_extension("bin");
        run(&[&"convert", &original, &"--to", &"mlir", &"-o", &text]).expect(0);
        assert_eq!(dims(&text), dims(&original), "{name}");
    }
}

/// More assertions than a scope has room for stay in the program, and are checked when it runs.
#[test]
fn assertions_without_number() {
    let mut text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
"
    .to_owned();
    for number in 1000..1300 {
        text += &format!(
            "      %c{number} = stablehlo.constant dense<{number}> : tensor<i32>
      %h{number} = stablehlo.compare NE, %n, %c{number}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%h{number}) {{error_message = \"not {number}\", has_side_effect = true}} : (tensor<i1>) -> ()
"
        );
    }
    text += "      return %x : tensor<?xf32>\n    }";
    let scratch = Scratch::new();
    let program = scratch.file("many.mlir", text);
    let written = Written::new(&program, &[]).taken_by_all(&["d0=3"]);
    let random = |dim: &str| run(&[&"run", &written.artifact, &"--random", &"1", &"--dim", &dim]);
    random("d0=1000").expect(3).says("d0 != 1000");
    random("d0=1299").expect(1).says("not 1299");
}

#[test]
fn sizes_without_a_name_may_be_empty() {
    let text = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }";
    let scratch = Scratch::new();
    let program = scratch.file("open.mlir", text);
    let written = Written::new(&program, &[]).taken_by_all(&["d0=0", "d1=3"]);
    written
        .dims()
        .says("out result0: tensor<(d1 + d0)xf32>")
        .says("dimension d0: at least 0");
    // A name that is given to one size is not that of another.
    Written::new(&program, &["--shapes", "arg1: (d0,)"])
        .taken_by_all(&["d0=2", "d1=3"])
        .dims()
        .says("in  arg0: tensor<(d1)xf32>")
        .says("in  arg1: tensor<(d0)xf32>")
        .says("dimension d0: at least 1")
        .says("dimension d1: at least 0");
    Written::new(&program, &["--shapes", "arg1: (n,)", "--constraint", "n >= 0"])
        .taken_by_all(&["n=0", "d0=0"]);
}

#[test]
fn other_names_are_the_same_for_all_functions() {
    let written = Written::new(&gradients(), &["--shapes", "x: (n,)"])
        .taken_by_all(&["n=3"])
        .taken_by_jax();
    let text = written.inspect().out;
    assert!(!text.contains("(b)") && !text.contains("[b]"), "{text}");
    assert_eq!(
        text.matches("takes              ((f32[n], i32[]").count(),
        3,
        "{text}"
    );
    Written::new(&gradients(), &["--shapes", "x: (2*k,)"])
        .taken_by_all(&["k=3"])
        .taken_by_jax()
        .inspect()
        .says("in  x: tensor<(2*k)xf32>")
        .says("((f32[2*k], i32[]), {})");
    // Names may trade places.
    Written::new(&constrained(), &["--shapes", "x: (b,); y: (a,)"])
        .taken_by_all(&["b=8", "a=3"])
        .taken_by_jax()
        .inspect()
        .says("((f32[b], f32[a]), {})")
        .says("((f32[b], f32[a], f32[a], f32[a]), {})");
    // As it is.
    let kept = Written::new(&gradients(), &["--shapes", "x: (_,)"]);
    let plain = Written::new(&gradients(), &[]);
    assert_eq!(
        std::fs::read(&kept.artifact).unwrap(),
        std::fs::read(&plain.artifact).unwrap()
    );
}

/// Numbers make a program static, as `specialize` does.
#[test]
fn numbers_make_a_program_static() {
    for (program, shapes, dims) in [
        (rows(), "arg0: (4, 8)", vec!["b=4"]),
        (gradients(), "x: (4,)", vec!["b=4"]),
        (constrained(), "x: (7,); y: (3,)", vec!["a=7", "b=3"]),
    ] {
        let written = Written::new(&program, &["--shapes", shapes])
            .taken_by_all(&[])
            .taken_by_jax();
        let fixed = written.scratch.path("fixed.artifact");
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"specialize", &program, &"-o", &fixed];
        for dim in &dims {
            arguments.extend([&"--dim" as &dyn AsRef<std::ffi::OsStr>, dim]);
        }
        run(&arguments).expect(0);
        assert_eq!(
            std::fs::read(&written.artifact).unwrap(),
            std::fs::read(&fixed).unwrap()
        );
    }
    // One of two sizes: the other one stays, and so does what is left of the constraints.
    let written = Written::new(&constrained(), &["--shapes", "x: (7,)"])
        .taken_by_all(&["b=3"])
        .taken_by_jax();
    written
        .dims()
        .says("in  x: tensor<7xf32>")
        .says("in  y: tensor<(b)xf32>")
        .says("constraint - 2*b + 7 >= 0");
    let text = run(&[&"convert", &written.artifact]).expect(0).out;
    assert!(text.contains("b <= 8"), "an assertion is lost:\n{text}");
    run(&[&"run", &written.artifact, &"--random", &"1", &"--dim", &"b=4"])
        .expect(3)
        .says("- 2*b + 7 >= 0");
}

const CONCATENATE: &str = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}";

/// A file of JAX of `program`, with these shapes.
fn for_jax(scratch: &Scratch, program: &Path, shapes: &str) -> PathBuf {
    let artifact = scratch.path("source.artifact");
    export(program, &["--shapes", shapes], &artifact).expect(0);
    let file = scratch.path("source.bin");
    run(&[&"convert", &artifact, &"--to", &"jax", &"-o", &file]).expect(0);
    file
}

/// A size of a result that has more names than the one with a number.
#[test]
fn numbers_go_into_sizes_of_several_names() {
    let scratch = Scratch::new();
    let text = scratch.file("concatenate.mlir", CONCATENATE);
    let file = for_jax(&scratch, &text, "arg0: (a,); arg1: (b,)");
    Written::new(&file, &["--shapes", "arg0: (8,)"])
        .taken_by_all(&["b=2"])
        .taken_by_jax()
        .inspect()
        .says("((f32[8], f32[b]), {})")
        .says("f32[b + 8]");
    // The name that is free now may be that of the other size.
    Written::new(&file, &["--shapes", "arg0: (8,); arg1: (a,)"])
        .taken_by_all(&["a=2"])
        .taken_by_jax()
        .inspect()
        .says("((f32[8], f32[a]), {})")
        .says("f32[a + 8]");
    let sum = for_jax(&scratch, &text, "arg0: (k + m,); arg1: (m,)");
    Written::new(&sum, &["--shapes", "arg0: (n,); arg1: (3,)"])
        .taken_by_all(&["n=5"])
        .taken_by_jax()
        .inspect()
        .says("((f32[n], f32[3]), {})");
    refused(&sum, &["--shapes", "arg0: (8,)"], "artifact specialize --dim");
}

/// The names that are given are others than those that the program has in its expressions.
#[test]
fn names_within_expressions_are_solved_for() {
    let scratch = Scratch::new();
    let double = for_jax(&scratch, &gradients(), "x: (2*m,)");
    let as_takes = |shape: &str, dim: &str, takes: &str| {
        let written = Written::new(&double, &["--shapes", shape]).taken_by_all(&[dim]);
        let text = written.inspect().out;
        assert_eq!(text.matches(takes).count(), 3, "{shape}: {text}");
        written
    };
    as_takes("x: (2*n,)", "n=3", "takes              ((f32[2*n], i32[]").taken_by_jax();
    // The program itself does not assert that its size is even, so that JAX cannot say so.
    as_takes("x: (n,)", "n=6", "takes              ((f32[n], i32[]");
    as_takes("x: (m + 1,)", "m=5", "takes              ((f32[m + 1], i32[]");
    as_takes("x: (2*m + 2,)", "m=5", "takes              ((f32[2*m + 2], i32[]").taken_by_jax();
    let odd = Written::new(&double, &["--shapes", "x: (n,)"]);
    run(&[&"run", &odd.artifact, &"--random", &"1", &"--dim", &"n=7"])
        .expect(3)
        .says("mod(n, 2) == 0: 1 == 0 does not hold");
    Written::new(&double, &["--shapes", "x: (8,)"])
        .taken_by_all(&[])
        .taken_by_jax()
        .inspect()
        .says("((f32[8], i32[]), {})");
    refused(
        &double,
        &["--shapes", "x: (7,)"],
        "remainder 1 when computing the value of 'm'",
    );
    refused(&double, &["--shapes", "x: (2*n + 1,)"], "no multiple of 2");
    let more = for_jax(&scratch, &gradients(), "x: (m + 1,)");
    Written::new(&more, &["--shapes", "x: (2*m,)"])
        .taken_by_all(&["m=4"])
        .taken_by_jax()
        .inspect()
        .says("in  x: tensor<(2*m)xf32>")
        .says("((f32[2*m], i32[]), {})");
}

#[test]
fn a_name_that_could_mean_two_sizes_is_refused() {
    refused(
        &constrained(),
        &["--shapes", "y: (a,)"],
        "the name 'a', which is also in 'a', dimension 0 of `x`",
    );
    Written::new(&constrained(), &["--shapes", "x: (a,); y: (c,)"]).taken_by_all(&["a=8", "c=3"]);
}

/// Also a size of a text, whose name was found or is a number.
#[test]
fn placeholders_keep_sizes_as_the_program_has_them() {
    let text = "func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %0 = stablehlo.negate %x : tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }";
    let scratch = Scratch::new();
    let open = scratch.file("open.mlir", text);
    let named = for_jax(&scratch, &open, "arg0: (a, b)");
    let mlir = scratch.path("named.mlir");
    run(&[&"convert", &named, &"--to", &"mlir", &"-o", &mlir]).expect(0);
    for (program, name) in [(&open, "d0"), (&named, "a"), (&mlir, "d0")] {
        let kept = |shapes: &str| Written::new(program, &["--shapes", shapes]);
        let value = format!("{name}=0");
        kept("arg0: (_, 3)")
            .dims()
            .says(&format!(": tensor<({name})x3xf32>"));
        kept("arg0: (_, n)")
            .dims()
            .says(&format!(": tensor<({name})x(n)xf32>"));
        kept("arg0: (4, ...)").dims().says(": tensor<4x(");
        let empty = kept("arg0: (_, 3)");
        let ended = run(&[&"run", &empty.artifact, &"--random", &"1", &"--dim", &value]);
        // What may be 0 in the program may be so still.
        ended.expect(if program == &named { 3 } else { 0 });
    }
}

#[test]
fn what_contradicts_itself_or_the_program_is_refused() {
    refused(&rows(), &["--shapes", "arg0: (65, 8)"], "constraint b <= 64");
    refused(
        &gradients(),
        &["--shapes", "x: (0,)"],
        "'b' is at least 1, and is given as 0",
    );
    refused(
        &constrained(),
        &["--shapes", "x: (4,); y: (3,)"],
        "does not hold for a = 4, b = 3",
    );
    refused(&gradients(), &["--shapes", "x: (n, 2)"], "x");
    refused(&gradients(), &["--shapes", "z: (n,)"], "no argument");
    refused(&gradients(), &["--constraint", "q < 3"], "the variables are b");
    let text = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %equal = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%equal, %m, %n) {error_message = \"{0} is not {1}\", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
      return %x : tensor<?xf32>
    }";
    let scratch = Scratch::new();
    let program = scratch.file("equal.mlir", text);
    refused(&program, &["--shapes", "arg0: (3,); arg1: (4,)"], "4 is not 3");
    refused(
        &program,
        &["--shapes", "arg0: (3,); arg1: (n,)"],
        "artifact specialize --dim",
    );
    refused(
        &program,
        &["--shapes", "arg0: (n,); arg1: (n + 1,)"],
        "n + 1 is not n",
    );
    // Two names for one size are two names that are equal.
    let written = Written::new(&program, &["--shapes", "arg0: (n,); arg1: (m,)"]).taken_by_all(&["n=3"]);
    run(&[
        &"run",
        &written.artifact,
        &"--random",
        &"1",
        &"--dim",
        &"n=3",
        &"--dim",
        &"m=4",
    ])
    .expect(3)
    .says("3 == 4 does not hold");
}

/// A constraint does not loosen what the program asserts.
#[test]
fn constraints_join_those_of_the_program() {
    let written = Written::new(&gradients(), &["--constraint", "b >= 0"]).taken_by_jax();
    written.dims().says("dimension b: at least 1");
    run(&[&"run", &written.artifact, &"--random", &"1", &"--dim", &"b=0"])
        .expect(3)
        .says("expected value >= 1 for dimension variable 'b', found 0");
    let tighter = Written::new(
        &rows(),
        &["--constraint", "mod(b, 4) == 0", "--constraint", "b >= 0"],
    );
    tighter
        .dims()
        .says("dimension b: at least 1\n")
        .says("constraint - b + 64 >= 0")
        .says("constraint mod(b, 4) == 0");
    run(&[&"run", &tighter.artifact, &"--random", &"1", &"--dim", &"b=6"])
        .expect(3)
        .says("mod(b, 4) == 0: 2 == 0 does not hold");
    Written::new(&gradients(), &["--constraint", "b <= 64"])
        .taken_by_all(&["b=64"])
        .dims()
        .says("constraint b <= 64");
}

/// What an array tells, what is random need not be told again.
#[test]
fn arrays_tell_the_sizes_of_what_is_random() {
    let text = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      return %y : tensor<?xf32>
    }";
    let scratch = Scratch::new();
    let program = scratch.file("two.mlir", text);
    let named = Written::new(&program, &["--shapes", "arg0: (2*n,); arg1: (n + m,)"]);
    // The array comes after what is random.
    let swapped = Written::new(&program, &["--shapes", "arg0: (n + m,); arg1: (2*n,)"]);
    let array = scratch.file("x.npy", npy("<f4", "(4,)", &floats(&[1.0; 4])));
    let random = |file: &Path, argument: &str, dims: &[&str]| {
        let input = format!("{argument}={}", array.display());
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"run", &file, &"--random", &"1", &"--input", &input];
        arguments.extend(dims.iter().map(|text| text as &dyn AsRef<std::ffi::OsStr>));
        run(&arguments)
    };
    random(&named.artifact, "arg0", &["--dim", "m=3"])
        .expect(0)
        .says("tensor<5xf32>");
    random(&swapped.artifact, "arg1", &["--dim", "m=3"])
        .expect(0)
        .says("tensor<4xf32>");
    random(&named.artifact, "arg0", &[])
        .expect(3)
        .says("which no array tells: give --dim m=N");
    random(&named.artifact, "arg0", &["--dim", "m=3", "--dim", "n=3"])
        .expect(3)
        .says("arg0.shape[0] (= 4)");
}

#[test]
fn a_platform_is_one_of_the_program() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", crate::ADD);
    let of_cpu = scratch.path("cpu.artifact");
    export(&program, &["--platform", "cpu"], &of_cpu).expect(0);
    let on = |file: &Path, platform: &str| run(&[&"run", &file, &"--random", &"1", &"--platform", &platform]);
    on(&program, "cpu").expect(0);
    on(&of_cpu, "cpu").expect(0);
    for platform in ["nonsense", "cuda"] {
        on(&program, platform).expect(2).says("chooses nothing");
        on(&of_cpu, platform)
            .expect(6)
            .says(&format!("exported for `cpu`, and not for `{platform}`"));
    }
    on(&fixture("jax_exports/schema12/platforms.bin"), "rocm")
        .expect(6)
        .says("`cpu`, `cuda`, `tpu`, and not for `rocm`")
        .says_not("offers");
}

/// The range of 32 bits is said as far as it is no matter of course.
#[test]
fn needs_are_those_that_are_not_given() {
    run(&[&"inspect", &"--dims", &gradients()])
        .expect(0)
        .says("needs b <= 2147483647")
        .says_not("-2147483648");
}

/// What no expression says is told with its function, and in the words of the program.
#[test]
fn what_is_no_expression_is_told() {
    let text = "func.func @main(%x: tensor<4xf32>, %n: tensor<1xi32>, %holds: tensor<i1>) -> tensor<?xf32> {
      stablehlo.custom_call @shape_assertion(%holds) {error_message = \"who knows\", has_side_effect = true} : (tensor<i1>) -> ()
      %0 = call @made(%x, %n) : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    func.func private @made(%x: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
      %0 = stablehlo.dynamic_reshape %x, %n : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }";
    let scratch = Scratch::new();
    let program = scratch.file("data.mlir", text);
    run(&[&"inspect", &"--dims", &program])
        .expect(0)
        .says("asserts a condition that is no expression of dimensions: \"who knows\"")
        .says("in the function `made` does not follow from its operands")
        .says_not("--shapes");
}
