//! Control flow, calls and tuples.

use std::cell::RefCell;

use artifact_ir::attribute::{ByteString, ComparisonDirection, NamedAttributes, SymbolRef};
use artifact_ir::builder::RegionBuilder;
use artifact_ir::module::ValueId;
use artifact_ir::op::{Binary, Call, Composite, Control, GetTupleElement, Op};
use artifact_ir::types::{ElementType, Type};

use super::draft::{Draft, Helper, Made, Setting};
use super::elementwise::comparison;
use super::facts::Facts;
use super::value::Known;
use crate::choices::Choices;

/// Regions within regions.
const DEPTH_MAX: usize = 2;

/// What is known of a value that comes out of a loop or a function: its bits are the same everywhere.
pub(super) const EXACT: Facts = Facts {
    any_nan: true,
    ..Facts::ANY
};

/// Where a region begins: what it may use.
#[derive(Clone)]
struct Outside<'d> {
    choices: &'d Choices,
    setting: &'d Setting,
    values: Vec<Known>,
    depth: usize,
}

impl<'d> Outside<'d> {
    fn of(draft: &Draft<'d, '_>) -> Self {
        Self {
            choices: draft.choices,
            setting: draft.setting,
            values: draft.values.clone(),
            depth: draft.depth + 1,
        }
    }

    fn inside<'b, 'm>(self, builder: &'b mut artifact_ir::builder::Builder<'m>) -> Draft<'b, 'm>
    where
        'd: 'b,
    {
        Draft {
            choices: self.choices,
            setting: self.setting,
            builder,
            values: self.values,
            depth: self.depth,
        }
    }
}

/// A few operations.
fn steps(draft: &mut Draft<'_, '_>) -> Made<()> {
    for _ in 0..draft.choices.below(4) {
        super::step(draft)?;
    }
    Ok(())
}

/// A value of the type of another, and of bits that are the same everywhere where that is asked for.
fn like(draft: &Draft<'_, '_>, wanted: &Known, exact: bool) -> Known {
    let found = draft.find(|known| known.ty == wanted.ty && (known.facts.is_exact() || !exact));
    found.unwrap_or_else(|| wanted.clone())
}

/// `if` and `case`: each branch computes values of the types of some that are there.
pub(super) fn branches(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.depth >= DEPTH_MAX {
        return Ok(());
    }
    let Some(first) = draft.find(|_| true) else {
        return Ok(());
    };
    let mut wanted = vec![first];
    if draft.choices.flip() {
        wanted.extend(draft.find(|_| true));
    }
    let (op, selector, count) = match draft.choices.flip() {
        true => {
            let predicate = draft.find(|known| known.element().is_boolean() && known.rank() == 0);
            let predicate = match predicate {
                Some(predicate) => predicate,
                None => draft.fresh(&[], ElementType::I1)?,
            };
            (Control::If, predicate, 2)
        }
        false => {
            let index = draft.find(|known| known.element() == ElementType::I32 && known.rank() == 0);
            let index = match index {
                Some(index) => index,
                None => draft.fresh(&[], ElementType::I32)?,
            };
            (Control::Case, index, 1 + draft.choices.below(3))
        }
    };
    let outside = Outside::of(draft);
    let found = RefCell::new(Vec::new());
    let branch = |_| {
        let (outside, wanted, found) = (outside.clone(), &wanted, &found);
        RegionBuilder::new(Vec::new(), move |builder, _| {
            let mut inside = outside.inside(builder);
            steps(&mut inside)?;
            let returned: Vec<Known> = wanted.iter().map(|wanted| like(&inside, wanted, false)).collect();
            found
                .borrow_mut()
                .push(returned.iter().map(|known| known.facts).collect::<Vec<_>>());
            Ok(returned.iter().map(|known| known.id).collect())
        })
    };
    let regions = (0..count).map(branch).collect();
    let results = draft.builder.op_with_regions(op, &[selector.id], None, regions)?;
    let found = found.into_inner();
    for (at, result) in results.into_iter().enumerate() {
        let facts = found.iter().map(|facts| facts[at]);
        let facts = facts.reduce(|all, next| all.or(&next)).unwrap_or(EXACT);
        draft.keep(result, facts);
    }
    Ok(())
}

