//! `chlo.scan`.

use std::sync::Arc;

use artifact_ir::op::ChloScan;
use artifact_ir::types::{Dim, TensorType};

use super::axes::{axis, check_same, check_shape, offsets, strides};
use super::region::call;
use crate::error::EvalError;
use crate::tensor::{Tensor, shape_of};
use crate::value::ApplyRegion;

/// ODS, `chlo.scan`: for each position along the dimension, the body takes a slice of each input and the carries, and returns
/// a slice of each output and the next carries. Outputs come before the final carries.
pub(super) fn scan(
    op: &ChloScan,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let (inputs, inits) = segments(
        operands,
        op.operand_segment_sizes.as_deref(),
        "operand_segment_sizes",
    )?;
    let (outputs, finals) = segments(types, op.result_segment_sizes.as_deref(), "result_segment_sizes")?;
    check_same(
        "the numbers of initial values and final carries",
        &[inits.len()],
        &[finals.len()],
    )?;
    let steps = steps(op, inputs, outputs)?;
    let slice_types: Vec<_> = inputs
        .iter()
        .map(|input| without(input.ty(), op.dimension))
        .collect::<Result<_, _>>()?;

    let mut carries = inits.to_vec();
    let mut slices: Vec<Vec<Tensor>> = vec![Vec::new(); steps];
    for step in 0..steps {
        let at = if op.is_reverse { steps - 1 - step } else { step };
        let mut arguments = Vec::with_capacity(operands.len());
        for (input, ty) in inputs.iter().zip(&slice_types) {
            arguments.push(slice(input, ty, op.dimension, at)?);
        }
        arguments.append(&mut carries);
        let mut values = call(apply, 0, &arguments, types.len())?;
        carries = values.split_off(outputs.len());
        slices[at] = values;
    }
    let mut results = Vec::with_capacity(types.len());
    for (number, ty) in outputs.iter().enumerate() {
        results.push(stack(
            ty,
            op.dimension,
            slices.iter().map(|values| &values[number]),
        )?);
    }
    results.extend(carries);
    Ok(results)
}

/// The two segments of a list: their sizes are an attribute.
fn segments<'a, T>(
    items: &'a [T],
    sizes: Option<&[i32]>,
    name: &str,
) -> Result<(&'a [T], &'a [T]), EvalError> {
    let split = sizes.and_then(|sizes| match sizes {
        [first, second] => Some((usize::try_from(*first).ok()?, usize::try_from(*second).ok()?)),
        _ => None,
    });
    match split {
        Some((first, second)) if first.checked_add(second) == Some(items.len()) => Ok(items.split_at(first)),
        _ => Err(EvalError::invalid_input(format!(
            "{name} must be two sizes that add up to {}",
            items.len()
        ))),
    }
}

/// Number of steps: the size of the dimension, which the attribute, the inputs or the outputs tell.
fn steps(op: &ChloScan, inputs: &[Tensor], outputs: &[Arc<TensorType>]) -> Result<usize, EvalError> {
    let mut sizes = Vec::new();
    if let Some(size) = op.scan_dim_size {
        sizes.push(usize::try_from(size).map_err(|_| EvalError::invalid_input("scan_dim_size is negative"))?);
    }
    for shape in inputs
        .iter()
        .map(Tensor::shape)
        .chain(outputs.iter().map(|ty| shape_of(ty)))
    {
        sizes.push(shape[axis(op.dimension, shape.len())?]);
    }
    for size in &sizes {
        check_same("the sizes of the scanned dimension", &sizes[..1], &[*size])?;
    }
    sizes
        .first()
        .copied()
        .ok_or_else(|| EvalError::invalid_input("nothing tells the number of steps"))
}

