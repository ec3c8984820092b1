//! Operands as numbers of the type that is meant, and results in the type that is stored.

use std::sync::Arc;

use artifact_ir::types::{Element, TensorType};

use crate::error::EvalError;
use crate::math::{dequantize_tensor, quantize_tensor};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Spec, "Quantization computations": `dequantize`; a tensor that is not quantized is itself.
pub(super) fn expressed(tensor: &Tensor) -> Result<Tensor, EvalError> {
    match tensor.ty().element {
        Element::Plain(_) => Ok(tensor.clone()),
        Element::Quantized(_) => dequantize_tensor(tensor),
    }
}

/// Spec, "Quantization computations": `quantize` to the type of a result; one that is not quantized gets its element type.
pub(super) fn stored(tensor: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    match ty.element {
        Element::Plain(_) => Ok(promoted(tensor, &ty.element)?.with_type(Arc::clone(ty))),
        Element::Quantized(_) => quantize_tensor(tensor, ty),
    }
}

/// A tensor with its elements in another type that can hold them (spec, "Functions on types": `is_promotable`).
pub(super) fn promoted(tensor: &Tensor, element: &Element) -> Result<Tensor, EvalError> {
    if tensor.ty().element == *element {
        return Ok(tensor.clone());
    }
    let ty = Arc::new(tensor.ty().with_element(element.clone()));
    match element {
        Element::Quantized(_) => stored(&expressed(tensor)?, &ty),
        Element::Plain(_) => {
            let scalars: Vec<Scalar> = expressed(tensor)?.scalars().collect();
            Ok(Tensor::from_scalars(ty, &scalars)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{floats_of, show};
    use artifact_ir::types::{ElementType, QuantizationParameters, QuantizedType};

    fn quantized(axis: Option<u64>, parameters: &[(f64, i64)]) -> Arc<TensorType> {
        let quantized = QuantizedType {
            storage: ElementType::I8,
            storage_min: -128,
            storage_max: 127,
            expressed: ElementType::F32,
            axis,
            parameters: parameters
                .iter()
                .map(|(scale, zero)| QuantizationParameters::new(*scale, *zero))
                .collect(),
        };
        Arc::new(TensorType::new(
            TensorType::of_static(&[2, 2], ElementType::F32).dims,
            Element::Quantized(Arc::new(quantized)),
        ))
    }

    fn check(ty: &Arc<TensorType>, values: [f64; 4], steps: &str, back: &str) {
        let tensor = stored(&floats_of(ElementType::F32, &[2, 2], &values), ty).unwrap();
        assert_eq!(show(&tensor), steps);
        assert_eq!(show(&expressed(&tensor).unwrap()), back);
    }

    #[test]
    fn round_trips() {
        check(
            &quantized(None, &[(0.5, 10)]),
            [1.0, -1.25, 1000.0, -1e9],
            "12 8 127 -128",
            "1 -1 58.5 -69",
        );
        check(
            &quantized(Some(1), &[(0.5, 0), (2.0, 1)]),
            [1.0, 4.0, -3.0, -1.0],
            "2 3 -6 0",
            "1 4 -3 -2",
        );
        check(
            &quantized(Some(0), &[(0.5, 0), (2.0, 1)]),
            [1.0, 4.0, -3.0, -1.0],
            "2 8 0 0",
            "1 4 -2 -2",
        );
    }
}
