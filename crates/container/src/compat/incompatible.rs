//! The one error of a file and a reader that do not fit.

use std::fmt;

use artifact_core::version::{FormatVersion, ProgramRange};

use super::{Reader, Requirements};
use crate::error::{Classify, ErrorKind};
use crate::table::SectionKind;

/// What does not fit. Texts and meanings are permanent: programs decide by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IncompatibleKind {
    /// The container is newer than the reader.
    ContainerTooNew,
    /// The container is older than what the reader still reads.
    ContainerTooOld,
    /// The container is newer than what would rewrite it.
    WriterTooOld,
    /// A required feature is unknown to the reader.
    UnknownFeature,
    /// A required section has a kind that is unknown to the reader.
    UnknownSectionKind,
    /// A required section has a codec that is unknown to the reader.
    UnknownCodec,
    /// The program has a format that the reader does not read.
    UnknownProgramFormat,
    /// The program's version is above what the reader reads.
    ProgramTooNew,
    /// The program's version is below what the reader reads.
    ProgramTooOld,
    /// The program has a calling convention that is unknown to the reader.
    UnknownCallingConvention,
    /// The program was exported for other platforms than the reader's.
    PlatformNotOffered,
}

impl IncompatibleKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::ContainerTooNew,
        Self::ContainerTooOld,
        Self::WriterTooOld,
        Self::UnknownFeature,
        Self::UnknownSectionKind,
        Self::UnknownCodec,
        Self::UnknownProgramFormat,
        Self::ProgramTooNew,
        Self::ProgramTooOld,
        Self::UnknownCallingConvention,
        Self::PlatformNotOffered,
    ];

    /// The permanent text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContainerTooNew => "container-too-new",
            Self::ContainerTooOld => "container-too-old",
            Self::WriterTooOld => "writer-too-old",
            Self::UnknownFeature => "unknown-feature",
            Self::UnknownSectionKind => "unknown-section-kind",
            Self::UnknownCodec => "unknown-codec",
            Self::UnknownProgramFormat => "unknown-program-format",
            Self::ProgramTooNew => "program-too-new",
            Self::ProgramTooOld => "program-too-old",
            Self::UnknownCallingConvention => "unknown-calling-convention",
            Self::PlatformNotOffered => "platform-not-offered",
        }
    }
}

impl fmt::Display for IncompatibleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was about to happen, which decides the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A file is read.
    Read,
    /// A file is written for a reader that somebody asked for.
    Write,
}

/// What [`IncompatibleKind`] says, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mismatch {
    ContainerTooNew,
    ContainerTooOld,
    /// With the version that is written.
    WriterTooOld(FormatVersion),
    /// Names, each with the container version whose readers know it, where one is known.
    UnknownFeatures(Vec<(String, Option<FormatVersion>)>),
    UnknownSectionKind {
        section: String,
        kind: SectionKind,
    },
    UnknownCodec {
        section: String,
        codec: u8,
    },
    UnknownProgramFormat,
    /// With the versions that are read.
    ProgramTooNew(ProgramRange),
    ProgramTooOld(ProgramRange),
    UnknownCallingConvention(u32),
    PlatformNotOffered,
}

/// A file and a reader that do not fit. `Display` names the file's side and the reader's range; who wrote the file, who can
/// read it and what to do are apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    action: Action,
    mismatch: Mismatch,
    file: Requirements,
    reader: Reader,
}

impl Incompatible {
    pub(super) fn new(action: Action, mismatch: Mismatch, file: &Requirements, reader: &Reader) -> Self {
        let (file, reader) = (file.clone(), reader.clone());
        Self(Box::new(Parts {
            action,
            mismatch,
            file,
            reader,
        }))
    }

    /// What does not fit.
    #[must_use]
    pub fn kind(&self) -> IncompatibleKind {
        match self.0.mismatch {
            Mismatch::ContainerTooNew => IncompatibleKind::ContainerTooNew,
            Mismatch::ContainerTooOld => IncompatibleKind::ContainerTooOld,
            Mismatch::WriterTooOld(_) => IncompatibleKind::WriterTooOld,
            Mismatch::UnknownFeatures(_) => IncompatibleKind::UnknownFeature,
            Mismatch::UnknownSectionKind { .. } => IncompatibleKind::UnknownSectionKind,
            Mismatch::UnknownCodec { .. } => IncompatibleKind::UnknownCodec,
            Mismatch::UnknownProgramFormat => IncompatibleKind::UnknownProgramFormat,
            Mismatch::ProgramTooNew(_) => IncompatibleKind::ProgramTooNew,
            Mismatch::ProgramTooOld(_) => IncompatibleKind::ProgramTooOld,
            Mismatch::UnknownCallingConvention(_) => IncompatibleKind::UnknownCallingConvention,
            Mismatch::PlatformNotOffered => IncompatibleKind::PlatformNotOffered,
        }
    }

    /// What the file needs.
    #[must_use]
    pub fn file(&self) -> &Requirements {
        &self.0.file
    }

