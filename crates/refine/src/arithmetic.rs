//! Arithmetic of programs on sizes, in terms of expressions.
//!
//! Programs compute in integers of some width, which wrap; expressions are exact. Where both differ the expression would be
//! wrong, so that every one that a program computes in a narrow type comes with an [`Obligation`] to stay in its range.

use std::collections::HashMap;

use artifact_dims::{Assignment, Comparison, Constraint, EvaluateError, Expr, ExprError, Scope};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::types::ElementType;

use crate::decide::Decider;
use crate::known::{Condition, Element, is_anonymous, range_of, wrapped};
use crate::requirement::Requirement;

/// A value that a program computes in a narrower type than expressions have: outside its range the program would wrap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// The value.
    pub value: Expr,
    /// The smallest number that the type holds.
    pub min: i64,
    /// The largest number that the type holds.
    pub max: i64,
    /// The operation that computes it.
    pub source: SourceOffset,
}

impl Obligation {
    /// Why it does not hold for these sizes; nothing where it does, or where they do not tell.
    #[must_use]
    pub fn broken(&self, sizes: &Assignment) -> Option<String> {
        let value = self.value.evaluate(sizes);
        match value {
            Ok(value) if value < self.min || value > self.max => Some(format!(
                "the program computes {} = {value} in integers from {} to {}",
                self.value, self.min, self.max
            )),
            Err(EvaluateError::Overflow { .. }) => Some(format!(
                "the program computes {} in integers from {} to {}, and its value does not fit 64 bits",
                self.value, self.min, self.max
            )),
            Ok(_) | Err(_) => None,
        }
    }
}

/// An operation on integers: two operands of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Maximum,
    Minimum,
}

/// Computes with what is known, and keeps what that depends on.
#[derive(Debug)]
pub(crate) struct Arithmetic<'s> {
    pub(crate) decider: Decider<'s>,
    obligations: Vec<Obligation>,
    requirements: Vec<Requirement>,
    /// Quotients and remainders that round towards zero, with dividend and divisor: programs make floor divisions of them.
    quotients: HashMap<Expr, [Expr; 2]>,
    remainders: HashMap<Expr, [Expr; 2]>,
}

/// Which of two expressions is never the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Falling,
    Rising,
}

type Formed = Result<Expr, ExprError>;

impl<'s> Arithmetic<'s> {
    pub(crate) fn new(scope: &'s Scope) -> Self {
        Self {
            decider: Decider::new(scope),
            obligations: Vec::new(),
            requirements: Vec::new(),
            quotients: HashMap::new(),
            remainders: HashMap::new(),
        }
    }

    /// The obligations of what was computed since this was last asked.
    pub(crate) fn take_obligations(&mut self) -> Vec<Obligation> {
        std::mem::take(&mut self.obligations)
    }

    /// Keeps what an operation requires of sizes.
    pub(crate) fn require(&mut self, requirements: Vec<Requirement>) {
        self.requirements.extend(requirements);
    }

    /// What was required since this was last asked.
    pub(crate) fn take_requirements(&mut self) -> Vec<Requirement> {
        std::mem::take(&mut self.requirements)
    }

    /// An integer of a type: a number as the type holds it, or an expression that has to stay within the type's range.
    pub(crate) fn integer(&mut self, value: Expr, ty: ElementType, source: SourceOffset) -> Element {
        if let Some(number) = value.as_constant() {
            return Element::number(wrapped(number, ty));
        }
        let (min, max) = range_of(ty);
        // What is no dimension is not known when dimensions are bound: nothing can be checked of it then.
        if ty != ElementType::I64 && !is_anonymous(&value) {
            let value = value.clone();
            self.obligations.push(Obligation {
                value,
                min,
                max,
                source,
            });
        }
        Element::Int(value)
    }

    /// An operation on two integers; `None` where the result is no expression.
    pub(crate) fn binary(&mut self, op: Integer, a: &Expr, b: &Expr) -> Option<Expr> {
        let formed = match op {
            Integer::Add => a.add(b),
            Integer::Subtract => a.sub(b),
            Integer::Multiply => a.mul(b),
            Integer::Maximum => self.maximum(a, b),
            Integer::Minimum => self.minimum(a, b),
            Integer::Divide => return self.divide(a, b),
            Integer::Remainder => return self.remainder(a, b),
        };
        formed.ok()
    }

    /// The larger of two.
    pub(crate) fn maximum(&mut self, a: &Expr, b: &Expr) -> Formed {
        match self.order(a, b) {
            Some(Order::Falling) => Ok(a.clone()),
            Some(Order::Rising) => Ok(b.clone()),
            None => a.maximum(b),
        }
    }

    /// The smaller of two.
    pub(crate) fn minimum(&mut self, a: &Expr, b: &Expr) -> Formed {
        match self.order(a, b) {
            Some(Order::Falling) => Ok(b.clone()),
            Some(Order::Rising) => Ok(a.clone()),
            None => a.minimum(b),
        }
    }

