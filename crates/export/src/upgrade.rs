//! Rewrites an artifact of an older container version as one of this release.
//!
//! The program and the constants stay what they are; what describes them is brought up to date. The digest of the old file
//! goes into the metadata, so that the new one can be traced to it.

use std::fmt;
use std::sync::Arc;

use artifact_container::manifest::{Constant, Manifest, Producer, ProgramFormat};
use artifact_container::seal::DroppedSeals;
use artifact_container::{
    CONTAINER_VERSION, ConstantSource, ConstantType, Container, ContainerBuilder, Output, Written,
};
use artifact_core::version::FormatVersion;

use crate::custom_calls::opaque_targets;
use crate::error::ExportError;
use crate::loaded::{Loaded, reader};
use crate::pack::producer;
use crate::program::{self, PROGRAM_FORMAT};

/// The metadata that names the file digests of what a file was made of, oldest first, with a space between them.
pub const UPGRADED_FROM: &str = "upgraded-from";

/// One thing that an upgrade changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The container version.
    Container {
        /// Of the old file.
        from: FormatVersion,
        /// Of the new file.
        to: FormatVersion,
    },
    /// The format of the program, which is written anew.
    Program {
        /// Name and version in the old file.
        from: String,
        /// Name and version in the new file.
        to: String,
    },
    /// Who wrote the file, and with it the years for which it is read.
    Producer {
        /// Of the old file.
        from: String,
        /// Of the new file.
        to: String,
    },
    /// Custom calls without a guarantee, which the old version accepted without a word.
    Waivers(Vec<String>),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Container { from, to } => write!(f, "container {from} -> {to}"),
            Self::Program { from, to } => write!(f, "program {from} -> {to}"),
            Self::Producer { from, to } => write!(f, "producer {from} -> {to}"),
            Self::Waivers(targets) => write!(f, "waivers for the custom calls {}", targets.join(", ")),
        }
    }
}

/// What an upgrade did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The new file.
    pub written: Written,
    /// What differs, in the order of the list of [`Change`].
    pub changes: Vec<Change>,
    /// What is lost because it vouched for the old bytes.
    pub seals_dropped: Option<String>,
}

/// Whether a file is as this release writes it, so that there is nothing to upgrade.
#[must_use]
pub fn is_current(container: &Container) -> bool {
    let format = &container.manifest().program.name;
    container.header().window().written == CONTAINER_VERSION && format == PROGRAM_FORMAT
}

/// Verifies every byte of an artifact and writes it as this release would.
///
/// # Errors
/// A file that is damaged, that this release cannot read, or that is newer than what this release writes; and when the
/// output refuses a write.
pub fn upgrade(
    container: &Arc<Container>,
    output: &mut (impl Output + ?Sized),
) -> Result<Upgraded, ExportError> {
    reader().check_rewritten(container.requirements(), CONTAINER_VERSION)?;
    container.verify_all()?;
    let loaded = Loaded::from_container(container)?;
    let (bytes, format) = program(container, &loaded)?;
    let manifest = manifest(container, format);
    let changes = changes(container, &manifest);
    let mut builder = ContainerBuilder::new(manifest, &bytes);
    let derivatives = container
        .sections()
        .derivatives()
        .zip(&container.manifest().derivatives);
    for ((section, _), said) in derivatives {
        let constants = constants(container, &said.constants)?;
        builder.derivative(said.clone(), container.section_bytes(section)?, constants);
    }
    for (constant_type, source) in constants(container, &container.manifest().constants)? {
        builder.constant(constant_type, source);
    }
    builder.carry_over(container)?;
    Ok(Upgraded {
        written: builder.write_to(output)?,
        changes,
        seals_dropped: dropped_seals(container),
    })
}

/// What the caller must say about the seals of `container`, which do not hold for a rewritten file.
fn dropped_seals(container: &Container) -> Option<String> {
    DroppedSeals::of(container).map(|dropped| dropped.to_string())
}

/// Constants as they are stored.
fn constants<'a>(
    container: &'a Container,
    constants: &[Constant],
) -> Result<Vec<(ConstantType, ConstantSource<'a>)>, ExportError> {
    let stored = |constant: &Constant| {
        let missing = || ExportError::input(format!("the artifact has no section `{}`", constant.section));
        let (section, _) = container.sections().find(&constant.section).ok_or_else(missing)?;
        let constant_type = ConstantType {
            dtype: constant.dtype.clone(),
            shape: constant.shape.clone(),
        };
        let bytes = container.constant_bytes(section)?;
        Ok((constant_type, ConstantSource::Bytes(bytes)))
    };
    constants.iter().map(stored).collect()
}

/// The program section of the new file: as it is, unless it is in a format that is no longer written.
fn program(container: &Container, loaded: &Loaded) -> Result<(Vec<u8>, ProgramFormat), ExportError> {
    let format = &container.manifest().program;
    if format.name == PROGRAM_FORMAT {
        return Ok((container.program()?, format.clone()));
    }
    let program = program::encode(loaded.module().clone(), None)?;
    let format = ProgramFormat {
        name: PROGRAM_FORMAT.to_owned(),
        version: program.version.to_string(),
    };
    Ok((program.bytes, format))
}

fn manifest(container: &Container, program: ProgramFormat) -> Manifest {
    let mut manifest = container.manifest().clone();
    manifest.producer = producer();
    manifest.program = program;
    if container.header().window().written < FormatVersion::new(1, 0) {
        manifest.custom_call_waivers = opaque_targets(&manifest.custom_calls);
    }
    let digest = container.file_digest().to_string();
    manifest
        .metadata
        .entry(UPGRADED_FROM.to_owned())
        .and_modify(|before| *before = format!("{before} {digest}"))
        .or_insert(digest);
    manifest
}

fn changes(container: &Container, new: &Manifest) -> Vec<Change> {
    let old = container.manifest();
    let written = container.header().window().written;
    let program = |manifest: &Manifest| format!("{} {}", manifest.program.name, manifest.program.version);
    let who = |producer: &Producer| producer.to_string();
    let container_change = (written != CONTAINER_VERSION).then_some(Change::Container {
        from: written,
        to: CONTAINER_VERSION,
    });
    let program_change = (old.program != new.program).then(|| Change::Program {
        from: program(old),
        to: program(new),
    });
    let producer_change = (old.producer != new.producer).then(|| Change::Producer {
        from: who(&old.producer),
        to: who(&new.producer),
    });
    let waivers = (old.custom_call_waivers != new.custom_call_waivers)
        .then(|| Change::Waivers(new.custom_call_waivers.clone()));
    [container_change, program_change, producer_change, waivers]
        .into_iter()
        .flatten()
        .collect()
}
