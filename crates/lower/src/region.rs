//! Regions of reductions, sorts and the like: functions of elements.

use std::collections::HashMap;

use artifact_core::entity::EntityId as _;
use artifact_ir::module::{Block, Body, Operation, RegionId, ValueId};
use artifact_ir::op::{Binary, Control, Creation, Elementwise, Op};
use artifact_ir::types::ElementType;

use crate::kernel::{Columns, Combine, Input, InputKind, Instr, InstrId, InstrKind, Kernel, Level, Output};
use crate::trace::is_elementwise;

/// The operation by which the region of a reduction combines two elements; `None` for another function.
pub(crate) fn combine(body: &Body, region: RegionId) -> Option<Combine> {
    let block = &body.blocks[body.single_block(region)?];
    let [left, right] = block.arguments.as_slice() else {
        return None;
    };
    let [compute, ret] = block.ops.as_slice() else {
        return None;
    };
    let (compute, ret) = (&body.ops[*compute], &body.ops[*ret]);
    let is_return = matches!(ret.op, Op::Control(Control::Return)) && ret.operands == compute.results;
    let operands = compute.operands.as_slice();
    let takes_both = operands == [*left, *right] || operands == [*right, *left];
    let Op::Binary(binary) = &compute.op else {
        return None;
    };
    (is_return && takes_both).then(|| combine_of(binary))?
}

const fn combine_of(op: &Binary) -> Option<Combine> {
    match op {
        Binary::Add => Some(Combine::Add),
        Binary::Multiply => Some(Combine::Multiply),
        Binary::Maximum => Some(Combine::Maximum),
        Binary::Minimum => Some(Combine::Minimum),
        Binary::And => Some(Combine::And),
        Binary::Or => Some(Combine::Or),
        Binary::Xor => Some(Combine::Xor),
        Binary::Atan2
        | Binary::Divide
        | Binary::Power
        | Binary::Remainder
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Subtract => None,
    }
}

/// A region as a kernel over as many elements of each of its arguments as there are: its inputs are the arguments, its outputs
/// what it returns. `None` for a region that does more than to compute elements of its own arguments.
pub(crate) fn kernel(body: &Body, region: RegionId) -> Option<Kernel> {
    let block = &body.blocks[body.single_block(region)?];
    let (ret, ops) = block.ops.split_last()?;
    let mut making = Making::of_arguments(body, block)?;
    for id in ops {
        making.operation(body, &body.ops[*id])?;
    }
    let ret = &body.ops[*ret];
    matches!(ret.op, Op::Control(Control::Return)).then_some(())?;
    making.finish(&ret.operands)
}

/// A kernel in the making, and the values of the region in it.
struct Making {
    kernel: Kernel,
    values: HashMap<ValueId, InstrId>,
}

impl Making {
    fn of_arguments(body: &Body, block: &Block) -> Option<Self> {
        let mut making = Self {
            kernel: Kernel {
                parallel: 1,
                inner: 0,
                columns: Columns::Together,
                inputs: Vec::new(),
                body: Vec::new(),
                outputs: Vec::new(),
            },
            values: HashMap::new(),
        };
        for (number, argument) in block.arguments.iter().enumerate() {
            let element = element(body, *argument)?;
            making.kernel.inputs.push(Input {
                element,
                kind: InputKind::Array,
                level: Level::Row,
            });
            let value = making.push(InstrKind::Input(number as u32), element);
            making.values.insert(*argument, value);
        }
        Some(making)
    }

    fn push(&mut self, kind: InstrKind, element: ElementType) -> InstrId {
        let level = Level::Row;
        self.kernel.body.push(Instr { kind, element, level });
        InstrId::from_index(self.kernel.body.len() as u32 - 1)
    }

    fn apply(&mut self, op: Op, operands: Vec<InstrId>, element: ElementType) -> InstrId {
        self.push(InstrKind::Apply { op, operands }, element)
    }

    fn operation(&mut self, body: &Body, op: &Operation) -> Option<()> {
        let [result] = op.results[..] else { return None };
        let element = element(body, result)?;
        let operands = op.operands.iter().map(|id| self.values.get(id).copied());
        let operands: Vec<InstrId> = operands.collect::<Option<_>>()?;
        let value = match &op.op {
            Op::Creation(Creation::Constant(constant)) => {
                let bytes = constant.value.uniform()?.to_vec();
                self.push(InstrKind::Constant(bytes), element)
            }
            Op::Elementwise(Elementwise::Clamp) => {
                let [low, value, high] = operands[..] else {
                    return None;
                };
                let raised = self.apply(Op::Binary(Binary::Maximum), vec![value, low], element);
                self.apply(Op::Binary(Binary::Minimum), vec![raised, high], element)
            }
            other if is_elementwise(body, op) => self.apply(other.clone(), operands, element),
            _ => return None,
        };
        self.values.insert(result, value);
        Some(())
    }

    fn finish(mut self, returned: &[ValueId]) -> Option<Kernel> {
        for id in returned {
            let value = *self.values.get(id)?;
            self.kernel.outputs.push(Output {
                value,
                element: self.kernel.body[value.index()].element,
                level: Level::Row,
            });
        }
        Some(self.kernel)
    }
}

/// The type of an element that is alone.
fn element(body: &Body, id: ValueId) -> Option<ElementType> {
    let ty = body.ty(id).as_tensor()?;
    (ty.rank() == 0).then(|| ty.element.as_plain())?
}
