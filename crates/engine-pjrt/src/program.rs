//! From a program to bytecode that a plugin reads.

use artifact_chlo::{Form, legalize};
use artifact_engine::{
    ArgumentFact, EngineError, ErrorKind, Plan, Program, ResidualDimension, ResidualValue,
};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Module, Operation};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::Dim;
use artifact_refine::{Fact, RefineError, RefineProblem, Refined, holds_sizes, refine};
use artifact_stablehlo::bytecode::{self, WriteOptions};
use artifact_stablehlo::vhlo::Version;

use crate::expectations::{self, Expectations};
use crate::interface::Interface;
use crate::named_value::NamedValue;
use crate::plugin::Plugin;
use crate::{defects, entry};

/// XLA compiles static programs: every size must be a number, and what sizes are computed from must be known.
pub(crate) fn plan(program: &Program) -> Result<Plan, EngineError> {
    let mut plan = Plan::default();
    for (index, fact) in program.arguments().iter().enumerate() {
        let dims = fact.ty.as_tensor().map_or(&[][..], |tensor| &tensor.dims);
        if dims.contains(&Dim::Unknown) {
            let what = format!("a size of argument {index} has no name, and XLA needs to know it");
            return Err(EngineError::unsupported(what));
        }
        let expressions = dims.iter().filter_map(Dim::expression);
        for variable in expressions.flat_map(|size| size.variables().into_iter().collect::<Vec<_>>()) {
            if plan.dimensions.iter().all(|known| known.variable != variable) {
                plan.dimensions.push(ResidualDimension {
                    variable,
                    reason: "XLA compiles programs of known sizes".to_owned(),
                    source: SourceOffset::NONE,
                });
            }
        }
    }
    plan.values = residual_values(program)?;
    Ok(plan)
}

fn residual_values(program: &Program) -> Result<Vec<ResidualValue>, EngineError> {
    let refined = refined(program)?;
    let Some(unknown) = refined.unknown.first() else {
        return Ok(Vec::new());
    };
    let arguments = program.arguments().iter().enumerate();
    let may_be_sizes = arguments.filter(|(_, fact)| fact.value.is_none() && holds_sizes(&fact.ty));
    let residual = |(argument, _): (usize, &ArgumentFact)| ResidualValue {
        argument,
        reason: unknown.reason.clone(),
        source: unknown.source,
    };
    Ok(may_be_sizes.map(residual).collect())
}

fn refined(program: &Program) -> Result<Refined, EngineError> {
    let fact = |fact: &ArgumentFact| match &fact.value {
        Some(value) => Fact::of_literal(value),
        None => Fact::of_type(fact.ty.clone()),
    };
    let facts: Vec<Fact> = program.arguments().iter().map(fact).collect();
    refine(program.module(), program.entry(), &facts, program.scope()).map_err(|error| stopped(&error))
}

fn stopped(error: &RefineError) -> EngineError {
    let kind = match error.problem() {
        RefineProblem::Assertion(_) => ErrorKind::FailedCheck,
        _ => ErrorKind::InvalidInput,
    };
    EngineError::new(kind, error.to_string()).at(error.source_offset())
}

/// A static program for a plugin.
#[derive(Debug)]
pub(crate) struct Portable {
    pub(crate) bytecode: Vec<u8>,
    pub(crate) interface: Interface,
    pub(crate) expectations: Option<Expectations>,
    /// Where each target of a custom call, and each operation, stands first.
    places: Vec<(String, SourceOffset)>,
}

impl Portable {
    /// Where what a message names stands: a plugin says what it does not have, and not where.
    pub(crate) fn place(&self, message: &str) -> Option<SourceOffset> {
        let mut named = self.places.iter().filter(|(name, _)| is_named(message, name));
        named.next().map(|(_, source)| *source)
    }
}

/// Whether a text has a name as a word of its own.
fn is_named(message: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_.".contains(c);
    message.match_indices(name).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let mut after = message[at + name.len()..].chars();
        // A name may end a sentence.
        let ends = match (after.next(), after.next()) {
            (Some('.'), next) => !next.is_some_and(is_part),
            (next, _) => !next.is_some_and(is_part),
        };
        !before.is_some_and(is_part) && ends
    })
}

