//! Values out of nothing or out of a shape.

use super::compatible::ensure_same_element;
use super::element::Elements;
use super::{positions, shape_operand};
use crate::attribute::RngDistribution;
use crate::op::{Constant, Creation, Iota, Rng};
use crate::types::Element;
use crate::verify::context::{OpContext, OpResult, Results, ensure};

pub(super) fn rules(op: &Creation, cx: &OpContext<'_>) -> OpResult {
    match op {
        Creation::Constant(op) => constant(op, cx),
        Creation::DynamicIota(op) => dynamic_iota(op, cx),
        Creation::Iota(op) => iota(op, cx),
        Creation::Rng(op) => rng(op, cx),
        Creation::RngBitGenerator(_) => rng_bit_generator(cx),
    }
}

fn constant(op: &Constant, cx: &OpContext<'_>) -> OpResult {
    // C1.
    if cx
        .result(0, Elements::ANY_PER_AXIS)?
        .is_some_and(|declared| *declared == **op.value.ty())
    {
        return Ok(Results::Declared);
    }
    let mut ty = (**op.value.ty()).clone();
    if let (Some(declared), Element::Plain(_)) = (cx.result(0, Elements::ANY_PER_AXIS)?, &ty.element)
        && let Element::Quantized(quantized) = &declared.element
        && Element::Plain(quantized.storage) == ty.element
    {
        // The literal of a quantized constant may be written by its storage type.
        ty.element = declared.element.clone();
    }
    Ok(Results::Inferred(vec![ty.into()]))
}

fn iota(op: &Iota, cx: &OpContext<'_>) -> OpResult {
    let result = cx.declared_static(0, Elements::ARITHMETIC)?;
    ensure!(
        result.rank() > 0,
        "does not support scalars, but the result is '{result}' (C1)"
    );
    positions::dimension("iota_dimension", op.iota_dimension, result.rank())?;
    Ok(Results::Declared)
}

fn dynamic_iota(op: &Iota, cx: &OpContext<'_>) -> OpResult {
    let length = cx.static_vector(0, Elements::DIMENSION)?;
    let result = cx.declared(0, Elements::ANY)?;
    // C1.
    positions::dimension("iota_dimension", op.iota_dimension, result.rank())?;
    // C2.
    shape_operand::check(cx, 0, length, result)?;
    Ok(Results::Declared)
}

fn rng(op: &Rng, cx: &OpContext<'_>) -> OpResult {
    let allowed = Elements::PRED_INT.or(Elements::FLOAT);
    let (a, b) = (cx.scalar(0, allowed)?, cx.scalar(1, allowed)?);
    let length = cx.static_vector(2, Elements::DIMENSION)?;
    // C1.
    ensure_same_element(&[a, b])?;
    ensure!(
        op.rng_distribution != RngDistribution::Normal || a.element.storage().is_float(),
        "mu and sigma of a normal distribution must be floats, but got '{a}' (C2)"
    );
    // C3.
    Ok(Results::Inferred(vec![shape_operand::shaped(
        cx, 2, length, &a.element,
    )?]))
}

fn rng_bit_generator(cx: &OpContext<'_>) -> OpResult {
    let state = cx.tensor(0, Elements::INT_FLOAT)?;
    let new_state = cx.declared(0, Elements::INT_FLOAT)?;
    cx.declared_static(1, Elements::INT_FLOAT)?;
    ensure!(
        super::compatible::tensors(state, new_state),
        "the output state must have the type of the initial one, but got '{state}' and '{new_state}' (C1)"
    );
    // C2, the size of the state, is left to who makes the numbers: released artifacts break it.
    Ok(Results::Declared)
}
