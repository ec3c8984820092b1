//! Named dimensions: shapes that a user gives a program, and how they are stored and come back.

mod elimination;
mod given;
mod opened;
mod required;
mod stated;
mod substitution;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use artifact_container::manifest;
use artifact_dims::{Assignment, Constraint, Expr, Range, Scope, Variable};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Fact, RefineError, Requirement};

use crate::error::ExportError;
use crate::signature::{Argument, Signature};

pub(crate) use given::Given;
pub(crate) use opened::{Least, opened};
pub(crate) use required::{completed, enforced};
pub(crate) use stated::{Claims, scoped, substituted, unstated};
pub(crate) use substitution::linear;
pub(crate) use written::{check_written, words};

/// Shapes and constraints as texts of the dimension language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    /// Name of an argument, or `argN`, and its shape, such as `(b, 128)`.
    pub arguments: Vec<(String, String)>,
    /// Such as `b >= 2` or `1 <= b <= 64`.
    pub constraints: Vec<String>,
}

pub(crate) fn variables(arguments: &[Argument]) -> BTreeSet<Variable> {
    let tensors = arguments.iter().filter_map(|argument| argument.ty.as_tensor());
    let dims = tensors.flat_map(|ty| ty.dims.iter());
    let mut variables = BTreeSet::new();
    for size in dims.filter_map(Dim::expression) {
        size.for_each_variable(&mut |variable| {
            variables.insert(variable.clone());
        });
    }
    variables
}

/// Values as expressions.
pub(crate) fn expressions(values: &Assignment) -> BTreeMap<Variable, Expr> {
    let numbers = values.iter();
    numbers
        .map(|(name, number)| (name.clone(), Expr::constant(number)))
        .collect()
}

/// The scope of variables and constraints: each variable is at least 1, those of `may_be_empty` at least 0.
fn scope(
    variables: &BTreeSet<Variable>,
    may_be_empty: &BTreeSet<Variable>,
    constraints: impl IntoIterator<Item = Constraint>,
) -> Result<Scope, ExportError> {
    let mut builder = Scope::builder();
    for variable in variables {
        let range = match may_be_empty.contains(variable) {
            true => Range::at_least(0),
            false => Range::default(),
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

/// What is known of the arguments of the entry: inputs as the signature has them, then hoisted constants.
pub(crate) fn facts(module: &Module, entry: FunctionId, signature: &Signature) -> Vec<Fact> {
    let given = signature.inputs.iter().map(|input| input.ty.clone());
    let hoisted = module.functions[entry]
        .arguments
        .iter()
        .skip(signature.inputs.len());
    let types = given.chain(hoisted.map(|argument| argument.ty.clone()));
    types.map(Fact::of_type).collect()
}

pub(crate) fn unfit(error: &RefineError) -> ExportError {
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
