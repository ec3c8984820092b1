//! Scheduled kernels and their code.

use artifact_cpu_tile::TileOp;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_lower::Plan;
use artifact_lower::kernel::{Columns, Level};

use crate::kernel::program::{Phase, Program, Reduce, Slot, SlotKind};
use crate::kernel::stages::Evaluated;
use crate::loaded::Compiled;
use crate::target::Target;

pub(super) fn encode(compiled: &Compiled, writer: &mut Writer) {
    writer.text(compiled.target.name());
    writer.count(compiled.programs.len());
    for (program, entries) in compiled.programs.iter().zip(&compiled.entries) {
        write_program(program, entries, writer);
    }
    writer.bytes(&compiled.code);
}

fn write_program(program: &Program, entries: &[usize], writer: &mut Writer) {
    writer.u8(u8::from(program.columns == Columns::Apart));
    writer.u8(u8::from(program.moves));
    writer.u32(program.tile as u32);
    writer.u32(program.inputs as u32);
    writer.u32(program.outputs as u32);
    writer.u32(program.flops as u32);
    writer.count(program.constants.len());
    program.constants.iter().for_each(|bytes| writer.bytes(bytes));
    writer.count(program.slots.len());
    program.slots.iter().for_each(|slot| write_slot(*slot, writer));
    writer.count(program.phases.len());
    for (phase, entry) in program.phases.iter().zip(entries) {
        writer.u8(u8::from(phase.level == Level::Element));
        writer.u64(*entry as u64);
        writer.count(phase.used.len());
        phase.used.iter().for_each(|slot| writer.u32(*slot as u32));
        writer.count(phase.reduces.len());
        phase
            .reduces
            .iter()
            .for_each(|reduce| write_reduce(reduce, writer));
    }
}

fn write_slot(slot: Slot, writer: &mut Writer) {
    let (kind, detail) = match slot.kind {
        SlotKind::Input(level) => (0, usize::from(level == Level::Element)),
        SlotKind::Output(level) => (1, usize::from(level == Level::Element)),
        SlotKind::Row => (2, 0),
        SlotKind::Resident => (3, 0),
        SlotKind::Scratch => (4, 0),
        SlotKind::Lanes => (5, 0),
        SlotKind::Constant(number) => (6, number),
    };
    writer.u8(slot.bytes as u8);
    writer.u8(kind);
    writer.u32(detail as u32);
}

fn write_reduce(reduce: &Reduce, writer: &mut Writer) {
    for op in [reduce.pair, reduce.init, reduce.finish] {
        writer.u16(op.id().unwrap_or(u16::MAX));
    }
    for slot in [reduce.lanes, reduce.start, reduce.result] {
        writer.u32(slot as u32);
    }
}

/// Programs and code, without the plan that they belong to.
pub(super) struct Decoded {
    target: String,
    programs: Vec<Program>,
    entries: Vec<Vec<usize>>,
    code: Vec<u8>,
}

impl Decoded {
    /// The whole; `None` where the target is none of ours.
    pub(super) fn finish(self, plan: Plan, evaluated: Vec<Evaluated>) -> Option<Compiled> {
        let Self {
            target,
            programs,
            entries,
            code,
        } = self;
        let fits = plan.kernels.len() == programs.len();
        let target = Target::find(&target).filter(|_| fits)?;
        Some(Compiled {
            plan,
            target,
            programs,
            evaluated,
            code,
            entries,
        })
    }
}

pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Decoded, Malformed> {
    let target = reader.text()?.to_owned();
    let (mut programs, mut entries) = (Vec::new(), Vec::new());
    for _ in 0..reader.count(8)? {
        let (program, starts) = read_program(reader)?;
        programs.push(program);
        entries.push(starts);
    }
    let code = reader.bytes()?.to_vec();
    if entries.iter().flatten().any(|entry| *entry >= code.len()) {
        return Err(reader.malformed("code that ends early"));
    }
    Ok(Decoded {
        target,
        programs,
        entries,
        code,
    })
}

fn read_program(reader: &mut Reader<'_>) -> Result<(Program, Vec<usize>), Malformed> {
    let columns = if reader.u8()? == 0 {
        Columns::Together
    } else {
        Columns::Apart
    };
    let moves = reader.u8()? != 0;
    let (tile, inputs, outputs) = (
        reader.u32()? as usize,
        reader.u32()? as usize,
        reader.u32()? as usize,
    );
    let flops = reader.u32()? as usize;
    let constants = (0..reader.count(8)?)
        .map(|_| Ok(reader.bytes()?.to_vec()))
        .collect::<Result<Vec<_>, Malformed>>()?;
    let slots = (0..reader.count(6)?)
        .map(|_| read_slot(reader))
        .collect::<Result<Vec<_>, Malformed>>()?;
    let (mut phases, mut entries) = (Vec::new(), Vec::new());
    for _ in 0..reader.count(17)? {
        let level = level(reader.u8()?);
        entries.push(usize::try_from(reader.u64()?).unwrap_or(usize::MAX));
        let used = (0..reader.count(4)?).map(|_| Ok(reader.u32()? as usize));
        let used = used.collect::<Result<Vec<usize>, Malformed>>()?;
        if used.iter().any(|slot| *slot >= slots.len()) {
            return Err(reader.malformed("an array that is not there"));
        }
        let reduces = (0..reader.count(18)?).map(|_| read_reduce(reader, slots.len()));
        phases.push(Phase {
            level,
            stages: Vec::new(),
            used,
            reduces: reduces.collect::<Result<_, _>>()?,
        });
    }
    let of_constants =
        |slot: &Slot| matches!(slot.kind, SlotKind::Constant(number) if number >= constants.len());
    if !(16..=1 << 20).contains(&tile) || inputs + outputs > slots.len() || slots.iter().any(of_constants) {
        return Err(reader.malformed("a kernel that contradicts itself"));
    }
    Ok((
        Program {
            columns,
            moves,
            tile,
            slots,
            constants,
            inputs,
            outputs,
            phases,
            flops,
        },
        entries,
    ))
}

const fn level(byte: u8) -> Level {
    if byte == 0 { Level::Row } else { Level::Element }
}

fn read_slot(reader: &mut Reader<'_>) -> Result<Slot, Malformed> {
    let bytes = usize::from(reader.u8()?);
    let (kind, detail) = (reader.u8()?, reader.u32()?);
    let kind = match kind {
        0 => SlotKind::Input(level(u8::from(detail != 0))),
        1 => SlotKind::Output(level(u8::from(detail != 0))),
        2 => SlotKind::Row,
        3 => SlotKind::Resident,
        4 => SlotKind::Scratch,
        5 => SlotKind::Lanes,
        6 => SlotKind::Constant(detail as usize),
        _ => return Err(reader.malformed("a kind of array that does not exist")),
    };
    Ok(Slot { bytes, kind })
}

fn read_reduce(reader: &mut Reader<'_>, slots: usize) -> Result<Reduce, Malformed> {
    let wrong = reader.malformed("a reduction that does not exist");
    let mut op = || Ok(*TileOp::all().get(usize::from(reader.u16()?)).ok_or(wrong)?);
    let (pair, init, finish) = (op()?, op()?, op()?);
    let mut slot = || {
        let slot = reader.u32()? as usize;
        if slot < slots { Ok(slot) } else { Err(wrong) }
    };
    Ok(Reduce {
        pair,
        init,
        finish,
        lanes: slot()?,
        start: slot()?,
        result: slot()?,
    })
}
