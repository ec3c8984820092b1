//! Operations that work element by element.

use super::compatible::{self, ensure_elements, ensure_same_element, ensure_shapes};
use super::element::Elements;
use super::extent::{combine, most_specific, result_like};
use super::quantization;
use crate::attribute::{ResultAccuracy, ResultAccuracyMode};
use crate::op::{Binary, Elementwise, ReducePrecision, Transcendental, Unary};
use crate::types::{Dim, Element, ElementType, TensorType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

/// How the element of a result follows from that of the operand.
enum ResultElement {
    /// It is the same.
    Same,
    /// It is that of the real and imaginary parts.
    Part,
    /// It is `i1`.
    Boolean,
}

/// What each operation takes (I1), what it gives (C1, C2), and the accuracy that it was asked for.
fn unary_row(op: &Unary) -> (Elements, ResultElement, Option<ResultAccuracy>) {
    use ResultElement::{Boolean, Part, Same};
    let signed = Elements::SIGNED.or(Elements::FLOAT_COMPLEX_QUANTIZED);
    match op {
        Unary::Abs => (signed, Part, None),
        Unary::Ceil | Unary::Floor | Unary::RoundNearestAfz | Unary::RoundNearestEven => {
            (Elements::FLOAT_QUANTIZED, Same, None)
        }
        Unary::CountLeadingZeros | Unary::Popcnt => (Elements::INT, Same, None),
        Unary::Imag | Unary::Real => (Elements::FLOAT_COMPLEX, Part, None),
        Unary::IsFinite => (Elements::FLOAT_QUANTIZED, Boolean, None),
        Unary::Negate => (Elements::ARITHMETIC, Same, None),
        Unary::Not => (Elements::PRED_INT, Same, None),
        Unary::Sign => (signed, Same, None),
        Unary::Cbrt(Transcendental { result_accuracy })
        | Unary::Cosine(Transcendental { result_accuracy })
        | Unary::Exponential(Transcendental { result_accuracy })
        | Unary::ExponentialMinusOne(Transcendental { result_accuracy })
        | Unary::Log(Transcendental { result_accuracy })
        | Unary::LogPlusOne(Transcendental { result_accuracy })
        | Unary::Logistic(Transcendental { result_accuracy })
        | Unary::Rsqrt(Transcendental { result_accuracy })
        | Unary::Sine(Transcendental { result_accuracy })
        | Unary::Sqrt(Transcendental { result_accuracy })
        | Unary::Tan(Transcendental { result_accuracy })
        | Unary::Tanh(Transcendental { result_accuracy }) => {
            (Elements::FLOAT_COMPLEX_QUANTIZED, Same, Some(*result_accuracy))
        }
    }
}

/// Operations of one operand.
pub(super) fn unary(op: &Unary, cx: &OpContext<'_>) -> OpResult {
    let (allowed, result, accuracy) = unary_row(op);
    let operand = cx.tensor(0, allowed)?;
    if let Some(accuracy) = accuracy {
        check_accuracy(accuracy)?;
    }
    if matches!(result, ResultElement::Same) && cx.all_of_one_type() {
        return Ok(Results::Declared);
    }
    let element = match (result, &operand.element) {
        (ResultElement::Boolean, _) => ElementType::I1.into(),
        (ResultElement::Part, Element::Plain(element)) => element.part().into(),
        (ResultElement::Part | ResultElement::Same, element) => element.clone(),
    };
    Ok(result_like(cx, operand, element))
}

/// Tolerances are not negative, and only count when the mode says so (spec, "ResultAccuracy").
fn check_accuracy(accuracy: ResultAccuracy) -> OpResult<()> {
    let ResultAccuracy {
        atol_bits,
        rtol_bits,
        ulps,
        mode,
    } = accuracy;
    let (atol, rtol) = (f64::from_bits(atol_bits), f64::from_bits(rtol_bits));
    ensure!(
        !(atol.is_sign_negative() || rtol.is_sign_negative() || ulps < 0),
        "tolerances of result_accuracy must not be negative, but got atol {atol:?}, rtol {rtol:?}, ulps {ulps}"
    );
    ensure!(
        mode == ResultAccuracyMode::Tolerance || (atol == 0.0 && rtol == 0.0 && ulps == 0),
        "tolerances of result_accuracy with mode {mode} must all be zero, but got atol {atol:?}, rtol {rtol:?}, ulps {ulps}"
    );
    Ok(())
}

/// What each operation takes (I1, I2).
fn binary_elements(op: &Binary) -> Elements {
    match op {
        Binary::Add => Elements::ANY_PER_AXIS,
        Binary::And | Binary::Or | Binary::Xor => Elements::PRED_INT,
        Binary::Atan2 => Elements::FLOAT_COMPLEX_QUANTIZED,
        Binary::Divide | Binary::Power | Binary::Remainder | Binary::Subtract => Elements::ARITHMETIC,
        Binary::Maximum | Binary::Minimum | Binary::Multiply => Elements::ANY,
        Binary::ShiftLeft | Binary::ShiftRightArithmetic | Binary::ShiftRightLogical => Elements::INT,
    }
}

/// Operations of two operands of one type (C1).
pub(super) fn binary(op: &Binary, cx: &OpContext<'_>) -> OpResult {
    let allowed = binary_elements(op);
    let (lhs, rhs) = (cx.tensor(0, allowed)?, cx.tensor(1, allowed)?);
    if *op == Binary::Add
        && let Some(result) = cx.result(0, allowed)?
        && quantization::any(&[lhs, rhs, result])
    {
        // The granularity of an operand may differ from the result's, so that the element cannot be inferred.
        ensure_shapes(&[lhs, rhs, result])?;
        quantization::check_add(lhs, rhs, result)?;
        return Ok(Results::Declared);
    }
    if cx.all_of_one_type() {
        return Ok(Results::Declared);
    }
    same_type(&[lhs, rhs]).map(|ty| Results::Inferred(vec![ty]))
}

/// The one type of operands that must have one type.
pub(super) fn same_type(operands: &[&TensorType]) -> OpResult<Type> {
    if let [first, rest @ ..] = operands {
        for other in rest {
            ensure!(
                compatible::elements(&first.element, &other.element) && compatible::shapes(first, other),
                "requires compatible types for all operands and results, but got '{first}' and '{other}' (C1)"
            );
        }
    }
    combine(operands, most_specific)
}

/// All other operations of the family.
pub(super) fn other(op: &Elementwise, cx: &OpContext<'_>) -> OpResult {
    match op {
        Elementwise::BitcastConvert => bitcast_convert(cx),
        Elementwise::Clamp => clamp(cx),
        Elementwise::Compare(_) => compare(cx),
        Elementwise::Complex => complex(cx),
        Elementwise::Convert => convert(cx),
        Elementwise::ReducePrecision(op) => reduce_precision(op, cx),
        Elementwise::Select => select(cx),
        Elementwise::UniformDequantize => uniform_dequantize(cx),
        Elementwise::UniformQuantize => uniform_quantize(cx),
    }
}

fn bitcast_convert(cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::ANY_PER_AXIS)?;
    let result = cx.declared(0, Elements::ANY_PER_AXIS)?;
    let (from, to) = (operand.element.storage(), result.element.storage());
    ensure!(
        from.is_complex() == to.is_complex(),
        "cannot convert between real and complex types, but got '{operand}' and '{result}' (C2)"
    );
    let (narrow, wide) = if from.bits() < to.bits() {
        (operand, result)
    } else {
        (result, operand)
    };
    let (narrow_bits, wide_bits) = (narrow.element.storage().bits(), wide.element.storage().bits());
    if narrow_bits != wide_bits {
        ensure!(
            narrow.rank() == wide.rank() + 1,
            "the rank of '{narrow}' must be one more than that of '{wide}', whose elements are wider (C1)"
        );
        if let Some(Dim::Static(last)) = narrow.dims.last() {
            ensure!(
                last.checked_mul(u64::from(narrow_bits)) == Some(u64::from(wide_bits)),
                "{last} elements of {narrow_bits} bits of '{narrow}' do not make one of '{wide}' (C1)"
            );
        }
    } else {
        ensure!(
            narrow.rank() == wide.rank(),
            "the ranks of '{operand}' and '{result}' differ (C1)"
        );
    }
    ensure!(
        narrow.dims.iter().zip(&wide.dims).all(|(a, b)| a.compatible(b)),
        "the shapes of '{operand}' and '{result}' differ in more than the last dimension of the narrower one (C1)"
    );
    Ok(Results::Declared)
}

