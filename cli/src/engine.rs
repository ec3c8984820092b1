//! Engines by name, and the limits that they are given.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artifact_engine::{CompileOptions, Engine, EngineError, ErrorKind, ExecuteOptions};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_engine_pjrt::{self as pjrt, DigestFolder, FileDigests, PjrtEngine, Plugin};
use artifact_engine_reference::ReferenceEngine;
use artifact_runtime::Session;

use crate::arguments::{EngineArguments, EngineName};
use crate::cache_folder;
use crate::failure::{Failure, Outcome};

/// What runs programs where nobody says another.
const DEFAULT: EngineName = EngineName::Cpu;

/// The one place that knows the engines.
fn make(name: &EngineName, arguments: &EngineArguments) -> Result<Arc<dyn Engine>, EngineError> {
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
        EngineName::Pjrt(path) => {
            let plugin = Plugin::open(&plugin_path(path.as_deref())?)?;
            let digests = cache_folder::of_environment().map(|folder| {
                let folder = DigestFolder::new(folder.join("plugin-digests"));
                Arc::new(folder) as Arc<dyn FileDigests>
            });
            let settings = pjrt::Settings {
                devices,
                digests,
                ..pjrt::Settings::default()
            };
            Ok(Arc::new(PjrtEngine::new(&plugin, &settings)?))
        }
    }
}

/// The plugin that the command line names, or the environment.
fn plugin_path(named: Option<&Path>) -> Result<PathBuf, EngineError> {
    const VARIABLE: &str = "ARTIFACT_PJRT_PLUGIN";
    #[expect(
        clippy::disallowed_methods,
        reason = "this binary reads the environment, once, and passes on what it says"
    )]
    let from_environment = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let path = named
        .map(Path::to_owned)
        .or_else(|| from_environment().map(PathBuf::from));
    path.ok_or_else(|| {
        let what = format!("no plugin is named: give `--engine pjrt:PATH`, or set {VARIABLE} to a path");
        EngineError::new(ErrorKind::Unavailable, what)
    })
}

/// A session with the engine that the command line names, or the environment.
pub(crate) fn session(arguments: &EngineArguments) -> Outcome<Session> {
    let name = match &arguments.engine {
        Some(name) => name.clone(),
        None => from_environment()?.unwrap_or(DEFAULT),
    };
    let engine = make(&name, arguments)
        .map_err(|error| Failure::engine(format!("the engine `{name}` is not available")).because(&error))?;
    let options = CompileOptions {
        partitions: arguments.devices,
        ..CompileOptions::for_engine(&*engine)
    };
    Ok(Session::with_options(engine, options))
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
    let named = value.to_str().and_then(|value| value.parse().ok());
    named.map(Some).ok_or_else(|| {
        let what = format!("{VARIABLE} is {value:?}, which is no engine");
        Failure::usage(what).hint(format!("the engines are {}", EngineName::KNOWN))
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
