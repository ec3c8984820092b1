//! `dot_general` and `dot`, and the sum of products that every product of two tensors is.

use std::sync::Arc;

use artifact_ir::attribute::{DotAlgorithm, DotDimensionNumbers};
use artifact_ir::float::round_to;
use artifact_ir::op::DotGeneral;
use artifact_ir::types::{ElementType, TensorType, Type};

use super::axes::{axes, check_same, check_shape, offsets, others, pick, strides};
use super::expressed::{expressed, stored};
use super::number::{Arithmetic, Number, in_arithmetic_of, numbers};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A sum of products: the element at an index of the result is the sum, over the indices of `summed`, of the element of
/// `lhs` times that of `rhs`, each at the position that its strides give.
pub(super) struct Products<'a> {
    /// Left operand, not quantized.
    pub(super) lhs: &'a Tensor,
    /// Right operand, not quantized.
    pub(super) rhs: &'a Tensor,
    /// Shape of the result.
    pub(super) shape: Vec<usize>,
    /// Shape of the space that is summed over.
    pub(super) summed: Vec<usize>,
    /// For each operand, strides by dimension of the result.
    pub(super) strides: [Vec<usize>; 2],
    /// For each operand, strides by dimension of `summed`.
    pub(super) summed_strides: [Vec<usize>; 2],
}

impl Arithmetic for Products<'_> {
    fn run<T: Number>(&self) -> Result<Vec<Scalar>, EvalError> {
        let (lhs, rhs) = (numbers::<T>(self.lhs)?, numbers::<T>(self.rhs)?);
        let [lhs_steps, rhs_steps] = [0, 1].map(|side| offsets(&self.summed, &self.summed_strides[side]));
        let steps: Vec<(usize, usize)> = lhs_steps.zip(rhs_steps).collect();
        let [lhs_starts, rhs_starts] = [0, 1].map(|side| offsets(&self.shape, &self.strides[side]));
        let sum = |(left, right): (usize, usize)| {
            let product = |(l, r): &(usize, usize)| lhs[left + l].multiply(rhs[right + r]);
            steps.iter().map(product).fold(T::ZERO, T::add).to_scalar()
        };
        Ok(lhs_starts.zip(rhs_starts).map(sum).collect())
    }
}

impl Products<'_> {
    /// The sums as a tensor of a type whose shape is the result's: quantized if the type is.
    pub(super) fn into_tensor(self, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
        check_shape(ty, &self.shape)?;
        let plain = Arc::new(ty.with_element(ty.element.expressed()));
        let sums = in_arithmetic_of(&plain, &self)?;
        stored(&Tensor::from_scalars(plain, &sums)?, ty)
    }
}

/// Spec, "dot_general". An algorithm of one component rounds the operands to its precision types; those of several exist to
/// come closer to the exact product, which is what is computed here.
pub(super) fn dot_general(
    op: &DotGeneral,
    lhs: &Tensor,
    rhs: &Tensor,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let (mut lhs, mut rhs) = (expressed(lhs)?, expressed(rhs)?);
    if let Some(algorithm) = &op.algorithm {
        (lhs, rhs) = at_precision_of(algorithm, lhs, rhs)?;
    }
    let Roles {
        batching,
        contracting,
        free,
    } = Roles::new(&op.dot_dimension_numbers, &lhs, &rhs)?;
    let shapes = [lhs.shape(), rhs.shape()];
    let all = [strides(&shapes[0]), strides(&shapes[1])];
    for (what, dims) in [
        ("batching dimensions", &batching),
        ("contracting dimensions", &contracting),
    ] {
        check_same(what, &pick(&shapes[0], &dims[0]), &pick(&shapes[1], &dims[1]))?;
    }
    let zeros = [vec![0; free[0].len()], vec![0; free[1].len()]];
    let products = Products {
        shape: [
            pick(&shapes[0], &batching[0]),
            pick(&shapes[0], &free[0]),
            pick(&shapes[1], &free[1]),
        ]
        .concat(),
        summed: pick(&shapes[0], &contracting[0]),
        strides: [
            [
                pick(&all[0], &batching[0]),
                pick(&all[0], &free[0]),
                zeros[1].clone(),
            ]
            .concat(),
            [
                pick(&all[1], &batching[1]),
                zeros[0].clone(),
                pick(&all[1], &free[1]),
            ]
            .concat(),
        ],
        summed_strides: [pick(&all[0], &contracting[0]), pick(&all[1], &contracting[1])],
        lhs: &lhs,
        rhs: &rhs,
    };
    products.into_tensor(ty)
}

