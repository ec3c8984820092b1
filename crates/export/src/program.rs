//! How a program lies in its section: the one place that knows the format which is written, and those which are read.

use std::fmt;
use std::str::FromStr;

use artifact_chlo::{Form, legalize, recognise};
use artifact_core::blob::Blob;
use artifact_core::version::{OutOfRange, ProgramRange, ProgramVersion};
use artifact_ir::diagnostic::Diagnostic;
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::bytecode::{self, WriteErrorKind, WriteOptions};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;
use artifact_stablehlo::vhlo::Version;

use crate::error::ExportError;

/// The format that programs are written in: StableHLO's portable bytecode.
pub const PROGRAM_FORMAT: &str = BYTECODE;

const BYTECODE: &str = "stablehlo-bytecode";

/// What previews of the container wrote.
const TEXT: &str = "stablehlo-text";

/// A version of StableHLO (VHLO) that a program can be written as: 0.9.0 to 1.20.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StablehloVersion(ProgramVersion);

impl StablehloVersion {
    /// The versions that exist, both ends included.
    pub const RANGE: ProgramRange = ProgramRange {
        oldest: ProgramVersion::new(0, 9, 0),
        newest: ProgramVersion::new(1, 20, 0),
    };

    /// The newest version.
    pub const CURRENT: Self = Self(Self::RANGE.newest);

    /// A version that is known to be in the range.
    pub(crate) const fn of(version: ProgramVersion) -> Self {
        Self(version)
    }

    /// # Errors
    /// A version outside [`StablehloVersion::RANGE`].
    pub fn new(version: ProgramVersion) -> Result<Self, StablehloVersionError> {
        match Self::RANGE.check(version) {
            Ok(()) => Ok(Self(version)),
            Err(OutOfRange::TooOld | OutOfRange::TooNew) => Err(StablehloVersionError(version.to_string())),
        }
    }

    /// The same, as the writer of bytecode takes it.
    fn vhlo(self) -> Version {
        // The range holds no larger number.
        let number = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        let ProgramVersion { major, minor, patch } = self.0;
        Version::new(number(major), number(minor), number(patch))
    }

    /// Its numbers.
    #[must_use]
    pub const fn get(self) -> ProgramVersion {
        self.0
    }
}

impl fmt::Display for StablehloVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for StablehloVersion {
    type Err = StablehloVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let version = text.parse().map_err(|_| StablehloVersionError(text.to_owned()))?;
        Self::new(version)
    }
}

/// A version that no program can be written as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version of StableHLO from {range}, such as 1.13.0", range = StablehloVersion::RANGE)]
pub struct StablehloVersionError(String);

/// A program as its section holds it.
pub(crate) struct Encoded {
    pub(crate) version: ProgramVersion,
    pub(crate) bytes: Vec<u8>,
}

/// Writes a program in [`PROGRAM_FORMAT`], as the version that was asked for or else the newest.
pub(crate) fn encode(module: Module, version: Option<StablehloVersion>) -> Result<Encoded, ExportError> {
    let version = version.unwrap_or(StablehloVersion::CURRENT);
    Ok(Encoded {
        version: version.get(),
        bytes: portable(module, version, false)?.to_vec(),
    })
}

/// The portable bytecode of a program. Operations of CHLO, which it has no form for, become composites or calls of functions that
/// say the same.
///
/// # Errors
/// When the version cannot say what the program says; the error names what, and the version that can.
pub fn portable(
    mut module: Module,
    version: StablehloVersion,
    locations: bool,
) -> Result<bytecode::Encoded, ExportError> {
    let version = version.vhlo();
    let form = Form::for_vhlo(version.major.into(), version.minor.into());
    legalize(&mut module, form).map_err(|error| ExportError::input(error.to_string()))?;
    let options = WriteOptions { version, locations };
    bytecode::write(&module, &options).map_err(|error| match error.kind() {
        WriteErrorKind::NeedsVersion { .. } => ExportError::version(error),
        _ => ExportError::input(error.to_string()),
    })
}

