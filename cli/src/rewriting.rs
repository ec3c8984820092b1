//! Artifacts that are read in order to write another: their seals are lost, and that is said.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use artifact_container::Container;
use artifact_container::seal::DroppedSeals;
use artifact_export::{ExportError, Exported, Loaded};

use crate::failure::{Failure, Outcome};
use crate::output;
use crate::program::is_artifact;
use crate::source::Source;

/// The program of an artifact, and its seals, which a file that is made of it does not have.
pub(crate) fn open(path: &Path) -> Outcome<(Loaded, Option<DroppedSeals>)> {
    let open = || -> Result<_, ExportError> {
        let container = Arc::new(Container::open_with(path, &artifact_export::read_options())?);
        let dropped = DroppedSeals::of(&container);
        Ok((Loaded::from_container(&container)?, dropped))
    };
    open().map_err(|error| Failure::export(path, &error))
}

/// The program of any file, with all that the file says of how it is called, and the seals that a file which is made of it
/// does not have.
pub(crate) fn open_any(path: &Path) -> Outcome<(Exported, Option<DroppedSeals>)> {
    if !is_artifact(path)? {
        return Ok((Source::read(path)?.export()?, None));
    }
    let (loaded, dropped) = open(path)?;
    let exported = loaded.into_exported();
    Ok((exported.map_err(|error| Failure::export(path, &error))?, dropped))
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
