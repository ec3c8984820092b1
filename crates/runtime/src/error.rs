//! Why a program is not loaded, bound or called.

use artifact_dims::solve::Mismatches;
use artifact_engine::{BufferError, EngineError, ErrorKind};
use artifact_export::ExportError;
use artifact_ir::diagnostic::SourceOffset;
use artifact_refine::RefineError;

/// A program that this session cannot load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is damaged, of another version, or of a program that is wrong.
    #[error("the artifact cannot be loaded")]
    Artifact(#[from] ExportError),
    /// The program is not for the platform of the engine.
    #[error("the program is for the platforms {platforms:?}, and the engine is `{engine}`")]
    Platform {
        /// Those that it is for.
        platforms: Vec<String>,
        /// That of the engine.
        engine: String,
    },
    /// The program asks for the position of its platform in a way that no value answers.
    #[error("the position of the platform is a {0}, which is no integer")]
    PlatformType(String),
    /// A constant is too large.
    #[error("a constant cannot be passed on")]
    Constant(#[from] BufferError),
    /// The module and what is said of it do not fit.
    #[error("the program cannot be given to an engine")]
    Program(#[from] EngineError),
}

/// Sizes that a program cannot be called with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// They do not fit each other, the signature, or its constraints.
    #[error("the sizes do not fit: {0}")]
    Sizes(Mismatches),
    /// The program would compute a size in integers that are too narrow for it.
    #[error("{message}")]
    Obligation {
        /// Which.
        message: String,
        /// The operation.
        source_offset: SourceOffset,
    },
    /// What the program needs of its sizes cannot be found out.
    #[error("the program cannot be refined")]
    Refine(#[from] RefineError),
}

/// A call that gave no results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments have sizes that the program cannot be called with.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The engine refused the program or the arguments, or stopped.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl CallError {
    /// What a caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Bind(_) => ErrorKind::InvalidInput,
            Self::Engine(error) => error.kind(),
        }
    }
}
