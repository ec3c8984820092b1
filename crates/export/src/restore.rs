//! Puts hoisted constants back, where a program must stand alone.

use std::collections::HashMap;

use artifact_ir::literal::Literal;
use artifact_ir::module::{FunctionId, Module, ValueId};

use crate::error::ExportError;
use crate::splice::{prepend_constant, replace_uses};

/// Makes the last arguments of `entry` constants of its body, in order.
///
/// # Errors
/// When the function has fewer arguments than there are constants, or one of another type.
pub fn restore(module: &mut Module, entry: FunctionId, constants: Vec<Literal>) -> Result<(), ExportError> {
    let function = &mut module.functions[entry];
    let first = function.arguments.len().checked_sub(constants.len());
    let (Some(first), Some(body)) = (first, &mut function.body) else {
        return Err(ExportError::input(
            "the program has fewer arguments than the artifact has constants",
        ));
    };
    let Some(block) = body.entry_block() else {
        return Err(ExportError::input("the entry function has no body"));
    };
    let arguments: Vec<ValueId> = body.blocks[block].arguments.split_off(first);
    body.blocks[block].argument_locations.truncate(first);
    function.arguments.truncate(first);
    let mut uses = HashMap::new();
    // The last one first: each is put before those that are there.
    for (argument, literal) in arguments.into_iter().zip(constants).rev() {
        if body.ty(argument).as_tensor() != Some(literal.ty()) {
            let what = format!(
                "a constant of type {} stands for {}",
                literal.ty(),
                body.ty(argument)
            );
            return Err(ExportError::input(what));
        }
        if let Some(value) = prepend_constant(body, literal) {
            uses.insert(argument, value);
        }
    }
    replace_uses(body, &uses);
    Ok(())
}
