//! A launch with its sizes.

use smallvec::SmallVec;

use artifact_core::entity::EntityId as _;
use artifact_cpu_tile::TileOp;
use artifact_lower::kernel::{Columns, Input, InputKind, Kernel, Level, SEGMENT};
use artifact_lower::plan::{Access, Launch, Plan, Source};

use crate::error::CpuError;
use crate::kernel::program::{Program, SlotKind};
use crate::layout::{Layout, Space, layout};

/// A launch of known sizes.
#[derive(Clone, Debug)]
pub(crate) struct BoundLaunch {
    pub(crate) kernel: usize,
    pub(crate) shape: Shape,
    pub(crate) layout: Layout,
    /// Inputs, then outputs.
    pub(crate) operands: Vec<Operand>,
    /// Where the memory of each slot begins in the scratch memory of a thread.
    pub(crate) places: Vec<usize>,
    /// Scratch memory of a thread.
    pub(crate) scratch_bytes: usize,
    /// Memory of the launch for results of segments, when rows are shared between threads.
    pub(crate) segments: Option<Segments>,
    pub(crate) blocks: usize,
    /// Positions in all.
    pub(crate) elements: usize,
    pub(crate) is_empty: bool,
}

/// How a launch goes through its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Every position by itself.
    Map,
    /// Every element as it is, from one array to another place: what a routine does better than tiles.
    Move,
    /// Rows of columns that lie together.
    Together,
    /// Rows of columns that lie apart.
    Apart,
}

/// Reductions whose segments are computed by several threads.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    /// Segments of a row.
    pub(crate) count: usize,
    /// How many are computed at a time.
    pub(crate) group: usize,
    /// Where the results of each reduction begin.
    pub(crate) offsets: Vec<usize>,
    pub(crate) bytes: usize,
}

/// Where an operand comes from.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) source: OperandSource,
    /// Bytes of an element.
    pub(crate) width: usize,
    /// Whether it is an output that is written past the caches.
    pub(crate) streams: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum OperandSource {
    Array {
        buffer: usize,
        offset: usize,
        starts: SmallVec<[Start; 2]>,
    },
    Position {
        start: i64,
        op: Option<TileOp>,
    },
}

/// An offset that is read when the launch runs.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) buffer: usize,
    pub(crate) element: artifact_ir::types::ElementType,
    pub(crate) max: i64,
    pub(crate) stride_bytes: i64,
}

/// An operand of a running launch: the address of its first element, or the number there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resolved {
    Array(*mut u8),
    Position(i64),
}

// SAFETY: addresses of buffers, which a launch reads and writes in disjoint parts.
unsafe impl Sync for Resolved {}

/// Binds a launch. Checks that it stays within its buffers, whatever the plan says.
pub(crate) fn bind(
    plan: &Plan,
    launch: &Launch,
    program: &Program,
    sizes: &[i64],
) -> Result<BoundLaunch, CpuError> {
    let kernel = &plan.kernels[launch.kernel];
    let size = |id: artifact_lower::SizeId| sizes.get(id.index()).copied().unwrap_or(0);
    let extents: Vec<usize> = launch
        .extents
        .iter()
        .map(|extent| {
            usize::try_from(size(*extent)).map_err(|_| CpuError::bounds("a size of a kernel is negative"))
        })
        .collect::<Result<_, _>>()?;
    let extents = countable(extents, kernel.parallel)?;
    let rows_empty = extents[..kernel.parallel].contains(&0);
    let is_empty = rows_empty || (!program.reduces() && extents.contains(&0));
    let binder = Binder {
        plan,
        sizes,
        extents: &extents,
        is_empty: is_empty || extents.contains(&0),
    };
    let mut space = Space {
        sizes: extents.clone(),
        strides: Vec::new(),
        widths: Vec::new(),
    };
    let mut operands = Vec::new();
    for (input, source) in kernel.inputs.iter().zip(&launch.inputs) {
        let (strides, operand) = binder.input(input, source)?;
        space.strides.push(strides);
        operands.push(operand);
    }
    for (output, access) in kernel.outputs.iter().zip(&launch.outputs) {
        let (strides, operand) = binder.output(access, output.element.bytes())?;
        space.strides.push(strides);
        operands.push(operand);
    }
    space.widths.extend(operands.iter().map(|operand| operand.width));
    Ok(finish(
        kernel,
        program,
        launch.kernel.index(),
        &space,
        operands,
        is_empty,
    ))
}

