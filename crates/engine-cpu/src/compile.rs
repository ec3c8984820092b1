//! From a program to what is kept of it.

use std::sync::Arc;

use artifact_dims::{Expr, Range, Scope, Variable};
use artifact_engine::{ArgumentFact, CompileOptions, EngineError, ErrorKind, Plan, Program, ResidualValue};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_lower::{LowerOptions, lower};
use artifact_refine::{Fact, RefineError, RefineProblem, Refined, holds_sizes, refine};

use crate::error::{CpuError, CpuErrorKind};
use crate::loaded;
use crate::payload::{Body, Conditions, Payload};
use crate::target::Target;

/// What must be known before a program is compiled: elements of small integer arguments, where sizes depend on them.
pub(crate) fn residual(program: &Program) -> Result<Plan, EngineError> {
    let refined = refined(program)?;
    let mut plan = Plan::default();
    let Some(unknown) = refined.unknown.first() else {
        return Ok(plan);
    };
    for (index, fact) in program.arguments().iter().enumerate() {
        if fact.value.is_none() && holds_sizes(&fact.ty) {
            plan.values.push(ResidualValue {
                argument: index,
                reason: unknown.reason.clone(),
                source: unknown.source,
            });
        }
    }
    Ok(plan)
}

/// Compiles a program.
pub(crate) fn compile(
    program: &Program,
    target: Target,
    options: &CompileOptions,
) -> Result<Payload, EngineError> {
    let refined = refined(program)?;
    let entry = &refined.module.functions[refined.entry];
    let types = |parameters: &[artifact_ir::module::Parameter]| -> Vec<Type> {
        parameters.iter().map(|parameter| parameter.ty.clone()).collect()
    };
    let (arguments, results) = (types(&entry.arguments), types(&entry.results));
    let conditions = Conditions {
        obligations: refined.obligations.clone(),
        requirements: refined
            .requirements
            .iter()
            .map(|one| (one.constraint.clone(), one.source))
            .collect(),
    };
    let lower_options = LowerOptions {
        contract: options.contraction,
    };
    let body = match lower(&refined.module, refined.entry, &lower_options) {
        Ok(plan) => {
            let compiled = loaded::compile(plan, target).map_err(|error| engine_error(&error))?;
            Body::Plan(Box::new(compiled))
        }
        // Sizes that come of elements, and what only one run of the evaluator can do.
        Err(_) => Body::Whole {
            module: Box::new(refined.module.clone()),
            entry: refined.entry,
        },
    };
    Ok(Payload {
        arguments,
        results,
        conditions,
        body,
    })
}

/// The program with all that follows from its facts. Sizes without a name get one.
pub(crate) fn refined(program: &Program) -> Result<Refined, EngineError> {
    let mut scope = program.scope().clone();
    let mut count = 0;
    let facts: Vec<Fact> = program
        .arguments()
        .iter()
        .map(|fact| named(fact, &mut scope, &mut count))
        .collect::<Result<_, _>>()?;
    refine(program.module(), program.entry(), &facts, &scope).map_err(|error| stopped(&error))
}

fn named(fact: &ArgumentFact, scope: &mut Scope, count: &mut usize) -> Result<Fact, EngineError> {
    if let Some(value) = &fact.value {
        return Ok(Fact::of_literal(value));
    }
    let Type::Tensor(tensor) = &fact.ty else {
        return Ok(Fact::of_type(fact.ty.clone()));
    };
    let mut named = TensorType::clone(tensor);
    for dim in &mut named.dims {
        if *dim == Dim::Unknown {
            let variable = Variable::new(&format!("size{count}"));
            *count += 1;
            let refused = |error: &dyn std::fmt::Display| EngineError::invalid_input(error.to_string());
            let variable = variable.map_err(|error| refused(&error))?;
            *scope = with_range(scope, &variable).map_err(|error| refused(&error))?;
            *dim = Expr::variable(variable).into();
        }
    }
    Ok(Fact::of_type(Type::Tensor(Arc::new(named))))
}

/// A scope in which one more variable is a size, 0 among its values.
fn with_range(scope: &Scope, variable: &Variable) -> Result<Scope, artifact_dims::ScopeError> {
    let ranges = scope.ranges().map(|(name, range)| (name.clone(), *range));
    let ranges = ranges.chain([(variable.clone(), Range::at_least(0))]);
    let builder = ranges.fold(Scope::builder(), |scope, (name, range)| scope.range(name, range));
    let constraints = scope.constraints().iter().cloned();
    constraints
        .fold(builder, artifact_dims::ScopeBuilder::constraint)
        .build()
}

fn stopped(error: &RefineError) -> EngineError {
    let kind = match error.problem() {
        RefineProblem::Assertion(_) => ErrorKind::FailedCheck,
        _ => ErrorKind::InvalidInput,
    };
    EngineError::new(kind, error.to_string()).at(error.source_offset())
}

/// An error of ours as one of the port.
pub(crate) fn engine_error(error: &CpuError) -> EngineError {
    let kind = match error.kind() {
        CpuErrorKind::Input => ErrorKind::InvalidInput,
        CpuErrorKind::Memory => ErrorKind::MemoryLimit,
        CpuErrorKind::Time => ErrorKind::TimeLimit,
        CpuErrorKind::Unsupported => ErrorKind::Unsupported,
        CpuErrorKind::FailedCheck => ErrorKind::FailedCheck,
        CpuErrorKind::NoResult => ErrorKind::NoResult,
        CpuErrorKind::Internal => ErrorKind::Internal,
    };
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    EngineError::new(kind, text).at(error.source_offset())
}
