//! Dimension variables on the command line.

use std::path::Path;

use artifact_dims::solve::{Mismatch, Mismatches};
use artifact_dims::{Assignment, Variable};
use artifact_export::{Shapes, Signature};
use artifact_ir::types::Type;
use artifact_runtime::BindError;

use crate::failure::{Failure, Outcome};
use crate::shape_texts;

/// The values of `--dim NAME=N`, which must be variables of the signature.
pub(crate) fn values(path: &Path, signature: &Signature, options: &[String]) -> Outcome<Assignment> {
    let mut values = Assignment::default();
    for option in options {
        let refuse = |why: &str| Failure::usage(format!("`--dim {option}` {why}"));
        let (name, value) = option
            .split_once('=')
            .ok_or_else(|| refuse("is not of the form NAME=N"))?;
        let variable =
            Variable::new(name.trim()).map_err(|error| refuse(&format!("names no dimension: {error}")))?;
        let value = value
            .trim()
            .parse()
            .map_err(|error| refuse(&format!("has a value that is no number: {error}")))?;
        if values.insert(variable, value).is_some() {
            return Err(refuse("gives a second value"));
        }
    }
    let known: Vec<Variable> = signature
        .dimensions
        .ranges()
        .map(|(variable, _)| variable.clone())
        .collect();
    let unused = values.iter().filter(|(variable, _)| !known.contains(variable));
    let unused: Vec<Mismatch> = unused
        .map(|(variable, _)| Mismatch::Unused {
            variable: variable.clone(),
            known: known.clone(),
        })
        .collect();
    if !unused.is_empty() {
        return Err(unfit(
            path,
            &Mismatches {
                failures: unused,
                ..Mismatches::default()
            },
        ));
    }
    refuse_out_of_range(path, signature, &values)?;
    Ok(values)
}

/// Whatever the arrays are: of values that no array can make right, nothing is computed.
fn refuse_out_of_range(path: &Path, signature: &Signature, values: &Assignment) -> Outcome<()> {
    let nothing = vec![Type::Token; signature.inputs.len()];
    let Err(Mismatches { mut failures, .. }) = signature.bind(&nothing, values) else {
        return Ok(());
    };
    failures.retain(|failure| {
        matches!(
            failure,
            Mismatch::TooSmall { .. } | Mismatch::TooLarge { .. } | Mismatch::NotMultiple { .. }
        )
    });
    if failures.is_empty() {
        return Ok(());
    }
    Err(unfit(
        path,
        &Mismatches {
            failures,
            ..Mismatches::default()
        },
    ))
}

/// The texts of `--shapes` and `--constraint`.
pub(crate) fn shapes(shapes: &[String], constraints: &[String]) -> Outcome<Shapes> {
    Ok(Shapes {
        arguments: shape_texts::read(shapes)?,
        constraints: constraints.to_vec(),
    })
}

/// Sizes with which a program cannot be called.
pub(crate) fn unbound(path: &Path, error: &BindError) -> Failure {
    match error {
        BindError::Sizes(mismatches) => unfit(path, mismatches),
        BindError::Refine(error) => {
            Failure::input(format!("{} cannot be refined", path.display())).because(error)
        }
        other => Failure::input(format!("the sizes do not fit {}: {other}", path.display())),
    }
}

/// The values of the dimension variables for inputs of these types.
pub(crate) fn bind(
    path: &Path,
    signature: &Signature,
    types: &[Type],
    given: &Assignment,
) -> Outcome<Assignment> {
    signature
        .bind(types, given)
        .map_err(|mismatches| unfit(path, &mismatches))
}

/// Every check that failed, one on each line.
fn unfit(path: &Path, mismatches: &Mismatches) -> Failure {
    let what = format!("the sizes do not fit {}", path.display());
    let failure = Failure::input(what).because_of_each(&mismatches.failures);
    let obtained: Vec<String> = mismatches
        .obtained
        .iter()
        .map(|(variable, value, origin)| format!("{variable} = {value} {origin}"))
        .collect();
    if obtained.is_empty() {
        failure
    } else {
        failure.hint(format!("so far: {}", obtained.join("; ")))
    }
}
