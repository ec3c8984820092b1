//! `convolution` and `dynamic_conv`.

use std::sync::Arc;

use artifact_ir::op::Convolution;
use artifact_ir::types::TensorType;

use super::axes::{Odometer, axes, axis, check_same, check_shape, count, pick, strides};
use super::expressed::{expressed, stored};
use super::number::{Arithmetic, Number, in_arithmetic_of, numbers};
use super::window::{Window, WindowDim, position, result_shape, window};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, reserve};

/// Spec, "convolution" and "dynamic_conv": `padding` comes from the attribute or the operand.
pub(super) fn convolution(
    op: &Convolution,
    lhs: &Tensor,
    rhs: &Tensor,
    padding: Option<&[[i64; 2]]>,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (expressed(lhs)?, expressed(rhs)?);
    let geometry = Geometry::new(op, &lhs, &rhs, padding)?;
    check_shape(ty, &geometry.result_shape)?;
    let plain = Arc::new(ty.with_element(ty.element.expressed()));
    if lhs.is_empty() || rhs.is_empty() {
        // Sums of nothing, however large the other dimensions are.
        let count: usize = geometry.result_shape.iter().product();
        let mut zeros = reserve(count * plain.element.storage().bytes())?;
        zeros.resize(count * plain.element.storage().bytes(), 0);
        return stored(&Tensor::from_bytes(plain, zeros)?, ty);
    }
    let sums = in_arithmetic_of(&plain, &Sums { lhs, rhs, geometry })?;
    stored(&Tensor::from_scalars(plain, &sums)?, ty)
}

/// One operand's or the result's dimensions by role, with their strides.
struct Layout {
    /// Batch, or input features of the kernel.
    batch: Axis,
    /// Features, or output features of the kernel.
    feature: Axis,
    spatial: Vec<usize>,
    spatial_strides: Vec<usize>,
}

/// Size and stride of a dimension.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    stride: usize,
}

impl Layout {
    fn new(shape: &[usize], batch: i64, feature: i64, spatial: &[i64]) -> Result<Self, EvalError> {
        let strides = strides(shape);
        let one = |dim: i64| {
            let dim = axis(dim, shape.len())?;
            Ok::<_, EvalError>(Axis {
                size: shape[dim],
                stride: strides[dim],
            })
        };
        let spatial = axes(spatial, shape.len())?;
        check_same(
            "the rank and the number of dimensions with a role",
            &[shape.len()],
            &[spatial.len() + 2],
        )?;
        Ok(Self {
            batch: one(batch)?,
            feature: one(feature)?,
            spatial_strides: pick(&strides, &spatial),
            spatial: pick(shape, &spatial),
        })
    }
}

/// Where everything is.
struct Geometry {
    lhs: Layout,
    rhs: Layout,
    result: Layout,
    result_shape: Vec<usize>,
    windows: Vec<WindowDim>,
    reversed: Vec<bool>,
    /// Output features in each group, of features and of batches.
    features_per_group: usize,
    features_per_batch_group: usize,
}

impl Geometry {
    fn new(
        op: &Convolution,
        lhs: &Tensor,
        rhs: &Tensor,
        padding: Option<&[[i64; 2]]>,
    ) -> Result<Self, EvalError> {
        let numbers = &op.dimension_numbers;
        let lhs = Layout::new(
            &lhs.shape(),
            numbers.input_batch_dimension,
            numbers.input_feature_dimension,
            &numbers.input_spatial_dimensions,
        )?;
        let rhs = Layout::new(
            &rhs.shape(),
            numbers.kernel_input_feature_dimension,
            numbers.kernel_output_feature_dimension,
            &numbers.kernel_spatial_dimensions,
        )?;
        let rank = lhs.spatial.len();
        check_same("the numbers of spatial dimensions", &[rank], &[rhs.spatial.len()])?;
        let kernel: Vec<i64> = rhs.spatial.iter().map(|size| *size as i64).collect();
        let attributes = Window {
            sizes: Some(&kernel),
            strides: op.window_strides.as_deref(),
            base_dilations: op.lhs_dilation.as_deref(),
            window_dilations: op.rhs_dilation.as_deref(),
            padding,
        };
        let windows = window(rank, &attributes)?;
        let reversed = op.window_reversal.clone().unwrap_or_else(|| vec![false; rank]);
        check_same("the numbers of spatial dimensions", &[rank], &[reversed.len()])?;

        let features = rhs.feature.size;
        let input_features = part(lhs.feature.size, op.feature_group_count)?;
        check_same(
            "the input features of kernel and group",
            &[rhs.batch.size],
            &[input_features],
        )?;
        let outputs = Outputs {
            batch: part(lhs.batch.size, op.batch_group_count)?,
            features,
            spatial: result_shape(&windows, &lhs.spatial)?,
        };
        let result_shape = outputs.shape(op)?;
        let result = Layout::new(
            &result_shape,
            numbers.output_batch_dimension,
            numbers.output_feature_dimension,
            &numbers.output_spatial_dimensions,
        )?;
        Ok(Self {
            features_per_group: part(features, op.feature_group_count)?,
            features_per_batch_group: part(features, op.batch_group_count)?,
            lhs,
            rhs,
            result,
            result_shape,
            windows,
            reversed,
        })
    }

