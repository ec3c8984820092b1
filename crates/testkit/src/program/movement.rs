//! Data movement that depends on shapes.

use artifact_ir::op::{
    Broadcast, Concatenate, DimensionSize, DynamicSlice, Pad, Reverse, Shape, Slice, Transpose,
};
use artifact_ir::types::{Dim, ElementType, TensorType};

use super::draft::{Draft, Made};
use super::facts::Facts;
use super::shapes::INDICES;
use super::value::Known;
use crate::choices::Choices;

/// A value repeated along new dimensions, and along those of size 1.
pub(super) fn broadcast(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|known| known.rank() <= 3) else {
        return Ok(());
    };
    let mut dims: Vec<Dim> = operand.ty.dims.to_vec();
    let mut positions: Vec<i64> = (0..dims.len() as i64).collect();
    for dim in &mut dims {
        if *dim == Dim::Static(1) && draft.choices.flip() {
            *dim = new_size(draft);
        }
    }
    for _ in 0..=draft.choices.below(4 - operand.rank()) {
        let at = draft.choices.below(dims.len() + 1);
        dims.insert(at, new_size(draft));
        for position in &mut positions {
            *position += i64::from(*position >= at as i64);
        }
    }
    let ty = TensorType::new(dims, operand.element());
    if !draft.may_make(&ty) {
        return Ok(());
    }
    let leads = positions
        .iter()
        .rev()
        .zip((0..ty.rank() as i64).rev())
        .all(|(a, b)| *a == b);
    let keeps = operand
        .ty
        .dims
        .iter()
        .rev()
        .zip(ty.dims.iter().rev())
        .all(|(a, b)| a == b);
    let new = &ty.dims[..ty.rank() - operand.rank()];
    let sizes: Option<Vec<i64>> = new
        .iter()
        .map(|dim| dim.as_static().map(|size| size as i64))
        .collect();
    if let (true, true, Some(broadcast_sizes)) = (leads, keeps, sizes)
        && draft.choices.flip()
    {
        let op = Shape::Broadcast(Broadcast { broadcast_sizes });
        return draft.add(op, &[&operand], operand.facts).map(drop);
    }
    let repeated = draft.spread(&operand, &positions, ty)?;
    draft.values.push(repeated);
    Ok(())
}

fn new_size(draft: &Draft<'_, '_>) -> Dim {
    let open: Vec<Dim> = draft
        .values
        .iter()
        .flat_map(|known| known.ty.dims.iter())
        .filter(|dim| !dim.is_static())
        .cloned()
        .collect();
    match draft.choices.below(3) {
        1 if !open.is_empty() => draft.choices.pick(&open).clone(),
        2 => Dim::Static(*draft.choices.pick(&[17, 33, 64, 65, 130])),
        _ => Dim::Static(*draft.choices.pick(&[2, 1, 3, 4, 5, 7, 8])),
    }
}

/// The same elements in another shape.
pub(super) fn reshape(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|_| true) else {
        return Ok(());
    };
    let mut dims: Vec<Dim> = operand.ty.dims.to_vec();
    for _ in 0..=draft.choices.below(3) {
        let choice = draft.choices.below(3);
        if choice == 0 && dims.len() >= 2 {
            let at = draft.choices.below(dims.len() - 1);
            let (left, right) = (dims[at].expression(), dims[at + 1].expression());
            if let Some(Ok(product)) = left.zip(right).map(|(left, right)| left.mul(&right)) {
                dims.splice(at..at + 2, [Dim::from(product)]);
            }
        } else if choice == 1 && !dims.is_empty() {
            let at = draft.choices.below(dims.len());
            if let Some((first, second)) = dims[at].as_static().and_then(|size| factors(draft.choices, size))
            {
                dims.splice(at..=at, [Dim::Static(first), Dim::Static(second)]);
            }
        } else if dims.len() < 4 {
            dims.insert(draft.choices.below(dims.len() + 1), Dim::Static(1));
        }
    }
    if dims.len() > 5 {
        return Ok(());
    }
    let ty = TensorType::new(dims, operand.element());
    if ty.is_static() && !draft.choices.once_in(8) {
        return draft
            .add_typed(Shape::Reshape, &[&operand], ty, operand.facts)
            .map(drop);
    }
    let open = ty.dims.iter().filter(|dim| !dim.is_static());
    if !open
        .clone()
        .all(|dim| draft.values.iter().any(|known| known.ty.dims.contains(dim)))
    {
        return Ok(());
    }
    let shape = draft.shape_operand(&ty)?;
    draft
        .add_typed(Shape::DynamicReshape, &[&operand, &shape], ty, operand.facts)
        .map(drop)
}

