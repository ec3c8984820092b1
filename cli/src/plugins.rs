//! PJRT plugins: which one is meant, and what engines of them are told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artifact_engine::{EngineError, ErrorKind};
use artifact_engine_pjrt::{
    DigestFolder, FileDigests, PLUGIN_NAMES, Plugin, Settings, cuda_tools, installed_plugins,
};

use crate::arguments::PluginName;
use crate::environment::{LIBTPU_INIT_ARGS, PATH, PJRT_PLUGIN, XLA_FLAGS};
use crate::python;

/// Opens the plugin that the command line names, or the environment.
pub(crate) fn open(named: Option<PluginName>) -> Result<Arc<Plugin>, EngineError> {
    let unavailable = |what: String| EngineError::new(ErrorKind::Unavailable, what);
    match named.or_else(of_environment) {
        Some(PluginName::At(path)) => Ok(Plugin::open(&path)?),
        Some(PluginName::Installed(name)) => {
            let folders = python::package_folders();
            let found = installed_plugins(&folders)
                .into_iter()
                .find(|found| found.name == name);
            let found = found.ok_or_else(|| {
                let count = folders.len();
                unavailable(format!(
                    "no Python package has installed a plugin for {name}, in {count} folders that `artifact doctor` lists"
                ))
            })?;
            Ok(Plugin::open(&found.path)?)
        }
        None => Err(unavailable(format!(
            "no plugin is named: give `--engine pjrt:PATH` or `--engine pjrt:NAME`, or set {} to one of both",
            PJRT_PLUGIN.name
        ))),
    }
}

/// The plugin that the environment names.
pub(crate) fn of_environment() -> Option<PluginName> {
    PJRT_PLUGIN.value().map(|value| PathBuf::from(value).into())
}

/// How an engine of a plugin is made here. Digests of plugins are remembered in the folder of caches.
pub(crate) fn settings(plugin: &Plugin, devices: u32, cache: Option<&Path>) -> Settings {
    let digests = cache.map(|folder| {
        let folder = DigestFolder::new(folder.join("plugin-digests"));
        Arc::new(folder) as Arc<dyn FileDigests>
    });
    let variables = [XLA_FLAGS, LIBTPU_INIT_ARGS].into_iter().filter_map(|variable| {
        let value = variable.value()?.to_string_lossy().into_owned();
        Some((variable.name.to_owned(), value))
    });
    let tools = match plugin.attributes().contains_key("cuda_version") {
        true => {
            let path = PATH.value().unwrap_or_default();
            cuda_tools(plugin.path(), &std::env::split_paths(&path).collect::<Vec<_>>())
        }
        false => BTreeMap::new(),
    };
    Settings {
        devices,
        digests,
        environment: variables.collect(),
        tools,
        ..Settings::default()
    }
}

/// What to do where a plugin cannot be used.
pub(crate) fn hint(named: Option<&PluginName>) -> String {
    let from_variable = of_environment();
    let is_word = |path: &Path| path.components().count() == 1 && !path.exists();
    match named.or(from_variable.as_ref()) {
        Some(PluginName::At(path)) if is_word(path) => {
            let names = PLUGIN_NAMES.join(", ");
            let source = named.map_or(PJRT_PLUGIN.name, |_| "it");
            format!("{source} is taken for a path; the names of plugins are {names}")
        }
        _ => "`artifact doctor` lists what is there, and why it cannot be used".to_owned(),
    }
}
