//! What keeps JAX from calling a program whose file it can read. Such a file is not written.
//!
//! JAX 0.10 finds the entry by the name `main`, and the value of each dimension variable by itself: from sizes that are linear
//! in one variable that is not yet known, multiplied by a number (`_solve_dim_equations` of `jax/_src/export/shape_poly.py`).
//! Its variables are at least 1, and its refinement of shapes knows no bounds of arguments.

use std::collections::{BTreeMap, BTreeSet};

use artifact_dims::{Comparison, Constraint, Expr, Variable};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::Dim;

use crate::dimensions::linear;
use crate::error::ExportError;
use crate::interface::Conventions;
use crate::signature::{Argument, Signature};

/// What JAX calls the entry of a program.
const MAIN: &str = "main";

/// Refuses a program that JAX cannot call with every size that its signature allows.
pub(crate) fn check(signature: &Signature) -> Result<(), ExportError> {
    unbounded(signature)?;
    never_empty(signature)?;
    solvable(signature)
}

/// Lets the entry be called as JAX calls it.
///
/// # Errors
/// When something else has that name.
pub(crate) fn name_main(module: &mut Module, entry: FunctionId) -> Result<(), ExportError> {
    let name = module.functions[entry].name.clone();
    if &*name == MAIN || module.rename_function(entry, MAIN) {
        return Ok(());
    }
    Err(ExportError::input(format!(
        "jax.export calls the entry `{MAIN}`, which is `{name}`, and something else in the module is called `{MAIN}`; rename that"
    )))
}

/// Refuses several platforms for a program that does not ask which of them it runs on.
pub(crate) fn told_apart(platforms: &[String], conventions: &Conventions) -> Result<(), ExportError> {
    if platforms.len() < 2 || conventions.platform_index {
        return Ok(());
    }
    Err(ExportError::input(format!(
        "it is for the platforms `{}`, and jax.export passes a program for several platforms the position of the one that it \
         runs on, as a first argument with `jax.global_constant = \"_platform_index\"`, which this program does not take; export \
         it for one platform, or for none, which means any",
        platforms.join("`, `")
    )))
}

fn unbounded(signature: &Signature) -> Result<(), ExportError> {
    let sides = [("argument", &signature.inputs), ("result", &signature.outputs)];
    let values = sides
        .iter()
        .flat_map(|(side, values)| values.iter().map(move |value| (side, value)));
    for (side, value) in values {
        if let Some(ty) = value.ty.as_tensor().filter(|ty| ty.bounds().is_some()) {
            let name = &value.name;
            return Err(ExportError::input(format!(
                "the {side} `{name}` is {ty}, and a file of jax.export has no place for bounds; leave them out of the program"
            )));
        }
    }
    Ok(())
}

/// Sizes that may be 0 because somebody said so. Those of which nobody did are in [`open_sizes`].
fn never_empty(signature: &Signature) -> Result<(), ExportError> {
    for (variable, stated) in may_be_empty(signature) {
        if let Some(constraint) = stated {
            return Err(ExportError::input(format!(
                "`{constraint}` lets the size '{variable}' be 0, and those of jax.export are at least 1; leave the constraint out"
            )));
        }
    }
    Ok(())
}

/// The names of arguments with sizes that may be 0. Every size has a name or an expression.
pub(crate) fn open_sizes(signature: &Signature) -> Vec<String> {
    let empty: BTreeSet<Variable> = may_be_empty(signature)
        .map(|(variable, _)| variable.clone())
        .collect();
    let is_open = |input: &&Argument| {
        let dims = input.ty.as_tensor().into_iter().flat_map(|ty| ty.dims.iter());
        let mut sizes = dims.filter_map(Dim::expression);
        sizes.any(|size| !size.variables().is_disjoint(&empty))
    };
    let inputs = signature.inputs.iter().filter(is_open);
    inputs.map(|input| input.name.clone()).collect()
}

