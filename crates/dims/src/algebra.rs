//! Computing expressions in another arithmetic, such as the operations of a program.

use crate::expr::Expr;
use crate::monomial::{Factor, Kind, Monomial};
use crate::variable::Variable;

/// An arithmetic in which expressions can be computed.
pub trait Algebra {
    /// A number of it.
    type Value: Clone;
    /// Why there is none.
    type Error;

    /// A constant.
    ///
    /// # Errors
    /// When it has no such number.
    fn constant(&mut self, value: i64) -> Result<Self::Value, Self::Error>;

    /// The value of a variable.
    ///
    /// # Errors
    /// When it has none.
    fn variable(&mut self, variable: &Variable) -> Result<Self::Value, Self::Error>;

    /// The sum.
    ///
    /// # Errors
    /// When it cannot be formed.
    fn add(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;

    /// The product.
    ///
    /// # Errors
    /// When it cannot be formed.
    fn multiply(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;

    /// The quotient rounded towards minus infinity. The expressions are there to ask about signs.
    ///
    /// # Errors
    /// When it cannot be formed.
    fn floordiv(
        &mut self,
        left: (&Expr, Self::Value),
        right: (&Expr, Self::Value),
    ) -> Result<Self::Value, Self::Error>;

    /// The larger of two.
    ///
    /// # Errors
    /// When it cannot be formed.
    fn maximum(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
}

impl Expr {
    /// The value of the expression in another arithmetic.
    ///
    /// # Errors
    /// Those of the arithmetic.
    pub fn compute<A: Algebra>(&self, algebra: &mut A) -> Result<A::Value, A::Error> {
        let mut sum = None;
        for term in self.terms() {
            let product = product(&term.monomial, algebra)?;
            let value = match (product, term.coefficient) {
                (None, coefficient) => algebra.constant(coefficient)?,
                (Some(product), 1) => product,
                (Some(product), coefficient) => {
                    let coefficient = algebra.constant(coefficient)?;
                    algebra.multiply(coefficient, product)?
                }
            };
            sum = Some(match sum {
                None => value,
                Some(sum) => algebra.add(sum, value)?,
            });
        }
        sum.map_or_else(|| algebra.constant(0), Ok)
    }
}

/// The product of the powers; nothing for the empty product.
fn product<A: Algebra>(monomial: &Monomial, algebra: &mut A) -> Result<Option<A::Value>, A::Error> {
    let mut product: Option<A::Value> = None;
    for power in monomial.powers() {
        let value = factor(&power.factor, algebra)?;
        for _ in 0..power.exponent {
            product = Some(match product {
                None => value.clone(),
                Some(product) => algebra.multiply(product, value.clone())?,
            });
        }
    }
    Ok(product)
}

fn factor<A: Algebra>(factor: &Factor, algebra: &mut A) -> Result<A::Value, A::Error> {
    let operation = match factor {
        Factor::Variable(variable) => return algebra.variable(variable),
        Factor::Operation(operation) => operation,
    };
    let left = operation.left.compute(algebra)?;
    let right = operation.right.compute(algebra)?;
    match operation.kind {
        Kind::FloorDiv => algebra.floordiv((&operation.left, left), (&operation.right, right)),
        Kind::Max => algebra.maximum(left, right),
        // Canonical expressions have neither; both are sums of the others.
        Kind::Min => {
            let sum = algebra.add(left.clone(), right.clone())?;
            let larger = algebra.maximum(left, right)?;
            subtract(sum, larger, algebra)
        }
        Kind::Mod => {
            let quotient =
                algebra.floordiv((&operation.left, left.clone()), (&operation.right, right.clone()))?;
            let whole = algebra.multiply(quotient, right)?;
            subtract(left, whole, algebra)
        }
    }
}

fn subtract<A: Algebra>(left: A::Value, right: A::Value, algebra: &mut A) -> Result<A::Value, A::Error> {
    let minus = algebra.constant(-1)?;
    let negated = algebra.multiply(minus, right)?;
    algebra.add(left, negated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, with `a` = 7 and `b` = 3.
    struct Numbers;

    impl Algebra for Numbers {
        type Value = i64;
        type Error = ();

        fn constant(&mut self, value: i64) -> Result<i64, ()> {
            Ok(value)
        }

        fn variable(&mut self, variable: &Variable) -> Result<i64, ()> {
            match variable.name() {
                "a" => Ok(7),
                "b" => Ok(3),
                _ => Err(()),
            }
        }

        fn add(&mut self, left: i64, right: i64) -> Result<i64, ()> {
            Ok(left + right)
        }

        fn multiply(&mut self, left: i64, right: i64) -> Result<i64, ()> {
            Ok(left * right)
        }

        fn floordiv(&mut self, left: (&Expr, i64), right: (&Expr, i64)) -> Result<i64, ()> {
            Ok(left.1.div_euclid(right.1))
        }

        fn maximum(&mut self, left: i64, right: i64) -> Result<i64, ()> {
            Ok(left.max(right))
        }
    }

    #[test]
    fn expressions_as_numbers() {
        for (text, expected) in [
            ("0", Ok(0)),
            ("2*a^2*b - 5", Ok(289)),
            ("floordiv(a, b) + mod(a, b)", Ok(3)),
            ("max(a - 9, b) - min(a, b)", Ok(0)),
            ("c", Err(())),
        ] {
            let expr: Expr = text.parse().unwrap();
            assert_eq!(expr.compute(&mut Numbers), expected, "{text}");
        }
    }
}
