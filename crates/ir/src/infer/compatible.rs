//! When two types may be those of one value: equal, but for sizes that one side does not know and for the parameters of
//! quantization (upstream: `isCompatibleForHloTypeInference`).

use std::borrow::Borrow;

use crate::types::{Element, TensorType, Type};
use crate::verify::context::{OpResult, ensure};

/// Whether two tensors may have one shape, bounds apart.
pub(crate) fn shapes(a: &TensorType, b: &TensorType) -> bool {
    a.rank() == b.rank() && a.dims.iter().zip(&b.dims).all(|(a, b)| a.compatible(b))
}

/// Whether two elements agree: plain ones are equal; quantized ones have one storage, storage range, expressed type and
/// granularity, whatever their scales.
pub(crate) fn elements(a: &Element, b: &Element) -> bool {
    match (a, b) {
        (Element::Plain(a), Element::Plain(b)) => a == b,
        (Element::Quantized(a), Element::Quantized(b)) => {
            a.storage == b.storage
                && (a.storage_min, a.storage_max) == (b.storage_min, b.storage_max)
                && a.expressed == b.expressed
                && a.axis.is_some() == b.axis.is_some()
        }
        _ => false,
    }
}

/// Whether two types may be those of one value.
pub(crate) fn types(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Tensor(a), Type::Tensor(b)) | (Type::Buffer(a), Type::Buffer(b)) => tensors(a, b),
        (Type::Tuple(a), Type::Tuple(b)) | (Type::Future(a), Type::Future(b)) => lists(a, b),
        _ => a == b,
    }
}

/// Whether two lists of types agree one by one.
pub(crate) fn lists(a: &[impl Borrow<Type>], b: &[impl Borrow<Type>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| types(a.borrow(), b.borrow()))
}

/// Whether two lists of types are equal one by one.
pub(crate) fn equal_lists(a: &[impl Borrow<Type>], b: &[impl Borrow<Type>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.borrow() == b.borrow())
}

/// Whether two tensor types may be those of one value.
pub(crate) fn tensors(a: &TensorType, b: &TensorType) -> bool {
    shapes(a, b) && within(a, b) && within(b, a) && elements(&a.element, &b.element)
}

/// Whether the sizes of `a` that are numbers keep within the bounds of `b`.
fn within(a: &TensorType, b: &TensorType) -> bool {
    let Some(bounds) = b.bounds() else {
        return true;
    };
    let fits = |(size, bound): (Option<u64>, &Option<u64>)| match (size, bound) {
        (Some(size), Some(bound)) => size <= *bound,
        _ => true,
    };
    a.dims.iter().map(|dim| dim.as_static()).zip(bounds).all(fits)
}

/// Checks that the elements of all tensors agree with the first one's.
pub(crate) fn ensure_elements(tensors: &[&TensorType]) -> OpResult<()> {
    if let [first, rest @ ..] = tensors {
        for other in rest {
            ensure!(
                elements(&first.element, &other.element),
                "requires compatible element types for all operands and results, but got '{first}' and '{other}'"
            );
        }
    }
    Ok(())
}

/// Checks that the elements of all tensors are equal, quantization parameters included.
pub(crate) fn ensure_same_element(tensors: &[&TensorType]) -> OpResult<()> {
    if let [first, rest @ ..] = tensors {
        for other in rest {
            ensure!(
                first.element == other.element,
                "requires the same element type for all operands and results, but got '{first}' and '{other}'"
            );
        }
    }
    Ok(())
}

/// Checks that all tensors may have one shape.
pub(crate) fn ensure_shapes(tensors: &[&TensorType]) -> OpResult<()> {
    if let [first, rest @ ..] = tensors {
        for other in rest {
            ensure!(
                shapes(first, other),
                "requires the same shape for all operands and results, but got '{first}' and '{other}'"
            );
        }
    }
    Ok(())
}

/// `'tensor<f32>', 'tensor<i32>'`.
pub(crate) fn quoted(types: &[impl Borrow<Type>]) -> String {
    types
        .iter()
        .map(|ty| format!("'{}'", ty.borrow()))
        .collect::<Vec<_>>()
        .join(", ")
}
