//! Who can read what: one answer for a file and a reader.
//!
//! A file says what it needs ([`Requirements`]), a reader what it knows ([`Reader`]); [`Reader::check`] compares the two and
//! gives the one error of this subject, [`Incompatible`]. `docs/VERSIONING.md` has a row for each kind of it.
//!
//! Within a major version of the container a reader reads every minor version: what it must not ignore has a name (a
//! required feature, a required section), and it refuses the names that it does not know.

mod incompatible;

use std::collections::BTreeSet;

use artifact_core::version::{
    FormatVersion, OutOfRange, ParseProgramVersionError, ProgramRange, ProgramVersion, ReaderRange, Window,
};

use self::incompatible::Mismatch;
pub use self::incompatible::{Action, Incompatible, IncompatibleKind};
use crate::header::{CONTAINER_VERSION, OLDEST_READER, READABLE};
use crate::manifest::{Manifest, Producer};
use crate::release::{self, ReaderRelease};
use crate::table::{Codec, SectionKind, SectionTable};

/// What a reader knows. `None` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// How messages call it, such as `artifact 0.1.0`.
    name: String,
    containers: ReaderRange,
    features: Option<BTreeSet<String>>,
    programs: Option<Vec<(String, ProgramRange)>>,
    calling_conventions: Option<Vec<u32>>,
    platforms: Option<Vec<String>>,
}

/// What a file needs of its reader. Nothing of its program is decoded for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Container version, and that of the oldest reader.
    pub window: Window,
    /// What the manifest says; `None` where the container's version forbids to read it.
    pub manifest: Option<ManifestRequirements>,
    /// Required sections of an unknown kind, by name.
    pub unknown_kinds: Vec<(String, SectionKind)>,
    /// Required sections of an unknown codec, by name, with the codec's number.
    pub unknown_codecs: Vec<(String, u8)>,
}

/// What a manifest says about the reader that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestRequirements {
    /// Who wrote the file.
    pub producer: Producer,
    /// Format of the program.
    pub program_format: String,
    /// Its version.
    pub program_version: ProgramVersion,
    /// Features by name, ascending.
    pub features: Vec<String>,
    /// How arguments are passed.
    pub calling_convention: u32,
    /// Platforms that the program was exported for; empty means any.
    pub platforms: Vec<String>,
}

impl Requirements {
    /// Of a file whose header alone can be read.
    pub(crate) const fn of_window(window: Window) -> Self {
        Self {
            window,
            manifest: None,
            unknown_kinds: Vec::new(),
            unknown_codecs: Vec::new(),
        }
    }

    /// Of a file that this release would write with `manifest`.
    ///
    /// # Errors
    /// When the program's version is not of the form `MAJOR.MINOR.PATCH`.
    pub fn to_write(manifest: &Manifest) -> Result<Self, ParseProgramVersionError> {
        let window = Window {
            written: CONTAINER_VERSION,
            oldest_reader: OLDEST_READER,
        };
        Ok(Self {
            manifest: Some(ManifestRequirements {
                producer: manifest.producer.clone(),
                program_format: manifest.program.name.clone(),
                program_version: manifest.program.version.parse()?,
                features: manifest.required_features.clone(),
                calling_convention: manifest.calling_convention,
                platforms: manifest.platforms.clone(),
            }),
            ..Self::of_window(window)
        })
    }

    /// Of a file whose section table is sound.
    pub(crate) fn of_table(window: Window, table: &SectionTable) -> Self {
        let required = || {
            table
                .iter()
                .map(|(_, section)| section)
                .filter(|section| section.required)
        };
        let kinds = required().filter(|section| !section.kind.is_known());
        let codecs = required().filter_map(|section| match section.codec {
            Codec::Unknown(number) => Some((section.name.clone(), number)),
            Codec::None | Codec::Zstd => None,
        });
        Self {
            unknown_kinds: kinds
                .map(|section| (section.name.clone(), section.kind))
                .collect(),
            unknown_codecs: codecs.collect(),
            ..Self::of_window(window)
        }
    }

