//! Windows: reductions, selection, convolution.

use std::sync::Arc;

use artifact_cpu_routine::combine::{Combine, Combiner};
use artifact_cpu_routine::convolution::{self, Attributes, Layout};
use artifact_cpu_routine::window::{self, Direction, Select, WindowDim};
use artifact_ir::attribute::{ConvDimensionNumbers, Padding};
use artifact_ir::op::{Convolution, ReduceWindow, SelectAndScatter};

use super::regions::{combine, direction};
use super::{Array, BoundRoutine, Hands, Routine, Site, positions};
use crate::error::CpuError;

/// Attributes of windows, one dimension each; absent ones change nothing.
struct Lists<'a> {
    sizes: &'a [i64],
    strides: Option<&'a [i64]>,
    base: Option<&'a [i64]>,
    window: Option<&'a [i64]>,
    padding: Option<&'a Padding>,
}

/// Whether a routine counts with such numbers; what is done by windows that are larger is nearly all padding.
fn is_countable(window: &WindowDim) -> bool {
    const COUNTED_MAX: u64 = 1 << 40;
    let steps = [
        window.size,
        window.stride,
        window.base_dilation,
        window.window_dilation,
    ];
    let edges = [window.low, window.high];
    steps.iter().all(|step| *step as u64 <= COUNTED_MAX)
        && edges.iter().all(|edge| edge.unsigned_abs() <= COUNTED_MAX)
}

impl Lists<'_> {
    fn windows(&self) -> Option<Vec<WindowDim>> {
        let at = |list: Option<&[i64]>, dim: usize| -> Option<usize> {
            list.and_then(|list| list.get(dim))
                .map_or(Some(1), |value| usize::try_from(*value).ok())
        };
        let dim = |(dim, size): (usize, &i64)| {
            let [low, high] = self
                .padding
                .and_then(|padding| padding.0.get(dim))
                .copied()
                .unwrap_or_default();
            let window = WindowDim {
                size: usize::try_from(*size).ok()?,
                stride: at(self.strides, dim)?,
                base_dilation: at(self.base, dim)?,
                window_dilation: at(self.window, dim)?,
                low,
                high,
            };
            is_countable(&window).then_some(window)
        };
        self.sizes.iter().enumerate().map(dim).collect()
    }
}

#[derive(Debug)]
struct BoundReduceWindow {
    windows: Vec<WindowDim>,
    combine: Combine,
    input: Array,
    init: Array,
    out: Array,
}

impl Routine for BoundReduceWindow {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers, parallel, ..
        } = hands;
        let combiner = [self.combine];
        // SAFETY: the caller's promise; the result is an array of its own.
        unsafe {
            let (input, init) = ([self.input.view(buffers)], [self.init.view(buffers)]);
            let mut out = [self.out.view_mut(buffers)];
            Ok(window::reduce_window(
                parallel,
                &self.windows,
                &Combiner::Each(&combiner),
                &input,
                &init,
                &mut out,
            )?)
        }
    }
}

pub(super) fn reduce_window(site: &Site<'_>, own: &ReduceWindow) -> Option<BoundRoutine> {
    let ([input, init], out) = site.fixed()?;
    let lists = Lists {
        sizes: &own.window_dimensions,
        strides: own.window_strides.as_deref(),
        base: own.base_dilations.as_deref(),
        window: own.window_dilations.as_deref(),
        padding: own.padding.as_ref(),
    };
    let alike = input.element == out.element && init.element == out.element;
    let combine = combine(site.body, *site.op.regions.first()?, out.element).filter(|_| alike)?;
    Some(Arc::new(BoundReduceWindow {
        windows: lists.windows()?,
        combine,
        input,
        init,
        out,
    }))
}

#[derive(Debug)]
struct BoundSelectAndScatter {
    windows: Vec<WindowDim>,
    direction: Direction,
    combine: Combine,
    operand: Array,
    source: Array,
    init: Array,
    out: Array,
}

impl Routine for BoundSelectAndScatter {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers, parallel, ..
        } = hands;
        let combiner = [self.combine];
        // SAFETY: the caller's promise; the result is an array of its own.
        unsafe {
            let (operand, source, init) = (
                self.operand.view(buffers),
                self.source.view(buffers),
                self.init.view(buffers),
            );
            let mut out = self.out.view_mut(buffers);
            let select = Select::Compare(self.direction);
            let combiner = Combiner::Each(&combiner);
            Ok(window::select_and_scatter(
                parallel,
                &self.windows,
                select,
                &combiner,
                &operand,
                &source,
                &init,
                &mut out,
            )?)
        }
    }
}

pub(super) fn select_and_scatter(site: &Site<'_>, own: &SelectAndScatter) -> Option<BoundRoutine> {
    let ([operand, source, init], out) = site.fixed()?;
    let ones = vec![1; operand.shape.len()];
    let lists = Lists {
        sizes: own.window_dimensions.as_deref().unwrap_or(&ones),
        strides: own.window_strides.as_deref(),
        base: None,
        window: None,
        padding: own.padding.as_ref(),
    };
    let [select, scatter] = site.op.regions[..] else {
        return None;
    };
    let alike = [&operand, &source, &init]
        .iter()
        .all(|array| array.element == out.element);
    let is_number = out.element.is_float() || out.element.is_integer();
    if !alike || !is_number {
        return None;
    }
    Some(Arc::new(BoundSelectAndScatter {
        windows: lists.windows()?,
        direction: direction(site.body, select)?,
        combine: combine(site.body, scatter, out.element)?,
        operand,
        source,
        init,
        out,
    }))
}

#[derive(Debug)]
struct BoundConvolution {
    /// Batch, feature and spatial dimensions of input, kernel and result.
    layouts: [(usize, usize, Vec<usize>); 3],
    windows: Vec<WindowDim>,
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
        } = hands;
        let layout = |index: usize| {
            let (batch, feature, spatial) = &self.layouts[index];
            Layout {
                batch: *batch,
                feature: *feature,
                spatial,
            }
        };
        let attributes = Attributes {
            input: layout(0),
            kernel: layout(1),
            output: layout(2),
            windows: &self.windows,
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

pub(super) fn convolution(site: &Site<'_>, own: &Convolution) -> Option<BoundRoutine> {
    let ([input, kernel], out) = site.fixed()?;
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
