//! What a session adds to a call: `cargo bench -p artifact-runtime --bench dispatch`.
//!
//! The engine is one that does nothing but add 1 to four numbers, so that what is left is the session and the port. Shown is the
//! middle of many batches of calls, for a program of numbers and for one with an open size, and of the engine alone.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark stops where its program is not as it should be"
)]

use std::hint::black_box;
use std::sync::Arc;

use artifact_engine::completion::Completion;
use artifact_engine::{
    Argument, Buffer, CompileOptions, CompiledModule, Device, Engine, EngineError, Executable,
    ExecuteOptions, Features, Plan, Program, Report, Signature, Target, TargetSupport, Toolchain, Value,
};
use artifact_engine_reference::ReferenceEngine;
use artifact_export::Exported;
use artifact_runtime::{Definition, Session};
use artifact_stablehlo::parse::parse_module;
use artifact_testkit::timing::middle;

const CALLS: u32 = 10_000;
const BATCHES: usize = 31;

fn main() {
    for (name, size) in [("numbers", "4"), ("an open size", "?")] {
        let ty = format!("tensor<{size}xf32>");
        let text = format!("func.func @main(%x: {ty}) -> {ty} {{ return %x : {ty} }}");
        let exported = Exported::new(parse_module(&text).into_module().unwrap()).unwrap();
        let definition = Definition::from(&exported.with_named_sizes().unwrap());
        let engine = Arc::new(AddOne(ReferenceEngine::new().unwrap()));
        let program = Session::new(engine.clone()).program(definition).unwrap();
        let x = Value::from(Buffer::of_numbers(&[4], &[1.0_f32; 4]).unwrap());
        let options = ExecuteOptions::default();
        let mut results = Vec::new();
        let through_session = middle(BATCHES, || {
            for _ in 0..CALLS {
                let mut inputs = [Argument::from(&x)];
                program.run(&mut inputs, &mut results, &options).unwrap();
                black_box(&results);
            }
        });
        let executable: Arc<dyn Executable> = Arc::new(AddOneExecutable(Signature::default()));
        let alone = middle(BATCHES, || {
            for _ in 0..CALLS {
                let mut inputs = [Argument::from(&x)];
                executable.run(&mut inputs, &mut results, &options).unwrap();
                black_box(&results);
            }
        });
        println!(
            "{name:<14} {:>8.1?} a call through the session, {:>8.1?} of the engine alone",
            through_session / CALLS,
            alone / CALLS
        );
    }
}

/// Compiles as the reference engine does, and computes something else.
#[derive(Debug)]
struct AddOne(ReferenceEngine);

impl Engine for AddOne {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn platform(&self) -> &str {
        self.0.platform()
    }

    fn toolchain(&self) -> &Toolchain {
        self.0.toolchain()
    }

    fn targets(&self) -> Vec<TargetSupport> {
        self.0.targets()
    }

    fn target(&self) -> Target {
        self.0.target()
    }

    fn devices(&self) -> Vec<Device> {
        self.0.devices()
    }

    fn features(&self) -> Features {
        self.0.features()
    }

    fn plan(&self, program: &Program, options: &CompileOptions) -> Result<Plan, EngineError> {
        self.0.plan(program, options)
    }

    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError> {
        self.0.compile(program, options)
    }

    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError> {
        let signature = self.0.load(module)?.signature().clone();
        Ok(Arc::new(AddOneExecutable(signature)))
    }
}

#[derive(Debug)]
struct AddOneExecutable(Signature);

impl Executable for AddOneExecutable {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn execute<'a, 'b: 'a>(
        &'a self,
        arguments: &'a mut [Argument<'b>],
        results: &'a mut Vec<Value>,
        _options: &'a ExecuteOptions,
    ) -> Completion<'a> {
        Box::pin(async move {
            let x = arguments[0].value().and_then(Value::as_array).unwrap();
            let memory = results.pop().and_then(Value::into_array);
            let result = match memory {
                Some(memory) => memory.recycled(x.ty().clone()),
                None => Buffer::zeros(x.ty().clone()),
            };
            let mut result = result.unwrap();
            let (numbers, _) = x.bytes().as_chunks::<4>();
            let (places, _) = result.bytes_mut().unwrap().as_chunks_mut::<4>();
            for (number, place) in numbers.iter().zip(places) {
                *place = (f32::from_le_bytes(*number) + 1.0).to_le_bytes();
            }
            results.push(result.into());
            Ok(Report::default())
        })
    }
}