/// The dimensions of both operands by what a dot does with them.
pub(super) struct Roles {
    /// Batching dimensions of each side.
    pub(super) batching: [Vec<usize>; 2],
    /// Contracting dimensions of each side.
    pub(super) contracting: [Vec<usize>; 2],
    /// The other dimensions of each side.
    pub(super) free: [Vec<usize>; 2],
}

impl Roles {
    pub(super) fn new(numbers: &DotDimensionNumbers, lhs: &Tensor, rhs: &Tensor) -> Result<Self, EvalError> {
        let ranks = [lhs.ty().rank(), rhs.ty().rank()];
        let batching = [
            axes(&numbers.lhs_batching_dimensions, ranks[0])?,
            axes(&numbers.rhs_batching_dimensions, ranks[1])?,
        ];
        let contracting = [
            axes(&numbers.lhs_contracting_dimensions, ranks[0])?,
            axes(&numbers.rhs_contracting_dimensions, ranks[1])?,
        ];
        let free =
            [0, 1].map(|side| others(&[&batching[side][..], &contracting[side]].concat(), ranks[side]));
        Ok(Self {
            batching,
            contracting,
            free,
        })
    }
}

/// The operands of a dot rounded as its algorithm asks.
fn at_precision_of(
    algorithm: &DotAlgorithm,
    lhs: Tensor,
    rhs: Tensor,
) -> Result<(Tensor, Tensor), EvalError> {
    let round = |operand: Tensor, precision: &Type, components: i64| match precision {
        Type::Scalar(precision) if components == 1 => rounded(operand, *precision),
        _ => Ok(operand),
    };
    Ok((
        round(lhs, &algorithm.lhs_precision_type, algorithm.lhs_component_count)?,
        round(rhs, &algorithm.rhs_precision_type, algorithm.rhs_component_count)?,
    ))
}

/// A tensor of floats, each rounded to what `precision` can hold; other tensors are left alone.
fn rounded(operand: Tensor, precision: ElementType) -> Result<Tensor, EvalError> {
    if !operand.storage().is_float() || !precision.is_float() {
        return Ok(operand);
    }
    let round = |position| match operand.get(position) {
        Scalar::Float(value) => Scalar::Float(round_to(precision, value)),
        other => other,
    };
    Ok(Tensor::from_fn(Arc::clone(operand.ty()), round)?)
}

