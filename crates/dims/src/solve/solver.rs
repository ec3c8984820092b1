//! The steps of solving.

use std::collections::{BTreeMap, BTreeSet};

use super::Size;
use super::bounded::only_value;
use super::elimination::{Combined, eliminate};
use super::equation::{Isolated, Root, isolate, renamed};
use super::mismatch::{Mismatch, Mismatches, Origin};
use crate::constraint::{Comparison, Constraint};
use crate::expr::{Expr, ExprError};
use crate::limits;
use crate::scope::Scope;
use crate::variable::Variable;

/// `residual = 0`, over sought variables and those of the outer program.
#[derive(Clone, Debug)]
struct Equation<'s> {
    residual: Expr,
    /// None for an equation that is a constraint of the scope.
    size: Option<&'s Size>,
    /// Whether it has given a value or failed to.
    used: bool,
}

/// What is known so far.
#[derive(Debug)]
pub(super) struct Solver<'s> {
    outer: &'s Scope,
    scope: &'s Scope,
    sizes: &'s [Size],
    variables: BTreeSet<Variable>,
    equations: Vec<Equation<'s>>,
    /// The equations that a sought variable was in at first, by position.
    mentions: BTreeMap<Variable, Vec<usize>>,
    /// Equations that may have a single sought variable, by position.
    alone: BTreeSet<usize>,
    /// Equations that may give a value together with others, by position.
    together: BTreeSet<usize>,
    /// Values by the program's variables.
    values: BTreeMap<Variable, Expr>,
    /// Variables of which a computation failed.
    failed: BTreeSet<Variable>,
    /// Variables of which only a power is known.
    open: BTreeSet<Variable>,
    report: Mismatches,
}

impl<'s> Solver<'s> {
    /// Forms the equations.
    pub(super) fn new(outer: &'s Scope, scope: &'s Scope, sizes: &'s [Size]) -> Self {
        let of_sizes = sizes.iter().flat_map(|size| size.specification.variables());
        let of_scope = scope.constraints().iter().flat_map(Constraint::variables);
        let declared = scope.ranges().map(|(variable, _)| variable.clone());
        let mut solver = Self {
            outer,
            scope,
            sizes,
            variables: of_sizes.chain(of_scope).chain(declared).collect(),
            equations: Vec::new(),
            mentions: BTreeMap::new(),
            alone: BTreeSet::new(),
            together: BTreeSet::new(),
            values: BTreeMap::new(),
            failed: BTreeSet::new(),
            open: BTreeSet::new(),
            report: Mismatches::default(),
        };
        solver.report.specifications = sizes
            .iter()
            .map(|size| (size.place.clone(), size.specification.clone()))
            .collect();
        for size in sizes {
            let residual = renamed(&size.specification).and_then(|expr| expr.sub(&size.actual));
            solver.equation(&size.specification, residual, Some(size));
        }
        for constraint in scope
            .constraints()
            .iter()
            .filter(|one| one.comparison == Comparison::Eq)
        {
            let residual = constraint
                .left
                .sub(&constraint.right)
                .and_then(|expr| renamed(&expr));
            solver.equation(&constraint.left, residual, None);
        }
        solver
    }

    fn equation(&mut self, expr: &Expr, residual: Result<Expr, ExprError>, size: Option<&'s Size>) {
        match residual {
            Ok(residual) => {
                let at = self.equations.len();
                for variable in residual.variables().into_iter().filter(Variable::is_sought) {
                    self.mentions.entry(variable).or_default().push(at);
                }
                self.alone.insert(at);
                self.together.insert(at);
                self.equations.push(Equation {
                    residual,
                    size,
                    used: false,
                });
            }
            Err(reason) => self.fail(Mismatch::Undefined {
                expr: expr.clone(),
                reason,
            }),
        }
    }

    fn fail(&mut self, mismatch: Mismatch) {
        self.report.failures.push(mismatch);
    }

    /// Takes values that come from elsewhere.
    pub(super) fn give(&mut self, given: &BTreeMap<Variable, Expr>) {
        for (variable, value) in given {
            if self.variables.contains(variable) {
                self.learn(variable.clone(), value.clone(), Origin::Given);
            } else {
                self.fail(Mismatch::Unused {
                    variable: variable.clone(),
                    known: self.variables.iter().cloned().collect(),
                });
            }
        }
    }

    fn learn(&mut self, variable: Variable, value: Expr, origin: Origin) {
        let sought = variable.sought();
        let mentions = self.mentions.get(&sought).cloned().unwrap_or_default();
        let known = BTreeMap::from([(sought, value.clone())]);
        for at in mentions {
            let equation = &mut self.equations[at];
            // What cannot be substituted stays open and is reported by the check of consistency.
            if let Ok(residual) = equation.residual.substitute(&known) {
                equation.residual = residual;
            }
            self.alone.insert(at);
            self.together.insert(at);
        }
        self.report
            .obtained
            .push((variable.clone(), value.clone(), origin));
        self.values.insert(variable, value);
    }

