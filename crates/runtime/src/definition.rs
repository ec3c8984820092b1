//! What a program is before an engine sees it.

use std::sync::Arc;

use artifact_engine::{Buffer, Value};
use artifact_export::{Conventions, Exported, Loaded, Signature};
use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{ElementType, Type};

use crate::error::LoadError;

/// A verified module with its entry and how that is called.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The module.
    pub module: Arc<Module>,
    /// The function that a run starts with.
    pub entry: FunctionId,
    /// How it is called, hoisted constants apart.
    pub signature: Signature,
    /// What stands for the last arguments of the entry.
    pub constants: Vec<Literal>,
    /// The value of the first input, where a caller does not give it: the position of the platform.
    pub platform_position: Option<Value>,
}

impl From<&Loaded> for Definition {
    fn from(loaded: &Loaded) -> Self {
        Self {
            module: Arc::new(loaded.module().clone()),
            entry: loaded.entry(),
            signature: loaded.signature().clone(),
            constants: loaded.constants().to_vec(),
            platform_position: None,
        }
    }
}

impl From<&Exported> for Definition {
    fn from(exported: &Exported) -> Self {
        Self {
            module: Arc::new(exported.module().clone()),
            entry: exported.entry(),
            signature: exported.signature().clone(),
            constants: Vec::new(),
            platform_position: None,
        }
    }
}

impl Definition {
    /// A module that verifies, and one of its functions.
    #[must_use]
    pub fn of_module(module: Module, entry: FunctionId) -> Self {
        Self {
            signature: Signature::of(&module, &module.functions[entry]),
            module: Arc::new(module),
            entry,
            constants: Vec::new(),
            platform_position: None,
        }
    }

    /// The same on a platform: where the program takes the position of its platform among several, that is no input any more.
    ///
    /// # Errors
    /// When the program is for others, or takes the position as something else than an integer.
    pub fn on_platform(
        mut self,
        platforms: &[String],
        runs_on_any: bool,
        platform: &str,
    ) -> Result<Self, LoadError> {
        let position = platforms.iter().position(|known| known == platform);
        let any = runs_on_any || platforms.is_empty();
        if position.is_none() && !any {
            return Err(LoadError::Platform {
                platforms: platforms.to_vec(),
                engine: platform.to_owned(),
            });
        }
        let takes_position = Conventions::of(&self.module.functions[self.entry]).platform_index;
        if takes_position && !platforms.is_empty() {
            let ty = self.signature.inputs.first().map(|input| input.ty.clone());
            // Where any platform will do, JAX takes the first.
            self.platform_position = ty
                .map(|ty| platform_position(&ty, position.unwrap_or(0)))
                .transpose()?;
        }
        Ok(self)
    }
}

/// The position of a platform as a value of the type by which a program takes it.
///
/// # Errors
/// [`LoadError::PlatformType`] for another type than `tensor<i32>` and `tensor<i64>`.
pub fn platform_position(ty: &Type, position: usize) -> Result<Value, LoadError> {
    let refuse = || LoadError::PlatformType(ty.to_string());
    let element = ty
        .as_tensor()
        .filter(|tensor| tensor.rank() == 0)
        .and_then(|tensor| tensor.element.as_plain());
    let number = i32::try_from(position).map_err(|_| refuse())?;
    let buffer = match element {
        Some(ElementType::I32) => Buffer::of_numbers(&[], &[number])?,
        Some(ElementType::I64) => Buffer::of_numbers(&[], &[i64::from(number)])?,
        _ => return Err(refuse()),
    };
    Ok(buffer.into())
}