fn factors(choices: &Choices, size: u64) -> Option<(u64, u64)> {
    let first: Vec<u64> = [2, 3, 5, 4, 8, 13]
        .into_iter()
        .filter(|by| size > 0 && size.is_multiple_of(*by))
        .collect();
    if first.is_empty() {
        return None;
    }
    let by = *choices.pick(&first);
    Some(if choices.flip() {
        (size / by, by)
    } else {
        (by, size / by)
    })
}

/// Dimensions in another order.
pub(super) fn permutation(choices: &Choices, rank: usize) -> Vec<i64> {
    let mut left: Vec<i64> = (0..rank as i64).rev().collect();
    (0..rank)
        .map(|_| left.remove(choices.below(left.len())))
        .collect()
}

pub(super) fn transpose(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|known| known.rank() >= 2) else {
        return Ok(());
    };
    let permutation = permutation(draft.choices, operand.rank());
    let op = Shape::Transpose(Transpose { permutation });
    draft.add(op, &[&operand], operand.facts).map(drop)
}

pub(super) fn reverse(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|known| known.rank() >= 1) else {
        return Ok(());
    };
    let dimensions = some_of(draft.choices, operand.rank());
    let op = Shape::Reverse(Reverse { dimensions });
    draft.add(op, &[&operand], operand.facts).map(drop)
}

/// Some of the dimensions, in order; mostly at least one.
pub(super) fn some_of(choices: &Choices, rank: usize) -> Vec<i64> {
    let mut some: Vec<i64> = (0..rank as i64).filter(|_| choices.flip()).collect();
    if some.is_empty() && rank > 0 && !choices.once_in(12) {
        some.push(choices.below(rank) as i64);
    }
    some
}

/// Bounds of a part of a dimension: its start, its end and the step.
fn part(choices: &Choices, size: u64) -> [i64; 3] {
    let start = choices.below(size.min(5) as usize + 1) as u64;
    let length = (size - start) as usize;
    let limit = size - choices.below(length.min(9) + 1) as u64;
    [start as i64, limit as i64, *choices.pick(&[1, 2, 3, 1, 7])]
}

/// A strided part.
pub(super) fn slice(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.choices.once_in(5) {
        return real_dynamic_slice(draft);
    }
    let Some(operand) = draft.find(|known| known.ty.is_static()) else {
        return Ok(());
    };
    let parts: Vec<[i64; 3]> = operand
        .shape()
        .iter()
        .map(|size| part(draft.choices, *size))
        .collect();
    let column = |at: usize| parts.iter().map(|part| part[at]).collect();
    let op = Shape::Slice(Box::new(Slice {
        start_indices: column(0),
        limit_indices: column(1),
        strides: column(2),
    }));
    draft.add(op, &[&operand], operand.facts).map(drop)
}

