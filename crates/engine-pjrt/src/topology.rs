//! Devices that are described and not there: what a plugin compiles for without them.

use std::ffi::c_char;
use std::sync::Arc;

use crate::api::{Api, text};
use crate::client::mlir_program;
use crate::compile_options::CompileOptions;
use crate::error::PjrtError;
use crate::executable::Unloaded;
use crate::gpu::Gpu;
use crate::named_value::NamedValue;
use crate::plugin::Plugin;
use crate::sys;

/// The processor that the host's part of a program is compiled for. Without it, XLA writes down the one of this machine.
const HOST: &str = "triple: \"x86_64-unknown-linux-gnu\" cpu: \"x86-64-v3\"";

/// A description of devices.
#[derive(Debug)]
pub(crate) struct Topology {
    api: Api,
    pointer: *mut sys::TopologyDescription,
    _plugin: Arc<Plugin>,
}

// SAFETY: a topology is never written after it is made.
unsafe impl Send for Topology {}
// SAFETY: as above.
unsafe impl Sync for Topology {}

impl Topology {
    /// So many devices of a kind, on one host.
    pub(crate) fn of_gpus(plugin: &Arc<Plugin>, gpu: &Gpu, count: u32) -> Result<Self, PjrtError> {
        let api = plugin.api();
        let options = [
            ("target_config", gpu.target_config()),
            ("topology", format!("1x1x{count}")),
            ("host_target_machine_options", HOST.to_owned()),
        ];
        let options = options.map(|(name, value)| (name.to_owned(), NamedValue::Text(value)));
        let raw: Vec<sys::NamedValue> = options
            .iter()
            .map(|(name, value)| NamedValue::raw(name, value))
            .collect();
        let mut create = sys::TopologyDescriptionCreate::new();
        create.options = raw.as_ptr();
        create.option_count = raw.len();
        // SAFETY: options and what they point to live until the call returns.
        unsafe { api.call(&mut create) }?;
        Ok(Self {
            api,
            pointer: create.topology,
            _plugin: Arc::clone(plugin),
        })
    }

    /// `cuda`.
    pub(crate) fn platform(&self) -> Result<String, PjrtError> {
        let mut ask = sys::TopologyDescriptionPlatformName::new();
        ask.topology = self.pointer;
        // SAFETY: the topology is there, and the text lives as long.
        unsafe {
            self.api.call(&mut ask)?;
            Ok(text(ask.name, ask.name_size))
        }
    }

    /// Compiles a program, and gives the bytes that a client of such devices loads.
    pub(crate) fn compile(&self, program: &[u8], options: &CompileOptions) -> Result<Vec<u8>, PjrtError> {
        let (program, options) = (mlir_program(program), options.encode());
        let mut compile = sys::Compile::new();
        compile.topology = self.pointer;
        compile.program = &raw const program;
        compile.options = options.as_ptr().cast::<c_char>();
        compile.options_size = options.len();
        // SAFETY: program and options live until the call returns.
        unsafe { self.api.call(&mut compile) }?;
        // SAFETY: it was made for this.
        unsafe { Unloaded::new(self.api, compile.executable) }.serialize()
    }
}

impl Drop for Topology {
    fn drop(&mut self) {
        let mut destroy = sys::TopologyDescriptionDestroy::new();
        destroy.topology = self.pointer;
        // SAFETY: nobody else has it.
        let _ = unsafe { self.api.call(&mut destroy) };
    }
}
