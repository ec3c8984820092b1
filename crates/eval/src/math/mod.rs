//! Operations that work element by element, CHLO's included.
//!
//! Real arithmetic is done in `f64`, which holds every narrower format, and a result is rounded to its type once. For `f64`
//! itself the functions of the platform's mathematical library are used, within one unit in the last place. Complex and special
//! functions are our own. Operations on quantized tensors are done on the numbers that they stand for (spec, "Quantized
//! computations": `dequantize_op_quantize`).

mod bitcast;
mod broadcast;
mod chlo;
mod compare;
mod complex;
mod convert;
mod integer;
mod quantized;
mod real;
mod scaling;
mod special;
mod top_k;
mod wide;

use std::sync::Arc;

use artifact_ir::op::{Binary, Compare, Elementwise, ReducePrecision, Unary};
use artifact_ir::types::{ElementType, TensorType};

pub(crate) use chlo::chlo;
pub(crate) use quantized::{dequantize_tensor, quantize_tensor};

use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use complex::Complex;

/// An operation on one tensor (spec, each operation under its own name). `ty` is the result's type, of static shape.
///
/// # Errors
/// [`EvalError`] if the operation is not defined for the element type, or the result is too large.
pub(crate) fn unary(op: &Unary, operand: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    on_expressed(&[operand], ty, |operands, ty| {
        let element = operands[0].storage();
        map(ty, &[&operands[0]], |[x]| unary_scalar(op, element, x))
            .and_then(|result| result.ok_or_else(|| undefined(op.spec().name, element)))
    })
}

/// An operation on two tensors of one shape (spec, each operation under its own name).
///
/// # Errors
/// [`EvalError`] if the operation is not defined for the element type, or the result is too large.
pub(crate) fn binary(
    op: &Binary,
    lhs: &Tensor,
    rhs: &Tensor,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    on_expressed(&[lhs, rhs], ty, |operands, ty| {
        let element = operands[0].storage();
        map(ty, &[&operands[0], &operands[1]], |[a, b]| {
            binary_scalar(op, element, a, b)
        })
        .and_then(|result| result.ok_or_else(|| undefined(op.spec().name, element)))
    })
}

/// Any other operation that works element by element (spec, each operation under its own name).
///
/// # Errors
/// [`EvalError`] if there are too few operands, the operation is not defined for the element type, or the result is too large.
pub(crate) fn elementwise(
    op: &Elementwise,
    operands: &[Tensor],
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let name = op.spec().name;
    let all: Vec<&Tensor> = operands.iter().collect();
    match op {
        Elementwise::BitcastConvert => bitcast::bitcast_convert(one(name, operands)?, ty),
        Elementwise::UniformDequantize => dequantize_tensor(one(name, operands)?),
        Elementwise::UniformQuantize => {
            let operand = one(name, operands)?;
            let is_quantized = operand.ty().element.as_quantized().is_some();
            let floats = if is_quantized {
                dequantize_tensor(operand)?
            } else {
                operand.clone()
            };
            quantize_tensor(&floats, ty)
        }
        Elementwise::Clamp => on_expressed(&all, ty, |operands, ty| clamp(name, operands, ty)),
        Elementwise::Compare(attributes) => on_expressed(&all, ty, |operands, ty| {
            compare_tensors(name, attributes, operands, ty)
        }),
        Elementwise::Complex => on_expressed(&all, ty, |operands, ty| {
            let combine = |[re, im]: [Scalar; 2]| Some(Scalar::Complex(re.as_float()?, im.as_float()?));
            defined(name, map(ty, &exactly(name, operands)?, combine)?)
        }),
        Elementwise::Convert => on_expressed(&all, ty, |operands, ty| {
            let to = ty.element.storage();
            defined(
                name,
                map(ty, &[one(name, operands)?], |[x]| Some(convert::convert(x, to)))?,
            )
        }),
        Elementwise::ReducePrecision(attributes) => on_expressed(&all, ty, |operands, ty| {
            reduce_precision(name, attributes, one(name, operands)?, ty)
        }),
        Elementwise::Select => on_expressed(&all, ty, |operands, ty| select(name, operands, ty)),
    }
}

