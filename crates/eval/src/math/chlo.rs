//! Client-level operations (ODS: `ChloOps.td`).

use std::sync::Arc;

use artifact_ir::attribute::Attribute;
use artifact_ir::op::{Binary, BroadcastBinary, Chlo, Compare, Elementwise};
use artifact_ir::types::{ElementType, TensorType};

use super::broadcast::broadcast;
use super::complex::{self, Complex};
use super::convert::convert;
use super::{defined, exactly, integer, map, on_expressed, one, real, special};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A client-level operation; `types` are those of the results, of static shape. `None` for `scan`, which has a region, and
/// `ragged_dot`, which is a contraction: others evaluate those.
///
/// # Errors
/// [`EvalError`] if operands do not fit each other, the operation is not defined for the element type, or the result is too
/// large.
pub(crate) fn chlo(
    op: &Chlo,
    operands: &[Tensor],
    types: &[Arc<TensorType>],
) -> Result<Option<Vec<Tensor>>, EvalError> {
    let name = op.spec().name;
    let Some(ty) = types.first() else {
        return Err(EvalError::runtime(format!("{name} has no result")));
    };
    let result = match op {
        Chlo::Scan(_) | Chlo::RaggedDot(_) => return Ok(None),
        Chlo::TopK(_) => return super::top_k::top_k(one(name, operands)?, types).map(Some),
        Chlo::Constant(constant) => Tensor::from_literal(&constant.value)?,
        Chlo::ConstantLike(constant) => constant_like(&constant.value, ty)?,
        Chlo::Mulhi => {
            let element = ty.element.storage();
            let multiply =
                |[a, b]: [Scalar; 2]| Some(Scalar::Int(integer::mulhi(element, a.as_int()?, b.as_int()?)));
            defined(name, map(ty, &exactly(name, operands)?, multiply)?)?
        }
        Chlo::NextAfter | Chlo::Polygamma | Chlo::Zeta => {
            let [a, b] = exactly(name, operands)?;
            real_binary(op, a, b, ty)?
        }
        _ if name.starts_with("chlo.broadcast_") => broadcasting(op, operands, ty)?,
        _ => function(op, one(name, operands)?, ty)?,
    };
    Ok(Some(vec![result]))
}

/// A function of one number.
fn function(op: &Chlo, operand: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    on_expressed(&[operand], ty, |operands, ty| {
        let element = operands[0].storage();
        let result = map(ty, &[&operands[0]], |[x]| match x {
            Scalar::Float(x) => real_function(op, element, x),
            Scalar::Complex(re, im) => complex_function(op, Complex::new(re, im)),
            Scalar::Int(x) => match op {
                Chlo::Square => Some(Scalar::Int(x.wrapping_mul(x))),
                _ => None,
            },
            Scalar::Bool(_) => None,
        });
        defined(op.spec().name, result?)
    })
}

fn real_function(op: &Chlo, ty: ElementType, x: f64) -> Option<Scalar> {
    let result = match op {
        Chlo::IsInf => return Some(Scalar::Bool(x.is_infinite())),
        Chlo::IsNegInf => return Some(Scalar::Bool(x == f64::NEG_INFINITY)),
        Chlo::IsPosInf => return Some(Scalar::Bool(x == f64::INFINITY)),
        Chlo::Acos => x.acos(),
        Chlo::Acosh => special::acosh(x),
        Chlo::Asin => x.asin(),
        Chlo::Asinh => special::asinh(x),
        Chlo::Atan => x.atan(),
        Chlo::Atanh => special::atanh(x),
        Chlo::BesselI1e => special::bessel_i1e(x),
        Chlo::Conj => x,
        Chlo::Cosh => special::cosh(ty, x),
        Chlo::Digamma => special::digamma(x),
        Chlo::Erf => special::erf(x),
        Chlo::ErfInv => special::erf_inv(x),
        Chlo::Erfc => special::erfc(x),
        Chlo::Lgamma => special::ln_gamma(x),
        Chlo::Sinh => special::sinh(ty, x),
        Chlo::Square => x * x,
        Chlo::Tan => x.tan(),
        _ => return None,
    };
    Some(Scalar::Float(result))
}

fn complex_function(op: &Chlo, z: Complex) -> Option<Scalar> {
    let result = match op {
        Chlo::AsinAcosKernel => complex::asin_acos_kernel(z),
        Chlo::Acos => complex::acos(z),
        Chlo::Acosh => complex::acosh(z),
        Chlo::Asin => complex::asin(z),
        Chlo::Asinh => complex::asinh(z),
        Chlo::Atan => complex::atan(z),
        Chlo::Atanh => complex::atanh(z),
        Chlo::Conj => Complex::new(z.re, -z.im),
        Chlo::Cosh => complex::cosh(z),
        Chlo::Sinh => complex::sinh(z),
        Chlo::Square => complex::square(z),
        Chlo::Tan => complex::tan(z),
        _ => return None,
    };
    Some(Scalar::Complex(result.re, result.im))
}

/// A function of two real numbers, with or without implicit broadcasting before.
fn real_binary(op: &Chlo, a: &Tensor, b: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let element = ty.element.storage();
    let result = map(ty, &[a, b], |[a, b]| {
        let (a, b) = (a.as_float()?, b.as_float()?);
        Some(Scalar::Float(match op {
            Chlo::NextAfter | Chlo::BroadcastNextAfter(_) => real::next_after(element, a, b),
            Chlo::Polygamma | Chlo::BroadcastPolygamma(_) => special::polygamma(a, b),
            Chlo::Zeta | Chlo::BroadcastZeta(_) => special::zeta(a, b),
            _ => return None,
        }))
    });
    defined(op.spec().name, result?)
}