/// A loop of a few rounds, over values of bits that are the same everywhere.
pub(super) fn while_loop(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.depth >= DEPTH_MAX {
        return Ok(());
    }
    let exact = |known: &Known| known.facts.is_exact();
    let mut carried: Vec<Known> = draft.find(exact).into_iter().collect();
    if draft.choices.flip() {
        carried.extend(draft.find(exact));
    }
    let counter = *draft
        .choices
        .pick(&[ElementType::I32, ElementType::I64, ElementType::UI8]);
    let start = draft.scalar(counter, 0.0)?;
    let rounds = draft.choices.below(5) as f64;
    let ids: Vec<ValueId> = std::iter::once(start.id)
        .chain(carried.iter().map(|known| known.id))
        .collect();
    let types = || {
        let carried = carried.iter().map(|known| Type::Tensor(known.ty.clone()));
        std::iter::once(Type::tensor(&[], counter))
            .chain(carried)
            .collect::<Vec<_>>()
    };
    let outside = Outside::of(draft);
    let before = outside.clone();
    let condition = RegionBuilder::new(types(), move |builder, arguments| {
        let mut inside = before.inside(builder);
        let end = inside.scalar(counter, rounds)?;
        let less = comparison(ComparisonDirection::Lt, counter, false);
        inside.builder.op(less, &[arguments[0], end.id])
    });
    let wanted = carried.clone();
    let body = RegionBuilder::new(types(), move |builder, arguments| {
        let mut inside = outside.inside(builder);
        let own: Vec<Known> = arguments[1..].iter().map(|id| inside.keep(*id, EXACT)).collect();
        steps(&mut inside)?;
        let one = inside.scalar(counter, 1.0)?;
        let next = inside.builder.op(Binary::Add, &[arguments[0], one.id])?;
        let returned = wanted.iter().zip(&own).map(|(wanted, own)| {
            let found = like(&inside, wanted, true);
            if found.id == wanted.id { own.id } else { found.id }
        });
        Ok(next.into_iter().chain(returned).collect())
    });
    let results = draft
        .builder
        .op_with_regions(Control::While, &ids, None, vec![condition, body])?;
    for result in results {
        draft.keep(result, EXACT);
    }
    Ok(())
}

/// A call of a function, or a composite that says the same.
pub(super) fn call(draft: &mut Draft<'_, '_>) -> Made<()> {
    let setting = draft.setting;
    if setting.helpers.is_empty() {
        return Ok(());
    }
    let Helper {
        name,
        arguments,
        result,
    } = draft.choices.pick(&setting.helpers);
    let mut operands = Vec::new();
    for ty in arguments {
        let found = draft.find(|known| known.ty == *ty && known.facts.is_exact());
        operands.push(match found {
            Some(found) => found.id,
            None => {
                draft
                    .fresh(&ty.static_shape().unwrap_or_default(), ty.element.storage())?
                    .id
            }
        });
    }
    let callee = SymbolRef::flat(name.as_str());
    let op: Op = match draft.choices.once_in(3) {
        true => Control::Composite(Box::new(Composite {
            name: ByteString::from("test.helper"),
            composite_attributes: NamedAttributes::new(),
            decomposition: callee,
            version: 0,
        }))
        .into(),
        false => Control::Call(Call { callee }).into(),
    };
    let results = draft
        .builder
        .op_with_types(op, &operands, &[Type::Tensor(result.clone())])?;
    draft.keep(results[0], EXACT);
    Ok(())
}

/// Values packed and unpacked.
pub(super) fn tuple(draft: &mut Draft<'_, '_>) -> Made<()> {
    let (Some(first), Some(second)) = (draft.find(|_| true), draft.find(|_| true)) else {
        return Ok(());
    };
    let packed = draft.builder.op(Control::Tuple, &[first.id, second.id])?[0];
    let index = draft.choices.below(2);
    let op = Control::GetTupleElement(GetTupleElement { index: index as i32 });
    let id = draft.builder.op(op, &[packed])?[0];
    draft.keep(id, [first, second][index].facts);
    Ok(())
}

/// Values passed on.
pub(super) fn barrier(draft: &mut Draft<'_, '_>) -> Made<()> {
    let count = 1 + draft.choices.below(3);
    let operands: Vec<Known> = (0..count).filter_map(|_| draft.find(|_| true)).collect();
    let ids: Vec<ValueId> = operands.iter().map(|known| known.id).collect();
    let types: Vec<Type> = operands
        .iter()
        .map(|known| Type::Tensor(known.ty.clone()))
        .collect();
    let results = draft
        .builder
        .op_with_types(Control::OptimizationBarrier, &ids, &types)?;
    for (result, operand) in results.into_iter().zip(&operands) {
        draft.keep(result, operand.facts);
    }
    Ok(())
}