/// Variables that may be 0, with the constraint that lets them, if there is one.
fn may_be_empty(signature: &Signature) -> impl Iterator<Item = (&Variable, Option<&Constraint>)> {
    let dimensions = &signature.dimensions;
    let mut constrained = BTreeSet::new();
    let mut stated: BTreeMap<Variable, &Constraint> = BTreeMap::new();
    for constraint in dimensions.constraints() {
        let variables = constraint.variables();
        if let (1, Some(variable)) = (variables.len(), variables.first())
            && is_least_zero(constraint, variable)
        {
            stated.entry(variable.clone()).or_insert(constraint);
        }
        constrained.extend(variables);
    }
    let empty = dimensions.ranges().filter(move |(variable, range)| {
        let size = Expr::variable((*variable).clone());
        let positive = Constraint::new(size, Comparison::Ge, Expr::constant(1));
        // A variable that is in no constraint takes every size of its range.
        range.min < 1 && !(constrained.contains(*variable) && dimensions.decide(&positive).is_yes())
    });
    empty.map(move |(variable, _)| (variable, stated.get(variable).copied()))
}

/// Whether a constraint, which is on this variable alone, is a lower bound of it that allows 0.
fn is_least_zero(constraint: &Constraint, variable: &Variable) -> bool {
    /// Less than any size, and far from where arithmetic overflows.
    const FAR: i64 = -(1 << 40);
    let holds = |size: i64| {
        let size = [(variable.clone(), size)].into_iter().collect();
        constraint.holds(&size) == Ok(true)
    };
    let ordered = !matches!(constraint.comparison, Comparison::Eq | Comparison::Ne);
    ordered && holds(0) && !holds(FAR)
}

fn solvable(signature: &Signature) -> Result<(), ExportError> {
    let tensors = signature.inputs.iter().filter_map(|input| input.ty.as_tensor());
    let sizes: Vec<Expr> = tensors
        .flat_map(|ty| ty.dims.iter().filter_map(Dim::expression))
        .collect();
    let known = solved(&sizes);
    let mut variables = sizes.iter().flat_map(|size| {
        let variables = size.variables();
        variables.into_iter().map(move |variable| (size, variable))
    });
    match variables.find(|(_, variable)| !known.contains(variable)) {
        None => Ok(()),
        Some((size, variable)) => Err(ExportError::input(format!(
            "jax.export cannot find '{variable}' from the size '{size}': it solves for one name at a time, which may be \
             multiplied by a number; give an argument a size '{variable}', or '{size}' a name of its own"
        ))),
    }
}

/// All variables that JAX finds from the values of sizes. A size is looked at again when another tells one of its variables.
fn solved(sizes: &[Expr]) -> BTreeSet<Variable> {
    let mut mentions: BTreeMap<Variable, Vec<&Expr>> = BTreeMap::new();
    for size in sizes {
        for variable in size.variables() {
            mentions.entry(variable).or_default().push(size);
        }
    }
    let mut known = BTreeSet::new();
    let mut pending: Vec<&Expr> = sizes.iter().collect();
    while let Some(size) = pending.pop() {
        if let Some(variable) = solved_by(size, &known) {
            pending.extend(mentions.remove(&variable).unwrap_or_default());
            known.insert(variable);
        }
    }
    known
}

/// The variable that JAX finds from the value of a size: the only one that is not known, in one term of the sum, with a number.
fn solved_by(size: &Expr, known: &BTreeSet<Variable>) -> Option<Variable> {
    let variables = size.variables();
    let mut unknown = variables.iter().filter(|variable| !known.contains(*variable));
    let (variable, None) = (unknown.next()?, unknown.next()) else {
        return None;
    };
    linear(size, variable).map(|_| variable.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What JAX 0.10.2 does with these shapes in `symbolic_args_specs` and a call.
    #[test]
    fn what_jax_solves() {
        let solved = |size: &str, known: &[&str]| {
            let known = known.iter().map(|name| Variable::new(name).unwrap()).collect();
            let size: Expr = size.parse().unwrap();
            solved_by(&size, &known).map(|variable| variable.name().to_owned())
        };
        for (size, known, expected) in [
            ("b", &[][..], Some("b")),
            ("8 - b", &[], Some("b")),
            ("2*b + 3", &[], Some("b")),
            ("b + c", &["c"], Some("b")),
            ("b + mod(c, 2)*c", &["c"], Some("b")),
            ("b + c", &[], None),
            ("b*c", &[], None),
            ("b*c", &["c"], None),
            ("b^2", &[], None),
            ("b^2 + b", &[], None),
            ("max(b, 4)", &[], None),
            ("min(b, 4) + b", &[], None),
            ("b // 2", &[], None),
            ("b", &["b"], None),
        ] {
            assert_eq!(solved(size, known).as_deref(), expected, "{size} with {known:?}");
        }
    }
}
