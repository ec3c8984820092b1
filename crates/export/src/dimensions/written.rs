//! Shapes as a user writes them, beside those that a signature has.

use std::collections::BTreeSet;

use artifact_dims::solve::{Mismatch, Mismatches, Size, solve};
use artifact_dims::{Assignment, Expr, Variable, parse_written_shape};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, TensorType, Type};

use super::required::completed;
use super::stated::replaced;
use super::{Shapes, expressions, parsed, scope, variables};
use crate::error::ExportError;
use crate::signature::{Argument, Signature};

/// What to do where numbers do not settle what names are.
pub(super) const ADVICE: &str = "; give the names of sizes here, and numbers to `artifact specialize --dim`";

/// One dimension that is written: where it is, what the signature says, and what the user says.
pub(super) struct Said {
    /// The position of the argument, and of its dimension.
    pub(super) place: (usize, usize),
    pub(super) old: Expr,
    pub(super) new: Expr,
}

/// The dimensions that are written, of those that a signature leaves open; every one of these has an expression.
///
/// # Errors
/// A text that cannot be read, an argument that does not exist, and a shape that the type of the argument contradicts.
pub(super) fn said(signature: &Signature, shapes: &Shapes) -> Result<Vec<Said>, ExportError> {
    let mut said = Vec::new();
    for (name, text) in &shapes.arguments {
        let index = position(&signature.inputs, name)?;
        let argument = &signature.inputs[index];
        let (ty, dims) = dims_read(argument, text)?;
        for (dimension, (old, new)) in ty.dims.iter().zip(dims).enumerate() {
            let (Some(old), Some(new)) = (old.expression(), new) else {
                continue;
            };
            match (old.as_constant(), new.as_constant()) {
                (Some(size), None) => {
                    let name = &argument.name;
                    return Err(ExportError::input(format!(
                        "the shape of `{name}` names a dimension '{new}' that is {size} in the program"
                    )));
                }
                // Equal, which the reader of shapes has seen to.
                (Some(_), Some(_)) => {}
                (None, _) => said.push(Said {
                    place: (index, dimension),
                    old,
                    new,
                }),
            }
        }
    }
    Ok(said)
}

/// The values of names that follow from the numbers in shapes.
///
/// # Errors
/// As [`said`], and for numbers that fit no values, or several.
pub(super) fn numbers(signature: &Signature, shapes: &Shapes) -> Result<Assignment, ExportError> {
    let said = said(signature, shapes)?;
    let is_number = |said: &&Said| said.new.as_constant().is_some();
    let size = |said: &Said| Size {
        place: format!("{}.shape[{}]", signature.inputs[said.place.0].name, said.place.1),
        specification: said.old.clone(),
        actual: said.new.clone(),
    };
    let sizes: Vec<Size> = said.iter().filter(is_number).map(size).collect();
    let names: BTreeSet<Variable> = sizes
        .iter()
        .flat_map(|size| size.specification.variables())
        .collect();
    // Whether the program takes the values is for `specialized` to say.
    let any = scope(&names, &names, [])?;
    let values = solve(&any, &sizes, &Assignment::new()).map_err(|mismatches| unsolved(&mismatches))?;
    let known = expressions(&values);
    for one in said.iter().filter(|said| !is_number(said)) {
        let is = replaced(&one.old, &known)?;
        if is.as_constant().is_some() {
            return Err(contradicts(signature, one, &is));
        }
    }
    Ok(values)
}

fn unsolved(mismatches: &Mismatches) -> ExportError {
    let failures = &mismatches.failures;
    let open = failures
        .iter()
        .any(|failure| matches!(failure, Mismatch::Unsolved { .. }));
    let failures: Vec<String> = failures.iter().map(ToString::to_string).collect();
    let advice = if open { ADVICE } else { "" };
    ExportError::input(format!(
        "the numbers in the shapes do not give the sizes of the program: {}{advice}",
        failures.join("; ")
    ))
}

/// A size that cannot be what is written; `is` is what it is after what other shapes say.
pub(super) fn contradicts(signature: &Signature, said: &Said, is: &Expr) -> ExportError {
    let Said { place, old, new } = said;
    let (argument, dimension) = (&signature.inputs[place.0].name, place.1);
    let so = match is == old {
        true => String::new(),
        false => format!(" and so '{is}' after what other shapes say"),
    };
    let advice = is.as_constant().map_or("", |_| ADVICE);
    ExportError::input(format!(
        "the shape of `{argument}` gives '{new}' for dimension {dimension}, which is '{old}' in the program{so}{advice}"
    ))
}

/// The words of texts that could be names.
pub(crate) fn words(shapes: &Shapes) -> BTreeSet<Variable> {
    let texts = shapes.arguments.iter().map(|(_, text)| text.as_str());
    let words = texts.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    words.filter_map(|word| Variable::new(word).ok()).collect()
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

/// Checks that the program takes shapes as they were written, of arguments whose sizes have no names yet.
///
/// # Errors
/// An operation or an assertion of the program fails for every size that the shapes and the constraints allow.
pub(crate) fn check_written(
    module: &Module,
    entry: FunctionId,
    mut signature: Signature,
    shapes: &Shapes,
) -> Result<(), ExportError> {
    for (name, text) in &shapes.arguments {
        let index = position(&signature.inputs, name)?;
        let argument = &signature.inputs[index];
        let (ty, dims) = dims_read(argument, text)?;
        let mut ty = ty.clone();
        for (dim, written) in ty.dims.iter_mut().zip(dims) {
            *dim = written.map_or_else(|| dim.clone(), Dim::from);
        }
        signature.inputs[index].ty = ty.into();
    }
    let known = variables(&signature.inputs);
    let mut constraints = parsed(&shapes.constraints)?;
    // Others are of names that are found later.
    constraints.retain(|constraint| constraint.variables().is_subset(&known));
    let Ok(dimensions) = scope(&known, &known, constraints) else {
        // The program has no part in that.
        return Ok(());
    };
    signature.dimensions = dimensions;
    completed(module, entry, signature).map(|_| ())
}

/// The type of an argument, and the dimensions that a text gives it, as many; None for those that it keeps.
fn dims_read<'a>(
    argument: &'a Argument,
    text: &str,
) -> Result<(&'a TensorType, Vec<Option<Expr>>), ExportError> {
    let Type::Tensor(ty) = &argument.ty else {
        return Err(ExportError::input(format!(
            "a shape is given for `{}`, which is a {}",
            argument.name, argument.ty
        )));
    };
    let like: Vec<Option<Expr>> = ty.dims.iter().map(Dim::expression).collect();
    let dims = parse_written_shape(text, &like).map_err(|error| {
        ExportError::input(format!(
            "the shape of `{}`: {error}\n{}",
            argument.name,
            error.snippet()
        ))
    })?;
    Ok((ty, dims))
}
