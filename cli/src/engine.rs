//! Engines by name, and the limits that they are given.

use std::path::Path;
use std::sync::Arc;

use artifact_engine::{CompileOptions, Engine, EngineError, ErrorKind, ExecuteOptions};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_engine_pjrt::PjrtEngine;
use artifact_engine_reference::ReferenceEngine;
use artifact_runtime::Session;

use crate::arguments::{EngineArguments, EngineName, PluginName};
use crate::environment::ENGINE;
use crate::failure::{Failure, Outcome};
use crate::{cache_folder, plugins};

/// What runs programs where nobody says another.
const DEFAULT: EngineName = EngineName::Cpu;

/// The one place that knows the engines.
fn make(
    name: &EngineName,
    arguments: &EngineArguments,
    cache: Option<&Path>,
) -> Result<Arc<dyn Engine>, EngineError> {
    let EngineArguments {
        perf_map, devices, ..
    } = *arguments;
    match name {
        EngineName::Cpu | EngineName::Reference if devices > 1 => Err(EngineError::unsupported(
            "it has one device, and --devices asks for more",
        )),
        EngineName::Cpu => {
            let settings = Settings {
                perf_map,
                ..Settings::default()
            };
            Ok(Arc::new(CpuEngine::new(&settings)?))
        }
        EngineName::Reference | EngineName::Pjrt(_) if perf_map => Err(EngineError::unsupported(
            "it compiles no kernels of ours, which --perf-map would name",
        )),
        EngineName::Reference => Ok(Arc::new(ReferenceEngine::new()?)),
        EngineName::Pjrt(named) => {
            let plugin = plugins::open(named.clone())?;
            let settings = plugins::settings(&plugin, devices, cache);
            Ok(Arc::new(PjrtEngine::new(&plugin, &settings)?))
        }
    }
}

/// An engine to compile for a target with: a plugin that lacks a device may compile for one by its name.
pub(crate) fn compiler(name: &EngineName, target: Option<&str>, devices: u32) -> Outcome<Arc<dyn Engine>> {
    let cache = cache_folder::of_environment()?;
    let made = || -> Result<Arc<dyn Engine>, EngineError> {
        match name {
            EngineName::Cpu => Ok(Arc::new(CpuEngine::new(&Settings::default())?)),
            EngineName::Reference => Ok(Arc::new(ReferenceEngine::new()?)),
            EngineName::Pjrt(named) => {
                let plugin = plugins::open(named.clone())?;
                let settings = plugins::settings(&plugin, devices, cache.as_deref());
                match PjrtEngine::new(&plugin, &settings) {
                    Err(error) if error.kind() == ErrorKind::Unavailable && target.is_some() => {
                        // Why there is no device says more than why none can be made up.
                        Ok(Arc::new(
                            PjrtEngine::compiler(&plugin, &settings).map_err(|_| error)?,
                        ))
                    }
                    made => Ok(Arc::new(made?)),
                }
            }
        }
    };
    made().map_err(|error| {
        let failure = unavailable(name, &error);
        match (name, target) {
            (EngineName::Pjrt(Some(PluginName::Installed("cuda"))), None) => {
                failure.hint("it compiles for GPUs that are not there: --target h100")
            }
            _ => failure,
        }
    })
}

fn unavailable(name: &EngineName, error: &EngineError) -> Failure {
    let failure = Failure::engine(format!("the engine `{name}` is not available")).because(error);
    match name {
        EngineName::Pjrt(named) => failure.hint(plugins::hint(named.as_ref())),
        _ => failure,
    }
}

/// The engine of a run for which nobody names one.
pub(crate) fn chosen() -> Outcome<EngineName> {
    let named = ENGINE.parsed("engine", &format!("the engines are {}", EngineName::KNOWN))?;
    Ok(named.unwrap_or(DEFAULT))
}

/// A session with the engine that the command line names, or the environment.
pub(crate) fn session(arguments: &EngineArguments) -> Outcome<Session> {
    let name = match &arguments.engine {
        Some(name) => name.clone(),
        None => chosen()?,
    };
    let cache = cache_folder::of_environment()?;
    let made = make(&name, arguments, cache.as_deref());
    let engine = made.map_err(|error| unavailable(&name, &error))?;
    let options = CompileOptions {
        partitions: arguments.devices,
        ..CompileOptions::for_engine(&*engine)
    };
    Ok(Session::with_options(engine, options))
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
        let hint = match engine.features().stops_calls {
            true => "bound it with --time-limit",
            false => "bound the time of the whole process, as `timeout` does",
        };
        return Err(Failure::engine(what).hint(hint));
    }
    Ok(ExecuteOptions {
        memory_limit_bytes: Some(arguments.memory_limit),
        time_limit: arguments.time_limit,
        step_limit: arguments.max_steps.or(steps.filter(|_| counts_steps)),
        ..ExecuteOptions::default()
    })
}
