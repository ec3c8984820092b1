//! Programs with dimensions that are not static.

use std::path::PathBuf;

use crate::{Ended, Scratch, floats, npy, run};

/// A program as JAX exports it, with the check of a dimension.
const SYMBOLIC: &str = r#"func.func @main(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %holds = stablehlo.compare GE, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%holds, %n) {error_message = "expected n >= 2, found {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %columns = stablehlo.constant dense<2> : tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %result = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %result : tensor<?x2xf32>
}
"#;

#[test]
fn sizes_come_from_the_arrays() {
    let scratch = Scratch::new();
    let program = scratch.file("symbolic.mlir", SYMBOLIC);
    let artifact = scratch.path("symbolic.artifact");
    run(&[&"export", &program, &"-o", &artifact]).expect(0);
    let input = |size: usize| {
        let values = floats(&vec![3.0; size]);
        let x = scratch.file("x.npy", npy("<f4", &format!("({size},)"), &values));
        format!("x={}", x.display())
    };
    for file in [&program, &artifact] {
        for size in [2, 5] {
            run(&[&"run", file, &"--input", &input(size).replace("x=", "arg0=")])
                .expect(0)
                .says(&format!("tensor<{size}x2xf32> = [3.0, 3.0"));
        }
        run(&[&"run", file, &"--input", &input(1).replace("x=", "arg0=")])
            .expect(3)
            .says("constraint d0 >= 2: 1 >= 2 does not hold");
    }
}

/// An artifact of the program with a named dimension.
struct Named {
    scratch: Scratch,
    artifact: PathBuf,
}

impl Named {
    fn new() -> Self {
        let scratch = Scratch::new();
        let program = scratch.file("symbolic.mlir", SYMBOLIC);
        let artifact = scratch.path("named.artifact");
        run(&[
            &"export",
            &program,
            &"--shapes",
            &"arg0: (2*h,)",
            &"--constraint",
            &"h <= 4",
            &"-o",
            &artifact,
        ])
        .expect(0);
        Self { scratch, artifact }
    }

    fn run(&self, size: usize) -> Ended {
        let values = floats(&vec![3.0; size]);
        let x = self
            .scratch
            .file("x.npy", npy("<f4", &format!("({size},)"), &values));
        run(&[
            &"run",
            &self.artifact,
            &"--input",
            &format!("arg0={}", x.display()),
        ])
    }
}

#[test]
fn names_are_kept_and_checked() {
    let named = Named::new();
    run(&[&"inspect", &named.artifact])
        .expect(0)
        .says("in  arg0: tensor<(2*h)xf32>")
        .says("out result0: tensor<(2*h)x2xf32>")
        .says("symbolic-dimensions");
    run(&[&"inspect", &"--dims", &named.artifact])
        .expect(0)
        .says("dimension h: at least 1")
        .says("constraint h <= 4")
        .says("every value has a shape")
        .says_not("needs");
    named.run(8).expect(0).says("tensor<8x2xf32>");
    named
        .run(7)
        .expect(3)
        .says("division had remainder 1 when computing the value of 'h'")
        .says("arg0.shape[0] (= 7)");
    named.run(10).expect(3).says("h <= 4: 5 <= 4 does not hold");
}

#[test]
fn sizes_on_the_command_line() {
    let named = Named::new();
    let random = |dim: &str| run(&[&"run", &named.artifact, &"--random", &"1", &"--dim", &dim]);
    random("h=3").expect(0).says("tensor<6x2xf32>");
    random("h=5").expect(3).says("h <= 4");
    random("z=5").expect(3).says("no dimension variable");
    random("h").expect(2).says("NAME=N");
    run(&[&"run", &named.artifact, &"--random", &"1"])
        .expect(3)
        .says("--dim");
}

#[test]
fn a_static_program_of_some_sizes() {
    let named = Named::new();
    let fixed = named.scratch.path("fixed.artifact");
    let specialize = |dim: &str| run(&[&"specialize", &named.artifact, &"--dim", &dim, &"-o", &fixed]);
    specialize("h=5").expect(3).says("h <= 4");
    specialize("z=5").expect(3).says("its variables are h");
    assert!(!fixed.exists());
    specialize("h=2").expect(0);
    let text = run(&[&"convert", &fixed]).expect(0).out;
    for gone in ["?", "dynamic", "shape_assertion", "get_dimension_size"] {
        assert!(!text.contains(gone), "{gone} in\n{text}");
    }
    run(&[&"run", &fixed, &"--random", &"1"])
        .expect(0)
        .says("tensor<4x2xf32>");
}

#[test]
fn shapes_that_do_not_fit() {
    let scratch = Scratch::new();
    let program = scratch.file("symbolic.mlir", SYMBOLIC);
    let export = |shapes: &str, constraint: &str| {
        run(&[
            &"export",
            &program,
            &"--shapes",
            &shapes,
            &"--constraint",
            &constraint,
            &"-o",
            &scratch.path("f.artifact"),
        ])
    };
    export("y: (b,)", "b > 1")
        .expect(3)
        .says("the arguments are arg0");
    export("arg0: (b, c)", "b > 1").expect(3).says("arg0");
    export("arg0: (b@,)", "b > 1").expect(3).says("'@'").says("^");
    export("arg0: (b,)", "c > 1").expect(3).says("'c'");
    export("arg0: (b,)", "b > b + 1").expect(3).says("b > b + 1");
    // The program asserts that the size is at least 2.
    export("arg0: (b,)", "b == 1").expect(3).says("expected n >= 2");
    export("arg0: (b,); arg0: (c,)", "b > 1")
        .expect(2)
        .says("second shape");
    export("arg0 (b)", "b > 1").expect(2).says("NAME: (DIM, ...)");
}

