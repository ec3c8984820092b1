//! Client-level operations (upstream: `ChloOps.cpp`; they have no specification).

use super::compatible::{ensure_elements, ensure_same_element};
use super::contraction::{DotPositions, check_precision, product_type};
use super::element::Elements;
use super::elementwise::same_type;
use super::extent::{Extent, Extents, extents, like, result_like, result_of, tensor_of};
use super::{broadcast, positions, scan};
use crate::attribute::{Attribute, RaggedDotDimensionNumbers};
use crate::op::{BroadcastBinary, Chlo, ChloConstantLike, RaggedDot, TopK};
use crate::types::{Dim, Element, ElementType, TensorType};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &Chlo, cx: &OpContext<'_>) -> OpResult {
    match op {
        Chlo::AsinAcosKernel => same(cx, Elements::COMPLEX),
        Chlo::Acos
        | Chlo::Acosh
        | Chlo::Asin
        | Chlo::Asinh
        | Chlo::Atan
        | Chlo::Atanh
        | Chlo::BesselI1e
        | Chlo::Conj
        | Chlo::Cosh
        | Chlo::Sinh
        | Chlo::Square
        | Chlo::Tan => same(cx, Elements::FLOAT_COMPLEX),
        Chlo::Digamma
        | Chlo::Erf
        | Chlo::ErfInv
        | Chlo::Erfc
        | Chlo::Lgamma
        | Chlo::NextAfter
        | Chlo::Polygamma
        | Chlo::Zeta => same(cx, Elements::FLOAT),
        Chlo::Mulhi => same(cx, Elements::INT),
        Chlo::IsInf | Chlo::IsNegInf | Chlo::IsPosInf => Ok(Results::Inferred(vec![like(
            cx.tensor(0, Elements::FLOAT)?,
            ElementType::I1,
        )])),
        Chlo::BroadcastAdd(op)
        | Chlo::BroadcastAtan2(op)
        | Chlo::BroadcastDivide(op)
        | Chlo::BroadcastMaximum(op)
        | Chlo::BroadcastMinimum(op)
        | Chlo::BroadcastMultiply(op)
        | Chlo::BroadcastNextAfter(op)
        | Chlo::BroadcastPolygamma(op)
        | Chlo::BroadcastPower(op)
        | Chlo::BroadcastRemainder(op)
        | Chlo::BroadcastShiftLeft(op)
        | Chlo::BroadcastShiftRightArithmetic(op)
        | Chlo::BroadcastShiftRightLogical(op)
        | Chlo::BroadcastSubtract(op) => binary(op, cx, Elements::ANY_PER_AXIS),
        Chlo::BroadcastZeta(op) => binary(op, cx, Elements::FLOAT),
        Chlo::BroadcastAnd(op) | Chlo::BroadcastOr(op) | Chlo::BroadcastXor(op) => {
            binary(op, cx, Elements::PRED_INT)
        }
        Chlo::BroadcastComplex(op) => complex(op, cx),
        Chlo::BroadcastCompare(op) => {
            let sizes = pair(op.broadcast_dimensions.as_deref(), cx, Elements::ANY_PER_AXIS)?;
            Ok(result_of(cx, &sizes, ElementType::I1))
        }
        Chlo::BroadcastSelect => select(cx),
        Chlo::Constant(op) => {
            cx.result(0, Elements::ANY)?;
            Ok(Results::Inferred(vec![(**op.value.ty()).clone().into()]))
        }
        Chlo::ConstantLike(op) => constant_like(op, cx),
        Chlo::RaggedDot(op) => ragged_dot(op, cx),
        Chlo::Scan(op) => scan::rules(op, cx),
        Chlo::TopK(op) => top_k(op, cx),
    }
}

/// Operands and result of one type.
fn same(cx: &OpContext<'_>, allowed: Elements) -> OpResult {
    same_type(&cx.tensors_from(0, allowed)?).map(|ty| Results::Inferred(vec![ty]))
}

