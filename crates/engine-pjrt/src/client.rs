//! A client of a plugin: its devices, and what it compiles and loads.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::api::{Api, list, text};
use crate::compile_options::CompileOptions;
use crate::error::PjrtError;
use crate::executable::LoadedExecutable;
use crate::key_value::{self, KeyValueStore};
use crate::named_value::NamedValue;
use crate::plugin::Plugin;
use crate::sys;

/// What a client is made with.
#[derive(Clone, Debug, Default)]
pub struct ClientSettings {
    /// Options of the plugin, by name: `cpu_device_count`, `allocator` and others, which each plugin lists for itself.
    pub options: BTreeMap<String, NamedValue>,
    /// Where processes that run together tell each other what they need to; without it a client is alone.
    pub key_values: Option<Arc<dyn KeyValueStore>>,
}

/// A client. What is made of it keeps it.
pub struct Client {
    api: Api,
    pointer: *mut sys::Client,
    devices: Vec<Device>,
    platform: String,
    platform_version: String,
    /// Held while a program is started on several devices: two that reach the devices in different orders would wait for each other.
    together: Mutex<()>,
    /// What the callbacks of the plugin point to: it goes after the client.
    _key_values: Option<Box<Arc<dyn KeyValueStore>>>,
}

// SAFETY: a client may be used from any thread, by several at once (`pjrt_c_api.h`; `PjRtClient` is thread-safe).
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("platform", &self.platform)
            .field("devices", &self.devices.len())
            .finish_non_exhaustive()
    }
}

/// A device that this process can use, for as long as its client lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub(crate) pointer: *mut sys::Device,
    /// Its number, unique among those of all processes that run together.
    pub id: i32,
    /// What it is, as its vendor has it: `cpu`, `NVIDIA H100 80GB HBM3`.
    pub kind: String,
}

impl Client {
    /// A client of a plugin.
    ///
    /// # Errors
    /// What the plugin says: no driver, no device, an option that it does not know.
    pub fn new(plugin: &Plugin, settings: &ClientSettings) -> Result<Arc<Self>, PjrtError> {
        let api = plugin.api();
        let options: Vec<sys::NamedValue> = settings
            .options
            .iter()
            .map(|(name, value)| NamedValue::raw(name, value))
            .collect();
        let key_values = settings.key_values.clone().map(Box::new);
        let mut create = sys::ClientCreate::new();
        create.options = options.as_ptr();
        create.option_count = options.len();
        if let Some(store) = &key_values {
            key_value::install(&mut create, store);
        }
        // SAFETY: options and what they point to live until the call returns, and the store as long as the client.
        unsafe { api.call(&mut create) }?;
        // From here on the client is destroyed whatever fails.
        let mut client = Self {
            api,
            pointer: create.client,
            devices: Vec::new(),
            platform: String::new(),
            platform_version: String::new(),
            together: Mutex::new(()),
            _key_values: key_values,
        };
        client.platform = client.platform_name()?;
        client.platform_version = client.find_platform_version()?;
        client.devices = client.find_devices()?;
        Ok(Arc::new(client))
    }

    pub(crate) const fn api(&self) -> Api {
        self.api
    }

    pub(crate) const fn pointer(&self) -> *mut sys::Client {
        self.pointer
    }

    /// Held while a program is started on several devices.
    pub(crate) const fn together(&self) -> &Mutex<()> {
        &self.together
    }

    /// The devices that this process can use.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// `cpu`, `cuda`, `tpu`.
    #[must_use]
    pub fn platform(&self) -> &str {
        &self.platform
    }

    /// What the platform consists of, for people and for identities.
    #[must_use]
    pub fn platform_version(&self) -> &str {
        &self.platform_version
    }

    fn platform_name(&self) -> Result<String, PjrtError> {
        let mut arguments = sys::ClientPlatformName::new();
        arguments.client = self.pointer;
        // SAFETY: the client is there, and the text lives as long.
        unsafe {
            self.api.call(&mut arguments)?;
            Ok(text(arguments.name, arguments.name_size))
        }
    }

