//! Floor division, remainder, maximum and minimum in canonical form.
//!
//! All rules are identities of integers wherever the divisors are not 0:
//! * the divisor's leading coefficient is made positive: `x // -y = -x // y`;
//! * what divides comes out: `(y*q + r) // y = q + r // y`;
//! * common factors cancel: `(g*x) // (g*y) = x // y`, and `(g*x + r) // (g*c) = (x + r//g) // c`;
//! * nested divisions merge: `(x // y + k) // c = (x + k*y) // (c*y)` for a number `c > 0`;
//! * of `x // c` and `-((c-1-x) // c)`, which are equal, the one with the smaller dividend is kept;
//! * `max(x, y) = y + g*max((x-y)/g, 0)`, and of `max(d, 0)` and `d + max(-d, 0)` one is kept.

use crate::arithmetic::gcd;
use crate::expr::{Expr, ExprError, Term};
use crate::limits;
use crate::monomial::{Factor, Kind, Monomial};

impl Expr {
    /// The quotient rounded towards minus infinity.
    ///
    /// # Errors
    /// [`ExprError::DivisionByZero`] for the divisor 0; otherwise when a coefficient overflows or a limit is exceeded.
    pub fn floordiv(&self, divisor: &Self) -> Result<Self, ExprError> {
        let (mut dividend, mut divisor) = (self.clone(), divisor.clone());
        let mut quotient = Self::constant(0);
        loop {
            let Some(lead) = leading(&divisor) else {
                return Err(ExprError::DivisionByZero {
                    dividend: self.clone(),
                });
            };
            if lead.coefficient < 0 {
                (dividend, divisor) = (dividend.neg()?, divisor.neg()?);
            }
            if let Some(number) = divisor.as_constant() {
                return quotient.add(&divide_by_number(&dividend, number, Flip::Allowed)?);
            }
            let (whole, rest) = divide(&dividend, &divisor).unwrap_or((Self::constant(0), dividend.clone()));
            if whole.as_constant() != Some(0)
                && (divisor.terms().len() == 1 || rest.terms().len() < dividend.terms().len())
            {
                quotient = quotient.add(&whole)?;
                dividend = rest;
            }
            if dividend.terms().is_empty() {
                return Ok(quotient);
            }
            let (x, y) = cancel(&dividend, &divisor)?;
            if y == divisor {
                return quotient.add(&operation(Kind::FloorDiv, x, y)?);
            }
            (dividend, divisor) = (x, y);
        }
    }

    /// The remainder of [`Expr::floordiv`]: `x - y*floordiv(x, y)`, with the sign of the divisor.
    ///
    /// # Errors
    /// As for [`Expr::floordiv`].
    pub fn modulo(&self, divisor: &Self) -> Result<Self, ExprError> {
        self.sub(&self.floordiv(divisor)?.mul(divisor)?)
    }

    /// The larger of two.
    ///
    /// # Errors
    /// [`ExprError`] when a coefficient overflows or a limit is exceeded.
    pub fn maximum(&self, other: &Self) -> Result<Self, ExprError> {
        let difference = self.sub(other)?;
        if let Some(number) = difference.as_constant() {
            return Ok(if number < 0 { other.clone() } else { self.clone() });
        }
        let content = i64::try_from(difference.content()).map_err(|_| ExprError::Overflow)?;
        let positive = difference
            .terms()
            .first()
            .is_some_and(|term| term.coefficient > 0);
        let signed = if positive { content } else { -content };
        let excess = operation(Kind::Max, difference.divide_content(signed)?, Self::constant(0))?;
        let base = if positive { other } else { self };
        base.add(&excess.scale(content)?)
    }

    /// The smaller of two.
    ///
    /// # Errors
    /// [`ExprError`] when a coefficient overflows or a limit is exceeded.
    pub fn minimum(&self, other: &Self) -> Result<Self, ExprError> {
        self.add(other)?.sub(&self.maximum(other)?)
    }

    /// The quotient, when the divisor divides exactly as a polynomial and is not 0.
    pub(crate) fn divided_exactly(&self, divisor: &Self) -> Option<Self> {
        divide(self, divisor)
            .filter(|(_, rest)| rest.terms().is_empty())
            .map(|(quotient, _)| quotient)
    }
}

/// An expression that is one operation on expressions as they are.
pub(crate) fn operation(kind: Kind, left: Expr, right: Expr) -> Result<Expr, ExprError> {
    Expr::sum([(Monomial::of(Factor::operation(kind, left, right)), 1)])
}

/// The term with the largest product in the degree order.
fn leading(expr: &Expr) -> Option<&Term> {
    expr.terms()
        .iter()
        .max_by(|a, b| a.monomial.compare_degree(&b.monomial))
}

