//! The environment: every variable that this binary reads, and the one place that reads them. Empty means unset.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::{Failure, Outcome};

/// A variable.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// What it says, as a lowercase fragment.
    pub(crate) meaning: &'static str,
}

macro_rules! variables {
    ($($variable:ident = $name:literal: $meaning:literal,)*) => {
        $(pub(crate) const $variable: Variable = Variable { name: $name, meaning: $meaning };)*

        /// All of them. docs/environment.md describes each.
        pub(crate) const ALL: &[Variable] = &[$($variable),*];
    };
}

variables! {
    ENGINE = "ARTIFACT_ENGINE": "the engine where --engine names none",
    PJRT_PLUGIN = "ARTIFACT_PJRT_PLUGIN": "the plugin of the engine `pjrt`: a path, or a name",
    CACHE_DIR = "ARTIFACT_CACHE_DIR": "the folder of caches",
    XDG_CACHE_HOME = "XDG_CACHE_HOME": "where the folder of caches is, unless it is named",
    HOME = "HOME": "where that is otherwise, and packages of Python of this user",
    VIRTUAL_ENV = "VIRTUAL_ENV": "a Python environment, whose plugins are found by name",
    CONDA_PREFIX = "CONDA_PREFIX": "another one",
    PATH = "PATH": "where a Python is, whose plugins are found by name",
    SOURCE_DATE_EPOCH = "SOURCE_DATE_EPOCH": "the time that `export --created` records",
    XLA_FLAGS = "XLA_FLAGS": "options of XLA, which plugins read and which are part of their identity",
    LIBTPU_INIT_ARGS = "LIBTPU_INIT_ARGS": "options of the plugin for TPU, likewise",
    PLUGIN_LOG = "TF_CPP_MIN_LOG_LEVEL": "what PJRT plugins log: 0 everything, 3 what ends the process, which is the default here",
}

impl Variable {
    /// Its value.
    pub(crate) fn value(&self) -> Option<OsString> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this binary reads the environment here, and passes on what it says"
        )]
        std::env::var_os(self.name).filter(|value| !value.is_empty())
    }

    /// A path that does not depend on where the process runs; another one says nothing.
    pub(crate) fn absolute_path(&self) -> Option<PathBuf> {
        self.value().map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// What a text says.
    ///
    /// # Errors
    /// Usage, when it cannot be read as that: `what` it should have been, and what there is.
    pub(crate) fn parsed<T: std::str::FromStr>(&self, what: &str, known: &str) -> Outcome<Option<T>> {
        let Some(value) = self.value() else {
            return Ok(None);
        };
        let parsed = value.to_str().and_then(|value| value.parse().ok());
        parsed.map(Some).ok_or_else(|| {
            let name = self.name;
            Failure::usage(format!("{name} is {value:?}, which is no {what}")).hint(known)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_described() {
        let page = include_str!("../../docs/environment.md");
        for variable in ALL {
            assert!(
                page.contains(&format!("`{}`", variable.name)),
                "{}",
                variable.name
            );
        }
    }
}
