//! A verified program with all that is known of how it is called.

use artifact_chlo::recognise;
use artifact_ir::module::{Function, FunctionId, Module};
use artifact_ir::verify::verify;

use crate::callable;
use crate::custom_calls::Waivers;
use crate::error::ExportError;
use crate::interface::{self, Conventions, Interface};
use crate::platforms;
use crate::signature::Signature;

/// A program that verifies, with an entry function, and what its exporter said of it: platforms, the interface of its caller,
/// waivers, and the program of its vector-Jacobian product.
#[derive(Clone, Debug)]
pub struct Exported {
    pub(crate) module: Module,
    pub(crate) entry: FunctionId,
    pub(crate) signature: Signature,
    pub(crate) platforms: Vec<String>,
    pub(crate) interface: Option<Interface>,
    pub(crate) waived: Waivers,
    pub(crate) vjp: Option<Box<Exported>>,
}

impl Exported {
    /// Verifies a module and finds its entry: `main`, or the only function. Composites that stand for operations of CHLO, which
    /// exporters write, become those operations.
    ///
    /// # Errors
    /// The findings of the verifier, or that there is no entry.
    pub fn new(module: Module) -> Result<Self, ExportError> {
        let module = verified(module)?;
        let no_entry =
            "the program has no entry function: name one `main`, or give a program of one function";
        let entry = module.entry().ok_or_else(|| ExportError::input(no_entry))?;
        let function = &module.functions[entry];
        if function.body.is_none() {
            return Err(ExportError::input(format!(
                "the entry function `{}` has no body",
                function.name
            )));
        }
        let signature = Signature::of(&module, function);
        Ok(Self {
            module,
            entry,
            signature,
            platforms: Vec::new(),
            interface: None,
            waived: Waivers::default(),
            vjp: None,
        })
    }

    /// The program.
    #[must_use]
    pub const fn module(&self) -> &Module {
        &self.module
    }

    /// The function that a run starts with.
    #[must_use]
    pub const fn entry(&self) -> FunctionId {
        self.entry
    }

    /// The entry function.
    #[must_use]
    pub fn entry_function(&self) -> &Function {
        &self.module.functions[self.entry]
    }

    /// How it is called.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The platforms that the program is for; none means any. Where there are several and the program takes its position among
    /// them, [`Conventions::platform_index`] says so.
    #[must_use]
    pub fn platforms(&self) -> &[String] {
        &self.platforms
    }

    /// How its caller sees it, where that is known.
    #[must_use]
    pub const fn interface(&self) -> Option<&Interface> {
        self.interface.as_ref()
    }

    /// The program of its vector-Jacobian product, if it was exported too.
    #[must_use]
    pub fn vjp(&self) -> Option<&Self> {
        self.vjp.as_deref()
    }

    /// The program, its vector-Jacobian product, that of this one, and so on.
    pub fn with_vjps(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |exported| exported.vjp())
    }

    /// What the attributes of the entry say.
    #[must_use]
    pub fn conventions(&self) -> Conventions {
        Conventions::of(self.entry_function())
    }

    /// For these platforms. A program without an interface may be for several and not ask which of them it runs on.
    ///
    /// # Errors
    /// A name that is none, or that is there twice; and where there is an interface, when the program takes its position among
    /// several platforms and these are not, or does not and these are.
    pub fn with_platforms(mut self, platforms: Vec<String>) -> Result<Self, ExportError> {
        platforms::check(&platforms)?;
        if self.interface.is_some() {
            callable::told_apart(&platforms, &self.conventions())?;
        }
        self.platforms = platforms;
        self.agreed()
    }

    /// The same, if its interface says what the program does.
    pub(crate) fn agreed(self) -> Result<Self, ExportError> {
        if let Some(interface) = &self.interface {
            let (module, conventions) = (&self.module, self.conventions());
            interface::check(interface, &self.platforms, module, &conventions, &self.signature)?;
        }
        Ok(self)
    }
}

/// Verifies a module that need not have an entry. Composites that stand for operations of CHLO, which exporters write, become
/// those operations, so that a program has one digest however it was written.
///
/// # Errors
/// The findings of the verifier.
pub fn verified(mut module: Module) -> Result<Module, ExportError> {
    let diagnostics = verify(&module);
    if !diagnostics.is_empty() {
        return Err(ExportError::invalid(diagnostics));
    }
    recognise(&mut module);
    Ok(module)
}
