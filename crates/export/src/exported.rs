//! A verified program with its signature.

use artifact_chlo::recognise;
use artifact_ir::module::{Function, FunctionId, Module};
use artifact_ir::verify::verify;

use crate::dimensions::{self, Shapes};
use crate::error::ExportError;
use crate::signature::Signature;

/// A program that verifies, with an entry function.
#[derive(Clone, Debug)]
pub struct Exported {
    module: Module,
    entry: FunctionId,
    signature: Signature,
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
        })
    }

    /// Names sizes that the program leaves open: shapes of arguments, and constraints. The shapes of results follow.
    ///
    /// # Errors
    /// A text that cannot be read, a shape that contradicts the program, constraints that no sizes satisfy, or shapes for
    /// which an operation or an assertion of the program fails.
    pub fn with_shapes(mut self, shapes: &Shapes) -> Result<Self, ExportError> {
        self.signature = dimensions::named(&self.module, self.entry, &self.signature, shapes)?;
        Ok(self)
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
