//! Calls of a plugin's functions: the table, with every error as a value.

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::ptr::NonNull;

use crate::error::{INTERNAL, PjrtError, UNIMPLEMENTED};
use crate::sys::{self, Arguments, Call, Function};

/// The table of a plugin, which stays where it is for as long as the process lives.
#[derive(Clone, Copy)]
pub(crate) struct Api(NonNull<sys::Api>);

// SAFETY: the table is never written after the plugin made it, and its functions may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version();
        write!(f, "Api({major}.{minor})")
    }
}

impl Api {
    /// # Safety
    /// The pointer is what `GetPjrtApi` of a plugin gave, and the plugin stays loaded.
    pub(crate) const unsafe fn new(api: NonNull<sys::Api>) -> Self {
        Self(api)
    }

    fn header(&self) -> &sys::Api {
        // SAFETY: the promise of whoever made it.
        unsafe { self.0.as_ref() }
    }

    /// Major and minor version.
    pub(crate) fn version(&self) -> (i32, i32) {
        let version = &self.header().version;
        (version.major, version.minor)
    }

    /// Whether the table is as long as its version says, as far as it is looked at here.
    pub(crate) fn has(&self, function: Function) -> bool {
        self.function(function).is_some()
    }

    /// The extension of a number, if the plugin has it. It stays where it is.
    pub(crate) fn extension(&self, kind: c_int) -> Option<*mut c_void> {
        let mut extension = self.header().extension_start.cast::<sys::Extension>();
        for _ in 0..EXTENSIONS_MAX {
            // SAFETY: each is an extension or null.
            let found = unsafe { extension.as_ref() }?;
            if found.kind == kind {
                return Some(extension.cast::<c_void>());
            }
            extension = found.next;
        }
        None
    }

    fn function(&self, function: Function) -> Option<Call> {
        let offset = size_of::<sys::Api>() + function.place * size_of::<usize>();
        if offset + size_of::<usize>() > self.header().struct_size {
            return None;
        }
        let place = self
            .0
            .as_ptr()
            .cast::<u8>()
            .wrapping_add(offset)
            .cast::<Option<Call>>();
        // SAFETY: the table is as long; a place in it holds a function or null.
        unsafe { place.read() }
    }

    /// Calls the function of a struct, which takes its results.
    ///
    /// # Safety
    /// What the struct points to is what the function takes, for as long as it takes it.
    pub(crate) unsafe fn call<A: Arguments>(&self, arguments: &mut A) -> Result<(), PjrtError> {
        let call = self.function(A::FUNCTION).ok_or_else(|| PjrtError {
            function: A::FUNCTION.name,
            code: UNIMPLEMENTED,
            message: "the plugin has no such function".to_owned(),
        })?;
        // SAFETY: the struct is that of the function; the caller's promise for what it points to.
        let error = unsafe { call(std::ptr::from_mut(arguments).cast::<c_void>()) };
        self.told(A::FUNCTION.name, error)
    }

    /// Takes an error that a function made.
    pub(crate) fn told(&self, function: &'static str, error: *mut sys::Error) -> Result<(), PjrtError> {
        if error.is_null() {
            return Ok(());
        }
        let told = PjrtError {
            function,
            code: self.code(error),
            message: self.message(error),
        };
        let mut destroy = sys::ErrorDestroy::new();
        destroy.error = error;
        // SAFETY: nobody uses the error any more.
        unsafe { self.call_void(&mut destroy) };
        Err(told)
    }

    fn message(&self, error: *mut sys::Error) -> String {
        let mut arguments = sys::ErrorMessage::new();
        arguments.error = error;
        // SAFETY: the error is there.
        unsafe {
            self.call_void(&mut arguments);
            text(arguments.message, arguments.message_size)
        }
    }

    fn code(&self, error: *mut sys::Error) -> i32 {
        let mut arguments = sys::ErrorGetCode::new();
        arguments.error = error;
        let Some(call) = self.function(<sys::ErrorGetCode as Arguments>::FUNCTION) else {
            return INTERNAL;
        };
        // SAFETY: the error is there. Were there an error about the error, it would be lost, and so would the code.
        let nested = unsafe { call(std::ptr::from_mut(&mut arguments).cast::<c_void>()) };
        if nested.is_null() {
            arguments.code
        } else {
            INTERNAL
        }
    }

    /// Calls a function that returns nothing.
    ///
    /// # Safety
    /// As for [`Api::call`].
    unsafe fn call_void<A: Arguments>(&self, arguments: &mut A) {
        if let Some(call) = self.function(A::FUNCTION) {
            // SAFETY: the caller's promise. What such a function leaves in the place of a result is not looked at.
            let _ = unsafe { call(std::ptr::from_mut(arguments).cast::<c_void>()) };
        }
    }
}

/// More extensions than any plugin has: a list without an end is not followed.
const EXTENSIONS_MAX: usize = 256;

/// Text that a plugin gave.
///
/// # Safety
/// There are so many bytes, or the pointer is null.
pub(crate) unsafe fn text(data: *const c_char, size: usize) -> String {
    // SAFETY: the caller's promise.
    String::from_utf8_lossy(unsafe { bytes(data, size) }).into_owned()
}

/// Bytes that a plugin gave, for as long as they live.
///
/// # Safety
/// There are so many bytes, or the pointer is null; they live as long as the result.
pub(crate) unsafe fn bytes<'a>(data: *const c_char, size: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { list(data.cast::<u8>(), size) }
}

/// Elements that a plugin gave, for as long as they live.
///
/// # Safety
/// There are so many elements, or the pointer is null; they live as long as the result.
pub(crate) unsafe fn list<'a, T>(data: *const T, count: usize) -> &'a [T] {
    let is_possible = count
        .checked_mul(size_of::<T>())
        .is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if data.is_null() || count == 0 || !is_possible {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(data, count) }
}
