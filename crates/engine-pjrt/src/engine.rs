//! A plugin behind the engine port.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::{
    CompileOptions, CompiledModule, Device, DeviceId, Engine, EngineError, ErrorKind, Executable, Features,
    Plan, Program, Target, TargetSupport, Toolchain,
};

use crate::client::{Client, ClientSettings};
use crate::compile_options::CompileOptions as XlaOptions;
use crate::error::{PjrtError, RESOURCE_EXHAUSTED};
use crate::payload::Payload;
use crate::plugin::Plugin;
use crate::run::PjrtExecutable;
use crate::{identity, program};

/// One device of a plugin as an engine.
///
/// Programs are compiled for known sizes and by XLA's defaults; they are called on the first device. Expectations of a program
/// (`check.*`) in its entry are judged by the evaluator; tokens and tuples are not supported, and a call that runs is not stopped.
#[derive(Debug)]
pub struct PjrtEngine {
    plugin: Arc<Plugin>,
    client: Arc<Client>,
    toolchain: Toolchain,
    target: Target,
}

impl PjrtEngine {
    /// An engine of a plugin.
    ///
    /// # Errors
    /// Unavailable when the plugin makes no client: without a driver, or a device.
    pub fn new(plugin: &Arc<Plugin>, settings: &ClientSettings) -> Result<Self, EngineError> {
        let client = Client::new(plugin, settings).map_err(|error| {
            let what = format!("the plugin {} makes no client", plugin.path().display());
            EngineError::new(ErrorKind::Unavailable, what).because(error)
        })?;
        Ok(Self {
            toolchain: identity::toolchain(plugin, &client)?,
            target: identity::target(&client)?,
            plugin: Arc::clone(plugin),
            client,
        })
    }
}

/// What a plugin does not compile is a verified program: another engine may.
fn not_compiled(error: PjrtError) -> EngineError {
    match error.code {
        RESOURCE_EXHAUSTED => error.into(),
        _ => EngineError::unsupported("the plugin does not compile the program").because(error),
    }
}

impl Engine for PjrtEngine {
    fn name(&self) -> &'static str {
        "pjrt"
    }

    fn platform(&self) -> &str {
        self.client.platform()
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
        let device = |device: &crate::client::Device| Device {
            id: DeviceId(u32::try_from(device.id).unwrap_or_default()),
            description: device.kind.clone(),
            memory_bytes: None,
        };
        self.client.devices().iter().map(device).collect()
    }

    fn features(&self) -> Features {
        Features::new()
    }

    fn plan(&self, program: &Program, _options: &CompileOptions) -> Result<Plan, EngineError> {
        program::plan(program)
    }

    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError> {
        if options.target != self.target {
            let (wanted, here) = (&options.target, &self.target);
            return Err(EngineError::unsupported(format!(
                "the plugin compiles for `{here}`, and not for `{wanted}`"
            )));
        }
        if !options.contraction {
            let what = "XLA joins products and sums where it likes, and cannot be told not to";
            return Err(EngineError::unsupported(what));
        }
        let portable = program::portable(program, &self.plugin)?;
        let xla_options = XlaOptions {
            excess_precision: options.excess_precision,
            ..XlaOptions::default()
        };
        let source = program.entry_function().source;
        let loaded = self
            .client
            .compile(&portable.bytecode, &xla_options)
            .map_err(|error| not_compiled(error).at(source))?;
        let payload = Payload {
            arguments: portable.arguments,
            results: portable.results,
            expectations: portable.expectations,
            executable: Blob::new(loaded.serialize()?),
        };
        Ok(CompiledModule::new(
            self,
            self.target.clone(),
            Blob::new(payload.encode()?),
        ))
    }

    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError> {
        module.check(self)?;
        let payload = Payload::decode(module.payload())?;
        let refused =
            |error| EngineError::incompatible("the plugin does not load the executable").because(error);
        let loaded = self.client.load(&payload.executable).map_err(refused)?;
        Ok(Arc::new(PjrtExecutable::new(loaded, payload)?))
    }
}
