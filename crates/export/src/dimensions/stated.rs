//! What a program itself says of its dimensions: ranges and constraints, as far as its assertions state any.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use artifact_dims::{Comparison, Constraint, Expr, Range, Scope, Variable};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Assertion, Fact, Refined, refine};

use super::unfit;
use crate::error::ExportError;
use crate::signature::Signature;

/// What is claimed of dimension variables before the program is asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    /// Constraints on them.
    pub(crate) constraints: Vec<Constraint>,
    /// Those that may be 0, unless the constraints or the program say otherwise; others are at least 1.
    pub(crate) may_be_empty: BTreeSet<Variable>,
}

impl Claims {
    /// What a scope says.
    pub(super) fn of(scope: &Scope) -> Self {
        let ranges = scope.ranges();
        let within = ranges.flat_map(|(variable, range)| within_range(variable, range));
        let empty = scope.ranges().filter(|(_, range)| range.min <= 0);
        Self {
            constraints: scope.constraints().iter().cloned().chain(within).collect(),
            may_be_empty: empty.map(|(variable, _)| variable.clone()).collect(),
        }
    }
}

/// The signature with all that holds of its variables: what is claimed, and what the program's assertions and operations
/// state. The shapes of results follow.
pub(crate) fn scoped(
    module: &Module,
    entry: FunctionId,
    mut signature: Signature,
    claims: &Claims,
) -> Result<Signature, ExportError> {
    signature.dimensions = Scope::default();
    let variables = super::variables(&signature.inputs);
    if variables.is_empty() {
        return Ok(signature);
    }
    let claimed = || claims.constraints.iter().cloned();
    let mut stated = |may_be_empty: &BTreeSet<Variable>| {
        signature.dimensions = super::scope(&variables, may_be_empty, claimed())?;
        Ok::<_, ExportError>(constraints(&refined(module, entry, &signature)?.assertions))
    };
    let mut may_be_empty = &claims.may_be_empty & &variables;
    let mut found = stated(&may_be_empty)?;
    let all = super::scope(&variables, &may_be_empty, claimed().chain(found.iter().cloned()))?;
    let before = may_be_empty.len();
    // A name that is in no constraint takes every size of its range.
    let constrained: BTreeSet<Variable> = all.constraints().iter().flat_map(Constraint::variables).collect();
    may_be_empty
        .retain(|variable| !constrained.contains(variable) || !all.decide(&at_least(variable, 1)).is_yes());
    if may_be_empty.len() < before {
        // With the better ranges, less is left to state.
        found = stated(&may_be_empty)?;
    }
    signature.dimensions = super::scope(&variables, &may_be_empty, claimed().chain(found))?;
    super::required::completed(module, entry, signature)
}

fn at_least(variable: &Variable, least: i64) -> Constraint {
    Constraint::new(
        Expr::from(variable.clone()),
        Comparison::Ge,
        Expr::constant(least),
    )
}

/// What assertions state beyond this is left to the program, which asserts it when it runs: a scope has no room for more.
const STATED_MAX: usize = 128;

/// What the assertions state of dimensions, each once, as much as a scope takes.
pub(super) fn constraints(assertions: &[Assertion]) -> Vec<Constraint> {
    let mut stated = all_constraints(assertions);
    stated.truncate(STATED_MAX);
    stated
}

/// Everything that the assertions state of dimensions, each once.
pub(super) fn all_constraints(assertions: &[Assertion]) -> Vec<Constraint> {
    let mut seen = HashSet::new();
    let all = assertions
        .iter()
        .flat_map(|assertion| assertion.constraints.iter().flatten());
    all.filter(|constraint| seen.insert(*constraint))
        .cloned()
        .collect()
}

/// The program with all that follows from the shapes of the arguments.
pub(super) fn refined(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
) -> Result<Refined, ExportError> {
    let facts: Vec<Fact> = super::facts(module, entry, signature);
    refine(module, entry, &facts, &signature.dimensions).map_err(|error| unfit(&error))
}

/// Whether the program itself enforces the constraints of a signature, so that whoever calls it need not know them; the
/// first that it does not, if any.
pub(crate) fn unstated(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
) -> Result<Option<Constraint>, ExportError> {
    let stated = scoped(module, entry, signature.clone(), &Claims::default())?;
    let declared = signature.dimensions.constraints().iter().cloned();
    let ranges = signature.dimensions.ranges();
    let ranges = ranges.flat_map(|(variable, range)| within_range(variable, range));
    let mut all = declared.chain(ranges);
    Ok(all.find(|constraint| !stated.dimensions.decide(constraint).is_yes()))
}

/// The constraints that say what a range does, but for a minimum of 0 or 1.
pub(super) fn within_range(variable: &Variable, range: &Range) -> impl Iterator<Item = Constraint> {
    let size = || Expr::from(variable.clone());
    let lower = (range.min > 1).then(|| at_least(variable, range.min));
    let upper = range
        .max
        .map(|max| Constraint::new(size(), Comparison::Le, Expr::constant(max)));
    let multiple = Expr::constant(range.multiple_of.get().into());
    let multiple = (range.multiple_of.get() > 1)
        .then(|| size().modulo(&multiple).ok())
        .flatten();
    let multiple = multiple.map(|left| Constraint::new(left, Comparison::Eq, Expr::constant(0)));
    [lower, upper, multiple].into_iter().flatten()
}

pub(super) fn replaced(size: &Expr, values: &BTreeMap<Variable, Expr>) -> Result<Expr, ExportError> {
    size.substitute(values)
        .map_err(|error| ExportError::input(error.to_string()))
}

pub(crate) fn substituted(ty: &Type, values: &BTreeMap<Variable, Expr>) -> Result<Type, ExportError> {
    resized(ty, |size| replaced(size, values))
}

/// A type with its sizes that are expressions changed.
pub(super) fn resized(
    ty: &Type,
    change: impl Fn(&Expr) -> Result<Expr, ExportError>,
) -> Result<Type, ExportError> {
    let Type::Tensor(tensor) = ty else {
        return Ok(ty.clone());
    };
    let mut tensor = TensorType::clone(tensor);
    for dim in &mut tensor.dims {
        if let Dim::Symbolic(size) = dim {
            *dim = change(size)?.into();
        }
    }
    Ok(tensor.into())
}
