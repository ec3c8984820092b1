//! Convolution (spec, "convolution"; "dynamic_conv" has the same constraints, with the padding as an operand).

use super::compatible::elements;
use super::contraction::{check_precision, product_type};
use super::element::Elements;
use super::extent::{Extent, extents};
use super::window::{self, WindowAttributes};
use super::{positions, quantization};
use crate::attribute::{ConvDimensionNumbers, Padding};
use crate::op::Convolution;
use crate::types::{Dim, TensorType};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn convolution(op: &Convolution, cx: &OpContext<'_>) -> OpResult {
    let (lhs, rhs) = (
        cx.tensor(0, Elements::ANY)?,
        cx.tensor(1, Elements::ANY_PER_AXIS)?,
    );
    let roles = check(op, cx, lhs, rhs)?;
    infer(op, cx, &roles, [lhs, rhs], op.padding.as_ref())
}

pub(super) fn dynamic_conv(op: &Convolution, cx: &OpContext<'_>) -> OpResult {
    // Upstream's type of the right side is narrower, without a reason; the specification's is that of convolution.
    let (lhs, rhs) = (
        cx.tensor(0, Elements::ANY)?,
        cx.tensor(1, Elements::ANY_PER_AXIS)?,
    );
    let padding = cx.tensor(2, Elements::INT)?;
    let roles = check(op, cx, lhs, rhs)?;
    let count = roles.input_spatial.len() as u64;
    ensure!(
        padding.static_shape() == Some(vec![count, 2]),
        "expects padding of shape [{count}, 2], but got '{padding}' (C4)"
    );
    let result = cx.declared(0, Elements::ANY_PER_AXIS)?;
    match cx.constant(2) {
        Some(values) => {
            let pairs = values.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
            infer(op, cx, &roles, [lhs, rhs], Some(&Padding(pairs)))
        }
        None => {
            // The attributes are checked all the same.
            windows(op, &roles, rhs, None)?;
            ensure!(
                result.rank() == lhs.rank(),
                "the result '{result}' must have the rank of the input '{lhs}' (C25)"
            );
            Ok(Results::Declared)
        }
    }
}

/// The dimension numbers as indices.
struct Roles {
    input_batch: usize,
    input_spatial: Vec<usize>,
    kernel_output_feature: usize,
    kernel_spatial: Vec<usize>,
    output_batch: usize,
    output_feature: usize,
    output_spatial: Vec<usize>,
}

/// Everything but windows and the result: C1, C10 to C24, C27 to C34.
fn check(op: &Convolution, cx: &OpContext<'_>, lhs: &TensorType, rhs: &TensorType) -> OpResult<Roles> {
    ensure!(
        lhs.rank() == rhs.rank(),
        "expects operands of the same number of dimensions, but got '{lhs}' and '{rhs}' (C1)"
    );
    ensure!(
        quantization::any(&[lhs, rhs]) || elements(&lhs.element, &rhs.element),
        "expects operands of one element type, but got '{lhs}' and '{rhs}' (C27)"
    );
    let roles = roles(&op.dimension_numbers, lhs.rank())?;
    check_groups(op, lhs, rhs)?;
    check_precision(op.precision_config.as_ref())?;
    if let Some(result) = cx.result(0, Elements::ANY_PER_AXIS)?
        && quantization::any(&[lhs, rhs, result])
    {
        check_quantized(&roles, [lhs, rhs, result])?;
    }
    Ok(roles)
}

/// Every dimension of each tensor has one role (C12, C13, C17 to C20).
fn roles(numbers: &ConvDimensionNumbers, rank: usize) -> OpResult<Roles> {
    let groups: [(&str, [i64; 2], &[i64]); 3] = [
        (
            "input dimension numbers",
            [numbers.input_batch_dimension, numbers.input_feature_dimension],
            &numbers.input_spatial_dimensions,
        ),
        (
            "kernel dimension numbers",
            [
                numbers.kernel_input_feature_dimension,
                numbers.kernel_output_feature_dimension,
            ],
            &numbers.kernel_spatial_dimensions,
        ),
        (
            "output dimension numbers",
            [numbers.output_batch_dimension, numbers.output_feature_dimension],
            &numbers.output_spatial_dimensions,
        ),
    ];
    let mut all = Vec::new();
    for (name, pair, spatial) in groups {
        positions::ensure_length(name, spatial.len() + 2, rank, "the rank of the operands")?;
        let together: Vec<i64> = pair.into_iter().chain(spatial.iter().copied()).collect();
        positions::ensure_unique(name, &together)?;
        all.push(positions::dimensions(name, &together, rank)?);
    }
    // Each list has at least two elements, and there are three: the loop made them so.
    let [input, kernel, output] = all.as_slice() else {
        return Err(OpError::new("has dimension numbers for other than three tensors"));
    };
    Ok(Roles {
        input_batch: input[0],
        input_spatial: input[2..].to_vec(),
        kernel_output_feature: kernel[1],
        kernel_spatial: kernel[2..].to_vec(),
        output_batch: output[0],
        output_feature: output[1],
        output_spatial: output[2..].to_vec(),
    })
}

