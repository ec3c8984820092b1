//! A question in the form that decisions work on: atoms, and linear facts over them.
//!
//! An atom is a variable, an operation or a product of atoms. Every condition becomes a linear form over atoms; what
//! relates the atoms to one another is in [`crate::facts`].

use std::collections::BTreeMap;

use crate::constraint::Condition;
use crate::expr::Expr;
use crate::interval::Interval;
use crate::limits;
use crate::linear::{AtomId, Linear};
use crate::monomial::{Factor, Kind, Monomial, Operation};
use crate::variable::Variable;

/// The degree up to which a product is split in every way.
const SPLIT_DEGREE_MAX: u64 = 3;

/// What a position of a linear form stands for.
#[derive(Clone, Debug)]
pub(crate) enum Atom {
    Variable(Variable),
    /// A product, in several ways the product of two atoms. `replaced` has the product again with the form of a positive
    /// part in place of that part.
    Product {
        splits: Vec<(AtomId, AtomId)>,
        square: bool,
        replaced: Vec<(AtomId, Linear)>,
    },
    /// `product` is the divisor times this atom, when it could be formed.
    FloorDiv {
        dividend: Linear,
        divisor: Linear,
        product: Option<Linear>,
    },
    /// The larger of the form and 0.
    PositivePart {
        form: Linear,
    },
}

/// A condition as a linear form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    NonNegative(Linear),
    Zero(Linear),
    NonZero(Linear),
}

/// Atoms and facts. Operands come before the atoms that contain them, except in `product` of a floor division.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    pub(crate) atoms: Vec<Atom>,
    pub(crate) facts: Vec<Fact>,
    /// The range of each atom as declared; operations and products have none.
    pub(crate) declared: Vec<Interval>,
    index: BTreeMap<Monomial, AtomId>,
}

impl Problem {
    /// Adds a condition. None when the question has too many atoms; what was added before stays valid.
    pub(crate) fn add(
        &mut self,
        condition: &Condition,
        ranges: &dyn Fn(&Variable) -> Interval,
    ) -> Option<()> {
        let form = self.linear(condition.expr(), ranges)?;
        self.facts.push(match condition {
            Condition::NonNegative(_) => Fact::NonNegative(form),
            Condition::Zero(_) => Fact::Zero(form),
            Condition::NonZero(_) => Fact::NonZero(form),
        });
        Some(())
    }

    /// The linear form of an expression.
    pub(crate) fn linear(&mut self, expr: &Expr, ranges: &dyn Fn(&Variable) -> Interval) -> Option<Linear> {
        let mut form = Linear::default();
        for (monomial, coefficient) in expr.parts() {
            let term = if monomial.is_one() {
                Linear::constant(1)
            } else {
                Linear::atom(self.atom(&monomial, ranges)?)
            };
            form = form.plus(&term, coefficient)?;
        }
        Some(form)
    }

    /// The atoms that are variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (AtomId, &Variable)> {
        self.atoms.iter().enumerate().filter_map(|(id, atom)| match atom {
            Atom::Variable(variable) => Some((id, variable)),
            _ => None,
        })
    }

    /// The products among the atoms.
    pub(crate) fn products(&self) -> impl Iterator<Item = &Monomial> {
        self.index
            .keys()
            .filter(|monomial| monomial.as_factor().is_none())
    }

    fn atom(&mut self, monomial: &Monomial, ranges: &dyn Fn(&Variable) -> Interval) -> Option<AtomId> {
        if let Some(id) = self.index.get(monomial) {
            return Some(*id);
        }
        match monomial.as_factor() {
            Some(Factor::Variable(variable)) => {
                self.register(monomial, Atom::Variable(variable.clone()), ranges(variable))
            }
            Some(Factor::Operation(operation)) => self.operation(monomial, operation, ranges),
            None => {
                let mut splits = Vec::new();
                for power in monomial.powers() {
                    let factor = Monomial::of(power.factor.clone());
                    let rest = monomial.divided_by(&factor)?;
                    splits.push((self.atom(&factor, ranges)?, self.atom(&rest, ranges)?));
                    if monomial.degree() > SPLIT_DEGREE_MAX {
                        break;
                    }
                }
                if let Some(id) = self.index.get(monomial) {
                    // A floor division among the factors has registered it: its product with the divisor contains it.
                    return Some(*id);
                }
                let square = monomial.powers().iter().all(|power| power.exponent % 2 == 0);
                let product = Atom::Product {
                    splits,
                    square,
                    replaced: Vec::new(),
                };
                let id = self.register(monomial, product, Interval::ALL)?;
                let replaced = self.replace_parts(monomial, ranges);
                if let Atom::Product { replaced: known, .. } = &mut self.atoms[id] {
                    *known = replaced;
                }
                Some(id)
            }
        }
    }

    /// The product with the form of each positive part in place of that part. Each time there is one part less, so that
    /// this ends.
    fn replace_parts(
        &mut self,
        monomial: &Monomial,
        ranges: &dyn Fn(&Variable) -> Interval,
    ) -> Vec<(AtomId, Linear)> {
        let mut replaced = Vec::new();
        if monomial.degree() > SPLIT_DEGREE_MAX {
            return replaced;
        }
        for power in monomial.powers() {
            let Factor::Operation(operation) = &power.factor else {
                continue;
            };
            let part = Monomial::of(power.factor.clone());
            let rest = monomial.divided_by(&part).filter(|_| operation.kind == Kind::Max);
            let rest = rest.and_then(|rest| Expr::sum([(rest, 1)]).ok());
            let product = rest.and_then(|rest| operation.left.mul(&rest).ok());
            let form = product.and_then(|product| self.linear(&product, ranges));
            replaced.extend(self.index.get(&part).copied().zip(form));
        }
        replaced
    }

    fn operation(
        &mut self,
        monomial: &Monomial,
        operation: &Operation,
        ranges: &dyn Fn(&Variable) -> Interval,
    ) -> Option<AtomId> {
        let left = self.linear(&operation.left, ranges)?;
        let right = self.linear(&operation.right, ranges)?;
        match operation.kind {
            Kind::Max if right == Linear::default() => {
                self.register(monomial, Atom::PositivePart { form: left }, Interval::ALL)
            }
            Kind::FloorDiv => {
                let atom = Atom::FloorDiv {
                    dividend: left,
                    divisor: right,
                    product: None,
                };
                let id = self.register(monomial, atom, Interval::ALL)?;
                let whole = Expr::sum([(monomial.clone(), 1)]).ok()?;
                let expanded = operation.right.mul(&whole).ok()?;
                let expanded = self.linear(&expanded, ranges)?;
                if let Atom::FloorDiv { product, .. } = &mut self.atoms[id] {
                    *product = Some(expanded);
                }
                Some(id)
            }
            Kind::Max | Kind::Min | Kind::Mod => None,
        }
    }

    fn register(&mut self, monomial: &Monomial, atom: Atom, declared: Interval) -> Option<AtomId> {
        let id = self.atoms.len();
        if id >= limits::ATOMS {
            return None;
        }
        self.atoms.push(atom);
        self.declared.push(declared);
        self.index.insert(monomial.clone(), id);
        Some(id)
    }
}