fn clamp(cx: &OpContext<'_>) -> OpResult {
    let (min, operand, max) = (
        cx.tensor(0, Elements::ANY)?,
        cx.tensor(1, Elements::ANY)?,
        cx.tensor(2, Elements::ANY)?,
    );
    for (name, limit, rule) in [("min", min, "C1"), ("max", max, "C2")] {
        ensure!(
            limit.rank() == 0 || compatible::shapes(limit, operand),
            "{name} '{limit}' is neither scalar nor of the shape of the operand '{operand}' ({rule})"
        );
    }
    // C3.
    ensure_elements(&[operand, min, max])?;
    // C4.
    Ok(Results::Inferred(vec![operand.clone().into()]))
}

fn compare(cx: &OpContext<'_>) -> OpResult {
    let (lhs, rhs) = (cx.tensor(0, Elements::ANY)?, cx.tensor(1, Elements::ANY)?);
    // C1, C2.
    ensure_elements(&[lhs, rhs])?;
    ensure_shapes(&[lhs, rhs])?;
    // C3 is not checked: released artifacts compare floats as SIGNED, and the order is that of the element type all the same.
    like_both(cx, [lhs, rhs], ElementType::I1)
}

fn complex(cx: &OpContext<'_>) -> OpResult {
    let (lhs, rhs) = (cx.tensor(0, Elements::PART)?, cx.tensor(1, Elements::PART)?);
    // C1.
    ensure_same_element(&[lhs, rhs])?;
    ensure_shapes(&[lhs, rhs])?;
    let element = lhs.element.storage().complex_of();
    let element =
        element.ok_or_else(|| OpError::new(format!("'{lhs}' cannot be part of a complex number")))?;
    // C2, C3.
    like_both(cx, [lhs, rhs], element)
}

