//! What a program becomes on its way to machine code, as text for people.

use std::fmt::Write as _;

use artifact_core::entity::EntityId as _;
use artifact_engine::{CompileOptions, EngineError, Program};
use artifact_ir::op::Op;
use artifact_lower::kernel::{InstrId, InstrKind, Kernel, Level};
use artifact_lower::{LowerOptions, Plan, lower, text};
use artifact_refine::Refined;
use artifact_stablehlo::print::{PrintOptions, print_module};

use crate::compile::{engine_error, refined};
use crate::kernel::codegen::Compiler;
use crate::kernel::program::{Loop, LoopKind, Phase, Program as Scheduled, Slot, SlotKind, Stage};
use crate::kernel::stages::{Evaluated, schedule};
use crate::target::Target;

/// A stage of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The program with all that follows from its arguments: StableHLO text.
    Refined,
    /// The structured kernels that operations were joined to.
    Fused,
    /// Buffers and steps, with sizes as expressions.
    Plan,
    /// How each kernel is cut into phases and stages.
    Kernels,
    /// The machine code of each phase.
    Asm,
}

/// The text of a stage.
///
/// # Errors
/// As compiling the program; unsupported for a program that has no plan, because it is evaluated as a whole.
pub fn dump(program: &Program, options: &CompileOptions, emit: Emit) -> Result<String, EngineError> {
    let refined = refined(program)?;
    let plan = || planned(&refined, options);
    match emit {
        Emit::Refined => Ok(print_module(&refined.module, &PrintOptions::default())),
        Emit::Plan => Ok(text::plan(&plan()?)),
        Emit::Fused => Ok(text::kernels(&plan()?)),
        Emit::Kernels => scheduled(&plan()?, &mut |_, _, _| Ok(String::new())),
        Emit::Asm => machine_code(&plan()?, options),
    }
}

fn planned(refined: &Refined, options: &CompileOptions) -> Result<Plan, EngineError> {
    let lower_options = LowerOptions {
        contract: options.contraction,
    };
    lower(&refined.module, refined.entry, &lower_options).map_err(|error| {
        EngineError::unsupported("the program has no plan, and is evaluated as a whole")
            .at(error.source_offset())
            .because(error)
    })
}

fn machine_code(plan: &Plan, options: &CompileOptions) -> Result<String, EngineError> {
    let target = Target::find(options.target.name()).ok_or_else(|| {
        EngineError::unsupported(format!("the engine `cpu` has no target `{}`", options.target))
    })?;
    let mut compiler = Compiler::new(target).map_err(|error| engine_error(&error.into()))?;
    let mut code = |kernel: &Kernel, program: &Scheduled, phase: &Phase| {
        compiler
            .disassembly(kernel, program, phase)
            .map_err(|error| engine_error(&error.into()))
    };
    scheduled(plan, &mut code)
}

type PhaseText<'a> = dyn FnMut(&Kernel, &Scheduled, &Phase) -> Result<String, EngineError> + 'a;

/// Every kernel, phase by phase; after each phase what `after` says of it.
fn scheduled(plan: &Plan, after: &mut PhaseText<'_>) -> Result<String, EngineError> {
    let mut evaluated = Vec::new();
    let mut out = String::new();
    for (id, kernel) in plan.kernels.iter() {
        let program = schedule(kernel, &mut evaluated);
        let what = if program.moves { " moves" } else { "" };
        let _ = writeln!(out, "kernel {id:?} tile {}{what} {{", program.tile);
        for (index, slot) in program.slots.iter().enumerate() {
            let _ = writeln!(out, "  s{index}: {}", slot_text(slot));
        }
        for phase in &program.phases {
            let level = if phase.level == Level::Row {
                "rows"
            } else {
                "columns"
            };
            let _ = writeln!(out, "  over {level} {{");
            for stage in &phase.stages {
                stage_text(&mut out, kernel, stage, &evaluated);
            }
            for reduce in &phase.reduces {
                let _ = writeln!(
                    out,
                    "    s{} = {} of lanes s{} onto s{}",
                    reduce.result, reduce.pair, reduce.lanes, reduce.start
                );
            }
            let _ = writeln!(out, "  }}");
            out.push_str(&after(kernel, &program, phase)?);
        }
        let _ = writeln!(out, "}}");
    }
    Ok(out)
}

fn slot_text(slot: &Slot) -> String {
    let kind = match slot.kind {
        SlotKind::Input(Level::Row) => "input, one a row",
        SlotKind::Input(Level::Element) => "input",
        SlotKind::Output(Level::Row) => "output, one a row",
        SlotKind::Output(Level::Element) => "output",
        SlotKind::Row => "kept, one a row",
        SlotKind::Resident => "kept",
        SlotKind::Scratch => "scratch",
        SlotKind::Lanes => "lanes",
        SlotKind::Constant(_) => "constant",
    };
    format!("{kind}, {} bytes an element", slot.bytes)
}

fn stage_text(out: &mut String, kernel: &Kernel, stage: &Stage, evaluated: &[Evaluated]) {
    let list = |slots: &[usize]| {
        slots
            .iter()
            .map(|slot| format!("s{slot}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let _ = match stage {
        Stage::Call { routine, slots } => {
            writeln!(out, "    s{} = call {routine} {}", slots[0], list(&slots[1..]))
        }
        Stage::Evaluate { operation, slots } => {
            let name = evaluated.get(*operation).map_or("", |own| own.op.name());
            writeln!(out, "    s{} = interpret {name} {}", slots[0], list(&slots[1..]))
        }
        Stage::Loop(own) => loop_text(out, kernel, own),
    };
}

fn loop_text(out: &mut String, kernel: &Kernel, own: &Loop) -> std::fmt::Result {
    writeln!(out, "    loop of {}-byte lanes {{", own.width)?;
    for (index, op) in own.ops.iter().enumerate() {
        let text = match &op.kind {
            LoopKind::Load(slot) => format!("s{slot}"),
            LoopKind::LoadRow(slot) => format!("s{slot}, one a row"),
            LoopKind::Constant(bytes) => {
                format!(
                    "constant 0x{}",
                    bytes
                        .iter()
                        .rev()
                        .map(|byte| format!("{byte:02x}"))
                        .collect::<String>()
                )
            }
            LoopKind::Apply(id, operands) => {
                let operands = operands
                    .iter()
                    .map(|operand| format!("%{operand}"))
                    .collect::<Vec<_>>();
                format!("{} {}", operation(kernel, *id), operands.join(", "))
            }
        };
        writeln!(out, "      %{index} = {text}: {}", op.element)?;
    }
    for (value, slot) in &own.stores {
        writeln!(out, "      s{slot} = %{value}")?;
    }
    writeln!(out, "    }}")
}

fn operation(kernel: &Kernel, id: InstrId) -> &str {
    let short = |op: &'_ Op| {
        op.spec()
            .map_or("", |spec| spec.name.rsplit('.').next().unwrap_or(""))
    };
    match &kernel.body[id.index()].kind {
        InstrKind::Apply { op, .. } => short(op),
        InstrKind::MultiplyAdd(_) => "multiply_add",
        InstrKind::Input(_) | InstrKind::Constant(_) | InstrKind::Reduce { .. } => "",
    }
}
