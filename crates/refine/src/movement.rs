//! Small tensors that are moved: the element of the operand that each element of the result is.

use artifact_ir::op::{Creation, Op, Shape};
use artifact_ir::types::TensorType;

use crate::fact::Fact;
use crate::known::{Element, Known};

/// The elements of the result of an operation that moves elements or counts positions.
pub(crate) fn moved(op: &Op, operands: &[Fact], result: &TensorType) -> Option<Known> {
    let to = shape_of(result)?;
    match op {
        Op::Creation(Creation::Iota(iota) | Creation::DynamicIota(iota)) => {
            let dimension = usize::try_from(iota.iota_dimension).ok()?;
            each(&to, |index| Some(Element::number(*index.get(dimension)? as i64)))
        }
        Op::Shape(op) => shape(op, operands, &to),
        _ => None,
    }
}

fn shape(op: &Shape, operands: &[Fact], to: &[usize]) -> Option<Known> {
    let operand = operands.first()?;
    if let Shape::Concatenate(op) = op {
        return concatenated(operands, usize::try_from(op.dimension).ok()?, to);
    }
    let elements = operand.known.as_ref()?;
    let from = shape_of(operand.ty.as_tensor()?)?;
    let taken = |position: &dyn Fn(usize, usize) -> Option<usize>, map: &[usize]| {
        each(to, |index| {
            let along = |dimension: usize| position(dimension, *index.get(*map.get(dimension)?)?);
            let at: Vec<usize> = (0..from.len()).map(along).collect::<Option<_>>()?;
            elements.get(position_of(&at, &from)?).cloned()
        })
    };
    let same: Vec<usize> = (0..from.len()).collect();
    match op {
        Shape::Reshape | Shape::DynamicReshape => {
            (elements.len() == to.iter().product::<usize>()).then(|| elements.clone())
        }
        Shape::Broadcast(_) => {
            let added = to.len().checked_sub(from.len())?;
            taken(
                &|_, at| Some(at),
                &same.iter().map(|dim| dim + added).collect::<Vec<_>>(),
            )
        }
        Shape::BroadcastInDim(op) => broadcast(&op.broadcast_dimensions, &from, taken),
        Shape::DynamicBroadcastInDim(op) => broadcast(&op.broadcast_dimensions, &from, taken),
        Shape::Transpose(op) => {
            let place = |dim: &usize| op.permutation.iter().position(|from| *from == *dim as i64);
            taken(
                &|_, at| Some(at),
                &same.iter().map(place).collect::<Option<Vec<_>>>()?,
            )
        }
        Shape::Reverse(op) => {
            let reversed = |dim: usize, at: usize| {
                if op.dimensions.contains(&(dim as i64)) {
                    from[dim].checked_sub(1)?.checked_sub(at)
                } else {
                    Some(at)
                }
            };
            taken(&reversed, &same)
        }
        Shape::Slice(op) => taken(&strided(&op.start_indices, &op.strides), &same),
        Shape::RealDynamicSlice => {
            let (starts, strides) = (operands.get(1)?.numbers()?, operands.get(3)?.numbers()?);
            taken(&strided(&starts, &strides), &same)
        }
        Shape::DynamicSlice(op) => {
            let starts: Vec<i64> = operands[1..]
                .iter()
                .map(|start| start.numbers()?.first().copied())
                .collect::<Option<_>>()?;
            // Starts are clamped so that the slice fits (spec, "dynamic_slice").
            let clamped = starts.iter().zip(&op.slice_sizes).zip(&from);
            let clamped: Vec<i64> = clamped
                .map(|((start, size), dim)| (*start).clamp(0, (*dim as i64 - size).max(0)))
                .collect();
            taken(&strided(&clamped, &vec![1; from.len()]), &same)
        }
        _ => None,
    }
}

fn broadcast(
    dimensions: &[i64],
    from: &[usize],
    taken: impl Fn(&dyn Fn(usize, usize) -> Option<usize>, &[usize]) -> Option<Known>,
) -> Option<Known> {
    let map: Vec<usize> = dimensions
        .iter()
        .map(|dim| usize::try_from(*dim).ok())
        .collect::<Option<_>>()?;
    taken(&|dim, at| Some(if from[dim] == 1 { 0 } else { at }), &map)
}

fn strided<'a>(starts: &'a [i64], strides: &'a [i64]) -> impl Fn(usize, usize) -> Option<usize> + 'a {
    move |dim, at| {
        let step = i64::try_from(at).ok()?.checked_mul(*strides.get(dim)?)?;
        usize::try_from(starts.get(dim)?.checked_add(step)?).ok()
    }
}

fn concatenated(operands: &[Fact], along: usize, to: &[usize]) -> Option<Known> {
    let parts: Vec<(Vec<usize>, &Known)> = operands
        .iter()
        .map(|operand| Some((shape_of(operand.ty.as_tensor()?)?, operand.known.as_ref()?)))
        .collect::<Option<_>>()?;
    each(to, |index| {
        let mut at = index.to_vec();
        for (shape, elements) in &parts {
            let size = *shape.get(along)?;
            if at[along] < size {
                return elements.get(position_of(&at, shape)?).cloned();
            }
            at[along] -= size;
        }
        None
    })
}

/// Sizes that are numbers.
fn shape_of(ty: &TensorType) -> Option<Vec<usize>> {
    ty.dims
        .iter()
        .map(|dim| usize::try_from(dim.as_static()?).ok())
        .collect()
}

fn position_of(index: &[usize], shape: &[usize]) -> Option<usize> {
    let mut position = 0;
    for (at, size) in index.iter().zip(shape) {
        if at >= size {
            return None;
        }
        position = position * size + at;
    }
    Some(position)
}

/// The elements of a shape by index, in row-major order.
fn each(shape: &[usize], element: impl Fn(&[usize]) -> Option<Element>) -> Option<Known> {
    let count: usize = shape.iter().product();
    let mut index = vec![0; shape.len()];
    let mut elements = Vec::with_capacity(count);
    for _ in 0..count {
        elements.push(element(&index)?);
        for dim in (0..shape.len()).rev() {
            index[dim] += 1;
            if index[dim] < shape[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
    Some(elements.into())
}