    fn order(&mut self, a: &Expr, b: &Expr) -> Option<Order> {
        match self.decider.decide(a, Comparison::Ge, b) {
            Some(true) => Some(Order::Falling),
            Some(false) => Some(Order::Rising),
            // They may be equal for some sizes.
            None => (self.decider.decide(a, Comparison::Le, b) == Some(true)).then_some(Order::Rising),
        }
    }

    /// -1, 0 or 1.
    pub(crate) fn sign(&mut self, a: &Expr) -> Option<Expr> {
        let at_most_one = self.minimum(a, &Expr::constant(1)).ok()?;
        self.maximum(&at_most_one, &Expr::constant(-1)).ok()
    }

    /// The quotient rounded towards zero.
    fn divide(&mut self, a: &Expr, b: &Expr) -> Option<Expr> {
        if b.as_constant() == Some(0) {
            return None;
        }
        let quotient = if self.decider.proves(b, Comparison::Gt, 0) {
            self.truncated(a, b)
        } else if self.decider.proves(b, Comparison::Lt, 0) {
            self.truncated(a, &b.neg().ok()?)
                .and_then(|quotient| quotient.neg())
        } else {
            return None;
        };
        let quotient = quotient.ok()?;
        self.quotients.insert(quotient.clone(), [a.clone(), b.clone()]);
        Some(quotient)
    }

    /// The same for a positive divisor: the quotient of the magnitude, with the sign of the dividend.
    fn truncated(&mut self, a: &Expr, b: &Expr) -> Formed {
        let zero = Expr::constant(0);
        let positive = self.maximum(a, &zero)?.floordiv(b)?;
        let negative = a.neg().and_then(|a| self.maximum(&a, &zero))?.floordiv(b)?;
        positive.sub(&negative)
    }

    /// What the quotient rounded towards zero leaves; it has the sign of the dividend.
    fn remainder(&mut self, a: &Expr, b: &Expr) -> Option<Expr> {
        let quotient = self.divide(a, b)?;
        let remainder = quotient.mul(b).and_then(|product| a.sub(&product)).ok()?;
        self.remainders.insert(remainder.clone(), [a.clone(), b.clone()]);
        Some(remainder)
    }

    /// Both conditions together.
    pub(crate) fn both(&mut self, a: &Condition, b: &Condition) -> Condition {
        let mut parts = Vec::new();
        for condition in [a, b] {
            match condition {
                Condition::Known(true) => {}
                Condition::Known(false) => return Condition::Known(false),
                Condition::Compare(_) => parts.push(condition.clone()),
                Condition::All(all) => parts.extend(all.iter().cloned()),
            }
        }
        match parts.as_slice() {
            [] => Condition::Known(true),
            [only] => only.clone(),
            _ => Condition::All(parts.into()),
        }
    }

    /// The opposite, where it is a condition too.
    pub(crate) fn not(condition: &Condition) -> Option<Condition> {
        match condition {
            Condition::Known(holds) => Some(Condition::Known(!holds)),
            Condition::Compare(constraint) => Some(Condition::Compare(constraint.negated())),
            Condition::All(_) => None,
        }
    }

    /// `on_true` where the condition holds, else `on_false`. Divisions that programs round down and remainders that they make
    /// non-negative are recognised by what is computed, however the operations were arranged.
    pub(crate) fn select(&mut self, condition: &Condition, on_true: &Expr, on_false: &Expr) -> Option<Expr> {
        match condition {
            Condition::Known(holds) => return Some(if *holds { on_true } else { on_false }.clone()),
            _ if on_true == on_false || self.decider.is_impossible(condition) => {
                return Some(on_false.clone());
            }
            _ => {}
        }
        self.extreme(condition, on_true, on_false)
            .or_else(|| self.floor_division(condition, on_true, on_false))
            .or_else(|| self.modulo(condition, on_true, on_false))
    }

    /// `a >= b ? a : b` and the like.
    fn extreme(&mut self, condition: &Condition, on_true: &Expr, on_false: &Expr) -> Option<Expr> {
        let Condition::Compare(Constraint {
            left,
            comparison,
            right,
        }) = condition
        else {
            return None;
        };
        let straight = (left, right) == (on_true, on_false);
        let crossed = (left, right) == (on_false, on_true);
        if !(straight || crossed) {
            return None;
        }
        match comparison {
            Comparison::Gt | Comparison::Ge if straight => self.maximum(left, right).ok(),
            Comparison::Gt | Comparison::Ge => self.minimum(left, right).ok(),
            Comparison::Lt | Comparison::Le if straight => self.minimum(left, right).ok(),
            Comparison::Lt | Comparison::Le => self.maximum(left, right).ok(),
            Comparison::Eq | Comparison::Ne => None,
        }
    }

