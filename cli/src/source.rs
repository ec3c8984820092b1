//! Programs in files that are no artifacts, recognised by what they hold: StableHLO text, portable bytecode, and functions
//! that `jax.export` serialized.

use std::path::{Path, PathBuf};

use artifact_container::manifest::Manifest;
use artifact_core::blob::Blob;
use artifact_core::limit::Limit;
use artifact_export::{ExportError, Exported, verified};
use artifact_ir::diagnostic::{Diagnostic, SourceOffset};
use artifact_ir::module::Module;
use artifact_jax::ErrorKind as JaxErrorKind;
use artifact_stablehlo::bytecode::{self, Portable, ReadErrorKind, is_bytecode};
use artifact_stablehlo::parse::{begins_as_program, parse_module};
use artifact_stablehlo::source::SourceText;

use crate::failure::{Failure, Outcome};
use crate::{files, output};

/// Largest program that is read.
const PROGRAM_BYTES: Limit = Limit::new("the program", 1 << 31, "bytes");

/// What some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What a file says of itself, besides its program.
pub(crate) struct Origin {
    /// The format, by the name that manifests have for it.
    pub(crate) format: &'static str,
    /// The version of StableHLO that it is written in; texts have none.
    pub(crate) stablehlo: Option<String>,
    /// Who wrote it, where that is told.
    pub(crate) producer: Option<String>,
}

/// A program as its file holds it.
pub(crate) struct Source {
    path: PathBuf,
    content: Content,
}

enum Content {
    Text(String),
    Bytecode(Blob),
    Jax(Box<artifact_jax::Exported>),
}

