//! Rewrites an artifact: one of an older container version as this release writes it, or any for another reader.
//!
//! The program and the constants stay what they are; what describes them is brought up to date. The digest of the old file
//! goes into the metadata, so that the new one can be traced to it.

use std::fmt;
use std::sync::Arc;

use artifact_container::compat::Reader;
use artifact_container::manifest::{Constant, CustomCall, Manifest, Producer, ProgramFormat};
use artifact_container::seal::DroppedSeals;
use artifact_container::{
    CONTAINER_VERSION, ConstantSource, ConstantType, Container, ContainerBuilder, ContentDigest, FileDigest,
    Output, Written,
};
use artifact_core::version::FormatVersion;
use artifact_ir::digest::ProgramDigest;
use artifact_ir::module::Module;

use crate::custom_calls::waivers;
use crate::error::ExportError;
use crate::identity::program_identity;
use crate::loaded::{Loaded, check_readable, reader, waived};
use crate::pack::{PackOptions, check_reader, producer};
use crate::program::{self, PROGRAM_FORMAT};
use crate::restore::restore;

/// The metadata that names the file digests of what a file was made of, oldest first, with a space between them.
pub const UPGRADED_FROM: &str = "upgraded-from";

/// One thing that differs in a rewritten file.
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
    /// Custom calls without a guarantee that are accepted: those that are accepted now, and of a preview all, which it accepted
    /// without a word.
    Waivers(Vec<String>),
    /// The digest of the program: it says the same in other operations, since its new version lacks some.
    ProgramDigest {
        /// Of the old file.
        from: ProgramDigest,
        /// Of the new file.
        to: ProgramDigest,
    },
    /// The digest of what the file contains, its description included.
    ContentDigest {
        /// Of the old file.
        from: ContentDigest,
        /// Of the new file.
        to: ContentDigest,
    },
    /// The digest of the file.
    FileDigest {
        /// Of the old file.
        from: FileDigest,
        /// Of the new file.
        to: FileDigest,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Container { from, to } => write!(f, "container {from} -> {to}"),
            Self::Program { from, to } => write!(f, "program {from} -> {to}"),
            Self::Producer { from, to } => write!(f, "producer {from} -> {to}"),
            Self::Waivers(targets) => write!(f, "waivers for the custom calls {}", targets.join(", ")),
            Self::ProgramDigest { from, to } => write!(
                f,
                "program digest {from} -> {to}: it says the same in operations that its new version has"
            ),
            Self::ContentDigest { from, to } => write!(f, "content digest {from} -> {to}"),
            Self::FileDigest { from, to } => write!(f, "file digest {from} -> {to}"),
        }
    }
}

/// What rewriting did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new file.
    pub written: Written,
    /// The digest of its program, as it was read back.
    pub program: ProgramDigest,
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

