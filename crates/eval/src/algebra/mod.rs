//! Operations that combine many elements into one, or move them by indices: gather and scatter, reductions and windows,
//! sorting, products, factorisations, Fourier transforms and random bits.
//!
//! Invariants:
//! * Operands are as the verifier promised; what only a run can tell (sizes of dynamic programs, indices) is checked here,
//!   and index arithmetic is done in `i128` wherever a program's numbers enter it.
//! * Products are accumulated wide (`f64`, or integers modulo 2^128) and rounded once, to the result's type.
//! * Regions are applied in a fixed order, the ascending one.
//! * Quantized operands are dequantized, the operation is done on numbers of the expressed type, and its result quantized.

mod axes;
mod batch_norm;
mod cholesky;
mod convolution;
mod dot;
mod einsum;
mod expressed;
mod fft;
mod gather;
pub(crate) mod number;
mod ragged;
mod random;
mod reduce;
mod region;
mod scan;
mod scatter;
mod select_scatter;
mod sort;
#[cfg(test)]
mod testing;
mod triangular;
mod window;

use std::sync::Arc;

use artifact_ir::op::{ChloScan, Contraction, Creation, Indexing, Linalg, RaggedDot, Reduction};
use artifact_ir::types::TensorType;

use crate::error::EvalError;
use crate::tensor::Tensor;
use crate::value::ApplyRegion;

/// Evaluates an operation that reads or writes by indices.
///
/// `types` are the result types, of static shape; region 0 is the update computation of a scatter.
///
/// # Errors
/// [`EvalError`] when sizes known only at run time do not fit each other, a result is too large, or the region fails.
pub(crate) fn indexing(
    op: &Indexing,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    match op {
        Indexing::Gather(op) => {
            let [operand, indices] = fixed(operands)?;
            let result = gather::gather(
                &op.dimension_numbers,
                operand,
                indices,
                &op.slice_sizes,
                only(types)?,
            )?;
            Ok(vec![result])
        }
        Indexing::DynamicGather(op) => {
            let [operand, indices, sizes] = fixed(operands)?;
            let sizes = axes::clamped_sizes(sizes)?;
            let result = gather::gather(&op.dimension_numbers, operand, indices, &sizes, only(types)?)?;
            Ok(vec![result])
        }
        Indexing::Scatter(op) => scatter::scatter(op, operands, types, apply),
        Indexing::TorchIndexSelect(op) => {
            let [operand, index] = fixed(operands)?;
            Ok(vec![gather::torch_index_select(
                op,
                operand,
                index,
                only(types)?,
            )?])
        }
    }
}

/// Evaluates an operation that applies a region over elements or windows.
///
/// `types` are the result types, of static shape; regions are numbered as in the operation.
///
/// # Errors
/// [`EvalError`] when sizes known only at run time do not fit each other, a result is too large, or a region fails.
pub(crate) fn reduction(
    op: &Reduction,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    match op {
        Reduction::Map(_) => Ok(vec![reduce::map(operands, only(types)?, apply)?]),
        Reduction::Reduce(op) => reduce::reduce(op, operands, types, apply),
        Reduction::ReduceWindow(op) => reduce::reduce_window(op, operands, types, apply),
        Reduction::SelectAndScatter(op) => {
            let [operand, source, init] = fixed(operands)?;
            let result = select_scatter::select_and_scatter(op, operand, source, init, only(types)?, apply)?;
            Ok(vec![result])
        }
        Reduction::Sort(op) => sort::sort(op, operands, types, apply),
    }
}