    /// For each element of the kernel's window: its position in the input, unless that is padding, and in the kernel.
    fn taps(&self, start: &[usize]) -> Vec<(Option<usize>, usize)> {
        let mut taps = Vec::new();
        let mut within = Odometer::new(&self.rhs.spatial);
        while let Some(step) = within.index() {
            let mirror = |(dim, step): (usize, &usize)| {
                if self.reversed[dim] {
                    self.rhs.spatial[dim] - 1 - step
                } else {
                    *step
                }
            };
            let mirrored: Vec<usize> = step.iter().enumerate().map(mirror).collect();
            let input = position(
                &self.windows,
                start,
                &mirrored,
                &self.lhs.spatial,
                &self.lhs.spatial_strides,
            );
            let kernel = step
                .iter()
                .zip(&self.rhs.spatial_strides)
                .map(|(step, stride)| step * stride)
                .sum();
            taps.push((input, kernel));
            within.step();
        }
        taps
    }
}

/// Sizes of the result by role.
struct Outputs {
    batch: usize,
    features: usize,
    spatial: Vec<usize>,
}

impl Outputs {
    fn shape(&self, op: &Convolution) -> Result<Vec<usize>, EvalError> {
        let numbers = &op.dimension_numbers;
        let rank = self.spatial.len() + 2;
        let mut shape = vec![0; rank];
        shape[axis(numbers.output_batch_dimension, rank)?] = self.batch;
        shape[axis(numbers.output_feature_dimension, rank)?] = self.features;
        for (dim, size) in axes(&numbers.output_spatial_dimensions, rank)?
            .into_iter()
            .zip(&self.spatial)
        {
            shape[dim] = *size;
        }
        Ok(shape)
    }
}

/// One of `groups` equal parts.
fn part(size: usize, groups: i64) -> Result<usize, EvalError> {
    match usize::try_from(groups) {
        Ok(groups) if groups > 0 && size.is_multiple_of(groups) => Ok(size / groups),
        _ => Err(EvalError::runtime(format!(
            "{size} cannot be cut into {groups} equal groups"
        ))),
    }
}

struct Sums {
    lhs: Tensor,
    rhs: Tensor,
    geometry: Geometry,
}

impl Arithmetic for Sums {
    fn run<T: Number>(&self) -> Result<Vec<Scalar>, EvalError> {
        let (lhs, rhs) = (numbers::<T>(&self.lhs)?, numbers::<T>(&self.rhs)?);
        let Geometry {
            result, result_shape, ..
        } = &self.geometry;
        let mut sums = vec![T::ZERO; count(result_shape)];
        let mut at = Odometer::new(&result.spatial);
        while let Some(start) = at.index() {
            let taps = self.geometry.taps(start);
            let base: usize = start
                .iter()
                .zip(&result.spatial_strides)
                .map(|(at, stride)| at * stride)
                .sum();
            for batch in 0..result.batch.size {
                for feature in 0..result.feature.size {
                    let position = base + batch * result.batch.stride + feature * result.feature.stride;
                    sums[position] = self.sum(&lhs, &rhs, &taps, batch, feature);
                }
            }
            at.step();
        }
        Ok(sums.into_iter().map(T::to_scalar).collect())
    }
}

