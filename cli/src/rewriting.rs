//! Artifacts that are read in order to write another: their seals are lost, and that is said.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use artifact_container::Container;
use artifact_container::atomic::AtomicFile;
use artifact_container::manifest::Manifest;
use artifact_container::seal::DroppedSeals;
use artifact_export::{Change, ExportError, Exported, Loaded, PackOptions};

use crate::failure::{Failure, Outcome};
use crate::output;
use crate::program::is_artifact;
use crate::source::Source;

/// An artifact that another file is made of.
pub(crate) struct Original {
    /// Its program.
    pub(crate) loaded: Loaded,
    /// What it says of it.
    pub(crate) manifest: Manifest,
    /// Its seals, which the other file does not have.
    pub(crate) dropped: Option<DroppedSeals>,
}

/// Opens an artifact; its derivatives are not read.
pub(crate) fn open(path: &Path) -> Outcome<Original> {
    let open = || -> Result<_, ExportError> {
        let container = Arc::new(Container::open_with(path, &artifact_export::read_options())?);
        Ok(Original {
            loaded: Loaded::from_container(&container)?,
            manifest: container.manifest().clone(),
            dropped: DroppedSeals::of(&container),
        })
    };
    open().map_err(|error| Failure::export(path, &error))
}

/// The program of any file, with all that the file says of how it is called, and the seals that a file which is made of it
/// does not have.
pub(crate) fn open_any(path: &Path) -> Outcome<(Exported, Option<DroppedSeals>)> {
    if !is_artifact(path)? {
        return Ok((Source::read(path)?.export()?, None));
    }
    let Original { loaded, dropped, .. } = open(path)?;
    let exported = loaded.into_exported();
    Ok((exported.map_err(|error| Failure::export(path, &error))?, dropped))
}

/// Writes the artifact at `path` anew, to a file that will be at `target`, and says what differs: the program, its description
/// and its constants stay what they are.
pub(crate) fn rewrite(
    (path, container): (&Path, &Arc<Container>),
    options: &PackOptions,
    (target, file): (&Path, std::io::Result<AtomicFile>),
) -> Outcome<()> {
    let unwritten = |error: &dyn std::error::Error| Failure::file("cannot write", target, error);
    let mut file = file.map_err(|error| unwritten(&error))?;
    let rewritten = artifact_export::rewrite(container, options, &mut file)
        .map_err(|error| Failure::export(path, &error))?;
    file.commit().map_err(|error| unwritten(&error))?;
    if let Some(dropped) = &rewritten.seals_dropped {
        output::note(&format!("warning: {}: {dropped}", path.display()));
    }
    let is_same = |change: &Change| !matches!(change, Change::ProgramDigest { .. });
    let same = rewritten.changes.iter().all(is_same);
    let same = same.then(|| format!("  program digest {}, as before\n", rewritten.program));
    let changes = rewritten.changes.iter().map(|change| format!("  {change}\n"));
    output::text(&format!(
        "{}: {} bytes\n{}",
        output::path(target),
        rewritten.written.file_length,
        same.into_iter().chain(changes).collect::<String>()
    ))
}

/// Says which seals are lost.
pub(crate) fn tell(dropped: Option<&DroppedSeals>, path: &Path) {
    if let Some(dropped) = dropped {
        output::note(&format!("warning: {}: {dropped}", path.display()));
    }
}

/// What the new file records of the sealed one.
pub(crate) fn metadata(dropped: Option<&DroppedSeals>) -> BTreeMap<String, String> {
    let record = |dropped: &DroppedSeals| {
        let key = DroppedSeals::METADATA_KEY.to_owned();
        (key, dropped.file_digest.to_string())
    };
    dropped.map(record).into_iter().collect()
}
