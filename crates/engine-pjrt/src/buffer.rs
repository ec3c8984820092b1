//! Arrays of a plugin, on a device.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::Arc;

use artifact_ir::types::ElementType;

use crate::api::list;
use crate::client::{Client, Device};
use crate::element::number_of;
use crate::error::{PjrtError, UNIMPLEMENTED};
use crate::event::Event;
use crate::sys;

/// An array on a device.
pub struct DeviceBuffer {
    client: Arc<Client>,
    pointer: *mut sys::Buffer,
}

// SAFETY: a buffer may be used from any thread.
unsafe impl Send for DeviceBuffer {}
// SAFETY: as above.
unsafe impl Sync for DeviceBuffer {}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer").finish_non_exhaustive()
    }
}

impl DeviceBuffer {
    /// An array of elements in host memory: dense, row-major, a byte for each element of fewer bits. Where the device is the host,
    /// it is that memory and no copy, if it is aligned as the plugin wants it. It is held until the plugin is done with it, which may be
    /// after the buffer is gone.
    ///
    /// # Errors
    /// An element type that PJRT does not have, and what the plugin says.
    pub fn of_host(
        client: &Arc<Client>,
        device: &Device,
        element: ElementType,
        dims: &[i64],
        host: Arc<dyn AsRef<[u8]> + Send + Sync>,
    ) -> Result<Self, PjrtError> {
        let mut copy = sys::ClientBufferFromHostBuffer::new();
        copy.client = client.pointer();
        copy.data = (*host).as_ref().as_ptr().cast::<c_void>();
        copy.element = number_of(element).ok_or_else(|| no_type(element))?;
        copy.dims = dims.as_ptr();
        copy.dim_count = dims.len();
        copy.semantics = sys::IMMUTABLE_ZERO_COPY;
        copy.device = device.pointer;
        // SAFETY: the memory is there for as long as the event holds it, and never written.
        unsafe { client.api().call(&mut copy) }?;
        // SAFETY: the event is this call's own.
        let done = unsafe { Event::new(client.api(), copy.done_with_host_buffer) };
        done.hold(Box::new(host));
        Ok(Self {
            client: Arc::clone(client),
            pointer: copy.buffer,
        })
    }

    /// # Safety
    /// The pointer is a buffer of the client that nobody else destroys.
    pub(crate) const unsafe fn new(client: Arc<Client>, pointer: *mut sys::Buffer) -> Self {
        Self { client, pointer }
    }

    pub(crate) const fn pointer(&self) -> *mut sys::Buffer {
        self.pointer
    }

    /// Its sizes.
    ///
    /// # Errors
    /// What the plugin says.
    pub fn dims(&self) -> Result<Vec<i64>, PjrtError> {
        let mut arguments = sys::BufferDimensions::new();
        arguments.buffer = self.pointer;
        // SAFETY: the buffer is there, and the sizes live as long.
        unsafe {
            self.client.api().call(&mut arguments)?;
            Ok(list(arguments.dims, arguments.dim_count).to_vec())
        }
    }

    /// Whether its elements are of a type.
    ///
    /// # Errors
    /// What the plugin says.
    pub fn is_of(&self, element: ElementType) -> Result<bool, PjrtError> {
        let mut arguments = sys::BufferElementType::new();
        arguments.buffer = self.pointer;
        // SAFETY: the buffer is there.
        unsafe { self.client.api().call(&mut arguments) }?;
        Ok(number_of(element) == Some(arguments.element))
    }

    /// Copies its elements to host memory, dense and row-major, and waits for that: `rank` sizes, as many bytes as `to` has.
    ///
    /// # Errors
    /// What the plugin says: of the computation that should have made it, too.
    pub fn read(&self, rank: usize, to: &mut [u8]) -> Result<(), PjrtError> {
        let minor_to_major: Vec<i64> = (0..rank as i64).rev().collect();
        let mut layout = dense(&minor_to_major);
        let mut copy = sys::BufferToHostBuffer::new();
        copy.source = self.pointer;
        copy.host_layout = &raw mut layout;
        copy.destination = to.as_mut_ptr().cast::<c_void>();
        copy.destination_size = to.len();
        // SAFETY: the destination is there until the event has come, and so is the layout during the call.
        let done = unsafe {
            self.client.api().call(&mut copy)?;
            Event::new(self.client.api(), copy.event)
        };
        done.wait()
    }
}

/// A row-major layout.
fn dense(minor_to_major: &[i64]) -> sys::MemoryLayout {
    const TILED: c_int = 0;
    sys::MemoryLayout {
        struct_size: size_of::<sys::MemoryLayout>(),
        extension_start: std::ptr::null_mut(),
        tiled_struct_size: 56,
        tiled_extension_start: std::ptr::null_mut(),
        minor_to_major: minor_to_major.as_ptr(),
        minor_to_major_size: minor_to_major.len(),
        tile_dims: std::ptr::null(),
        tile_dim_sizes: std::ptr::null(),
        tile_count: 0,
        kind: TILED,
    }
}

fn no_type(element: ElementType) -> PjrtError {
    PjrtError {
        function: "PJRT_Client_BufferFromHostBuffer",
        code: UNIMPLEMENTED,
        message: format!("PJRT has no arrays of {element}"),
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        let mut destroy = sys::BufferDestroy::new();
        destroy.buffer = self.pointer;
        // SAFETY: nobody else has it; what is under way with it keeps what it needs.
        let _ = unsafe { self.client.api().call(&mut destroy) };
    }
}