/// Targets of custom calls before names of operations, since they say more.
fn places(module: &Module) -> Vec<(String, SourceOffset)> {
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    let ops: Vec<_> = bodies
        .flat_map(|body| body.ops.iter().map(|(_, op)| op))
        .collect();
    let target = |op: &&Operation| match &op.op {
        Op::Control(Control::CustomCall(call)) => {
            let target = call.call_target_name.as_str().filter(|name| !name.is_empty())?;
            Some((target.to_owned(), op.source))
        }
        _ => None,
    };
    let targets = ops.iter().filter_map(target);
    let mut places: Vec<(String, SourceOffset)> = targets.collect();
    for op in ops {
        let name = op.op.name();
        if places.iter().all(|(known, _)| known != name) {
            places.push((name.to_owned(), op.source));
        }
    }
    places
}

/// Makes the portable bytecode of a static program for so many devices of a platform, in the version that a plugin reads.
///
/// # Errors
/// Invalid input where a size is open, unsupported for values that are no arrays, and for what the version does not have.
pub(crate) fn portable(
    program: &Program,
    plugin: &Plugin,
    platform: &str,
    partitions: u32,
) -> Result<Portable, EngineError> {
    let Refined {
        mut module,
        entry,
        unknown,
        ..
    } = refined(program)?;
    if let Some(unknown) = unknown.first() {
        let what = format!(
            "XLA compiles static programs, and {} is open: {}",
            unknown.ty, unknown.reason
        );
        return Err(EngineError::invalid_input(what).at(unknown.source));
    }
    defects::refuse(&module, platform)?;
    let interface = Interface::of(&module, entry, partitions)?;
    entry::make_main(&mut module, entry)?;
    let expectations = expectations::take(&mut module, entry)?;
    let entry = entry::of_arrays(&mut module, entry);
    if partitions > 1 {
        entry::fix_shardings(&mut module, entry, partitions);
    }
    Ok(Portable {
        places: places(&module),
        bytecode: bytecode_for(plugin, &mut module)?,
        interface,
        expectations,
    })
}

fn bytecode_for(plugin: &Plugin, module: &mut Module) -> Result<Vec<u8>, EngineError> {
    let version = version(plugin);
    let no_form = "the program has no form in the portable bytecode that the plugin reads";
    legalize(module, Form::for_vhlo(version.major.into(), version.minor.into()))
        .map_err(|error| EngineError::unsupported(no_form).at(error.source).because(error))?;
    let options = WriteOptions {
        version,
        ..WriteOptions::default()
    };
    let bytecode = bytecode::write(module, &options)
        .map_err(|error| EngineError::unsupported(no_form).because(error))?;
    Ok(bytecode.to_vec())
}

/// The version that a plugin says it reads; the newest that is known here where it says none, or a newer one.
fn version(plugin: &Plugin) -> Version {
    let said = match plugin.attributes().get("stablehlo_current_version") {
        Some(NamedValue::Numbers(parts)) => parts.as_slice(),
        _ => &[],
    };
    let part = |at: usize| said.get(at).and_then(|part| u16::try_from(*part).ok());
    match (part(0), part(1), part(2)) {
        (Some(major), Some(minor), Some(patch)) => Version::new(major, minor, patch).min(Version::CURRENT),
        _ => Version::CURRENT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        let named = |message, name| is_named(message, name);
        assert!(named(
            "No FFI handler registered for lapack_spotrf_ffi on a platform Host",
            "lapack_spotrf_ffi"
        ));
        assert!(named("no custom call to nope.", "nope"));
        assert!(named("'stablehlo.sort' failed", "stablehlo.sort"));
        assert!(!named("stablehlo.sort_by failed", "stablehlo.sort"));
        assert!(!named("my_nope", "nope"));
        assert!(!named("a nope.x", "nope"));
    }
}