/// Polynomial division: `dividend = quotient*divisor + rest`, where no product in the rest can be reduced by the
/// divisor's leading term. None past the budget or on overflow; the division then stays as it is.
fn divide(dividend: &Expr, divisor: &Expr) -> Option<(Expr, Expr)> {
    let lead = leading(divisor)?;
    let (mut quotient, mut rest) = (Expr::constant(0), dividend.clone());
    for _ in 0..limits::DIVISION_STEPS {
        let reducible = |term: &&Term| -> Option<(Monomial, i64)> {
            let factor = term.monomial.divided_by(&lead.monomial)?;
            let count = floor_quotient(term.coefficient, lead.coefficient)?;
            (count != 0).then_some((factor, count))
        };
        let largest = (rest.terms().iter())
            .filter(|term| reducible(term).is_some())
            .max_by(|a, b| a.monomial.compare_degree(&b.monomial));
        let Some((monomial, count)) = largest.as_ref().and_then(reducible) else {
            return Some((quotient, rest));
        };
        let step = Expr::sum([(monomial, i128::from(count))]).ok()?;
        rest = rest.sub(&step.mul(divisor).ok()?).ok()?;
        quotient = quotient.add(&step).ok()?;
    }
    None
}

fn floor_quotient(dividend: i64, divisor: i64) -> Option<i64> {
    let (dividend, divisor) = (i128::from(dividend), i128::from(divisor));
    i64::try_from(floor_wide(dividend, divisor)?).ok()
}

/// Floor division of numbers; None for the divisor 0 and on overflow.
pub(crate) fn floor_wide(dividend: i128, divisor: i128) -> Option<i128> {
    let quotient = dividend.checked_div(divisor)?;
    let exact = dividend.checked_rem(divisor)? == 0;
    let negative = (dividend < 0) != (divisor < 0);
    if exact || !negative {
        Some(quotient)
    } else {
        quotient.checked_sub(1)
    }
}

/// Removes the common divisor of all coefficients and the common product of all terms. The dividend is not 0.
fn cancel(dividend: &Expr, divisor: &Expr) -> Result<(Expr, Expr), ExprError> {
    let content = gcd(dividend.content(), divisor.content());
    let content = i64::try_from(content).map_err(|_| ExprError::Overflow)?;
    let mut products = dividend
        .terms()
        .iter()
        .chain(divisor.terms())
        .map(|term| &term.monomial);
    let first = products.next().cloned().unwrap_or_default();
    let common = products.fold(first, |common, monomial| common.common(monomial));
    let reduced = |expr: &Expr| {
        Expr::sum(expr.parts().map(|(monomial, coefficient)| {
            let monomial = monomial.divided_by(&common).unwrap_or(monomial);
            (monomial, coefficient / i128::from(content))
        }))
    };
    Ok((reduced(dividend)?, reduced(divisor)?))
}

/// Whether a division may still be replaced by its mirror image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flip {
    Allowed,
    Done,
}

/// Floor division by a number greater than 0.
fn divide_by_number(dividend: &Expr, divisor: i64, flip: Flip) -> Result<Expr, ExprError> {
    let (quotient, rest) = split_by_number(dividend, divisor)?;
    if rest.as_constant().is_some() {
        return Ok(quotient);
    }
    let (rest, divisor) = cancel_with_number(&rest, divisor)?;
    if let Some((inner, inner_divisor)) = merge_nested(&rest, divisor)? {
        return quotient.add(&inner.floordiv(&inner_divisor)?);
    }
    if flip == Flip::Allowed {
        let mirrored = Expr::constant(divisor - 1).sub(&rest)?;
        if split_by_number(&mirrored, divisor)?.1 < rest {
            return quotient.sub(&divide_by_number(&mirrored, divisor, Flip::Done)?);
        }
    }
    quotient.add(&operation(Kind::FloorDiv, rest, Expr::constant(divisor))?)
}

/// Splits every coefficient into a multiple of the divisor and a rest from 0 up to it.
fn split_by_number(dividend: &Expr, divisor: i64) -> Result<(Expr, Expr), ExprError> {
    let divisor = i128::from(divisor);
    let quotient = dividend
        .parts()
        .map(|(monomial, value)| (monomial, value.div_euclid(divisor)));
    let rest = dividend
        .parts()
        .map(|(monomial, value)| (monomial, value.rem_euclid(divisor)));
    Ok((Expr::sum(quotient)?, Expr::sum(rest)?))
}

/// Merges `(x // y + k) // divisor` into `(x + k*y) // (divisor*y)`.
fn merge_nested(dividend: &Expr, divisor: i64) -> Result<Option<(Expr, Expr)>, ExprError> {
    for Term {
        monomial,
        coefficient,
    } in dividend.terms()
    {
        let (Some(Factor::Operation(inner)), 1) = (monomial.as_factor(), coefficient) else {
            continue;
        };
        if inner.kind == Kind::FloorDiv {
            let others = dividend.sub(&Expr::sum([(monomial.clone(), 1)])?)?;
            let merged = inner.left.add(&others.mul(&inner.right)?)?;
            return Ok(Some((merged, inner.right.scale(divisor)?)));
        }
    }
    Ok(None)
}

/// `(g*x + r) // (g*c) = (x + r // g) // c`. The coefficients are from 0 up to the divisor, so `c` is not 1.
fn cancel_with_number(dividend: &Expr, divisor: i64) -> Result<(Expr, i64), ExprError> {
    let varying = dividend.terms().iter().filter(|term| !term.monomial.is_one());
    let common = varying.fold(divisor.unsigned_abs(), |g, term| {
        gcd(g, term.coefficient.unsigned_abs())
    });
    let common = i64::try_from(common).map_err(|_| ExprError::Overflow)?;
    let reduced = dividend
        .parts()
        .map(|(monomial, value)| (monomial, value.div_euclid(i128::from(common))));
    Ok((Expr::sum(reduced)?, divisor / common))
}
