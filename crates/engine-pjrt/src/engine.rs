//! A plugin behind the engine port.

use std::collections::BTreeMap;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::{
    CompileOptions, CompiledModule, Device, DeviceId, Engine, EngineError, ErrorKind, Executable, Features,
    Plan, Program, Target, TargetSupport, Toolchain,
};

use crate::client::{Client, ClientSettings};
use crate::compile_options::CompileOptions as XlaOptions;
use crate::digests::FileDigests;
use crate::error::{PjrtError, RESOURCE_EXHAUSTED};
use crate::named_value::NamedValue;
use crate::payload::Payload;
use crate::plugin::Plugin;
use crate::run::PjrtExecutable;
use crate::{identity, program};

/// A plugin as an engine.
///
/// Programs are compiled for known sizes and by XLA's defaults, for one device or for several that divide its arrays; global arrays
/// go in and come out. Expectations of a program (`check.*`) in its entry are judged by the evaluator. A call that runs is not stopped.
#[derive(Debug)]
pub struct PjrtEngine {
    plugin: Arc<Plugin>,
    client: Arc<Client>,
    toolchain: Toolchain,
    target: Target,
}

/// How an engine is made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How its client is.
    pub client: ClientSettings,
    /// How many devices it must have at least. Where the platform is the CPU, it gets as many.
    pub devices: u32,
    /// Where the digests of plugins are remembered; without it, a plugin is read once in a process.
    pub digests: Option<Arc<dyn FileDigests>>,
    /// Variables of the environment that the plugin reads and that change what it compiles, such as `XLA_FLAGS`: part of its identity.
    pub environment: BTreeMap<String, String>,
}

impl Default for Settings {
    /// One device at least, and no memory.
    fn default() -> Self {
        Self {
            client: ClientSettings::default(),
            devices: 1,
            digests: None,
            environment: BTreeMap::new(),
        }
    }
}

impl PjrtEngine {
    /// An engine of a plugin.
    ///
    /// # Errors
    /// Unavailable when the plugin makes no client, such as without a driver, or too few devices.
    pub fn new(plugin: &Arc<Plugin>, settings: &Settings) -> Result<Self, EngineError> {
        let client = with_devices(plugin, settings)?;
        Ok(Self {
            toolchain: identity::toolchain(plugin, &client, settings)?,
            target: identity::target(&client)?,
            plugin: Arc::clone(plugin),
            client,
        })
    }
}

fn with_devices(plugin: &Plugin, settings: &Settings) -> Result<Arc<Client>, EngineError> {
    const COUNT: &str = "cpu_device_count";
    let devices = settings.devices;
    let mut found = client(plugin, &settings.client)?;
    let is_enough = |client: &Client| client.devices().len() >= devices as usize;
    if !is_enough(&found) && found.platform() == "cpu" && !settings.client.options.contains_key(COUNT) {
        let mut more = settings.client.clone();
        let count = NamedValue::Number(i64::from(devices));
        more.options.insert(COUNT.to_owned(), count);
        found = client(plugin, &more)?;
    }
    if is_enough(&found) {
        return Ok(found);
    }
    let (has, path) = (found.devices().len(), plugin.path().display());
    let what = format!("{devices} devices are asked for, and the plugin {path} has {has}");
    Err(EngineError::new(ErrorKind::Unavailable, what))
}

fn client(plugin: &Plugin, settings: &ClientSettings) -> Result<Arc<Client>, EngineError> {
    Client::new(plugin, settings).map_err(|error| {
        let what = format!("the plugin {} makes no client", plugin.path().display());
        EngineError::new(ErrorKind::Unavailable, what).because(error)
    })
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
        let (partitions, devices) = (options.partitions, self.client.devices().len());
        if partitions == 0 || partitions as usize > devices {
            let what =
                format!("{partitions} devices cannot run a program together where there are {devices}");
            return Err(EngineError::new(ErrorKind::Unavailable, what));
        }
        let portable = program::portable(program, &self.plugin, self.client.platform(), partitions)?;
        let xla_options = XlaOptions {
            partitions,
            excess_precision: options.excess_precision,
            ..XlaOptions::default()
        };
        let source = program.entry_function().source;
        let loaded = self
            .client
            .compile(&portable.bytecode, &xla_options)
            .map_err(|error| not_compiled(error).at(source))?;
        let payload = Payload {
            interface: portable.interface,
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
