//! XLA's CPU plugin behind the engine port.
//!
//! `ARTIFACT_PJRT_PLUGIN` names the plugin; `cargo xtask test` installs it and sets the variable.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests read where the plugin is, and say that they did nothing without one"
)]

use std::path::PathBuf;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_dims::{Assignment, Expr, Scope, Variable};
use artifact_engine::{
    Argument, ArgumentFact, Buffer, CompileOptions, CompiledModule, Engine, ErrorKind, Executable,
    ExecuteOptions, Program, Target, Value,
};
use artifact_engine_pjrt::{NamedValue, PjrtEngine, Plugin, Settings};
use artifact_engine_reference::ReferenceEngine;
use artifact_ir::types::{Dim, TensorType};
use artifact_stablehlo::parse::parse_module;

const VARIABLE: &str = "ARTIFACT_PJRT_PLUGIN";

fn engine() -> Option<Arc<dyn Engine>> {
    let path = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let Some(path) = path.map(PathBuf::from) else {
        eprintln!("SKIPPED: {VARIABLE} names no plugin; `cargo xtask test` installs one");
        return None;
    };
    let mut settings = Settings::default();
    let devices = NamedValue::Number(1);
    settings
        .client
        .options
        .insert("cpu_device_count".to_owned(), devices);
    let plugin = Plugin::open(&path).unwrap();
    Some(Arc::new(PjrtEngine::new(&plugin, &settings).unwrap()))
}

fn program(text: &str) -> Program {
    let module = parse_module(text).into_module().unwrap();
    Program::of_module(Arc::new(module)).unwrap()
}

/// The program with names for the open sizes of its arguments.
fn symbolic(text: &str, names: &[&[&str]]) -> Program {
    let open = program(text);
    let fact = |(fact, names): (&ArgumentFact, &&[&str])| {
        let dims = names.iter().map(|name| Dim::from(name.parse::<Expr>().unwrap()));
        let element = fact.ty.as_tensor().unwrap().element.clone();
        ArgumentFact::of_type(TensorType::new(dims.collect::<Vec<_>>(), element).into())
    };
    let facts = open.arguments().iter().zip(names).map(fact).collect();
    Program::new(Arc::clone(open.module()), open.entry(), facts, Scope::default()).unwrap()
}

fn floats(shape: &[u64], first: f32) -> Value {
    let count = shape.iter().product::<u64>();
    let numbers: Vec<f32> = (0..count).map(|at| first + at as f32).collect();
    Buffer::of_numbers(shape, &numbers).unwrap().into()
}

fn loaded(engine: &dyn Engine, program: &Program) -> Arc<dyn Executable> {
    let module = engine
        .compile(program, &CompileOptions::for_engine(engine))
        .unwrap();
    // Through bytes, as a cache does it.
    let module = CompiledModule::decode(&Blob::new(module.encode())).unwrap();
    engine.load(&module).unwrap()
}

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().to_numbers().unwrap()
}

const SUM: &str = "
func.func @sum(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %y : tensor<?x?xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}";

#[test]
fn sizes_are_asked_for_and_compiled() {
    let Some(engine) = engine() else { return };
    let program = symbolic(SUM, &[&["b", "n"], &["b", "n"]]);
    let options = CompileOptions::for_engine(&*engine);
    let plan = engine.plan(&program, &options).unwrap();
    let names: Vec<String> = plan
        .dimensions
        .iter()
        .map(|one| one.variable.to_string())
        .collect();
    assert_eq!(names, ["b", "n"]);
    assert_eq!(
        engine.compile(&program, &options).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    for (rows, columns) in [(1, 1), (2, 3), (7, 130)] {
        let arguments = [floats(&[rows, columns], 1.0), floats(&[rows, columns], 2.0)];
        let variable = |name| Variable::new(name).unwrap();
        let sizes: Assignment = [(variable("b"), rows as i64), (variable("n"), columns as i64)]
            .into_iter()
            .collect();
        let program = plan.specialized(&program, &sizes, &[]).unwrap();
        assert!(engine.plan(&program, &options).unwrap().is_complete());
        let executable = loaded(&*engine, &program);
        let mut arguments: Vec<Argument<'_>> = arguments.iter().map(Argument::from).collect();
        let outcome = executable
            .call(&mut arguments, &ExecuteOptions::default())
            .unwrap();
        let sum = |row: u64| {
            (0..columns)
                .map(|at| (row * columns + at) as f32)
                .map(|x| (x + 1.0) * (x + 2.0))
                .sum()
        };
        let expected: Vec<f32> = (0..rows).map(sum).collect();
        assert_eq!(numbers(&outcome.results[0]), expected);
    }
}

const ADD: &str = "
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}";

