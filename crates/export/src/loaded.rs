//! Reads a program back from an artifact.

use std::path::Path;
use std::sync::Arc;

use artifact_container::{Container, SectionId};
use artifact_core::blob::Blob;
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::TensorType;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

use crate::error::ExportError;
use crate::pack::{CALLING_CONVENTION, PROGRAM_FORMAT};
use crate::restore::restore;
use crate::signature::{Argument, Signature};

/// A verified program as it is stored, with its constants.
#[derive(Debug)]
pub struct Loaded {
    module: Module,
    entry: FunctionId,
    signature: Signature,
    constants: Vec<Literal>,
}

impl Loaded {
    /// Opens an artifact, checks it, and verifies its program. Constants are views into the mapped file; each is checked
    /// against its digest here.
    ///
    /// # Errors
    /// A file that is damaged, needs another tool, or whose parts do not fit each other.
    pub fn open(path: &Path) -> Result<Self, ExportError> {
        Self::from_container(&Arc::new(Container::open(path)?))
    }

    /// As [`Loaded::open`], of a container that is already open.
    ///
    /// # Errors
    /// See [`Loaded::open`].
    pub fn from_container(container: &Arc<Container>) -> Result<Self, ExportError> {
        check_format(container)?;
        let module = program(container)?;
        let entry = module
            .entry()
            .ok_or_else(|| ExportError::input("the artifact's program has no entry"))?;
        let constants = constants(container)?;
        let signature = signature(container, &module, entry, &constants)?;
        Ok(Self {
            module,
            entry,
            signature,
            constants,
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

    /// The program with its constants put back.
    ///
    /// # Errors
    /// When constants and arguments do not fit, which [`Loaded::open`] has checked.
    pub fn into_module(mut self) -> Result<Module, ExportError> {
        restore(&mut self.module, self.entry, self.constants)?;
        Ok(self.module)
    }
}

fn check_format(container: &Container) -> Result<(), ExportError> {
    let manifest = container.manifest();
    if manifest.program.name != PROGRAM_FORMAT.0 {
        let format = &manifest.program;
        let what = format!(
            "the program is {} {}, this tool reads {}",
            format.name, format.version, PROGRAM_FORMAT.0
        );
        return Err(ExportError::input(what));
    }
    if manifest.calling_convention != CALLING_CONVENTION {
        let convention = manifest.calling_convention;
        let what =
            format!("the program has calling convention {convention}, this tool knows {CALLING_CONVENTION}");
        return Err(ExportError::input(what));
    }
    Ok(())
}

fn program(container: &Container) -> Result<Module, ExportError> {
    let bytes = container.program()?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| ExportError::input("the program section is not UTF-8 text"))?;
    let parsed = parse_module(text);
    if !parsed.diagnostics.is_empty() {
        return Err(ExportError::invalid(parsed.diagnostics));
    }
    let mut modules = parsed.modules.into_iter();
    let (Some(module), None) = (modules.next(), modules.next()) else {
        return Err(ExportError::input("the program section does not hold one module"));
    };
    let diagnostics = verify(&module);
    if diagnostics.is_empty() {
        Ok(module)
    } else {
        Err(ExportError::invalid(diagnostics))
    }
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
    Ok(Signature {
        function: function.name.to_string(),
        inputs: named(&manifest.inputs, arguments),
        outputs: named(&manifest.outputs, &function.results),
    })
}
