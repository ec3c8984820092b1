//! Plans as numbers.

use artifact_core::blob::Blob;
use artifact_core::entity::EntityId as _;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, Element, ElementType, TensorType};
use artifact_lower::kernel::{Columns, Input, InputKind, InstrId, Kernel, Level, Output};
use artifact_lower::plan::{
    Access, Buffer, BufferId, KernelId, Launch, Operand, Plan, Product, Slot, Source, Start, Step, StepKind,
    Storage,
};
use artifact_lower::{SizeId, Sizes};
use std::sync::Arc;

use super::library::Names;
use super::{decode_expression, decode_source, encode_source};

/// Sequences within sequences at most.
const NESTING_MAX: usize = 512;

pub(super) fn encode(plan: &Plan, names: &mut Names, writer: &mut Writer) {
    // Functions are known by name: their order is the module's own affair.
    writer.count(plan.library.functions.len());
    plan.library
        .functions
        .iter()
        .for_each(|(_, function)| writer.text(&function.name));
    writer.count(plan.sizes.len());
    plan.sizes
        .iter()
        .for_each(|(_, expression)| writer.text(&expression.to_string()));
    list(writer, &plan.arguments, slot);
    list(writer, &plan.results, slot);
    writer.count(plan.buffers.len());
    for (_, own) in plan.buffers.iter() {
        buffer(writer, own, names);
    }
    writer.count(plan.kernels.len());
    plan.kernels.iter().for_each(|(_, own)| kernel(writer, own));
    list(writer, &plan.steps, step);
}

fn list<T>(writer: &mut Writer, items: &[T], encode: fn(&mut Writer, &T)) {
    writer.count(items.len());
    items.iter().for_each(|item| encode(writer, item));
}

fn size(writer: &mut Writer, id: &SizeId) {
    writer.u32(id.index() as u32);
}

/// One more than the kernel's number, so that zero means none.
fn region(writer: &mut Writer, kernel: &Option<KernelId>) {
    writer.u32(kernel.map_or(0, |kernel| kernel.index() as u32 + 1));
}

fn buffer_id(writer: &mut Writer, id: &BufferId) {
    writer.u32(id.index() as u32);
}

fn slot(writer: &mut Writer, own: &Slot) {
    match own {
        Slot::Array(id) => {
            writer.u8(0);
            buffer_id(writer, id);
        }
        Slot::Token => writer.u8(1),
        Slot::Tuple(parts) => {
            writer.u8(2);
            list(writer, parts, slot);
        }
    }
}

fn buffer(writer: &mut Writer, own: &Buffer, names: &mut Names) {
    writer.u32(names.number(&own.element) as u32);
    list(writer, &own.dims, size);
    size(writer, &own.count);
    writer.u32(own.life.0);
    writer.u32(own.life.1);
    match &own.storage {
        Storage::Argument => writer.u8(0),
        Storage::Result => writer.u8(1),
        Storage::Arena => writer.u8(2),
        Storage::Constant(literal) => {
            writer.u8(3);
            writer.count(literal.ty().rank());
            literal
                .ty()
                .dims
                .iter()
                .for_each(|dim| writer.u64(dim.as_static().unwrap_or(0)));
            match (literal.as_splat(), literal.as_dense()) {
                (Some(element), _) => {
                    writer.u8(0);
                    writer.bytes(element);
                }
                (None, dense) => {
                    writer.u8(1);
                    writer.bytes(dense.map_or(&[], |bytes| bytes));
                }
            }
        }
    }
}

fn element(writer: &mut Writer, own: ElementType) {
    writer.text(own.name());
}

const fn level(own: Level) -> u8 {
    match own {
        Level::Row => 0,
        Level::Element => 1,
    }
}

fn kernel(writer: &mut Writer, own: &Kernel) {
    writer.u32(own.parallel as u32);
    writer.u32(own.inner as u32);
    writer.u8(u8::from(own.columns == Columns::Apart));
    list(writer, &own.inputs, |writer, input| {
        element(writer, input.element);
        writer.u8(u8::from(input.kind == InputKind::Position));
        writer.u8(level(input.level));
    });
    list(writer, &own.outputs, |writer, output| {
        element(writer, output.element);
        writer.u8(level(output.level));
    });
}

fn access(writer: &mut Writer, own: &Access) {
    buffer_id(writer, &own.buffer);
    size(writer, &own.offset);
    list(writer, &own.strides, size);
    list(writer, &own.starts, |writer, start| {
        buffer_id(writer, &start.index);
        size(writer, &start.max);
        size(writer, &start.stride);
    });
}

