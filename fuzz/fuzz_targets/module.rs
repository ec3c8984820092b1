//! Any bytes as a compiled module, and as what the reference engine keeps in one: decoding, loading and running must return, and
//! what is decoded must encode to the same bytes.

#![no_main]

use std::sync::{Arc, LazyLock};

use artifact_core::blob::Blob;
use artifact_engine::{
    Argument, Buffer, CompileOptions, CompiledModule, Engine, Executable, ExecuteOptions, Program, Value,
};
use artifact_engine_reference::ReferenceEngine;
use artifact_ir::types::{TensorType, Type};
use artifact_stablehlo::parse::parse_module;
use libfuzzer_sys::fuzz_target;

/// A fuzzed loop may run for ever; this many operations show whatever one would.
const STEPS_MAX: u64 = 2_000;
/// Large enough for every kind of operation, small enough for millions of runs.
const BYTES_MAX: u64 = 1 << 16;

static ENGINE: LazyLock<ReferenceEngine> = LazyLock::new(|| ReferenceEngine::new().expect("it has a name"));

/// A module whose payload is replaced.
static MODULE: LazyLock<CompiledModule> = LazyLock::new(|| {
    let text = "func.func @main() { return }";
    let module = parse_module(text).into_module().expect("it is a program");
    let program = Program::of_module(Arc::new(module)).expect("it has an entry");
    let options = CompileOptions::for_engine(&*ENGINE);
    ENGINE.compile(&program, &options).expect("it compiles")
});

fuzz_target!(|bytes: &[u8]| {
    let blob = Blob::new(bytes.to_vec());
    if let Ok(module) = CompiledModule::decode(&blob) {
        assert_eq!(module.encode(), bytes);
    }
    if let Ok(executable) = ENGINE.load(&MODULE.clone().with_payload(blob)) {
        run(&*executable);
    }
});

/// With zeros for arguments, three for each size that is open.
fn run(executable: &dyn Executable) {
    let value = |ty: &Type| match ty {
        Type::Tensor(ty) => {
            let shape: Vec<u64> = ty.dims.iter().map(|dim| dim.as_static().unwrap_or(3)).collect();
            let ty = TensorType {
                dims: TensorType::of_static(&shape, ty.element.clone()).dims,
                ..TensorType::clone(ty)
            };
            let fits = ty.byte_count().is_some_and(|bytes| bytes <= BYTES_MAX);
            fits.then(|| Buffer::zeros(Arc::new(ty)).ok().map(Value::Array)).flatten()
        }
        Type::Token => Some(Value::Token),
        _ => None,
    };
    let values: Option<Vec<Value>> = executable.signature().arguments.iter().map(value).collect();
    let Some(values) = values else { return };
    let mut arguments: Vec<Argument<'_>> = values.iter().map(Argument::from).collect();
    let options = ExecuteOptions {
        step_limit: Some(STEPS_MAX),
        memory_limit_bytes: Some(BYTES_MAX),
        ..ExecuteOptions::default()
    };
    let _ = executable.call(&mut arguments, &options);
}