    /// The date up to which every release reads the file: [`release::SUPPORT_YEARS`] after the release that wrote it. `None`
    /// for a file that promises nothing: a preview, or one whose writer is not known.
    #[must_use]
    pub fn readable_until(&self) -> Option<artifact_core::date::Date> {
        let released = self.manifest.as_ref()?.producer.released?;
        Some(released.plus_years(release::SUPPORT_YEARS))
    }

    /// The first release that reads the file's container version; `None` where this release knows none.
    #[must_use]
    pub fn oldest_release(&self) -> Option<&'static ReaderRelease> {
        let mut releases = release::READER_RELEASES.iter();
        releases.find(|release| release.container >= self.window.oldest_reader)
    }
}

impl Reader {
    /// The reader of a release: its features and program formats, on any platform.
    #[must_use]
    pub fn of_release(release: &ReaderRelease) -> Self {
        let programs = release.programs.iter();
        Self {
            name: format!("artifact {}", release.version),
            containers: ReaderRange {
                oldest: READABLE.oldest,
                newest: release.container,
            },
            features: Some(release.features.iter().map(|name| (*name).to_owned()).collect()),
            programs: Some(
                programs
                    .map(|program| (program.name.to_owned(), program.versions))
                    .collect(),
            ),
            calling_conventions: None,
            platforms: None,
        }
    }

    /// The reader of this release.
    #[must_use]
    pub fn current() -> Self {
        Self {
            name: concat!("artifact ", env!("CARGO_PKG_VERSION")).to_owned(),
            ..Self::of_release(release::current())
        }
    }