/// A part of which the bounds are operands: open sizes are taken whole.
fn real_dynamic_slice(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|known| known.rank() >= 1) else {
        return Ok(());
    };
    let (mut starts, mut strides, mut limits, mut dims) = (vec![], vec![], vec![], vec![]);
    for dim in &operand.ty.dims {
        let Some(size) = dim.as_static() else {
            starts.push(0);
            strides.push(1);
            limits.push(dim.clone());
            dims.push(dim.clone());
            continue;
        };
        let [start, limit, stride] = part(draft.choices, size);
        starts.push(start);
        strides.push(stride);
        limits.push(Dim::Static(limit.unsigned_abs()));
        dims.push(Dim::Static(((limit - start) as u64).div_ceil(stride as u64)));
    }
    let element = operand.element();
    let limits = TensorType::new(limits, element);
    let limits_operand = draft.shape_operand(&limits)?;
    let wide = TensorType::of_static(&[operand.rank() as u64], ElementType::I64);
    let limits = match limits_operand.element() {
        ElementType::I64 => limits_operand,
        _ => {
            let convert = artifact_ir::op::Elementwise::Convert;
            draft.add_typed(convert, &[&limits_operand], wide, Facts::of(ElementType::I64))?
        }
    };
    let (starts, strides) = (draft.numbers(&starts)?, draft.numbers(&strides)?);
    let ty = TensorType::new(dims, element);
    let operands = [&operand, &starts, &limits, &strides];
    draft
        .add_typed(Shape::RealDynamicSlice, &operands, ty, operand.facts)
        .map(drop)
}

/// Start indices of a slice, some of which are out of range.
fn starts(draft: &mut Draft<'_, '_>, rank: usize) -> Made<Vec<Known>> {
    let element = *draft.choices.pick(INDICES);
    let mut starts = Vec::new();
    for _ in 0..rank {
        let found = match draft.choices.once_in(3) {
            true => draft.find(|known| known.element() == element && known.rank() == 0),
            false => None,
        };
        starts.push(match found {
            Some(found) => found,
            None => {
                let lowest = if element.is_signed_integer() { 3.0 } else { 0.0 };
                let number = *draft.choices.pick(&[0.0, 1.0, 2.0, 5.0, 100.0, -3.0]);
                draft.scalar(element, f64::max(number, -lowest))?
            }
        });
    }
    Ok(starts)
}

/// The size of a part, dimension by dimension.
fn slice_sizes(draft: &Draft<'_, '_>, operand: &Known) -> Vec<u64> {
    operand
        .shape()
        .iter()
        .map(|size| match draft.choices.flip() {
            true => *size,
            false => draft.choices.below(*size as usize + 1) as u64,
        })
        .collect()
}

pub(super) fn dynamic_slice(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|known| known.ty.is_static()) else {
        return Ok(());
    };
    let sizes = slice_sizes(draft, &operand);
    let starts = starts(draft, operand.rank())?;
    let op = Shape::DynamicSlice(DynamicSlice {
        slice_sizes: sizes.iter().map(|size| *size as i64).collect(),
    });
    let operands: Vec<&Known> = std::iter::once(&operand).chain(&starts).collect();
    draft.add(op, &operands, operand.facts).map(drop)
}

pub(super) fn dynamic_update_slice(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|known| known.ty.is_static()) else {
        return Ok(());
    };
    let element = operand.element();
    let (rank, shape) = (operand.rank(), operand.shape());
    let fits = |known: &Known| {
        known.element() == element
            && known.ty.is_static()
            && known.rank() == rank
            && known
                .shape()
                .iter()
                .zip(&shape)
                .all(|(part, whole)| part <= whole)
    };
    let update = match draft.find(fits) {
        Some(update) => update,
        None => {
            let sizes = slice_sizes(draft, &operand);
            draft.fresh(&sizes, element)?
        }
    };
    let starts = starts(draft, rank)?;
    let facts = operand.facts.or(&update.facts);
    let operands: Vec<&Known> = [&operand, &update].into_iter().chain(&starts).collect();
    draft.add(Shape::DynamicUpdateSlice, &operands, facts).map(drop)
}

