//! One digest for one program, in whatever kind of file it is.

use artifact_ir::digest::{ProgramDigest, program_digest};
use artifact_ir::module::Module;

use crate::error::ExportError;
use crate::hoist::hoist;
use crate::restore::restore;

/// The digest of a program with its large constants where [`restore`] puts them. An artifact keeps them apart and does not say
/// where they stood, which means nothing; a program without any has its [`program_digest`].
///
/// # Errors
/// Never for a verified module.
pub fn program_identity(module: &Module) -> Result<ProgramDigest, ExportError> {
    let entry = module
        .entry()
        .filter(|entry| module.functions[*entry].body.is_some());
    let Some(entry) = entry else {
        return Ok(program_digest(module));
    };
    let mut normal = module.clone();
    let constants = hoist(&mut normal, entry);
    if constants.is_empty() {
        return Ok(program_digest(module));
    }
    restore(&mut normal, entry, constants)?;
    Ok(program_digest(&normal))
}

#[cfg(test)]
mod tests {
    use artifact_stablehlo::parse::parse_module;

    use super::*;

    fn identity(text: &str) -> ProgramDigest {
        let module = parse_module(text).into_module().unwrap();
        program_identity(&module).unwrap()
    }

    /// Where a constant stands, and how often, is no part of it; what it is and where it is used are.
    #[test]
    fn places_of_large_constants() {
        let elements: String = (0..2048_u32)
            .map(|value| format!("{:08X}", value.swap_bytes()))
            .collect();
        let constant = format!("stablehlo.constant dense<\"0x{elements}\"> : tensor<2048xi32>");
        let program = |body: &str| {
            let body = body.replace("CONSTANT", &constant);
            let ty = "tensor<2048xi32>";
            let text = format!("func.func @main(%x: {ty}) -> {ty} {{\n{body}\nreturn %r : {ty}\n}}");
            identity(&text)
        };
        let early = program(
            "%c = CONSTANT
             %a = stablehlo.add %x, %x : tensor<2048xi32>
             %r = stablehlo.subtract %a, %c : tensor<2048xi32>",
        );
        let late = program(
            "%a = stablehlo.add %x, %x : tensor<2048xi32>
             %c = CONSTANT
             %r = stablehlo.subtract %a, %c : tensor<2048xi32>",
        );
        assert_eq!(early, late);
        let swapped = program(
            "%c = CONSTANT
             %a = stablehlo.add %x, %x : tensor<2048xi32>
             %r = stablehlo.subtract %c, %a : tensor<2048xi32>",
        );
        assert_ne!(early, swapped);
    }

    #[test]
    fn without_large_constants_it_is_the_digest() {
        let text = "func.func @main() -> tensor<2xi32> {
            %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32> return %0 : tensor<2xi32> }
            func.func @other() { return }";
        let module = parse_module(text).into_module().unwrap();
        assert_eq!(identity(text), program_digest(&module));
    }
}
