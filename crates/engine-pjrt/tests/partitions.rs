//! Programs that several devices run together: global arrays go in and come out.
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
use artifact_engine::{
    Argument, Buffer, CompileOptions, CompiledModule, Engine, EngineError, ErrorKind, ExecuteOptions,
    Program, Value,
};
use artifact_engine_pjrt::{PjrtEngine, Plugin, Settings};
use artifact_stablehlo::parse::parse_module;

const VARIABLE: &str = "ARTIFACT_PJRT_PLUGIN";
const DEVICES: u32 = 6;

fn engine() -> Option<Arc<dyn Engine>> {
    let path = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let Some(path) = path.map(PathBuf::from) else {
        eprintln!("SKIPPED: {VARIABLE} names no plugin; `cargo xtask test` installs one");
        return None;
    };
    let plugin = Plugin::open(&path).unwrap();
    let settings = Settings {
        devices: DEVICES,
        ..Settings::default()
    };
    Some(Arc::new(PjrtEngine::new(&plugin, &settings).unwrap()))
}

/// What a program gives for these arguments on so many devices, through bytes as a cache keeps them.
fn run(
    engine: &dyn Engine,
    text: &str,
    devices: u32,
    arguments: &[Value],
) -> Result<Vec<Value>, EngineError> {
    let module = parse_module(text).into_module().unwrap();
    let program = Program::of_module(Arc::new(module)).unwrap();
    let options = CompileOptions {
        partitions: devices,
        ..CompileOptions::for_engine(engine)
    };
    let module = engine.compile(&program, &options)?;
    let module = CompiledModule::decode(&Blob::new(module.encode())).unwrap();
    let mut arguments: Vec<Argument<'_>> = arguments.iter().map(Argument::from).collect();
    let executable = engine.load(&module)?;
    Ok(executable
        .call(&mut arguments, &ExecuteOptions::default())?
        .results)
}

fn floats(shape: &[u64]) -> Value {
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|at: u64| at as f32).collect();
    Buffer::of_numbers(shape, &numbers).unwrap().into()
}

/// A matrix that both axes of a mesh divide, in an order of devices that is not 0, 1, 2..., the product with one that nothing is said
/// of, and sums of rows, of which both axes divide the one dimension.
const SPREAD: &str = r#"
sdy.mesh @mesh = <["a"=2, "b"=3], device_ids=[5, 3, 1, 4, 2, 0]>
func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b", ?}]>}, %w: tensor<6x2xf32>)
  -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>}, tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "a"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<6xf32>
}"#;

#[test]
fn arrays_are_divided_and_put_together() {
    let Some(engine) = engine() else { return };
    let arguments = [floats(&[4, 6]), floats(&[6, 2])];
    let apart = run(&*engine, SPREAD, 6, &arguments).unwrap();
    let x = |row: u64, column: u64| (row * 6 + column) as f32;
    let product: Vec<f32> = (0..4)
        .flat_map(|row| (0..2).map(move |column| (row, column)))
        .map(|(row, column)| (0..6).map(|k| x(row, k) * (k * 2 + column) as f32).sum())
        .collect();
    let sums: Vec<f32> = (0..6)
        .map(|column| (0..4).map(|row| x(row, column)).sum())
        .collect();
    let want = [
        Buffer::of_numbers(&[4, 2], &product).unwrap().into(),
        Buffer::of_numbers(&[6], &sums).unwrap().into(),
    ];
    assert_eq!(apart, want);
    // Automatic partitioning for one device is none.
    assert_eq!(run(&*engine, SPREAD, 1, &arguments).unwrap(), want);
}

/// Each device says which it is, and gets what the one before it had.
const RING: &str = r#"
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
  -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<4xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%part: tensor<1xf32>) {
    %next = "stablehlo.collective_permute"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %own = stablehlo.reshape %id : (tensor<ui32>) -> tensor<1xui32>
    sdy.return %next, %own : tensor<1xf32>, tensor<1xui32>
  } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xui32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xui32>
}"#;

#[test]
fn devices_compute_by_themselves() {
    let Some(engine) = engine() else { return };
    let results = run(&*engine, RING, 4, &[floats(&[4])]).unwrap();
    let moved = Buffer::of_numbers(&[4], &[3.0_f32, 0.0, 1.0, 2.0]).unwrap();
    let numbers = Buffer::of_numbers(&[4], &[0_u32, 1, 2, 3]).unwrap();
    assert_eq!(results, [moved.into(), numbers.into()]);
}

#[test]
fn runs_of_several_devices_do_not_wait_for_each_other() {
    let Some(engine) = engine() else { return };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..5 {
                    run(&*engine, RING, 4, &[floats(&[4])]).unwrap();
                }
            });
        }
    });
}

#[test]
fn devices_that_do_not_fit_the_program() {
    let Some(engine) = engine() else { return };
    let refused = |text: &str, devices: u32, arguments: &[Value], kind: ErrorKind, why: &str| {
        let error = run(&*engine, text, devices, arguments).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(why), "{error}");
    };
    let unsupported = ErrorKind::Unsupported;
    let four = [floats(&[4])];
    refused(RING, 1, &four, unsupported, "what each of 4 devices does");
    refused(
        RING,
        3,
        &four,
        unsupported,
        "the mesh `mesh` of the program has 4 devices",
    );
    refused(RING, 7, &four, ErrorKind::Unavailable, "7 devices cannot");
    let uneven = r#"
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%x: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
        return %x : tensor<3xf32>
      }"#;
    let three = [floats(&[3])];
    refused(
        uneven,
        2,
        &three,
        unsupported,
        "argument 0 of the program is not divided",
    );
    let old = r#"
      func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
        return %x : tensor<4xf32>
      }"#;
    refused(old, 2, &four, unsupported, "export the program with Shardy");
    let token = "
      func.func @main(%t: !stablehlo.token) -> !stablehlo.token {
        return %t : !stablehlo.token
      }";
    refused(
        token,
        2,
        &[Value::Token],
        unsupported,
        "not divided among devices",
    );
}

/// Every device does the same where a program says nothing of devices.
#[test]
fn nothing_is_divided_that_the_program_says_nothing_of() {
    let Some(engine) = engine() else { return };
    let text = "
      func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0 = stablehlo.add %x, %x : tensor<3xf32>
        return %0 : tensor<3xf32>
      }";
    let twice = Buffer::of_numbers(&[3], &[0.0_f32, 2.0, 4.0]).unwrap();
    assert_eq!(run(&*engine, text, 2, &[floats(&[3])]).unwrap(), [twice.into()]);
}
