//! `batch_norm_training`, `batch_norm_inference` and `batch_norm_grad`.
//!
//! Computed in `f64`; each result is rounded once. The mean and the variance that training returns are rounded before they
//! are used, so that inference with them gives the same output.

use std::sync::Arc;

use artifact_ir::float::round_to;
use artifact_ir::op::BatchNorm;
use artifact_ir::types::{ElementType, TensorType};

use super::axes::{axis, check_same, check_shape, count, strides};
use super::expressed::{expressed, stored};
use super::number::numbers;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// An operand whose elements belong to features.
struct Features {
    operand: Vec<f64>,
    shape: Vec<usize>,
    /// The dimension that holds features, and its stride.
    dim: usize,
    stride: usize,
    epsilon: f64,
    element: ElementType,
}

impl Features {
    fn new(op: &BatchNorm, operand: &Tensor) -> Result<Self, EvalError> {
        let operand = expressed(operand)?;
        let shape = operand.shape();
        let dim = axis(op.feature_index, shape.len())?;
        let element = operand.storage();
        Ok(Self {
            stride: strides(&shape)[dim],
            operand: numbers(&operand)?,
            // The constant takes the operand's element type.
            epsilon: round_to(element, op.epsilon.value()),
            shape,
            dim,
            element,
        })
    }

    /// Number of features.
    fn features(&self) -> usize {
        self.shape[self.dim]
    }

    /// Number of elements of each feature.
    fn per_feature(&self) -> f64 {
        let mut rest = self.shape.clone();
        rest.remove(self.dim);
        count(&rest) as f64
    }

    /// The feature of the element at a position.
    fn feature(&self, position: usize) -> usize {
        position / self.stride.max(1) % self.features().max(1)
    }

    /// For each feature, the sum of `f(position, feature)` over its elements.
    fn sums(&self, f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.features()];
        for position in 0..self.operand.len() {
            let feature = self.feature(position);
            sums[feature] += f(position, feature);
        }
        sums
    }

    /// `f(position, feature)` for each element.
    fn each(&self, f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        (0..self.operand.len())
            .map(|position| f(position, self.feature(position)))
            .collect()
    }

    /// An operand with one value a feature.
    fn per_feature_values(&self, tensor: &Tensor) -> Result<Vec<f64>, EvalError> {
        let tensor = expressed(tensor)?;
        check_same("the number of features", &tensor.shape(), &[self.features()])?;
        numbers(&tensor)
    }

    /// Spec, "batch_norm_inference".
    fn normalised(&self, scale: &[f64], offset: &[f64], mean: &[f64], variance: &[f64]) -> Vec<f64> {
        self.each(|position, feature| {
            let centered = self.operand[position] - mean[feature];
            let normalized = centered / (variance[feature] + self.epsilon).sqrt();
            scale[feature] * normalized + offset[feature]
        })
    }

    /// A result as a tensor of its type.
    fn finish(&self, values: &[f64], ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
        let shape = if ty.rank() == self.shape.len() && values.len() == self.operand.len() {
            self.shape.clone()
        } else {
            vec![self.features()]
        };
        check_shape(ty, &shape)?;
        let scalars: Vec<Scalar> = values.iter().copied().map(Scalar::Float).collect();
        let plain = Arc::new(ty.with_element(ty.element.expressed()));
        stored(&Tensor::from_scalars(plain, &scalars)?, ty)
    }
}

/// Spec, "batch_norm_inference".
pub(super) fn inference(
    op: &BatchNorm,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    let [operand, scale, offset, mean, variance] = super::fixed(operands)?;
    let features = Features::new(op, operand)?;
    let of = |tensor| features.per_feature_values(tensor);
    let output = features.normalised(&of(scale)?, &of(offset)?, &of(mean)?, &of(variance)?);
    Ok(vec![features.finish(&output, super::only(types)?)?])
}

/// Spec, "batch_norm_training".
pub(super) fn training(
    op: &BatchNorm,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    let [operand, scale, offset] = super::fixed(operands)?;
    let features = Features::new(op, operand)?;
    let per_feature = features.per_feature();
    let mean_of = |sums: Vec<f64>| -> Vec<f64> {
        sums.into_iter()
            .map(|sum| round_to(features.element, sum / per_feature))
            .collect()
    };
    let mean = mean_of(features.sums(|position, _| features.operand[position]));
    let variance =
        mean_of(features.sums(|position, feature| (features.operand[position] - mean[feature]).powi(2)));
    let of = |tensor| features.per_feature_values(tensor);
    let output = features.normalised(&of(scale)?, &of(offset)?, &mean, &variance);
    finish_three(&features, [&output, &mean, &variance], types)
}