/// Padding on both sides and between elements, negative amounts included.
pub(super) fn pad(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|_| true) else {
        return Ok(());
    };
    let element = operand.element();
    let value = match draft.choices.once_in(3) {
        true => draft.find(|known| known.rank() == 0 && known.element() == element),
        false => None,
    };
    let value = match value {
        Some(value) => value,
        None => draft.scalar(element, f64::from(u8::from(draft.choices.flip())))?,
    };
    let (mut low, mut high, mut interior, mut dims) = (vec![], vec![], vec![], vec![]);
    for dim in &operand.ty.dims {
        let size = dim.as_static();
        let amounts = [
            *draft.choices.pick(&[0, 1, 2, -1, 5]),
            *draft.choices.pick(&[0, 1, 3, -1, -2]),
            *draft.choices.pick(&[0, 0, 1, 2]),
        ];
        // Of an open size nothing is taken away.
        let padded = size.map_or(0, |size| {
            size as i64 + amounts[0] + amounts[1] + (size as i64 - 1).max(0) * amounts[2]
        });
        let amounts = match size {
            None if amounts[0] < 0 || amounts[1] < 0 => [0, 0, amounts[2]],
            Some(_) if padded < 0 => [0, 0, 0],
            _ => amounts,
        };
        low.push(amounts[0]);
        high.push(amounts[1]);
        interior.push(amounts[2]);
        dims.push(size.map_or(i64::MAX, |size| {
            size as i64 + amounts[0] + amounts[1] + (size as i64 - 1).max(0) * amounts[2]
        }));
    }
    let is_static = operand.ty.is_static();
    let count: i64 = dims
        .iter()
        .fold(1, |count: i64, size| count.saturating_mul(*size));
    let sizes_open = operand
        .ty
        .dims
        .iter()
        .filter_map(|dim| draft.setting.size(dim))
        .product::<u64>()
        * 27;
    if is_static && count > draft.setting.elements_max as i64
        || !is_static && sizes_open > 4 * draft.setting.elements_max
    {
        return Ok(());
    }
    let facts = operand.facts.or(&value.facts);
    if is_static && draft.choices.once_in(6) {
        let shape: Vec<u64> = dims.iter().map(|size| size.unsigned_abs()).collect();
        let lists = [
            draft.numbers(&low)?,
            draft.numbers(&high)?,
            draft.numbers(&interior)?,
        ];
        let operands = [&operand, &value, &lists[0], &lists[1], &lists[2]];
        let ty = TensorType::of_static(&shape, element);
        return draft.add_typed(Shape::DynamicPad, &operands, ty, facts).map(drop);
    }
    let op = Shape::Pad(Box::new(Pad {
        edge_padding_low: low,
        edge_padding_high: high,
        interior_padding: interior,
    }));
    draft.add(op, &[&operand, &value], facts).map(drop)
}

/// Values joined along a dimension.
pub(super) fn concatenate(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(first) = draft.find(|known| known.rank() >= 1) else {
        return Ok(());
    };
    let dimension = draft.choices.below(first.rank());
    let fits = |known: &Known| {
        let others = |known: &Known| {
            let mut dims = known.ty.dims.to_vec();
            dims[dimension] = Dim::Static(0);
            dims
        };
        known.element() == first.element() && known.rank() == first.rank() && others(known) == others(&first)
    };
    let mut operands = vec![first.clone()];
    for _ in 0..draft.choices.below(4) {
        operands.extend(draft.find(fits));
    }
    let total: u64 = operands
        .iter()
        .filter_map(|operand| draft.setting.count(&operand.ty))
        .sum();
    if total > draft.setting.elements_max {
        return Ok(());
    }
    let facts = operands
        .iter()
        .fold(first.facts, |facts, operand| facts.or(&operand.facts));
    let op = Shape::Concatenate(Concatenate {
        dimension: dimension as i64,
    });
    let operands: Vec<&Known> = operands.iter().collect();
    draft.add(op, &operands, facts).map(drop)
}

/// The size of a dimension as a value.
pub(super) fn dimension_size(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = draft.find(|known| known.rank() >= 1) else {
        return Ok(());
    };
    let dimension = draft.choices.below(operand.rank()) as i64;
    let op = Shape::GetDimensionSize(DimensionSize { dimension });
    draft.add(op, &[&operand], Facts::of(ElementType::I32)).map(drop)
}

/// A new array: a constant or positions.
pub(super) fn creation(draft: &mut Draft<'_, '_>) -> Made<()> {
    let element = super::shapes::element(draft.choices);
    let shape = super::shapes::shape(draft.choices, draft.setting, 4);
    draft.fresh(&shape, element).map(drop)
}