#[test]
fn calls_keep_what_is_borrowed_and_use_memory_again() {
    let Some(engine) = engine() else { return };
    let executable = loaded(&*engine, &program(ADD));
    drop(engine);
    let (x, y) = (floats(&[4], 1.0), floats(&[4], 10.0));
    let mut results = Vec::new();
    let options = ExecuteOptions::default();
    for _ in 0..3 {
        let before = results
            .first()
            .map(|value: &Value| value.as_array().unwrap().bytes().as_ptr());
        let mut arguments = [Argument::from(&x), Argument::donate(y.clone())];
        executable.run(&mut arguments, &mut results, &options).unwrap();
        assert!(arguments[1].value().is_none());
        assert_eq!(numbers(&results[0]), [11.0, 13.0, 15.0, 17.0]);
        let after = results[0].as_array().unwrap().bytes().as_ptr();
        assert!(before.is_none_or(|before| before == after));
    }
    assert_eq!(numbers(&x), [1.0, 2.0, 3.0, 4.0]);
    let limited = ExecuteOptions {
        memory_limit_bytes: Some(40),
        ..options
    };
    let error = executable.run(
        &mut [Argument::from(&x), Argument::from(&y)],
        &mut results,
        &limited,
    );
    assert_eq!(error.unwrap_err().kind(), ErrorKind::MemoryLimit);
    assert!(results.is_empty());
}

#[test]
fn elements_of_fewer_bits_take_a_byte_each() {
    let Some(engine) = engine() else { return };
    for (element, bytes, sums) in [
        ("i4", [5, 0xFF, 0xFC], [0xFA, 0xFE, 0xF8]),
        ("ui4", [5, 15, 8], [10, 14, 0]),
        ("i1", [0, 1, 1], [0, 1, 1]),
    ] {
        let text = format!(
            "func.func @main(%x: tensor<3x{element}>) -> tensor<3x{element}> {{
               %0 = stablehlo.add %x, %x : tensor<3x{element}>
               return %0 : tensor<3x{element}>
             }}"
        );
        let program = program(&text);
        let ty = program.arguments()[0].ty.as_tensor().unwrap().clone();
        let x = Value::from(Buffer::copy_of(ty, &bytes).unwrap());
        let outcome = loaded(&*engine, &program)
            .call(&mut [Argument::from(&x)], &ExecuteOptions::default())
            .unwrap();
        assert_eq!(outcome.results[0].as_array().unwrap().bytes(), sums, "{element}");
    }
}

/// Every second float between 1 and 1 + 2^-7 is no bfloat16.
const NARROWED: &str = "
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}";