/// Reads and verifies a program in a format that [`crate::reader`] reads.
pub(crate) fn decode(format: &str, bytes: Vec<u8>) -> Result<Module, ExportError> {
    match format {
        BYTECODE => decode_bytecode(bytes),
        TEXT => decode_text(&bytes),
        other => Err(ExportError::input(format!(
            "no reader for the program format `{other}`"
        ))),
    }
}

fn decode_bytecode(bytes: Vec<u8>) -> Result<Module, ExportError> {
    let read = bytecode::read(&Blob::new(bytes));
    let mut module = read
        .map_err(|error| ExportError::input(error.to_string()))?
        .module;
    let diagnostics = verify(&module);
    if diagnostics.is_empty() {
        recognise(&mut module);
        return Ok(module);
    }
    let findings: Vec<String> = diagnostics.iter().map(|finding| format!("  {finding}")).collect();
    let what = format!("the artifact's program is refused\n{}", findings.join("\n"));
    Err(ExportError::input(what))
}

fn decode_text(bytes: &[u8]) -> Result<Module, ExportError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| ExportError::input("the program section is not UTF-8 text"))?;
    let parsed = parse_module(text);
    if !parsed.diagnostics.is_empty() {
        return Err(refused(text, &parsed.diagnostics));
    }
    let mut modules = parsed.modules.into_iter();
    let (Some(module), None) = (modules.next(), modules.next()) else {
        return Err(ExportError::input("the program section does not hold one module"));
    };
    let diagnostics = verify(&module);
    if diagnostics.is_empty() {
        Ok(module)
    } else {
        Err(refused(text, &diagnostics))
    }
}

/// The findings with their places: nobody but who holds the artifact sees its text.
fn refused(text: &str, diagnostics: &[Diagnostic]) -> ExportError {
    let findings = SourceText::new("program", text).render_all(diagnostics);
    ExportError::input(format!(
        "the artifact's program is refused\n{}",
        findings.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use artifact_ir::digest::program_digest;

    use super::*;

    #[test]
    fn versions_that_exist() {
        for text in ["0.9.0", "1.13.0", "1.20.0"] {
            assert_eq!(text.parse::<StablehloVersion>().unwrap().to_string(), text);
        }
        for wrong in ["0.8.0", "1.20.1", "2.0.0", "1.13", "v1.13.0", "newest", ""] {
            let error = wrong.parse::<StablehloVersion>().unwrap_err().to_string();
            assert!(error.contains("from 0.9.0 to 1.20.0"), "{error}");
        }
    }

    #[test]
    fn an_older_version_says_what_it_lacks() {
        let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.tan %x : tensor<f32> return %0 : tensor<f32> }";
        let module = parse_module(text).into_module().unwrap();
        let version = |text: &str| Some(text.parse().unwrap());
        let error = encode(module.clone(), version("1.3.0")).map(drop).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("'stablehlo.tan' needs StableHLO 1.4.0"),
            "{error}"
        );
        let encoded = encode(module, version("1.4.0")).unwrap();
        assert_eq!(encoded.version.to_string(), "1.4.0");
    }

    #[test]
    fn client_operations_come_back() {
        let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = chlo.erf %x : tensor<f32> -> tensor<f32> return %0 : tensor<f32> }";
        let module = parse_module(text).into_module().unwrap();
        let encoded = encode(module.clone(), None).unwrap();
        let again = decode(PROGRAM_FORMAT, encoded.bytes).unwrap();
        assert_eq!(program_digest(&again), program_digest(&module));
    }

    /// What this release writes, its own reader reads.
    #[test]
    fn the_reader_reads_what_is_written() {
        let reads = crate::reader().program_versions(PROGRAM_FORMAT);
        assert_eq!(reads, Some(StablehloVersion::RANGE));
    }
}