/// Verifies every byte of an artifact and writes it as this release would, for the reader that `options` name. What they do not
/// name stays: the version of the program, the time that is recorded, waivers, and texts under other keys.
///
/// # Errors
/// A file that is damaged, that this release cannot read, or that is newer than what this release writes; a version that cannot
/// say what the program says, a reader that cannot read the new file, a custom call that lacks a waiver; and when the output
/// refuses a write.
pub fn rewrite(
    container: &Arc<Container>,
    options: &PackOptions,
    output: &mut (impl Output + ?Sized),
) -> Result<Rewritten, ExportError> {
    reader().check_rewritten(container.requirements(), CONTAINER_VERSION)?;
    container.verify_all()?;
    let loaded = Loaded::from_container(container)?;
    let program = Program::of(container, &loaded, options)?;
    let manifest = manifest(container, program.format.clone(), options)?;
    program.check(&manifest, &loaded)?;
    let mut builder = ContainerBuilder::new(manifest.clone(), &program.bytes);
    for (said, bytes) in container.manifest().derivatives.iter().zip(program.derivatives) {
        builder.derivative(said.clone(), bytes, constants(container, &said.constants)?);
    }
    for (constant_type, source) in constants(container, &container.manifest().constants)? {
        builder.constant(constant_type, source);
    }
    builder.carry_over(container)?;
    let written = builder.write_to(output)?;
    let mut changes = changes(container, &manifest);
    changes.extend(digests(container, (program.before, program.after), &written));
    Ok(Rewritten {
        changes,
        program: program.after,
        seals_dropped: dropped_seals(container),
        written,
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

/// The programs of the new file.
struct Program {
    bytes: Vec<u8>,
    derivatives: Vec<Vec<u8>>,
    /// The derivatives that were read, where they were written anew.
    read: Vec<Loaded>,
    format: ProgramFormat,
    /// Digests of the program in the old file and in the new one.
    before: ProgramDigest,
    after: ProgramDigest,
}

impl Program {
    /// As they are, unless they are in a format that is no longer written, or another version is asked for.
    fn of(container: &Container, loaded: &Loaded, options: &PackOptions) -> Result<Self, ExportError> {
        let format = container.manifest().program.clone();
        let before = identity(loaded.module().clone(), loaded)?;
        let version = options.stablehlo.map(|version| version.get().to_string());
        if format.name == PROGRAM_FORMAT && version.is_none_or(|version| version == format.version) {
            let derivatives = container.sections().derivatives();
            let derivatives = derivatives.map(|(section, _)| container.section_bytes(section));
            return Ok(Self {
                bytes: container.program()?,
                derivatives: derivatives.collect::<Result<_, _>>()?,
                read: Vec::new(),
                format,
                before,
                after: before,
            });
        }
        let encode = |loaded: &Loaded| program::encode(loaded.module().clone(), options.stablehlo);
        let program = encode(loaded)?;
        let read = loaded.derivatives()?;
        let derivatives = read.iter().map(|derivative| Ok(encode(derivative)?.bytes));
        // Whoever reads the file reads these bytes.
        let again = program::decode(PROGRAM_FORMAT, program.bytes.clone())?;
        Ok(Self {
            after: identity(again, loaded)?,
            bytes: program.bytes,
            derivatives: derivatives.collect::<Result<_, ExportError>>()?,
            read,
            format: ProgramFormat {
                name: PROGRAM_FORMAT.to_owned(),
                version: program.version.to_string(),
            },
            before,
        })
    }

    /// Refuses what readers of the new file would refuse: what an older version writes out in other operations may no longer
    /// show what the manifest says.
    fn check(&self, manifest: &Manifest, loaded: &Loaded) -> Result<(), ExportError> {
        check_readable(manifest, self.bytes.clone(), manifest.part(), loaded.constants())?;
        let written = manifest.derivatives.iter().zip(&self.derivatives);
        for ((said, bytes), derivative) in written.zip(&self.read) {
            check_readable(manifest, bytes.clone(), said.part(), derivative.constants())?;
        }
        Ok(())
    }
}

/// The digest of a program that has the constants of another.
fn identity(mut module: Module, constants: &Loaded) -> Result<ProgramDigest, ExportError> {
    let no_entry = || ExportError::input("the program has no entry");
    let entry = module.entry().ok_or_else(no_entry)?;
    restore(&mut module, entry, constants.constants().to_vec())?;
    program_identity(&module)
}

fn manifest(
    container: &Container,
    program: ProgramFormat,
    options: &PackOptions,
) -> Result<Manifest, ExportError> {
    let PackOptions {
        created,
        metadata,
        reader,
        // In `program`.
        stablehlo: _,
        waivers: given,
    } = options;
    let mut manifest = container.manifest().clone();
    let derivatives = manifest.derivatives.iter().flat_map(|one| &one.custom_calls);
    let calls: Vec<CustomCall> = manifest.custom_calls.iter().chain(derivatives).cloned().collect();
    manifest.custom_call_waivers = waivers(&calls, given, &waived(container))?;
    manifest.producer = producer();
    manifest.program = program;
    manifest.created = created.or(manifest.created);
    manifest.metadata.extend(metadata.clone());
    let digest = container.file_digest().to_string();
    manifest
        .metadata
        .entry(UPGRADED_FROM.to_owned())
        .and_modify(|before| *before = format!("{before} {digest}"))
        .or_insert(digest);
    if let Some(release) = reader {
        check_reader(&Reader::of_release(release), &manifest)?;
    }
    Ok(manifest)
}

/// What differs in the digests.
fn digests(
    container: &Container,
    (before, after): (ProgramDigest, ProgramDigest),
    written: &Written,
) -> impl Iterator<Item = Change> {
    let program = (before != after).then_some(Change::ProgramDigest {
        from: before,
        to: after,
    });
    let content = Change::ContentDigest {
        from: container.content_digest(),
        to: written.content_digest,
    };
    let file = Change::FileDigest {
        from: container.file_digest(),
        to: written.file_digest,
    };
    program.into_iter().chain([content, file])
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
