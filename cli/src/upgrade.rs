//! `artifact upgrade`.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use artifact_container::Container;
use artifact_container::atomic::{AtomicFile, Original};
use artifact_export::{ExportError, PackOptions, is_current, read_options};

use crate::arguments::UpgradeArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::program::require_artifact;
use crate::{files, output, rewriting};

pub(crate) fn execute(options: &UpgradeArguments) -> Outcome<Exit> {
    if options.artifacts.len() != 1 && options.output.is_some() {
        let what = format!("{} files cannot be written to one place", options.artifacts.len());
        return Err(Failure::usage(what).hint("leave -o out: each is replaced, at once or not at all"));
    }
    // Each is whole by itself: one that cannot be upgraded does not keep the others from it.
    let upgraded = options.artifacts.iter();
    let upgraded = upgraded.map(|path| upgrade(path, options.output.as_deref()));
    Failure::end(
        upgraded.filter_map(Outcome::err),
        options.artifacts.len(),
        "upgraded",
    )
}

fn upgrade(path: &Path, output: Option<&Path>) -> Outcome<()> {
    require_artifact(path, "only artifacts have versions to upgrade")?;
    if let Some(output) = output {
        files::refuse_overwriting(output, [path])?;
    }
    // Of two processes that rewrite a file at once, one would lose what it did.
    let locked = match output {
        Some(_) => None,
        None => Some(Original::lock(path).map_err(|error| Failure::file("cannot write", path, &error))?),
    };
    let opened = match &locked {
        Some(original) => Container::open_original(original, &read_options()),
        None => Container::open_with(path, &read_options()),
    };
    let container = opened.map_err(|error| Failure::export(path, &ExportError::from(error)))?;
    if is_current(&container) {
        return current(path, output, &container);
    }
    let target = output.unwrap_or(path);
    let other_names = locked.as_ref().map_or(0, |_| files::other_names(path));
    let file = match &locked {
        Some(original) => original.replacement(),
        None => AtomicFile::create(target),
    };
    rewriting::rewrite(
        (path, &Arc::new(container)),
        &PackOptions::default(),
        (target, file),
    )?;
    files::tell_split(path, other_names);
    Ok(())
}

/// Nothing to do but to copy the file where it is asked for.
fn current(path: &Path, output: Option<&Path>, container: &Container) -> Outcome<()> {
    let copied = match output {
        Some(target) => {
            copy(path, target)?;
            format!("; {} is a copy of it", output::path(target))
        }
        None => String::new(),
    };
    let version = container.header().window().written;
    output::text(&format!(
        "{}: container {version} already, nothing to upgrade{copied}\n",
        output::path(path)
    ))
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    let unwritten = |error: &dyn std::error::Error| Failure::file("cannot write", to, error);
    let mut source: File = files::open(from)?;
    let mut file = AtomicFile::create(to).map_err(|error| unwritten(&error))?;
    std::io::copy(&mut source, &mut file).map_err(|error| unwritten(&error))?;
    file.commit().map_err(|error| unwritten(&error))
}
