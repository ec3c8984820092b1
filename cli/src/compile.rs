//! `artifact compile`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use artifact_engine::{ArgumentFact, CompileOptions, Engine, EngineError, Program as EngineProgram, Target};
use artifact_engine_cpu::{CpuEngine, Emit, Settings, dump};
use artifact_ir::types::Type;

use crate::arguments::{CompileArguments, EmitStage};
use crate::failure::{Exit, Failure, Outcome};
use crate::output;
use crate::program::Program;

pub(crate) fn execute(options: &CompileArguments) -> Outcome<Exit> {
    let path = &options.program;
    let program = Program::open(path)?;
    let engine = CpuEngine::new(&Settings::default())
        .map_err(|error| Failure::engine("the engine `cpu` is not available").because(&error))?;
    let mut compile_options = CompileOptions::for_engine(&engine);
    if let Some(name) = &options.target {
        compile_options.target = target(&engine, name)?;
    }
    let refuse = |error: EngineError| Failure::run(path, &error, program.place(error.source_offset()));
    let given = given(&program).map_err(refuse)?;
    if let Some(stage) = options.emit {
        let text = dump(&given, &compile_options, stage.into()).map_err(refuse)?;
        output::text(&text)?;
        return Ok(Exit::Ok);
    }
    let start = Instant::now();
    let module = engine.compile(&given, &compile_options).map_err(refuse)?;
    let time = start.elapsed();
    describe(
        path,
        &compile_options,
        module.payload().len(),
        time.as_secs_f64() * 1e3,
    )?;
    Ok(Exit::Ok)
}

fn describe(path: &Path, options: &CompileOptions, bytes: usize, ms: f64) -> Outcome<()> {
    let (path, target) = (output::path(path), &options.target);
    output::text(&format!(
        "{path}: compiled for {target} in {ms:.1} ms, {bytes} bytes\n"
    ))
}

/// The program as an engine takes it: the inputs of its signature, and its constants after them.
fn given(program: &Program) -> Result<EngineProgram, EngineError> {
    let definition = &program.definition;
    let inputs = definition.signature.inputs.iter().map(|input| input.ty.clone());
    let constants = definition
        .constants
        .iter()
        .map(|constant| Type::Tensor(Arc::clone(constant.ty())));
    let facts = inputs.chain(constants).map(ArgumentFact::of_type).collect();
    let scope = definition.signature.dimensions.clone();
    EngineProgram::new(Arc::clone(&definition.module), definition.entry, facts, scope)
}

fn target(engine: &CpuEngine, name: &str) -> Outcome<Target> {
    let known = engine.targets().into_iter().map(|support| support.target);
    let names: Vec<String> = known.map(|target| target.to_string()).collect();
    if !names.iter().any(|known| known == name) {
        let what = format!("`{name}` is no target of the engine `cpu`");
        return Err(Failure::usage(what).hint(format!("its targets are {}", names.join(", "))));
    }
    Target::new(name).map_err(|error| Failure::usage(error.to_string()))
}

impl From<EmitStage> for Emit {
    fn from(stage: EmitStage) -> Self {
        match stage {
            EmitStage::Refined => Self::Refined,
            EmitStage::Fused => Self::Fused,
            EmitStage::Plan => Self::Plan,
            EmitStage::Kernels => Self::Kernels,
            EmitStage::Asm => Self::Asm,
        }
    }
}
