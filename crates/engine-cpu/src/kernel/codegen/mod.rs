//! Machine code of phases.
//!
//! A phase is one function, `fn(context, tiles, rows, columns)`, which runs its stages over the rectangle that the tiles span.
//! It calls nothing by name: tile routines come from the table that the context points to, so that the code has no relocations
//! and may lie anywhere.

mod body;
pub(crate) mod lanes;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I64, Type};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, Function, InstBuilder as _, MemFlagsData, SigRef, Signature, StackSlotData,
    StackSlotKind, UserFuncName, Value,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable as _};
use cranelift_codegen::{Context, isa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use artifact_lower::kernel::Kernel;

use super::program::{LoopKind, Phase, Program, Stage};
use crate::target::Target;
use body::{Lanes, Place};

/// Offsets in the context that code is called with.
pub(crate) const CONTEXT_TABLE: i32 = 0;
/// See [`CONTEXT_TABLE`].
pub(crate) const CONTEXT_EVALUATE: i32 = 8;

/// Tiles that a call takes at most: a destination and three sources.
const TILES_MAX: usize = 4;
const TILE_BYTES: i32 = 16;

/// Makes machine code for one target.
pub(crate) struct Compiler {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    /// Whether people will read the code.
    is_read: bool,
}

/// What went wrong in the code generator. It is a defect of ours, since kernels are well-formed.
#[derive(Debug, thiserror::Error)]
#[error("the code generator refused a kernel: {0}")]
pub(crate) struct CodegenError(String);

impl Compiler {
    pub(crate) fn new(target: Target) -> Result<Self, CodegenError> {
        let refused = |error: &dyn std::fmt::Display| CodegenError(error.to_string());
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("enable_verifier", "false"),
            ("is_pic", "true"),
            ("enable_probestack", "false"),
            ("unwind_info", "false"),
        ] {
            flags.set(name, value).map_err(|error| refused(&error))?;
        }
        let mut builder = isa::lookup_by_name("x86_64-unknown-linux-gnu").map_err(|error| refused(&error))?;
        for feature in target.features() {
            builder.enable(feature).map_err(|error| refused(&error))?;
        }
        let isa = builder
            .finish(settings::Flags::new(flags))
            .map_err(|error| refused(&error))?;
        Ok(Self {
            isa,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            is_read: false,
        })
    }

    /// The code of one phase.
    pub(crate) fn phase(
        &mut self,
        kernel: &Kernel,
        program: &Program,
        phase: &Phase,
    ) -> Result<Vec<u8>, CodegenError> {
        self.context.clear();
        self.context.want_disasm = self.is_read;
        self.context.func = Function::with_name_signature(UserFuncName::default(), phase_signature());
        let config = self.isa.frontend_config();
        emit(
            &mut self.context.func,
            &mut self.builder,
            kernel,
            program,
            phase,
            config,
        );
        let compiled = self.context.compile(&*self.isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|error| CodegenError(format!("{:?}", error.inner)))?;
        if !compiled.buffer.relocs().is_empty() {
            return Err(CodegenError(
                "code that is not independent of its place".to_owned(),
            ));
        }
        Ok(compiled.code_buffer().to_vec())
    }

    /// The instructions of one phase, for people.
    pub(crate) fn disassembly(
        &mut self,
        kernel: &Kernel,
        program: &Program,
        phase: &Phase,
    ) -> Result<String, CodegenError> {
        self.is_read = true;
        let outcome = self.phase(kernel, program, phase);
        self.is_read = false;
        outcome?;
        let text = self.context.compiled_code().and_then(|code| code.vcode.clone());
        Ok(text.unwrap_or_default())
    }
}

fn signature(parameters: usize) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature
        .params
        .extend((0..parameters).map(|_| AbiParam::new(I64)));
    signature
}

/// context, tiles, rows, columns.
fn phase_signature() -> Signature {
    signature(4)
}

fn emit(
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    kernel: &Kernel,
    program: &Program,
    phase: &Phase,
    config: TargetFrontendConfig,
) {
    let mut builder = FunctionBuilder::new(function, context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let parameters: Vec<Value> = builder.block_params(block).to_vec();
    let [machine, tiles, rows, columns] = parameters[..] else {
        return;
    };
    // rows, columns, tiles.
    let routine = builder.import_signature(signature(3));
    // context, operation, rows, columns, tiles.
    let evaluator = builder.import_signature(signature(5));
    let mut emitter = Emitter {
        builder,
        program,
        kernel,
        machine,
        tiles,
        rows,
        columns,
        routine,
        evaluator,
    };
    for stage in &phase.stages {
        emitter.stage(stage);
    }
    emitter.builder.ins().return_(&[]);
    emitter.builder.seal_all_blocks();
    emitter.builder.finalize(config);
}

struct Emitter<'a> {
    builder: FunctionBuilder<'a>,
    program: &'a Program,
    kernel: &'a Kernel,
    machine: Value,
    tiles: Value,
    rows: Value,
    columns: Value,
    routine: SigRef,
    evaluator: SigRef,
}