fn operand(writer: &mut Writer, own: &Operand) {
    match own {
        Operand::Array(id, dims) => {
            writer.u8(0);
            buffer_id(writer, id);
            list(writer, dims, size);
        }
        Operand::Token => writer.u8(1),
        Operand::Tuple(parts) => {
            writer.u8(2);
            list(writer, parts, operand);
        }
    }
}

fn source(writer: &mut Writer, own: &Source) {
    match own {
        Source::Array(own) => {
            writer.u8(0);
            access(writer, own);
        }
        Source::Position { offset, steps } => {
            writer.u8(1);
            size(writer, offset);
            list(writer, steps, size);
        }
    }
}

fn step(writer: &mut Writer, own: &Step) {
    writer.u32(own.number);
    writer.text(&own.name);
    encode_source(own.source, writer);
    match &own.kind {
        StepKind::Launch(launch) => {
            writer.u8(0);
            writer.u32(launch.kernel.index() as u32);
            list(writer, &launch.extents, size);
            list(writer, &launch.inputs, source);
            list(writer, &launch.outputs, access);
        }
        StepKind::Product(product) => {
            writer.u8(1);
            for axes in [
                &product.batch,
                &product.rows,
                &product.columns,
                &product.contracted,
            ] {
                list(writer, axes, size);
            }
            for side in [&product.left, &product.right, &product.output] {
                access(writer, side);
            }
        }
        StepKind::Copy { from, to } => {
            writer.u8(2);
            buffer_id(writer, from);
            buffer_id(writer, to);
        }
        StepKind::Operation {
            function,
            is_pure,
            regions,
            operands,
            results,
        } => {
            writer.u8(3);
            writer.u32(function.index() as u32);
            writer.u8(u8::from(*is_pure));
            list(writer, regions, region);
            list(writer, operands, operand);
            list(writer, results, operand);
        }
        StepKind::While {
            condition,
            predicate,
            body,
        } => {
            writer.u8(4);
            list(writer, condition, step);
            buffer_id(writer, predicate);
            list(writer, body, step);
        }
        StepKind::Case { index, branches } => {
            writer.u8(5);
            buffer_id(writer, index);
            writer.count(branches.len());
            branches.iter().for_each(|branch| list(writer, branch, step));
        }
    }
}

/// A plan without what a module says.
pub(super) struct Decoded {
    plan: Plan,
    /// Element types of the buffers, by number, and their constants.
    elements: Vec<u32>,
    constants: Vec<Option<Constant>>,
    /// Names of functions, by the numbers that steps have for them.
    functions: Vec<String>,
}

struct Constant {
    dims: Vec<u64>,
    is_splat: bool,
    bytes: Vec<u8>,
}

impl Decoded {
    /// The plan; `None` when it names something that is not there.
    pub(super) fn finish(self, library: Module, elements: &[Element]) -> Option<Plan> {
        let Self {
            mut plan,
            elements: numbers,
            constants,
            functions,
        } = self;
        name_functions(&mut plan.steps, &functions, &library)?;
        for ((number, constant), index) in numbers.into_iter().zip(constants).zip(0_u32..) {
            let element = elements.get(number as usize)?;
            let own = &mut plan.buffers[BufferId::from_index(index)];
            own.element = element.clone();
            if let Some(Constant {
                dims,
                is_splat,
                bytes,
            }) = constant
            {
                let dims: Vec<Dim> = dims.into_iter().map(Dim::Static).collect();
                let ty = Arc::new(TensorType::new(dims, element.clone()));
                let literal = match is_splat {
                    true => Literal::splat(ty, &bytes),
                    false => Literal::dense(ty, Blob::new(bytes)),
                };
                own.storage = Storage::Constant(literal.ok()?);
            }
        }
        plan.library = library;
        Some(plan)
    }
}

/// Puts the functions of the library in place of their numbers.
fn name_functions(steps: &mut [Step], names: &[String], library: &Module) -> Option<()> {
    for step in steps {
        match &mut step.kind {
            StepKind::Operation { function, .. } => {
                *function = library.function(names.get(function.index())?)?
            }
            StepKind::While { condition, body, .. } => {
                name_functions(condition, names, library)?;
                name_functions(body, names, library)?;
            }
            StepKind::Case { branches, .. } => {
                for branch in branches {
                    name_functions(branch, names, library)?;
                }
            }
            StepKind::Launch(_) | StepKind::Product(_) | StepKind::Copy { .. } => {}
        }
    }
    Some(())
}

