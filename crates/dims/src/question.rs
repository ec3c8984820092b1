//! A question to a scope: which assignments satisfy some constraints, in view of all that the scope says about their
//! variables.

use std::collections::{BTreeMap, BTreeSet};

use crate::assignment::Assignment;
use crate::constraint::{Condition, Constraint};
use crate::evaluate::EvaluateError;
use crate::expr::Expr;
use crate::facts::propagate;
use crate::interval::Interval;
use crate::limits;
use crate::linear::{AtomId, Linear};
use crate::monomial::Monomial;
use crate::problem::Problem;
use crate::sample::{Sampler, enumerate};
use crate::scope::{Range, Scope};
use crate::variable::Variable;

/// Constraints with the part of a scope that can matter for them, compiled.
#[derive(Debug)]
pub(crate) struct Question {
    problem: Problem,
    constraints: Vec<Constraint>,
    ranges: BTreeMap<Variable, Range>,
    /// Whether every asked constraint is part of the problem. If not, nothing can be refuted.
    complete: bool,
    root: Option<Vec<Interval>>,
}

impl Question {
    /// Asks for the assignments that satisfy `asked` within the scope; `about` is an expression that will be evaluated.
    pub(crate) fn new(scope: &Scope, asked: &[Constraint], about: Option<&Expr>) -> Self {
        let relevant = relevant(scope, asked, about);
        let mut question = Self {
            problem: Problem::default(),
            constraints: asked.iter().chain(relevant.constraints).cloned().collect(),
            ranges: relevant
                .variables
                .into_iter()
                .map(|name| (name.clone(), scope.range(&name)))
                .collect(),
            complete: true,
            root: None,
        };
        if let Some(expr) = about {
            question.complete &= question.form(expr).is_some();
        }
        let conditions = question.conditions(asked.len());
        question.add_products(&conditions);
        question.root = propagate(&question.problem, &[]);
        question
    }

