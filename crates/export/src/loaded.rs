//! Reads a program back from an artifact.

use std::path::Path;
use std::sync::Arc;

use artifact_container::compat::{Reader, Requirements};
use artifact_container::manifest::{Manifest, ProgramPart};
use artifact_container::{Container, ReadOptions, SectionId};
use artifact_core::blob::Blob;
use artifact_core::version::FormatVersion;
use artifact_dims::Scope;
use artifact_ir::literal::Literal;
use artifact_ir::location::{Location, LocationId};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::TensorType;

use crate::custom_calls::{Waivers, custom_calls};
use crate::dimensions;
use crate::error::ExportError;
use crate::exported::Exported;
use crate::interface::{self, Conventions, Interface};
use crate::pack::{CALLING_CONVENTION, signature_entry};
use crate::program;
use crate::restore::restore;
use crate::signature::{Argument, Signature};

/// A verified program as it is stored, with its constants.
#[derive(Debug)]
pub struct Loaded {
    module: Module,
    entry: FunctionId,
    signature: Signature,
    interface: Option<Interface>,
    constants: Vec<Literal>,
    requirements: Requirements,
    platforms: Vec<String>,
    container: Arc<Container>,
}

impl Loaded {
    /// Opens an artifact, checks it, and verifies its program. Constants are views into the mapped file; each is checked
    /// against its digest here. Derivatives are left alone until [`Loaded::into_exported`] reads them.
    ///
    /// # Errors
    /// A file that is damaged, needs another tool, or whose parts do not fit each other.
    pub fn open(path: &Path) -> Result<Self, ExportError> {
        Self::from_container(&Arc::new(Container::open_with(path, &read_options())?))
    }

    /// As [`Loaded::open`], of a file that is in memory.
    ///
    /// # Errors
    /// See [`Loaded::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ExportError> {
        Self::from_container(&Arc::new(Container::from_bytes_with(bytes, &read_options())?))
    }

    /// As [`Loaded::open`], of a container that is already open.
    ///
    /// # Errors
    /// See [`Loaded::open`].
    pub fn from_container(container: &Arc<Container>) -> Result<Self, ExportError> {
        reader().check(container.requirements())?;
        Self::part(container, container.program()?, container.manifest().part())
    }

    /// One of the programs of a file, of which the manifest says this.
    fn part(
        container: &Arc<Container>,
        program: Vec<u8>,
        said: ProgramPart<'_>,
    ) -> Result<Self, ExportError> {
        let manifest = container.manifest();
        let constants = constants(container, said)?;
        let part = Part::read(manifest, program, said, &constants)?;
        Ok(Self {
            module: part.module,
            entry: part.entry,
            signature: part.signature,
            interface: part.interface,
            constants,
            requirements: container.requirements().clone(),
            platforms: manifest.platforms.clone(),
            container: Arc::clone(container),
        })
    }

    /// The program as it is stored: hoisted constants are its last arguments.
    #[must_use]
    pub const fn module(&self) -> &Module {
        &self.module
    }

    /// The function that a run starts with.
    #[must_use]
    pub const fn entry(&self) -> FunctionId {
        self.entry
    }

    /// How it is called, with the names of the manifest.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The hoisted constants, in the order of the arguments that stand for them.
    #[must_use]
    pub fn constants(&self) -> &[Literal] {
        &self.constants
    }

    /// The platforms that the program was made for; empty where it runs on any.
    #[must_use]
    pub fn platforms(&self) -> &[String] {
        &self.platforms
    }

    /// How its caller sees it, where the file says so.
    #[must_use]
    pub const fn interface(&self) -> Option<&Interface> {
        self.interface.as_ref()
    }

    /// What the file needs of its reader.
    #[must_use]
    pub const fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// The program with its constants put back.
    ///
    /// # Errors
    /// When constants and arguments do not fit, which [`Loaded::open`] has checked.
    pub fn into_module(mut self) -> Result<Module, ExportError> {
        restore(&mut self.module, self.entry, self.constants)?;
        Ok(self.module)
    }

    /// All that the file holds: the program and those of its derivatives, each with its constants put back, and what the
    /// manifest says of them.
    ///
    /// # Errors
    /// When a derivative is damaged, or is not what the manifest says.
    pub fn into_exported(self) -> Result<Exported, ExportError> {
        let mut vjp = None;
        for (order, derivative) in self.derivatives()?.into_iter().enumerate().rev() {
            let loaded = derivative.exported(vjp.take());
            vjp = Some(loaded.map_err(|error| error.within(&derivative_name(order)))?);
        }
        self.exported(vjp)
    }

    /// The derivatives as they are stored, in order.
    pub(crate) fn derivatives(&self) -> Result<Vec<Self>, ExportError> {
        let container = &self.container;
        let derivatives = container
            .sections()
            .derivatives()
            .zip(&container.manifest().derivatives);
        let derivatives = derivatives.enumerate().map(|(order, ((section, _), said))| {
            let loaded = Self::part(container, container.section_bytes(section)?, said.part());
            loaded.map_err(|error| error.within(&derivative_name(order)))
        });
        derivatives.collect()
    }

    /// This program alone.
    fn exported(mut self, vjp: Option<Exported>) -> Result<Exported, ExportError> {
        restore(&mut self.module, self.entry, self.constants)?;
        Ok(Exported {
            module: self.module,
            entry: self.entry,
            signature: self.signature,
            platforms: self.platforms,
            interface: self.interface,
            waived: waived(&self.container),
            vjp: vjp.map(Box::new),
        })
    }
}