/// Reads a plan; ids that are out of range are errors.
pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Decoded, Malformed> {
    let functions = (0..reader.count(8)?).map(|_| Ok(reader.text()?.to_owned()));
    let functions = functions.collect::<Result<_, Malformed>>()?;
    let mut sizes = Sizes::default();
    for _ in 0..reader.count(8)? {
        sizes.intern(decode_expression(reader)?);
    }
    let mut own = Decode {
        reader,
        sizes: sizes.len(),
        buffers: usize::MAX,
        kernels: 0,
        depth: 0,
    };
    let arguments = own.list(Decode::slot)?;
    let results = own.list(Decode::slot)?;
    let mut decoded = Decoded {
        plan: Plan::default(),
        elements: Vec::new(),
        constants: Vec::new(),
        functions,
    };
    for _ in 0..own.reader.count(8)? {
        own.buffer(&mut decoded)?;
    }
    own.buffers = decoded.plan.buffers.len();
    for slot in arguments.iter().chain(&results) {
        own.check_slot(slot)?;
    }
    for _ in 0..own.reader.count(8)? {
        let kernel = own.kernel()?;
        decoded.plan.kernels.push(kernel);
    }
    own.kernels = decoded.plan.kernels.len();
    decoded.plan.steps = own.list(Decode::step)?;
    decoded.plan.sizes = sizes;
    (decoded.plan.arguments, decoded.plan.results) = (arguments, results);
    Ok(decoded)
}

struct Decode<'r, 'b> {
    reader: &'r mut Reader<'b>,
    sizes: usize,
    buffers: usize,
    kernels: usize,
    depth: usize,
}

