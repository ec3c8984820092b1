//! `artifact compile`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use artifact_engine::{ArgumentFact, CompileOptions, Engine, EngineError, Program as EngineProgram, Target};
use artifact_engine_cpu::{Emit, dump};
use artifact_ir::types::Type;

use crate::arguments::{CompileArguments, EmitStage, EngineName};
use crate::failure::{Exit, Failure, Outcome};
use crate::program::Program;
use crate::{engine, output};

pub(crate) fn execute(options: &CompileArguments) -> Outcome<Exit> {
    let path = &options.program;
    let name = match (&options.engine, options.emit) {
        (Some(name), None) => name.clone(),
        (None, None) => engine::chosen()?,
        (Some(EngineName::Cpu) | None, Some(_)) => EngineName::Cpu,
        (Some(name), Some(_)) => {
            let what = format!("--emit shows what the engine `cpu` makes, and not `{name}`");
            return Err(Failure::usage(what));
        }
    };
    let program = Program::open(path)?;
    let engine = engine::compiler(&name, options.target.as_deref(), options.devices)?;
    let mut compile_options = CompileOptions::for_engine(&*engine);
    compile_options.partitions = options.devices;
    if let Some(target) = &options.target {
        compile_options.target = target_of(&*engine, &name, target)?;
    }
    let refuse = |error: EngineError| Failure::compile(path, &error, program.place(error.source_offset()));
    let given = given(&program).map_err(refuse)?;
    if let Some(stage) = options.emit {
        let text = dump(&given, &compile_options, stage.into()).map_err(refuse)?;
        output::text(&text)?;
        return Ok(Exit::Ok);
    }
    check_sizes(&*engine, &given, &compile_options, path)?;
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

/// Refuses a program with sizes that the engine must know.
fn check_sizes(
    engine: &dyn Engine,
    program: &EngineProgram,
    options: &CompileOptions,
    path: &Path,
) -> Outcome<()> {
    let refuse = |error: EngineError| Failure::compile(path, &error, None);
    let plan = engine.plan(program, options).map_err(refuse)?;
    if plan.is_complete() {
        return Ok(());
    }
    let (path, engine) = (output::path(path), engine.name());
    let names = plan
        .dimensions
        .iter()
        .map(|dimension| dimension.variable.to_string());
    let names: Vec<String> = names.collect();
    let what = match names.is_empty() {
        true => format!("{path} has sizes that the engine `{engine}` must know and that arguments tell"),
        false => format!(
            "{path} has sizes that the engine `{engine}` must know: {}",
            names.join(", ")
        ),
    };
    Err(Failure::input(what).hint("make a static program of it with `artifact specialize`"))
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

fn target_of(engine: &dyn Engine, name: &EngineName, target: &str) -> Outcome<Target> {
    let known = engine.targets().into_iter().map(|support| support.target);
    let names: Vec<String> = known.map(|target| target.to_string()).collect();
    if !names.iter().any(|known| known == target) {
        let what = format!("`{target}` is no target of the engine `{name}`");
        return Err(Failure::usage(what).hint(format!("its targets are {}", names.join(", "))));
    }
    Target::new(target).map_err(|error| Failure::usage(error.to_string()))
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
