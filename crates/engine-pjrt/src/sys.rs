//! The PJRT C API, as far as this crate calls it (`xla/pjrt/c/pjrt_c_api.h`).
//!
//! A plugin exports `GetPjrtApi`, which gives a header and a table of functions. A function takes the address of one struct and
//! returns an error or null. The struct begins with its own size, by which a plugin knows which fields its caller knows; fields
//! and functions are only ever added at the end, with a new minor version. A plugin refuses a struct that is smaller than its own.
//!
//! So structs here have the layout of the newest version that is known, [`MINOR_KNOWN`], and [`RESERVED`] words of zeros behind
//! it: a plugin that knows a few fields more finds them there as null, which is what they are when nobody uses them.
//!
//! Invariants: every struct is `repr(C)` and starts with [`Header`]; the number in [`Arguments::FUNCTION`] is the function's
//! position in the table. All functions are older than the oldest version that is used; a field that is not says its minor version.

use std::ffi::{c_char, c_int, c_void};

/// The only major version.
pub(crate) const MAJOR: c_int = 0;
/// The oldest minor version that is used: the first whose table and structs have the order of today (0.57), with the store that
/// answers at once (0.61).
pub(crate) const MINOR_MIN: c_int = 61;
/// The newest minor version whose structs are known here: those that are used have been the same since 0.106.
pub(crate) const MINOR_KNOWN: c_int = 116;

/// Words of zeros behind every struct.
const RESERVED: usize = 8;

/// The beginning of `PJRT_Api`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
    pub(crate) version: ApiVersion,
}

/// `PJRT_Api_Version`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ApiVersion {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
    pub(crate) major: c_int,
    pub(crate) minor: c_int,
}

/// `PJRT_Extension_Base`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Extension {
    pub(crate) struct_size: usize,
    pub(crate) kind: c_int,
    pub(crate) next: *mut Extension,
}

/// `GetPjrtApi`.
pub(crate) type GetApi = unsafe extern "C" fn() -> *const Api;

/// What stands in the table. Those that return nothing leave what the caller ignores.
pub(crate) type Call = unsafe extern "C" fn(*mut c_void) -> *mut Error;

/// A function: its place in the table, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) place: usize,
    pub(crate) name: &'static str,
}

/// What every struct begins with.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
}

/// The struct of a function.
///
/// # Safety
/// The struct has the layout that the function expects, up to the newest known version, and zeros behind.
pub(crate) unsafe trait Arguments {
    const FUNCTION: Function;
}

macro_rules! opaque {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug)]
        pub(crate) struct $name {
            private: [u8; 0],
        }
    )*};
}

opaque! {
    /// `PJRT_Error`.
    Error;
    /// `PJRT_Event`.
    Event;
    /// `PJRT_Client`.
    Client;
    /// `PJRT_Device`.
    Device;
    /// `PJRT_DeviceDescription`.
    DeviceDescription;
    /// `PJRT_Executable`.
    Executable;
    /// `PJRT_LoadedExecutable`.
    LoadedExecutable;
    /// `PJRT_Buffer`.
    Buffer;
    /// `PJRT_SerializedExecutable`.
    SerializedExecutable;
    /// `PJRT_TopologyDescription`.
    TopologyDescription;
}

/// A struct of arguments: `Name = place "function" { fields }`. `new` makes one with everything but the size zero.
macro_rules! arguments {
    ($($(#[$meta:meta])* $name:ident = $place:literal $function:literal {
        $($field:ident: $ty:ty,)*
    })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug)]
        pub(crate) struct $name {
            header: Header,
            $(pub(crate) $field: $ty,)*
            reserved: [usize; RESERVED],
        }

        impl $name {
            pub(crate) fn new() -> Self {
                // SAFETY: every field is an integer, a flag, a pointer or a function that may be absent: zeros are one of each.
                let zero: Self = unsafe { std::mem::zeroed() };
                let struct_size = size_of::<Self>();
                Self { header: Header { struct_size, ..zero.header }, ..zero }
            }
        }

        // SAFETY: the fields are those of the header of the C API, in order.
        unsafe impl Arguments for $name {
            const FUNCTION: Function = Function { place: $place, name: $function };
        }
    )*};
}