impl Decode<'_, '_> {
    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.reader.count(1)?;
        (0..count).map(|_| item(self)).collect()
    }

    fn index(&mut self, count: usize) -> Result<u32, Malformed> {
        let outside = self.reader.malformed("an id of something that is not there");
        let index = self.reader.u32()?;
        if (index as usize) < count {
            Ok(index)
        } else {
            Err(outside)
        }
    }

    fn size(&mut self) -> Result<SizeId, Malformed> {
        self.index(self.sizes).map(SizeId::from_index)
    }

    fn buffer_id(&mut self) -> Result<BufferId, Malformed> {
        self.index(self.buffers).map(BufferId::from_index)
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Malformed>) -> Result<T, Malformed> {
        if self.depth >= NESTING_MAX {
            return Err(self.reader.malformed("too many things within each other"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn slot(&mut self) -> Result<Slot, Malformed> {
        match self.reader.u8()? {
            0 => Ok(Slot::Array(self.buffer_id()?)),
            1 => Ok(Slot::Token),
            2 => self.nested(|own| Ok(Slot::Tuple(own.list(Self::slot)?))),
            _ => Err(self.reader.malformed("a kind of value that does not exist")),
        }
    }

    fn check_slot(&self, slot: &Slot) -> Result<(), Malformed> {
        match slot {
            Slot::Array(id) if id.index() >= self.buffers => {
                Err(self.reader.malformed("an array that is not there"))
            }
            Slot::Tuple(parts) => parts.iter().try_for_each(|part| self.check_slot(part)),
            Slot::Array(_) | Slot::Token => Ok(()),
        }
    }

    fn buffer(&mut self, decoded: &mut Decoded) -> Result<(), Malformed> {
        decoded.elements.push(self.reader.u32()?);
        let dims = self.list(Self::size)?;
        let count = self.size()?;
        let life = (self.reader.u32()?, self.reader.u32()?);
        let mut constant = None;
        let storage = match self.reader.u8()? {
            0 => Storage::Argument,
            1 => Storage::Result,
            2 => Storage::Arena,
            3 => {
                let dims = self.list(|own| own.reader.u64())?;
                let is_splat = self.reader.u8()? == 0;
                constant = Some(Constant {
                    dims,
                    is_splat,
                    bytes: self.reader.bytes()?.to_vec(),
                });
                Storage::Arena
            }
            _ => return Err(self.reader.malformed("a place of buffers that does not exist")),
        };
        decoded.constants.push(constant);
        let element = Element::Plain(ElementType::I8);
        decoded.plan.buffers.push(Buffer {
            element,
            dims,
            count,
            storage,
            life,
        });
        Ok(())
    }

    fn element(&mut self) -> Result<ElementType, Malformed> {
        let wrong = self.reader.malformed("an element type that does not exist");
        self.reader.text()?.parse().map_err(|_| wrong)
    }

    fn level(&mut self) -> Result<Level, Malformed> {
        match self.reader.u8()? {
            0 => Ok(Level::Row),
            1 => Ok(Level::Element),
            _ => Err(self.reader.malformed("a level that does not exist")),
        }
    }

    fn kernel(&mut self) -> Result<Kernel, Malformed> {
        let (parallel, inner) = (self.reader.u32()? as usize, self.reader.u32()? as usize);
        let columns = if self.reader.u8()? == 0 {
            Columns::Together
        } else {
            Columns::Apart
        };
        let inputs = self.list(|own| {
            let element = own.element()?;
            let kind = if own.reader.u8()? == 0 {
                InputKind::Array
            } else {
                InputKind::Position
            };
            Ok(Input {
                element,
                kind,
                level: own.level()?,
            })
        })?;
        let outputs = self.list(|own| {
            Ok(Output {
                value: InstrId::from_index(0),
                element: own.element()?,
                level: own.level()?,
            })
        })?;
        Ok(Kernel {
            parallel,
            inner,
            columns,
            inputs,
            body: Vec::new(),
            outputs,
        })
    }

    fn access(&mut self) -> Result<Access, Malformed> {
        Ok(Access {
            buffer: self.buffer_id()?,
            offset: self.size()?,
            strides: self.list(Self::size)?,
            starts: self.list(|own| {
                Ok(Start {
                    index: own.buffer_id()?,
                    max: own.size()?,
                    stride: own.size()?,
                })
            })?,
        })
    }

    fn operand(&mut self) -> Result<Operand, Malformed> {
        match self.reader.u8()? {
            0 => Ok(Operand::Array(self.buffer_id()?, self.list(Self::size)?)),
            1 => Ok(Operand::Token),
            2 => self.nested(|own| Ok(Operand::Tuple(own.list(Self::operand)?))),
            _ => Err(self.reader.malformed("a kind of operand that does not exist")),
        }
    }

    fn source(&mut self) -> Result<Source, Malformed> {
        match self.reader.u8()? {
            0 => Ok(Source::Array(self.access()?)),
            1 => Ok(Source::Position {
                offset: self.size()?,
                steps: self.list(Self::size)?,
            }),
            _ => Err(self.reader.malformed("a kind of input that does not exist")),
        }
    }

    fn step(&mut self) -> Result<Step, Malformed> {
        let number = self.reader.u32()?;
        let name = self.reader.text()?.to_owned();
        let source = decode_source(self.reader)?;
        let kind = self.nested(Self::step_kind)?;
        Ok(Step {
            kind,
            number,
            name,
            source,
        })
    }

    fn regions(&mut self) -> Result<Vec<Option<KernelId>>, Malformed> {
        let region = |own: &mut Self| {
            let number = own.reader.u32()?;
            let is_there = number as usize <= own.kernels;
            let kernel = number.checked_sub(1).map(KernelId::from_index);
            is_there
                .then_some(kernel)
                .ok_or_else(|| own.reader.malformed("a kernel that is not there"))
        };
        self.list(region)
    }

    fn step_kind(&mut self) -> Result<StepKind, Malformed> {
        Ok(match self.reader.u8()? {
            0 => StepKind::Launch(Launch {
                kernel: KernelId::from_index(self.index(self.kernels)?),
                extents: self.list(Self::size)?,
                inputs: self.list(Self::source)?,
                outputs: self.list(Self::access)?,
            }),
            1 => StepKind::Product(Product {
                batch: self.list(Self::size)?,
                rows: self.list(Self::size)?,
                columns: self.list(Self::size)?,
                contracted: self.list(Self::size)?,
                left: self.access()?,
                right: self.access()?,
                output: self.access()?,
            }),
            2 => StepKind::Copy {
                from: self.buffer_id()?,
                to: self.buffer_id()?,
            },
            3 => StepKind::Operation {
                function: FunctionId::from_index(self.reader.u32()?),
                is_pure: self.reader.u8()? != 0,
                regions: self.regions()?,
                operands: self.list(Self::operand)?,
                results: self.list(Self::operand)?,
            },
            4 => StepKind::While {
                condition: self.list(Self::step)?,
                predicate: self.buffer_id()?,
                body: self.list(Self::step)?,
            },
            5 => StepKind::Case {
                index: self.buffer_id()?,
                branches: self.list(|own| own.list(Self::step))?,
            },
            _ => return Err(self.reader.malformed("a kind of step that does not exist")),
        })
    }
}
