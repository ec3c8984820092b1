//! Kernels and plans as text, for people and for golden tests.

use std::fmt::Write as _;

use artifact_core::entity::EntityId as _;
use artifact_ir::op::Op;

use crate::SizeId;
use crate::kernel::{Columns, InputKind, InstrKind, Kernel, Level};
use crate::plan::{Access, Launch, Operand, Plan, Product, Slot, Source, Step, StepKind, Storage};

/// A kernel as text: its space, inputs, body and outputs.
#[must_use]
pub fn kernel(name: &str, kernel: &Kernel) -> String {
    let mut text = String::new();
    let _ = write_kernel(&mut text, name, kernel);
    text
}

/// Every kernel of a plan.
#[must_use]
pub fn kernels(plan: &Plan) -> String {
    let texts = plan
        .kernels
        .iter()
        .map(|(id, own)| kernel(&format!("{id:?}"), own));
    texts.collect::<Vec<_>>().join("\n")
}

/// A plan: arguments, results, buffers and steps.
#[must_use]
pub fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    let _ = write_plan(&mut text, plan);
    text
}

/// The steps of a plan alone, each with what it reads and writes.
#[must_use]
pub fn steps(plan: &Plan) -> String {
    let mut text = String::new();
    let _ = write_steps(&mut text, plan, &plan.steps, 0);
    text
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Row => "row",
        Level::Element => "element",
    }
}

fn write_kernel(text: &mut String, name: &str, kernel: &Kernel) -> std::fmt::Result {
    let apart = if kernel.columns == Columns::Apart {
        " apart"
    } else {
        ""
    };
    let (rows, columns) = (kernel.parallel, kernel.inner);
    writeln!(text, "kernel {name} rows {rows} columns {columns}{apart} {{")?;
    for (index, input) in kernel.inputs.iter().enumerate() {
        let kind = match input.kind {
            InputKind::Array => "array",
            InputKind::Position => "position",
        };
        writeln!(
            text,
            "  in{index}: {kind} {} {}",
            input.element,
            level(input.level)
        )?;
    }
    for (index, instr) in kernel.body.iter().enumerate() {
        write!(text, "  v{index} = ")?;
        let operands = instr
            .kind
            .operands()
            .iter()
            .map(|id| format!("{id:?}"))
            .collect::<Vec<_>>()
            .join(", ");
        match &instr.kind {
            InstrKind::Input(input) => write!(text, "in{input}")?,
            InstrKind::Constant(bytes) => {
                let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
                write!(text, "constant 0x{digits}")?;
            }
            InstrKind::Apply { op, .. } => write!(text, "{} {operands}", operation(op))?,
            InstrKind::MultiplyAdd(_) => write!(text, "multiply_add {operands}")?,
            InstrKind::Reduce { combine, .. } => write!(text, "reduce.{} {operands}", combine.name())?,
        }
        writeln!(text, ": {} {}", instr.element, level(instr.level))?;
    }
    for (index, output) in kernel.outputs.iter().enumerate() {
        writeln!(
            text,
            "  out{index} = {:?}: {} {}",
            output.value,
            output.element,
            level(output.level)
        )?;
    }
    writeln!(text, "}}")
}

/// An operation with its own attributes.
fn operation(op: &Op) -> String {
    let name = op.name().rsplit('.').next().unwrap_or_default().to_owned();
    let attributes = op.attributes();
    let mut text = name;
    for (key, value) in attributes.iter() {
        let _ = write!(text, " {key}={value:?}");
    }
    text
}

fn write_plan(text: &mut String, plan: &Plan) -> std::fmt::Result {
    let slots = |slots: &[Slot]| slots.iter().map(slot).collect::<Vec<_>>().join(", ");
    writeln!(text, "arguments ({})", slots(&plan.arguments))?;
    writeln!(text, "results ({})", slots(&plan.results))?;
    for (id, buffer) in plan.buffers.iter() {
        let storage = match &buffer.storage {
            Storage::Argument => "argument",
            Storage::Constant(_) => "constant",
            Storage::Result => "result",
            Storage::Arena => "arena",
        };
        let dims = sizes(plan, &buffer.dims, "x");
        let (first, last) = buffer.life;
        writeln!(
            text,
            "buffer {id:?}: {} [{dims}] {storage} {first}..{last}",
            buffer.element
        )?;
    }
    write_steps(text, plan, &plan.steps, 0)
}