    /// `sign(a) != sign(b) && remainder(a, b) != 0 ? a/b - 1 : a/b`.
    fn floor_division(&mut self, condition: &Condition, on_true: &Expr, on_false: &Expr) -> Option<Expr> {
        let [a, b] = self.quotients.get(on_false)?.clone();
        let less = on_false.sub(&Expr::constant(1)).ok()?;
        let (sign_a, sign_b) = (self.sign(&a)?, self.sign(&b)?);
        let signs = self.decider.compare(&sign_a, Comparison::Ne, &sign_b);
        let remainder = self.remainder(&a, &b)?;
        let inexact = self
            .decider
            .compare(&remainder, Comparison::Ne, &Expr::constant(0));
        let expected = self.both(&signs, &inexact);
        (*on_true == less && same_parts(condition, &expected)).then(|| a.floordiv(&b).ok())?
    }

    /// `(remainder < 0) != (b < 0) && remainder != 0 ? remainder + b : remainder`.
    fn modulo(&mut self, condition: &Condition, on_true: &Expr, on_false: &Expr) -> Option<Expr> {
        let [a, b] = self.remainders.get(on_false)?.clone();
        let zero = Expr::constant(0);
        // A divisor of which the sign is known leaves one of the two comparisons.
        let differs = if self.decider.proves(&b, Comparison::Gt, 0) {
            self.decider.compare(on_false, Comparison::Lt, &zero)
        } else {
            self.decider.compare(on_false, Comparison::Ge, &zero)
        };
        let inexact = self.decider.compare(on_false, Comparison::Ne, &zero);
        let expected = self.both(&differs, &inexact);
        let corrected = on_false.add(&b).ok()?;
        (*on_true == corrected && same_parts(condition, &expected)).then(|| a.modulo(&b).ok())?
    }
}

/// Whether two conditions have the same parts, in any order.
fn same_parts(a: &Condition, b: &Condition) -> bool {
    match (a, b) {
        (Condition::All(a), Condition::All(b)) => {
            a.len() == b.len()
                && a.iter().all(|part| b.contains(part))
                && b.iter().all(|part| a.contains(part))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expr(text: &str) -> Expr {
        text.parse().unwrap()
    }

    /// JAX's `floor_divide` and `remainder` of `a` by `b`, as it exports them.
    fn jax(arithmetic: &mut Arithmetic<'_>, a: &str, b: &str) -> [Option<Expr>; 2] {
        let (a, b, zero, one) = (expr(a), expr(b), expr("0"), expr("1"));
        let quotient = arithmetic.binary(Integer::Divide, &a, &b).unwrap();
        let remainder = arithmetic.binary(Integer::Remainder, &a, &b).unwrap();
        let (sign_a, sign_b) = (arithmetic.sign(&a).unwrap(), arithmetic.sign(&b).unwrap());
        let decider = &mut arithmetic.decider;
        let signs = decider.compare(&sign_a, Comparison::Ne, &sign_b);
        let inexact = decider.compare(&remainder, Comparison::Ne, &zero);
        let negative = decider.compare(&remainder, Comparison::Lt, &zero);
        let both = arithmetic.both(&signs, &inexact);
        let floor = arithmetic.select(&both, &quotient.sub(&one).unwrap(), &quotient);
        let both = arithmetic.both(&negative, &inexact);
        let modulo = arithmetic.select(&both, &remainder.add(&b).unwrap(), &remainder);
        [floor, modulo]
    }

    #[test]
    fn floor_divisions() {
        let scope = Scope::builder().build().unwrap();
        let mut arithmetic = Arithmetic::new(&scope);
        for (a, b) in [
            ("a", "2"),
            ("a - 1", "2"),
            ("a - 3", "4"),
            ("a - b", "b"),
            ("7*a", "b + 1"),
        ] {
            let [floor, modulo] = jax(&mut arithmetic, a, b);
            assert_eq!(floor, expr(a).floordiv(&expr(b)).ok(), "{a} // {b}");
            assert_eq!(modulo, expr(a).modulo(&expr(b)).ok(), "{a} % {b}");
        }
    }

    #[test]
    fn extremes() {
        let scope = Scope::builder().build().unwrap();
        let mut arithmetic = Arithmetic::new(&scope);
        let (a, b) = (expr("a"), expr("b"));
        let condition = arithmetic.decider.compare(&a, Comparison::Lt, &b);
        assert_eq!(arithmetic.select(&condition, &a, &b), Some(expr("min(a, b)")));
        assert_eq!(arithmetic.select(&condition, &b, &a), Some(expr("max(a, b)")));
        assert_eq!(arithmetic.select(&condition, &b, &b), Some(b.clone()));
        assert_eq!(arithmetic.select(&condition, &expr("2*a"), &b), None);
    }

    #[test]
    fn narrow_types_oblige() {
        let scope = Scope::builder().build().unwrap();
        let mut arithmetic = Arithmetic::new(&scope);
        let at = SourceOffset::NONE;
        arithmetic.integer(expr("a*b"), ElementType::I32, at);
        arithmetic.integer(expr("a*b"), ElementType::I64, at);
        assert_eq!(
            arithmetic.integer(expr("300"), ElementType::UI8, at),
            Element::number(44)
        );
        let obligations = arithmetic.take_obligations();
        assert_eq!(obligations.len(), 1);
        assert_eq!(
            (obligations[0].min, obligations[0].max),
            (i32::MIN.into(), i32::MAX.into())
        );
    }
}