/// A type without one of its dimensions.
fn without(ty: &TensorType, dimension: i64) -> Result<Arc<TensorType>, EvalError> {
    let dim = axis(dimension, ty.rank())?;
    let kept = ty.dims.iter().enumerate().filter(|(index, _)| *index != dim);
    let kept: Box<[Dim]> = kept.map(|(_, size)| size.clone()).collect();
    Ok(Arc::new(TensorType::new(kept, ty.element.clone())))
}

/// The slice of a tensor at a position along a dimension, without that dimension.
fn slice(tensor: &Tensor, ty: &Arc<TensorType>, dimension: i64, at: usize) -> Result<Tensor, EvalError> {
    let shape = tensor.shape();
    let dim = axis(dimension, shape.len())?;
    let all = strides(&shape);
    let kept = [&all[..dim], &all[dim + 1..]].concat();
    let mut places = offsets(&shape_of(ty), &kept);
    Ok(Tensor::from_positions(Arc::clone(ty), tensor, |_| {
        places.next().map_or(0, |place| place + at * all[dim])
    })?)
}

/// A tensor of slices, one for each position along a dimension.
fn stack<'a>(
    ty: &Arc<TensorType>,
    dimension: i64,
    slices: impl Iterator<Item = &'a Tensor>,
) -> Result<Tensor, EvalError> {
    let slice_type = without(ty, dimension)?;
    let dim = axis(dimension, ty.rank())?;
    let slices: Vec<&Tensor> = slices.collect();
    for slice in &slices {
        check_shape(&slice_type, &slice.shape())?;
    }
    let shape = shape_of(ty);
    let mut within = strides(&shape_of(&slice_type));
    within.insert(dim, 0);
    let mut along = vec![0; shape.len()];
    along[dim] = 1;
    let mut places = offsets(&shape, &along).zip(offsets(&shape, &within));
    let zero = crate::scalar::Scalar::zero(ty.element.storage().class());
    Ok(Tensor::from_fn(Arc::clone(ty), |_| {
        places
            .next()
            .map_or(zero, |(step, element)| slices[step].get(element))
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{ints, show};

    fn check(dimension: i64, is_reverse: bool, input: &Tensor, init: &Tensor, expected: [&str; 2]) {
        let op = ChloScan {
            dimension,
            scan_dim_size: None,
            is_reverse,
            is_associative: None,
            operand_segment_sizes: Some(vec![1, 1]),
            result_segment_sizes: Some(vec![1, 1]),
        };
        let mut add = |_: usize, arguments: &[Tensor]| {
            let sum =
                |at: usize| arguments[0].get(at).as_int().unwrap() + arguments[1].get(at).as_int().unwrap();
            let sums: Vec<i64> = (0..arguments[0].len()).map(|at| sum(at) as i64).collect();
            let shape: Vec<u64> = arguments[0].shape().iter().map(|size| *size as u64).collect();
            Ok(vec![ints(&shape, &sums); 2])
        };
        let types = [Arc::clone(input.ty()), Arc::clone(init.ty())];
        let results = scan(&op, &[input.clone(), init.clone()], &types, &mut add).unwrap();
        assert_eq!([show(&results[0]), show(&results[1])], expected);
    }

    #[test]
    fn cumulative_sums() {
        let matrix = ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        check(
            0,
            false,
            &ints(&[4], &[1, 2, 3, 4]),
            &ints(&[], &[0]),
            ["1 3 6 10", "10"],
        );
        check(
            0,
            true,
            &ints(&[4], &[1, 2, 3, 4]),
            &ints(&[], &[5]),
            ["15 14 12 9", "15"],
        );
        check(
            1,
            false,
            &matrix,
            &ints(&[2], &[0, 10]),
            ["1 3 6 14 19 25", "6 25"],
        );
        check(
            0,
            false,
            &matrix,
            &ints(&[3], &[0, 0, 0]),
            ["1 2 3 5 7 9", "5 7 9"],
        );
        check(0, false, &ints(&[0], &[]), &ints(&[], &[7]), ["", "7"]);
    }
}
