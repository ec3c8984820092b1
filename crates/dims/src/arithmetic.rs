//! Addition, multiplication, powers and substitution.

use std::collections::BTreeMap;

use crate::expr::{Expr, ExprError, Term};
use crate::limits;
use crate::monomial::{Factor, Kind, Monomial};
use crate::variable::Variable;

impl Expr {
    /// The sum.
    ///
    /// # Errors
    /// [`ExprError`] when a coefficient overflows or a limit is exceeded.
    pub fn add(&self, other: &Self) -> Result<Self, ExprError> {
        self.merged(other, 1)
    }

    /// The difference.
    ///
    /// # Errors
    /// [`ExprError`] when a coefficient overflows or a limit is exceeded.
    pub fn sub(&self, other: &Self) -> Result<Self, ExprError> {
        self.merged(other, -1)
    }

    /// The negation.
    ///
    /// # Errors
    /// [`ExprError::Overflow`] when a coefficient is the smallest number of 64 bits.
    pub fn neg(&self) -> Result<Self, ExprError> {
        self.scale(-1)
    }

    /// The product, expanded.
    ///
    /// # Errors
    /// [`ExprError`] when a coefficient overflows or a limit is exceeded, [`limits::PRODUCTS`] among them.
    pub fn mul(&self, other: &Self) -> Result<Self, ExprError> {
        limits::PRODUCTS.check(self.terms().len() as u64 * other.terms().len() as u64)?;
        let mut products = Vec::with_capacity(self.terms().len() * other.terms().len());
        for Term {
            monomial,
            coefficient,
        } in self.terms()
        {
            for (factor, scale) in other.parts() {
                products.push((monomial.times(&factor)?, i128::from(*coefficient) * scale));
            }
        }
        Self::sum(products)
    }

    /// The power, expanded. `x^0` is 1.
    ///
    /// # Errors
    /// [`ExprError`] when a coefficient overflows or a limit is exceeded, [`limits::EXPONENT`] among them.
    pub fn pow(&self, exponent: u32) -> Result<Self, ExprError> {
        limits::EXPONENT.check(u64::from(exponent))?;
        if let [
            Term {
                monomial,
                coefficient,
            },
        ] = self.terms()
        {
            let coefficient = coefficient.checked_pow(exponent).ok_or(ExprError::Overflow)?;
            return Self::sum([(monomial.power(exponent)?, i128::from(coefficient))]);
        }
        (0..exponent).try_fold(Self::constant(1), |product, _| product.mul(self))
    }

    /// Puts expressions in place of variables, at once.
    ///
    /// # Errors
    /// [`ExprError`] as for the arithmetic that this amounts to; a divisor may become 0.
    pub fn substitute(&self, values: &BTreeMap<Variable, Self>) -> Result<Self, ExprError> {
        let mut is_changed = false;
        self.for_each_variable(&mut |variable| is_changed = is_changed || values.contains_key(variable));
        if !is_changed {
            return Ok(self.clone());
        }
        let mut total = Self::constant(0);
        for Term {
            monomial,
            coefficient,
        } in self.terms()
        {
            let mut product = Self::constant(*coefficient);
            for power in monomial.powers() {
                let factor = substitute_factor(&power.factor, values)?;
                product = product.mul(&factor.pow(power.exponent)?)?;
            }
            total = total.add(&product)?;
        }
        Ok(total)
    }

    /// The product with a number.
    pub(crate) fn scale(&self, scale: i64) -> Result<Self, ExprError> {
        let scaled = |(monomial, coefficient): (Monomial, i128)| (monomial, coefficient * i128::from(scale));
        Self::sum(self.parts().map(scaled))
    }

    /// The sum with a number.
    pub(crate) fn offset(&self, offset: i64) -> Result<Self, ExprError> {
        self.add(&Self::constant(offset))
    }

    /// The greatest common divisor of the coefficients; 0 for the expression 0.
    pub(crate) fn content(&self) -> u64 {
        self.terms()
            .iter()
            .fold(0, |divisor, term| gcd(divisor, term.coefficient.unsigned_abs()))
    }

    /// The quotient by a number that divides every coefficient.
    pub(crate) fn divide_content(&self, divisor: i64) -> Result<Self, ExprError> {
        Self::sum(
            self.parts()
                .map(|(monomial, coefficient)| (monomial, coefficient / i128::from(divisor))),
        )
    }
}

fn substitute_factor(factor: &Factor, values: &BTreeMap<Variable, Expr>) -> Result<Expr, ExprError> {
    match factor {
        Factor::Variable(variable) => Ok(values
            .get(variable)
            .cloned()
            .unwrap_or_else(|| Expr::variable(variable.clone()))),
        Factor::Operation(operation) => {
            let left = operation.left.substitute(values)?;
            let right = operation.right.substitute(values)?;
            match operation.kind {
                Kind::FloorDiv => left.floordiv(&right),
                Kind::Max => left.maximum(&right),
                Kind::Min => left.minimum(&right),
                Kind::Mod => left.modulo(&right),
            }
        }
    }
}

/// The greatest common divisor; that of 0 and `x` is `x`.
pub(crate) const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
