//! Variables whose proven bounds leave one value.

use std::collections::{BTreeMap, BTreeSet};

use crate::constraint::Constraint;
use crate::expr::Expr;
use crate::limits;
use crate::scope::Scope;
use crate::variable::Variable;

/// The first of some variables that can have one value only, and that value, in view of a scope and of more facts. None where
/// there are more variables, or more that is known of them, than [`limits::BOUNDED`].
pub(super) fn only_value(
    scope: &Scope,
    facts: Vec<Constraint>,
    variables: &[Variable],
) -> Option<(Variable, i64)> {
    if variables.len() > limits::BOUNDED {
        return None;
    }
    let mut constraints = scope.constraints().to_vec();
    constraints.extend(facts);
    let constraints = connected(constraints, variables)?;
    let scope = scope.with_constraints(constraints);
    variables.iter().find_map(|variable| {
        let bounds = scope.bounds(&Expr::variable(variable.clone())).ok()?;
        let value = bounds.min.filter(|min| bounds.max == Some(*min))?;
        Some((variable.clone(), value))
    })
}

/// The constraints that are connected to variables, directly or through others: no other bounds them.
fn connected(constraints: Vec<Constraint>, variables: &[Variable]) -> Option<Vec<Constraint>> {
    let mut mentions: BTreeMap<Variable, Vec<usize>> = BTreeMap::new();
    for (at, constraint) in constraints.iter().enumerate() {
        for variable in constraint.variables() {
            mentions.entry(variable).or_default().push(at);
        }
    }
    let mut found = BTreeSet::new();
    let mut pending = variables.to_vec();
    while let Some(variable) = pending.pop() {
        for at in mentions.remove(&variable).unwrap_or_default() {
            if found.insert(at) {
                pending.extend(constraints[at].variables());
            }
        }
        if found.len() > limits::BOUNDED {
            return None;
        }
    }
    Some(found.into_iter().map(|at| constraints[at].clone()).collect())
}
