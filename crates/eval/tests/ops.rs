//! Small programs with expectations inside: what the corpus does not reach of control flow, shapes and processes.

#![expect(
    clippy::expect_used,
    reason = "a test fails where its program is not as it should be"
)]

use artifact_eval::{Options, Outcome, evaluate};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

/// Runs `main`; the message of an error that stops it.
fn run(text: &str, options: Options) -> Result<Outcome, String> {
    let module = parse_module(text)
        .into_module()
        .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    assert!(verify(&module).is_empty(), "{:?}\n{text}", verify(&module));
    let main = module.function("main").expect("a function called main");
    evaluate(&module, main, Vec::new(), &options).map_err(|error| error.to_string())
}

/// The body of `main` runs and meets every expectation, of which there is one.
fn check(body: &str) {
    check_module(&format!("func.func @main() {{\n{body}\nfunc.return\n}}"));
}

fn check_module(text: &str) {
    let outcome = run(text, Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(outcome.checks > 0, "nothing is expected by\n{text}");
    assert!(outcome.failures.is_empty(), "{:?}\n{text}", outcome.failures);
}

/// The program stops with a message that contains `message`.
fn check_error(text: &str, options: Options, message: &str) {
    let error = run(text, options).expect_err(text);
    assert!(error.contains(message), "{error}\n{text}");
}

#[test]
fn shapes() {
    check(
        "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
         %1 = stablehlo.reverse %0, dims = [1] : tensor<2x3xi32>
         check.expect_eq_const %1, dense<[[2, 1, 0], [2, 1, 0]]> : tensor<2x3xi32>",
    );
    check(
        "%0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
         %p = stablehlo.constant dense<0> : tensor<i8>
         %1 = stablehlo.pad %0, %p, low = [-1, 1], high = [0, 0], interior = [1, 1] : (tensor<2x2xi8>, tensor<i8>) -> tensor<2x4xi8>
         check.expect_eq_const %1, dense<[[0, 0, 0, 0], [0, 3, 0, 4]]> : tensor<2x4xi8>",
    );
    check(
        "%0 = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi8>
         %i = stablehlo.constant dense<9> : tensor<ui64>
         %1 = stablehlo.dynamic_slice %0, %i, sizes = [2] : (tensor<5xi8>, tensor<ui64>) -> tensor<2xi8>
         check.expect_eq_const %1, dense<[3, 4]> : tensor<2xi8>",
    );
    check(
        "%0 = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi8>
         %1 = stablehlo.slice %0 [1:5:3] : (tensor<5xi8>) -> tensor<2xi8>
         check.expect_eq_const %1, dense<[1, 4]> : tensor<2xi8>",
    );
    check(
        "%0 = stablehlo.constant dense<> : tensor<0x2xi8>
         %1 = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi8>
         %2 = stablehlo.concatenate %0, %1, %1, dim = 0 : (tensor<0x2xi8>, tensor<1x2xi8>, tensor<1x2xi8>) -> tensor<2x2xi8>
         check.expect_eq_const %2, dense<[[1, 2], [1, 2]]> : tensor<2x2xi8>",
    );
}

#[test]
fn a_case_out_of_range_takes_the_last_branch() {
    check(
        "%i = stablehlo.constant dense<-1> : tensor<i32>
         %0 = \"stablehlo.case\"(%i) ({
           %1 = stablehlo.constant dense<1> : tensor<i64>
           stablehlo.return %1 : tensor<i64>
         }, {
           %2 = stablehlo.constant dense<2> : tensor<i64>
           stablehlo.return %2 : tensor<i64>
         }) : (tensor<i32>) -> tensor<i64>
         check.expect_eq_const %0, dense<2> : tensor<i64>",
    );
}

#[test]
fn tuples() {
    check(
        "%0 = stablehlo.constant dense<7> : tensor<i64>
         %1 = stablehlo.tuple %0, %0 : tuple<tensor<i64>, tensor<i64>>
         %2 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<i64>, tensor<i64>>) -> tensor<i64>
         check.expect_eq_const %2, dense<7> : tensor<i64>",
    );
}

#[test]
fn every_failed_expectation_is_reported() {
    let text = "func.func @main() {
        %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        check.expect_eq_const %0, dense<[1.0, 3.0]> : tensor<2xf32>
        check.expect_almost_eq_const %0, dense<[1.0, 2.00001]> : tensor<2xf32>
        check.expect_eq_const %0, dense<[4.0, 2.0]> : tensor<2xf32>
        func.return
    }";
    let outcome = run(text, Options::default()).unwrap();
    let messages: Vec<&str> = outcome
        .failures
        .iter()
        .map(|failure| failure.message.as_str())
        .collect();
    let expected = [
        "1 of 2 elements differ: [1] is 2.0, expected 3.0 (4194304 ulp)",
        "1 of 2 elements differ: [0] is 1.0, expected 4.0 (16777216 ulp)",
    ];
    assert_eq!(messages, expected);
    assert_eq!(outcome.checks, 3);
}

