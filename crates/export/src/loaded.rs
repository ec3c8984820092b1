//! Reads a program back from an artifact.

use std::path::Path;
use std::sync::Arc;

use artifact_container::manifest::Manifest;
use artifact_container::{Container, ReadOptions, SectionId};
use artifact_core::blob::Blob;
use artifact_dims::Scope;
use artifact_ir::diagnostic::Diagnostic;
use artifact_ir::literal::Literal;
use artifact_ir::location::{Location, LocationId};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::TensorType;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;

use crate::custom_calls::custom_calls;
use crate::dimensions;
use crate::error::ExportError;
use crate::pack::{CALLING_CONVENTION, PROGRAM_FORMAT, signature_entry};
use crate::restore::restore;
use crate::signature::{Argument, Signature};

/// A verified program as it is stored, with its constants.
#[derive(Debug)]
pub struct Loaded {
    module: Module,
    entry: FunctionId,
    signature: Signature,
    constants: Vec<Literal>,
    platforms: Vec<String>,
}

impl Loaded {
    /// Opens an artifact, checks it, and verifies its program. Constants are views into the mapped file; each is checked
    /// against its digest here.
    ///
    /// # Errors
    /// A file that is damaged, needs another tool, or whose parts do not fit each other.
    pub fn open(path: &Path) -> Result<Self, ExportError> {
        Self::from_container(&Arc::new(Container::open_with(path, &read_options())?))
    }

    /// As [`Loaded::open`], of a container that is already open.
    ///
    /// # Errors
    /// See [`Loaded::open`].
    pub fn from_container(container: &Arc<Container>) -> Result<Self, ExportError> {
        check_format(container)?;
        let mut module = program(container)?;
        let entry = module
            .entry()
            .ok_or_else(|| ExportError::input("the artifact's program has no entry"))?;
        let constants = constants(container)?;
        let signature = signature(container, &module, entry, &constants)?;
        name_arguments(&mut module, entry, &signature);
        Ok(Self {
            module,
            entry,
            signature,
            constants,
            platforms: container.manifest().platforms.clone(),
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

    /// The program with its constants put back.
    ///
    /// # Errors
    /// When constants and arguments do not fit, which [`Loaded::open`] has checked.
    pub fn into_module(mut self) -> Result<Module, ExportError> {
        restore(&mut self.module, self.entry, self.constants)?;
        Ok(self.module)
    }
}

/// What this reader knows of an artifact's features.
#[must_use]
pub fn read_options() -> ReadOptions {
    ReadOptions::with_features([dimensions::FEATURE])
}

fn check_format(container: &Container) -> Result<(), ExportError> {
    let manifest = container.manifest();
    let (name, newest) = PROGRAM_FORMAT;
    let format = &manifest.program;
    if format.name != name {
        let what = format!(
            "the program is in the format `{}`, this tool reads {name}",
            format.name
        );
        return Err(ExportError::upgrade(what));
    }
    match (numbers(&format.version), numbers(newest)) {
        (None, _) => {
            let what = format!(
                "the program's version `{}` is not of the form 1.2.3",
                format.version
            );
            Err(ExportError::input(what))
        }
        (version, readable) if version > readable => {
            let version = &format.version;
            let what = format!("the program is {name} {version}, this tool reads up to {newest}");
            Err(ExportError::upgrade(what))
        }
        _ if manifest.calling_convention != CALLING_CONVENTION => {
            let convention = manifest.calling_convention;
            let what = format!(
                "the program has calling convention {convention}, this tool knows {CALLING_CONVENTION}"
            );
            Err(ExportError::upgrade(what))
        }
        _ => Ok(()),
    }
}

/// Major, minor and patch number.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let numbers: Vec<u32> = version
        .split('.')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    numbers.try_into().ok()
}

fn program(container: &Container) -> Result<Module, ExportError> {
    let bytes = container.program()?;
    let text = std::str::from_utf8(&bytes)
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

fn constants(container: &Arc<Container>) -> Result<Vec<Literal>, ExportError> {
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
    container.manifest().constants.iter().map(constant).collect()
}

/// The names of the manifest with the types of the program; the two must agree.
fn signature(
    container: &Container,
    module: &Module,
    entry: FunctionId,
    constants: &[Literal],
) -> Result<Signature, ExportError> {
    let manifest = &container.manifest().signature;
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
    let signature = dimensions::restored(module, entry, signature, container.manifest())?;
    check_manifest(container.manifest(), module, &signature)?;
    Ok(signature)
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
fn check_manifest(manifest: &Manifest, module: &Module, signature: &Signature) -> Result<(), ExportError> {
    let (said, is) = (&manifest.signature, signature_entry(signature));
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
    if manifest.dimensions != dimensions::entry(signature) {
        let what = "the manifest lists other dimension variables or constraints than its shapes have";
        return Err(ExportError::input(what));
    }
    if manifest.custom_calls != custom_calls(module) {
        let what = "the manifest lists other custom calls than the program makes";
        return Err(ExportError::input(what));
    }
    Ok(())
}
