//! Programs from files: artifacts and what else holds one.

use std::path::Path;
use std::sync::Arc;

use artifact_container::MAGIC;
use artifact_container::compat::Requirements;
use artifact_export::{Conventions, Interface, Loaded, Signature};
use artifact_ir::diagnostic::SourceOffset;
use artifact_runtime::{Definition, Session};

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::source::Source;
use crate::trust::Trust;

/// A verified program, ready to run.
pub(crate) struct Program {
    pub(crate) definition: Definition,
    /// What the artifact needs of its reader; a text needs nothing.
    pub(crate) requirements: Option<Requirements>,
    /// The platforms that it is for; none means any.
    pub(crate) platforms: Vec<String>,
    /// Whether it runs on any other, too.
    pub(crate) any_platform: bool,
    /// What the attributes of its entry say.
    pub(crate) conventions: Conventions,
    /// Inputs of the function that was exported which the program does not take.
    pub(crate) unused_inputs: usize,
    /// What the module was read from, for messages; an artifact's places mean nothing to its user.
    source: Option<Source>,
}

impl Program {
    /// Reads an artifact or another program, whichever the file is.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        if is_artifact(path)? {
            Self::from_artifact(path)
        } else {
            Self::from_source(Source::read(path)?)
        }
    }

    /// Reads an artifact that is sealed as `trust` asks; nothing of its sections is read before that is known.
    pub(crate) fn open_trusted(path: &Path, trust: &Trust) -> Outcome<Self> {
        let container = Arc::new(trust.open(path, &artifact_export::read_options())?);
        Loaded::from_container(&container)
            .map(Self::from_loaded)
            .map_err(|error| Failure::export(path, &error))
    }

    fn from_artifact(path: &Path) -> Outcome<Self> {
        Loaded::open(path)
            .map(Self::from_loaded)
            .map_err(|error| Failure::export(path, &error))
    }

    /// Opens an artifact that is in memory; `path` is what messages call it.
    pub(crate) fn from_bytes(path: &Path, bytes: Vec<u8>) -> Outcome<Self> {
        Loaded::from_bytes(bytes)
            .map(Self::from_loaded)
            .map_err(|error| Failure::export(path, &error))
    }

    fn from_loaded(loaded: Loaded) -> Self {
        Self {
            definition: Definition::from(&loaded),
            requirements: Some(loaded.requirements().clone()),
            platforms: loaded.platforms().to_vec(),
            any_platform: loaded.interface().is_some_and(Interface::runs_on_any_platform),
            conventions: Conventions::of(&loaded.module().functions[loaded.entry()]),
            unused_inputs: loaded.interface().map_or(0, Interface::unused_inputs),
            source: None,
        }
    }

    fn from_source(source: Source) -> Outcome<Self> {
        let exported = source.export()?.with_named_sizes();
        let exported = exported.map_err(|error| source.unfit(&error))?;
        Ok(Self {
            definition: Definition::from(&exported),
            requirements: None,
            platforms: exported.platforms().to_vec(),
            any_platform: exported.interface().is_some_and(Interface::runs_on_any_platform),
            conventions: exported.conventions(),
            unused_inputs: exported.interface().map_or(0, Interface::unused_inputs),
            source: Some(source),
        })
    }

    /// How it is called, hoisted constants apart.
    pub(crate) const fn signature(&self) -> &Signature {
        &self.definition.signature
    }

    /// The program in a session.
    pub(crate) fn within(&self, session: &Session, path: &Path) -> Outcome<artifact_runtime::Program> {
        session.program(self.definition.clone()).map_err(|error| {
            let what = format!("{} cannot be given to an engine", path.display());
            Failure::input(what).because(&error)
        })
    }

    /// Where an operation stands, where that means something.
    pub(crate) fn place(&self, source: SourceOffset) -> Option<String> {
        self.source.as_ref()?.place(source)
    }
}

/// Whether a file starts as an artifact does.
pub(crate) fn is_artifact(path: &Path) -> Outcome<bool> {
    use std::io::Read;
    let mut start = [0; MAGIC.len()];
    let mut file = files::open(path)?;
    match file.read_exact(&mut start) {
        Ok(()) => Ok(start == MAGIC),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(Failure::file("cannot read", path, &error)),
    }
}

/// Refuses a file that is no artifact where one is needed; `why` says why.
pub(crate) fn require_artifact(path: &Path, why: &str) -> Outcome<()> {
    if is_artifact(path)? {
        return Ok(());
    }
    let failure = Failure::input(format!("{} is not an artifact, and {why}", path.display()));
    Err(failure.hint("`artifact export` makes one of a program"))
}

/// Whether a file holds a program, of whichever kind, right or wrong. One that cannot be opened or read is a failure; a pipe or
/// a device is not opened, and holds none.
pub(crate) fn holds_program(path: &Path) -> Outcome<bool> {
    let metadata = std::fs::metadata(path).map_err(|error| Failure::file("cannot open", path, &error))?;
    Ok(metadata.is_file() && (is_artifact(path)? || Source::is_in(path)?))
}
