//! Products of factors: variables and operations, each with an exponent.
//!
//! Two orders are defined. The *printed order* ([`Ord`]) is JAX's: by weight first, then by name or operation, then by
//! operands. The *degree order* ([`Monomial::compare_degree`]) is compatible with multiplication, which polynomial
//! division needs and the printed order is not (`a^3 < b*c` but `a^3*b*c > b^2*c^2`).

use std::cmp::Ordering;
use std::sync::Arc;

use crate::expr::{Expr, ExprError};
use crate::limits;
use crate::variable::Variable;

/// An operation that is not polynomial.
///
/// Canonical expressions contain [`Kind::FloorDiv`] and [`Kind::Max`] with the constant 0 on the right only; the others
/// are written in terms of these and come back in the printed notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// Division rounded towards minus infinity.
    FloorDiv,
    /// The larger operand.
    Max,
    /// The smaller operand.
    Min,
    /// What remains of the floor division.
    Mod,
}

impl Kind {
    /// The spelling of the operation.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::FloorDiv => "floordiv",
            Self::Max => "max",
            Self::Min => "min",
            Self::Mod => "mod",
        }
    }
}

/// An operation with its operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    pub(crate) left: Expr,
    pub(crate) right: Expr,
}

/// What is not a sum or a product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Factor {
    /// A dimension variable.
    Variable(Variable),
    /// An operation on expressions.
    Operation(Arc<Operation>),
}

impl Factor {
    /// Wraps an operation whose operands are already in the wanted form.
    pub(crate) fn operation(kind: Kind, left: Expr, right: Expr) -> Self {
        Self::Operation(Arc::new(Operation { kind, left, right }))
    }

    /// JAX's syntactic size.
    fn weight(&self) -> u64 {
        match self {
            Self::Variable(_) => 1,
            Self::Operation(operation) => {
                (operation.left.weight().saturating_add(operation.right.weight())).saturating_add(1)
            }
        }
    }

    /// Nodes of the tree.
    pub(crate) fn nodes(&self) -> u64 {
        match self {
            Self::Variable(_) => 1,
            Self::Operation(operation) => 1 + operation.left.nodes() + operation.right.nodes(),
        }
    }

    /// Operations within one another.
    pub(crate) fn depth(&self) -> u64 {
        match self {
            Self::Variable(_) => 0,
            Self::Operation(operation) => 1 + operation.left.depth().max(operation.right.depth()),
        }
    }
}

impl Ord for Factor {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight()
            .cmp(&other.weight())
            .then_with(|| match (self, other) {
                (Self::Variable(a), Self::Variable(b)) => a.cmp(b),
                (Self::Operation(a), Self::Operation(b)) => a.cmp(b),
                (Self::Variable(_), Self::Operation(_)) => Ordering::Less,
                (Self::Operation(_), Self::Variable(_)) => Ordering::Greater,
            })
    }
}

impl PartialOrd for Factor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A factor with an exponent of at least 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Power {
    pub(crate) factor: Factor,
    pub(crate) exponent: u32,
}

/// A product of powers, largest factor first. The empty product is 1. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Monomial(Arc<[Power]>);

impl Monomial {
    /// The product of nothing.
    pub(crate) fn one() -> Self {
        Self::default()
    }

    /// One factor.
    pub(crate) fn of(factor: Factor) -> Self {
        Self(Arc::new([Power { factor, exponent: 1 }]))
    }

    /// The powers, largest factor first.
    pub(crate) fn powers(&self) -> &[Power] {
        &self.0
    }

    /// Whether this is the empty product.
    pub(crate) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    /// The factor, when there is exactly one with exponent 1.
    pub(crate) fn as_factor(&self) -> Option<&Factor> {
        match &*self.0 {
            [Power { factor, exponent: 1 }] => Some(factor),
            _ => None,
        }
    }

    /// The exponent of a factor, 0 when it does not occur.
    pub(crate) fn exponent(&self, factor: &Factor) -> u32 {
        self.0
            .iter()
            .find(|power| power.factor == *factor)
            .map_or(0, |power| power.exponent)
    }

    /// The sum of the exponents.
    pub(crate) fn degree(&self) -> u64 {
        self.0.iter().map(|power| u64::from(power.exponent)).sum()
    }

    /// JAX's syntactic size.
    pub(crate) fn weight(&self) -> u64 {
        let weight = |power: &Power| {
            u64::from(power.exponent)
                .saturating_mul(power.factor.weight())
                .saturating_add(1)
        };
        self.0.iter().map(weight).fold(0, u64::saturating_add)
    }

    /// The product of two.
    pub(crate) fn times(&self, other: &Self) -> Result<Self, ExprError> {
        limits::EXPONENT.check(self.degree() + other.degree())?;
        Ok(self.merged(other, |a, b| a + b))
    }

    /// The product repeated.
    pub(crate) fn power(&self, exponent: u32) -> Result<Self, ExprError> {
        limits::EXPONENT.check(self.degree().saturating_mul(u64::from(exponent)))?;
        if exponent == 0 {
            return Ok(Self::one());
        }
        let raised = |power: &Power| Power {
            factor: power.factor.clone(),
            exponent: power.exponent * exponent,
        };
        Ok(Self(self.0.iter().map(raised).collect()))
    }

    /// The quotient, when `other` divides this.
    pub(crate) fn divided_by(&self, other: &Self) -> Option<Self> {
        let divides = other
            .0
            .iter()
            .all(|power| self.exponent(&power.factor) >= power.exponent);
        divides.then(|| self.merged(other, |a, b| a.saturating_sub(b)))
    }

    /// The largest product that divides both.
    pub(crate) fn common(&self, other: &Self) -> Self {
        self.merged(other, u32::min)
    }

    /// Combines the exponents factor by factor and drops those that become 0.
    fn merged(&self, other: &Self, combine: impl Fn(u32, u32) -> u32) -> Self {
        let mut powers = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Greater,
                (None, Some(_)) => Ordering::Less,
                (Some(a), Some(b)) => a.factor.cmp(&b.factor),
            };
            let a = if order.is_ge() { left.next() } else { None };
            let b = if order.is_le() { right.next() } else { None };
            let exponent = |power: Option<&Power>| power.map_or(0, |power| power.exponent);
            let combined = combine(exponent(a), exponent(b));
            if let (Some(power), 1..) = (a.or(b), combined) {
                powers.push(Power {
                    factor: power.factor.clone(),
                    exponent: combined,
                });
            }
        }
        Self(powers.into())
    }

    /// Compares by degree, then by the exponents of the largest factors.
    pub(crate) fn compare_degree(&self, other: &Self) -> Ordering {
        self.degree()
            .cmp(&other.degree())
            .then_with(|| self.0.cmp(&other.0))
    }
}

/// The printed order.
impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight()
            .cmp(&other.weight())
            .then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