/// A result of the shape of both operands with another element.
fn like_both(cx: &OpContext<'_>, [lhs, rhs]: [&TensorType; 2], element: ElementType) -> OpResult {
    if lhs.dims == rhs.dims && lhs.encoding == rhs.encoding {
        return Ok(result_like(cx, lhs, element));
    }
    match combine(&[lhs, rhs], most_specific)? {
        Type::Tensor(operand) => Ok(result_like(cx, &operand, element)),
        _ => Err(OpError::new("requires tensor operands")),
    }
}

fn convert(cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::PLAIN)?;
    let result = cx.declared(0, Elements::PLAIN)?;
    // C1.
    ensure_shapes(&[operand, result])?;
    Ok(Results::Declared)
}

fn reduce_precision(op: &ReducePrecision, cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::FLOAT_QUANTIZED)?;
    ensure!(
        op.exponent_bits >= 1,
        "attribute 'exponent_bits' must be positive, but is {} (C2)",
        op.exponent_bits
    );
    ensure!(
        op.mantissa_bits >= 0,
        "attribute 'mantissa_bits' must not be negative, but is {} (C3)",
        op.mantissa_bits
    );
    // C1.
    Ok(Results::Inferred(vec![operand.clone().into()]))
}

fn select(cx: &OpContext<'_>) -> OpResult {
    let pred = cx.tensor(0, Elements::PRED)?;
    let (on_true, on_false) = (cx.tensor(1, Elements::ANY)?, cx.tensor(2, Elements::ANY)?);
    ensure!(
        on_true.element == on_false.element && compatible::shapes(on_true, on_false),
        "requires compatible types for non-predicate operands, but got '{on_true}' and '{on_false}' (C2)"
    );
    ensure!(
        pred.rank() == 0 || compatible::shapes(pred, on_true),
        "requires a predicate that is scalar or of the operands' shape, but got '{pred}' and '{on_true}' (C1)"
    );
    Ok(Results::Inferred(vec![combine(
        &[on_true, on_false],
        most_specific,
    )?]))
}

fn uniform_dequantize(cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::QUANTIZED)?;
    // C1, C2.
    Ok(result_like(cx, operand, operand.element.expressed()))
}

fn uniform_quantize(cx: &OpContext<'_>) -> OpResult {
    let operand = cx.tensor(0, Elements::FLOAT.or(Elements::QUANTIZED))?;
    let result = cx.declared(0, Elements::QUANTIZED)?;
    // C1.
    ensure_shapes(&[operand, result])?;
    ensure!(
        operand.element.expressed() == result.element.expressed(),
        "expressed type of the result must be {}, but is {} (C2)",
        operand.element.expressed(),
        result.element.expressed()
    );
    Ok(Results::Declared)
}
