//! Programs from files: artifacts and StableHLO text.

use std::path::Path;
use std::sync::Arc;

use artifact_container::compat::Requirements;
use artifact_container::{Container, MAGIC};
use artifact_core::limit::Limit;
use artifact_export::{ExportError, Exported, Loaded, Signature};
use artifact_ir::diagnostic::{Diagnostic, SourceOffset};
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::Type;
use artifact_refine::{Fact, Obligation, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::trust::Trust;

/// Largest program text that is read.
const PROGRAM_BYTES: Limit = Limit::new("the program's text", 1 << 31, "bytes");

/// The first bytes of MLIR bytecode, portable artifacts among them.
const BYTECODE_MAGIC: &[u8] = b"ML\xefR";

/// A verified program, ready to run.
pub(crate) struct Program {
    pub(crate) module: Module,
    pub(crate) entry: FunctionId,
    pub(crate) signature: Signature,
    /// Constants that stand for the last arguments of the entry.
    pub(crate) constants: Vec<Literal>,
    /// What the artifact needs of its reader; a text needs nothing.
    pub(crate) requirements: Option<Requirements>,
    /// The text that the module was read from, for messages; an artifact's is not kept.
    text: Option<String>,
}

impl Program {
    /// Reads an artifact or StableHLO text, whichever the file is.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        if is_artifact(path)? {
            Self::from_artifact(path)
        } else {
            Self::from_text(path, read_text(path)?)
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
        let container =
            Container::from_bytes_with(bytes, &artifact_export::read_options()).map_err(ExportError::from);
        let loaded = container.and_then(|container| Loaded::from_container(&Arc::new(container)));
        loaded
            .map(Self::from_loaded)
            .map_err(|error| Failure::export(path, &error))
    }

    fn from_loaded(loaded: Loaded) -> Self {
        Self {
            module: loaded.module().clone(),
            entry: loaded.entry(),
            signature: loaded.signature().clone(),
            constants: loaded.constants().to_vec(),
            requirements: Some(loaded.requirements().clone()),
            text: None,
        }
    }

    fn from_text(path: &Path, text: String) -> Outcome<Self> {
        let exported = export_text(path, &text)?;
        Ok(Self {
            module: exported.module().clone(),
            entry: exported.entry(),
            signature: exported.signature().clone(),
            constants: Vec::new(),
            requirements: None,
            text: Some(text),
        })
    }

    /// What the program needs of its named dimensions; nothing where it has none.
    pub(crate) fn obligations(&self, path: &Path) -> Outcome<Vec<Obligation>> {
        if self.signature.dimensions.ranges().next().is_none() {
            return Ok(Vec::new());
        }
        let inputs = self.signature.inputs.iter().map(|input| input.ty.clone());
        let constants = self
            .constants
            .iter()
            .map(|constant| Type::Tensor(Arc::clone(constant.ty())));
        let facts: Vec<Fact> = inputs.chain(constants).map(Fact::of_type).collect();
        let refined =
            refine(&self.module, self.entry, &facts, &self.signature.dimensions).map_err(|error| {
                Failure::input(format!("{} cannot be refined", path.display())).because(&error)
            })?;
        Ok(refined.obligations)
    }

    /// Where an operation stands, rendered, when the program was read from text.
    pub(crate) fn place(&self, path: &Path, source: SourceOffset) -> Option<String> {
        place(path, self.text.as_deref()?, source)
    }
}

/// `file:line:column` of an operation.
pub(crate) fn place(path: &Path, text: &str, source: SourceOffset) -> Option<String> {
    let position = SourceText::new(path.display().to_string(), text).position(source.get()?);
    Some(format!(
        "at {}:{}:{}",
        path.display(),
        position.line,
        position.column
    ))
}

/// Reads the text of a program.
pub(crate) fn read_text(path: &Path) -> Outcome<String> {
    let bytes = files::read(path, &PROGRAM_BYTES)?;
    if bytes.starts_with(BYTECODE_MAGIC) {
        let what = format!("{} is MLIR bytecode, which is not read yet", path.display());
        return Err(Failure::engine(what).hint("export the program as text: `exported.mlir_module()` in JAX"));
    }
    if bytes.starts_with("\u{feff}".as_bytes()) {
        let what = format!("{} starts with a byte order mark", path.display());
        return Err(Failure::input(what).hint("save it as UTF-8 without the mark"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let what = format!("{} is neither an artifact nor StableHLO text", path.display());
        Failure::input(what).because(&error).hint(format!(
            "line {line} is not UTF-8; give a .mlir file or an artifact written by `artifact export`"
        ))
    })
}

/// Parses and verifies a text that holds one program.
pub(crate) fn export_text(path: &Path, text: &str) -> Outcome<Exported> {
    let module = parse_module(text)
        .into_module()
        .map_err(|diagnostics| refused(path, text, &diagnostics))?;
    Exported::new(module).map_err(|error| unfit(path, text, &error))
}

/// A program that cannot be exported, with its findings in the text.
pub(crate) fn unfit(path: &Path, text: &str, error: &ExportError) -> Failure {
    if error.diagnostics.is_empty() {
        Failure::export(path, error)
    } else {
        refused(path, text, &error.diagnostics)
    }
}

/// A text that is wrong, with every finding.
pub(crate) fn refused(path: &Path, text: &str, findings: &[Diagnostic]) -> Failure {
    let name = path.display().to_string();
    let findings = SourceText::new(name.as_str(), text).render_all(findings);
    Failure::input(format!("{name} is refused\n{}", findings.trim_end()))
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