    /// Adds the constraints, asked ones first, and what the ranges say beyond their ends.
    fn conditions(&mut self, asked: usize) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for (position, constraint) in self.constraints.clone().iter().enumerate() {
            let condition = constraint.condition().ok();
            let added = condition.as_ref().is_some_and(|condition| self.add(condition));
            self.complete &= added || position >= asked;
            conditions.extend(condition.filter(|_| added));
        }
        for (variable, range) in self.ranges.clone() {
            let multiple = Expr::constant(i64::from(range.multiple_of.get()));
            let rest = Expr::variable(variable).modulo(&multiple);
            if let Some(condition) = rest
                .ok()
                .filter(|rest| !rest.terms().is_empty())
                .map(Condition::Zero)
            {
                self.add(&condition);
            }
        }
        conditions
    }

    /// Multiplies facts so that they speak about the products of the question: from `a*b == c` follows `a*b^2 == b*c`.
    fn add_products(&mut self, conditions: &[Condition]) {
        let products: Vec<Monomial> = self.problem.products().cloned().collect();
        let Some(intervals) = propagate(&self.problem, &[]) else {
            return;
        };
        let mut seen: BTreeSet<Condition> = BTreeSet::new();
        for condition in conditions {
            let parts = condition
                .expr()
                .terms()
                .iter()
                .map(|term| &term.monomial)
                .filter(|part| !part.is_one());
            for (part, product) in parts.flat_map(|part| products.iter().map(move |product| (part, product)))
            {
                if seen.len() >= limits::PRODUCT_FACTS {
                    return;
                }
                let cofactor = product.divided_by(part).filter(|cofactor| !cofactor.is_one());
                let multiplied =
                    cofactor.and_then(|cofactor| self.multiplied(condition, &cofactor, &intervals));
                if let Some(multiplied) = multiplied.filter(|multiplied| !seen.contains(multiplied)) {
                    self.add(&multiplied);
                    seen.insert(multiplied);
                }
            }
        }
    }

    /// A fact times a product. An inequality keeps its direction only when the product is known not to be negative.
    fn multiplied(
        &mut self,
        condition: &Condition,
        cofactor: &Monomial,
        intervals: &[Interval],
    ) -> Option<Condition> {
        let cofactor = Expr::sum([(cofactor.clone(), 1)]).ok()?;
        let product = condition.expr().mul(&cofactor).ok()?;
        match condition {
            Condition::Zero(_) => Some(Condition::Zero(product)),
            Condition::NonNegative(_) => {
                let form = self.form(&cofactor)?;
                let known = form.terms.iter().all(|(atom, _)| *atom < intervals.len());
                let positive = known && form.interval(intervals).is_at_least(0);
                positive.then_some(Condition::NonNegative(product))
            }
            Condition::NonZero(_) => None,
        }
    }

    fn add(&mut self, condition: &Condition) -> bool {
        let Self { problem, ranges, .. } = self;
        problem
            .add(condition, &|variable| interval_of(ranges, variable))
            .is_some()
    }

    /// The linear form of an expression; None when there are too many atoms.
    pub(crate) fn form(&mut self, expr: &Expr) -> Option<Linear> {
        let Self { problem, ranges, .. } = self;
        problem.linear(expr, &|variable| interval_of(ranges, variable))
    }

    /// The asked constraints and those of the scope that can matter.
    pub(crate) fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The compiled form.
    pub(crate) const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Whether refuting the problem refutes the question.
    pub(crate) const fn is_complete(&self) -> bool {
        self.complete
    }

    /// What each atom can be at all; None proves that no assignment satisfies the question.
    pub(crate) fn root(&self) -> Option<&[Interval]> {
        self.root.as_deref()
    }

    /// Whether an assignment satisfies every constraint and range.
    pub(crate) fn satisfied(&self, values: &Assignment) -> bool {
        self.verdict(values) == Some(true)
    }

    /// The same, with None when a value does not fit in the arithmetic.
    fn verdict(&self, values: &Assignment) -> Option<bool> {
        let within = |(variable, range): (&Variable, &Range)| {
            values.get(variable).is_some_and(|value| range.contains(value))
        };
        if !self.ranges.iter().all(within) {
            return Some(false);
        }
        for constraint in &self.constraints {
            match constraint.holds(values) {
                Ok(true) => {}
                Ok(false) | Err(EvaluateError::DivisionByZero { .. }) => return Some(false),
                Err(EvaluateError::Unbound { .. } | EvaluateError::Overflow { .. }) => return None,
            }
        }
        Some(true)
    }

    /// Assignments to try first.
    pub(crate) fn samples(&self, root: &[Interval]) -> impl Iterator<Item = Assignment> {
        Sampler::new(self.spans(root))
    }

    /// All assignments that satisfy the question, when few lie within the intervals. None says nothing.
    pub(crate) fn satisfying(&self, intervals: &[Interval]) -> Option<Vec<Assignment>> {
        let mut found = Vec::new();
        for values in enumerate(&self.spans(intervals))? {
            if self.verdict(&values)? {
                found.push(values);
            }
        }
        Some(found)
    }

    /// Each variable with the interval of its atom and its range.
    fn spans(&self, intervals: &[Interval]) -> Vec<(Variable, Interval, Range)> {
        let mut spans: BTreeMap<&Variable, Interval> = self
            .ranges
            .iter()
            .map(|(variable, range)| (variable, range.interval()))
            .collect();
        for (id, variable) in self.problem.variables() {
            let span = spans.entry(variable).or_insert(Interval::ALL);
            *span = span.intersect(intervals.get(id).copied().unwrap_or(Interval::ALL));
        }
        let span = |(variable, span): (&Variable, Interval)| {
            let range = self.ranges.get(variable).copied().unwrap_or_default();
            (variable.clone(), span, range)
        };
        spans.into_iter().map(span).collect()
    }

    /// An assignment from a value for each variable's atom, moved into the variable's range. Variables without an atom get
    /// their smallest value.
    pub(crate) fn assignment(&self, value: impl Fn(AtomId, &Variable) -> Option<i64>) -> Option<Assignment> {
        let mut values: Assignment = self
            .ranges
            .iter()
            .map(|(variable, range)| (variable.clone(), range.nearest(range.min)))
            .collect();
        for (id, variable) in self.problem.variables() {
            let range = self.ranges.get(variable).copied().unwrap_or_default();
            values.insert(variable.clone(), range.nearest(value(id, variable)?));
        }
        Some(values)
    }
}

fn interval_of(ranges: &BTreeMap<Variable, Range>, variable: &Variable) -> Interval {
    ranges
        .get(variable)
        .map_or(Interval::ALL, |range| range.interval())
}

struct Relevant<'s> {
    variables: BTreeSet<Variable>,
    constraints: Vec<&'s Constraint>,
}

/// The constraints that are connected to the question by variables.
fn relevant<'s>(scope: &'s Scope, asked: &[Constraint], about: Option<&Expr>) -> Relevant<'s> {
    let sides = asked
        .iter()
        .flat_map(|constraint| [&constraint.left, &constraint.right]);
    let mut variables: BTreeSet<Variable> = sides.chain(about).flat_map(Expr::variables).collect();
    let mut rest: Vec<(&Constraint, BTreeSet<Variable>)> = scope
        .constraints()
        .iter()
        .map(|constraint| (constraint, constraint.variables()))
        .collect();
    let mut found = BTreeSet::new();
    loop {
        let (connected, others): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|(_, names)| !names.is_disjoint(&variables));
        if connected.is_empty() {
            return Relevant {
                variables,
                constraints: found.into_iter().collect(),
            };
        }
        for (constraint, names) in connected {
            variables.extend(names);
            found.insert(constraint);
        }
        rest = others;
    }
}