/// The broadcast shape of both operands, whose elements agree.
fn pair(dimensions: Option<&[i64]>, cx: &OpContext<'_>, allowed: Elements) -> OpResult<Extents> {
    let (lhs, rhs) = (cx.tensor(0, allowed)?, cx.tensor(1, allowed)?);
    ensure_elements(&[lhs, rhs])?;
    match dimensions {
        None => broadcast::trailing(&[lhs, rhs]),
        Some(dimensions) => broadcast::explicit(lhs, rhs, dimensions),
    }
}

fn binary(op: &BroadcastBinary, cx: &OpContext<'_>, allowed: Elements) -> OpResult {
    let sizes = pair(op.broadcast_dimensions.as_deref(), cx, allowed)?;
    Ok(result_of(cx, &sizes, cx.tensor(0, allowed)?.element.clone()))
}

fn complex(op: &BroadcastBinary, cx: &OpContext<'_>) -> OpResult {
    let sizes = pair(op.broadcast_dimensions.as_deref(), cx, Elements::PART)?;
    let part = cx.tensor(0, Elements::PART)?.element.storage();
    let element = part
        .complex_of()
        .ok_or_else(|| OpError::new(format!("{part} is no part of a complex number")))?;
    Ok(result_of(cx, &sizes, element))
}

fn select(cx: &OpContext<'_>) -> OpResult {
    let pred = cx.tensor(0, Elements::PRED)?;
    let (on_true, on_false) = (
        cx.tensor(1, Elements::ANY_PER_AXIS)?,
        cx.tensor(2, Elements::ANY_PER_AXIS)?,
    );
    ensure_same_element(&[on_true, on_false])?;
    let sizes = broadcast::trailing(&[pred, on_true, on_false])?;
    Ok(result_of(cx, &sizes, on_true.element.clone()))
}

fn constant_like(op: &ChloConstantLike, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let element: Element = match &op.value {
        Attribute::Bool(_) => ElementType::I1.into(),
        Attribute::Integer { ty, .. } => (*ty).into(),
        Attribute::Float(value) => value.ty.into(),
        // A complex number is an attribute of a dialect that we do not know; its type must be declared.
        _ => cx.declared(0, Elements::COMPLEX)?.element.clone(),
    };
    Ok(result_like(cx, operand, element))
}

fn top_k(op: &TopK, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let k = positions::size("k", op.k)?;
    let mut sizes = extents(operand);
    let Some(last) = sizes.last_mut() else {
        return Err(OpError::new(format!(
            "expects an operand of rank 1 or more, but got '{operand}'"
        )));
    };
    ensure!(
        last.size.as_static().is_none_or(|size| size >= k),
        "expects the last dimension to have at least k = {k} elements, but got '{operand}'"
    );
    *last = Extent::of(k);
    Ok(Results::Inferred(vec![
        tensor_of(&sizes, operand.element.clone()),
        tensor_of(&sizes, ElementType::I32),
    ]))
}

/// Which kind of dimension of the left side is cut into groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ragged {
    /// One of the result: `[b, m, k], [g, b, k, n], [b, g] -> [b, m, n]`.
    Kept,
    /// A contracting one: `[b, m, k], [b, k, n], [b, g] -> [g, b, m, n]`.
    Contracting,
    /// A batching one: `[b, m, k], [b, k, n], [g] -> [b, m, n]`.
    Batching,
}