/// One program of a file, verified, and in agreement with what the manifest says of it.
struct Part {
    module: Module,
    entry: FunctionId,
    signature: Signature,
    interface: Option<Interface>,
}

impl Part {
    /// Reads the bytes of a program section.
    fn read(
        manifest: &Manifest,
        program: Vec<u8>,
        said: ProgramPart<'_>,
        constants: &[Literal],
    ) -> Result<Self, ExportError> {
        let mut module = program::decode(&manifest.program.name, program)?;
        let entry = module
            .entry()
            .ok_or_else(|| ExportError::input("the artifact's program has no entry"))?;
        let signature = signature(said, &module, entry, constants)?;
        let conventions = Conventions::of(&module.functions[entry]);
        let interface = said.interface.map(|said| interface::read(said, &conventions));
        let interface = interface.transpose()?;
        if let Some(interface) = &interface {
            interface::check(interface, &manifest.platforms, &module, &conventions, &signature)?;
        }
        name_arguments(&mut module, entry, &signature);
        Ok(Self {
            module,
            entry,
            signature,
            interface,
        })
    }
}

/// Refuses what [`Loaded::open`] and [`Loaded::into_exported`] would refuse, before it is in a file: `program` is what its
/// section will hold, `said` what the manifest will say of it but for its constants.
pub(crate) fn check_readable(
    manifest: &Manifest,
    program: Vec<u8>,
    said: ProgramPart<'_>,
    constants: &[Literal],
) -> Result<(), ExportError> {
    let read = Part::read(manifest, program, said, constants);
    read.map(drop)
        .map_err(|error| error.within("the artifact would be refused by its readers"))
}

/// What the exporter accepted. Before version 1.0 that was everything, without a word.
pub(crate) fn waived(container: &Container) -> Waivers {
    if container.header().window().written < FormatVersion::new(1, 0) {
        return Waivers::All;
    }
    let targets = container.manifest().custom_call_waivers.iter().cloned();
    Waivers::Targets(targets.collect())
}

/// How messages call a derivative.
fn derivative_name(order: usize) -> String {
    format!("the derivative `vjp/{}`", order + 1)
}

/// What this release reads, on any platform.
#[must_use]
pub fn reader() -> Reader {
    Reader::current().with_calling_conventions([CALLING_CONVENTION])
}

/// For opening a container that is then loaded.
#[must_use]
pub fn read_options() -> ReadOptions {
    ReadOptions::for_reader(reader())
}

/// Lends out a constant's bytes for as long as a literal needs them.
struct ConstantView {
    container: Arc<Container>,
    section: SectionId,
}

impl AsRef<[u8]> for ConstantView {
    fn as_ref(&self) -> &[u8] {
        // It was read and checked before the view was made.
        self.container.constant_bytes(self.section).unwrap_or(&[])
    }
}

fn constants(container: &Arc<Container>, said: ProgramPart<'_>) -> Result<Vec<Literal>, ExportError> {
    let constant = |constant: &artifact_container::manifest::Constant| {
        let missing = || ExportError::input(format!("the artifact has no section `{}`", constant.section));
        let (section, _) = container.sections().find(&constant.section).ok_or_else(missing)?;
        container.constant_bytes(section)?;
        let element: artifact_ir::types::ElementType = constant
            .dtype
            .parse()
            .map_err(|error| ExportError::input(format!("a constant's dtype: {error}")))?;
        let ty = Arc::new(TensorType::of_static(&constant.shape, element));
        let view = ConstantView {
            container: Arc::clone(container),
            section,
        };
        let invalid = |error| ExportError::input(format!("the constant `{}`: {error}", constant.section));
        Literal::dense(ty, Blob::of_owner(Arc::new(view))).map_err(invalid)
    };
    said.constants.iter().map(constant).collect()
}