    fn find_platform_version(&self) -> Result<String, PjrtError> {
        let mut arguments = sys::ClientPlatformVersion::new();
        arguments.client = self.pointer;
        // SAFETY: as above.
        unsafe {
            self.api.call(&mut arguments)?;
            Ok(text(arguments.version, arguments.version_size))
        }
    }

    fn find_devices(&self) -> Result<Vec<Device>, PjrtError> {
        let mut arguments = sys::ClientAddressableDevices::new();
        arguments.client = self.pointer;
        // SAFETY: the client is there, and the list lives as long.
        let pointers = unsafe {
            self.api.call(&mut arguments)?;
            list(arguments.devices, arguments.count)
        };
        pointers.iter().map(|pointer| self.device(*pointer)).collect()
    }

    fn device(&self, pointer: *mut sys::Device) -> Result<Device, PjrtError> {
        let mut description = sys::DeviceGetDescription::new();
        description.device = pointer;
        let mut id = sys::DeviceDescriptionId::new();
        let mut kind = sys::DeviceDescriptionKind::new();
        // SAFETY: the device is there, and so are its description and its texts, as long as the client.
        unsafe {
            self.api.call(&mut description)?;
            id.description = description.description;
            kind.description = description.description;
            self.api.call(&mut id)?;
            self.api.call(&mut kind)?;
            Ok(Device {
                pointer,
                id: id.id,
                kind: text(kind.kind, kind.kind_size),
            })
        }
    }

    /// Compiles a program: text or bytecode of MLIR.
    ///
    /// # Errors
    /// What the plugin says about the program or the options.
    pub fn compile(
        self: &Arc<Self>,
        program: &[u8],
        options: &CompileOptions,
    ) -> Result<LoadedExecutable, PjrtError> {
        let program = mlir_program(program);
        let options = options.encode();
        let mut compile = sys::ClientCompile::new();
        compile.client = self.pointer;
        compile.program = &raw const program;
        compile.options = options.as_ptr().cast::<c_char>();
        compile.options_size = options.len();
        // SAFETY: program and options live until the call returns.
        unsafe { self.api.call(&mut compile) }?;
        LoadedExecutable::new(Arc::clone(self), compile.executable)
    }

    /// Loads what [`LoadedExecutable::serialize`] gave, in a process with the same plugin on a machine like that.
    ///
    /// # Errors
    /// What the plugin says about the bytes. A plugin is not built to be shown bytes of strangers: they are checked before.
    pub fn load(self: &Arc<Self>, serialized: &[u8]) -> Result<LoadedExecutable, PjrtError> {
        let mut load = sys::ExecutableDeserializeAndLoad::new();
        load.client = self.pointer;
        load.bytes = serialized.as_ptr().cast::<c_char>();
        load.byte_count = serialized.len();
        // SAFETY: the bytes live until the call returns.
        unsafe { self.api.call(&mut load) }?;
        LoadedExecutable::new(Arc::clone(self), load.loaded)
    }
}

/// Text or bytecode of MLIR, which lives as long as what it was made of.
pub(crate) const fn mlir_program(program: &[u8]) -> sys::Program {
    const FORMAT: &[u8] = b"mlir";
    sys::Program {
        struct_size: size_of::<sys::Program>(),
        extension_start: std::ptr::null_mut(),
        // The plugin reads it; the field is also for those that write.
        code: program.as_ptr().cast_mut().cast::<c_char>(),
        code_size: program.len(),
        format: FORMAT.as_ptr().cast::<c_char>(),
        format_size: FORMAT.len(),
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut destroy = sys::ClientDestroy::new();
        destroy.client = self.pointer;
        // SAFETY: everything that is made of a client keeps it, so that nothing is left. What a plugin cannot take down stays.
        let _ = unsafe { self.api.call(&mut destroy) };
    }
}