/// An operation with implicit broadcasting: operands are brought to the result's shape first.
fn broadcasting(op: &Chlo, operands: &[Tensor], ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let name = op.spec().name;
    if let Chlo::BroadcastSelect = op {
        let operands = operands.iter().map(|operand| broadcast(operand, ty, None));
        return super::elementwise(
            &Elementwise::Select,
            &operands.collect::<Result<Vec<_>, _>>()?,
            ty,
        );
    }
    let Some(dims) = broadcast_dimensions(op) else {
        return Err(EvalError::unsupported(format!("{name} is not evaluated")));
    };
    let [lhs, rhs] = exactly(name, operands)?;
    let pair = [broadcast(lhs, ty, dims)?, broadcast(rhs, ty, dims)?];
    match op {
        Chlo::BroadcastCompare(attributes) => {
            let compare = Compare {
                comparison_direction: attributes.comparison_direction,
                compare_type: attributes.compare_type,
            };
            super::elementwise(&Elementwise::Compare(compare), &pair, ty)
        }
        Chlo::BroadcastComplex(_) => super::elementwise(&Elementwise::Complex, &pair, ty),
        other => match plain_binary(other) {
            Some(binary) => super::binary(&binary, &pair[0], &pair[1], ty),
            None => real_binary(op, &pair[0], &pair[1], ty),
        },
    }
}

/// The attribute of an operation of two operands with implicit broadcasting.
fn broadcast_dimensions(op: &Chlo) -> Option<Option<&[i64]>> {
    let BroadcastBinary { broadcast_dimensions } = match op {
        Chlo::BroadcastCompare(attributes) => return Some(attributes.broadcast_dimensions.as_deref()),
        Chlo::BroadcastAdd(attributes)
        | Chlo::BroadcastAnd(attributes)
        | Chlo::BroadcastAtan2(attributes)
        | Chlo::BroadcastComplex(attributes)
        | Chlo::BroadcastDivide(attributes)
        | Chlo::BroadcastMaximum(attributes)
        | Chlo::BroadcastMinimum(attributes)
        | Chlo::BroadcastMultiply(attributes)
        | Chlo::BroadcastNextAfter(attributes)
        | Chlo::BroadcastOr(attributes)
        | Chlo::BroadcastPolygamma(attributes)
        | Chlo::BroadcastPower(attributes)
        | Chlo::BroadcastRemainder(attributes)
        | Chlo::BroadcastShiftLeft(attributes)
        | Chlo::BroadcastShiftRightArithmetic(attributes)
        | Chlo::BroadcastShiftRightLogical(attributes)
        | Chlo::BroadcastSubtract(attributes)
        | Chlo::BroadcastXor(attributes)
        | Chlo::BroadcastZeta(attributes) => attributes,
        _ => return None,
    };
    Some(broadcast_dimensions.as_deref())
}

/// The operation without broadcasting, where StableHLO has it.
const fn plain_binary(op: &Chlo) -> Option<Binary> {
    Some(match op {
        Chlo::BroadcastAdd(_) => Binary::Add,
        Chlo::BroadcastAnd(_) => Binary::And,
        Chlo::BroadcastAtan2(_) => Binary::Atan2,
        Chlo::BroadcastDivide(_) => Binary::Divide,
        Chlo::BroadcastMaximum(_) => Binary::Maximum,
        Chlo::BroadcastMinimum(_) => Binary::Minimum,
        Chlo::BroadcastMultiply(_) => Binary::Multiply,
        Chlo::BroadcastOr(_) => Binary::Or,
        Chlo::BroadcastPower(_) => Binary::Power,
        Chlo::BroadcastRemainder(_) => Binary::Remainder,
        Chlo::BroadcastShiftLeft(_) => Binary::ShiftLeft,
        Chlo::BroadcastShiftRightArithmetic(_) => Binary::ShiftRightArithmetic,
        Chlo::BroadcastShiftRightLogical(_) => Binary::ShiftRightLogical,
        Chlo::BroadcastSubtract(_) => Binary::Subtract,
        Chlo::BroadcastXor(_) => Binary::Xor,
        _ => return None,
    })
}

/// A splat of a number in the result's type.
fn constant_like(value: &Attribute, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let scalar = number(value)
        .ok_or_else(|| EvalError::unsupported(format!("chlo.constant_like takes a number, not {value:?}")))?;
    let scalar = convert(scalar, ty.element.storage());
    Ok(Tensor::from_fn(Arc::clone(ty), |_| scalar)?)
}

fn number(value: &Attribute) -> Option<Scalar> {
    match value {
        Attribute::Bool(value) => Some(Scalar::Bool(*value)),
        Attribute::Integer { value, .. } => Some(Scalar::Int(*value)),
        Attribute::Float(value) => Some(Scalar::Float(value.value())),
        // `#complex.number<:f32 1.0, 2.0>`, of a dialect of which this is all that is used.
        Attribute::Foreign(text) => {
            let (_, parts) = text
                .strip_prefix("#complex.number<:")?
                .strip_suffix('>')?
                .split_once(' ')?;
            let (re, im) = parts.split_once(',')?;
            Some(Scalar::Complex(re.trim().parse().ok()?, im.trim().parse().ok()?))
        }
        _ => None,
    }
}
