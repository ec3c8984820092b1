//! `artifact upgrade`.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use artifact_container::Container;
use artifact_container::atomic::AtomicFile;
use artifact_export::{PackOptions, is_current, read_options};

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
    let mut failures = Vec::new();
    for path in &options.artifacts {
        failures.extend(upgrade(path, options.output.as_deref()).err());
    }
    let Some(last) = failures.pop() else {
        return Ok(Exit::Ok);
    };
    failures.iter().for_each(Failure::print);
    Err(last)
}

fn upgrade(path: &Path, output: Option<&Path>) -> Outcome<()> {
    require_artifact(path, "only artifacts have versions to upgrade")?;
    if let Some(output) = output {
        files::refuse_overwriting(output, [path])?;
    }
    let container = Container::open_with(path, &read_options());
    let container = container.map_err(|error| Failure::export(path, &error.into()))?;
    if is_current(&container) {
        return current(path, output, &container);
    }
    let target = output.unwrap_or(path);
    let original = (path, &Arc::new(container));
    rewriting::rewrite(
        original,
        &PackOptions::default(),
        (target, AtomicFile::create(target)),
    )
}

/// Nothing to do but to copy the file where it is asked for.
fn current(path: &Path, output: Option<&Path>, container: &Container) -> Outcome<()> {
    if let Some(target) = output {
        copy(path, target)?;
    }
    let version = container.header().window().written;
    let copied = output.map_or(String::new(), |target| {
        format!("; copied to {}", target.display())
    });
    output::text(&format!(
        "{}: container {version} already, nothing to upgrade{copied}\n",
        path.display()
    ))
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    let unwritten = |error: &dyn std::error::Error| Failure::file("cannot write", to, error);
    let mut source: File = files::open(from)?;
    let mut file = AtomicFile::create(to).map_err(|error| unwritten(&error))?;
    std::io::copy(&mut source, &mut file).map_err(|error| unwritten(&error))?;
    file.commit().map_err(|error| unwritten(&error))
}
