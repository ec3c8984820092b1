//! Tensors for tests, from numbers and to text.

use std::sync::Arc;

use artifact_ir::types::{ElementType, TensorType};

use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A type of static shape.
pub(super) fn ty(shape: &[u64], element: ElementType) -> Arc<TensorType> {
    Arc::new(TensorType::of_static(shape, element))
}

fn tensor<T: Copy>(
    element: ElementType,
    shape: &[u64],
    values: &[T],
    scalar: impl Fn(T) -> Scalar,
) -> Tensor {
    let ty = ty(shape, element);
    assert_eq!(ty.element_count(), Some(values.len() as u64));
    let scalars: Vec<Scalar> = values.iter().copied().map(scalar).collect();
    Tensor::from_scalars(ty, &scalars).unwrap()
}

/// Integers of a type; values wrap.
pub(super) fn ints_of(element: ElementType, shape: &[u64], values: &[i64]) -> Tensor {
    tensor(element, shape, values, |value| Scalar::Int(value.into()))
}

/// `i64`.
pub(super) fn ints(shape: &[u64], values: &[i64]) -> Tensor {
    ints_of(ElementType::I64, shape, values)
}

/// Floats of a type; values are rounded.
pub(super) fn floats_of(element: ElementType, shape: &[u64], values: &[f64]) -> Tensor {
    tensor(element, shape, values, Scalar::Float)
}

/// `f64`.
pub(super) fn floats(shape: &[u64], values: &[f64]) -> Tensor {
    floats_of(ElementType::F64, shape, values)
}

/// `complex<f64>`.
pub(super) fn complexes(shape: &[u64], values: &[(f64, f64)]) -> Tensor {
    tensor(ElementType::C128, shape, values, |(re, im)| {
        Scalar::Complex(re, im)
    })
}

/// `i1`.
pub(super) fn bools(shape: &[u64], values: &[bool]) -> Tensor {
    tensor(ElementType::I1, shape, values, Scalar::Bool)
}

/// A single `i1`.
pub(super) fn bool_of(value: bool) -> Tensor {
    bools(&[], &[value])
}

/// The elements in order, separated by spaces; zeros without their sign.
pub(super) fn show(tensor: &Tensor) -> String {
    let text = |scalar: Scalar| match scalar {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => (value + 0.0).to_string(),
        Scalar::Complex(re, im) => format!("({},{})", re + 0.0, im + 0.0),
    };
    tensor.scalars().map(text).collect::<Vec<_>>().join(" ")
}