#[test]
fn options_are_kept_or_refused() {
    let Some(engine) = engine() else { return };
    let options = CompileOptions::for_engine(&*engine);
    let program = program(NARROWED);
    let x = Value::from(Buffer::of_numbers(&[4], &[1.001_953_1_f32; 4]).unwrap());
    let first = |excess_precision| {
        let options = CompileOptions {
            excess_precision,
            ..options.clone()
        };
        let module = engine.compile(&program, &options).unwrap();
        let executable = engine.load(&module).unwrap();
        let outcome = executable.call(&mut [Argument::from(&x)], &ExecuteOptions::default());
        numbers(&outcome.unwrap().results[0])[0]
    };
    assert_eq!(first(false), 1.0);
    // What may be kept need not be: XLA's CPU plugin rounds all the same.
    assert!([1.0, 1.001_953_1].contains(&first(true)));
    let apart = CompileOptions {
        contraction: false,
        ..options
    };
    assert_eq!(
        engine.compile(&program, &apart).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn what_is_not_compiled() {
    let Some(engine) = engine() else { return };
    let options = CompileOptions::for_engine(&*engine);
    let refused = |program: &Program| engine.compile(program, &options).unwrap_err();
    let foreign = "
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.custom_call @nobody_has_it(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }";
    let error = refused(&program(foreign));
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("nobody_has_it"), "{cause}");
    // The plugin does not say where that stands.
    assert_eq!(error.source_offset().get(), foreign.find("stablehlo.custom_call"));
}

#[test]
fn modules_of_others_are_refused() {
    let Some(engine) = engine() else { return };
    let options = CompileOptions::for_engine(&*engine);
    let module = engine.compile(&program(ADD), &options).unwrap();
    let other = ReferenceEngine::new().unwrap();
    let foreign = other
        .compile(&program(ADD), &CompileOptions::for_engine(&other))
        .unwrap();
    let refused = |module: &CompiledModule| engine.load(module).unwrap_err().kind();
    assert_eq!(refused(&foreign), ErrorKind::Incompatible);
    let payload = module.payload();
    for length in [0, 10, payload.len() / 2, payload.len() - 1] {
        let cut = module.clone().with_payload(Blob::new(payload[..length].to_vec()));
        assert_eq!(
            refused(&cut),
            ErrorKind::Incompatible,
            "{length} of {} bytes",
            payload.len()
        );
    }
    let elsewhere = CompileOptions {
        target: Target::new("xla-cpu-0123456789abcdef").unwrap(),
        ..options
    };
    assert_eq!(
        engine.compile(&program(ADD), &elsewhere).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn a_transformer_block_gives_what_the_evaluator_gives() {
    let Some(engine) = engine() else { return };
    let program = program(include_str!("../../../fixtures/transformer_block.mlir"));
    let arguments: Vec<Value> = program
        .arguments()
        .iter()
        .map(|fact| {
            let ty = fact.ty.as_tensor().unwrap();
            let count = ty.element_count().unwrap();
            let numbers: Vec<f32> = (0..count)
                .map(|at| ((at * 37 % 101) as f32 - 50.0) / 100.0)
                .collect();
            let shape: Vec<u64> = ty.dims.iter().map(|dim| dim.as_static().unwrap()).collect();
            Buffer::of_numbers(&shape, &numbers).unwrap().into()
        })
        .collect();
    let results = |engine: &dyn Engine| {
        let mut arguments: Vec<Argument<'_>> = arguments.iter().map(Argument::from).collect();
        let executable = loaded(engine, &program);
        executable
            .call(&mut arguments, &ExecuteOptions::default())
            .unwrap()
            .results
    };
    let (expected, found) = (results(&ReferenceEngine::new().unwrap()), results(&*engine));
    assert_eq!(expected.len(), found.len());
    for (expected, found) in expected.iter().zip(&found) {
        for (expected, found) in numbers(expected).iter().zip(numbers(found)) {
            assert!(
                (expected - found).abs() <= 1e-4 + 1e-4 * expected.abs(),
                "{expected} and {found}"
            );
        }
    }
}

#[test]
fn expectations_are_judged_here() {
    let Some(engine) = engine() else { return };
    let text = "
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
      %1 = stablehlo.add %x, %x : tensor<2xf32>
      stablehlo.custom_call @check.expect_eq(%1, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
      %2 = stablehlo.multiply %1, %1 : tensor<2xf32>
      check.expect_close %2, %1, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
      return %2 : tensor<2xf32>
    }";
    let executable = loaded(&*engine, &program(text));
    let x = floats(&[2], 1.0);
    let outcome = executable
        .call(&mut [Argument::from(&x)], &ExecuteOptions::default())
        .unwrap();
    assert_eq!(outcome.results.len(), 1);
    assert_eq!(numbers(&outcome.results[0]), [4.0, 16.0]);
    assert_eq!(outcome.report.checks, 2);
    let [failure] = &outcome.report.failures[..] else {
        panic!("{:?}", outcome.report.failures);
    };
    assert!(failure.check.contains("expect_close"), "{failure:?}");
    let place = text.find("check.expect_close").unwrap();
    assert_eq!(failure.source.get(), Some(place), "{failure:?}");
}

/// Tokens stay behind, and tuples are taken apart and put together.
#[test]
fn tokens_and_tuples() {
    let Some(engine) = engine() else { return };
    let text = "
      func.func @main(%p: tuple<tensor<2xf32>, tuple<!stablehlo.token, tensor<3xf32>>>, %t: !stablehlo.token)
          -> (tuple<tensor<3xf32>, tuple<>>, !stablehlo.token, tensor<2xf32>) {
        %x = stablehlo.get_tuple_element %p[0] : (tuple<tensor<2xf32>, tuple<!stablehlo.token, tensor<3xf32>>>) -> tensor<2xf32>
        %q = stablehlo.get_tuple_element %p[1] : (tuple<tensor<2xf32>, tuple<!stablehlo.token, tensor<3xf32>>>) -> tuple<!stablehlo.token, tensor<3xf32>>
        %u = stablehlo.get_tuple_element %q[0] : (tuple<!stablehlo.token, tensor<3xf32>>) -> !stablehlo.token
        %y = stablehlo.get_tuple_element %q[1] : (tuple<!stablehlo.token, tensor<3xf32>>) -> tensor<3xf32>
        %v = stablehlo.after_all %t, %u : !stablehlo.token
        %none = stablehlo.tuple : tuple<>
        %r = stablehlo.tuple %y, %none : tuple<tensor<3xf32>, tuple<>>
        return %r, %v, %x : tuple<tensor<3xf32>, tuple<>>, !stablehlo.token, tensor<2xf32>
      }";
    let executable = loaded(&*engine, &program(text));
    let (x, y) = (floats(&[2], 1.0), floats(&[3], 5.0));
    let tuple = |values: &[Value]| Value::Tuple(values.into());
    let pair = tuple(&[x.clone(), tuple(&[Value::Token, y.clone()])]);
    let mut arguments = [Argument::from(&pair), Argument::from(&Value::Token)];
    let outcome = executable
        .call(&mut arguments, &ExecuteOptions::default())
        .unwrap();
    assert_eq!(outcome.results, [tuple(&[y, tuple(&[])]), Value::Token, x]);
}

/// At these, the compiler of XLA's CPU plugin ends the process.
#[test]
fn loops_in_what_an_operation_applies() {
    let Some(engine) = engine() else { return };
    let text = "
      func.func private @last(%x: tensor<i32>) -> tensor<i32> {
        %0 = stablehlo.while(%i = %x) : tensor<i32>
          cond {
            %more = stablehlo.compare GT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %more : tensor<i1>
          } do {
            stablehlo.return %i : tensor<i32>
          }
        return %0 : tensor<i32>
      }
      func.func @main(%x: tensor<4xi32>, %init: tensor<i32>) -> tensor<i32> {
        %0 = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
          reducer(%a: tensor<i32>, %b: tensor<i32>) {
            %1 = func.call @last(%b) : (tensor<i32>) -> tensor<i32>
            stablehlo.return %1 : tensor<i32>
          }
        return %0 : tensor<i32>
      }";
    let options = CompileOptions::for_engine(&*engine);
    let refusal = engine.compile(&program(text), &options).unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Unsupported);
    assert!(
        refusal
            .to_string()
            .contains("no 'stablehlo.while' in what 'stablehlo.reduce' applies")
    );
}

/// x + 1 of so many elements, of which the result may have the memory of x.
fn in_place(count: u64) -> String {
    format!(
        "func.func @main(%x: tensor<{count}xf32> {{tf.aliasing_output = 0 : i32}}) -> tensor<{count}xf32> {{
          %one = stablehlo.constant dense<1.0> : tensor<{count}xf32>
          %0 = stablehlo.add %x, %one : tensor<{count}xf32>
          return %0 : tensor<{count}xf32>
        }}"
    )
}

