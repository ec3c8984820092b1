//! Regions: those that say one operation, and those that were compiled.

use artifact_cpu_routine::combine::{Combine, Combiner};
use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::window::Direction;
use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::module::{Block, Body, Operation, RegionId, ValueId};
use artifact_ir::op::{Binary, Control, Elementwise, Op};
use artifact_ir::types::ElementType;

use super::function::Function;
use super::{Hands, Site};
use crate::error::CpuError;

/// How a region combines accumulators with elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Combination {
    /// One array, by an operation.
    Operation(Combine),
    /// One array or several, by a function that was compiled: accumulators first, then as many elements.
    Function(Function),
}

impl Combination {
    /// What the region of an operation does with arrays of these types; `None` where the evaluator has to do it.
    pub(super) fn of(site: &Site<'_>, region: usize, elements: &[ElementType]) -> Option<Self> {
        if let [element] = elements
            && let Some(operation) = combine(site.body, *site.op.regions.get(region)?, *element)
        {
            return Some(Self::Operation(operation));
        }
        let arguments = elements.repeat(2);
        site.function(region, &arguments, elements).map(Self::Function)
    }

    /// Passes it on as routines take it.
    pub(super) fn with<'a, T>(
        self,
        hands: Hands<'a>,
        run: impl FnOnce(&Combiner<'_>, Hands<'a>) -> Result<T, RoutineError>,
    ) -> Result<T, CpuError> {
        match self {
            Self::Operation(operation) => Ok(run(&Combiner::Each(&[operation]), hands)?),
            Self::Function(function) => {
                let missing = || CpuError::module("a kernel is missing");
                let function = function.ready(&hands).ok_or_else(missing)?;
                let together = |to: &[*mut u8], from: &[*const u8], count: usize| {
                    let own = to.iter().map(|to| to.cast_const());
                    // SAFETY: routines pass as many pointers as there are arrays, of the types that were compared.
                    unsafe { function.call(own.chain(from.iter().copied()), to, count) }
                };
                Ok(run(&Combiner::Together(&together), hands)?)
            }
        }
    }
}

/// The only block of a region, and what it returns.
fn block(body: &Body, region: RegionId) -> Option<(&Block, &[ValueId])> {
    let block = &body.blocks[body.single_block(region)?];
    let ret = &body.ops[*block.ops.last()?];
    matches!(ret.op, Op::Control(Control::Return)).then_some((block, ret.operands.as_slice()))
}

/// How a region with arguments `(accumulator, element)` combines them, where that is one operation on elements of a type.
fn combine(body: &Body, region: RegionId, element: ElementType) -> Option<Combine> {
    let (block, returned) = block(body, region)?;
    let ([left, right], [result]) = (block.arguments.as_slice(), returned) else {
        return None;
    };
    if result == right {
        return Combine::Replace.supports(element).then_some(Combine::Replace);
    }
    let [compute, _] = block.ops.as_slice() else {
        return None;
    };
    let compute = &body.ops[*compute];
    let both = [[*left, *right], [*right, *left]];
    let takes_both = both.iter().any(|both| compute.operands.as_slice() == both);
    let Op::Binary(binary) = &compute.op else {
        return None;
    };
    let combine = match binary {
        Binary::Add => Combine::Add,
        Binary::Multiply => Combine::Multiply,
        Binary::Maximum => Combine::Maximum,
        Binary::Minimum => Combine::Minimum,
        Binary::And => Combine::And,
        Binary::Or => Combine::Or,
        Binary::Xor => Combine::Xor,
        _ => return None,
    };
    (takes_both && compute.results.as_slice() == returned && combine.supports(element)).then_some(combine)
}

/// How a region compares its first argument with its second.
pub(super) fn direction(body: &Body, region: RegionId) -> Option<Direction> {
    let (block, returned) = block(body, region)?;
    let ([left, right], [compute, _]) = (block.arguments.as_slice(), block.ops.as_slice()) else {
        return None;
    };
    let compute = &body.ops[*compute];
    let Op::Elementwise(Elementwise::Compare(compare)) = &compute.op else {
        return None;
    };
    let plain = compare.compare_type != Some(ComparisonType::TotalOrder);
    if !plain || compute.operands.as_slice() != [*left, *right] || compute.results.as_slice() != returned {
        return None;
    }
    match compare.comparison_direction {
        ComparisonDirection::Ge => Some(Direction::Ge),
        ComparisonDirection::Gt => Some(Direction::Gt),
        ComparisonDirection::Le => Some(Direction::Le),
        ComparisonDirection::Lt => Some(Direction::Lt),
        ComparisonDirection::Eq | ComparisonDirection::Ne => None,
    }
}

/// The operation that makes a value within a region.
pub(super) fn maker(body: &Body, value: ValueId) -> Option<&Operation> {
    match body.values[value].definition {
        artifact_ir::module::Definition::Result { op, .. } => Some(&body.ops[op]),
        artifact_ir::module::Definition::Argument { .. } => None,
    }
}

/// Arguments and returned value of the only region of an operation.
pub(super) fn only<'a>(body: &'a Body, op: &Operation) -> Option<(&'a [ValueId], ValueId)> {
    let [region] = op.regions[..] else { return None };
    let (block, returned) = block(body, region)?;
    let [returned] = returned else { return None };
    Some((&block.arguments, *returned))
}
