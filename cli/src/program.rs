//! Programs from files: artifacts and what else holds one.

use std::path::Path;
use std::sync::Arc;

use artifact_container::compat::Requirements;
use artifact_container::{Container, MAGIC};
use artifact_eval::Value;
use artifact_eval::tensor::Tensor;
use artifact_export::{Conventions, ExportError, Interface, Loaded, Signature};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::Type;
use artifact_refine::{Fact, Obligation, refine};

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::source::Source;
use crate::trust::Trust;

/// A verified program, ready to run.
pub(crate) struct Program {
    pub(crate) module: Module,
    pub(crate) entry: FunctionId,
    pub(crate) signature: Signature,
    /// Constants that stand for the last arguments of the entry.
    pub(crate) constants: Vec<Literal>,
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
            module: exported.module().clone(),
            entry: exported.entry(),
            signature: exported.signature().clone(),
            constants: Vec::new(),
            requirements: None,
            platforms: exported.platforms().to_vec(),
            any_platform: exported.interface().is_some_and(Interface::runs_on_any_platform),
            conventions: exported.conventions(),
            unused_inputs: exported.interface().map_or(0, Interface::unused_inputs),
            source: Some(source),
        })
    }

    /// The arguments of the entry: the inputs that a user gives, and the constants after them.
    pub(crate) fn with_constants(&self, inputs: Vec<Value>) -> Outcome<Vec<Value>> {
        let mut values = inputs;
        for constant in &self.constants {
            let tensor = Tensor::from_literal(constant)
                .map_err(|error| Failure::input("a constant is too large").because(&error))?;
            values.push(Value::Tensor(tensor));
        }
        Ok(values)
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
