//! Any XLA backend through its PJRT plugin: XLA on CPU and CUDA, TPU, and what else speaks the PJRT C API.
//!
//! Three layers: `sys` has the structs of the C API; `api` calls its functions and makes errors values; [`Plugin`], [`Client`],
//! [`DeviceBuffer`] and [`LoadedExecutable`] own what they stand for. [`PjrtEngine`] puts them behind the engine port.
//!
//! Invariants:
//! * A plugin is code that runs here with all rights of the process. Only a path that the user or the environment named is loaded,
//!   and never one from an artifact; the file is looked at before the system's loader maps it.
//! * A plugin is loaded once and never unloaded.
//! * Whatever a plugin returns is copied, or kept no longer than its owner; what it is given lives until it says that it is done.
//! * Versions are checked: a plugin of another major version, or one that is too old, is an error that says both.
//!
//! Entry points: [`Plugin::open`], [`PjrtEngine::new`].

#![expect(unsafe_code, reason = "the functions of a plugin are C")]

mod api;
mod buffer;
mod client;
mod compile_options;
mod defects;
mod digests;
mod discovery;
mod element;
mod elf;
mod engine;
mod entry;
mod error;
mod event;
mod executable;
mod expectations;
mod ffi;
mod gpu;
mod identity;
mod interface;
pub mod key_value;
mod named_value;
mod payload;
mod placement;
mod plugin;
mod program;
mod run;
mod sys;
mod topology;
mod transfer;

pub use buffer::DeviceBuffer;
pub use client::{Client, ClientSettings, Device};
pub use compile_options::CompileOptions;
pub use digests::{DigestFolder, FileDigests, FileStamp};
pub use discovery::{InstalledPlugin, PLUGIN_NAMES, cuda_tools, installed_plugins};
pub use engine::{PjrtEngine, Settings};
pub use error::{PjrtError, PluginError};
pub use executable::LoadedExecutable;
pub use named_value::NamedValue;
pub use plugin::Plugin;
