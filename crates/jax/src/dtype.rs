//! The names of element types, as the schema has them.

use artifact_flatbuffer::Enumeration;

use crate::DType;

/// The name of an element type in the schema, such as `ui32` or `key_fry`.
#[must_use]
pub fn dtype_name(dtype: DType) -> &'static str {
    dtype.name()
}

/// The element type of a name; `None` where no release of JAX has it.
#[must_use]
pub fn dtype_named(name: &str) -> Option<DType> {
    let found = DType::VALUES.iter().find(|(.., known)| *known == name);
    found.map(|(dtype, ..)| *dtype)
}
