//! Products: dot and convolution.

use super::element::Elements;
use super::extent::{Extent, Extents, extent, extents, most_specific, result_of};
use super::positions::Positions;
use super::{convolution, positions, quantization};
use crate::attribute::{DotAlgorithm, DotDimensionNumbers, PrecisionConfig};
use crate::op::{Contraction, Dot, DotGeneral};
use crate::types::{Element, ElementType, TensorType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &Contraction, cx: &OpContext<'_>) -> OpResult {
    match op {
        Contraction::Convolution(op) => convolution::convolution(op, cx),
        Contraction::Dot(op) => dot(op, cx),
        Contraction::DotGeneral(op) => dot_general(op, cx),
        Contraction::DynamicConv(op) => convolution::dynamic_conv(op, cx),
        Contraction::Einsum(_) | Contraction::UnaryEinsum(_) => einsum(cx),
    }
}

/// Not in the specification; the equation is checked by what lowers it.
fn einsum(cx: &OpContext<'_>) -> OpResult {
    cx.tensors_from(0, Elements::ANY)?;
    cx.declared(0, Elements::ANY)?;
    Ok(Results::Declared)
}

/// At most one precision for each operand (`dot_general_c11`, `convolution_c24`).
pub(super) fn check_precision(config: Option<&PrecisionConfig>) -> OpResult<()> {
    let count = config.map_or(0, |config| config.0.len());
    ensure!(
        count <= 2,
        "expects precision_config to be empty or to have at most 2 elements, but it has {count}"
    );
    Ok(())
}

/// A result of these extents, with the element that was declared or, where none was, that of the left side.
pub(super) fn product_type(cx: &OpContext<'_>, sizes: &[Extent], lhs: &TensorType) -> OpResult {
    let element = match cx.result(0, Elements::ANY_PER_AXIS)? {
        Some(result) => result.element.clone(),
        None => lhs.element.clone(),
    };
    Ok(result_of(cx, sizes, element))
}

/// Not in the specification: products of vectors and matrices.
fn dot(op: &Dot, cx: &OpContext<'_>) -> OpResult {
    let (lhs, rhs) = (
        cx.tensor(0, Elements::ANY)?,
        cx.tensor(1, Elements::ANY_PER_AXIS)?,
    );
    check_precision(op.precision_config.as_ref())?;
    let ranks = [lhs.rank(), rhs.rank()];
    let fits =
        ranks.iter().all(|rank| (1..=2).contains(rank)) && lhs.dims[lhs.rank() - 1].compatible(&rhs.dims[0]);
    ensure!(
        fits,
        "expects vectors or matrices of matching sizes, but got '{lhs}' and '{rhs}'"
    );
    let mut sizes = extents(lhs);
    sizes.pop();
    sizes.extend(extents(rhs).into_iter().skip(1));
    product_type(cx, &sizes, lhs)
}

fn dot_general(op: &DotGeneral, cx: &OpContext<'_>) -> OpResult {
    let (lhs, rhs) = (
        cx.tensor(0, Elements::ANY)?,
        cx.tensor(1, Elements::ANY_PER_AXIS)?,
    );
    check_precision(op.precision_config.as_ref())?;
    if let Some(algorithm) = &op.algorithm {
        check_algorithm(algorithm)?;
        ensure!(
            op.precision_config
                .as_ref()
                .is_none_or(PrecisionConfig::is_default),
            "expects the DEFAULT precision where an algorithm is given (C21)"
        );
    }
    let numbers = DotPositions::new(&op.dot_dimension_numbers, lhs, rhs)?;
    if let Some(result) = cx.result(0, Elements::ANY_PER_AXIS)?
        && quantization::any(&[lhs, rhs, result])
    {
        check_quantized(&numbers, [lhs, rhs, result])?;
    }
    // C12.
    let mut sizes = numbers.batches(lhs, rhs)?;
    let kept_left = positions::others(lhs.rank(), &[&numbers.batching[0], &numbers.contracting[0]]);
    let kept_right = positions::others(rhs.rank(), &[&numbers.batching[1], &numbers.contracting[1]]);
    sizes.extend(kept_left.iter().map(|dim| extent(lhs, *dim)));
    sizes.extend(kept_right.iter().map(|dim| extent(rhs, *dim)));
    product_type(cx, &sizes, lhs)
}

/// Zero points are 0 (C15), and no contracting dimension is quantized along (C16).
fn check_quantized(numbers: &DotPositions, [lhs, rhs, result]: [&TensorType; 3]) -> OpResult<()> {
    if let Element::Quantized(quantized) = &rhs.element {
        ensure!(
            quantized.parameters.iter().all(|pair| pair.zero_point == 0),
            "zero points of the right side must be 0, but got '{rhs}' (C15)"
        );
    }
    if let Some((_, axis)) = quantization::per_axis(rhs) {
        ensure!(
            !numbers.contracting[1].contains(&axis),
            "quantization dimension {axis} of the right side must not be contracted (C16)"
        );
    }
    quantization::check_product(lhs, rhs, result)
}