/// Spec, "batch_norm_grad", with its names.
pub(super) fn gradient(
    op: &BatchNorm,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    let [operand, scale, mean, variance, grad_output] = super::fixed(operands)?;
    let features = Features::new(op, operand)?;
    let of = |tensor| features.per_feature_values(tensor);
    let (scale, mean, variance) = (of(scale)?, of(mean)?, of(variance)?);
    check_same(
        "the shapes of operand and gradient",
        &features.shape,
        &grad_output.shape(),
    )?;
    let grad_output = numbers::<f64>(&expressed(grad_output)?)?;

    let centered = features.each(|position, feature| features.operand[position] - mean[feature]);
    let spread: Vec<f64> = variance
        .iter()
        .map(|variance| variance + features.epsilon)
        .collect();
    let elements_per_feature = features.per_feature();
    let grad_offset = features.sums(|position, _| grad_output[position]);
    let i3 = features.sums(|position, _| grad_output[position] * centered[position]);
    let grad_scale: Vec<f64> = i3
        .iter()
        .zip(&spread)
        .map(|(sum, spread)| sum / spread.sqrt())
        .collect();
    let grad_operand = features.each(|position, feature| {
        let i1 = grad_output[position] * elements_per_feature;
        let i5 = i3[feature] * centered[position] / spread[feature];
        let i6 = i1 - grad_offset[feature] - i5;
        scale[feature] / spread[feature].sqrt() / elements_per_feature * i6
    });
    finish_three(&features, [&grad_operand, &grad_scale, &grad_offset], types)
}

/// Three results: one value an element, then twice one value a feature.
fn finish_three(
    features: &Features,
    values: [&[f64]; 3],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    if types.len() != values.len() {
        return Err(EvalError::invalid_input(format!(
            "expected 3 results, found {}",
            types.len()
        )));
    }
    values
        .into_iter()
        .zip(types)
        .map(|(values, ty)| features.finish(values, ty))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{floats, show, ty};
    use artifact_ir::attribute::FloatAttribute;

    const OP: BatchNorm = BatchNorm {
        epsilon: FloatAttribute::of_f32(0.0),
        feature_index: 1,
    };

    fn types(shapes: &[&[u64]]) -> Vec<Arc<TensorType>> {
        shapes.iter().map(|shape| ty(shape, ElementType::F64)).collect()
    }

    fn operand() -> Tensor {
        floats(&[2, 2, 1], &[1.0, 10.0, 3.0, 14.0])
    }

    fn show_all(tensors: &[Tensor]) -> Vec<String> {
        tensors.iter().map(show).collect()
    }

    #[test]
    fn training_and_inference_agree() {
        let (scale, offset) = (floats(&[2], &[1.0, 2.0]), floats(&[2], &[0.0, 100.0]));
        let operands = [operand(), scale.clone(), offset.clone()];
        let trained = training(&OP, &operands, &types(&[&[2, 2, 1], &[2], &[2]])).unwrap();
        assert_eq!(show_all(&trained), ["-1 98 1 102", "2 12", "1 4"]);
        let operands = [operand(), scale, offset, trained[1].clone(), trained[2].clone()];
        let inferred = inference(&OP, &operands, &types(&[&[2, 2, 1]])).unwrap();
        assert_eq!(show_all(&inferred), ["-1 98 1 102"]);
    }

    /// The gradients of a sum of outputs weighted by `weights`, against differences of the function itself.
    #[test]
    fn gradients_are_those_of_training() {
        let op = BatchNorm {
            epsilon: FloatAttribute::of_f32(0.5),
            ..OP
        };
        let weights = [0.5, -1.0, 2.0, 3.0];
        let value = |operand: &[f64], scale: &[f64], offset: &[f64]| -> f64 {
            let operands = [
                floats(&[2, 2, 1], operand),
                floats(&[2], scale),
                floats(&[2], offset),
            ];
            let trained = training(&op, &operands, &types(&[&[2, 2, 1], &[2], &[2]])).unwrap();
            trained[0]
                .scalars()
                .zip(weights)
                .map(|(output, weight)| output.as_float().unwrap() * weight)
                .sum()
        };
        let inputs = [vec![1.0, 10.0, 3.0, 14.0], vec![1.0, 2.0], vec![0.0, 1.0]];
        let trained = training(
            &op,
            &[operand(), floats(&[2], &inputs[1]), floats(&[2], &inputs[2])],
            &types(&[&[2, 2, 1], &[2], &[2]]),
        )
        .unwrap();
        let operands = [
            operand(),
            floats(&[2], &inputs[1]),
            trained[1].clone(),
            trained[2].clone(),
            floats(&[2, 2, 1], &weights),
        ];
        let gradients = gradient(&op, &operands, &types(&[&[2, 2, 1], &[2], &[2]])).unwrap();
        for (which, gradient) in gradients.iter().enumerate() {
            for (index, found) in gradient.scalars().enumerate() {
                let moved = |by: f64| {
                    let mut inputs = inputs.clone();
                    inputs[which][index] += by;
                    value(&inputs[0], &inputs[1], &inputs[2])
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (found.as_float().unwrap() - expected).abs() < 1e-6,
                    "{which} {index}: {found:?} {expected}"
                );
            }
        }
    }
}
