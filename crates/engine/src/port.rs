//! The engine port.

use std::fmt;
use std::sync::Arc;

use crate::compiled_module::CompiledModule;
use crate::device::Device;
use crate::error::EngineError;
use crate::executable::Executable;
use crate::options::CompileOptions;
use crate::plan::Plan;
use crate::program::Program;
use crate::target::{Target, TargetSupport};
use crate::toolchain::Toolchain;
use crate::value::Value;

/// What an engine can do besides what each must.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Features {
    /// Whether it counts steps, so that [`crate::ExecuteOptions::step_limit`] bounds it. One that does not refuses the limit.
    pub counts_steps: bool,
    /// Whether it ends a call that runs, so that [`crate::ExecuteOptions::time_limit`] bounds it. One that does not refuses the
    /// limit, and looks at a cancellation before and after what it runs.
    pub stops_calls: bool,
    /// Whether denormal numbers are numbers, and not zero.
    pub keeps_denormals: bool,
    /// Whether a profile has the operations of the program.
    pub profiles_operations: bool,
    /// Whether equal programs, options and toolchains give equal bytes, and not only modules that compute the same.
    pub compiles_to_equal_bytes: bool,
}

impl Features {
    /// What every engine can do.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            counts_steps: false,
            stops_calls: false,
            keeps_denormals: false,
            profiles_operations: false,
            compiles_to_equal_bytes: false,
        }
    }

    /// What an engine can do of which the compiler and every operation are our own.
    #[must_use]
    pub const fn of_own_operations() -> Self {
        Self {
            counts_steps: false,
            stops_calls: true,
            keeps_denormals: true,
            profiles_operations: true,
            compiles_to_equal_bytes: true,
        }
    }

    /// Counts steps.
    #[must_use]
    pub const fn with_steps(mut self) -> Self {
        self.counts_steps = true;
        self
    }
}

/// Compiles programs, and loads what was compiled.
///
/// * Equal programs, options and toolchains give modules that compute the same bits.
/// * An engine may be dropped while its executables are used.
/// * Every method may be called from several threads at once.
pub trait Engine: fmt::Debug + Send + Sync {
    /// The permanent name, by which a compiled module knows its engine: `reference`, `cpu`.
    fn name(&self) -> &str;

    /// The name by which programs know what they run on, as `jax.export` has it: `cpu`, `cuda`.
    fn platform(&self) -> &str;

    /// What compiles. It stays the same for as long as the engine lives.
    fn toolchain(&self) -> &Toolchain;

    /// The targets that it compiles for, the least demanding first.
    fn targets(&self) -> Vec<TargetSupport>;

    /// The most demanding target that this machine runs; the first of all where it runs none.
    fn target(&self) -> Target;

    /// What it runs on here; nothing where it can only compile.
    fn devices(&self) -> Vec<Device>;

    /// What it can do besides.
    fn features(&self) -> Features;

    /// What must be known as numbers before the program is compiled. A program for which that is said as its facts is complete:
    /// its plan asks for nothing.
    ///
    /// # Errors
    /// Unsupported, when it cannot be compiled whatever is known.
    fn plan(&self, program: &Program, options: &CompileOptions) -> Result<Plan, EngineError>;

    /// Compiles a program of which the plan asks for nothing.
    ///
    /// # Errors
    /// Invalid input when the plan asks for something or the facts contradict the program, unsupported for what this engine does
    /// not compile, each with the place of the operation.
    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError>;

    /// The value where the calls of this engine read it without a copy, for one that is an argument of many. It is the same value.
    ///
    /// # Errors
    /// No memory there.
    fn to_device(&self, value: Value) -> Result<Value, EngineError> {
        Ok(value)
    }

    /// Makes a compiled module callable.
    ///
    /// # Errors
    /// Incompatible when it was compiled by another engine or toolchain, for a target that this machine does not run, or is
    /// damaged; unavailable without a device.
    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError>;
}