#[test]
fn collectives_of_one_process() {
    check(
        "%0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
         %1 = \"stablehlo.all_gather\"(%0) {all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2xi64>) -> tensor<2xi64>
         check.expect_eq_const %1, dense<[1, 2]> : tensor<2xi64>",
    );
}

#[test]
fn a_deadlock_is_an_error() {
    let text = "module {
      func.func @waits(%token: !stablehlo.token) -> tensor<i64> {
        %0:2 = \"stablehlo.recv\"(%token) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
        func.return %0#0 : tensor<i64>
      }
      func.func @ends(%token: !stablehlo.token) {
        func.return
      }
      func.func @main() {
        %token = stablehlo.after_all : !stablehlo.token
        %0 = \"interpreter.run_parallel\"(%token, %token) {programs = [[@waits], [@ends]]} : (!stablehlo.token, !stablehlo.token) -> tensor<i64>
        func.return
      }
    }";
    check_error(text, Options::default(), "deadlock");
}

#[test]
fn runaway_programs_end() {
    let forever = "func.func @main() {
        %0 = stablehlo.constant dense<true> : tensor<i1>
        %1 = stablehlo.while(%arg = %0) : tensor<i1>
        cond { stablehlo.return %arg : tensor<i1> }
        do { stablehlo.return %arg : tensor<i1> }
        func.return
    }";
    check_error(
        forever,
        Options {
            steps_max: Some(1000),
            bytes_max: None,
        },
        "more than 1000 steps",
    );
}

#[test]
fn memory_is_bounded() {
    let large = "func.func @main() {
        %0 = stablehlo.iota dim = 0 : tensor<100xf32>
        %1 = stablehlo.iota dim = 0 : tensor<1000000xf32>
        func.return
    }";
    let options = Options {
        steps_max: None,
        bytes_max: Some(4000),
    };
    check_error(
        large,
        options,
        "the values of the program take 400 bytes, and with those of this operation 4000400, over the limit of 4000",
    );
}

#[test]
fn assertions_quote_their_numbers() {
    let text = "func.func @main() {
        %0 = stablehlo.constant dense<false> : tensor<i1>
        %1 = stablehlo.constant dense<3> : tensor<i32>
        stablehlo.custom_call @shape_assertion(%0, %1) {error_message = \"size {0} is odd\", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
        func.return
    }";
    check_error(text, Options::default(), "size 3 is odd");
}

/// However large the other dimensions are, an empty array has nothing to go through.
#[test]
fn empty_arrays_take_no_time() {
    for body in [
        "%r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<0x10000000000xf32>, tensor<0x10000000000xf32>) -> tensor<0x0xf32>",
        "%r = \"stablehlo.sort\"(%x) <{dimension = 0 : i64}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %c : tensor<i1>\n}) : (tensor<0x10000000000xf32>) -> tensor<0x10000000000xf32>",
        "%k = stablehlo.constant dense<0.0> : tensor<10000000000x0x1xf32>\n%s = stablehlo.constant dense<0.0> : tensor<1x10000000000x0xf32>\n%r = stablehlo.convolution(%s, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10000000000x0xf32>, tensor<10000000000x0x1xf32>) -> tensor<1x1x1xf32>",
        "%s = stablehlo.constant dense<1.0> : tensor<4xf32>\n%i = stablehlo.constant dense<0> : tensor<10000000000x0xi32>\n%u = stablehlo.constant dense<0.0> : tensor<10000000000x0xf32>\n%r = \"stablehlo.scatter\"(%s, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], index_vector_dim = 1>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\nstablehlo.return %b : tensor<f32>\n}) : (tensor<4xf32>, tensor<10000000000x0xi32>, tensor<10000000000x0xf32>) -> tensor<4xf32>",
    ] {
        let text = format!(
            "func.func @main() {{\n%x = stablehlo.constant dense<0.0> : tensor<0x10000000000xf32>\n{body}\nreturn\n}}"
        );
        let options = Options {
            steps_max: Some(1000),
            bytes_max: Some(1 << 20),
        };
        // The second has a result that no memory holds.
        let outcome = run(&text, options);
        assert_eq!(
            outcome.is_ok(),
            !body.contains("[0] x [0]"),
            "{body}\n{outcome:?}"
        );
    }
}

#[test]
fn large_operations_count_as_several_steps() {
    let dot = "func.func @main() {
        %a = stablehlo.constant dense<1.0> : tensor<8000x8000xf32>
        %r = stablehlo.dot %a, %a : (tensor<8000x8000xf32>, tensor<8000x8000xf32>) -> tensor<8000x8000xf32>
        func.return
    }";
    check_error(
        dot,
        Options {
            steps_max: Some(1000),
            bytes_max: None,
        },
        "more than 1000 steps",
    );
}