impl Emitter<'_> {
    fn stage(&mut self, stage: &Stage) {
        match stage {
            Stage::Loop(own) => self.compiled_loop(own),
            Stage::Call { routine, slots } => {
                let arguments = self.arguments(slots);
                let offset = routine.id().map_or(0, i32::from) * 8;
                let table = self.load_word(self.machine, CONTEXT_TABLE);
                let function = self.load_word(table, offset);
                let values = [self.rows, self.columns, arguments];
                self.builder.ins().call_indirect(self.routine, function, &values);
            }
            Stage::Evaluate { operation, slots } => {
                let arguments = self.arguments(slots);
                let function = self.load_word(self.machine, CONTEXT_EVALUATE);
                let number = self.word(*operation as i64);
                let values = [self.machine, number, self.rows, self.columns, arguments];
                self.builder
                    .ins()
                    .call_indirect(self.evaluator, function, &values);
            }
        }
    }

    fn word(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(I64, value)
    }

    fn load_word(&mut self, base: Value, offset: i32) -> Value {
        self.builder
            .ins()
            .load(I64, MemFlagsData::trusted(), base, offset)
    }

    /// Lays out the tiles of a call.
    fn arguments(&mut self, slots: &[usize]) -> Value {
        let size = (slots.len().min(TILES_MAX) as u32) * TILE_BYTES as u32;
        let slot =
            self.builder
                .create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4));
        for (position, slot_of) in slots.iter().take(TILES_MAX).enumerate() {
            for part in [0, 8] {
                let value = self.load_word(self.tiles, *slot_of as i32 * TILE_BYTES + part);
                self.builder
                    .ins()
                    .stack_store(I64, value, slot, position as i32 * TILE_BYTES + part);
            }
        }
        self.builder.ins().stack_addr(I64, slot, 0)
    }

    /// Rows, and in each row a few vectors at a time, then one, then single elements.
    ///
    /// The places of rows are carried from row to row: as products of row and distance they would be computed again for every
    /// column, where the code generator puts what it sees used.
    fn compiled_loop(&mut self, own: &super::program::Loop) {
        let zero = self.word(0);
        let rows = self.first_rows(own);
        let (head, row) = self.block_with_counter();
        let places: Vec<Value> = rows
            .iter()
            .map(|_| self.builder.append_block_param(head, I64))
            .collect();
        let (body, exit) = (self.builder.create_block(), self.builder.create_block());
        let first = std::iter::once(zero).chain(rows.iter().map(|row| row.data));
        let first: Vec<BlockArg> = first.map(BlockArg::Value).collect();
        self.builder.ins().jump(head, &first);
        self.builder.switch_to_block(head);
        let goes_on = self.builder.ins().icmp(IntCC::UnsignedLessThan, row, self.rows);
        self.builder.ins().brif(goes_on, body, &[], exit, &[]);
        self.builder.switch_to_block(body);
        let mut pointers = vec![None; self.program.slots.len()];
        for (row, place) in rows.iter().zip(&places) {
            pointers[row.slot] = Some(*place);
        }
        self.columns_loops(own, &pointers, zero);
        let mut next = vec![self.builder.ins().iadd_imm_s(row, 1)];
        for (row, place) in rows.iter().zip(&places) {
            next.push(self.builder.ins().iadd(*place, row.stride));
        }
        let next: Vec<BlockArg> = next.into_iter().map(BlockArg::Value).collect();
        self.builder.ins().jump(head, &next);
        self.builder.switch_to_block(exit);
    }

    /// All columns of a row, in loops of smaller and smaller steps.
    fn columns_loops(&mut self, own: &super::program::Loop, pointers: &[Option<Value>], zero: Value) {
        let lanes = 16 / own.width;
        let mut column = zero;
        for step in Step::all(own) {
            let end = match step {
                Step::Vectors(count) => {
                    let multiple = (lanes * count) as i64;
                    self.builder.ins().band_imm_s(self.columns, -multiple)
                }
                Step::Element => self.columns,
            };
            column = self.columns_loop(own, pointers, column, end, step);
        }
    }

    fn block_with_counter(&mut self) -> (cranelift_codegen::ir::Block, Value) {
        let block = self.builder.create_block();
        let counter = self.builder.append_block_param(block, I64);
        (block, counter)
    }

    /// The first row of each slot that a loop uses, and the distance of rows.
    fn first_rows(&mut self, own: &super::program::Loop) -> Vec<Row> {
        let slots: std::collections::BTreeSet<usize> = own.slots().into_iter().collect();
        let row = |slot: usize| Row {
            slot,
            data: self.load_word(self.tiles, slot as i32 * TILE_BYTES),
            stride: self.load_word(self.tiles, slot as i32 * TILE_BYTES + 8),
        };
        slots.into_iter().map(row).collect()
    }

    fn columns_loop(
        &mut self,
        own: &super::program::Loop,
        pointers: &[Option<Value>],
        from: Value,
        to: Value,
        step: Step,
    ) -> Value {
        let (count, lane_count) = match step {
            Step::Vectors(count) => (count, 16 / own.width),
            Step::Element => (1, 1),
        };
        let mut lanes = Lanes {
            width: own.width,
            is_vector: step != Step::Element,
        };
        let fixed = self.fixed_values(own, pointers, &mut lanes);
        let (head, column) = self.block_with_counter();
        let (body, exit) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().jump(head, &[BlockArg::Value(from)]);
        self.builder.switch_to_block(head);
        let goes_on = self.builder.ins().icmp(IntCC::UnsignedLessThan, column, to);
        self.builder.ins().brif(goes_on, body, &[], exit, &[]);
        self.builder.switch_to_block(body);
        let addresses = self.addresses(own, pointers, column);
        for part in 0..count {
            self.columns_body(own, &addresses, part * lane_count, &fixed, lanes);
        }
        let next = self.builder.ins().iadd_imm_s(column, (count * lane_count) as i64);
        self.builder.ins().jump(head, &[BlockArg::Value(next)]);
        self.builder.switch_to_block(exit);
        column
    }

    /// Constants and values of the row, the same for all columns.
    fn fixed_values(
        &mut self,
        own: &super::program::Loop,
        pointers: &[Option<Value>],
        lanes: &mut Lanes,
    ) -> Vec<Option<Value>> {
        let fixed = own.ops.iter().map(|op| match &op.kind {
            LoopKind::Constant(bytes) => Some(lanes.constant(&mut self.builder, op.element, bytes)),
            LoopKind::LoadRow(slot) => {
                let pointer = pointers[*slot]?;
                Some(lanes.load_row(&mut self.builder, op.element, pointer))
            }
            LoopKind::Load(_) | LoopKind::Apply(..) => None,
        });
        fixed.collect()
    }

    /// Where the elements of a column begin in each slot that the loop uses.
    fn addresses(
        &mut self,
        own: &super::program::Loop,
        pointers: &[Option<Value>],
        column: Value,
    ) -> Vec<Option<Value>> {
        let slots = own.slots();
        let address = |(slot, pointer): (usize, &Option<Value>)| {
            let pointer = (*pointer).filter(|_| slots.contains(&slot))?;
            let shift = self.program.slots[slot].bytes.trailing_zeros();
            let offset = self.builder.ins().ishl_imm_u(column, i64::from(shift));
            Some(self.builder.ins().iadd(pointer, offset))
        };
        pointers.iter().enumerate().map(address).collect()
    }

    /// The operations, for lanes that begin so many elements after the addresses.
    fn columns_body(
        &mut self,
        own: &super::program::Loop,
        addresses: &[Option<Value>],
        begin: usize,
        fixed: &[Option<Value>],
        lanes: Lanes,
    ) {
        let slots = &self.program.slots;
        let place = |slot: usize| {
            let offset = (begin * slots[slot].bytes) as i32;
            addresses[slot].map(|address| Place { address, offset })
        };
        let mut values: Vec<Value> = Vec::with_capacity(own.ops.len());
        for (op, fixed) in own.ops.iter().zip(fixed) {
            let value = match (&op.kind, fixed) {
                (_, Some(fixed)) => Some(*fixed),
                (LoopKind::Load(slot), None) => {
                    place(*slot).map(|place| lanes.load(&mut self.builder, op.element, place))
                }
                (LoopKind::Apply(id, operands), None) => {
                    let operands: Vec<Value> = operands.iter().map(|operand| values[*operand]).collect();
                    Some(lanes.apply(&mut self.builder, self.kernel, *id, &operands))
                }
                (LoopKind::Constant(_) | LoopKind::LoadRow(_), None) => None,
            };
            values.push(value.unwrap_or(self.rows));
        }
        for (position, slot) in &own.stores {
            if let Some(place) = place(*slot) {
                lanes.store(
                    &mut self.builder,
                    own.ops[*position].element,
                    values[*position],
                    place,
                );
            }
        }
    }
}

/// The rows of a slot.
struct Row {
    slot: usize,
    data: Value,
    /// Bytes from one to the next.
    stride: Value,
}

/// What one turn of a loop over columns computes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// So many vectors.
    Vectors(usize),
    Element,
}

impl Step {
    /// The loops that go through a row one after the other. The fewer operations there are, the more of the time goes into
    /// counting columns, and the more vectors one turn takes.
    fn all(own: &super::program::Loop) -> impl Iterator<Item = Self> {
        let at_once = match own.ops.len() {
            0..=8 => Some(4),
            9..=16 => Some(2),
            _ => None,
        };
        at_once
            .map(Self::Vectors)
            .into_iter()
            .chain([Self::Vectors(1), Self::Element])
    }
}

/// The vector type of lanes of so many bytes, integer or not.
const fn vector_type(width: usize, is_float: bool) -> Type {
    use cranelift_codegen::ir::types::{F32X4, F64X2, I32X4, I64X2};
    match (width, is_float) {
        (4, true) => F32X4,
        (4, false) => I32X4,
        (_, true) => F64X2,
        (_, false) => I64X2,
    }
}