fn slot(slot: &Slot) -> String {
    match slot {
        Slot::Array(buffer) => format!("{buffer:?}"),
        Slot::Token => "token".to_owned(),
        Slot::Tuple(slots) => format!(
            "({})",
            slots.iter().map(self::slot).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn sizes(plan: &Plan, sizes: &[SizeId], separator: &str) -> String {
    sizes
        .iter()
        .map(|size| plan.sizes.expression(*size).to_string())
        .collect::<Vec<_>>()
        .join(separator)
}

fn access(plan: &Plan, access: &Access) -> String {
    let mut text = format!("{:?}", access.buffer);
    let offset = plan.sizes.expression(access.offset);
    if offset.as_constant() != Some(0) {
        let _ = write!(text, "+{offset}");
    }
    for start in &access.starts {
        let stride = plan.sizes.expression(start.stride);
        let max = plan.sizes.expression(start.max);
        let _ = write!(text, "+{stride}*clamp({:?}, 0, {max})", start.index);
    }
    let _ = write!(text, "[{}]", sizes(plan, &access.strides, ", "));
    text
}

fn write_steps(text: &mut String, plan: &Plan, steps: &[Step], depth: usize) -> std::fmt::Result {
    let indent = "  ".repeat(depth);
    for step in steps {
        write!(text, "{indent}{}: ", step.number)?;
        match &step.kind {
            StepKind::Launch(launch) => writeln!(text, "{}  // {}", launch_text(plan, launch), step.name)?,
            StepKind::Product(product) => {
                writeln!(text, "{}  // {}", product_text(plan, product), step.name)?
            }
            StepKind::Copy { from, to } => writeln!(text, "copy {from:?} -> {to:?}")?,
            StepKind::Operation {
                function,
                operands,
                results,
                regions,
                ..
            } => {
                let list = |operands: &[Operand]| operands.iter().map(operand).collect::<Vec<_>>().join(", ");
                let name = &plan.library.functions[*function].name;
                let regions: String = regions.iter().flatten().map(|id| format!(" by {id:?}")).collect();
                writeln!(
                    text,
                    "operation @{name} ({}) -> ({}){regions}  // {}",
                    list(operands),
                    list(results),
                    step.name
                )?;
            }
            StepKind::While {
                condition,
                predicate,
                body,
            } => {
                writeln!(text, "while {predicate:?} {{")?;
                write_steps(text, plan, condition, depth + 1)?;
                writeln!(text, "{indent}}} do {{")?;
                write_steps(text, plan, body, depth + 1)?;
                writeln!(text, "{indent}}}")?;
            }
            StepKind::Case { index, branches } => {
                writeln!(text, "case {index:?} {{")?;
                for (number, branch) in branches.iter().enumerate() {
                    if number > 0 {
                        writeln!(text, "{indent}}} or {{")?;
                    }
                    write_steps(text, plan, branch, depth + 1)?;
                }
                writeln!(text, "{indent}}}")?;
            }
        }
    }
    Ok(())
}

fn launch_text(plan: &Plan, launch: &Launch) -> String {
    let Launch {
        kernel,
        extents,
        inputs,
        outputs,
    } = launch;
    let inputs = inputs.iter().map(|input| match input {
        Source::Array(own) => access(plan, own),
        Source::Position { offset, steps } => {
            let offset = plan.sizes.expression(*offset);
            format!("position {offset}+[{}]", sizes(plan, steps, ", "))
        }
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let outputs = outputs.iter().map(|output| access(plan, output));
    let outputs = outputs.collect::<Vec<_>>().join(", ");
    format!(
        "launch {kernel:?} over [{}] ({inputs}) -> {outputs}",
        sizes(plan, extents, ", ")
    )
}

fn product_text(plan: &Plan, product: &Product) -> String {
    let Product {
        batch,
        rows,
        columns,
        contracted,
        left,
        right,
        output,
    } = product;
    let list = |own: &[SizeId]| sizes(plan, own, ", ");
    format!(
        "product batch [{}] rows [{}] columns [{}] sum [{}] ({}, {}) -> {}",
        list(batch),
        list(rows),
        list(columns),
        list(contracted),
        access(plan, left),
        access(plan, right),
        access(plan, output)
    )
}

fn operand(own: &Operand) -> String {
    match own {
        Operand::Array(buffer, _) => format!("b{}", buffer.index()),
        Operand::Token => "token".to_owned(),
        Operand::Tuple(operands) => {
            format!(
                "({})",
                operands.iter().map(operand).collect::<Vec<_>>().join(", ")
            )
        }
    }
}
