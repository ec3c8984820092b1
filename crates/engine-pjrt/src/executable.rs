//! A loaded executable.

use std::fmt;
use std::sync::{Arc, PoisonError};

use crate::api::{Api, bytes, list};
use crate::buffer::DeviceBuffer;
use crate::client::{Client, Device};
use crate::error::{INVALID_ARGUMENT, PjrtError};
use crate::event::Event;
use crate::sys::{self, Arguments as _};

/// A program that devices of a client can run.
pub struct LoadedExecutable {
    client: Arc<Client>,
    pointer: *mut sys::LoadedExecutable,
    outputs: usize,
    devices: Vec<*mut sys::Device>,
}

// SAFETY: an executable may be used from any thread, by several at once.
unsafe impl Send for LoadedExecutable {}
// SAFETY: as above.
unsafe impl Sync for LoadedExecutable {}

impl fmt::Debug for LoadedExecutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedExecutable")
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

/// An executable that is bound to no devices.
pub(crate) struct Unloaded {
    api: Api,
    pointer: *mut sys::Executable,
}

impl Unloaded {
    /// # Safety
    /// The pointer is an executable of the plugin that nobody else destroys.
    pub(crate) const unsafe fn new(api: Api, pointer: *mut sys::Executable) -> Self {
        Self { api, pointer }
    }

    fn outputs(&self) -> Result<usize, PjrtError> {
        let mut count = sys::ExecutableNumOutputs::new();
        count.executable = self.pointer;
        // SAFETY: it is there.
        unsafe { self.api.call(&mut count) }?;
        Ok(count.count)
    }

    /// Its bytes.
    pub(crate) fn serialize(&self) -> Result<Vec<u8>, PjrtError> {
        let mut serialize = sys::ExecutableSerialize::new();
        serialize.executable = self.pointer;
        // SAFETY: the executable is there; the bytes are copied before what backs them is freed, once.
        unsafe {
            self.api.call(&mut serialize)?;
            let copy = bytes(serialize.bytes, serialize.byte_count).to_vec();
            if let Some(free) = serialize.deleter {
                free(serialize.backing);
            }
            Ok(copy)
        }
    }
}

impl Drop for Unloaded {
    fn drop(&mut self) {
        let mut destroy = sys::ExecutableDestroy::new();
        destroy.executable = self.pointer;
        // SAFETY: nobody else has it.
        let _ = unsafe { self.api.call(&mut destroy) };
    }
}

/// A computation that is under way.
pub(crate) struct Launch {
    /// The results of each device, which come to be.
    outputs: Vec<Vec<DeviceBuffer>>,
    /// The end on each device.
    events: Vec<Event>,
}

impl Launch {
    /// The results, when all devices are done.
    pub(crate) async fn end(self) -> Result<Vec<Vec<DeviceBuffer>>, PjrtError> {
        let mut outcome = Ok(());
        // All of them, so that nothing runs any more when the first error is told.
        for event in &self.events {
            let end = event.end().await;
            outcome = outcome.and(end);
        }
        outcome.map(|()| self.outputs)
    }
}

impl LoadedExecutable {
    /// Takes an executable that a client made.
    pub(crate) fn new(client: Arc<Client>, pointer: *mut sys::LoadedExecutable) -> Result<Self, PjrtError> {
        let mut loaded = Self {
            client,
            pointer,
            outputs: 0,
            devices: Vec::new(),
        };
        loaded.outputs = loaded.unloaded()?.outputs()?;
        loaded.devices = loaded.find_devices()?;
        Ok(loaded)
    }

    fn find_devices(&self) -> Result<Vec<*mut sys::Device>, PjrtError> {
        let mut arguments = sys::LoadedExecutableAddressableDevices::new();
        arguments.executable = self.pointer;
        // SAFETY: the executable is there, and the list lives as long.
        unsafe {
            self.client.api().call(&mut arguments)?;
            Ok(list(arguments.devices, arguments.count).to_vec())
        }
    }

    fn unloaded(&self) -> Result<Unloaded, PjrtError> {
        let mut get = sys::LoadedExecutableGetExecutable::new();
        get.loaded = self.pointer;
        // SAFETY: the executable is there.
        unsafe { self.client.api().call(&mut get) }?;
        // SAFETY: it was made for this.
        Ok(unsafe { Unloaded::new(self.client.api(), get.executable) })
    }

    /// How many results it has on each device.
    #[must_use]
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// The devices that run it, in the order in which [`LoadedExecutable::execute`] takes their arguments.
    #[must_use]
    pub fn devices(&self) -> Vec<&Device> {
        let all = self.client.devices();
        let device = |pointer: &*mut sys::Device| all.iter().find(|device| device.pointer == *pointer);
        self.devices.iter().filter_map(device).collect()
    }