    /// Finds values until no method finds another.
    pub(super) fn solve(&mut self) {
        while self.values.len() < self.variables.len() {
            if !(self.solve_one() || self.solve_together() || self.solve_by_bounds()) {
                return;
            }
        }
    }

    /// Solves the first equation with a single sought variable.
    fn solve_one(&mut self) -> bool {
        let (at, isolated) = loop {
            let Some(at) = self.alone.pop_first() else {
                return false;
            };
            let equation = &self.equations[at];
            if let Some(isolated) = isolate(&equation.residual).filter(|_| !equation.used) {
                break (at, isolated);
            }
        };
        self.equations[at].used = true;
        let size = self.equations[at].size;
        let origin = size.map_or(Origin::Together { places: Vec::new() }, |size| {
            Origin::Specification {
                specification: size.specification.clone(),
                place: size.place.clone(),
                actual: size.actual.clone(),
            }
        });
        self.take_root(&isolated, size, origin);
        true
    }

    /// Solves an equation that follows from several.
    fn solve_together(&mut self) -> bool {
        let (isolated, sources) = loop {
            let Some(first) = self.together.first().copied() else {
                return false;
            };
            let group = self.connected(first);
            if let Some(found) = self.combined(&group) {
                break found;
            }
            // Nothing follows until a variable of theirs has a value.
            for at in group.iter().chain([&first]) {
                self.together.remove(at);
            }
        };
        let sizes: Vec<&Size> = sources.iter().filter_map(|at| self.equations[*at].size).collect();
        let places = sizes.iter().map(|size| size.place.clone()).collect();
        let first = sizes.first().copied();
        self.take_root(&isolated, first, Origin::Together { places });
        true
    }

    /// The first equation with a single sought variable that follows from a group, and those that it follows from.
    fn combined(&self, group: &BTreeSet<usize>) -> Option<(Isolated, BTreeSet<usize>)> {
        if group.len() > limits::EQUATIONS {
            return None;
        }
        let rows = group.iter().map(|at| Combined {
            residual: self.equations[*at].residual.clone(),
            sources: BTreeSet::from([*at]),
        });
        let mut combined = eliminate(rows.collect()).into_iter().filter_map(|row| {
            let isolated = isolate(&row.residual)?;
            let variable = self.original(&isolated.variable)?;
            let hopeless = self.failed.contains(&variable) || self.open.contains(&variable);
            (!hopeless).then_some((isolated, row.sources))
        });
        combined.next()
    }

    /// The open equations that share sought variables with one, directly or through others.
    fn connected(&self, first: usize) -> BTreeSet<usize> {
        let mut group = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut pending = vec![first];
        while let Some(at) = pending.pop() {
            let Equation { residual, used, .. } = &self.equations[at];
            let sought = residual.variables().into_iter().filter(Variable::is_sought);
            let mut sought = sought.peekable();
            if *used || sought.peek().is_none() || !group.insert(at) {
                continue;
            }
            for variable in sought.filter(|variable| seen.insert(variable.clone())) {
                pending.extend(self.mentions.get(&variable).into_iter().flatten());
            }
        }
        group
    }

    /// Takes the value of an isolated variable, or reports why there is none.
    fn take_root(&mut self, isolated: &Isolated, size: Option<&Size>, origin: Origin) {
        let Some(variable) = self.original(&isolated.variable) else {
            return;
        };
        let (specification, place, actual) = match size {
            Some(size) => (
                size.specification.clone(),
                size.place.clone(),
                size.actual.clone(),
            ),
            None => (
                Expr::variable(variable.clone()),
                "of a constraint".to_owned(),
                Expr::constant(0),
            ),
        };
        let root = isolated.root(self.outer);
        let failure = match root {
            Ok(Root::Value(value)) => return self.learn(variable, value, origin),
            Ok(Root::Open) => {
                self.open.insert(variable);
                return;
            }
            Ok(Root::Remainder(remainder)) => Mismatch::Remainder {
                variable,
                remainder,
                specification,
                place,
                actual,
            },
            Ok(Root::None(power)) => {
                let exponent = isolated.exponent;
                Mismatch::Root {
                    variable,
                    exponent,
                    power,
                    specification,
                    place,
                    actual,
                }
            }
            Err(reason) => Mismatch::Undefined {
                expr: specification,
                reason,
            },
        };
        self.failed.extend(self.original(&isolated.variable));
        self.fail(failure);
    }