/// Evaluates a product; `ty` is the result type, of static shape.
///
/// # Errors
/// [`EvalError`] when sizes known only at run time do not fit each other or the result is too large.
pub(crate) fn contraction(
    op: &Contraction,
    operands: &[Tensor],
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    match op {
        Contraction::Convolution(op) => {
            let [lhs, rhs] = fixed(operands)?;
            let padding = op.padding.as_ref().map(|padding| padding.0.as_slice());
            convolution::convolution(op, lhs, rhs, padding, ty)
        }
        Contraction::DynamicConv(op) => {
            let [lhs, rhs, padding] = fixed(operands)?;
            let padding = axes::clamped_sizes(padding)?;
            let (padding, _) = padding.as_chunks::<2>();
            convolution::convolution(op, lhs, rhs, Some(padding), ty)
        }
        Contraction::Dot(_) => {
            let [lhs, rhs] = fixed(operands)?;
            dot::dot(lhs, rhs, ty)
        }
        Contraction::DotGeneral(op) => {
            let [lhs, rhs] = fixed(operands)?;
            dot::dot_general(op, lhs, rhs, ty)
        }
        Contraction::Einsum(op) => {
            let [lhs, rhs] = fixed(operands)?;
            einsum::einsum(op, lhs, rhs, ty)
        }
        Contraction::UnaryEinsum(op) => {
            let [operand] = fixed(operands)?;
            einsum::unary_einsum(op, operand, ty)
        }
    }
}

/// Evaluates a factorisation, a Fourier transform or a batch normalisation; `types` are the result types, of static shape.
///
/// # Errors
/// [`EvalError`] when sizes known only at run time do not fit each other or a result is too large.
pub(crate) fn linalg(
    op: &Linalg,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    match op {
        Linalg::BatchNormGrad(op) => batch_norm::gradient(op, operands, types),
        Linalg::BatchNormInference(op) => batch_norm::inference(op, operands, types),
        Linalg::BatchNormTraining(op) => batch_norm::training(op, operands, types),
        Linalg::Cholesky(op) => {
            let [operand] = fixed(operands)?;
            Ok(vec![cholesky::cholesky(op, operand, only(types)?)?])
        }
        Linalg::Fft(op) => {
            let [operand] = fixed(operands)?;
            Ok(vec![fft::fft(op, operand, only(types)?)?])
        }
        Linalg::TriangularSolve(op) => {
            let [a, b] = fixed(operands)?;
            Ok(vec![triangular::triangular_solve(op, a, b, only(types)?)?])
        }
    }
}

/// Evaluates `rng` and `rng_bit_generator`; `types` are the result types, of static shape.
///
/// # Errors
/// Unsupported for any other operation, for a type without random bits and for a state of another size than XLA's.
pub(crate) fn rng(
    op: &Creation,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    match op {
        Creation::Rng(op) => {
            let [a, b, _shape] = fixed(operands)?;
            Ok(vec![random::rng(op, a, b, only(types)?)?])
        }
        Creation::RngBitGenerator(op) => {
            let [state] = fixed(operands)?;
            random::rng_bit_generator(op, state, types)
        }
        Creation::Constant(_) | Creation::DynamicIota(_) | Creation::Iota(_) => Err(EvalError::unsupported(
            "the operation is not a random number generator",
        )),
    }
}

/// Evaluates `chlo.ragged_dot`; `ty` is the result type, of static shape.
///
/// # Errors
/// [`EvalError`] when sizes known only at run time do not fit each other or the result is too large.
pub(crate) fn ragged_dot(
    op: &RaggedDot,
    operands: &[Tensor],
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let [lhs, rhs, group_sizes] = fixed(operands)?;
    ragged::ragged_dot(op, lhs, rhs, group_sizes, ty)
}

/// Evaluates `chlo.scan`; `types` are the result types, of static shape, outputs before final carries.
///
/// # Errors
/// [`EvalError`] when sizes known only at run time do not fit each other, a result is too large, or the region fails.
pub(crate) fn scan(
    op: &ChloScan,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
    apply: &mut ApplyRegion<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    scan::scan(op, operands, types, apply)
}

/// The operands of an operation that takes `N`.
fn fixed<const N: usize>(operands: &[Tensor]) -> Result<&[Tensor; N], EvalError> {
    operands
        .try_into()
        .map_err(|_| EvalError::invalid_input(format!("expected {N} operands, found {}", operands.len())))
}

/// The type of the only result.
fn only(types: &[Arc<TensorType>]) -> Result<&Arc<TensorType>, EvalError> {
    match types {
        [ty] => Ok(ty),
        _ => Err(EvalError::invalid_input(format!(
            "expected one result, found {}",
            types.len()
        ))),
    }
}
