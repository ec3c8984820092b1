//! Engines by name, and the limits that they are given.

use std::sync::Arc;

use artifact_engine::{Engine, EngineError, ExecuteOptions};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_engine_reference::ReferenceEngine;
use artifact_runtime::Session;
use clap::ValueEnum;

use crate::arguments::{EngineArguments, EngineName};
use crate::failure::{Failure, Outcome};

/// What runs programs where nobody says another: the first that help lists.
const DEFAULT: EngineName = EngineName::Cpu;

/// The one place that knows the engines.
fn make(name: EngineName, perf_map: bool) -> Result<Arc<dyn Engine>, EngineError> {
    match name {
        EngineName::Cpu => {
            let settings = Settings {
                perf_map,
                ..Settings::default()
            };
            Ok(Arc::new(CpuEngine::new(&settings)?))
        }
        EngineName::Reference if perf_map => Err(EngineError::unsupported(
            "it compiles no kernels, which --perf-map would name",
        )),
        EngineName::Reference => Ok(Arc::new(ReferenceEngine::new()?)),
    }
}

/// A session with the engine that the command line names, or the environment.
pub(crate) fn session(arguments: &EngineArguments) -> Outcome<Session> {
    let name = match arguments.engine {
        Some(name) => name,
        None => from_environment()?.unwrap_or(DEFAULT),
    };
    let engine = make(name, arguments.perf_map).map_err(|error| {
        let name = name
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned());
        Failure::engine(format!("the engine `{name}` is not available")).because(&error)
    })?;
    Ok(Session::new(engine))
}

/// What `ARTIFACT_ENGINE` says; a variable that is empty says nothing.
fn from_environment() -> Outcome<Option<EngineName>> {
    const VARIABLE: &str = "ARTIFACT_ENGINE";
    #[expect(
        clippy::disallowed_methods,
        reason = "this binary reads the environment, once, and passes on what it says"
    )]
    let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let named = value
        .to_str()
        .and_then(|value| EngineName::from_str(value, false).ok());
    named.map(Some).ok_or_else(|| {
        let known = EngineName::value_variants().iter();
        let known: Vec<String> = known
            .filter_map(|name| Some(format!("`{}`", name.to_possible_value()?.get_name())))
            .collect();
        let what = format!("{VARIABLE} is {value:?}, which is no engine");
        Failure::usage(what).hint(format!("the engines are {}", known.join(", ")))
    })
}

/// The limits of each call. `steps` are taken at most where nobody says how many, by engines that count them.
pub(crate) fn limits(
    arguments: &EngineArguments,
    session: &Session,
    steps: Option<u64>,
) -> Outcome<ExecuteOptions> {
    let engine = session.engine();
    let counts_steps = engine.features().counts_steps;
    if arguments.max_steps.is_some() && !counts_steps {
        let what = format!("the engine `{}` counts no steps", engine.name());
        return Err(Failure::engine(what).hint("bound it with --time-limit"));
    }
    Ok(ExecuteOptions {
        memory_limit_bytes: Some(arguments.memory_limit),
        time_limit: arguments.time_limit,
        step_limit: arguments.max_steps.or(steps.filter(|_| counts_steps)),
        ..ExecuteOptions::default()
    })
}