impl Source {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        let bytes = files::read(path, &PROGRAM_BYTES)?;
        let content = if is_bytecode(&bytes) {
            Content::Bytecode(Blob::new(bytes))
        } else if artifact_jax::looks_like(&bytes) {
            Content::Jax(Box::new(jax(path, bytes)?))
        } else if artifact_jax::looks_cut_off(&bytes) {
            let (path, length) = (path.display(), bytes.len());
            let what = format!("{path} begins as a JAX export does, and ends after {length} bytes");
            return Err(Failure::input(what).hint("it was cut off or is damaged: copy it again"));
        } else {
            Content::Text(text(path, bytes)?)
        };
        Ok(Self {
            path: path.to_owned(),
            content,
        })
    }

    /// Whether a file holds what [`Source::read`] takes, right or wrong: bytes of a format that has a sign, or a text that begins
    /// as StableHLO does. One that is longer than any program does not.
    pub(crate) fn is_in(path: &Path) -> Outcome<bool> {
        let Ok(bytes) = files::read_within(path, &PROGRAM_BYTES)? else {
            return Ok(false);
        };
        // What is wrong further on, such as a byte that is no text, is for who reads the file to say.
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        let text = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let is_jax = artifact_jax::looks_like(&bytes) || artifact_jax::looks_cut_off(&bytes);
        Ok(is_jax || is_bytecode(&bytes) || begins_as_program(text))
    }

    /// The text, where it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Bytecode(_) | Content::Jax(_) => None,
        }
    }

    /// The modules, which may not verify.
    pub(crate) fn modules(&self) -> Outcome<Vec<Module>> {
        let modules = match &self.content {
            Content::Text(text) => parse_module(text)
                .into_modules()
                .map_err(|findings| self.refused(&findings))?,
            Content::Bytecode(file) => vec![self.bytecode(file)?.module],
            Content::Jax(file) => vec![self.bytecode(&file.module)?.module],
        };
        if modules.is_empty() {
            let what = format!("{} holds no module", self.path.display());
            return Err(Failure::input(what).hint(KINDS));
        }
        Ok(modules)
    }

    /// The modules, verified, and in the one form that counts for the digest of a program.
    pub(crate) fn verified(&self) -> Outcome<Vec<Module>> {
        let modules = self.modules()?.into_iter();
        modules
            .map(|module| verified(module).map_err(|error| self.unfit(&error)))
            .collect()
    }

    /// What the file says of itself.
    pub(crate) fn origin(&self) -> Outcome<Origin> {
        match &self.content {
            Content::Text(_) => Ok(Origin {
                format: "stablehlo-text",
                stablehlo: None,
                producer: None,
            }),
            Content::Bytecode(file) => {
                let read = self.bytecode(file)?;
                Ok(Origin {
                    format: "stablehlo-bytecode",
                    stablehlo: read.version.map(|version| version.to_string()),
                    producer: Some(read.producer),
                })
            }
            Content::Jax(file) => {
                let read = self.bytecode(&file.module)?;
                // Older releases of JAX leave it to the program to say.
                let producer = match &file.jax_version {
                    Some(release) => format!("JAX {release}"),
                    None => read.producer,
                };
                Ok(Origin {
                    format: "jax-export",
                    stablehlo: read.version.map(|version| version.to_string()),
                    producer: Some(producer),
                })
            }
        }
    }

    fn bytecode(&self, file: &Blob) -> Outcome<Portable> {
        bytecode::read(file).map_err(|error| {
            let what = format!("{} is refused", self.path.display());
            let failure = match error.kind() {
                ReadErrorKind::Unsupported => Failure::version(what),
                _ => Failure::input(what),
            };
            failure.because(&error)
        })
    }

    /// What an export of JAX says of its function and of those of gradients; nothing of other files.
    pub(crate) fn exported_functions(&self) -> Outcome<Vec<Manifest>> {
        if !matches!(self.content, Content::Jax(_)) {
            return Ok(Vec::new());
        }
        let exported = self.export()?;
        let described: Result<_, ExportError> = exported.with_vjps().map(artifact_export::describe).collect();
        described.map_err(|error| self.unfit(&error))
    }

    /// The only module, verified, with its signature.
    pub(crate) fn export(&self) -> Outcome<Exported> {
        let module = match &self.content {
            Content::Text(text) => parse_module(text)
                .into_module()
                .map_err(|findings| self.refused(&findings))?,
            Content::Bytecode(file) => self.bytecode(file)?.module,
            Content::Jax(file) => {
                return Exported::of_jax(file.as_ref().clone()).map_err(|error| self.unfit(&error));
            }
        };
        Exported::new(module).map_err(|error| self.unfit(&error))
    }

    /// A program that cannot be exported, with its findings at their places.
    pub(crate) fn unfit(&self, error: &ExportError) -> Failure {
        if error.diagnostics.is_empty() {
            Failure::export(&self.path, error)
        } else {
            self.refused(&error.diagnostics)
        }
    }

    /// A program that is wrong, with every finding.
    pub(crate) fn refused(&self, findings: &[Diagnostic]) -> Failure {
        let name = output::path(&self.path);
        let findings = match &self.content {
            Content::Text(text) => SourceText::new(name.as_str(), text).render_all(findings),
            Content::Bytecode(_) | Content::Jax(_) => {
                let shown: Vec<String> = findings.iter().map(|finding| at_byte(&name, finding)).collect();
                shown.join("\n")
            }
        };
        if self.text().is_none_or(begins_as_program) {
            return Failure::input(format!("{name} is refused")).findings(findings);
        }
        // Nobody who wrote a program began it so.
        let what = format!("{}; as a text it is refused", no_kind(&self.path));
        Failure::input(what).findings(findings).hint(KINDS)
    }

    /// As [`Source::refused`], with the first finding only and without the file's name: a list of many files has one line for
    /// each.
    pub(crate) fn first_finding(&self, findings: &[Diagnostic]) -> Failure {
        let Some(first) = findings.first() else {
            return Failure::input("it is refused");
        };
        let place = match (first.source.get(), &self.content) {
            (None, _) => String::new(),
            (Some(offset), Content::Text(text)) => {
                let position = SourceText::new(String::new(), text).position(offset);
                format!("{}:{}: ", position.line, position.column)
            }
            (Some(offset), Content::Bytecode(_)) => format!("at byte {offset}: "),
            (Some(offset), Content::Jax(_)) => format!("at byte {offset} of its program: "),
        };
        Failure::input(format!("{place}{}", first.message))
    }

    /// Where an operation stands.
    pub(crate) fn place(&self, source: SourceOffset) -> Option<String> {
        let (name, offset) = (self.path.display(), source.get()?);
        Some(match &self.content {
            Content::Text(text) => {
                let position = SourceText::new(name.to_string(), text).position(offset);
                format!("at {name}:{}:{}", position.line, position.column)
            }
            Content::Bytecode(_) => format!("at byte {offset} of {name}"),
            Content::Jax(_) => format!("at byte {offset} of the program in {name}"),
        })
    }
}

/// A finding in a file that has no lines.
fn at_byte(name: &str, finding: &Diagnostic) -> String {
    match finding.source.get() {
        Some(offset) => format!("{name}: at byte {offset}: error: {finding}"),
        None => format!("{name}: error: {finding}"),
    }
}

fn jax(path: &Path, bytes: Vec<u8>) -> Outcome<artifact_jax::Exported> {
    artifact_jax::read(Blob::new(bytes)).map_err(|error| {
        let what = format!("{} is refused", path.display());
        let failure = match error.kind() {
            JaxErrorKind::Expired | JaxErrorKind::Upgrade => Failure::version(what),
            _ => Failure::input(what),
        };
        failure.because(&error)
    })
}

fn text(path: &Path, bytes: Vec<u8>) -> Outcome<String> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        let what = format!("{} starts with a byte order mark", path.display());
        return Err(Failure::input(what).hint("save it as UTF-8 without the mark"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Failure::input(no_kind(path))
            .because(&error)
            .hint(format!("line {line} is not UTF-8; {KINDS}"))
    })
}

/// What is accepted, for who gave something else.
const KINDS: &str = "give an artifact, StableHLO as text or portable bytecode, or what jax.export serialized";

fn no_kind(path: &Path) -> String {
    format!(
        "{} is neither an artifact, nor StableHLO as text or as bytecode, nor a JAX export",
        path.display()
    )
}