    /// The client that it is of.
    #[must_use]
    pub const fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// The bytes that [`Client::load`] takes.
    ///
    /// # Errors
    /// What the plugin says; not all can do it.
    pub fn serialize(&self) -> Result<Vec<u8>, PjrtError> {
        self.unloaded()?.serialize()
    }

    /// Runs it on its devices and waits for the end: for each device a list of arguments, as many for all, and a list of results.
    /// `kept` are the positions of arguments that must stay as they are.
    ///
    /// # Errors
    /// Lists of different lengths, and what the plugin says of arguments and of the computation.
    pub fn execute(
        &self,
        arguments: &[Vec<&DeviceBuffer>],
        kept: &[i64],
    ) -> Result<Vec<Vec<DeviceBuffer>>, PjrtError> {
        let Launch { outputs, events } = self.launch(arguments, kept)?;
        // All of them, so that nothing runs any more when the first error is told.
        let ends: Vec<Result<(), PjrtError>> = events.iter().map(Event::wait).collect();
        ends.into_iter().collect::<Result<(), _>>()?;
        Ok(outputs)
    }

    /// Starts it, as [`LoadedExecutable::execute`] does.
    pub(crate) fn launch(&self, arguments: &[Vec<&DeviceBuffer>], kept: &[i64]) -> Result<Launch, PjrtError> {
        let count = arguments.first().map_or(0, Vec::len);
        if arguments.is_empty() || arguments.iter().any(|list| list.len() != count) {
            return Err(PjrtError {
                function: sys::LoadedExecutableExecute::FUNCTION.name,
                code: INVALID_ARGUMENT,
                message: "every device needs as many arguments".to_owned(),
            });
        }
        let lists: Vec<Vec<*mut sys::Buffer>> = arguments
            .iter()
            .map(|list| list.iter().map(|buffer| buffer.pointer()).collect())
            .collect();
        let lists: Vec<*const *mut sys::Buffer> = lists.iter().map(Vec::as_ptr).collect();
        let mut outputs = vec![vec![std::ptr::null_mut::<sys::Buffer>(); self.outputs]; arguments.len()];
        let output_lists: Vec<*mut *mut sys::Buffer> = outputs.iter_mut().map(Vec::as_mut_ptr).collect();
        let mut events = vec![std::ptr::null_mut::<sys::Event>(); arguments.len()];
        let mut options = execute_options(kept);
        let mut execute = sys::LoadedExecutableExecute::new();
        execute.executable = self.pointer;
        execute.options = &raw mut options;
        execute.argument_lists = lists.as_ptr();
        execute.device_count = arguments.len();
        execute.argument_count = count;
        execute.output_lists = output_lists.as_ptr();
        execute.device_complete_events = events.as_mut_ptr();
        let several = arguments.len() > 1;
        let _together = several.then(|| {
            let lock = self.client.together().lock();
            lock.unwrap_or_else(PoisonError::into_inner)
        });
        // SAFETY: all lists live until the call returns, and have as many elements as are said.
        unsafe { self.client.api().call(&mut execute) }?;
        let outputs = outputs.into_iter().map(|list| self.buffers(list)).collect();
        // SAFETY: each event is this call's own.
        let event = |event| unsafe { Event::new(self.client.api(), event) };
        let events = events.into_iter().map(event).collect();
        Ok(Launch { outputs, events })
    }

    fn buffers(&self, pointers: Vec<*mut sys::Buffer>) -> Vec<DeviceBuffer> {
        // SAFETY: each is a result of this client that nobody else has.
        let take = |pointer| unsafe { DeviceBuffer::new(Arc::clone(&self.client), pointer) };
        pointers.into_iter().map(take).collect()
    }
}

fn execute_options(kept: &[i64]) -> sys::ExecuteOptions {
    sys::ExecuteOptions {
        struct_size: size_of::<sys::ExecuteOptions>(),
        extension_start: std::ptr::null_mut(),
        send_callbacks: std::ptr::null_mut(),
        recv_callbacks: std::ptr::null_mut(),
        send_count: 0,
        recv_count: 0,
        launch_id: 0,
        non_donatable: kept.as_ptr(),
        non_donatable_count: kept.len(),
        context: std::ptr::null_mut(),
        call_location: std::ptr::null(),
        task_count: 0,
        task_ids: std::ptr::null_mut(),
        incarnation_ids: std::ptr::null_mut(),
        reserved: [0; 8],
    }
}

impl Drop for LoadedExecutable {
    fn drop(&mut self) {
        let mut destroy = sys::LoadedExecutableDestroy::new();
        destroy.executable = self.pointer;
        // SAFETY: nobody else has it; what is under way keeps what it needs.
        let _ = unsafe { self.client.api().call(&mut destroy) };
    }
}
