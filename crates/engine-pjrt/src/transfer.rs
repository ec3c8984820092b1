//! Between arrays of the port and those of a plugin.

use std::sync::Arc;

use artifact_engine::{Buffer, EngineError, ErrorKind};
use artifact_ir::literal::extend_signs;
use artifact_ir::types::TensorType;
use artifact_sharding::{ShardingError, assemble};

use crate::buffer::{DeviceBuffer, HostView};
use crate::client::{Client, Device};
use crate::placement::Placement;

/// Host memory that a plugin may read for as long as it likes.
pub(crate) struct Host(pub(crate) Buffer);

impl AsRef<[u8]> for Host {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

pub(crate) fn not_divided(error: ShardingError) -> EngineError {
    EngineError::internal("an array is not divided as it was planned").because(error)
}

pub(crate) fn too_few() -> EngineError {
    EngineError::internal("a plugin gave too few results")
}

/// A result, of what each device has of it.
pub(crate) async fn result(
    outputs: Vec<DeviceBuffer>,
    placement: &Placement,
    memory: Option<Buffer>,
) -> Result<Buffer, EngineError> {
    if placement.distinct.is_empty() {
        let output = outputs.into_iter().next().ok_or_else(too_few)?;
        return fetched(output, &placement.ty, memory).await;
    }
    let mut whole = empty(&placement.ty, memory)?;
    let (shape, element): (Vec<u64>, _) = (whole.shape().collect(), placement.ty.element.storage());
    for part in &placement.distinct {
        let ty = Arc::new(TensorType::of_static(&part.shape, element));
        let output = outputs.get(part.device as usize).ok_or_else(too_few)?;
        let piece = copied(output, &ty, None).await?;
        let bytes = whole.bytes_mut().ok_or_else(shared)?;
        assemble(bytes, &shape, element.bytes(), part, piece.bytes()).map_err(not_divided)?;
    }
    Ok(whole)
}

/// From so many bytes on, a result stays where the plugin has it, if that is the host. Below, a copy costs less than to keep it.
const VIEWED_BYTES: u64 = 16 << 10;

/// An array that a device has whole.
async fn fetched(
    output: DeviceBuffer,
    ty: &Arc<TensorType>,
    memory: Option<Buffer>,
) -> Result<Buffer, EngineError> {
    let whole_bytes = ty.element.storage().bits() >= 8;
    let byte_count = ty.byte_count().unwrap_or_default();
    if !whole_bytes || byte_count == 0 {
        return copied(&output, ty, memory).await;
    }
    match output.host_view(byte_count as usize) {
        Ok(view) if byte_count >= VIEWED_BYTES => {
            let array = Buffer::of_resident(Arc::clone(ty), Arc::new(view));
            array.map_err(|error| EngineError::internal(error.to_string()))
        }
        Ok(view) => {
            let mut array = empty(ty, memory)?;
            array
                .bytes_mut()
                .ok_or_else(shared)?
                .copy_from_slice(view.as_ref());
            Ok(array)
        }
        Err(output) => copied(&output, ty, memory).await,
    }
}

/// An array that a device has whole, copied into memory of an earlier one where it fits.
pub(crate) async fn copied(
    output: &DeviceBuffer,
    ty: &Arc<TensorType>,
    memory: Option<Buffer>,
) -> Result<Buffer, EngineError> {
    let mut array = output.read_into(empty(ty, memory)?).await?;
    // A plugin leaves zeros beside elements of fewer bits.
    extend_signs(ty.element.storage(), array.bytes_mut().ok_or_else(shared)?);
    Ok(array)
}

/// An array that the client has ready for calls, if its devices are the host: its memory, where that is aligned as the plugin wants it.
pub(crate) fn to_device(client: &Arc<Client>, device: &Device, array: Buffer) -> Result<Buffer, EngineError> {
    let ty = Arc::clone(array.ty());
    let (element, byte_count) = (ty.element.storage(), array.bytes().len());
    if element.bits() < 8 || byte_count == 0 || HostView::of_array(&array, client).is_some() {
        return Ok(array);
    }
    let dims: Vec<i64> = array.shape().map(|size| size as i64).collect();
    let host = Arc::new(Host(array.clone()));
    let ready = DeviceBuffer::of_host(client, device, element, &dims, host)?;
    ready.wait()?;
    match ready.host_view(byte_count) {
        Ok(view) => {
            Buffer::of_resident(ty, Arc::new(view)).map_err(|error| EngineError::internal(error.to_string()))
        }
        Err(_) => Ok(array),
    }
}

/// Memory for an array, that of an earlier one where it fits.
fn empty(ty: &Arc<TensorType>, memory: Option<Buffer>) -> Result<Buffer, EngineError> {
    let ty = Arc::clone(ty);
    match memory {
        Some(memory) => memory.recycled(ty),
        None => Buffer::zeros(ty),
    }
    .map_err(|error| EngineError::new(ErrorKind::MemoryLimit, error.to_string()))
}

fn shared() -> EngineError {
    EngineError::internal("new memory is shared")
}
