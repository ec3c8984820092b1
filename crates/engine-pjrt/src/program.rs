//! From a program to bytecode that a plugin reads.

use std::sync::Arc;

use artifact_chlo::{Form, legalize};
use artifact_engine::{
    ArgumentFact, EngineError, ErrorKind, Plan, Program, ResidualDimension, ResidualValue,
};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{FunctionId, Module, Visibility};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Fact, RefineError, RefineProblem, Refined, holds_sizes, refine};
use artifact_stablehlo::bytecode::{self, WriteOptions};
use artifact_stablehlo::vhlo::Version;

use crate::expectations::{self, Expectations};
use crate::named_value::NamedValue;
use crate::plugin::Plugin;

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
    pub(crate) arguments: Vec<Arc<TensorType>>,
    pub(crate) results: Vec<Arc<TensorType>>,
    pub(crate) expectations: Option<Expectations>,
}

/// Makes the portable bytecode of a static program, in the version that a plugin reads.
///
/// # Errors
/// Invalid input where a size is open, unsupported for values that are no arrays, and for what the version does not have.
pub(crate) fn portable(program: &Program, plugin: &Plugin) -> Result<Portable, EngineError> {
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
    make_main(&mut module, entry)?;
    let own = module.functions[entry].results.len();
    let expectations = expectations::take(&mut module, entry)?;
    let function = &module.functions[entry];
    let types = |parameters: &[artifact_ir::module::Parameter]| -> Result<Vec<_>, EngineError> {
        parameters
            .iter()
            .map(|parameter| static_array(&parameter.ty))
            .collect()
    };
    let (arguments, results) = (types(&function.arguments)?, types(&function.results[..own])?);
    let version = version(plugin);
    let no_form = "the program has no form in the portable bytecode that the plugin reads";
    legalize(
        &mut module,
        Form::for_vhlo(version.major.into(), version.minor.into()),
    )
    .map_err(|error| EngineError::unsupported(no_form).at(error.source).because(error))?;
    let options = WriteOptions {
        version,
        ..WriteOptions::default()
    };
    let bytecode = bytecode::write(&module, &options)
        .map_err(|error| EngineError::unsupported(no_form).because(error))?;
    Ok(Portable {
        bytecode: bytecode.to_vec(),
        arguments,
        results,
        expectations,
    })
}

/// XLA starts with the public function `main`.
///
/// # Errors
/// Unsupported when another function has the name: who calls that one calls it by the name.
fn make_main(module: &mut Module, entry: FunctionId) -> Result<(), EngineError> {
    const MAIN: &str = "main";
    if &*module.functions[entry].name != MAIN && !module.rename_function(entry, MAIN) {
        let what = "XLA starts with the function `main`, and the program has another one of that name";
        return Err(EngineError::unsupported(what));
    }
    module.functions[entry].visibility = Visibility::Public;
    Ok(())
}

fn static_array(ty: &Type) -> Result<Arc<TensorType>, EngineError> {
    match ty {
        Type::Tensor(tensor) if tensor.is_static() => Ok(Arc::clone(tensor)),
        Type::Tensor(_) => Err(EngineError::invalid_input(format!(
            "XLA compiles static programs, and {ty} is open"
        ))),
        _ => Err(EngineError::unsupported(format!(
            "a value of type {ty} cannot be passed through a plugin"
        ))),
    }
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