/// C10, C11, C14 to C16, C21 to C23. Dimension numbers have been checked.
fn check_groups(op: &Convolution, lhs: &TensorType, rhs: &TensorType) -> OpResult<()> {
    let features = positions::positive("attribute 'feature_group_count'", op.feature_group_count)?;
    let batches = positions::positive("attribute 'batch_group_count'", op.batch_group_count)?;
    ensure!(
        features == 1 || batches == 1,
        "expects feature_group_count and batch_group_count not to be both greater than 1, but got {features} and {batches} (C23)"
    );
    let size = |tensor: &TensorType, dimension: i64| {
        positions::dimension("a dimension number", dimension, tensor.rank())
            .map(|dim| tensor.dims[dim].as_static())
    };
    let numbers = &op.dimension_numbers;
    let divides = |what: &str, size: Option<u64>, name: &str, count: u64| {
        ensure!(
            size.is_none_or(|size| size % count == 0),
            "expects the {what} ({}) to be divisible by {name} ({count})",
            size.unwrap_or_default()
        );
        Ok(())
    };
    divides(
        "size of the input batch dimension",
        size(lhs, numbers.input_batch_dimension)?,
        "batch_group_count",
        batches,
    )?;
    let input_features = size(lhs, numbers.input_feature_dimension)?;
    divides(
        "number of input features",
        input_features,
        "feature_group_count",
        features,
    )?;
    let kernel_inputs = size(rhs, numbers.kernel_input_feature_dimension)?;
    if let (Some(input), Some(kernel)) = (input_features, kernel_inputs) {
        ensure!(
            input / features == kernel,
            "expects {input} input features in {features} groups to be as many as the kernel takes, {kernel} (C14)"
        );
    }
    let outputs = size(rhs, numbers.kernel_output_feature_dimension)?;
    divides("number of output features", outputs, "batch_group_count", batches)?;
    divides(
        "number of output features",
        outputs,
        "feature_group_count",
        features,
    )
}

/// C28 to C34.
fn check_quantized(roles: &Roles, [lhs, rhs, result]: [&TensorType; 3]) -> OpResult<()> {
    if let Some((_, axis)) = quantization::per_axis(rhs) {
        ensure!(
            axis == roles.kernel_output_feature,
            "quantization dimension {axis} of the kernel must be kernel_output_feature_dimension (C29)"
        );
    }
    if let Some((_, axis)) = quantization::per_axis(result) {
        ensure!(
            axis == roles.output_feature,
            "quantization dimension {axis} of the result must be output_feature_dimension (C30)"
        );
    }
    quantization::check_product(lhs, rhs, result)
}

/// C2 to C9.
fn windows(
    op: &Convolution,
    roles: &Roles,
    rhs: &TensorType,
    padding: Option<&Padding>,
) -> OpResult<Vec<window::Window>> {
    let sizes: Vec<Dim> = roles
        .kernel_spatial
        .iter()
        .map(|dim| rhs.dims[*dim].clone())
        .collect();
    if let Some(reversal) = &op.window_reversal {
        positions::ensure_length(
            "window_reversal",
            reversal.len(),
            sizes.len(),
            "the number of spatial dimensions",
        )?;
    }
    let attributes = WindowAttributes {
        strides: op.window_strides.as_deref(),
        padding,
        base_dilations: op.lhs_dilation.as_deref(),
        dilations: op.rhs_dilation.as_deref(),
    };
    window::windows(&sizes, &attributes)
}

/// C25, C26.
fn infer(
    op: &Convolution,
    cx: &OpContext<'_>,
    roles: &Roles,
    [lhs, rhs]: [&TensorType; 2],
    padding: Option<&Padding>,
) -> OpResult {
    let windows = windows(op, roles, rhs, padding)?;
    let (input, kernel) = (extents(lhs), extents(rhs));
    let mut sizes = vec![Extent::UNKNOWN; lhs.rank()];
    let batches = positions::positive("attribute 'batch_group_count'", op.batch_group_count)?;
    sizes[roles.output_batch] = if batches == 1 {
        input[roles.input_batch].clone()
    } else {
        input[roles.input_batch].divided(batches)?
    };
    sizes[roles.output_feature] = kernel[roles.kernel_output_feature].clone();
    for ((from, to), window) in roles
        .input_spatial
        .iter()
        .zip(&roles.output_spatial)
        .zip(&windows)
    {
        sizes[*to] = window::output(&input[*from], window)?;
    }
    product_type(cx, &sizes, lhs)
}
