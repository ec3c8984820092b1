//! Scopes that no sizes satisfy, and the smallest reason.

use std::collections::BTreeSet;
use std::fmt;

use crate::constraint::Constraint;
use crate::question::Question;
use crate::scope::{Range, Scope};
use crate::search::{Found, search};
use crate::variable::Variable;

/// Constraints that no sizes satisfy together, minimal: without any one of them, the others are not known to conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsatisfiable {
    /// The constraints, sorted.
    pub constraints: Vec<Constraint>,
    /// The ranges of their variables, which take part in the conflict.
    pub ranges: Vec<(Variable, Range)>,
}

impl fmt::Display for Unsatisfiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = if self.constraints.len() == 1 { "" } else { "s" };
        write!(f, "unsatisfiable constraint{several}: ")?;
        for (position, constraint) in self.constraints.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{constraint}")?;
        }
        for (position, (variable, range)) in self.ranges.iter().enumerate() {
            let separator = if position == 0 { "; where" } else { ";" };
            write!(f, "{separator} '{variable}' is {range}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Unsatisfiable {}

/// A minimal conflict among the constraints of a scope, if one is found. Each group of constraints that share variables is
/// examined by itself.
pub(crate) fn find_conflict(scope: &Scope) -> Option<Unsatisfiable> {
    let mut groups = Vec::new();
    let mut rest = scope.constraints().to_vec();
    while let Some(first) = rest.first().cloned() {
        let question = Question::new(scope, std::slice::from_ref(&first), None);
        let group: Vec<Constraint> = rest
            .iter()
            .filter(|constraint| question.constraints().contains(constraint))
            .cloned()
            .collect();
        rest.retain(|constraint| !group.contains(constraint));
        groups.push(group);
    }
    let conflict = groups.into_iter().find(|group| conflicts(scope, group))?;
    let minimal = minimised(scope, conflict);
    let variables: BTreeSet<Variable> = minimal.iter().flat_map(Constraint::variables).collect();
    let ranges = variables
        .into_iter()
        .map(|variable| (variable.clone(), scope.range(&variable)))
        .collect();
    Some(Unsatisfiable {
        constraints: minimal,
        ranges,
    })
}

/// Leaves out one constraint after the other as long as the rest conflicts.
fn minimised(scope: &Scope, mut conflict: Vec<Constraint>) -> Vec<Constraint> {
    let mut position = 0;
    while position < conflict.len() {
        let mut without = conflict.clone();
        without.remove(position);
        if conflicts(scope, &without) {
            conflict = without;
        } else {
            position += 1;
        }
    }
    conflict
}

/// Whether constraints provably conflict within the ranges of a scope.
fn conflicts(scope: &Scope, constraints: &[Constraint]) -> bool {
    let bare = scope.with_constraints(Vec::new());
    !constraints.is_empty() && search(&Question::new(&bare, constraints, None)) == Found::Nothing
}
