//! Named dimensions: shapes that a user gives a program, and how they are stored and come back.

mod required;
mod stated;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use artifact_container::manifest;
use artifact_dims::{Comparison, Constraint, Expr, Range, Scope, Variable, parse_shape};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Fact, RefineError, Requirement};

use crate::error::ExportError;
use crate::signature::{Argument, Signature};

pub(crate) use required::enforced;
pub(crate) use stated::{constrained, open_from_zero, opened, unstated};

/// Shapes and constraints as texts of the dimension language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    /// Name of an argument, or `argN`, and its shape, such as `(b, 128)`.
    pub arguments: Vec<(String, String)>,
    /// Such as `b >= 2` or `1 <= b <= 64`.
    pub constraints: Vec<String>,
}

/// The signature with named dimensions in place of unknown ones; the shapes of results follow.
pub(crate) fn named(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
    shapes: &Shapes,
) -> Result<Signature, ExportError> {
    let mut signature = signature.clone();
    for (name, text) in &shapes.arguments {
        let index = position(&signature.inputs, name)?;
        let argument = &mut signature.inputs[index];
        argument.ty = shaped(argument, text)?;
    }
    let variables = variables(&signature.inputs);
    signature.dimensions = scope(&variables, &shapes.constraints)?;
    for constraint in signature.dimensions.constraints() {
        if let Some(stray) = constraint.variables().difference(&variables).next() {
            let known = list(&variables);
            return Err(ExportError::input(format!(
                "the constraint `{constraint}` names '{stray}', which is in no shape of an argument; the variables are {known}"
            )));
        }
    }
    required::completed(module, entry, signature)
}

fn position(inputs: &[Argument], name: &str) -> Result<usize, ExportError> {
    let by_name = inputs.iter().position(|input| input.name == name);
    let by_number = || {
        name.strip_prefix("arg")?
            .parse()
            .ok()
            .filter(|index| *index < inputs.len())
    };
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        ExportError::input(format!(
            "a shape is given for `{name}`, which is no argument; the arguments are {}",
            names.join(", ")
        ))
    })
}

/// The type of an argument with the dimensions of a text, which must not contradict it.
fn shaped(argument: &Argument, text: &str) -> Result<Type, ExportError> {
    let Type::Tensor(ty) = &argument.ty else {
        return Err(ExportError::input(format!(
            "a shape is given for `{}`, which is a {}",
            argument.name, argument.ty
        )));
    };
    let known = |dim: &Dim| dim.as_static().and_then(|size| i64::try_from(size).ok());
    let like: Vec<Option<i64>> = ty.dims.iter().map(known).collect();
    let dims = parse_shape(text, Some(&like)).map_err(|error| {
        ExportError::input(format!(
            "the shape of `{}`: {error}\n{}",
            argument.name,
            error.snippet()
        ))
    })?;
    let fixed = dims
        .iter()
        .zip(&like)
        .find(|(dim, known)| known.is_some() && dim.as_constant().is_none());
    if let Some((dim, Some(size))) = fixed {
        return Err(ExportError::input(format!(
            "the shape of `{}` names a dimension '{dim}' that is {size} in the program",
            argument.name
        )));
    }
    Ok(with_dims(ty, dims))
}

fn with_dims(ty: &TensorType, dims: Vec<Expr>) -> Type {
    let mut ty = ty.clone();
    ty.dims = dims.into_iter().map(Dim::from).collect();
    ty.into()
}

fn variables(arguments: &[Argument]) -> BTreeSet<Variable> {
    let tensors = arguments.iter().filter_map(|argument| argument.ty.as_tensor());
    let dims = tensors.flat_map(|ty| ty.dims.iter());
    dims.filter_map(Dim::expression)
        .flat_map(|dim| dim.variables())
        .collect()
}

