//! What can go wrong in the engine.

use artifact_cpu_routine::error::RoutineError;
use artifact_dims::EvaluateError;
use artifact_eval::EvalError;
use artifact_ir::diagnostic::SourceOffset;

use crate::kernel::codegen::CodegenError;

/// An error of the engine, with the operation of the program that it belongs to, where there is one.
#[derive(Debug)]
pub struct CpuError {
    problem: Problem,
    source: SourceOffset,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{0}")]
    Bounds(&'static str),
    #[error("{0}")]
    Input(String),
    #[error("a size of the program cannot be computed")]
    Size(#[source] EvaluateError),
    #[error("code cannot be generated")]
    Codegen(#[source] CodegenError),
    #[error("a routine failed")]
    Routine(#[source] RoutineError),
    #[error("{0}")]
    Evaluation(EvalError),
    #[error("there is no memory for {0} bytes")]
    Memory(u64),
    #[error("the run was stopped: {0}")]
    Stopped(&'static str),
    #[error("executable memory cannot be had")]
    Code(#[source] std::io::Error),
    #[error("a part of a compiled module is missing or wrong: {0}")]
    Module(&'static str),
}

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuErrorKind {
    /// Give other inputs, or another program.
    Input,
    /// Give it more memory.
    Memory,
    /// It ran for as long as it was allowed to.
    Time,
    /// It asks for what the engine does not do.
    Unsupported,
    /// The program's own check failed.
    FailedCheck,
    /// What the program computes has no result.
    NoResult,
    /// A defect of the engine.
    Internal,
}

impl CpuError {
    pub(crate) const fn bounds(what: &'static str) -> Self {
        Self::of(Problem::Bounds(what))
    }

    pub(crate) fn input(what: impl Into<String>) -> Self {
        Self::of(Problem::Input(what.into()))
    }

    pub(crate) const fn memory(bytes: u64) -> Self {
        Self::of(Problem::Memory(bytes))
    }

    pub(crate) const fn stopped(why: &'static str) -> Self {
        Self::of(Problem::Stopped(why))
    }

    pub(crate) const fn module(what: &'static str) -> Self {
        Self::of(Problem::Module(what))
    }

    const fn of(problem: Problem) -> Self {
        Self {
            problem,
            source: SourceOffset::NONE,
        }
    }

    pub(crate) fn at(mut self, source: SourceOffset) -> Self {
        if self.source == SourceOffset::NONE {
            self.source = source;
        }
        self
    }

    /// The operation of the program.
    #[must_use]
    pub const fn source_offset(&self) -> SourceOffset {
        self.source
    }

    /// What to do about it.
    #[must_use]
    pub fn kind(&self) -> CpuErrorKind {
        use artifact_eval::EvalErrorKind;
        match &self.problem {
            Problem::Input(_) | Problem::Size(_) => CpuErrorKind::Input,
            Problem::Memory(_) | Problem::Routine(RoutineError::Memory(_)) => CpuErrorKind::Memory,
            Problem::Stopped(_) => CpuErrorKind::Time,
            Problem::Routine(RoutineError::Stopped) => CpuErrorKind::Time,
            Problem::Evaluation(error) => match error.kind() {
                EvalErrorKind::Unsupported => CpuErrorKind::Unsupported,
                EvalErrorKind::FailedCheck => CpuErrorKind::FailedCheck,
                EvalErrorKind::Steps => CpuErrorKind::Time,
                EvalErrorKind::Bytes => CpuErrorKind::Memory,
                EvalErrorKind::Stopped => CpuErrorKind::Time,
                EvalErrorKind::Runtime => CpuErrorKind::NoResult,
                EvalErrorKind::InvalidInput => CpuErrorKind::Input,
            },
            Problem::Bounds(_)
            | Problem::Codegen(_)
            | Problem::Routine(_)
            | Problem::Code(_)
            | Problem::Module(_) => CpuErrorKind::Internal,
        }
    }
}

impl std::fmt::Display for CpuError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for CpuError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.problem)
    }
}

impl From<EvaluateError> for CpuError {
    fn from(error: EvaluateError) -> Self {
        Self::of(Problem::Size(error))
    }
}

impl From<CodegenError> for CpuError {
    fn from(error: CodegenError) -> Self {
        Self::of(Problem::Codegen(error))
    }
}

impl From<RoutineError> for CpuError {
    fn from(error: RoutineError) -> Self {
        Self::of(Problem::Routine(error))
    }
}

impl From<EvalError> for CpuError {
    fn from(error: EvalError) -> Self {
        let source = error.source_offset();
        Self {
            problem: Problem::Evaluation(error),
            source,
        }
    }
}

impl From<std::io::Error> for CpuError {
    fn from(error: std::io::Error) -> Self {
        Self::of(Problem::Code(error))
    }
}
