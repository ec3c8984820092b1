//! Operands as numbers of the type that is meant, and results in the type that is stored.

use std::sync::Arc;

use artifact_ir::float::round_to;
use artifact_ir::types::{Element, QuantizationParameters, QuantizedType, TensorType};

use super::axes::strides;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, shape_of};

/// Spec, "Quantization computations": `dequantize`; a tensor that is not quantized is itself.
pub(super) fn expressed(tensor: &Tensor) -> Result<Tensor, EvalError> {
    let Some(quantized) = tensor.ty().element.as_quantized() else {
        return Ok(tensor.clone());
    };
    let parameters = Parameters::new(quantized, tensor.ty());
    let stored: Vec<i128> = super::axes::integers(tensor)?;
    let ty = Arc::new(tensor.ty().with_element(quantized.expressed));
    let result = Tensor::from_fn(ty, |position| {
        let (scale, zero_point) = parameters.at(position);
        let steps = round_to(quantized.expressed, (stored[position] - zero_point) as f64);
        Scalar::Float(steps * scale)
    })?;
    Ok(result)
}

/// Spec, "Quantization computations": `quantize` to the type of a result; one that is not quantized gets its element type.
pub(super) fn stored(tensor: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let Some(quantized) = ty.element.as_quantized() else {
        return promoted(tensor, &ty.element).map(|tensor| tensor.with_type(Arc::clone(ty)));
    };
    let parameters = Parameters::new(quantized, ty);
    let round = |value: f64| round_to(quantized.expressed, value);
    let (min, max) = (quantized.storage_min as f64, quantized.storage_max as f64);
    let result = Tensor::from_fn(Arc::clone(ty), |position| {
        let (scale, zero_point) = parameters.at(position);
        let value = tensor.get(position).as_float().unwrap_or(f64::NAN);
        let steps = round(round(value / scale) + round(zero_point as f64));
        Scalar::Int(steps.clamp(round(min), round(max)).round_ties_even() as i128)
    })?;
    Ok(result)
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

/// Scale, in the expressed type, and zero point by position.
struct Parameters<'a> {
    quantized: &'a QuantizedType,
    /// Distance in elements between neighbours along the quantized dimension, and its size.
    along: (usize, usize),
}

impl<'a> Parameters<'a> {
    fn new(quantized: &'a QuantizedType, ty: &TensorType) -> Self {
        let shape = shape_of(ty);
        let dim = quantized.axis.and_then(|axis| usize::try_from(axis).ok());
        let along = dim.and_then(|dim| Some((*strides(&shape).get(dim)?, *shape.get(dim)?)));
        Self {
            quantized,
            along: along.unwrap_or((1, 1)),
        }
    }

    fn at(&self, position: usize) -> (f64, i128) {
        let (stride, size) = self.along;
        let parameters = self
            .quantized
            .parameters_at(position / stride.max(1) % size.max(1));
        let parameters = parameters.unwrap_or(QuantizationParameters::new(f64::NAN, 0));
        (
            round_to(self.quantized.expressed, parameters.scale()),
            parameters.zero_point.into(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{floats_of, show};
    use artifact_ir::types::ElementType;

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
