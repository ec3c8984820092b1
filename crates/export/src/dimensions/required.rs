//! What a program needs of the sizes of its arguments, besides what was said of them: bounds in its types, and sizes that its
//! operations need to be equal. Both are constraints like those that a user states.

use artifact_dims::{Comparison, Constraint, Expr, Scope, ScopeError};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, TensorType};
use artifact_refine::{Refined, Requirement};

use super::stated::refined;
use crate::error::ExportError;
use crate::signature::{Argument, Signature};

/// The signature with the constraints that bounds and the operations of the program put on its named dimensions, and the shapes
/// of results that follow.
pub(crate) fn completed(
    module: &Module,
    entry: FunctionId,
    mut signature: Signature,
) -> Result<Signature, ExportError> {
    signature.dimensions = within(&signature.dimensions, bounds(&signature.inputs))?;
    let mut program = refined(module, entry, &signature)?;
    if !program.requirements.is_empty() {
        signature.dimensions = equal(&signature.dimensions, &program.requirements)?;
        program = refined(module, entry, &signature)?;
    }
    signature.outputs = outputs(&program, &signature);
    Ok(signature)
}

/// The results of a program for the shapes of the arguments.
pub(super) fn outputs(program: &Refined, signature: &Signature) -> Vec<Argument> {
    let results = &program.module.functions[program.entry].results;
    let outputs = signature.outputs.iter().zip(results);
    let of_shape = outputs.map(|(output, result)| Argument {
        name: output.name.clone(),
        ty: result.ty.clone(),
    });
    of_shape.collect()
}

/// The signature of a stored program with bounds and `requirements` as constraints. Who wrote it may not have known them.
///
/// # Errors
/// When no sizes satisfy them together with those that are stored.
pub(crate) fn enforced(
    mut signature: Signature,
    requirements: &[Requirement],
) -> Result<Signature, ExportError> {
    let bounded = within(&signature.dimensions, bounds(&signature.inputs))?;
    signature.dimensions = equal(&bounded, requirements)?;
    Ok(signature)
}

/// A scope in which sizes that operations need to be equal are.
fn equal(scope: &Scope, requirements: &[Requirement]) -> Result<Scope, ExportError> {
    let constraints = requirements.iter().map(|one| one.constraint.clone());
    extended(scope, constraints).map_err(|error| {
        let needs: Vec<String> = requirements
            .iter()
            .map(|one| format!("`{}` ('{}')", one.constraint, one.operation))
            .collect();
        let what = format!(
            "the program needs {}, and no such sizes are allowed",
            needs.join(", ")
        );
        ExportError::because(what, error)
    })
}

/// A scope with more constraints.
fn within(scope: &Scope, constraints: impl IntoIterator<Item = Constraint>) -> Result<Scope, ExportError> {
    extended(scope, constraints).map_err(|error| ExportError::input(error.to_string()))
}

fn extended(scope: &Scope, constraints: impl IntoIterator<Item = Constraint>) -> Result<Scope, ScopeError> {
    let mut builder = Scope::builder();
    for (variable, range) in scope.ranges() {
        builder = builder.range(variable.clone(), *range);
    }
    for constraint in scope.constraints().iter().cloned().chain(constraints) {
        builder = builder.constraint(constraint);
    }
    builder.build()
}

/// The bounds that the types of arguments put on named sizes.
fn bounds(arguments: &[Argument]) -> Vec<Constraint> {
    let tensors = arguments.iter().filter_map(|argument| argument.ty.as_tensor());
    tensors.flat_map(|ty| of_tensor(ty)).collect()
}

fn of_tensor(ty: &TensorType) -> impl Iterator<Item = Constraint> {
    let bounded = ty.dims.iter().zip(ty.bounds().unwrap_or_default());
    bounded.filter_map(|(dim, bound)| {
        let (Dim::Symbolic(size), Some(bound)) = (dim, bound) else {
            return None;
        };
        // A bound that no size reaches bounds nothing.
        let bound = i64::try_from(*bound).ok()?;
        Some(Constraint::new(
            size.clone(),
            Comparison::Le,
            Expr::constant(bound),
        ))
    })
}