    /// A reader of the container that knows exactly `features` and takes any program.
    #[must_use]
    pub fn with_features<'a>(features: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            features: Some(features.into_iter().map(str::to_owned).collect()),
            programs: None,
            ..Self::current()
        }
    }

    /// The same reader, which knows these calling conventions only.
    #[must_use]
    pub fn with_calling_conventions(mut self, conventions: impl IntoIterator<Item = u32>) -> Self {
        self.calling_conventions = Some(conventions.into_iter().collect());
        self
    }

    /// The same reader on a machine that offers these platforms only.
    #[must_use]
    pub fn with_platforms<'a>(mut self, platforms: impl IntoIterator<Item = &'a str>) -> Self {
        self.platforms = Some(platforms.into_iter().map(str::to_owned).collect());
        self
    }

    /// How messages call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The container versions that it reads.
    #[must_use]
    pub const fn containers(&self) -> ReaderRange {
        self.containers
    }

    /// The features that it knows, ascending; none where it takes any.
    pub fn features(&self) -> impl Iterator<Item = &str> {
        self.features.iter().flatten().map(String::as_str)
    }

    /// The program formats that it reads, with their versions; none where it takes any.
    pub fn programs(&self) -> impl Iterator<Item = (&str, ProgramRange)> {
        let programs = self.programs.iter().flatten();
        programs.map(|(name, versions)| (name.as_str(), *versions))
    }

    /// The versions of a program format that it reads; `None` where it does not read the format, or any version of it.
    #[must_use]
    pub fn program_versions(&self, format: &str) -> Option<ProgramRange> {
        let mut programs = self.programs.iter().flatten();
        programs
            .find(|(name, _)| name == format)
            .map(|(_, versions)| *versions)
    }

    /// Whether the file may be read.
    ///
    /// # Errors
    /// The first mismatch, with both sides and the remedy.
    pub fn check(&self, file: &Requirements) -> Result<(), Incompatible> {
        self.compare(file)
            .map_err(|mismatch| Incompatible::new(Action::Read, mismatch, file, self))
    }

    /// Whether this reader may read a file that is about to be written for it.
    ///
    /// # Errors
    /// As [`Reader::check`], with the remedy of who writes.
    pub fn check_written(&self, file: &Requirements) -> Result<(), Incompatible> {
        self.compare(file)
            .map_err(|mismatch| Incompatible::new(Action::Write, mismatch, file, self))
    }

    /// Whether a file may be rewritten by a writer of `written`: one that is newer than its writer would lose what that does
    /// not know.
    ///
    /// # Errors
    /// [`IncompatibleKind::WriterTooOld`].
    pub fn check_rewritten(&self, file: &Requirements, written: FormatVersion) -> Result<(), Incompatible> {
        if file.window.written > written {
            let mismatch = Mismatch::WriterTooOld(written);
            return Err(Incompatible::new(Action::Read, mismatch, file, self));
        }
        Ok(())
    }

    fn compare(&self, file: &Requirements) -> Result<(), Mismatch> {
        let Requirements {
            window,
            manifest,
            unknown_kinds,
            unknown_codecs,
        } = file;
        match self.containers.check(*window) {
            Err(OutOfRange::TooNew) => return Err(Mismatch::ContainerTooNew),
            Err(OutOfRange::TooOld) => return Err(Mismatch::ContainerTooOld),
            Ok(()) => {}
        }
        if let Some(manifest) = manifest {
            self.compare_features(manifest)?;
        }
        if let Some((section, kind)) = unknown_kinds.first() {
            let (section, kind) = (section.clone(), *kind);
            return Err(Mismatch::UnknownSectionKind { section, kind });
        }
        if let Some((section, codec)) = unknown_codecs.first() {
            let (section, codec) = (section.clone(), *codec);
            return Err(Mismatch::UnknownCodec { section, codec });
        }
        manifest
            .as_ref()
            .map_or(Ok(()), |manifest| self.compare_program(manifest))
    }

    fn compare_features(&self, file: &ManifestRequirements) -> Result<(), Mismatch> {
        let Some(known) = &self.features else {
            return Ok(());
        };
        let unknown = file.features.iter().filter(|name| !known.contains(*name));
        let since = |name: &String| (name.clone(), release::first_with(release::READER_RELEASES, name));
        let unknown: Vec<_> = unknown.map(since).collect();
        if unknown.is_empty() {
            Ok(())
        } else {
            Err(Mismatch::UnknownFeatures(unknown))
        }
    }

    fn compare_program(&self, file: &ManifestRequirements) -> Result<(), Mismatch> {
        if self.programs.is_some() {
            let reads = self
                .program_versions(&file.program_format)
                .ok_or(Mismatch::UnknownProgramFormat)?;
            match reads.check(file.program_version) {
                Err(OutOfRange::TooNew) => return Err(Mismatch::ProgramTooNew(reads)),
                Err(OutOfRange::TooOld) => return Err(Mismatch::ProgramTooOld(reads)),
                Ok(()) => {}
            }
        }
        let knows = |known: &Vec<u32>| known.contains(&file.calling_convention);
        if !self.calling_conventions.as_ref().is_none_or(knows) {
            return Err(Mismatch::UnknownCallingConvention(file.calling_convention));
        }
        let offers = |offered: &Vec<String>| offered.iter().any(|name| file.platforms.contains(name));
        if file.platforms.is_empty() || self.platforms.as_ref().is_none_or(offers) {
            Ok(())
        } else {
            Err(Mismatch::PlatformNotOffered)
        }
    }

    /// Names of the program formats that it reads, with their versions.
    pub(crate) fn programs_text(&self) -> String {
        let mut programs = self.programs.iter().flatten();
        let first = programs
            .next()
            .map_or_else(|| "any format".to_owned(), program_text);
        programs.fold(first, |text, program| text + ", " + &program_text(program))
    }
}

fn program_text((name, versions): &(String, ProgramRange)) -> String {
    format!("{name} {versions}")
}

#[cfg(test)]
mod tests;
