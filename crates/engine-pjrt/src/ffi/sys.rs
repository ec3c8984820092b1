//! XLA's foreign function interface, as far as a handler needs it (`xla/ffi/api/c_api.h` 0.3, and the extension of the PJRT C API
//! that registers handlers, `xla/pjrt/c/pjrt_c_api_ffi_extension.h`).
//!
//! Structs begin with their size and an extension, as those of the C API do. Only fields that every minor version of 0 has are
//! looked at.

use std::ffi::{c_char, c_int, c_void};

use crate::sys::{ApiVersion, Header};

/// `XLA_FFI_Api`, up to the function that makes an error.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Api {
    header: Header,
    pub(crate) version: ApiVersion,
    internal: *const c_void,
    pub(crate) error_create: Option<unsafe extern "C" fn(*mut ErrorCreate) -> *mut Error>,
}

/// `XLA_FFI_Error`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Error {
    private: [u8; 0],
}

/// `XLA_FFI_Error_Create_Args`: the message ends with a zero byte, and is copied.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ErrorCreate {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
    pub(crate) message: *const c_char,
    pub(crate) code: c_int,
}

/// `XLA_FFI_CallFrame`, up to the attributes.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct CallFrame {
    pub(crate) struct_size: usize,
    pub(crate) extension: *mut Extension,
    pub(crate) api: *const Api,
    context: *mut c_void,
    stage: c_int,
    pub(crate) arguments: Values,
    pub(crate) results: Values,
    pub(crate) attributes: Attributes,
}

/// `XLA_FFI_Handler`.
pub(crate) type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut Error;

/// `XLA_FFI_Args` and `XLA_FFI_Rets`: of both, the only type is a buffer.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Values {
    header: Header,
    pub(crate) count: i64,
    pub(crate) types: *const c_int,
    pub(crate) values: *const *const Buffer,
}

/// `XLA_FFI_ArgType_BUFFER` and `XLA_FFI_RetType_BUFFER`.
pub(crate) const BUFFER: c_int = 1;

/// `XLA_FFI_Buffer`: elements in the layout that the custom call asks for, which is not said.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Buffer {
    header: Header,
    pub(crate) element: c_int,
    pub(crate) data: *mut c_void,
    pub(crate) rank: i64,
    pub(crate) dims: *const i64,
}

/// `XLA_FFI_Attrs`: sorted by name.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Attributes {
    header: Header,
    pub(crate) count: i64,
    pub(crate) types: *const c_int,
    pub(crate) names: *const *const Text,
    pub(crate) values: *const *const c_void,
}

/// `XLA_FFI_AttrType_SCALAR`, of which the value is a [`Scalar`].
pub(crate) const SCALAR: c_int = 3;
/// `XLA_FFI_AttrType_STRING`, of which the value is a [`Text`].
pub(crate) const STRING: c_int = 4;

/// `XLA_FFI_ByteSpan`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) data: *const c_char,
    pub(crate) size: usize,
}

/// `XLA_FFI_Scalar`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Scalar {
    pub(crate) element: c_int,
    pub(crate) value: *const c_void,
}

/// `XLA_FFI_Extension_Base`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Extension {
    struct_size: usize,
    pub(crate) kind: c_int,
    pub(crate) next: *mut Extension,
}

/// `XLA_FFI_Extension_Metadata`: by a call with this extension, XLA asks a handler what it is.
pub(crate) const METADATA: c_int = 1;

/// `XLA_FFI_Metadata_Extension`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct MetadataExtension {
    base: Extension,
    pub(crate) metadata: *mut Metadata,
}

/// `XLA_FFI_Metadata`, up to the version for which the handler was written.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Metadata {
    struct_size: usize,
    pub(crate) version: ApiVersion,
}

/// `PJRT_FFI_Extension`, which the table of a plugin may lead to.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct PjrtExtension {
    pub(crate) struct_size: usize,
    pub(crate) kind: c_int,
    pub(crate) next: *mut PjrtExtension,
    register_type: *const c_void,
    add_user_data: *const c_void,
    pub(crate) register_handler: Option<unsafe extern "C" fn(*mut RegisterHandler) -> *mut crate::sys::Error>,
}

/// `PJRT_Extension_Type_FFI`.
pub(crate) const FFI: c_int = 5;

/// `PJRT_FFI_Register_Handler_Args`. Older plugins have a field more before the handler, and refuse a struct of this size.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct RegisterHandler {
    pub(crate) struct_size: usize,
    pub(crate) target: *const c_char,
    pub(crate) target_size: usize,
    pub(crate) handler: Handler,
    pub(crate) platform: *const c_char,
    pub(crate) platform_size: usize,
    pub(crate) traits: c_int,
}

/// `PJRT_FFI_Register_Handler_Args_STRUCT_SIZE`: without what pads the struct.
pub(crate) const REGISTER_HANDLER_SIZE: usize = 52;

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// Sizes as the headers have them.
    #[test]
    fn layouts() {
        assert_eq!(offset_of!(Api, error_create), 48);
        assert_eq!(size_of::<CallFrame>(), 168);
        assert_eq!(offset_of!(CallFrame, arguments), 40);
        assert_eq!(size_of::<Values>(), 40);
        assert_eq!(size_of::<Buffer>(), 48);
        assert_eq!(size_of::<Attributes>(), 48);
        assert_eq!(offset_of!(MetadataExtension, metadata), 24);
        assert_eq!(offset_of!(PjrtExtension, register_handler), 40);
        assert_eq!(offset_of!(RegisterHandler, traits) + 4, REGISTER_HANDLER_SIZE);
    }
}