arguments! {
    /// Returns nothing.
    ErrorDestroy = 0 "PJRT_Error_Destroy" {
        error: *mut Error,
    }
    /// Returns nothing. The message lives as long as the error.
    ErrorMessage = 1 "PJRT_Error_Message" {
        error: *const Error,
        message: *const c_char,
        message_size: usize,
    }
    ErrorGetCode = 2 "PJRT_Error_GetCode" {
        error: *const Error,
        code: c_int,
    }
    PluginInitialize = 3 "PJRT_Plugin_Initialize" {}
    /// The attributes live as long as the process.
    PluginAttributes = 4 "PJRT_Plugin_Attributes" {
        attributes: *const NamedValue,
        count: usize,
    }
    EventDestroy = 5 "PJRT_Event_Destroy" {
        event: *mut Event,
    }
    EventIsReady = 6 "PJRT_Event_IsReady" {
        event: *mut Event,
        is_ready: bool,
    }
    EventAwait = 8 "PJRT_Event_Await" {
        event: *mut Event,
    }
    /// The callback owns the error that it gets.
    EventOnReady = 9 "PJRT_Event_OnReady" {
        event: *mut Event,
        callback: Option<unsafe extern "C" fn(*mut Error, *mut c_void)>,
        user_argument: *mut c_void,
    }
    /// 0.61: `kv_try_get`.
    ClientCreate = 10 "PJRT_Client_Create" {
        options: *const NamedValue,
        option_count: usize,
        kv_get: Option<unsafe extern "C" fn(*mut KvGet) -> *mut Error>,
        kv_get_argument: *mut c_void,
        kv_put: Option<unsafe extern "C" fn(*mut KvPut) -> *mut Error>,
        kv_put_argument: *mut c_void,
        client: *mut Client,
        kv_try_get: Option<unsafe extern "C" fn(*mut KvTryGet) -> *mut Error>,
        kv_try_get_argument: *mut c_void,
    }
    ClientDestroy = 11 "PJRT_Client_Destroy" {
        client: *mut Client,
    }
    /// The name lives as long as the client.
    ClientPlatformName = 12 "PJRT_Client_PlatformName" {
        client: *mut Client,
        name: *const c_char,
        name_size: usize,
    }
    /// The version lives as long as the client.
    ClientPlatformVersion = 14 "PJRT_Client_PlatformVersion" {
        client: *mut Client,
        version: *const c_char,
        version_size: usize,
    }
    /// The list lives as long as the client.
    ClientAddressableDevices = 16 "PJRT_Client_AddressableDevices" {
        client: *mut Client,
        devices: *const *mut Device,
        count: usize,
    }
    ClientCompile = 20 "PJRT_Client_Compile" {
        client: *mut Client,
        program: *const Program,
        options: *const c_char,
        options_size: usize,
        executable: *mut LoadedExecutable,
    }
    ClientBufferFromHostBuffer = 22 "PJRT_Client_BufferFromHostBuffer" {
        client: *mut Client,
        data: *const c_void,
        element: c_int,
        dims: *const i64,
        dim_count: usize,
        byte_strides: *const i64,
        byte_stride_count: usize,
        semantics: c_int,
        device: *mut Device,
        memory: *mut c_void,
        device_layout: *mut c_void,
        done_with_host_buffer: *mut Event,
        buffer: *mut Buffer,
    }
    DeviceDescriptionId = 23 "PJRT_DeviceDescription_Id" {
        description: *mut DeviceDescription,
        id: c_int,
    }
    /// The kind lives as long as the device.
    DeviceDescriptionKind = 26 "PJRT_DeviceDescription_Kind" {
        description: *mut DeviceDescription,
        kind: *const c_char,
        kind_size: usize,
    }
    DeviceGetDescription = 29 "PJRT_Device_GetDescription" {
        device: *mut Device,
        description: *mut DeviceDescription,
    }
    ExecutableDestroy = 40 "PJRT_Executable_Destroy" {
        executable: *mut Executable,
    }
    ExecutableNumOutputs = 44 "PJRT_Executable_NumOutputs" {
        executable: *mut Executable,
        count: usize,
    }
    /// The bytes live until the deleter is called with what backs them.
    ExecutableSerialize = 49 "PJRT_Executable_Serialize" {
        executable: *const Executable,
        bytes: *const c_char,
        byte_count: usize,
        backing: *mut SerializedExecutable,
        deleter: Option<unsafe extern "C" fn(*mut SerializedExecutable)>,
    }
    LoadedExecutableDestroy = 50 "PJRT_LoadedExecutable_Destroy" {
        executable: *mut LoadedExecutable,
    }
    LoadedExecutableGetExecutable = 51 "PJRT_LoadedExecutable_GetExecutable" {
        loaded: *mut LoadedExecutable,
        executable: *mut Executable,
    }
    /// The list lives as long as the executable.
    LoadedExecutableAddressableDevices = 52 "PJRT_LoadedExecutable_AddressableDevices" {
        executable: *mut LoadedExecutable,
        devices: *const *mut Device,
        count: usize,
    }
    LoadedExecutableExecute = 55 "PJRT_LoadedExecutable_Execute" {
        executable: *mut LoadedExecutable,
        options: *mut ExecuteOptions,
        argument_lists: *const *const *mut Buffer,
        device_count: usize,
        argument_count: usize,
        output_lists: *const *mut *mut Buffer,
        device_complete_events: *mut *mut Event,
        execute_device: *mut Device,
    }
    /// 0.71: options that override those of the executable.
    ExecutableDeserializeAndLoad = 56 "PJRT_Executable_DeserializeAndLoad" {
        client: *mut Client,
        bytes: *const c_char,
        byte_count: usize,
        loaded: *mut LoadedExecutable,
        options: *const c_char,
        options_size: usize,
    }
    BufferDestroy = 58 "PJRT_Buffer_Destroy" {
        buffer: *mut Buffer,
    }
    BufferElementType = 59 "PJRT_Buffer_ElementType" {
        buffer: *mut Buffer,
        element: c_int,
    }
    /// The sizes live as long as the buffer.
    BufferDimensions = 60 "PJRT_Buffer_Dimensions" {
        buffer: *mut Buffer,
        dims: *const i64,
        dim_count: usize,
    }
    BufferDevice = 65 "PJRT_Buffer_Device" {
        buffer: *mut Buffer,
        device: *mut Device,
    }
    BufferToHostBuffer = 70 "PJRT_Buffer_ToHostBuffer" {
        source: *mut Buffer,
        host_layout: *mut MemoryLayout,
        destination: *mut c_void,
        destination_size: usize,
        event: *mut Event,
    }
    BufferReadyEvent = 72 "PJRT_Buffer_ReadyEvent" {
        buffer: *mut Buffer,
        event: *mut Event,
    }
    /// The address is one of the host where the device is the host, and counts for as long as the buffer lives.
    BufferUnsafePointer = 73 "PJRT_Buffer_UnsafePointer" {
        buffer: *mut Buffer,
        address: usize,
    }
    TopologyDescriptionCreate = 82 "PJRT_TopologyDescription_Create" {
        name: *const c_char,
        name_size: usize,
        options: *const NamedValue,
        option_count: usize,
        topology: *mut TopologyDescription,
    }
    TopologyDescriptionDestroy = 83 "PJRT_TopologyDescription_Destroy" {
        topology: *mut TopologyDescription,
    }
    /// The name lives as long as the topology.
    TopologyDescriptionPlatformName = 84 "PJRT_TopologyDescription_PlatformName" {
        topology: *mut TopologyDescription,
        name: *const c_char,
        name_size: usize,
    }
    /// Without a client.
    Compile = 89 "PJRT_Compile" {
        topology: *const TopologyDescription,
        program: *const Program,
        options: *const c_char,
        options_size: usize,
        client: *mut Client,
        executable: *mut Executable,
    }
}

