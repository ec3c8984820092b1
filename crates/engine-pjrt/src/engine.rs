//! A plugin behind the engine port.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::{
    CompileOptions, CompiledModule, Device, DeviceId, Engine, EngineError, ErrorKind, Executable, Features,
    Plan, Program, Target, TargetSupport, Toolchain, Value,
};

use crate::client::{Client, ClientSettings};
use crate::compile_options::CompileOptions as XlaOptions;
use crate::digests::FileDigests;
use crate::error::{PjrtError, RESOURCE_EXHAUSTED, UNAVAILABLE};
use crate::gpu::{GPUS, Gpu};
use crate::named_value::NamedValue;
use crate::payload::Payload;
use crate::plugin::Plugin;
use crate::run::PjrtExecutable;
use crate::topology::Topology;
use crate::{identity, program, transfer};

/// A plugin as an engine.
///
/// Programs are compiled for known sizes and by XLA's defaults, for one device or for several that divide its arrays; global arrays
/// go in and come out. Expectations of a program (`check.*`) in its entry are judged by the evaluator. A call that runs is not stopped.
///
/// Its own target is the machine that it runs on. A plugin for CUDA also compiles for GPUs that it is told of by name, with a driver
/// and without.
#[derive(Debug)]
pub struct PjrtEngine {
    plugin: Arc<Plugin>,
    /// What runs programs, where there are devices.
    client: Option<Arc<Client>>,
    platform: String,
    toolchain: Toolchain,
    /// The first is that of the machine, where there are devices.
    targets: Vec<TargetSupport>,
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
    /// Files that the plugin compiles with, such as [`crate::cuda_tools`]: part of its identity, too.
    pub tools: BTreeMap<String, PathBuf>,
}

impl Default for Settings {
    /// One device at least, and no memory.
    fn default() -> Self {
        Self {
            client: ClientSettings::default(),
            devices: 1,
            digests: None,
            environment: BTreeMap::new(),
            tools: BTreeMap::new(),
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
        let (platform, own) = (client.platform().to_owned(), identity::target(&client)?);
        let mut targets = vec![TargetSupport {
            target: own,
            missing: None,
        }];
        if platform == CUDA {
            let kind = client.devices().first().map(|device| device.kind.as_str());
            targets.extend(gpus(kind)?);
        }
        Self::of_parts(plugin, Some(client), platform, targets, settings)
    }

    /// An engine that compiles and runs nothing, for GPUs that are known by name: where a plugin makes no client, for want of a driver.
    ///
    /// # Errors
    /// Unavailable when the plugin compiles for no GPU without a client.
    pub fn compiler(plugin: &Arc<Plugin>, settings: &Settings) -> Result<Self, EngineError> {
        let [first, ..] = &GPUS;
        let platform = Topology::of_gpus(plugin, first, 1).and_then(|topology| topology.platform());
        let platform = platform.map_err(|error| {
            let what = format!(
                "the plugin {} compiles for no device that is not there",
                plugin.path().display()
            );
            EngineError::new(ErrorKind::Unavailable, what).because(error)
        })?;
        Self::of_parts(plugin, None, platform, gpus(None)?, settings)
    }

    fn of_parts(
        plugin: &Arc<Plugin>,
        client: Option<Arc<Client>>,
        platform: String,
        targets: Vec<TargetSupport>,
        settings: &Settings,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            toolchain: identity::toolchain(plugin, &platform, settings)?,
            plugin: Arc::clone(plugin),
            client,
            platform,
            targets,
        })
    }

    /// Compiles for the devices of the client, or for a GPU by its name.
    fn executable(
        &self,
        bytecode: &[u8],
        options: &CompileOptions,
        xla_options: &XlaOptions,
    ) -> Result<Vec<u8>, EngineError> {
        match &self.client {
            Some(client) if options.target == self.target() => {
                let loaded = client.compile(bytecode, xla_options).map_err(not_compiled)?;
                Ok(loaded.serialize()?)
            }
            _ => {
                let gpu = Gpu::find(options.target.name()).ok_or_else(|| self.no_target(&options.target))?;
                let topology = Topology::of_gpus(&self.plugin, gpu, options.partitions)?;
                topology.compile(bytecode, xla_options).map_err(not_compiled)
            }
        }
    }

    fn no_target(&self, target: &Target) -> EngineError {
        let names: Vec<String> = self
            .targets
            .iter()
            .map(|known| known.target.to_string())
            .collect();
        let names = names.join(", ");
        EngineError::unsupported(format!("the plugin compiles for {names}, and not for `{target}`"))
    }

    /// Refuses more devices than there are, where there must be some.
    fn check_devices(&self, options: &CompileOptions) -> Result<(), EngineError> {
        let (partitions, client) = (options.partitions, self.client.as_ref());
        let own = client.filter(|_| options.target == self.target());
        let devices = own.map_or(u32::MAX as usize, |client| client.devices().len());
        if partitions == 0 || partitions as usize > devices {
            let what =
                format!("{partitions} devices cannot run a program together where there are {devices}");
            return Err(EngineError::new(ErrorKind::Unavailable, what));
        }
        Ok(())
    }
}