/// Positions that a launch goes through, at most: more would take days, and no product of sizes, counts and bytes that is made of as
/// many overflows. Arrays bound them only where they are in memory, which repeated elements and positions are not.
const POSITIONS_MAX: usize = 1 << 48;

/// Sizes of which all products can be counted. Where a part of the axes has nothing to go through, the others of it count as nothing
/// too.
fn countable(mut extents: Vec<usize>, parallel: usize) -> Result<Vec<usize>, CpuError> {
    let (rows, columns) = extents.split_at_mut(parallel);
    for part in [rows, columns] {
        if part.contains(&0) {
            part.fill(0);
        }
    }
    check_positions(&extents)?;
    Ok(extents)
}

/// Refuses sizes whose product is over [`POSITIONS_MAX`], zeros apart.
pub(crate) fn check_positions(sizes: &[usize]) -> Result<(), CpuError> {
    let positions = sizes
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul((*size).max(1)));
    match positions.filter(|positions| *positions <= POSITIONS_MAX) {
        Some(_) => Ok(()),
        None => Err(CpuError::input(format!(
            "an operation goes through more than {POSITIONS_MAX} positions"
        ))),
    }
}

fn finish(
    kernel: &Kernel,
    program: &Program,
    index: usize,
    space: &Space,
    mut operands: Vec<Operand>,
    is_empty: bool,
) -> BoundLaunch {
    let layout = layout(kernel, program, space);
    let are_arrays = operands.iter().all(|operand| {
        matches!(operand.source, OperandSource::Array { .. }) && operand.width == operands[0].width
    });
    let shape = match (kernel.inner == 0 && !program.reduces(), kernel.columns) {
        (true, _) if program.moves && are_arrays => Shape::Move,
        (true, _) => Shape::Map,
        (false, Columns::Together) => Shape::Together,
        (false, Columns::Apart) => Shape::Apart,
    };
    let [rows, columns] = layout.rectangle;
    let blocks = match shape {
        Shape::Map | Shape::Move => layout.rows.div_ceil(rows) * layout.columns.div_ceil(columns),
        Shape::Together => layout.rows.div_ceil(rows),
        Shape::Apart => layout.columns.div_ceil(columns),
    };
    let blocks = blocks * layout.outer_count();
    let elements = layout.outer_count() * layout.rows * layout.columns;
    let group = group(program, &layout, shape, &operands);
    let segments = segments(program, &layout, shape, blocks, group);
    let at_hand = segments.as_ref().map_or(1, |segments| segments.group);
    let (places, scratch_bytes) = places(program, &layout, shape, at_hand);
    if shape == Shape::Map {
        choose_streams(&mut operands, kernel.inputs.len(), elements);
    }
    BoundLaunch {
        kernel: index,
        shape,
        layout,
        operands,
        places,
        scratch_bytes,
        segments,
        blocks,
        elements,
        is_empty,
    }
}

/// Outputs of at least so many bytes go past the caches, which they would only sweep, and into which every line would be read
/// before it is written.
const STREAM_BYTES: usize = 32 << 20;

fn choose_streams(operands: &mut [Operand], inputs: usize, elements: usize) {
    let (inputs, outputs) = operands.split_at_mut(inputs);
    let buffer = |operand: &Operand| match operand.source {
        OperandSource::Array { buffer, .. } => Some(buffer),
        OperandSource::Position { .. } => None,
    };
    for output in outputs {
        // What takes the place of an input was read anyway.
        let is_fresh = inputs.iter().all(|input| buffer(input) != buffer(output));
        output.streams = is_fresh && elements.saturating_mul(output.width) >= STREAM_BYTES;
    }
}

/// Segments that are computed at a time where nothing between a reduction and its operand is in scratch memory.
const GROUP: usize = 16;

/// How many segments of a row are computed at a time, each as a row of its own: more than one where all that is reduced lies in
/// memory as it is.
fn group(program: &Program, layout: &Layout, shape: Shape, operands: &[Operand]) -> usize {
    let is_direct = |slot: &usize| match program.slots[*slot].kind {
        SlotKind::Lanes => true,
        SlotKind::Input(Level::Element) => {
            let operand = &operands[*slot];
            let is_array = matches!(operand.source, OperandSource::Array { .. });
            let columns = &layout.walks[*slot].columns;
            is_array && columns.len() == 1 && columns[0].stride == operand.width as isize
        }
        _ => false,
    };
    let mut passes = program
        .phases
        .iter()
        .filter(|phase| phase.level == Level::Element);
    let all_direct = passes.all(|phase| phase.used.iter().all(is_direct));
    if shape == Shape::Together && all_direct {
        GROUP
    } else {
        1
    }
}