/// `dot`, which the specification leaves out: the last dimension of the left operand is contracted with the first of the
/// right one.
pub(super) fn dot(lhs: &Tensor, rhs: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let Some(last) = lhs.ty().rank().checked_sub(1) else {
        return Err(EvalError::invalid_input(
            "a dot needs a vector or a matrix on its left side",
        ));
    };
    let general = DotGeneral {
        dot_dimension_numbers: DotDimensionNumbers {
            lhs_contracting_dimensions: vec![last as i64],
            rhs_contracting_dimensions: vec![0],
            ..DotDimensionNumbers::default()
        },
        precision_config: None,
        algorithm: None,
    };
    dot_general(&general, lhs, rhs, ty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{bools, complexes, floats_of, ints, ints_of, show, ty};

    /// `dims`: batching left, batching right, contracting left, contracting right.
    fn check(dims: [&[i64]; 4], lhs: &Tensor, rhs: &Tensor, result: &Arc<TensorType>, expected: &str) {
        let op = DotGeneral {
            dot_dimension_numbers: DotDimensionNumbers {
                lhs_batching_dimensions: dims[0].to_vec(),
                rhs_batching_dimensions: dims[1].to_vec(),
                lhs_contracting_dimensions: dims[2].to_vec(),
                rhs_contracting_dimensions: dims[3].to_vec(),
            },
            precision_config: None,
            algorithm: None,
        };
        assert_eq!(show(&dot_general(&op, lhs, rhs, result).unwrap()), expected);
    }

    #[test]
    fn dimensions() {
        let i64_of = |shape: &[u64]| ty(shape, ElementType::I64);
        let cube = ints(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
        let units = ints(&[2, 2, 2], &[1, 0, 0, 1, 1, 0, 0, 1]);
        check(
            [&[0], &[0], &[2], &[1]],
            &cube,
            &units,
            &i64_of(&[2, 2, 2]),
            "1 2 3 4 5 6 7 8",
        );
        let (row, column) = (ints(&[2], &[1, 2]), ints(&[3], &[10, 20, 30]));
        check(
            [&[], &[], &[], &[]],
            &row,
            &column,
            &i64_of(&[2, 3]),
            "10 20 30 20 40 60",
        );
        check(
            [&[], &[], &[0, 2], &[2, 0]],
            &cube,
            &cube,
            &i64_of(&[2, 2]),
            "57 85 85 129",
        );
        check(
            [&[], &[], &[0], &[0]],
            &ints(&[0], &[]),
            &ints(&[0], &[]),
            &i64_of(&[]),
            "0",
        );
        let wrong = dot(&row, &column, &i64_of(&[])).unwrap_err();
        assert!(
            wrong
                .to_string()
                .contains("contracting dimensions must be the same"),
            "{wrong}"
        );
    }

    #[test]
    fn element_types() {
        let check = |lhs: &Tensor, rhs: &Tensor, result, expected| {
            check([&[], &[], &[0], &[0]], lhs, rhs, &ty(&[], result), expected);
        };
        let bytes = ints_of(ElementType::I8, &[2], &[100, 100]);
        check(&bytes, &bytes, ElementType::I8, "32");
        check(&bytes, &bytes, ElementType::I32, "20000");
        check(&bytes, &bytes, ElementType::F32, "20000");
        let large = ints_of(ElementType::UI64, &[2], &[-1, -1]);
        check(&large, &large, ElementType::UI64, "2");
        check(
            &bools(&[2], &[true, false]),
            &bools(&[2], &[true, true]),
            ElementType::I1,
            "true",
        );
        check(
            &bools(&[2], &[true, false]),
            &bools(&[2], &[false, true]),
            ElementType::I1,
            "false",
        );
        let complex = complexes(&[2], &[(1.0, 2.0), (0.0, 1.0)]);
        check(&complex, &complex, ElementType::C128, "(-4,4)");
        // Accumulated in bf16, 256 + 1 would stay 256 every time.
        let ones = floats_of(ElementType::BF16, &[512], &[1.0; 512]);
        check(&ones, &ones, ElementType::BF16, "512");
    }

    #[test]
    fn an_algorithm_rounds_its_operands() {
        let mut algorithm = DotAlgorithm {
            lhs_precision_type: Type::Scalar(ElementType::BF16),
            rhs_precision_type: Type::Scalar(ElementType::F32),
            accumulation_type: Type::Scalar(ElementType::F32),
            lhs_component_count: 1,
            rhs_component_count: 1,
            num_primitive_operations: 1,
            allow_imprecise_accumulation: false,
        };
        let value = floats_of(ElementType::F32, &[], &[1.001_953_125]);
        let product = |algorithm: &DotAlgorithm| {
            let op = DotGeneral {
                dot_dimension_numbers: DotDimensionNumbers::default(),
                precision_config: None,
                algorithm: Some(algorithm.clone()),
            };
            let one = floats_of(ElementType::F32, &[], &[1.0]);
            show(&dot_general(&op, &value, &one, &ty(&[], ElementType::F32)).unwrap())
        };
        assert_eq!(product(&algorithm), "1");
        algorithm.lhs_component_count = 3;
        assert_eq!(product(&algorithm), "1.001953125");
    }
}
