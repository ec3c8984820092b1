//! Symbols, and the signature of a function against its body.

use std::collections::HashSet;

use super::body::BodyCheck;
use super::{Findings, sharding, types};
use crate::diagnostic::Diagnostic;
use crate::infer::quoted;
use crate::module::{Body, Function, Module};
use crate::types::Type;

/// Checks that no symbol is defined twice.
pub(super) fn check_symbols(module: &Module, findings: &mut Findings) {
    let mut seen = HashSet::new();
    let foreign = module
        .foreign
        .iter()
        .filter_map(|global| Some((global.symbol.as_ref()?, global.source)));
    let functions = module
        .functions
        .iter()
        .map(|(_, function)| (&function.name, function.source));
    let meshes = module.meshes.iter().map(|(_, mesh)| (&mesh.name, mesh.source));
    for (symbol, source) in functions.chain(meshes).chain(foreign) {
        if !seen.insert(symbol) {
            findings.report(Diagnostic::new(
                format!("redefinition of symbol named '{symbol}'"),
                source,
            ));
        }
    }
}

/// Checks a function and everything in it; calls too when the module is given.
pub(crate) fn check(module: Option<&Module>, function: &Function, findings: &mut Findings) {
    let report = |message: String| Diagnostic {
        message: format!("'func.func' op @{} {message}", function.name),
        source: function.source,
        location: function.location,
    };
    for (role, parameters) in [("argument", &function.arguments), ("result", &function.results)] {
        for (index, parameter) in parameters.iter().enumerate() {
            if let Err(error) = types::check(&parameter.ty) {
                findings.report(report(format!("{role} #{index}: {error}")));
            }
            if let Err(error) = sharding::check_parameter(parameter, module) {
                findings.report(report(format!("{role} {index} - {error}")));
            }
        }
    }
    let Some(body) = &function.body else {
        return;
    };
    if let Err(message) = check_entry(function, body) {
        findings.report(report(message));
        return;
    }
    BodyCheck::new(module, function, body, findings).run();
}

/// Checks that the outermost region has one block, with the function's arguments.
fn check_entry(function: &Function, body: &Body) -> Result<(), String> {
    let Some(region) = body.regions.get(body.root) else {
        return Err("has no outermost region".to_owned());
    };
    let [entry] = region.blocks.as_slice() else {
        return Err(format!("must have one block, but has {}", region.blocks.len()));
    };
    let Some(block) = body.blocks.get(*entry) else {
        return Err("has no outermost block".to_owned());
    };
    let arguments: Option<Vec<Type>> = block
        .arguments
        .iter()
        .map(|value| body.values.get(*value).map(|value| value.ty.clone()))
        .collect();
    let arguments = arguments.ok_or("has an argument that is not a value of its body")?;
    let declared = function.ty().inputs;
    if arguments == declared {
        Ok(())
    } else {
        Err(format!(
            "has arguments of types {}, but its block has {}",
            quoted(&declared),
            quoted(&arguments)
        ))
    }
}
