//! Rules of types themselves (spec, "Types").

use crate::infer::element::Elements;
use crate::types::{Dim, Element, ElementType, Encoding, QuantizedType, TensorType, Type};
use crate::verify::context::{OpError, OpResult, ensure};

/// How deep tuples and futures may nest: far above what programs have, far below what exhausts the stack.
const TYPE_DEPTH_MAX: usize = 64;

/// The largest rank of a tensor: far above what programs have, and small enough for rules that compare all pairs of dimensions.
pub(crate) const RANK_MAX: usize = 1 << 10;

/// Checks a type of a value.
pub(crate) fn check(ty: &Type) -> OpResult<()> {
    check_nested(ty, TYPE_DEPTH_MAX)
}

fn check_nested(ty: &Type, depth: usize) -> OpResult<()> {
    ensure!(depth > 0, "types nest more than {TYPE_DEPTH_MAX} deep");
    match ty {
        Type::Tensor(tensor) | Type::Buffer(tensor) => check_tensor(tensor),
        Type::Tuple(items) => items.iter().try_for_each(|item| check_nested(item, depth - 1)),
        Type::Future(items) => items.iter().try_for_each(check_future_item),
        // Values of these types pass through calls, custom calls and operations that we do not know; no other operation
        // takes them.
        Type::UnrankedTensor(_)
        | Type::Scalar(_)
        | Type::None
        | Type::Token
        | Type::Function(_)
        | Type::Foreign(_) => Ok(()),
    }
}

/// A future holds the results of an operation on tensors (spec, "Types": `FutureType`).
fn check_future_item(item: &Type) -> OpResult<()> {
    match item {
        Type::Tensor(tensor) => check_tensor(tensor),
        other => Err(OpError::new(format!(
            "the element type of a future must be a ranked tensor, but got '{other}'"
        ))),
    }
}

fn check_tensor(tensor: &TensorType) -> OpResult<()> {
    ensure!(
        tensor.rank() <= RANK_MAX,
        "a tensor has {} dimensions; there may be {RANK_MAX} at most",
        tensor.rank()
    );
    let known = Elements::ANY_PER_AXIS.or(Elements::INDEX);
    if let Element::Quantized(quantized) = &tensor.element {
        check_quantized(quantized)?;
        check_axis(tensor, quantized)?;
    }
    ensure!(
        known.admit(tensor),
        "'{tensor}' has an element type that no tensor can have"
    );
    check_bounds(tensor)
}

/// Bounds: one per dimension, and only where the size is not a number.
fn check_bounds(tensor: &TensorType) -> OpResult<()> {
    let Some(Encoding::Bounds(bounds)) = &tensor.encoding else {
        return Ok(());
    };
    ensure!(
        bounds.len() == tensor.rank(),
        "bounds length is {}, expected to be equal to the rank {} of '{tensor}'",
        bounds.len(),
        tensor.rank()
    );
    for (index, (dim, bound)) in tensor.dims.iter().zip(bounds).enumerate() {
        ensure!(
            bound.is_none() || !dim.is_static(),
            "dimension {index} of '{tensor}' is static and cannot have a bound"
        );
    }
    Ok(())
}

/// The constraints on a quantized element type apart from the tensor (spec, "Types", `quantized_type_c1` to `_c11`).
pub(crate) fn check_quantized(quantized: &QuantizedType) -> OpResult<()> {
    let QuantizedType {
        storage,
        storage_min,
        storage_max,
        expressed,
        axis,
        parameters,
    } = quantized;
    let integer = storage.is_integer() && *storage != ElementType::Index && storage.bits() <= 32;
    ensure!(
        integer,
        "storage type {storage} of '{quantized}' must be an integer of 2 to 32 bits"
    );
    ensure!(
        expressed.is_float() && *expressed != ElementType::TF32,
        "expressed type {expressed} of '{quantized}' must be a float"
    );
    // C1, C2.
    let (least, largest) = QuantizedType::storage_range(*storage);
    ensure!(
        least <= *storage_min && storage_min < storage_max && *storage_max <= largest,
        "storage range {storage_min}:{storage_max} of '{quantized}' must be within {least}:{largest} and not be empty"
    );
    // C3, C9: one pair of parameters for the whole tensor.
    ensure!(
        axis.is_some() || parameters.len() == 1,
        "'{quantized}' needs one scale without an axis, but has {}",
        parameters.len()
    );
    for pair in parameters {
        check_scale(quantized, pair.scale())?;
        // C7, C8.
        ensure!(
            (*storage_min..=*storage_max).contains(&pair.zero_point),
            "zero point {} of '{quantized}' is out of the storage range {storage_min}:{storage_max}",
            pair.zero_point
        );
    }
    Ok(())
}

/// C4 to C6: a scale is positive and a normal finite number of the expressed type.
fn check_scale(quantized: &QuantizedType, scale: f64) -> OpResult<()> {
    ensure!(
        scale > 0.0 && scale.is_finite(),
        "scale {scale:e} of '{quantized}' must be positive and finite"
    );
    let Some(format) = quantized.expressed.float_format() else {
        return Ok(());
    };
    let least = 2.0_f64.powi(1 - format.bias);
    let rounded = crate::float::round_to(quantized.expressed, scale);
    ensure!(
        scale >= least && rounded.is_finite(),
        "scale {scale:e} is out of the range of the expressed type {}",
        quantized.expressed
    );
    Ok(())
}

/// C12, C13: the axis is a dimension, and there is one pair of parameters per slice.
pub(crate) fn check_axis(tensor: &TensorType, quantized: &QuantizedType) -> OpResult<()> {
    let Some(axis) = quantized.axis else {
        return Ok(());
    };
    let dim = usize::try_from(axis).ok().and_then(|axis| tensor.dims.get(axis));
    let Some(dim) = dim else {
        return Err(OpError::new(format!(
            "quantization dimension {axis} is out of range for a tensor of rank {}",
            tensor.rank()
        )));
    };
    let scales = quantized.parameters.len() as u64;
    if let Dim::Static(size) = dim {
        ensure!(
            *size == scales,
            "'{quantized}' has {scales} scales for dimension {axis}, which has size {size}"
        );
    }
    Ok(())
}
