//! Values of dimension variables from actual sizes, and every check that the values must pass.
//!
//! Each size of an argument says that its specification, an expression over the program's variables, has some value. The
//! equations are solved by substitution, by elimination of several unknowns from several equations, by exact division by
//! known factors, by exact roots, and at last by proven bounds that leave a single value. Values may also be given. Then
//! everything is checked, and everything that fails is reported.
//!
//! The actual sizes may themselves be expressions over the variables of an outer program ([`solve_within`]). Checks are then
//! decided in the outer scope; what is not proven there fails, because nobody would check it later.
//!
//! The texts follow JAX's (`solve_dim_vars` and its shape assertions).

mod bounded;
mod elimination;
mod equation;
mod mismatch;
mod solver;

use std::collections::BTreeMap;

pub use mismatch::{Mismatch, Mismatches, Origin};

use crate::assignment::Assignment;
use crate::expr::Expr;
use crate::scope::Scope;
use crate::variable::Variable;
use solver::Solver;

/// One dimension of an argument: what the program says of it and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The name of the dimension in messages, such as `args[0].shape[1]`.
    pub place: String,
    /// The expression over the program's variables, or a number.
    pub specification: Expr,
    /// The actual size, in elements.
    pub actual: Expr,
}

/// Finds the value of each variable of `sizes` and of the scope, and checks all of them. `given` holds values that come
/// from elsewhere.
///
/// # Errors
/// [`Mismatches`] with every variable that cannot be found and every check that fails.
pub fn solve(scope: &Scope, sizes: &[Size], given: &Assignment) -> Result<Assignment, Mismatches> {
    let given = given
        .iter()
        .map(|(variable, value)| (variable.clone(), Expr::constant(value)))
        .collect();
    let solution = solve_within(&Scope::default(), scope, sizes, &given)?;
    let number = |(variable, value): (Variable, Expr)| value.as_constant().map(|value| (variable, value));
    Ok(solution.into_iter().filter_map(number).collect())
}

/// Like [`solve()`], with actual sizes and values that are expressions over the variables of `outer`. The two programs may
/// use the same names for different variables.
///
/// # Errors
/// [`Mismatches`] with every variable that cannot be found and every check that fails or is not proven in `outer`.
pub fn solve_within(
    outer: &Scope,
    scope: &Scope,
    sizes: &[Size],
    given: &BTreeMap<Variable, Expr>,
) -> Result<BTreeMap<Variable, Expr>, Mismatches> {
    let mut solver = Solver::new(outer, scope, sizes);
    solver.give(given);
    solver.solve();
    solver.check();
    solver.finish()
}
