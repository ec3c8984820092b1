//! Rules that relate quantized operands and results (spec, "Quantization" and the constraints of each operation).

use std::sync::Arc;

use crate::types::{Dim, Element, QuantizedType, TensorType};
use crate::verify::context::{OpError, OpResult, ensure};

/// Whether the element is quantized with parameters along an axis.
pub(crate) fn per_axis(tensor: &TensorType) -> Option<(&Arc<QuantizedType>, usize)> {
    let quantized = tensor.element.as_quantized()?;
    Some((quantized, usize::try_from(quantized.axis?).ok()?))
}

/// Whether any of the tensors is quantized.
pub(crate) fn any(tensors: &[&TensorType]) -> bool {
    tensors
        .iter()
        .any(|tensor| tensor.element.as_quantized().is_some())
}

/// `add_c2` to `add_c7`: all are quantized; storage and expressed types agree; the axis of the result is that of each operand that has one.
pub(crate) fn check_add(lhs: &TensorType, rhs: &TensorType, result: &TensorType) -> OpResult<()> {
    let (Element::Quantized(l), Element::Quantized(r), Element::Quantized(o)) =
        (&lhs.element, &rhs.element, &result.element)
    else {
        return Err(OpError::new(format!(
            "expects all operands and results to be either quantized or not, but got '{lhs}', '{rhs}' and '{result}' \
             (C2)"
        )));
    };
    ensure!(
        l.storage == r.storage && l.storage == o.storage,
        "mismatched quantization storage types {}, {} and {} (C3)",
        l.storage,
        r.storage,
        o.storage
    );
    ensure!(
        l.expressed == r.expressed && l.expressed == o.expressed,
        "mismatched quantization expressed types {}, {} and {} (C4)",
        l.expressed,
        r.expressed,
        o.expressed
    );
    let operands = [l.axis, r.axis];
    if operands.iter().all(Option::is_none) {
        ensure!(
            o.axis.is_none(),
            "the result is per-axis quantized, but neither operand is (C5)"
        );
        return Ok(());
    }
    ensure!(
        o.axis.is_some(),
        "the result is not per-axis quantized, but an operand is (C5)"
    );
    for axis in operands.into_iter().flatten() {
        ensure!(
            o.axis == Some(axis),
            "quantization dimension {axis} of an operand is not that of the result, {:?} (C6, C7)",
            o.axis.unwrap_or_default()
        );
    }
    Ok(())
}

/// Data movement keeps quantization parameters: per-tensor types are equal, per-axis ones have the same scales and zero points
/// (`reshape_c1`, `transpose_c1`, `broadcast_in_dim_c1`). Only types of one granularity are compared.
pub(crate) fn check_kept(operand: &TensorType, result: &TensorType) -> OpResult<()> {
    let (Element::Quantized(from), Element::Quantized(to)) = (&operand.element, &result.element) else {
        return Ok(());
    };
    let same = match (from.axis, to.axis) {
        (None, None) => from == to,
        (Some(_), Some(_)) => from.parameters == to.parameters,
        _ => true,
    };
    ensure!(
        same,
        "expects the same quantization scales and zero points, but got '{operand}' and '{result}' (C1)"
    );
    Ok(())
}

/// `check_kept` for per-tensor types only: a broadcast may repeat the parameters of an axis.
pub(crate) fn check_kept_per_tensor(operand: &TensorType, result: &TensorType) -> OpResult<()> {
    match (&operand.element, &result.element) {
        (Element::Quantized(from), Element::Quantized(to)) if from.axis.is_none() && to.axis.is_none() => {
            check_kept(operand, result)
        }
        _ => Ok(()),
    }
}

