//! Convolution, with padding that is known or computed.

use std::sync::Arc;

use artifact_cpu_routine::convolution::{self, Attributes, Layout};
use artifact_cpu_routine::window::WindowDim;
use artifact_ir::attribute::ConvDimensionNumbers;
use artifact_ir::op::Convolution;

use super::windows::Lists;
use super::{Array, BoundRoutine, Hands, Routine, Site, positions};
use crate::error::CpuError;
use crate::launch::integer;

#[derive(Debug)]
struct BoundConvolution {
    /// Batch, feature and spatial dimensions of input, kernel and result.
    layouts: [(usize, usize, Vec<usize>); 3],
    windows: Vec<WindowDim>,
    /// Two numbers a window, where only the program knows them when it runs.
    padding: Option<Array>,
    reversed: Vec<bool>,
    feature_groups: usize,
    batch_groups: usize,
    input: Array,
    kernel: Array,
    out: Array,
}

impl Routine for BoundConvolution {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers,
            parallel,
            workspace,
            ..
        } = hands;
        let layout = |index: usize| {
            let (batch, feature, spatial) = &self.layouts[index];
            Layout {
                batch: *batch,
                feature: *feature,
                spatial,
            }
        };
        let mut windows = self.windows.clone();
        if let Some(padding) = &self.padding {
            // SAFETY: the caller's promise.
            unsafe { pad(&mut windows, padding, buffers) };
        }
        let attributes = Attributes {
            input: layout(0),
            kernel: layout(1),
            output: layout(2),
            windows: &windows,
            reversed: &self.reversed,
            feature_groups: self.feature_groups,
            batch_groups: self.batch_groups,
        };
        // SAFETY: the caller's promise; the result is an array of its own.
        unsafe {
            let (input, kernel) = (self.input.view(buffers), self.kernel.view(buffers));
            let mut out = self.out.view_mut(buffers);
            Ok(convolution::convolution(
                parallel,
                workspace,
                &attributes,
                &input,
                &kernel,
                &mut out,
            )?)
        }
    }
}

/// Gives windows the padding that an array holds.
///
/// # Safety
/// `buffers` must point to the buffers of the plan that the array is bound for.
unsafe fn pad(windows: &mut [WindowDim], padding: &Array, buffers: &[*mut u8]) {
    let width = padding.element.bytes();
    let number = |index: usize| {
        let address = buffers[padding.buffer].wrapping_add(index * width);
        // SAFETY: the array was found to have two integers a window.
        unsafe { integer(address, padding.element) }
    };
    for (index, window) in windows.iter_mut().enumerate() {
        (window.low, window.high) = (number(2 * index), number(2 * index + 1));
    }
}

pub(super) fn dynamic_convolution(site: &Site<'_>, own: &Convolution) -> Option<BoundRoutine> {
    let ([input, kernel, padding], out) = site.fixed()?;
    let count = 2 * own.dimension_numbers.input_spatial_dimensions.len();
    let is_list = padding.element.is_integer()
        && padding.element.bits() >= 8
        && padding.shape.iter().product::<usize>() == count;
    is_list.then_some(())?;
    bind(own, [input, kernel, out], Some(padding))
}

pub(super) fn convolution(site: &Site<'_>, own: &Convolution) -> Option<BoundRoutine> {
    let ([input, kernel], out) = site.fixed()?;
    bind(own, [input, kernel, out], None)
}

fn bind(own: &Convolution, [input, kernel, out]: [Array; 3], padding: Option<Array>) -> Option<BoundRoutine> {
    if !convolution::supports(input.element, kernel.element, out.element) {
        return None;
    }
    let ConvDimensionNumbers {
        input_batch_dimension,
        input_feature_dimension,
        input_spatial_dimensions,
        kernel_input_feature_dimension,
        kernel_output_feature_dimension,
        kernel_spatial_dimensions,
        output_batch_dimension,
        output_feature_dimension,
        output_spatial_dimensions,
    } = &own.dimension_numbers;
    let layout = |batch: &i64, feature: &i64, spatial: &[i64]| {
        Some((
            usize::try_from(*batch).ok()?,
            usize::try_from(*feature).ok()?,
            positions(spatial),
        ))
    };
    let kernel_spatial = positions(kernel_spatial_dimensions);
    let sizes = kernel_spatial
        .iter()
        .map(|dim| kernel.shape.get(*dim).map(|size| *size as i64));
    let sizes: Vec<i64> = sizes.collect::<Option<_>>()?;
    let lists = Lists {
        sizes: &sizes,
        strides: own.window_strides.as_deref(),
        base: own.lhs_dilation.as_deref(),
        window: own.rhs_dilation.as_deref(),
        padding: own.padding.as_ref(),
    };
    Some(Arc::new(BoundConvolution {
        layouts: [
            layout(
                input_batch_dimension,
                input_feature_dimension,
                input_spatial_dimensions,
            )?,
            layout(
                kernel_input_feature_dimension,
                kernel_output_feature_dimension,
                kernel_spatial_dimensions,
            )?,
            layout(
                output_batch_dimension,
                output_feature_dimension,
                output_spatial_dimensions,
            )?,
        ],
        windows: lists.windows()?,
        padding,
        reversed: own
            .window_reversal
            .clone()
            .unwrap_or_else(|| vec![false; sizes.len()]),
        feature_groups: usize::try_from(own.feature_group_count).ok()?,
        batch_groups: usize::try_from(own.batch_group_count).ok()?,
        input,
        kernel,
        out,
    }))
}
