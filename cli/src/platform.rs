//! The platform that a run stands for.

use std::path::Path;

use artifact_container::compat::IncompatibleKind;
use artifact_engine::Value;
use artifact_runtime::platform_position;

use crate::failure::{Failure, Outcome};
use crate::program::Program;

/// The first argument of a program that takes the position of its platform.
pub(crate) enum Position {
    /// The program takes none.
    Untaken,
    /// Its value.
    Known(Value),
    /// Nothing says which platforms the program is for: only an array can tell it.
    Unknown,
}

impl Position {
    /// The value of the first argument, where no array is.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Self::Known(value) => Some(value),
            Self::Untaken | Self::Unknown => None,
        }
    }
}

/// What the program takes for its platform, which is the one that was asked for, or the engine's `own`.
///
/// # Errors
/// When the program is not for it, or when it is asked for and nothing depends on it, or nothing tells its position.
pub(crate) fn position(program: &Program, path: &Path, own: &str, wanted: Option<&str>) -> Outcome<Position> {
    if program.conventions.platform_index && program.platforms.is_empty() {
        return match wanted {
            Some(_) => Err(untold(path)),
            None => Ok(Position::Unknown),
        };
    }
    let any = program.any_platform || program.platforms.is_empty();
    let platform = wanted.unwrap_or(own);
    let found = program.platforms.iter().position(|known| known == platform);
    match (found, wanted) {
        (None, Some(wanted)) if any && wanted != own => return Err(no_choice(path, wanted)),
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
    let takes = program.conventions.platform_index;
    match program.signature().inputs.first().filter(|_| takes) {
        // Where any platform will do, JAX takes the first.
        Some(index) => platform_position(&index.ty, found.unwrap_or(0))
            .map(Position::Known)
            .map_err(|error| Failure::input(error.to_string())),
        None => Ok(Position::Untaken),
    }
}

/// Why no position can be found for a platform.
pub(crate) fn untold(path: &Path) -> Failure {
    let what = format!(
        "{} takes the position of its platform as its first argument, and nothing says which platforms it is for",
        path.display()
    );
    Failure::input(what).hint(
        "`artifact export --platform A --platform B` writes an artifact that says it, in the order of the program; or give the \
         position as an array",
    )
}

/// Refuses an artifact that this release, or this platform, cannot run.
fn requirements(program: &Program, path: &Path, platform: &str) -> Outcome<()> {
    let reader = artifact_export::reader().with_platforms([platform]);
    let checked = program
        .requirements
        .as_ref()
        .map(|file| reader.check(file))
        .transpose();
    checked.map(drop).map_err(|incompatible| {
        let failure = Failure::reader(path, &incompatible);
        match incompatible.kind() {
            IncompatibleKind::PlatformNotOffered => failure.hint(format!(
                "{}; --platform with the name of one runs what the program does there",
                incompatible.remedy()
            )),
            _ => failure,
        }
    })
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