/// `PJRT_NamedValue`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct NamedValue {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
    pub(crate) name: *const c_char,
    pub(crate) name_size: usize,
    /// One of [`named`].
    pub(crate) kind: c_int,
    /// A number, the bits of one, or the address of several.
    pub(crate) value: u64,
    /// Elements of a list or characters of a text; 1 for a number.
    pub(crate) value_size: usize,
}

/// `PJRT_NamedValue_Type`.
pub(crate) mod named {
    use std::ffi::c_int;

    pub(crate) const STRING: c_int = 0;
    pub(crate) const INT64: c_int = 1;
    pub(crate) const INT64_LIST: c_int = 2;
    pub(crate) const FLOAT: c_int = 3;
    pub(crate) const BOOL: c_int = 4;
}

/// `PJRT_Program`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
    pub(crate) code: *mut c_char,
    pub(crate) code_size: usize,
    pub(crate) format: *const c_char,
    pub(crate) format_size: usize,
}

/// `PJRT_ExecuteOptions`. 0.64: `context`; 0.76: `call_location`; 0.78: incarnations; 0.97: `multi_slice_config`, which is among
/// the reserved words.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ExecuteOptions {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
    pub(crate) send_callbacks: *mut c_void,
    pub(crate) recv_callbacks: *mut c_void,
    pub(crate) send_count: usize,
    pub(crate) recv_count: usize,
    pub(crate) launch_id: c_int,
    pub(crate) non_donatable: *const i64,
    pub(crate) non_donatable_count: usize,
    pub(crate) context: *mut c_void,
    pub(crate) call_location: *const c_char,
    pub(crate) task_count: usize,
    pub(crate) task_ids: *mut c_int,
    pub(crate) incarnation_ids: *mut i64,
    pub(crate) reserved: [usize; RESERVED],
}