/// The names of the manifest with the types of the program; the two must agree.
fn signature(
    said: ProgramPart<'_>,
    module: &Module,
    entry: FunctionId,
    constants: &[Literal],
) -> Result<Signature, ExportError> {
    let manifest = said.signature;
    let function = &module.functions[entry];
    let inputs = function.arguments.len().checked_sub(constants.len());
    if inputs != Some(manifest.inputs.len()) || function.results.len() != manifest.outputs.len() {
        let what = format!(
            "the manifest has {} inputs, {} constants and {} outputs, the program has {} arguments and {} results",
            manifest.inputs.len(),
            constants.len(),
            manifest.outputs.len(),
            function.arguments.len(),
            function.results.len()
        );
        return Err(ExportError::input(what));
    }
    let (arguments, hoisted) = function.arguments.split_at(manifest.inputs.len());
    let mismatched = hoisted
        .iter()
        .zip(constants)
        .find(|(a, literal)| a.ty.as_tensor() != Some(literal.ty()));
    if let Some((argument, literal)) = mismatched {
        let what = format!(
            "a constant of type {} stands for an argument of type {}",
            literal.ty(),
            argument.ty
        );
        return Err(ExportError::input(what));
    }
    let named = |values: &[artifact_container::manifest::Value],
                 parameters: &[artifact_ir::module::Parameter]| {
        let pairs = values.iter().zip(parameters);
        pairs
            .map(|(value, parameter)| Argument {
                name: value.name.clone(),
                ty: parameter.ty.clone(),
            })
            .collect()
    };
    let signature = Signature {
        function: function.name.to_string(),
        inputs: named(&manifest.inputs, arguments),
        outputs: named(&manifest.outputs, &function.results),
        dimensions: Scope::default(),
    };
    let (signature, requirements) = dimensions::restored(module, entry, signature, said)?;
    check_manifest(said, module, &signature)?;
    dimensions::enforced(signature, &requirements)
}

/// Puts the names of the manifest where [`Signature::of`] finds them: the text has none, and who converts a program or exports
/// it again keeps them.
fn name_arguments(module: &mut Module, entry: FunctionId, signature: &Signature) {
    for (index, input) in signature.inputs.iter().enumerate() {
        if input.name != format!("arg{index}") {
            let name = Location::Name {
                name: input.name.as_str().into(),
                child: LocationId::UNKNOWN,
            };
            module.functions[entry].arguments[index].location = module.locations.intern(name);
        }
    }
}

/// A type of the manifest, in the form of [`Argument::shape_text`].
fn said_type(value: &artifact_container::manifest::Value) -> String {
    use artifact_container::manifest::Dim;
    let dim = |dim: &Dim| match dim {
        Dim::Size(size) => format!("{size}x"),
        Dim::Expression(text) => format!("({text})x"),
        Dim::Unknown => "?x".to_owned(),
    };
    match &value.shape {
        Some(shape) => format!(
            "tensor<{}{}>",
            shape.iter().map(dim).collect::<String>(),
            value.dtype
        ),
        None => value.dtype.clone(),
    }
}

/// Refuses a manifest that says something else than the program does: who reads it believes it.
fn check_manifest(
    manifest: ProgramPart<'_>,
    module: &Module,
    signature: &Signature,
) -> Result<(), ExportError> {
    let (said, is) = (manifest.signature, signature_entry(signature));
    if said.function != is.function {
        let (said, is) = (&said.function, &is.function);
        let what = format!("the manifest names the function `{said}`, the program's entry is `{is}`");
        return Err(ExportError::input(what));
    }
    let said_values = said.inputs.iter().chain(&said.outputs);
    let values = signature.inputs.iter().chain(&signature.outputs);
    for ((said, is), value) in said_values.zip(is.inputs.iter().chain(&is.outputs)).zip(values) {
        if said != is {
            let what = format!(
                "the manifest gives `{}` as {}, in the program it is {}",
                said.name,
                said_type(said),
                value.shape_text()
            );
            return Err(ExportError::input(what));
        }
    }
    if manifest.dimensions != dimensions::entry(signature).as_ref() {
        let what = "the manifest lists other dimension variables or constraints than its shapes have";
        return Err(ExportError::input(what));
    }
    if manifest.custom_calls != custom_calls(module) {
        let what = "the manifest lists other custom calls than the program makes";
        return Err(ExportError::input(what));
    }
    Ok(())
}