fn list(variables: &BTreeSet<Variable>) -> String {
    let names: Vec<&str> = variables.iter().map(Variable::name).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// The scope of variables and constraints. A variable is at least 1, unless a constraint lets it be 0.
fn scope(variables: &BTreeSet<Variable>, texts: &[String]) -> Result<Scope, ExportError> {
    scope_of(variables, parsed(texts)?)
}

fn scope_of(variables: &BTreeSet<Variable>, constraints: Vec<Constraint>) -> Result<Scope, ExportError> {
    let mut builder = Scope::builder();
    for variable in variables {
        let may_be_empty = constraints
            .iter()
            .any(|constraint| lets_be_empty(constraint, variable));
        let range = if may_be_empty {
            Range::at_least(0)
        } else {
            Range::default()
        };
        builder = builder.range(variable.clone(), range);
    }
    for constraint in constraints {
        builder = builder.constraint(constraint);
    }
    builder
        .build()
        .map_err(|error| ExportError::input(error.to_string()))
}

fn parsed(texts: &[String]) -> Result<Vec<Constraint>, ExportError> {
    let mut constraints = Vec::new();
    for text in texts {
        let parsed = Constraint::parse(text)
            .map_err(|error| ExportError::input(format!("the constraint `{text}`: {error}")))?;
        constraints.extend(parsed);
    }
    Ok(constraints)
}

/// Whether a constraint is a lower bound of the variable that allows 0, such as `b >= 0` or `0 <= b`.
fn lets_be_empty(constraint: &Constraint, variable: &Variable) -> bool {
    let Constraint {
        left,
        comparison,
        right,
    } = constraint;
    let bound = match (left.as_variable(), comparison, right.as_variable()) {
        (Some(found), Comparison::Ge, _) if found == variable => right.as_constant(),
        (Some(found), Comparison::Gt, _) if found == variable => {
            right.as_constant().map(|bound| bound.saturating_add(1))
        }
        (_, Comparison::Le, Some(found)) if found == variable => left.as_constant(),
        (_, Comparison::Lt, Some(found)) if found == variable => {
            left.as_constant().map(|bound| bound.saturating_add(1))
        }
        _ => None,
    };
    bound.is_some_and(|bound| bound <= 0)
}

/// What is known of the arguments of the entry: inputs as the signature has them, then hoisted constants.
fn facts(module: &Module, entry: FunctionId, signature: &Signature) -> Vec<Fact> {
    let given = signature.inputs.iter().map(|input| input.ty.clone());
    let hoisted = module.functions[entry]
        .arguments
        .iter()
        .skip(signature.inputs.len());
    let types = given.chain(hoisted.map(|argument| argument.ty.clone()));
    types.map(Fact::of_type).collect()
}

fn unfit(error: &RefineError) -> ExportError {
    let diagnostic = artifact_ir::diagnostic::Diagnostic::new(error.to_string(), error.source_offset());
    ExportError::shapes(vec![diagnostic])
}

/// What the manifest says of the dimensions of a signature; nothing where it has no variables.
pub(crate) fn entry(signature: &Signature) -> Option<manifest::Dimensions> {
    let variables = variables(&signature.inputs);
    if variables.is_empty() {
        return None;
    }
    let variable = |variable: &Variable| {
        let Range {
            min,
            max,
            multiple_of,
        } = signature.dimensions.range(variable);
        manifest::DimensionVariable {
            name: variable.name().to_owned(),
            min,
            max,
            multiple_of: multiple_of.get(),
        }
    };
    Some(manifest::Dimensions {
        variables: variables.iter().map(variable).collect(),
        constraints: signature
            .dimensions
            .constraints()
            .iter()
            .map(Constraint::to_string)
            .collect(),
    })
}

/// The signature of a stored program with the dimensions that its manifest names, all of it checked again, and what the
/// operations of the program need besides.
pub(crate) fn restored(
    module: &Module,
    entry: FunctionId,
    mut signature: Signature,
    said: manifest::ProgramPart<'_>,
) -> Result<(Signature, Vec<Requirement>), ExportError> {
    let Some(dimensions) = said.dimensions else {
        return Ok((signature, Vec::new()));
    };
    let mut builder = Scope::builder();
    for variable in &dimensions.variables {
        builder = builder.range(self::variable(&variable.name)?, range(variable)?);
    }
    for constraint in parsed(&dimensions.constraints)? {
        builder = builder.constraint(constraint);
    }
    signature.dimensions = builder
        .build()
        .map_err(|error| ExportError::input(error.to_string()))?;
    for (input, said) in signature.inputs.iter_mut().zip(&said.signature.inputs) {
        input.ty = stored_type(input, said)?;
    }
    let refined = stated::refined(module, entry, &signature)?;
    signature.outputs = required::outputs(&refined, &signature);
    Ok((signature, refined.requirements))
}

fn variable(name: &str) -> Result<Variable, ExportError> {
    Variable::new(name)
        .map_err(|error| ExportError::input(format!("the manifest's dimension variable: {error}")))
}

fn range(variable: &manifest::DimensionVariable) -> Result<Range, ExportError> {
    let multiple_of = NonZeroU32::new(variable.multiple_of).ok_or_else(|| {
        ExportError::input(format!(
            "the manifest lets '{}' be a multiple of 0",
            variable.name
        ))
    })?;
    Ok(Range {
        min: variable.min,
        max: variable.max,
        multiple_of,
    })
}

/// The type of an argument with the dimensions that the manifest gives it.
fn stored_type(argument: &Argument, said: &manifest::Value) -> Result<Type, ExportError> {
    let (Type::Tensor(ty), Some(shape)) = (&argument.ty, &said.shape) else {
        return Ok(argument.ty.clone());
    };
    if shape.len() != ty.rank() {
        return Ok(argument.ty.clone());
    }
    let mut named = TensorType::clone(ty);
    for (dim, said) in named.dims.iter_mut().zip(shape) {
        if let (Dim::Unknown, manifest::Dim::Expression(text)) = (&*dim, said) {
            let expression: Expr = text.parse().map_err(|error| {
                ExportError::input(format!(
                    "a dimension of `{}` in the manifest: {error}",
                    argument.name
                ))
            })?;
            *dim = expression.into();
        }
    }
    Ok(named.into())
}
