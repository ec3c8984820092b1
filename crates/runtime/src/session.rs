//! What programs are loaded into.

use std::path::Path;
use std::sync::Arc;

use artifact_engine::{CompileOptions, Engine};
use artifact_export::{ExportError, Interface, Loaded};

use crate::definition::Definition;
use crate::error::LoadError;
use crate::program::Program;

/// An engine and how it compiles. Cloning is cheap, and clones are the same session.
#[derive(Clone, Debug)]
pub struct Session {
    engine: Arc<dyn Engine>,
    options: Arc<CompileOptions>,
}

impl Session {
    /// A session that compiles as the engine does unless told otherwise.
    #[must_use]
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        let options = CompileOptions::for_engine(&*engine);
        Self::with_options(engine, options)
    }

    /// A session that compiles so.
    #[must_use]
    pub fn with_options(engine: Arc<dyn Engine>, options: CompileOptions) -> Self {
        Self {
            engine,
            options: Arc::new(options),
        }
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// How it compiles.
    #[must_use]
    pub fn options(&self) -> &CompileOptions {
        &self.options
    }

    /// Loads an artifact. Its constants stay in the file, which must not change while the program lives.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(&self, path: &Path) -> Result<Program, LoadError> {
        self.load_artifact(&Loaded::open(path)?)
    }

    /// Loads an artifact that is in memory.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load_bytes(&self, bytes: Vec<u8>) -> Result<Program, LoadError> {
        self.load_artifact(&Loaded::from_bytes(bytes)?)
    }

    /// Loads an artifact that is open.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load_artifact(&self, loaded: &Loaded) -> Result<Program, LoadError> {
        let platform = self.engine.platform();
        let runs_on_any = loaded.interface().is_some_and(Interface::runs_on_any_platform);
        if !runs_on_any {
            let reader = artifact_export::reader().with_platforms([platform]);
            reader.check(loaded.requirements()).map_err(ExportError::from)?;
        }
        let definition = Definition::from(loaded).on_platform(loaded.platforms(), runs_on_any, platform)?;
        self.program(definition)
    }

    /// A program that was not loaded from an artifact.
    ///
    /// # Errors
    /// When its parts do not fit.
    pub fn program(&self, definition: Definition) -> Result<Program, LoadError> {
        Program::new(Arc::clone(&self.engine), Arc::clone(&self.options), definition)
    }
}
