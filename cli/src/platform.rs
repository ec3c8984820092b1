//! The platform that a run stands for.

use std::path::Path;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_eval::Value;
use artifact_eval::tensor::Tensor;
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, Type};

use crate::failure::{Failure, Outcome};
use crate::program::Program;

/// What the reference engine counts as.
const OWN: &str = "cpu";

/// The value of the argument that is the position of the platform, where the program has one and its platforms are known.
/// The platform is the one that was asked for, or that of the engine.
///
/// # Errors
/// When the program is not for it, or when it is asked for and nothing depends on it.
pub(crate) fn position(program: &Program, path: &Path, wanted: Option<&str>) -> Outcome<Option<Value>> {
    let any = program.any_platform || program.platforms.is_empty();
    let platform = wanted.unwrap_or(OWN);
    let found = program.platforms.iter().position(|known| known == platform);
    match (found, wanted) {
        (None, Some(wanted)) if any && wanted != OWN => return Err(no_choice(path, wanted)),
        (None, Some(wanted)) if !any => return Err(not_for(program, path, wanted)),
        (None, None) if !any => {
            // An artifact says who can run it.
            requirements(program, path, platform)?;
            return Err(not_for(program, path, platform));
        }
        _ => {}
    }
    if !program.any_platform {
        requirements(program, path, platform)?;
    }
    let takes = program.conventions.platform_index && !program.platforms.is_empty();
    let first = program.signature.inputs.first().filter(|_| takes);
    // Where any platform will do, JAX takes the first.
    first
        .map(|index| value(&index.ty, found.unwrap_or(0)))
        .transpose()
}

/// Refuses an artifact that this release, or this platform, cannot run.
fn requirements(program: &Program, path: &Path, platform: &str) -> Outcome<()> {
    let reader = artifact_export::reader().with_platforms([platform]);
    let checked = program
        .requirements
        .as_ref()
        .map(|file| reader.check(file))
        .transpose();
    checked
        .map(drop)
        .map_err(|incompatible| Failure::reader(path, &incompatible))
}

fn not_for(program: &Program, path: &Path, platform: &str) -> Failure {
    let platforms = program.platforms.join("`, `");
    let what = format!(
        "{} was exported for `{platforms}`, and not for `{platform}`",
        path.display()
    );
    Failure::engine(what).hint("name one of them with --platform to run what the program does there")
}

fn no_choice(path: &Path, platform: &str) -> Failure {
    let what = format!(
        "`--platform {platform}` chooses nothing: {} is for any platform, and does the same on each",
        path.display()
    );
    Failure::usage(what).hint("leave --platform out")
}

fn value(ty: &Type, position: usize) -> Outcome<Value> {
    let refuse = || {
        Failure::input(format!(
            "the position of the platform is a {ty}, which is no integer"
        ))
    };
    let tensor = ty
        .as_tensor()
        .filter(|tensor| tensor.rank() == 0)
        .ok_or_else(refuse)?;
    let bytes = match tensor.element.as_plain() {
        Some(ElementType::I32) => i32::try_from(position)
            .ok()
            .map(|position| position.to_le_bytes().to_vec()),
        Some(ElementType::I64) => i64::try_from(position)
            .ok()
            .map(|position| position.to_le_bytes().to_vec()),
        _ => None,
    };
    let bytes = bytes.ok_or_else(refuse)?;
    let literal =
        Literal::dense(Arc::clone(tensor), Blob::new(bytes)).map_err(|error| refuse().because(&error))?;
    let tensor = Tensor::from_literal(&literal).map_err(|error| refuse().because(&error))?;
    Ok(Value::Tensor(tensor))
}
