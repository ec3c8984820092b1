//! How to compile, and how to run.

use std::time::Duration;

use crate::error::EngineError;
use crate::limits::Cancellation;
use crate::port::Engine;
use crate::target::Target;

/// What changes the compiled module. Each field is part of the key of a cache; what changes only how fast it runs, such as a number
/// of threads, is none of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// The machine.
    pub target: Target,
    /// Whether a product and a sum may become one rounding (fused multiply-add).
    pub contraction: bool,
    /// Whether values of narrow floats may keep more precision between operations; otherwise each operation rounds.
    pub excess_precision: bool,
    /// Devices that run the program together, each on its part of the arrays, as the shardings of the program say.
    pub partitions: u32,
}

impl CompileOptions {
    /// What an engine does unless told otherwise: its own target, contraction, no excess precision, one device.
    #[must_use]
    pub fn for_engine(engine: &dyn Engine) -> Self {
        Self {
            target: engine.target(),
            contraction: true,
            excess_precision: false,
            partitions: 1,
        }
    }

    /// For engines of one device: refuses several.
    ///
    /// # Errors
    /// Unsupported.
    pub fn check_one_device(&self) -> Result<(), EngineError> {
        match self.partitions {
            1 => Ok(()),
            several => Err(EngineError::unsupported(format!(
                "the engine runs a program on one device, and not on {several} together"
            ))),
        }
    }
}

/// The limits of one call, and what to record.
#[derive(Clone, Debug, Default)]
pub struct ExecuteOptions {
    /// Bytes that the values of the program may take together, arguments and results among them; `None` for any number.
    pub memory_limit_bytes: Option<u64>,
    /// How long it may take. An engine looks at the clock between operations, so that it stops somewhat later.
    pub time_limit: Option<Duration>,
    /// Steps that it may take, as engines with [`crate::Features::counts_steps`] count them; others refuse it.
    pub step_limit: Option<u64>,
    /// Stops the call from outside.
    pub cancellation: Option<Cancellation>,
    /// Whether to measure every step.
    pub profile: bool,
}
