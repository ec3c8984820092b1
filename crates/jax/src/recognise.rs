//! Whether bytes are a JAX export, by content: such files have no magic.

use artifact_flatbuffer::{Buffer, Fault, OBJECT_BYTES, View};
use artifact_proto::jax_exported as schema;

/// How portable bytecode begins.
const BYTECODE_MAGIC: &[u8] = b"ML\xEFR";

/// JAX writes the root last, and so next to the start of the file. What begins with text or with the magic of another format
/// claims a root much further away.
const ROOT_OFFSET_MAX: u32 = 64 * 1024;

/// What the few objects that are looked at cost.
const BUDGET: u64 = 8 * OBJECT_BYTES;

/// Whether the bytes look like a file of `jax.export`: a root table near the start, with a version, a name, a tree of
/// arguments, and a program that is MLIR bytecode. Takes the same short time for all bytes.
#[must_use]
pub fn looks_like(bytes: &[u8]) -> bool {
    let near = |start: &[u8; 4]| u32::from_le_bytes(*start) <= ROOT_OFFSET_MAX;
    bytes.first_chunk().is_some_and(near) && is_exported(bytes).unwrap_or(false)
}

fn is_exported(bytes: &[u8]) -> Result<bool, Fault> {
    let buffer = Buffer::new(bytes, BUDGET);
    let root: View<'_, schema::Exported> = buffer.root()?;
    let module = root.required(schema::Exported::MLIR_MODULE_SERIALIZED)?;
    Ok(root.get(schema::Exported::SERIALIZATION_VERSION)? != 0
        && root.has(schema::Exported::FUNCTION_NAME)?
        && root.has(schema::Exported::IN_TREE)?
        && module.bytes.starts_with(BYTECODE_MAGIC))
}

/// Whether the bytes look like the beginning of such a file: its root table is whole, and its program lies beyond the end.
/// Takes the same short time for all bytes.
#[must_use]
pub fn looks_cut_off(bytes: &[u8]) -> bool {
    let near = |start: &[u8; 4]| u32::from_le_bytes(*start) <= ROOT_OFFSET_MAX;
    bytes.first_chunk().is_some_and(near) && is_beginning(bytes).unwrap_or(false)
}

fn is_beginning(bytes: &[u8]) -> Result<bool, Fault> {
    /// Far above every version of the schema.
    const VERSION_MAX: u16 = 256;
    let buffer = Buffer::new(bytes, BUDGET);
    let root: View<'_, schema::Exported> = buffer.root()?;
    let version = root.get(schema::Exported::SERIALIZATION_VERSION)?;
    let has_fields = root.has(schema::Exported::FUNCTION_NAME)?
        && root.has(schema::Exported::IN_TREE)?
        && root.has(schema::Exported::MLIR_MODULE_SERIALIZED)?;
    let module = root.required(schema::Exported::MLIR_MODULE_SERIALIZED);
    Ok(has_fields && (1..=VERSION_MAX).contains(&version) && module.is_err())
}
