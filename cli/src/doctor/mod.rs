//! `artifact doctor`: what there is to run programs with, and what the environment says.

mod probe;
mod text;

use artifact_engine::{Engine as _, EngineError, TargetSupport};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_engine_pjrt::installed_plugins;
use serde_json::{Value, json};

use crate::arguments::{DoctorArguments, EngineName, PluginName};
use crate::environment::{self, ENGINE};
use crate::failure::{Exit, Failure, Outcome};
use crate::{cache_folder, engine, output, plugins, python};

use probe::Plugin;

/// Looks around. Exit code 6 where the engine that the environment chooses is not there.
pub(crate) fn execute(options: &DoctorArguments) -> Outcome<Exit> {
    if let Some(path) = &options.probe {
        return probe::answer(path);
    }
    let report = Report::new()?;
    match options.json {
        true => {
            let text = serde_json::to_string_pretty(&report.json());
            let text = text.map_err(|error| Failure::internal(error.to_string()))?;
            output::json(&format!("{text}\n"))?;
        }
        false => output::text(&text::of(&report))?,
    }
    match report.chosen {
        Ok(_) if report.is_chosen_there() => Ok(Exit::Ok),
        Ok(_) => Ok(Exit::Engine),
        // The one object says it.
        Err(_) if options.json => Ok(Exit::Usage),
        // What the environment says wrongly is told after what there is.
        Err(wrong) => Err(wrong),
    }
}

/// What was found.
struct Report {
    /// The engine that runs where nobody names another, or why the environment says none.
    chosen: Outcome<EngineName>,
    cpu: Result<Vec<TargetSupport>, EngineError>,
    plugins: Vec<Plugin>,
    /// The folders of Python packages that were looked through.
    folders: Vec<std::path::PathBuf>,
    cache: Option<std::path::PathBuf>,
}

impl Report {
    fn new() -> Outcome<Self> {
        let (chosen, folders) = (engine::chosen(), python::package_folders());
        let of_engine = match &chosen {
            Ok(EngineName::Pjrt(named)) => named.clone(),
            _ => None,
        };
        let mut plugins: Vec<Plugin> = Vec::new();
        // What is named first, which may be installed too.
        for named in [of_engine, plugins::of_environment()].into_iter().flatten() {
            match named {
                PluginName::At(path) if plugins.iter().all(|known| known.path != path) => {
                    plugins.push(Plugin::probed(None, path));
                }
                _ => {}
            }
        }
        for found in installed_plugins(&folders) {
            let same = |known: &Plugin| known.path.canonicalize().ok() == found.path.canonicalize().ok();
            match plugins.iter_mut().find(|known| same(known)) {
                Some(known) => known.name = Some(found.name),
                None => plugins.push(Plugin::probed(Some(found.name), found.path)),
            }
        }
        Ok(Self {
            chosen,
            cpu: CpuEngine::new(&Settings::default()).map(|engine| engine.targets()),
            plugins,
            folders,
            cache: cache_folder::of_environment()?,
        })
    }

    /// Whether the engine that runs where nobody names another is one that was found to work.
    fn is_chosen_there(&self) -> bool {
        let is_usable = |plugin: &Plugin| plugin.found.is_ok();
        let Ok(chosen) = &self.chosen else {
            return false;
        };
        match chosen {
            EngineName::Cpu => self.cpu.is_ok(),
            EngineName::Reference => true,
            EngineName::Pjrt(name) => {
                let from_environment = plugins::of_environment();
                match name.clone().or(from_environment) {
                    Some(PluginName::Installed(name)) => {
                        let first = self.plugins.iter().find(|plugin| plugin.name == Some(name));
                        first.is_some_and(is_usable)
                    }
                    Some(PluginName::At(path)) => {
                        let named = self.plugins.iter().find(|plugin| plugin.path == path);
                        named.is_some_and(is_usable)
                    }
                    None => false,
                }
            }
        }
    }

    fn json(&self) -> Value {
        let cpu = match &self.cpu {
            Ok(targets) => {
                let target = |support: &TargetSupport| json!({"target": support.target.to_string(), "missing": support.missing});
                json!({"targets": targets.iter().map(target).collect::<Vec<_>>()})
            }
            Err(error) => json!({"unusable": error.to_string()}),
        };
        let plugins: Vec<Value> = self.plugins.iter().map(Plugin::json).collect();
        let variables = environment::ALL.iter().map(|variable| {
            let value = variable.value();
            (
                variable.name.to_owned(),
                value
                    .map(|value| value.display().to_string().into())
                    .unwrap_or_default(),
            )
        });
        json!({
            "engine": self.chosen.as_ref().ok().map(ToString::to_string),
            "engine_from": if ENGINE.value().is_some() { ENGINE.name } else { "default" },
            "usable": self.is_chosen_there(),
            "cpu": cpu,
            "plugins": plugins,
            "python_folders": self.folders,
            "cache": self.cache,
            "environment": variables.collect::<serde_json::Map<String, Value>>(),
        })
    }
}