/// `reshape_c3`: the quantization dimension keeps its size and what comes before it.
pub(crate) fn check_reshape(operand: &TensorType, result: &TensorType) -> OpResult<()> {
    check_kept(operand, result)?;
    let (Some((_, from)), Some((_, to))) = (per_axis(operand), per_axis(result)) else {
        return Ok(());
    };
    ensure!(
        operand.dims[from].compatible(&result.dims[to]),
        "expects the same quantization dimension size, but got '{operand}' and '{result}' (C3)"
    );
    if operand.is_static() && result.is_static() {
        ensure!(
            product(&operand.dims[..from]) == product(&result.dims[..to]),
            "expects the same number of elements before the quantization dimension, but got '{operand}' and '{result}' (C3)"
        );
    }
    Ok(())
}

/// The product of static sizes; `None` when it does not fit.
fn product(dims: &[Dim]) -> Option<u128> {
    dims.iter()
        .filter_map(Dim::as_static)
        .try_fold(1_u128, |product, size| product.checked_mul(u128::from(size)))
}

/// `broadcast_in_dim_c6`: the axis of the result is where the operand's goes, and what is repeated repeats its parameters.
pub(crate) fn check_broadcast(
    operand: &TensorType,
    result: &TensorType,
    positions: &[usize],
) -> OpResult<()> {
    let Some((to, result_axis)) = per_axis(result) else {
        return Ok(());
    };
    let Some((from, operand_axis)) = per_axis(operand) else {
        return Err(OpError::new(format!(
            "the result '{result}' is per-axis quantized, but the operand '{operand}' is not (C1)"
        )));
    };
    ensure!(
        positions.get(operand_axis) == Some(&result_axis),
        "quantization dimension {result_axis} of the result is not broadcast_dimensions[{operand_axis}] (C6)"
    );
    if operand.dims[operand_axis] == Dim::Static(1)
        && let Some(first) = from.parameters.first()
    {
        for (index, pair) in to.parameters.iter().enumerate() {
            ensure!(
                pair == first,
                "quantization parameters {pair} at {index} of the result are not those of the operand, {first} (C6)"
            );
        }
    }
    Ok(())
}

/// `transpose_c4`: the axis of the operand goes to that of the result.
pub(crate) fn check_transpose(
    operand: &TensorType,
    result: &TensorType,
    permutation: &[usize],
) -> OpResult<()> {
    check_kept(operand, result)?;
    let (Some((_, from)), Some((_, to))) = (per_axis(operand), per_axis(result)) else {
        return Ok(());
    };
    ensure!(
        permutation.get(to) == Some(&from),
        "quantization dimension {from} of the operand is not permutation[{to}] = {} (C4)",
        permutation.get(to).copied().unwrap_or_default()
    );
    Ok(())
}

/// Products of a quantized right side (`convolution_c28`, `_c31` to `_c34`, `dot_general_c14`, `_c17` to `_c20`).
pub(crate) fn check_product(lhs: &TensorType, rhs: &TensorType, result: &TensorType) -> OpResult<()> {
    let Element::Quantized(right) = &rhs.element else {
        return Err(OpError::new(format!(
            "expects a quantized right side where another type is quantized, but got '{rhs}'"
        )));
    };
    match (&lhs.element, &result.element) {
        (Element::Quantized(left), Element::Quantized(out)) => {
            ensure!(
                left.storage == right.storage,
                "mismatched quantization storage types {} and {}",
                left.storage,
                right.storage
            );
            ensure!(
                left.expressed == right.expressed && left.expressed == out.expressed,
                "mismatched quantization expressed types {}, {} and {}",
                left.expressed,
                right.expressed,
                out.expressed
            );
            ensure!(
                right.axis.is_some() || out.axis.is_none(),
                "the result is per-axis quantized, but the right side is not"
            );
        }
        (Element::Plain(left), Element::Plain(out)) => ensure!(
            *left == right.expressed && left == out,
            "mismatched expressed type {} of the right side and element types {left} and {out}",
            right.expressed
        ),
        _ => {
            return Err(OpError::new(
                "expects the left side and the result to be both quantized or both not",
            ));
        }
    }
    Ok(())
}
