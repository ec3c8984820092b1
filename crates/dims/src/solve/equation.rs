//! One equation between a specification and an actual size.

use std::collections::BTreeMap;

use crate::expr::{Expr, ExprError};
use crate::monomial::{Factor, Monomial};
use crate::scope::Scope;
use crate::variable::Variable;

/// `cofactor * variable^exponent = value`, where only the variable is sought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Isolated {
    pub(super) variable: Variable,
    pub(super) exponent: u32,
    cofactor: Expr,
    value: Expr,
}

/// What an isolated variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Value(Expr),
    Remainder(Expr),
    /// No whole number has this power.
    None(i64),
    /// Not decided, as for the root of an expression.
    Open,
}

/// Whether a product contains a sought variable.
pub(super) fn is_sought(monomial: &Monomial) -> bool {
    let sought = |factor: &Factor| match factor {
        Factor::Variable(variable) => variable.is_sought(),
        Factor::Operation(operation) => {
            let variables = &operation.left.variables() | &operation.right.variables();
            variables.iter().any(Variable::is_sought)
        }
    };
    monomial.powers().iter().any(|power| sought(&power.factor))
}

/// The expression with a sought variable in place of each variable.
pub(super) fn renamed(expr: &Expr) -> Result<Expr, ExprError> {
    let sought = |variable: Variable| {
        let sought = variable.sought();
        (variable, Expr::variable(sought))
    };
    expr.substitute(
        &expr
            .variables()
            .into_iter()
            .map(sought)
            .collect::<BTreeMap<_, _>>(),
    )
}

/// Isolates the only sought variable of `residual = 0`, if there is only one and it occurs in one power.
pub(super) fn isolate(residual: &Expr) -> Option<Isolated> {
    let (sought, known): (Vec<_>, Vec<_>) = residual.parts().partition(|(monomial, _)| is_sought(monomial));
    let (factor, exponent) = sought
        .first()?
        .0
        .powers()
        .iter()
        .find_map(|power| match &power.factor {
            Factor::Variable(variable) if variable.is_sought() => {
                Some((power.factor.clone(), power.exponent))
            }
            _ => None,
        })?;
    let Factor::Variable(variable) = &factor else {
        return None;
    };
    let power = Monomial::of(factor.clone()).power(exponent).ok()?;
    let mut cofactor = Vec::new();
    for (monomial, coefficient) in &sought {
        let rest = monomial.divided_by(&power)?;
        if is_sought(&rest) {
            return None;
        }
        cofactor.push((rest, *coefficient));
    }
    Some(Isolated {
        variable: variable.clone(),
        exponent,
        cofactor: Expr::sum(cofactor).ok()?,
        value: Expr::sum(known).ok()?.neg().ok()?,
    })
}

impl Isolated {
    /// The value of the variable. What is symbolic is decided in the outer scope.
    pub(super) fn root(&self, outer: &Scope) -> Result<Root, ExprError> {
        let negative = self.cofactor.as_constant().is_some_and(|cofactor| cofactor < 0);
        let (cofactor, value) = if negative {
            (self.cofactor.neg()?, self.value.neg()?)
        } else {
            (self.cofactor.clone(), self.value.clone())
        };
        let quotient = value.floordiv(&cofactor)?;
        let remainder = value.sub(&quotient.mul(&cofactor)?)?;
        if !outer.eq(&remainder, &Expr::constant(0)).is_yes() {
            return Ok(Root::Remainder(remainder));
        }
        if self.exponent == 1 {
            return Ok(Root::Value(quotient));
        }
        Ok(match quotient.as_constant() {
            None => Root::Open,
            Some(power) if power < 0 => Root::None(power),
            Some(power) => exact_root(power, self.exponent)
                .map_or(Root::None(power), |root| Root::Value(Expr::constant(root))),
        })
    }
}

/// The whole number that is not negative and has the given power.
fn exact_root(power: i64, exponent: u32) -> Option<i64> {
    let (mut low, mut high) = (0_i64, power);
    while low < high {
        let middle = low + (high - low) / 2;
        match middle.checked_pow(exponent) {
            Some(value) if value < power => low = middle + 1,
            _ => high = middle,
        }
    }
    (low.checked_pow(exponent) == Some(power)).then_some(low)
}