/// Where slots lie in scratch memory, for as many rows at a time at least.
fn places(program: &Program, layout: &Layout, shape: Shape, at_hand: usize) -> (Vec<usize>, usize) {
    let [rows, columns] = layout.rectangle;
    let at_hand = at_hand.max(if shape == Shape::Together { rows } else { columns });
    let mut bytes = 0;
    let mut take = |count: usize, width: usize| {
        let place = bytes;
        bytes += (count * width).next_multiple_of(64);
        place
    };
    let places = program.slots.iter().map(|slot| match slot.kind {
        SlotKind::Input(_) | SlotKind::Output(_) | SlotKind::Scratch => {
            take(rows * columns.max(1), slot.bytes)
        }
        SlotKind::Row => take(at_hand, slot.bytes),
        SlotKind::Resident => take(rows * layout.columns, slot.bytes),
        SlotKind::Lanes => take(16 * at_hand, slot.bytes),
        SlotKind::Constant(_) => take(1, slot.bytes),
    });
    let mut places: Vec<usize> = places.collect();
    // Results of a segment, one place a reduction.
    for reduce in program.phases.iter().flat_map(|phase| &phase.reduces) {
        places.push(take(at_hand, program.slots[reduce.lanes].bytes));
    }
    (places, bytes)
}

/// Rows that are few and long are shared between threads, segment by segment.
fn segments(
    program: &Program,
    layout: &Layout,
    shape: Shape,
    blocks: usize,
    group: usize,
) -> Option<Segments> {
    const BLOCKS_FEW: usize = 4;
    let length = match shape {
        Shape::Map | Shape::Move => return None,
        Shape::Together => layout.columns,
        Shape::Apart => layout.rows,
    };
    let passes = program
        .phases
        .iter()
        .filter(|phase| phase.level == Level::Element)
        .count();
    let is_plain = passes == 1 && !program.slots.iter().any(|slot| slot.kind == SlotKind::Resident);
    if blocks > BLOCKS_FEW || length < 4 * SEGMENT || !is_plain {
        return None;
    }
    let count = length.div_ceil(SEGMENT);
    let rows = layout.outer_count()
        * if shape == Shape::Together {
            layout.rows
        } else {
            layout.columns
        };
    let mut bytes = 0;
    let offsets = program
        .phases
        .iter()
        .flat_map(|phase| &phase.reduces)
        .map(|reduce| {
            let offset = bytes;
            bytes += (count * rows * program.slots[reduce.lanes].bytes).next_multiple_of(64);
            offset
        });
    Some(Segments {
        count,
        group,
        offsets: offsets.collect(),
        bytes,
    })
}

/// Binds an array that something other than a kernel goes through, and its strides in bytes.
pub(crate) fn bind_access(
    plan: &Plan,
    access: &Access,
    extents: &[usize],
    sizes: &[i64],
    element: artifact_ir::types::ElementType,
) -> Result<(Operand, Vec<isize>), CpuError> {
    let width = element.bytes();
    let binder = Binder {
        plan,
        sizes,
        extents,
        is_empty: extents.contains(&0),
    };
    let strides = binder.byte_strides(access, width)?;
    Ok((
        Operand {
            source: binder.array(access, width)?,
            width,
            streams: false,
        },
        strides,
    ))
}

struct Binder<'a> {
    plan: &'a Plan,
    sizes: &'a [i64],
    extents: &'a [usize],
    is_empty: bool,
}