/// The platform of GPUs that are known by name.
const CUDA: &str = "cuda";

/// The GPUs that are known by name, for a machine that has a kind of device.
fn gpus(kind: Option<&str>) -> Result<Vec<TargetSupport>, EngineError> {
    let one = |gpu: &Gpu| {
        let missing = match kind {
            Some(kind) if kind == gpu.kind => None,
            Some(kind) => Some(format!("it is for a {}, and this machine has a {kind}", gpu.kind)),
            None => Some(format!("it is for a {}, and this machine has none", gpu.kind)),
        };
        Ok(TargetSupport {
            target: Target::new(gpu.name)?,
            missing,
        })
    };
    GPUS.iter().map(one).collect()
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
        UNAVAILABLE => {
            let what = "the plugin lacks something to compile with";
            EngineError::new(ErrorKind::Unavailable, what).because(error)
        }
        _ => EngineError::unsupported("the plugin does not compile the program").because(error),
    }
}

impl Engine for PjrtEngine {
    fn name(&self) -> &'static str {
        "pjrt"
    }

    fn platform(&self) -> &str {
        &self.platform
    }

    fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    fn targets(&self) -> Vec<TargetSupport> {
        self.targets.clone()
    }

    fn target(&self) -> Target {
        // There is one for the machine or some by name.
        self.targets[0].target.clone()
    }

    fn devices(&self) -> Vec<Device> {
        let device = |device: &crate::client::Device| Device {
            id: DeviceId(u32::try_from(device.id).unwrap_or_default()),
            description: device.kind.clone(),
            memory_bytes: None,
        };
        let devices = self.client.iter().flat_map(|client| client.devices());
        devices.map(device).collect()
    }

    fn features(&self) -> Features {
        Features::new()
    }

    fn plan(&self, program: &Program, _options: &CompileOptions) -> Result<Plan, EngineError> {
        program::plan(program)
    }

    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError> {
        if self.targets.iter().all(|known| known.target != options.target) {
            return Err(self.no_target(&options.target));
        }
        if !options.contraction {
            let what = "XLA joins products and sums where it likes, and cannot be told not to";
            return Err(EngineError::unsupported(what));
        }
        self.check_devices(options)?;
        let partitions = options.partitions;
        let portable = program::portable(program, &self.plugin, &self.platform, partitions)?;
        let xla_options = XlaOptions {
            partitions,
            excess_precision: options.excess_precision,
            ..XlaOptions::default()
        };
        let executable = self.executable(&portable.bytecode, options, &xla_options);
        let executable = executable.map_err(|error| {
            let message = std::error::Error::source(&error).map(ToString::to_string);
            let named = message.and_then(|message| portable.place(&message));
            error.at(named.unwrap_or(program.entry_function().source))
        })?;
        let payload = Payload {
            interface: portable.interface,
            expectations: portable.expectations,
            executable: Blob::new(executable),
        };
        Ok(CompiledModule::new(
            self,
            options.target.clone(),
            Blob::new(payload.encode()?),
        ))
    }

    fn to_device(&self, value: Value) -> Result<Value, EngineError> {
        let Some(client) = &self.client else {
            return Ok(value);
        };
        match (value, client.devices().first()) {
            (Value::Array(array), Some(device)) => {
                Ok(Value::Array(transfer::to_device(client, device, array)?))
            }
            (Value::Tuple(values), _) => {
                let values = values.iter().cloned().map(|value| self.to_device(value));
                Ok(Value::Tuple(values.collect::<Result<_, _>>()?))
            }
            (value, _) => Ok(value),
        }
    }

    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError> {
        module.check(self)?;
        let payload = Payload::decode(module.payload())?;
        let refused =
            |error| EngineError::incompatible("the plugin does not load the executable").because(error);
        let client = self.client.as_ref().ok_or_else(|| {
            let what = "a plugin without a device runs nothing";
            EngineError::new(ErrorKind::Unavailable, what)
        })?;
        let loaded = client.load(&payload.executable).map_err(refused)?;
        Ok(Arc::new(PjrtExecutable::new(loaded, payload)?))
    }
}