    /// Takes a variable whose proven bounds leave one value. Only for sizes that are numbers.
    fn solve_by_bounds(&mut self) -> bool {
        if !self.failed.is_empty() || self.sizes.iter().any(|size| size.actual.as_constant().is_none()) {
            return false;
        }
        let sizes = self
            .sizes
            .iter()
            .map(|size| (size.specification.clone(), size.actual.clone()));
        let values = self
            .values
            .iter()
            .map(|(variable, value)| (Expr::variable(variable.clone()), value.clone()));
        let facts = sizes
            .chain(values)
            .map(|(left, right)| Constraint::new(left, Comparison::Eq, right));
        let unknown: Vec<Variable> = self.unknown().cloned().collect();
        let Some((variable, value)) = only_value(self.scope, facts.collect(), &unknown) else {
            return false;
        };
        let places = self
            .sizes
            .iter()
            .filter(|size| size.specification.variables().contains(&variable));
        let places = places.map(|size| size.place.clone()).collect();
        self.learn(variable, Expr::constant(value), Origin::Together { places });
        true
    }

    fn unknown(&self) -> impl Iterator<Item = &Variable> {
        let variables = self.variables.iter();
        variables.filter(|variable| !self.values.contains_key(*variable))
    }

    fn original(&self, sought: &Variable) -> Option<Variable> {
        let variable = sought.unsought()?;
        self.variables.get(&variable).cloned()
    }

    /// Checks ranges, sizes and constraints.
    pub(super) fn check(&mut self) {
        for variable in self.unknown().cloned().collect::<Vec<_>>() {
            if self.failed.is_empty() || self.open.contains(&variable) {
                self.fail(Mismatch::Unsolved { variable });
            }
        }
        for (variable, value) in self.values.clone() {
            self.check_range(&variable, &value);
        }
        for size in self.sizes {
            self.check_size(size);
        }
        for constraint in self.scope.constraints() {
            self.check_constraint(constraint);
        }
    }

    fn check_range(&mut self, variable: &Variable, value: &Expr) {
        let range = self.scope.range(variable);
        let (variable, value) = (variable.clone(), value.clone());
        if !self.outer.ge(&value, &Expr::constant(range.min)).is_yes() {
            let (variable, value) = (variable.clone(), value.clone());
            self.fail(Mismatch::TooSmall {
                variable,
                value,
                range,
            });
        }
        if let Some(max) = range
            .max
            .filter(|max| !self.outer.le(&value, &Expr::constant(*max)).is_yes())
        {
            let (variable, value) = (variable.clone(), value.clone());
            self.fail(Mismatch::TooLarge { variable, value, max });
        }
        let rest = value.modulo(&Expr::constant(i64::from(range.multiple_of.get())));
        if !rest.is_ok_and(|rest| self.outer.eq(&rest, &Expr::constant(0)).is_yes()) {
            self.fail(Mismatch::NotMultiple {
                variable,
                value,
                range,
            });
        }
    }

    fn check_size(&mut self, size: &Size) {
        let Size {
            place,
            specification,
            actual,
        } = size;
        let Some(value) = self.value(specification) else {
            return;
        };
        if self.outer.eq(&value, actual).is_yes() {
            return;
        }
        let (place, actual) = (place.clone(), actual.clone());
        self.fail(match specification.as_constant() {
            Some(expected) => Mismatch::Constant {
                place,
                expected,
                actual,
            },
            None => Mismatch::Inconsistent {
                place,
                actual,
                specification: specification.clone(),
                value,
            },
        });
    }

    fn check_constraint(&mut self, constraint: &Constraint) {
        let (Some(left), Some(right)) = (self.value(&constraint.left), self.value(&constraint.right)) else {
            return;
        };
        let actual = Constraint::new(left.clone(), constraint.comparison, right.clone());
        if !self.outer.decide(&actual).is_yes() {
            self.fail(Mismatch::Constraint {
                constraint: constraint.clone(),
                left,
                right,
            });
        }
    }

    /// The value of an expression of the program, if all its variables have one.
    fn value(&mut self, expr: &Expr) -> Option<Expr> {
        if !expr
            .variables()
            .iter()
            .all(|variable| self.values.contains_key(variable))
        {
            return None;
        }
        match expr.substitute(&self.values) {
            Ok(value) => Some(value),
            Err(reason) => {
                self.fail(Mismatch::Undefined {
                    expr: expr.clone(),
                    reason,
                });
                None
            }
        }
    }

    /// The values, or the report.
    pub(super) fn finish(self) -> Result<BTreeMap<Variable, Expr>, Mismatches> {
        if self.report.failures.is_empty() {
            Ok(self.values)
        } else {
            Err(self.report)
        }
    }
}