/// The program computes sizes in 32 bits, where the third power wraps.
#[test]
fn sizes_that_would_wrap() {
    let text = r#"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n2 = stablehlo.multiply %n, %n : tensor<i32>
  %n3 = stablehlo.multiply %n2, %n : tensor<i32>
  %large = stablehlo.constant dense<10000000> : tensor<i32>
  %q = stablehlo.divide %n3, %large : tensor<i32>
  %shape = stablehlo.reshape %q : (tensor<i32>) -> tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.dynamic_broadcast_in_dim %zero, %shape, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"#;
    let scratch = Scratch::new();
    let program = scratch.file("wraps.mlir", text);
    let artifact = scratch.path("wraps.artifact");
    let fixed = scratch.path("fixed.artifact");
    run(&[&"export", &program, &"--shapes", &"arg0: (n,)", &"-o", &artifact]).expect(0);
    // As JAX writes what does not hold.
    run(&[
        &"export",
        &program,
        &"--constraint",
        &"-d0 + 64 >= 0",
        &"-o",
        &fixed,
    ])
    .expect(0);
    let random = |dim: &str| run(&[&"run", &artifact, &"--random", &"1", &"--dim", &dim]);
    random("n=1000").expect(0).says("tensor<100xf32>");
    random("n=3000").expect(3).says("n^3 = 27000000000 in integers");
    random("n=-1")
        .expect(3)
        .says("expected value >= 1 for dimension variable 'n', found - 1");
    run(&[&"specialize", &artifact, &"--dim", &"n=3000", &"-o", &fixed])
        .expect(3)
        .says("n^3 = 27000000000");
    let x = scratch.file("x.npy", npy("<f4", "(3000,)", &floats(&[0.0; 3000])));
    run(&[&"run", &program, &"--input", &format!("arg0={}", x.display())])
        .expect(3)
        .says("d0^3 = 27000000000");
}

const SUBTRACT: &str =
    "func.func @main(%a: tensor<?xf32> loc(\"a\"), %b: tensor<?xf32> loc(\"b;c\")) -> tensor<?xf32> {
  %0 = stablehlo.subtract %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
";

/// Also the names: one that has a semicolon is quoted, or given by its position.
#[test]
fn sizes_that_must_be_equal_are_checked_before_a_run() {
    let scratch = Scratch::new();
    let program = scratch.file("subtract.mlir", SUBTRACT);
    let artifact = scratch.path("subtract.artifact");
    let export = |shapes: &str| run(&[&"export", &program, &"--shapes", &shapes, &"-o", &artifact]);
    for shapes in ["a: (n,); \"b;c\": (m,)", "a: (n,); arg1: (m,)"] {
        export(shapes).expect(0);
        run(&[&"inspect", &"--dims", &artifact])
            .expect(0)
            .says("constraint n == m");
    }
    let file = |name: &str, size: usize| {
        let values = floats(&vec![1.0; size]);
        scratch.file(name, npy("<f4", &format!("({size},)"), &values))
    };
    let (two, three) = (file("two.npy", 2), file("three.npy", 3));
    let subtract = |second: &PathBuf| {
        let (a, b) = (
            format!("a={}", two.display()),
            format!("b;c={}", second.display()),
        );
        run(&[&"run", &artifact, &"--input", &a, &"--input", &b])
    };
    subtract(&two).expect(0).says("[0.0, 0.0]");
    subtract(&three)
        .expect(3)
        .says("n == m: 2 == 3 does not hold")
        .says("a.shape[0] (= 2)")
        .says("b;c.shape[0] (= 3)");
    export("a: (n,); b;c: (m,)")
        .expect(2)
        .says("quote a name that has `;`");
    export("").expect(2).says("`--shapes` is empty");
}

const BOUNDED: &str = "func.func @main(%x: tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32> {
  %0 = stablehlo.negate %x : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
";

#[test]
fn bounds_are_kept() {
    let scratch = Scratch::new();
    let program = scratch.file("bounded.mlir", BOUNDED);
    let artifact = scratch.path("bounded.artifact");
    run(&[&"export", &program, &"--shapes", &"arg0: (b,)", &"-o", &artifact]).expect(0);
    for file in [&program, &artifact] {
        for (size, code, said) in [(4, 0, "tensor<4xf32>"), (5, 3, "4")] {
            let values = floats(&vec![1.0; size]);
            let x = scratch.file("x.npy", npy("<f4", &format!("({size},)"), &values));
            run(&[&"run", file, &"--input", &format!("arg0={}", x.display())])
                .expect(code)
                .says(said);
        }
    }
    run(&[&"inspect", &"--dims", &artifact])
        .expect(0)
        .says("constraint b <= 4");
}
