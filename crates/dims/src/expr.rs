//! Expressions: sums of products with integer coefficients.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artifact_core::canonical::Encoder;
use artifact_core::limit::LimitExceeded;

use crate::limits;
use crate::monomial::{Factor, Monomial};
use crate::variable::Variable;

/// A dimension expression in canonical form. Cheap to clone.
///
/// Polynomials have one form each. `mod` is kept as `x - y*floordiv(x, y)` and `min` as `x + y - max(x, y)`; floor
/// divisions and maxima are reduced further (see [`Expr::floordiv`] and [`Expr::maximum`]), so that most pairs that mean the
/// same coincide. `==` compares these forms; whether two sizes are equal is [`Scope::eq`](crate::Scope::eq). The order is
/// that of printing (JAX's) and says nothing about values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Expr(Arc<Sum>);

/// Terms, largest first, without zeros; and what is derived from them.
#[derive(PartialEq, Eq, Hash)]
struct Sum {
    terms: Vec<Term>,
    weight: u64,
    nodes: u64,
    depth: u64,
}

/// A product with its coefficient, which is not 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term {
    pub(crate) monomial: Monomial,
    pub(crate) coefficient: i64,
}

/// Why an expression cannot be formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    /// A coefficient leaves the 64 bits.
    #[error("a coefficient does not fit in 64 bits: use smaller numbers")]
    Overflow,
    /// A divisor is the constant 0.
    #[error("division of '{dividend}' by the constant 0")]
    DivisionByZero {
        /// What is divided.
        dividend: Expr,
    },
    /// The result is larger than one of [`limits`] allows.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl Expr {
    /// A number.
    #[must_use]
    pub fn constant(value: i64) -> Self {
        let term = Term {
            monomial: Monomial::one(),
            coefficient: value,
        };
        let terms = if value == 0 { Vec::new() } else { vec![term] };
        Self(Arc::new(Sum {
            weight: terms.len() as u64,
            nodes: terms.len() as u64,
            terms,
            depth: 0,
        }))
    }

    /// A variable.
    #[must_use]
    pub fn variable(variable: Variable) -> Self {
        let monomial = Monomial::of(Factor::Variable(variable));
        let weight = 1 + monomial.weight();
        let terms = vec![Term {
            monomial,
            coefficient: 1,
        }];
        Self(Arc::new(Sum {
            terms,
            weight,
            nodes: 2,
            depth: 0,
        }))
    }

    /// The number, when the expression is one.
    #[must_use]
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms() {
            [] => Some(0),
            [term] if term.monomial.is_one() => Some(term.coefficient),
            _ => None,
        }
    }

    /// The variable, when the expression is just that.
    #[must_use]
    pub fn as_variable(&self) -> Option<&Variable> {
        match self.terms() {
            [
                Term {
                    monomial,
                    coefficient: 1,
                },
            ] => match monomial.as_factor() {
                Some(Factor::Variable(variable)) => Some(variable),
                _ => None,
            },
            _ => None,
        }
    }

    /// All variables, also those within operations.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<Variable> {
        let mut found = BTreeSet::new();
        self.for_each_variable(&mut |variable| {
            found.insert(variable.clone());
        });
        found
    }

    /// Visits each mention of a variable, also those within operations, in the order of printing.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(&Variable)) {
        for factor in self.factors() {
            match factor {
                Factor::Variable(variable) => visit(variable),
                Factor::Operation(operation) => {
                    operation.left.for_each_variable(visit);
                    operation.right.for_each_variable(visit);
                }
            }
        }
    }

    /// Feeds the canonical form into a digest. Permanent: sum = sequence of (coefficient, sequence of (factor,
    /// exponent)), largest first; a factor is the variant `variable` with its name, or the operation's name with its two
    /// operands.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.sequence(
            self.terms().iter(),
            |encoder,
             Term {
                 monomial,
                 coefficient,
             }| {
                encoder.i64(*coefficient);
                encoder.sequence(monomial.powers().iter(), |encoder, power| {
                    encode_factor(&power.factor, encoder);
                    encoder.u32(power.exponent);
                });
            },
        );
    }

    /// Adds up terms in any order. Intermediate coefficients have 128 bits, so that the outcome
    /// does not depend on the order.
    pub(crate) fn sum(terms: impl IntoIterator<Item = (Monomial, i128)>) -> Result<Self, ExprError> {
        let mut collected: BTreeMap<Monomial, i128> = BTreeMap::new();
        for (monomial, coefficient) in terms {
            let entry = collected.entry(monomial).or_insert(0);
            *entry = entry.checked_add(coefficient).ok_or(ExprError::Overflow)?;
        }
        let mut sorted = Vec::with_capacity(collected.len());
        for (monomial, coefficient) in collected
            .into_iter()
            .rev()
            .filter(|(_, coefficient)| *coefficient != 0)
        {
            sorted.push(term(monomial, coefficient)?);
        }
        Self::measured(sorted)
    }

    /// The sum with `scale` times another: as [`Expr::sum`], for terms that are sorted.
    pub(crate) fn merged(&self, other: &Self, scale: i128) -> Result<Self, ExprError> {
        let mut sorted = Vec::with_capacity(self.terms().len() + other.terms().len());
        let (mut left, mut right) = (self.parts().peekable(), other.parts().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Greater,
                (None, Some(_)) => Ordering::Less,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let a = left.next_if(|_| order.is_ge());
            let b = right.next_if(|_| order.is_le());
            let coefficient = |part: &Option<(Monomial, i128)>| part.as_ref().map_or(0, |part| part.1);
            let total = scale
                .checked_mul(coefficient(&b))
                .and_then(|scaled| scaled.checked_add(coefficient(&a)))
                .ok_or(ExprError::Overflow)?;
            if let (Some((monomial, _)), true) = (a.or(b), total != 0) {
                sorted.push(term(monomial, total)?);
            }
        }
        Self::measured(sorted)
    }

    /// Computes what is derived from sorted terms and compares it with the limits.
    fn measured(terms: Vec<Term>) -> Result<Self, ExprError> {
        let weight = |term: &Term| {
            term.coefficient
                .unsigned_abs()
                .saturating_mul(term.monomial.weight())
                .saturating_add(1)
        };
        let weight = terms.iter().map(weight).fold(0, u64::saturating_add);
        let powers = || terms.iter().flat_map(|term| term.monomial.powers());
        let nodes = terms.len() as u64 + powers().map(|power| power.factor.nodes()).sum::<u64>();
        let depth = powers().map(|power| power.factor.depth()).max().unwrap_or(0);
        limits::TERMS.check(terms.len() as u64)?;
        limits::NODES.check(nodes)?;
        limits::NESTING.check(depth)?;
        Ok(Self(Arc::new(Sum {
            terms,
            weight,
            nodes,
            depth,
        })))
    }

    /// The terms, largest first.
    pub(crate) fn terms(&self) -> &[Term] {
        &self.0.terms
    }

    /// The factors of all terms; one that is in several terms comes several times.
    pub(crate) fn factors(&self) -> impl Iterator<Item = &Factor> {
        self.terms()
            .iter()
            .flat_map(|term| term.monomial.powers())
            .map(|power| &power.factor)
    }

    /// The terms in the form that [`Expr::sum`] takes.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Monomial, i128)> {
        self.terms()
            .iter()
            .map(|term| (term.monomial.clone(), i128::from(term.coefficient)))
    }

    /// JAX's syntactic size.
    pub(crate) fn weight(&self) -> u64 {
        self.0.weight
    }

    /// Nodes of the tree.
    pub(crate) fn nodes(&self) -> u64 {
        self.0.nodes
    }

    /// Operations within one another.
    pub(crate) fn depth(&self) -> u64 {
        self.0.depth
    }
}

/// A term, if the coefficient fits.
fn term(monomial: Monomial, coefficient: i128) -> Result<Term, ExprError> {
    // The smallest number of 64 bits has no sign apart from its digits, so that its print could not be read.
    let coefficient = i64::try_from(coefficient)
        .ok()
        .filter(|coefficient| *coefficient != i64::MIN)
        .ok_or(ExprError::Overflow)?;
    Ok(Term {
        monomial,
        coefficient,
    })
}

fn encode_factor(factor: &Factor, encoder: &mut Encoder) {
    match factor {
        Factor::Variable(variable) => {
            encoder.text("variable");
            encoder.text(variable.name());
        }
        Factor::Operation(operation) => {
            encoder.text(operation.kind.name());
            operation.left.encode(encoder);
            operation.right.encode(encoder);
        }
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Self::constant(value)
    }
}

impl From<Variable> for Expr {
    fn from(variable: Variable) -> Self {
        Self::variable(variable)
    }
}

impl Ord for Expr {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight()
            .cmp(&other.weight())
            .then_with(|| self.terms().cmp(other.terms()))
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