    /// What the reader knows.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.0.reader
    }

    /// Who wrote the file.
    #[must_use]
    pub fn written_by(&self) -> String {
        let producer = self.0.file.manifest.as_ref().map(|manifest| &manifest.producer);
        producer.map_or_else(
            || {
                "a writer that this reader cannot learn of: the manifest of that version is closed to it"
                    .to_owned()
            },
            ToString::to_string,
        )
    }

    /// Who can read the file.
    #[must_use]
    pub fn readable_by(&self) -> String {
        let Parts { mismatch, file, .. } = &*self.0;
        let oldest = file.window.oldest_reader;
        match mismatch {
            Mismatch::ContainerTooOld => {
                format!("releases that still read container {}", file.window.written)
            }
            Mismatch::UnknownFeatures(features) => {
                format!(
                    "readers of container {oldest} or newer that know {}",
                    names(features)
                )
            }
            Mismatch::UnknownProgramFormat | Mismatch::ProgramTooNew(_) | Mismatch::ProgramTooOld(_) => {
                format!(
                    "readers of container {oldest} or newer that read {}",
                    self.program()
                )
            }
            Mismatch::PlatformNotOffered => {
                format!("machines with one of the platforms {}", self.platforms())
            }
            Mismatch::UnknownSectionKind { kind, .. } => {
                format!("readers of container {oldest} or newer that know sections of {kind}")
            }
            Mismatch::UnknownCodec { codec, .. } => {
                format!("readers of container {oldest} or newer that know codec {codec}")
            }
            Mismatch::UnknownCallingConvention(number) => {
                format!("readers of container {oldest} or newer that know calling convention {number}")
            }
            Mismatch::ContainerTooNew | Mismatch::WriterTooOld(_) => {
                format!("readers of container {oldest} or newer")
            }
        }
    }

    /// What to do.
    #[must_use]
    pub fn remedy(&self) -> String {
        let Parts {
            action,
            mismatch,
            reader,
            ..
        } = &*self.0;
        let newest = reader.containers().newest;
        match (action, mismatch) {
            (_, Mismatch::PlatformNotOffered) => {
                "export the program for this platform, or run it where one of its platforms is".to_owned()
            }
            (_, Mismatch::WriterTooOld(_)) => {
                "rewrite it with the release that wrote it, or with a newer one".to_owned()
            }
            (Action::Read, Mismatch::ContainerTooOld | Mismatch::ProgramTooOld(_)) => {
                "run `artifact upgrade` of a release that still reads it, or export the program again"
                    .to_owned()
            }
            (Action::Read, Mismatch::ProgramTooNew(reads)) => format!(
                "install a newer release, or export the program again with `--stablehlo {}`",
                reads.newest
            ),
            (Action::Read, _) => {
                format!("install a newer release, or export the program again with `--for-reader {newest}`")
            }
            (Action::Write, Mismatch::UnknownFeatures(features)) => write_for(features),
            (Action::Write, Mismatch::ProgramTooNew(reads) | Mismatch::ProgramTooOld(reads)) => {
                format!("ask for a version of the program from {reads} with `--stablehlo`")
            }
            (Action::Write, _) => "ask for a newer reader with `--for-reader`".to_owned(),
        }
    }

    fn program(&self) -> String {
        let manifest = self.0.file.manifest.as_ref();
        manifest.map_or_else(String::new, |manifest| {
            format!("{} {}", manifest.program_format, manifest.program_version)
        })
    }

    fn platforms(&self) -> String {
        let manifest = self.0.file.manifest.as_ref();
        manifest.map_or_else(String::new, |manifest| manifest.platforms.join(", "))
    }
}

/// The feature names, each with its version where one is known.
fn names(features: &[(String, Option<FormatVersion>)]) -> String {
    let name = |(name, since): &(String, Option<FormatVersion>)| match since {
        Some(since) => format!("`{name}` (since container {since})"),
        None => format!("`{name}`"),
    };
    features.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The remedy of who writes for a reader without these features.
fn write_for(features: &[(String, Option<FormatVersion>)]) -> String {
    match features.iter().filter_map(|(_, since)| *since).max() {
        Some(since) => format!("ask for a reader that has it with `--for-reader {since}`"),
        None => "no released reader has it; leave the option out".to_owned(),
    }
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts {
            mismatch,
            file,
            reader,
            ..
        } = &*self.0;
        let (written, oldest) = (file.window.written, file.window.oldest_reader);
        let (name, reads) = (reader.name(), reader.containers());
        match mismatch {
            Mismatch::ContainerTooNew => write!(
                f,
                "the file has container version {written} and needs a reader of {oldest} or newer; {name} reads {reads}"
            ),
            Mismatch::ContainerTooOld => {
                write!(
                    f,
                    "the file has container version {written}; {name} reads {reads}"
                )
            }
            Mismatch::WriterTooOld(version) => write!(
                f,
                "the file has container version {written}; {name} writes {version} and would lose what is newer"
            ),
            Mismatch::UnknownFeatures(features) => write!(
                f,
                "the file (container {written}) requires {}, which {name} (container {reads}) does not know",
                names(features)
            ),
            Mismatch::UnknownSectionKind { section, kind } => write!(
                f,
                "section `{section}` of {kind} is required in the file (container {written}); {name} (container {reads}) does not know that kind"
            ),
            Mismatch::UnknownCodec { section, codec } => write!(
                f,
                "section `{section}` is required in the file (container {written}) and stored with codec {codec}; {name} (container {reads}) does not know that codec"
            ),
            Mismatch::UnknownProgramFormat => write!(
                f,
                "the program is {}; {name} reads {}",
                self.program(),
                reader.programs_text()
            ),
            Mismatch::ProgramTooNew(reads) | Mismatch::ProgramTooOld(reads) => {
                write!(f, "the program is {}; {name} reads {reads}", self.program())
            }
            Mismatch::UnknownCallingConvention(number) => write!(
                f,
                "the program has calling convention {number}; {name} knows {}",
                numbers(reader.calling_conventions.as_deref())
            ),
            Mismatch::PlatformNotOffered => write!(
                f,
                "the program is for the platforms {}; this machine offers {}",
                self.platforms(),
                reader.platforms.as_deref().unwrap_or_default().join(", ")
            ),
        }
    }
}

fn numbers(numbers: Option<&[u32]>) -> String {
    let numbers = numbers.unwrap_or_default().iter();
    numbers.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl std::error::Error for Incompatible {}

impl Classify for Incompatible {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Upgrade
    }
}
