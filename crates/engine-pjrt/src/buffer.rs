//! Arrays of a plugin, on a device.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::Arc;

use artifact_engine::{Buffer as Array, Resident};
use artifact_ir::types::ElementType;

use crate::api::list;
use crate::client::{Client, Device};
use crate::element::number_of;
use crate::error::{INTERNAL, PjrtError, UNIMPLEMENTED};
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
        let data = (*host).as_ref().as_ptr();
        let mut copy = host_copy(element, dims, sys::IMMUTABLE_ZERO_COPY, data)?;
        Self::copied(client, device, &mut copy, Box::new(host))
    }

    /// Blocks until its elements are there.
    ///
    /// # Errors
    /// What the plugin says of what should have made them.
    pub(crate) fn wait(&self) -> Result<(), PjrtError> {
        let mut ask = sys::BufferReadyEvent::new();
        ask.buffer = self.pointer;
        // SAFETY: the buffer is there, and the event is this call's own.
        let ready = unsafe {
            self.client.api().call(&mut ask)?;
            Event::new(self.client.api(), ask.event)
        };
        ready.wait()
    }

    /// An array of the port that is given away, in whose memory a computation may put results. It may only be one that nobody else
    /// holds.
    ///
    /// # Errors
    /// As [`DeviceBuffer::of_host`].
    pub(crate) fn given(client: &Arc<Client>, device: &Device, mut array: Array) -> Result<Self, PjrtError> {
        let dims: Vec<i64> = array.shape().map(|size| size as i64).collect();
        let element = array.ty().element.storage();
        let data = array.bytes_mut().ok_or_else(|| PjrtError {
            function: "PJRT_Client_BufferFromHostBuffer",
            code: INTERNAL,
            message: "an array that others hold is given away".to_owned(),
        })?;
        let data = data.as_mut_ptr().cast_const();
        let mut copy = host_copy(element, &dims, sys::MUTABLE_ZERO_COPY, data)?;
        Self::copied(client, device, &mut copy, Box::new(array))
    }

    fn copied(
        client: &Arc<Client>,
        device: &Device,
        copy: &mut sys::ClientBufferFromHostBuffer,
        host: Box<dyn Any + Send>,
    ) -> Result<Self, PjrtError> {
        copy.client = client.pointer();
        copy.device = device.pointer;
        // SAFETY: the memory is there for as long as the event holds it; nobody writes to it but the plugin, and that only where it
        // was given.
        unsafe { client.api().call(copy) }?;
        // SAFETY: the event is this call's own.
        let done = unsafe { Event::new(client.api(), copy.done_with_host_buffer) };
        done.hold(host);
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
        // SAFETY: it is waited for while the memory is borrowed.
        unsafe { self.start_read(rank, to) }?.wait()
    }

    /// # Safety
    /// The memory is there, and nobody looks at it, until the event has come.
    unsafe fn start_read(&self, rank: usize, to: &mut [u8]) -> Result<Event, PjrtError> {
        let minor_to_major: Vec<i64> = (0..rank as i64).rev().collect();
        let mut layout = dense(&minor_to_major);
        let mut copy = sys::BufferToHostBuffer::new();
        copy.source = self.pointer;
        copy.host_layout = &raw mut layout;
        copy.destination = to.as_mut_ptr().cast::<c_void>();
        copy.destination_size = to.len();
        // SAFETY: the caller's promise for the destination; the layout is there during the call.
        unsafe {
            self.client.api().call(&mut copy)?;
            Ok(Event::new(self.client.api(), copy.event))
        }
    }

    /// Copies its elements into an array of the port that nobody else holds.
    ///
    /// # Errors
    /// What the plugin says: of the computation that should have made it, too.
    pub(crate) async fn read_into(&self, mut array: Array) -> Result<Array, PjrtError> {
        let rank = array.ty().rank();
        let Some(bytes) = array.bytes_mut().filter(|bytes| !bytes.is_empty()) else {
            return Ok(array);
        };
        // SAFETY: the copy keeps the array, and ends before that goes.
        let event = unsafe { self.start_read(rank, bytes) }?;
        let copy = Copy {
            event,
            array: Some(array),
        };
        copy.end().await
    }

    /// Its elements where they are, if the device is the host: dense and row-major, of elements that have every bit of their bytes.
    /// Whatever makes them has ended.
    pub(crate) fn host_view(self, byte_count: usize) -> Result<HostView, Self> {
        if self.client.platform() != HOST_PLATFORM {
            return Err(self);
        }
        let mut ask = sys::BufferUnsafePointer::new();
        ask.buffer = self.pointer;
        let mut place = sys::BufferDevice::new();
        place.buffer = self.pointer;
        let api = self.client.api();
        // SAFETY: the buffer is there.
        let asked = unsafe { api.call(&mut ask).and_then(|()| api.call(&mut place)) };
        if asked.is_err() || ask.address == 0 {
            return Err(self);
        }
        Ok(HostView {
            data: ask.address as *const u8,
            device: place.device,
            byte_count,
            buffer: self,
        })
    }
}

/// The platform whose devices are the host.
const HOST_PLATFORM: &str = "cpu";

/// The elements of a buffer that lie in host memory.
pub(crate) struct HostView {
    data: *const u8,
    byte_count: usize,
    device: *mut sys::Device,
    buffer: DeviceBuffer,
}

impl HostView {
    /// What an array of the port is, if a client keeps it.
    pub(crate) fn of_array(array: &Array, client: &Arc<Client>) -> Option<Arc<Self>> {
        let resident = Arc::clone(array.resident()?);
        let own = resident.into_any().downcast::<Self>().ok()?;
        Arc::ptr_eq(&own.buffer.client, client).then_some(own)
    }

    pub(crate) const fn buffer(&self) -> &DeviceBuffer {
        &self.buffer
    }

    pub(crate) fn is_on(&self, device: &Device) -> bool {
        self.device == device.pointer
    }
}

impl Resident for HostView {
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

// SAFETY: the elements are only read, and the buffer that has them may be used from any thread.
unsafe impl Send for HostView {}
// SAFETY: as above.
unsafe impl Sync for HostView {}

impl AsRef<[u8]> for HostView {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the buffer has so many bytes of elements, and lives as long.
        unsafe { std::slice::from_raw_parts(self.data, self.byte_count) }
    }
}

/// A copy to the host that is under way. Where nobody waits for it any more, its memory goes when it is done.
struct Copy {
    event: Event,
    array: Option<Array>,
}

impl Copy {
    async fn end(mut self) -> Result<Array, PjrtError> {
        self.event.end().await?;
        self.array.take().ok_or_else(|| PjrtError {
            function: "PJRT_Buffer_ToHostBuffer",
            code: INTERNAL,
            message: "a copy ended twice".to_owned(),
        })
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Some(array) = self.array.take() {
            self.event.hold(Box::new(array));
        }
    }
}

/// What is copied to a device, or becomes what it has.
fn host_copy(
    element: ElementType,
    dims: &[i64],
    semantics: c_int,
    data: *const u8,
) -> Result<sys::ClientBufferFromHostBuffer, PjrtError> {
    let mut copy = sys::ClientBufferFromHostBuffer::new();
    copy.data = data.cast::<c_void>();
    copy.element = number_of(element).ok_or_else(|| no_type(element))?;
    copy.dims = dims.as_ptr();
    copy.dim_count = dims.len();
    copy.semantics = semantics;
    Ok(copy)
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
