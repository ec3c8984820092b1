//! Questions about sizes, asked once each.

use std::collections::{BTreeSet, HashMap};

use artifact_dims::{Comparison, Constraint, Decision, Expr, Scope, ScopeError};

use crate::known::{Condition, is_anonymous};

/// Answers questions within a scope and remembers the answers.
#[derive(Debug)]
pub(crate) struct Decider<'s> {
    scope: &'s Scope,
    answers: HashMap<Constraint, Option<bool>>,
    together: HashMap<Condition, bool>,
}

impl<'s> Decider<'s> {
    pub(crate) fn new(scope: &'s Scope) -> Self {
        Self {
            scope,
            answers: HashMap::new(),
            together: HashMap::new(),
        }
    }

    /// Whether a comparison holds for all sizes, for none, or (`None`) neither is proven.
    pub(crate) fn decide(&mut self, left: &Expr, comparison: Comparison, right: &Expr) -> Option<bool> {
        let constraint = Constraint::new(left.clone(), comparison, right.clone());
        let answer = |decision| match decision {
            Decision::Yes => Some(true),
            Decision::No => Some(false),
            Decision::Unknown(_) => None,
        };
        if left.as_constant().is_some() && right.as_constant().is_some() {
            return answer(self.scope.decide(&constraint));
        }
        if is_anonymous(left) || is_anonymous(right) {
            // The scope knows no range of such a number; what is left after subtraction may be one.
            let difference = left
                .sub(right)
                .ok()
                .and_then(|difference| difference.as_constant())?;
            let zero = Constraint::new(Expr::constant(difference), comparison, Expr::constant(0));
            return answer(self.scope.decide(&zero));
        }
        if let Some(answer) = self.answers.get(&constraint) {
            return *answer;
        }
        let answer = answer(self.scope.decide(&constraint));
        self.answers.insert(constraint, answer);
        answer
    }

    /// Whether a comparison is proven.
    pub(crate) fn proves(&mut self, left: &Expr, comparison: Comparison, right: i64) -> bool {
        self.decide(left, comparison, &Expr::constant(right)) == Some(true)
    }

    /// The comparison as a condition.
    pub(crate) fn compare(&mut self, left: &Expr, comparison: Comparison, right: &Expr) -> Condition {
        match self.decide(left, comparison, right) {
            Some(holds) => Condition::Known(holds),
            None => Condition::Compare(Constraint::new(left.clone(), comparison, right.clone())),
        }
    }

    /// Whether a condition is proven to hold for no sizes, though each of its parts may.
    pub(crate) fn is_impossible(&mut self, condition: &Condition) -> bool {
        let Condition::All(parts) = condition else {
            return *condition == Condition::Known(false);
        };
        if condition.is_anonymous() {
            return false;
        }
        if let Some(answer) = self.together.get(condition) {
            return *answer;
        }
        let of_scope = self.scope.constraints().iter();
        let of_parts = parts.iter().filter_map(|part| match part {
            Condition::Compare(constraint) => Some(constraint),
            Condition::Known(_) | Condition::All(_) => None,
        });
        let mut builder = Scope::builder();
        let mut variables = BTreeSet::new();
        for constraint in of_scope.chain(of_parts) {
            variables.extend(constraint.variables());
            builder = builder.constraint(constraint.clone());
        }
        // Other variables take no part in it, and there may be many.
        for variable in variables {
            let range = self.scope.range(&variable);
            builder = builder.range(variable, range);
        }
        let impossible = matches!(builder.build(), Err(ScopeError::Unsatisfiable(_)));
        self.together.insert(condition.clone(), impossible);
        impossible
    }
}