impl Binder<'_> {
    fn size(&self, id: artifact_lower::SizeId) -> i64 {
        self.sizes.get(id.index()).copied().unwrap_or(0)
    }

    /// Strides and source of an input.
    fn input(&self, input: &Input, source: &Source) -> Result<(Vec<isize>, Operand), CpuError> {
        let width = input.element.bytes();
        match (source, input.kind) {
            (Source::Array(access), InputKind::Array) => self.output(access, width),
            (Source::Position { offset, steps }, InputKind::Position) => {
                let op = TileOp::Affine(input.element);
                let source = OperandSource::Position {
                    start: self.size(*offset),
                    op: op.id().map(|_| op),
                };
                let steps = steps.iter().map(|step| self.size(*step) as isize);
                let streams = false;
                Ok((
                    steps.collect(),
                    Operand {
                        source,
                        width,
                        streams,
                    },
                ))
            }
            _ => Err(CpuError::bounds(
                "an input of a kernel is of another kind than its source",
            )),
        }
    }

    /// Strides and place of an array.
    fn output(&self, access: &Access, width: usize) -> Result<(Vec<isize>, Operand), CpuError> {
        let source = self.array(access, width)?;
        let streams = false;
        Ok((
            self.byte_strides(access, width)?,
            Operand {
                source,
                width,
                streams,
            },
        ))
    }

    fn byte_strides(&self, access: &Access, width: usize) -> Result<Vec<isize>, CpuError> {
        let bytes = |(stride, extent): (&artifact_lower::SizeId, &usize)| {
            // Nobody steps along an axis of nothing, whose sizes beside it may be anything.
            let stride = if *extent == 0 { 0 } else { self.size(*stride) };
            stride
                .checked_mul(width as i64)
                .and_then(|bytes| isize::try_from(bytes).ok())
                .ok_or_else(|| CpuError::bounds("a stride is too large"))
        };
        access.strides.iter().zip(self.extents).map(bytes).collect()
    }

    /// Checks that no position lies outside of the buffer.
    fn array(&self, access: &Access, width: usize) -> Result<OperandSource, CpuError> {
        let buffer = &self.plan.buffers[access.buffer];
        let count = i128::from(self.size(buffer.count));
        let (mut low, mut high) = (
            i128::from(self.size(access.offset)),
            i128::from(self.size(access.offset)),
        );
        let spans = access
            .strides
            .iter()
            .zip(self.extents)
            .map(|(stride, extent)| (self.size(*stride), *extent as i128 - 1));
        let starts = access
            .starts
            .iter()
            .map(|start| (self.size(start.stride), i128::from(self.size(start.max).max(0))));
        for (stride, last) in spans.chain(starts) {
            let reach = i128::from(stride) * last;
            low += reach.min(0);
            high += reach.max(0);
        }
        if !self.is_empty && (low < 0 || high >= count) {
            return Err(CpuError::bounds("a kernel reaches beyond its arrays"));
        }
        let starts = access.starts.iter().map(|start| Start {
            buffer: start.index.index(),
            element: self.plan.buffers[start.index].storage_type(),
            max: self.size(start.max).max(0),
            stride_bytes: self.size(start.stride).saturating_mul(width as i64),
        });
        let offset = usize::try_from(self.size(access.offset)).unwrap_or(0);
        let offset = offset.saturating_mul(width);
        Ok(OperandSource::Array {
            buffer: access.buffer.index(),
            offset,
            starts: starts.collect(),
        })
    }
}

impl Operand {
    /// The address of the first element, or the number there.
    ///
    /// # Safety
    /// `buffers` must point to the buffers of the plan that the operand was bound for.
    pub(crate) unsafe fn resolve(&self, buffers: &[*mut u8]) -> Resolved {
        match &self.source {
            OperandSource::Position { start, .. } => Resolved::Position(*start),
            OperandSource::Array {
                buffer,
                offset,
                starts,
            } => {
                let mut address = buffers[*buffer].wrapping_add(*offset);
                for start in starts {
                    // SAFETY: the buffer holds one integer of this type.
                    let index = unsafe { integer(buffers[start.buffer], start.element) };
                    address =
                        address.wrapping_offset((index.clamp(0, start.max) * start.stride_bytes) as isize);
                }
                Resolved::Array(address)
            }
        }
    }
}

/// Reads an integer.
///
/// # Safety
/// The address must hold an element of this type.
pub(crate) unsafe fn integer(address: *const u8, element: artifact_ir::types::ElementType) -> i64 {
    let mut bytes = [0_u8; 8];
    let width = element.bytes().min(8);
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(address, bytes.as_mut_ptr(), width) };
    let value = i64::from_le_bytes(bytes);
    let shift = 64 - 8 * width as u32;
    if element.is_signed_integer() {
        value << shift >> shift
    } else {
        // An unsigned number of 64 bits beyond the signed ones is beyond every array.
        if value < 0 { i64::MAX } else { value }
    }
}