#[test]
fn results_lie_in_memory_that_was_given_away() {
    let Some(engine) = engine() else { return };
    let count = 1 << 18;
    let executable = loaded(&*engine, &program(&in_place(count)));
    let place = |value: &Value| value.as_array().unwrap().bytes().as_ptr();
    let call = |argument: Argument<'_>| {
        let outcome = executable.call(&mut [argument], &ExecuteOptions::default());
        outcome.unwrap().results.remove(0)
    };
    let want = |result: &Value, first: f32| assert_eq!(*result, floats(&[count], first));
    let given = floats(&[count], 0.0);
    let before = place(&given);
    let result = call(Argument::donate(given));
    want(&result, 1.0);
    assert_eq!(place(&result), before);
    // A result is no memory of ours, and is not overwritten; what others hold is not either.
    let held = result.clone();
    let next = call(Argument::donate(result));
    want(&next, 2.0);
    want(&held, 1.0);
    let borrowed = floats(&[count], 5.0);
    let kept = borrowed.clone();
    let shared = call(Argument::donate(borrowed));
    want(&shared, 6.0);
    want(&kept, 5.0);
    want(&call(Argument::from(&kept)), 6.0);
    want(&kept, 5.0);
    assert!(shared.as_array().unwrap().is_aligned());
}