impl Sums {
    /// One element of the result. Padding is zero and is multiplied like any other element, as the specification says.
    fn sum<T: Number>(
        &self,
        lhs: &[T],
        rhs: &[T],
        taps: &[(Option<usize>, usize)],
        batch: usize,
        feature: usize,
    ) -> T {
        let geometry = &self.geometry;
        let (input, kernel) = (&geometry.lhs, &geometry.rhs);
        let batch = batch + feature / geometry.features_per_batch_group * geometry.result.batch.size;
        let first_feature = feature / geometry.features_per_group * kernel.batch.size;
        let input_base = batch * input.batch.stride + first_feature * input.feature.stride;
        let kernel_base = feature * kernel.feature.stride;
        let mut sum = T::ZERO;
        for (from, with) in taps {
            for channel in 0..kernel.batch.size {
                let value = from.map_or(T::ZERO, |from| {
                    lhs[input_base + from + channel * input.feature.stride]
                });
                sum = sum.add(value.multiply(rhs[kernel_base + with + channel * kernel.batch.stride]));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{floats, ints, show, ty};
    use artifact_ir::attribute::{ConvDimensionNumbers, Padding};

    /// `[b, f, 0..]x[o, i, 0..]->[b, f, 0..]`.
    fn op(spatial: usize) -> Convolution {
        let dims: Vec<i64> = (2..spatial as i64 + 2).collect();
        Convolution {
            window_strides: None,
            padding: None,
            lhs_dilation: None,
            rhs_dilation: None,
            window_reversal: None,
            dimension_numbers: ConvDimensionNumbers {
                input_batch_dimension: 0,
                input_feature_dimension: 1,
                input_spatial_dimensions: dims.clone(),
                kernel_input_feature_dimension: 1,
                kernel_output_feature_dimension: 0,
                kernel_spatial_dimensions: dims.clone(),
                output_batch_dimension: 0,
                output_feature_dimension: 1,
                output_spatial_dimensions: dims,
            },
            feature_group_count: 1,
            batch_group_count: 1,
            precision_config: None,
        }
    }

    fn check(op: &Convolution, lhs: &Tensor, rhs: &Tensor, shape: &[u64], expected: &str) {
        let padding = op.padding.as_ref().map(|padding| padding.0.as_slice());
        let result = ty(shape, lhs.storage());
        let result = convolution(op, lhs, rhs, padding, &result);
        assert_eq!(
            result.map_or_else(|error| error.to_string(), |tensor| show(&tensor)),
            expected
        );
    }

    #[test]
    fn one_dimension() {
        let lhs = ints(&[1, 1, 4], &[1, 2, 3, 4]);
        let rhs = ints(&[1, 1, 2], &[1, 10]);
        check(&op(1), &lhs, &rhs, &[1, 1, 3], "21 32 43");
        let reversed = Convolution {
            window_reversal: Some(vec![true]),
            ..op(1)
        };
        check(&reversed, &lhs, &rhs, &[1, 1, 3], "12 23 34");
        let strided = Convolution {
            window_strides: Some(vec![2]),
            ..op(1)
        };
        check(&strided, &lhs, &rhs, &[1, 1, 2], "21 43");
        let padded = Convolution {
            padding: Some(Padding(vec![[1, -1]])),
            ..op(1)
        };
        check(&padded, &lhs, &rhs, &[1, 1, 3], "10 21 32");
        let dilated = Convolution {
            lhs_dilation: Some(vec![2]),
            ..op(1)
        };
        check(&dilated, &lhs, &rhs, &[1, 1, 6], "1 20 2 30 3 40");
        let spread = Convolution {
            rhs_dilation: Some(vec![3]),
            ..op(1)
        };
        check(&spread, &lhs, &rhs, &[1, 1, 1], "41");
        check(&op(1), &lhs, &ints(&[1, 1, 5], &[1; 5]), &[1, 1, 0], "");
    }

    #[test]
    fn groups() {
        let lhs = ints(&[1, 2, 2], &[1, 2, 3, 4]);
        let rhs = ints(&[4, 1, 1], &[1, 10, 100, 1000]);
        let grouped = Convolution {
            feature_group_count: 2,
            ..op(1)
        };
        check(&grouped, &lhs, &rhs, &[1, 4, 2], "1 2 10 20 300 400 3000 4000");
        let lhs = ints(&[2, 1, 2], &[1, 2, 3, 4]);
        let batched = Convolution {
            batch_group_count: 2,
            ..op(1)
        };
        check(&batched, &lhs, &rhs, &[1, 4, 2], "1 2 10 20 300 400 3000 4000");
        let uneven = Convolution {
            batch_group_count: 3,
            ..op(1)
        };
        check(
            &uneven,
            &lhs,
            &rhs,
            &[1, 4, 2],
            "2 cannot be cut into 3 equal groups",
        );
    }

    #[test]
    fn two_dimensions_in_another_order() {
        let mut op = op(2);
        op.dimension_numbers = ConvDimensionNumbers {
            input_batch_dimension: 0,
            input_spatial_dimensions: vec![1, 2],
            input_feature_dimension: 3,
            kernel_spatial_dimensions: vec![0, 1],
            kernel_input_feature_dimension: 2,
            kernel_output_feature_dimension: 3,
            output_batch_dimension: 3,
            output_spatial_dimensions: vec![1, 0],
            output_feature_dimension: 2,
        };
        let lhs = ints(&[1, 2, 3, 2], &(1..=12).collect::<Vec<_>>());
        let rhs = ints(&[1, 2, 2, 1], &[1, 10, 100, 1000]);
        // Each result is l0 + 10 l1 + 100 l2 + 1000 l3 over two neighbouring pixels of a row.
        check(&op, &lhs, &rhs, &[2, 2, 1, 1], "4321 10987 6543 13209");
    }

    #[test]
    fn padding_takes_part() {
        let padded = Convolution {
            padding: Some(Padding(vec![[1, 0]])),
            ..op(1)
        };
        let lhs = floats(&[1, 1, 2], &[1.0, 2.0]);
        check(
            &padded,
            &lhs,
            &floats(&[1, 1, 2], &[f64::INFINITY, 1.0]),
            &[1, 1, 2],
            "NaN inf",
        );
        check(&op(1), &lhs, &floats(&[1, 1, 1], &[0.5]), &[1, 1, 2], "0.5 1");
    }
}
