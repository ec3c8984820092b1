//! The reference evaluator behind the engine port: right and slow, the oracle of the other engines.
//!
//! A compiled module is the portable bytecode of its program, with what bytecode cannot say: where the operations stood, and the
//! dimension expressions of arguments and results. One serves every size: a program with open sizes is made the static program of
//! its arguments when it is called.
//!
//! Invariants:
//! * What comes from a payload is verified before it is run; nothing that a payload holds panics.
//! * A size that a program computes in integers that are too narrow for it is an error, never another size.
//! * Calls share nothing but the program and the static programs that were made of it.
//!
//! Entry point: [`ReferenceEngine`].

mod arguments;
mod executable;
mod obligations;
mod observer;
mod payload;
mod places;
mod specialization;

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::{
    CompileOptions, CompiledModule, Component, Device, DeviceId, Engine, EngineError, Executable, Features,
    Plan, Program, Target, TargetSupport, Toolchain,
};

use crate::executable::ReferenceExecutable;
use crate::payload::Payload;

/// The only target: any machine.
const TARGET: &str = "portable";

/// The version of what a payload holds, beside that of the product.
const PAYLOAD_VERSION: &str = "1";

/// The reference evaluator as an engine.
#[derive(Debug)]
pub struct ReferenceEngine {
    toolchain: Toolchain,
    target: Target,
}

impl ReferenceEngine {
    /// The engine.
    ///
    /// # Errors
    /// Never.
    pub fn new() -> Result<Self, EngineError> {
        let version = |text: &str| Component::Version(text.to_owned());
        Ok(Self {
            toolchain: Toolchain::default()
                .with("artifact", version(env!("CARGO_PKG_VERSION")))
                .with("payload", version(PAYLOAD_VERSION)),
            target: Target::new(TARGET)?,
        })
    }
}

impl Engine for ReferenceEngine {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn platform(&self) -> &'static str {
        "cpu"
    }

    fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    fn targets(&self) -> Vec<TargetSupport> {
        vec![TargetSupport {
            target: self.target.clone(),
            missing: None,
        }]
    }

    fn target(&self) -> Target {
        self.target.clone()
    }

    fn devices(&self) -> Vec<Device> {
        vec![Device {
            id: DeviceId(0),
            description: "the reference evaluator".to_owned(),
            memory_bytes: None,
        }]
    }

    fn features(&self) -> Features {
        Features::of_own_operations().with_steps()
    }

    /// Nothing: what remains open is settled by the arguments of each call.
    fn plan(&self, _program: &Program, _options: &CompileOptions) -> Result<Plan, EngineError> {
        Ok(Plan::default())
    }

    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError> {
        if options.target != self.target {
            let what = format!("the reference engine has no target `{}`", options.target);
            return Err(EngineError::unsupported(what));
        }
        options.check_one_device()?;
        let payload = Payload::of_program(program)?.encode();
        Ok(CompiledModule::new(self, self.target.clone(), Blob::new(payload)))
    }

    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError> {
        module.check(self)?;
        let payload = Payload::decode(module.payload())?;
        Ok(Arc::new(ReferenceExecutable::new(payload.load()?)))
    }
}