#[test]
fn arrays_that_the_client_keeps_are_arguments_again() {
    let Some(engine) = engine() else { return };
    let count = 1 << 14;
    let executable = loaded(&*engine, &program(&in_place(count)));
    let call = |argument: Argument<'_>| {
        let outcome = executable.call(&mut [argument], &ExecuteOptions::default());
        outcome.unwrap().results.remove(0)
    };
    let host = floats(&[count], 0.0);
    let place = |value: &Value| value.as_array().unwrap().bytes().as_ptr();
    let kept = engine.to_device(host.clone()).unwrap();
    // Aligned memory needs no copy, and is the caller's still.
    assert_eq!(place(&kept), place(&host));
    assert_eq!(kept, host);
    let mut step = kept.clone();
    for number in 1..4 {
        step = call(Argument::from(&step));
        assert_eq!(step, floats(&[count], number as f32));
    }
    assert_eq!(kept, host);
    // One that is given away while others hold it stays as it is.
    assert_eq!(call(Argument::donate(kept)), floats(&[count], 1.0));
    assert_eq!(host, floats(&[count], 0.0));
    let tuple = Value::Tuple([floats(&[3], 1.0), Value::Token].into());
    assert_eq!(engine.to_device(tuple.clone()).unwrap(), tuple);
}

/// Programs at which XLA ends the process, or waits for ever.
#[test]
fn what_ends_the_process_is_refused() {
    let Some(engine) = engine() else { return };
    let options = CompileOptions::for_engine(&*engine);
    let refused = |result: &str, body: &str, why: &str| {
        let text = format!(
            "func.func @main(%x: tensor<4xi32>, %t: !stablehlo.token) -> {result} {{ {body} return %0 : {result} }}"
        );
        let error = engine.compile(&program(&text), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(error.source_offset().get().is_some(), "{error}");
    };
    let zero = "%z = stablehlo.constant dense<0> : tensor<i32>
      %b = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<i32>) -> tensor<4xi32>";
    for op in ["divide", "remainder"] {
        let body = format!("{zero} %0 = stablehlo.{op} %x, %b : tensor<4xi32>");
        refused("tensor<4xi32>", &body, "is by a constant zero");
    }
    refused(
        "tensor<1xi32>",
        "%z = stablehlo.iota dim = 0 : tensor<2305843009213693952xi32>
        %0 = stablehlo.slice %z [5:6] : (tensor<2305843009213693952xi32>) -> tensor<1xi32>",
        "no arrays as large",
    );
    refused(
        "tensor<4xi32>",
        "%0 = stablehlo.custom_call @TopK(%x) : (tensor<4xi32>) -> tensor<4xi32>",
        "`TopK` is one that XLA makes itself",
    );
    refused(
        "!stablehlo.token",
        "%0 = \"stablehlo.outfeed\"(%x, %t) <{outfeed_config = \"\"}> : (tensor<4xi32>, !stablehlo.token) -> !stablehlo.token",
        "would wait for ever",
    );
    let fft = "%f = stablehlo.constant dense<0.0> : tensor<4xf32>
      %i = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%f init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        reducer(%a: tensor<f32>, %b: tensor<f32>) {
          %v = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %c = stablehlo.fft %v, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
          %d = stablehlo.real %c : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
          %e = stablehlo.slice %d [0:1] : (tensor<3xf32>) -> tensor<1xf32>
          %r = stablehlo.reshape %e : (tensor<1xf32>) -> tensor<f32>
          stablehlo.return %r : tensor<f32>
        }";
    refused(
        "tensor<f32>",
        fft,
        "no 'stablehlo.fft' in what 'stablehlo.reduce' applies",
    );
    // What is divided by at run time is XLA's own matter: it checks.
    let text = "func.func @main(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
      %0 = stablehlo.divide %x, %y : tensor<i32>
      return %0 : tensor<i32>
    }";
    let number = |number: i32| Value::from(Buffer::of_numbers(&[], &[number]).unwrap());
    let (x, y) = (number(5), number(0));
    let outcome = loaded(&*engine, &program(text)).call(
        &mut [Argument::from(&x), Argument::from(&y)],
        &ExecuteOptions::default(),
    );
    assert_eq!(outcome.unwrap().results, [number(-1)]);
}

/// LAPACK's handlers are ours, and what they refuse is the program's fault.
#[test]
fn routines_that_are_called_wrongly() {
    let Some(engine) = engine() else { return };
    let text = "
      func.func @main(%a: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<i32>) {
        %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {api_version = 4 : i32, backend_config = {}}
          : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<i32>)
        return %0#0, %0#1, %0#2 : tensor<3x3xf64>, tensor<3xi32>, tensor<i32>
      }";
    let a = Value::from(Buffer::of_numbers(&[3, 3], &[1.0_f64; 9]).unwrap());
    let executable = loaded(&*engine, &program(text));
    let error = executable
        .call(&mut [Argument::from(&a)], &ExecuteOptions::default())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
}