/// Dimension numbers as indices, left and right.
pub(super) struct DotPositions {
    pub(super) batching: [Positions; 2],
    pub(super) contracting: [Positions; 2],
}

impl DotPositions {
    /// Checks C1 to C10.
    pub(super) fn new(numbers: &DotDimensionNumbers, lhs: &TensorType, rhs: &TensorType) -> OpResult<Self> {
        let names = [
            ["lhs_batching_dimensions", "lhs_contracting_dimensions"],
            ["rhs_batching_dimensions", "rhs_contracting_dimensions"],
        ];
        let lists = [
            [
                &numbers.lhs_batching_dimensions,
                &numbers.lhs_contracting_dimensions,
            ],
            [
                &numbers.rhs_batching_dimensions,
                &numbers.rhs_contracting_dimensions,
            ],
        ];
        for (index, what) in ["batching", "contracting"].into_iter().enumerate() {
            let counts = [lists[0][index].len(), lists[1][index].len()];
            // C1, C2.
            ensure!(
                counts[0] == counts[1],
                "expects as many {what} dimensions on the left as on the right, but got {} and {}",
                counts[0],
                counts[1]
            );
        }
        for (names, lists) in names.iter().zip(&lists) {
            // C3, C4.
            positions::ensure_distinct(*names, lists.map(Vec::as_slice))?;
        }
        let indices = |side: usize, list: usize, tensor: &TensorType| {
            positions::dimensions(names[side][list], lists[side][list], tensor.rank())
        };
        // C5 to C8.
        let positions = Self {
            batching: [indices(0, 0, lhs)?, indices(1, 0, rhs)?],
            contracting: [indices(0, 1, lhs)?, indices(1, 1, rhs)?],
        };
        for (what, [left, right]) in [
            ("batching", &positions.batching),
            ("contracting", &positions.contracting),
        ] {
            for (a, b) in left.iter().zip(right) {
                // C9, C10.
                ensure!(
                    lhs.dims[*a].compatible(&rhs.dims[*b]),
                    "sizes of {what} dimensions must match, but dimension {a} of '{lhs}' and {b} of '{rhs}' do not"
                );
            }
        }
        Ok(positions)
    }

    /// The batching dimensions of the result.
    pub(super) fn batches(&self, lhs: &TensorType, rhs: &TensorType) -> OpResult<Extents> {
        let [a, b] = &self.batching;
        a.iter()
            .zip(b)
            .enumerate()
            .map(|(index, (a, b))| most_specific(index, &extent(lhs, *a), &extent(rhs, *b)))
            .collect()
    }
}

/// Algorithms that some hardware has (C22 to C24, I8 to I10); upstream keeps the same list.
fn check_algorithm(algorithm: &DotAlgorithm) -> OpResult<()> {
    use ElementType::{BF16, F16, F32, F64, TF32};
    let DotAlgorithm {
        lhs_precision_type,
        rhs_precision_type,
        accumulation_type,
        lhs_component_count,
        rhs_component_count,
        num_primitive_operations,
        allow_imprecise_accumulation,
    } = algorithm;
    let counts = [
        ("lhs_component_count", lhs_component_count),
        ("rhs_component_count", rhs_component_count),
        ("num_primitive_operations", num_primitive_operations),
    ];
    for (name, count) in counts {
        positions::positive(name, *count)?;
    }
    let types = [lhs_precision_type, rhs_precision_type, accumulation_type];
    let known = match types {
        [Type::Scalar(lhs), Type::Scalar(rhs), Type::Scalar(sum)] => {
            let f8 = |ty: &ElementType| ty.is_float() && ty.bits() == 8 && *ty != ElementType::F8E8M0FNU;
            let primitives = *num_primitive_operations;
            let wide = match (lhs, rhs, sum) {
                (F16, F16, F16 | F32) | (BF16, BF16, BF16) | (F32, F32, F32) | (F64, F64, F64) => {
                    primitives == 1
                }
                (BF16, BF16, F32) => matches!(primitives, 1 | 3 | 6 | 9),
                (TF32, TF32, F32) => matches!(primitives, 1 | 3),
                _ => false,
            };
            (f8(lhs) && f8(rhs) && *sum == F32 && primitives == 1) || (wide && !allow_imprecise_accumulation)
        }
        _ => false,
    };
    if known && (*lhs_component_count, *rhs_component_count) == (1, 1) {
        return Ok(());
    }
    Err(OpError::new(format!(
        "dot algorithm not known to be supported on any hardware: {{lhs:{}, rhs:{}, accum:{}, lhs_components:\
         {lhs_component_count}, rhs_components:{rhs_component_count}, primitive_ops:{num_primitive_operations}, \
         imprecise:{allow_imprecise_accumulation}}}",
        types[0], types[1], types[2]
    )))
}
