//! `artifact upgrade`.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use artifact_container::Container;
use artifact_container::atomic::{AtomicFile, Original};
use artifact_export::{ExportError, is_current, read_options, upgrade};

use crate::arguments::UpgradeArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::program::is_artifact;
use crate::{files, output};

pub(crate) fn execute(options: &UpgradeArguments) -> Outcome<Exit> {
    let path = options.artifact.as_path();
    if !is_artifact(path)? {
        let what = format!("{} is not an artifact", path.display());
        return Err(Failure::input(what).hint("`artifact export` makes one of a program"));
    }
    if let Some(output) = &options.output {
        files::refuse_overwriting(output, [path])?;
    }
    let refuse = |error: ExportError| Failure::export(path, &error);
    let unwritten = |error: &dyn std::error::Error| Failure::file("cannot write", target(options), error);
    // Of two processes that rewrite a file at once, one would lose what it did.
    let locked = match options.output {
        Some(_) => None,
        None => Some(Original::lock(path).map_err(|error| unwritten(&error))?),
    };
    let opened = match &locked {
        Some(original) => Container::open_original(original, &read_options()),
        None => Container::open_with(path, &read_options()),
    };
    let container = opened.map_err(|error| refuse(error.into()))?;
    if is_current(&container) {
        return current(options, &container);
    }
    let (old, container) = (container.file_digest(), Arc::new(container));
    let new = match &locked {
        Some(original) => original.replacement(),
        None => AtomicFile::create(target(options)),
    };
    let mut file = new.map_err(|error| unwritten(&error))?;
    let upgraded = upgrade(&container, &mut file).map_err(refuse)?;
    file.commit().map_err(|error| unwritten(&error))?;
    if let Some(dropped) = &upgraded.seals_dropped {
        output::note(&format!("warning: {dropped}"));
    }
    let changes: String = upgraded
        .changes
        .iter()
        .map(|change| format!("  {change}\n"))
        .collect();
    output::text(&format!(
        "{}: {} bytes\n{changes}  file digest {old} -> {}\n",
        output::path(target(options)),
        upgraded.written.file_length,
        upgraded.written.file_digest
    ))?;
    Ok(Exit::Ok)
}

/// Where the new file goes.
fn target(options: &UpgradeArguments) -> &Path {
    options.output.as_deref().unwrap_or(&options.artifact)
}

/// Nothing to do but to copy the file where it is asked for.
fn current(options: &UpgradeArguments, container: &Container) -> Outcome<Exit> {
    let path = options.artifact.as_path();
    let copied = match &options.output {
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
    ))?;
    Ok(Exit::Ok)
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    let unwritten = |error: &dyn std::error::Error| Failure::file("cannot write", to, error);
    let mut source: File = files::open(from)?;
    let mut file = AtomicFile::create(to).map_err(|error| unwritten(&error))?;
    std::io::copy(&mut source, &mut file).map_err(|error| unwritten(&error))?;
    file.commit().map_err(|error| unwritten(&error))
}
