//! Quantized numbers (spec, "Quantized computations"): a stored integer stands for `(stored - zero_point) * scale`.

use std::sync::Arc;

use artifact_ir::float::round_to;
use artifact_ir::types::{ElementType, QuantizationParameters, QuantizedType, TensorType};

use super::convert::convert;
use super::real::{maximum, minimum};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, shape_of, strides};

/// The number that a stored integer stands for, each step rounded to the expressed type.
#[must_use]
pub(crate) fn dequantize(stored: i128, ty: &QuantizedType, parameters: QuantizationParameters) -> f64 {
    let round = |value| round_to(ty.expressed, value);
    let steps = round((stored - i128::from(parameters.zero_point)) as f64);
    round(steps * round(parameters.scale()))
}

/// The integer that stands for the nearest number, ties to even, within the storage range; NaN becomes 0. Each step before
/// the last is rounded to the expressed type, as the specification's own computation is.
#[must_use]
pub(crate) fn quantize(value: f64, ty: &QuantizedType, parameters: QuantizationParameters) -> i128 {
    let round = |value| round_to(ty.expressed, value);
    let [least, greatest] = [ty.storage_min, ty.storage_max].map(|bound| round(bound as f64));
    let scaled = round(round(value) / round(parameters.scale()));
    let moved = round(scaled + round(parameters.zero_point as f64));
    let clamped = minimum(maximum(moved, least), greatest);
    let Scalar::Int(stored) = convert(Scalar::Float(clamped.round_ties_even()), ElementType::I64) else {
        return 0;
    };
    // A bound that the expressed type does not hold may have been rounded outwards.
    stored.clamp(ty.storage_min.into(), ty.storage_max.into())
}

/// A quantized tensor as numbers of its expressed type.
///
/// # Errors
/// [`EvalError`] if the tensor is not quantized or its parameters do not fit its shape.
pub(crate) fn dequantize_tensor(operand: &Tensor) -> Result<Tensor, EvalError> {
    let quantized = quantized_type(operand.ty())?;
    let parameters = Parameters::new(quantized, operand.ty())?;
    let ty = Arc::new(operand.ty().with_element(quantized.expressed));
    let result = Tensor::from_fn(ty, |position| {
        let stored = operand.get(position).as_int().unwrap_or(0);
        Scalar::Float(dequantize(stored, quantized, parameters.at(position)))
    });
    Ok(result?)
}

/// Numbers as a quantized tensor of type `ty`, which has the operand's shape.
///
/// # Errors
/// [`EvalError`] if the type is not quantized or its parameters do not fit its shape.
pub(crate) fn quantize_tensor(operand: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let quantized = quantized_type(ty)?;
    let parameters = Parameters::new(quantized, ty)?;
    let result = Tensor::from_fn(Arc::clone(ty), |position| {
        let value = operand.get(position).as_float().unwrap_or(f64::NAN);
        Scalar::Int(quantize(value, quantized, parameters.at(position)))
    });
    Ok(result?)
}

fn quantized_type(ty: &TensorType) -> Result<&QuantizedType, EvalError> {
    let quantized = ty.element.as_quantized();
    quantized
        .map(Arc::as_ref)
        .ok_or_else(|| EvalError::runtime(format!("{ty} is not quantized")))
}

/// The parameters of each position of a tensor.
struct Parameters<'a> {
    all: &'a [QuantizationParameters],
    /// Elements between neighbours along the quantized dimension, and its size.
    stride: usize,
    size: usize,
}

impl<'a> Parameters<'a> {
    fn new(quantized: &'a QuantizedType, ty: &TensorType) -> Result<Self, EvalError> {
        let shape = shape_of(ty);
        let (stride, size) = match quantized.axis {
            None => (1, 1),
            Some(axis) => {
                let axis = usize::try_from(axis).ok().filter(|axis| *axis < shape.len());
                let axis = axis.ok_or_else(|| misfit(ty))?;
                (strides(&shape)[axis], shape[axis])
            }
        };
        if quantized.parameters.len() < size || quantized.parameters.is_empty() {
            return Err(misfit(ty));
        }
        Ok(Self {
            all: &quantized.parameters,
            stride,
            size,
        })
    }

    fn at(&self, position: usize) -> QuantizationParameters {
        self.all[position / self.stride % self.size]
    }
}

fn misfit(ty: &TensorType) -> EvalError {
    EvalError::runtime(format!(
        "the quantization parameters of {ty} do not fit its shape"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_axis() -> Arc<QuantizedType> {
        Arc::new(QuantizedType {
            storage: ElementType::I8,
            storage_min: -128,
            storage_max: 127,
            expressed: ElementType::F32,
            axis: Some(0),
            parameters: vec![
                QuantizationParameters::new(0.1, -30),
                QuantizationParameters::new(0.5, -20),
            ],
        })
    }

    #[test]
    fn tensors() {
        let element = artifact_ir::types::Element::Quantized(per_axis());
        let ty = Arc::new(TensorType::of_static(&[2], element));
        let floats = Arc::new(TensorType::of_static(&[2], ElementType::F32));
        let operand = Tensor::from_scalars(floats, &[Scalar::Float(4.0), Scalar::Float(15.0)]).unwrap();
        let result = quantize_tensor(&operand, &ty).unwrap();
        assert_eq!(result.bytes(), [10, 10]);
        let back: Vec<_> = dequantize_tensor(&result).unwrap().scalars().collect();
        assert_eq!(back, [Scalar::Float(4.0), Scalar::Float(15.0)]);
    }

    #[test]
    fn edges() {
        let ty = per_axis();
        let parameters = ty.parameters[1];
        for (value, expected) in [
            (f64::INFINITY, 127),
            (f64::NEG_INFINITY, -128),
            (f64::NAN, 0),
            (0.25, -20),
            (0.75, -18),
            (-1e9, -128),
        ] {
            assert_eq!(quantize(value, &ty, parameters), expected, "{value}");
        }
    }
}
