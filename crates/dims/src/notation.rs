//! The notation for printing: remainders, minima and two-sided maxima in place of their canonical forms.
//!
//! The canonical form of `mod(a, 5)` is `a - 5*floordiv(a, 5)`, that of `max(a, b)` is `b + max(a - b, 0)`. This module
//! goes back, one operation after the other, whenever the text gets shorter (in JAX's measure of size). Parsing the
//! outcome gives the canonical form again. Large expressions print as they are.

use std::collections::BTreeSet;

use crate::division::operation;
use crate::expr::{Expr, ExprError, Term};
use crate::limits;
use crate::monomial::{Factor, Kind, Monomial, Operation};

/// The expression in the notation for printing. Its operands are canonical still.
pub(crate) fn notation(expr: &Expr) -> Expr {
    if expr.nodes() > limits::NOTATION_NODES {
        return expr.clone();
    }
    let factors: BTreeSet<&Factor> = expr.factors().collect();
    factors.into_iter().rev().fold(expr.clone(), shortest)
}

/// The shortest way to write one operation of an expression.
fn shortest(expr: Expr, factor: &Factor) -> Expr {
    let Factor::Operation(operation) = factor else {
        return expr;
    };
    let forms = match operation.kind {
        Kind::FloorDiv => remainder_forms(&expr, factor, operation),
        Kind::Max => extremum_forms(&expr, factor, operation),
        Kind::Min | Kind::Mod => Vec::new(),
    };
    forms.into_iter().flatten().fold(
        expr,
        |best, form| if form.weight() < best.weight() { form } else { best },
    )
}

/// Splits `expr` into `cofactor*factor + rest`. Higher powers of the factor stay in the rest.
fn collect(expr: &Expr, factor: &Factor) -> Result<(Expr, Expr), ExprError> {
    let single = Monomial::of(factor.clone());
    let linear = |monomial: &Monomial| monomial.exponent(factor) == 1;
    let (with, without): (Vec<_>, Vec<_>) = expr.parts().partition(|(monomial, _)| linear(monomial));
    let cofactor = with
        .into_iter()
        .filter_map(|(monomial, value)| Some((monomial.divided_by(&single)?, value)));
    Ok((Expr::sum(cofactor)?, Expr::sum(without)?))
}

/// `q*y*floordiv(x, y)` as `q*(x - mod(x, y))`.
fn remainder_forms(expr: &Expr, factor: &Factor, found: &Operation) -> Vec<Result<Expr, ExprError>> {
    let Ok((cofactor, rest)) = collect(expr, factor) else {
        return Vec::new();
    };
    let Some(count) = cofactor.divided_exactly(&found.right) else {
        return Vec::new();
    };
    let form = || {
        let remainder = operation(Kind::Mod, found.left.clone(), found.right.clone())?;
        rest.add(&count.mul(&found.left.sub(&remainder)?)?)
    };
    vec![form()]
}

/// `q*max(d, 0)` as a maximum or a minimum of `d` or `-d`, of which both sides may be shifted.
fn extremum_forms(expr: &Expr, factor: &Factor, found: &Operation) -> Vec<Result<Expr, ExprError>> {
    let Ok((count, rest)) = collect(expr, factor) else {
        return Vec::new();
    };
    let (Ok(negated), Ok(opposite)) = (found.left.neg(), count.neg()) else {
        return Vec::new();
    };
    let carried = || rest.add(&count.mul(&found.left)?);
    let mut forms = Vec::new();
    for (kind, difference, count, rest) in [
        (Kind::Max, &found.left, &count, Ok(rest.clone())),
        (Kind::Max, &negated, &count, carried()),
        (Kind::Min, &found.left, &opposite, carried()),
        (Kind::Min, &negated, &opposite, Ok(rest.clone())),
    ] {
        let Ok(rest) = rest else {
            continue;
        };
        for shift in [Ok(Expr::constant(0)), subtrahend(difference)] {
            forms.push(shift.and_then(|shift| shifted(kind, difference, count, &rest, &shift)));
        }
    }
    forms
}

/// `count*max(difference + shift, shift) + rest - count*shift`, and the same with the minimum.
fn shifted(
    kind: Kind,
    difference: &Expr,
    count: &Expr,
    rest: &Expr,
    shift: &Expr,
) -> Result<Expr, ExprError> {
    let (a, b) = (difference.add(shift)?, shift.clone());
    let swap = a.as_constant().is_some() || (b.as_constant().is_none() && b < a);
    let (a, b) = if swap { (b, a) } else { (a, b) };
    rest.add(&count.mul(&operation(kind, a, b)?.sub(shift)?)?)
}

/// The negative terms, made positive.
fn subtrahend(difference: &Expr) -> Result<Expr, ExprError> {
    let negative = difference.terms().iter().filter(|term| term.coefficient < 0);
    Expr::sum(negative.map(
        |Term {
             monomial,
             coefficient,
         }| (monomial.clone(), -i128::from(*coefficient)),
    ))
}
