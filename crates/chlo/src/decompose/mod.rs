//! The function of StableHLO operations that computes what one CHLO operation does.
//!
//! Functions of real numbers are computed in `f32` or `f64`; narrower formats are computed in `f32` and rounded once.

mod broadcast;
mod coefficients;
mod complex;
mod elementary;
mod integer;
mod neighbour;
mod ragged;
mod scan;
mod slices;
mod special;
mod top_k;
mod zeta;

use artifact_ir::builder::BuildError;
use artifact_ir::module::Function;
use artifact_ir::op::Chlo;
use artifact_ir::types::{ElementClass, ElementType, Type};
use artifact_ir::verify::OpError;

use crate::graph::Graph;
use crate::number;
use crate::term::Term;

pub(crate) use scan::{Scan, scan};

/// Why there is no decomposition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// None is defined for what the operation holds: a lowercase fragment that reads after its name.
    Form(&'static str),
    /// None is defined for its element type.
    Element(ElementType),
    /// An operation of it breaks a rule.
    Build(BuildError),
    /// The operation itself breaks a rule.
    Rule(OpError),
}

impl From<BuildError> for Refusal {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// The decomposition of an operation without a region, under a name.
///
/// # Errors
/// [`Refusal`], where StableHLO has no form for the operation.
pub(crate) fn decompose(
    op: &Chlo,
    name: &str,
    operands: &[Type],
    results: &[Type],
) -> Result<Function, Refusal> {
    let graph = Graph::new(name, operands);
    let terms = terms(op, &graph, results)?;
    let ids: Option<Vec<_>> = terms.into_iter().map(Term::id).collect();
    graph.finish(&ids.unwrap_or_default(), results)
}

fn terms<'g>(op: &Chlo, graph: &'g Graph, results: &[Type]) -> Result<Vec<Term<'g>>, Refusal> {
    let arguments = graph.arguments();
    let result = match (op, arguments.as_slice()) {
        (Chlo::Scan(_), _) => return Err(Refusal::Form("has a region")),
        (Chlo::TopK(op), [operand]) => return top_k::top_k(op, *operand),
        (Chlo::Constant(op), []) => graph.constant(op.value.clone()),
        (Chlo::ConstantLike(op), [like]) => {
            let element = results
                .first()
                .and_then(Type::as_tensor)
                .map(|ty| ty.element.clone());
            let element = element.ok_or(Refusal::Form("does not give a tensor"))?;
            let bytes = number::of_attribute(&op.value, element.storage());
            let bytes = bytes.ok_or(Refusal::Form(
                "holds a value that is no number of its result's type",
            ))?;
            graph.splat_bytes(*like, &element, &bytes)
        }
        (Chlo::RaggedDot(op), [lhs, rhs, sizes]) => ragged::ragged_dot(op, [*lhs, *rhs, *sizes], results)?,
        (Chlo::Mulhi, [a, b]) => {
            graph.work_on(*a);
            integer::mulhi(*a, *b)
        }
        (Chlo::NextAfter | Chlo::Polygamma | Chlo::Zeta, [a, b]) => real_binary(op, *a, *b)?,
        (op, [operand]) => function(op, *operand)?,
        (op, arguments) => broadcast::broadcast(op, graph, arguments, results)?,
    };
    Ok(vec![result])
}

/// A function of one number.
fn function<'g>(op: &Chlo, operand: Term<'g>) -> Result<Term<'g>, Refusal> {
    let element = operand.element();
    operand.graph().work_on(operand);
    match (op, element.class()) {
        (Chlo::Conj, ElementClass::Float) => Ok(operand),
        (Chlo::Square, ElementClass::Float) => Ok(operand * operand),
        (_, ElementClass::Float) => {
            let wide = widened(operand);
            let result = real_function(op, wide).ok_or(Refusal::Element(element))?;
            let is_predicate = matches!(op, Chlo::IsInf | Chlo::IsNegInf | Chlo::IsPosInf);
            Ok(if is_predicate {
                result
            } else {
                result.convert(element)
            })
        }
        (_, ElementClass::Complex) => complex::function(op, operand).ok_or(Refusal::Element(element)),
        _ => Err(Refusal::Element(element)),
    }
}

/// A function of one `f32` or `f64`.
fn real_function<'g>(op: &Chlo, x: Term<'g>) -> Option<Term<'g>> {
    Some(match op {
        Chlo::Acos => elementary::acos(x),
        Chlo::Acosh => elementary::acosh(x),
        Chlo::Asin => elementary::asin(x),
        Chlo::Asinh => elementary::asinh(x),
        Chlo::Atan => elementary::atan(x),
        Chlo::Atanh => elementary::atanh(x),
        Chlo::BesselI1e => special::bessel_i1e(x),
        Chlo::Cosh => elementary::cosh(x),
        Chlo::Digamma => special::digamma(x),
        Chlo::Erf => special::erf(x),
        Chlo::ErfInv => special::erf_inv(x),
        Chlo::Erfc => special::erfc(x),
        Chlo::IsInf => x.is_infinite(),
        Chlo::IsNegInf => x.is(f64::NEG_INFINITY),
        Chlo::IsPosInf => x.is(f64::INFINITY),
        Chlo::Lgamma => special::ln_gamma(x),
        Chlo::Sinh => elementary::sinh(x),
        Chlo::Tan => elementary::tan(x),
        _ => return None,
    })
}

/// A function of two real numbers of one shape, with or without broadcasting before.
fn real_binary<'g>(op: &Chlo, a: Term<'g>, b: Term<'g>) -> Result<Term<'g>, Refusal> {
    let element = a.element();
    a.graph().work_on(a);
    if element.class() != ElementClass::Float {
        return Err(Refusal::Element(element));
    }
    let result = match op {
        Chlo::NextAfter | Chlo::BroadcastNextAfter(_) => return neighbour::next_after(a, b),
        Chlo::Polygamma | Chlo::BroadcastPolygamma(_) => zeta::polygamma(widened(a), widened(b)),
        Chlo::Zeta | Chlo::BroadcastZeta(_) => zeta::zeta(widened(a), widened(b)),
        _ => return Err(Refusal::Form("is not a function of two numbers")),
    };
    Ok(result.convert(element))
}

/// In the format in which functions are computed.
fn widened(operand: Term<'_>) -> Term<'_> {
    match operand.element() {
        ElementType::F64 => operand,
        _ => operand.convert(ElementType::F32),
    }
}

/// A table of the operand's precision: that of `f32` or that of `f64`.
fn table<'t>(x: Term<'_>, narrow: &'t [f64], wide: &'t [f64]) -> &'t [f64] {
    if x.element() == ElementType::F64 {
        wide
    } else {
        narrow
    }
}

/// A number that depends on the operand's precision.
fn threshold(x: Term<'_>, narrow: f64, wide: f64) -> f64 {
    if x.element() == ElementType::F64 {
        wide
    } else {
        narrow
    }
}