/// Computes with the numbers that quantized operands stand for, and quantizes the result if its type is quantized.
fn on_expressed(
    operands: &[&Tensor],
    ty: &Arc<TensorType>,
    compute: impl FnOnce(&[Tensor], &Arc<TensorType>) -> Result<Tensor, EvalError>,
) -> Result<Tensor, EvalError> {
    let expressed = operands
        .iter()
        .map(|operand| match operand.ty().element.as_quantized() {
            Some(_) => dequantize_tensor(operand),
            None => Ok((*operand).clone()),
        });
    let expressed = expressed.collect::<Result<Vec<_>, _>>()?;
    match ty.element.as_quantized() {
        None => compute(&expressed, ty),
        Some(quantized) => {
            let plain = Arc::new(ty.with_element(quantized.expressed));
            quantize_tensor(&compute(&expressed, &plain)?, ty)
        }
    }
}

/// A tensor of which each element is a function of the operands' elements there; an operand of one element stands for any
/// number of equal ones. `None` if the function is not defined for some element.
fn map<const N: usize>(
    ty: &Arc<TensorType>,
    operands: &[&Tensor; N],
    function: impl Fn([Scalar; N]) -> Option<Scalar>,
) -> Result<Option<Tensor>, EvalError> {
    let count = ty.element_count();
    for operand in operands {
        if operand.ty().rank() != 0 && Some(operand.len() as u64) != count {
            return Err(EvalError::runtime(format!(
                "an operand of type {} has not as many elements as {ty}",
                operand.ty()
            )));
        }
    }
    let mut is_defined = true;
    let result = Tensor::from_fn(Arc::clone(ty), |position| {
        let elements =
            operands.map(|operand| operand.get(if operand.ty().rank() == 0 { 0 } else { position }));
        function(elements).unwrap_or_else(|| {
            is_defined = false;
            Scalar::zero(ty.element.storage().class())
        })
    })?;
    Ok(is_defined.then_some(result))
}

fn defined(name: &str, result: Option<Tensor>) -> Result<Tensor, EvalError> {
    result.ok_or_else(|| {
        EvalError::unsupported(format!("{name} is not defined for its operands' element types"))
    })
}

fn undefined(name: &str, element: ElementType) -> EvalError {
    EvalError::unsupported(format!("{name} is not defined for elements of type {element}"))
}

fn one<'a>(name: &str, operands: &'a [Tensor]) -> Result<&'a Tensor, EvalError> {
    exactly(name, operands).map(|[operand]| operand)
}

fn exactly<'a, const N: usize>(name: &str, operands: &'a [Tensor]) -> Result<[&'a Tensor; N], EvalError> {
    let operands: Vec<&Tensor> = operands.iter().collect();
    let actual = operands.len();
    <[&Tensor; N]>::try_from(operands)
        .map_err(|_| EvalError::runtime(format!("{name} takes {N} operands, there are {actual}")))
}

fn unary_scalar(op: &Unary, ty: ElementType, x: Scalar) -> Option<Scalar> {
    match x {
        Scalar::Bool(x) => integer::boolean_unary(op, x).map(Scalar::Bool),
        Scalar::Int(x) => integer::unary(op, ty, x).map(Scalar::Int),
        Scalar::Float(x) if matches!(op, Unary::IsFinite) => Some(Scalar::Bool(x.is_finite())),
        Scalar::Float(x) => real::unary(op, x).map(Scalar::Float),
        Scalar::Complex(re, im) => complex_unary(op, Complex::new(re, im)),
    }
}

fn complex_unary(op: &Unary, z: Complex) -> Option<Scalar> {
    let result = match op {
        Unary::Abs => return Some(Scalar::Float(complex::abs(z))),
        Unary::Real => return Some(Scalar::Float(z.re)),
        Unary::Imag => return Some(Scalar::Float(z.im)),
        Unary::Cbrt(_) => complex::cbrt(z),
        Unary::Cosine(_) => complex::cos(z),
        Unary::Exponential(_) => complex::exp(z),
        Unary::ExponentialMinusOne(_) => complex::exp_m1(z),
        Unary::Log(_) => complex::ln(z),
        Unary::LogPlusOne(_) => complex::ln_1p(z),
        Unary::Logistic(_) => complex::logistic(z),
        Unary::Negate => complex::negate(z),
        Unary::Rsqrt(_) => complex::rsqrt(z),
        Unary::Sign => complex::sign(z),
        Unary::Sine(_) => complex::sin(z),
        Unary::Sqrt(_) => complex::sqrt(z),
        Unary::Tan(_) => complex::tan(z),
        Unary::Tanh(_) => complex::tanh(z),
        Unary::Ceil
        | Unary::CountLeadingZeros
        | Unary::Floor
        | Unary::IsFinite
        | Unary::Not
        | Unary::Popcnt
        | Unary::RoundNearestAfz
        | Unary::RoundNearestEven => return None,
    };
    Some(Scalar::Complex(result.re, result.im))
}