fn ragged_dot(op: &RaggedDot, cx: &OpContext<'_>) -> OpResult {
    let (lhs, rhs) = (
        cx.tensor(0, Elements::ANY_PER_AXIS)?,
        cx.tensor(1, Elements::ANY_PER_AXIS)?,
    );
    let group_sizes = cx.tensor(2, Elements::INT)?;
    check_precision(op.precision_config.as_ref())?;
    let RaggedDotDimensionNumbers {
        dot,
        lhs_ragged_dimensions,
        rhs_group_dimensions,
    } = &op.ragged_dot_dimension_numbers;
    let numbers = DotPositions::new(dot, lhs, rhs)?;
    let [ragged] = lhs_ragged_dimensions.as_slice() else {
        let count = lhs_ragged_dimensions.len();
        return Err(OpError::new(format!(
            "expects one ragged dimension on the left, but got {count}"
        )));
    };
    let ragged = positions::dimension("lhs_ragged_dimensions", *ragged, lhs.rank())?;
    let mode = if numbers.batching[0].contains(&ragged) {
        Ragged::Batching
    } else if numbers.contracting[0].contains(&ragged) {
        Ragged::Contracting
    } else {
        Ragged::Kept
    };
    let groups = check_group_sizes(&numbers, lhs, group_sizes, ragged, mode)?;
    let names = ["rhs_batching_dimensions", "rhs_contracting_dimensions"];
    for (name, list) in names
        .into_iter()
        .zip([&dot.rhs_batching_dimensions, &dot.rhs_contracting_dimensions])
    {
        positions::ensure_distinct(["rhs_group_dimensions", name], [rhs_group_dimensions, list])?;
    }
    let group_dims = positions::dimensions("rhs_group_dimensions", rhs_group_dimensions, rhs.rank())?;
    let expected = usize::from(mode == Ragged::Kept);
    ensure!(
        group_dims.len() == expected,
        "expects {expected} group dimensions on the right for this ragged dimension, but got {}",
        group_dims.len()
    );
    for dim in &group_dims {
        ensure!(
            rhs.dims[*dim].compatible(&groups),
            "expects size {groups} of group dimension {dim} on the right, but got '{rhs}'"
        );
    }
    let mut sizes = Vec::new();
    if mode == Ragged::Contracting {
        sizes.push(Extent {
            size: groups,
            bound: None,
        });
    }
    sizes.extend(numbers.batches(lhs, rhs)?);
    let (left, right) = (extents(lhs), extents(rhs));
    let kept = positions::others(lhs.rank(), &[&numbers.batching[0], &numbers.contracting[0]]);
    sizes.extend(kept.iter().map(|dim| left[*dim].clone()));
    let kept = positions::others(
        rhs.rank(),
        &[&numbers.batching[1], &numbers.contracting[1], &group_dims],
    );
    sizes.extend(kept.iter().map(|dim| right[*dim].clone()));
    product_type(cx, &sizes, lhs)
}

/// Sizes are given once for all, or for each position of the dimensions outside the ragged one; gives the number of groups.
fn check_group_sizes(
    numbers: &DotPositions,
    lhs: &TensorType,
    group_sizes: &TensorType,
    ragged: usize,
    mode: Ragged,
) -> OpResult<Dim> {
    let before = |list: &[usize]| {
        list.iter()
            .copied()
            .take_while(|dim| *dim != ragged)
            .collect::<Vec<_>>()
    };
    let [batching, contracting] = [&numbers.batching[0], &numbers.contracting[0]];
    let prefix: Vec<usize> = match mode {
        Ragged::Batching => before(batching),
        Ragged::Contracting => batching.iter().copied().chain(before(contracting)).collect(),
        Ragged::Kept => {
            let kept = positions::others(ragged, &[batching, contracting]);
            batching.iter().copied().chain(kept).collect()
        }
    };
    let [outer @ .., groups] = &*group_sizes.dims else {
        return Err(OpError::new(format!(
            "expects group sizes of rank 1 or more, but got '{group_sizes}'"
        )));
    };
    let fits = outer.is_empty()
        || (outer.len() == prefix.len()
            && outer
                .iter()
                .zip(&prefix)
                .all(|(size, dim)| size.compatible(&lhs.dims[*dim])));
    ensure!(
        fits,
        "expects group sizes of one dimension, or with dimensions {prefix:?} of '{lhs}' before it, but got '{group_sizes}'"
    );
    Ok(groups.clone())
}