/// `PJRT_Buffer_MemoryLayout` with its tiled form, which is the larger one.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct MemoryLayout {
    pub(crate) struct_size: usize,
    pub(crate) extension_start: *mut c_void,
    pub(crate) tiled_struct_size: usize,
    pub(crate) tiled_extension_start: *mut c_void,
    pub(crate) minor_to_major: *const i64,
    pub(crate) minor_to_major_size: usize,
    pub(crate) tile_dims: *const i64,
    pub(crate) tile_dim_sizes: *const usize,
    pub(crate) tile_count: usize,
    /// 0 for tiled.
    pub(crate) kind: c_int,
}

/// `PJRT_CallbackError`: how a callback makes an error, which copies the message.
pub(crate) type CallbackError = unsafe extern "C" fn(c_int, *const c_char, usize) -> *mut Error;

/// Frees a value that a callback returned.
pub(crate) type KvDeleter = unsafe extern "C" fn(*mut c_char);

/// `PJRT_KeyValueGetCallback_Args`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct KvGet {
    pub(crate) header: Header,
    pub(crate) key: *const c_char,
    pub(crate) key_size: usize,
    pub(crate) timeout_ms: c_int,
    pub(crate) callback_error: *const CallbackError,
    pub(crate) user_argument: *mut c_void,
    pub(crate) value: *mut c_char,
    pub(crate) value_size: usize,
    pub(crate) value_deleter: Option<KvDeleter>,
}

/// `PJRT_KeyValueTryGetCallback_Args`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct KvTryGet {
    pub(crate) header: Header,
    pub(crate) key: *const c_char,
    pub(crate) key_size: usize,
    pub(crate) callback_error: *const CallbackError,
    pub(crate) user_argument: *mut c_void,
    pub(crate) value: *mut c_char,
    pub(crate) value_size: usize,
    pub(crate) value_deleter: Option<KvDeleter>,
}

/// `PJRT_KeyValuePutCallback_Args`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct KvPut {
    pub(crate) header: Header,
    pub(crate) key: *const c_char,
    pub(crate) key_size: usize,
    pub(crate) value: *const c_char,
    pub(crate) value_size: usize,
    pub(crate) callback_error: *const CallbackError,
    pub(crate) user_argument: *mut c_void,
}

/// `PJRT_HostBufferSemantics_kImmutableZeroCopy`: the memory may be what a buffer consists of, and is not written.
pub(crate) const IMMUTABLE_ZERO_COPY: c_int = 2;
/// `PJRT_HostBufferSemantics_kMutableZeroCopy`: the memory may be what a buffer consists of, and belongs to it: a computation to which
/// the buffer is donated writes its results there.
pub(crate) const MUTABLE_ZERO_COPY: c_int = 3;

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// Sizes as the header of the C API has them (`PJRT_..._STRUCT_SIZE`), up to the last field.
    #[test]
    fn layouts() {
        assert_eq!(size_of::<Api>(), 40);
        assert_eq!(size_of::<NamedValue>(), 56);
        assert_eq!(size_of::<Program>(), 48);
        assert_eq!(size_of::<MemoryLayout>(), 80);
        assert_eq!(offset_of!(ClientCreate, reserved), 88);
        assert_eq!(offset_of!(ClientCompile, reserved), 56);
        assert_eq!(offset_of!(ClientBufferFromHostBuffer, reserved), 120);
        assert_eq!(offset_of!(LoadedExecutableExecute, reserved), 80);
        assert_eq!(offset_of!(ExecutableDeserializeAndLoad, reserved), 64);
        assert_eq!(offset_of!(ExecutableSerialize, reserved), 56);
        assert_eq!(offset_of!(ExecuteOptions, reserved), 112);
        assert_eq!(offset_of!(BufferToHostBuffer, reserved), 56);
        assert_eq!(offset_of!(TopologyDescriptionCreate, reserved), 56);
        assert_eq!(offset_of!(Compile, reserved), 64);
        assert_eq!(size_of::<KvGet>(), 80);
        assert_eq!(size_of::<KvTryGet>(), 72);
        assert_eq!(size_of::<KvPut>(), 64);
    }
}