fn binary_scalar(op: &Binary, ty: ElementType, a: Scalar, b: Scalar) -> Option<Scalar> {
    match (a, b) {
        (Scalar::Bool(a), Scalar::Bool(b)) => integer::boolean_binary(op, a, b).map(Scalar::Bool),
        (Scalar::Int(a), Scalar::Int(b)) => integer::binary(op, ty, a, b).map(Scalar::Int),
        (Scalar::Float(a), Scalar::Float(b)) => real::binary(op, a, b).map(Scalar::Float),
        (Scalar::Complex(a_re, a_im), Scalar::Complex(b_re, b_im)) => {
            let result = complex_binary(op, Complex::new(a_re, a_im), Complex::new(b_re, b_im))?;
            Some(Scalar::Complex(result.re, result.im))
        }
        _ => None,
    }
}

fn complex_binary(op: &Binary, a: Complex, b: Complex) -> Option<Complex> {
    // Complex numbers are ordered by real part, then by imaginary part.
    let is_above = |a: Complex, b: Complex| if a.re == b.re { a.im > b.im } else { a.re > b.re };
    Some(match op {
        Binary::Add => complex::add(a, b),
        Binary::Atan2 => complex::atan2(a, b),
        Binary::Divide => complex::divide(a, b),
        Binary::Maximum => {
            if is_above(a, b) {
                a
            } else {
                b
            }
        }
        Binary::Minimum => {
            if is_above(b, a) {
                a
            } else {
                b
            }
        }
        Binary::Multiply => complex::multiply(a, b),
        Binary::Power => complex::powc(a, b),
        Binary::Subtract => complex::subtract(a, b),
        Binary::And
        | Binary::Or
        | Binary::Remainder
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Xor => return None,
    })
}

/// `minimum(maximum(operand, min), max)`; `min` and `max` may be scalars.
fn clamp(name: &str, operands: &[Tensor], ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let element = ty.element.storage();
    let result = map(ty, &exactly(name, operands)?, |[least, x, greatest]| {
        let raised = binary_scalar(&Binary::Maximum, element, x, least)?;
        binary_scalar(&Binary::Minimum, element, raised, greatest)
    });
    defined(name, result?)
}

fn compare_tensors(
    name: &str,
    op: &Compare,
    operands: &[Tensor],
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let operands = exactly(name, operands)?;
    let element = operands[0].storage();
    let result = map(ty, &operands, |[a, b]| {
        Some(Scalar::Bool(compare::compare(
            op.comparison_direction,
            op.compare_type,
            element,
            a,
            b,
        )))
    });
    defined(name, result?)
}

fn reduce_precision(
    name: &str,
    op: &ReducePrecision,
    operand: &Tensor,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let width = |bits: i32| {
        u32::try_from(bits).map_err(|_| EvalError::runtime(format!("{name}: {bits} is not a width")))
    };
    let (exponent, mantissa) = (width(op.exponent_bits)?, width(op.mantissa_bits)?);
    let element = operand.storage();
    let result = map(ty, &[operand], |[x]| {
        Some(Scalar::Float(convert::reduce_precision(
            element,
            x.as_float()?,
            exponent,
            mantissa,
        )))
    });
    defined(name, result?)
}

/// Elements are copied, so that a NaN keeps its bits.
fn select(name: &str, operands: &[Tensor], ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let [pred, on_true, on_false] = exactly(name, operands)?;
    let pred_at = |position| {
        pred.get(if pred.ty().rank() == 0 { 0 } else { position })
            .as_bool()
            == Some(true)
    };
    let counts = [on_true.bytes().len(), on_false.bytes().len()].map(|count| Some(count as u64));
    if counts != [ty.byte_count(); 2] || pred.ty().rank() != 0 && pred.len() != on_true.len() {
        return Err(EvalError::runtime(format!(
            "{name}: the operands have not as many elements as {ty}"
        )));
    }
    let width = ty.element.storage().bytes();
    let pairs = on_true
        .bytes()
        .chunks_exact(width)
        .zip(on_false.bytes().chunks_exact(width))
        .enumerate();
    let bytes = pairs
        .flat_map(|(position, (a, b))| if pred_at(position) { a } else { b })
        .copied();
    bitcast::tensor_of_bytes(ty, bytes.collect())
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
