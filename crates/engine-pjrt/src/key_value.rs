//! Where the processes of a run tell each other what their plugins need to know, such as the identifier of an NCCL clique.
//!
//! A plugin calls back into [`KeyValueStore`], which a coordination service implements; [`InMemory`] is that of processes of one
//! machine's tests, and of a process alone.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::api::bytes;
use crate::error::{INTERNAL, NOT_FOUND};
use crate::sys::{self, CallbackError};

/// What a store says when it does not do what it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValueError {
    /// A code as those of gRPC: 4 for a time that ran out, 5 for a key that is not there, 6 for one that is there already.
    pub code: i32,
    /// What happened.
    pub message: String,
}

/// A store that processes share. Keys are written once.
pub trait KeyValueStore: fmt::Debug + Send + Sync {
    /// The value of a key, waited for as long as is said.
    ///
    /// # Errors
    /// 4 (deadline exceeded) when it did not come in time.
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>, KeyValueError>;

    /// The value of a key, if it is there.
    ///
    /// # Errors
    /// 5 (not found) when it is not.
    fn try_get(&self, key: &[u8]) -> Result<Vec<u8>, KeyValueError>;

    /// Writes a key.
    ///
    /// # Errors
    /// 6 (already exists) when it was written before.
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), KeyValueError>;
}

/// A store in the memory of one process.
#[derive(Debug, Default)]
pub struct InMemory {
    values: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    written: Condvar,
}

impl KeyValueStore for InMemory {
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>, KeyValueError> {
        let until = Instant::now().checked_add(timeout);
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = values.get(key) {
                return Ok(value.clone());
            }
            let left = until.map_or(timeout, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                let shown = String::from_utf8_lossy(key);
                return Err(KeyValueError {
                    code: 4,
                    message: format!("nobody wrote the key `{shown}` within {timeout:?}"),
                });
            }
            let woken = self.written.wait_timeout(values, left);
            values = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn try_get(&self, key: &[u8]) -> Result<Vec<u8>, KeyValueError> {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.get(key).cloned().ok_or_else(|| KeyValueError {
            code: NOT_FOUND,
            message: format!("nobody wrote the key `{}`", String::from_utf8_lossy(key)),
        })
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), KeyValueError> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.contains_key(key) {
            return Err(KeyValueError {
                code: 6,
                message: format!("the key `{}` was written before", String::from_utf8_lossy(key)),
            });
        }
        values.insert(key.to_vec(), value.to_vec());
        self.written.notify_all();
        Ok(())
    }
}

/// Has a client call back into a store, which must outlive it where it is.
pub(crate) fn install(create: &mut sys::ClientCreate, store: &Arc<dyn KeyValueStore>) {
    let argument = std::ptr::from_ref(store).cast_mut().cast::<c_void>();
    create.kv_get = Some(get);
    create.kv_get_argument = argument;
    create.kv_put = Some(put);
    create.kv_put_argument = argument;
    create.kv_try_get = Some(try_get);
    create.kv_try_get_argument = argument;
}

/// Does what a callback is for; a panic of the store is an error, as it may not pass through the plugin.
///
/// # Safety
/// The argument is what [`install`] set, and its store is there.
unsafe fn with<T>(
    argument: *mut c_void,
    work: impl FnOnce(&dyn KeyValueStore) -> Result<T, KeyValueError>,
) -> Result<T, KeyValueError> {
    // SAFETY: the caller's promise.
    let store = unsafe { &*argument.cast_const().cast::<Arc<dyn KeyValueStore>>() };
    catch_unwind(AssertUnwindSafe(|| work(&**store))).unwrap_or_else(|_| {
        Err(KeyValueError {
            code: INTERNAL,
            message: "the key-value store panicked".to_owned(),
        })
    })
}

/// An error as the plugin makes it.
///
/// # Safety
/// The function is that of the call that is answered.
unsafe fn refuse(make: *const CallbackError, error: &KeyValueError) -> *mut sys::Error {
    // SAFETY: the caller's promise; the plugin copies the message.
    unsafe {
        (*make)(
            error.code,
            error.message.as_ptr().cast::<c_char>(),
            error.message.len(),
        )
    }
}

/// Leaves a value for the plugin, which copies it and calls [`free`].
fn leave(value: &[u8]) -> *mut c_char {
    // The length stands in front, for whoever frees it.
    let mut kept = Vec::with_capacity(size_of::<usize>() + value.len());
    kept.extend_from_slice(&value.len().to_ne_bytes());
    kept.extend_from_slice(value);
    let start = Box::into_raw(kept.into_boxed_slice()).cast::<u8>();
    start.wrapping_add(size_of::<usize>()).cast::<c_char>()
}

/// # Safety
/// It is what [`leave`] gave, once.
unsafe extern "C" fn free(value: *mut c_char) {
    let start = value.cast::<u8>().wrapping_sub(size_of::<usize>());
    // SAFETY: the caller's promise: the length stands in front of the value, and both are one box.
    unsafe {
        let length = start.cast::<usize>().read_unaligned();
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(
            start,
            size_of::<usize>() + length,
        )));
    }
}

/// # Safety
/// The plugin calls it, with arguments that are there.
unsafe extern "C" fn get(arguments: *mut sys::KvGet) -> *mut sys::Error {
    // SAFETY: the caller's promise.
    unsafe {
        let arguments = &mut *arguments;
        let key = bytes(arguments.key, arguments.key_size);
        let timeout = Duration::from_millis(u64::try_from(arguments.timeout_ms).unwrap_or(0));
        match with(arguments.user_argument, |store| store.get(key, timeout)) {
            Ok(value) => {
                arguments.value = leave(&value);
                arguments.value_size = value.len();
                arguments.value_deleter = Some(free);
                std::ptr::null_mut()
            }
            Err(error) => refuse(arguments.callback_error, &error),
        }
    }
}

/// # Safety
/// As for [`get`].
unsafe extern "C" fn try_get(arguments: *mut sys::KvTryGet) -> *mut sys::Error {
    // SAFETY: the caller's promise.
    unsafe {
        let arguments = &mut *arguments;
        let key = bytes(arguments.key, arguments.key_size);
        match with(arguments.user_argument, |store| store.try_get(key)) {
            Ok(value) => {
                arguments.value = leave(&value);
                arguments.value_size = value.len();
                arguments.value_deleter = Some(free);
                std::ptr::null_mut()
            }
            Err(error) => refuse(arguments.callback_error, &error),
        }
    }
}

/// # Safety
/// As for [`get`].
unsafe extern "C" fn put(arguments: *mut sys::KvPut) -> *mut sys::Error {
    // SAFETY: the caller's promise.
    unsafe {
        let arguments = &*arguments;
        let key = bytes(arguments.key, arguments.key_size);
        let value = bytes(arguments.value, arguments.value_size);
        match with(arguments.user_argument, |store| store.put(key, value)) {
            Ok(()) => std::ptr::null_mut(),
            Err(error) => refuse(arguments.callback_error, &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    use super::*;

    /// Stands for the plugin's way of making an error: the code is all that is kept.
    unsafe extern "C" fn make_error(code: c_int, _: *const c_char, _: usize) -> *mut sys::Error {
        std::ptr::without_provenance_mut(usize::try_from(code).unwrap())
    }

    fn asked(store: &Arc<dyn KeyValueStore>, key: &str) -> Result<Vec<u8>, usize> {
        let make: CallbackError = make_error;
        let mut arguments = sys::KvTryGet {
            header: sys::Header {
                struct_size: size_of::<sys::KvTryGet>(),
                extension_start: std::ptr::null_mut(),
            },
            key: key.as_ptr().cast::<c_char>(),
            key_size: key.len(),
            callback_error: &raw const make,
            user_argument: std::ptr::from_ref(store).cast_mut().cast::<c_void>(),
            value: std::ptr::null_mut(),
            value_size: 0,
            value_deleter: None,
        };
        // SAFETY: the arguments are there, and what comes back is read before it is freed.
        unsafe {
            let error = try_get(&raw mut arguments);
            if !error.is_null() {
                return Err(error.addr());
            }
            let value = bytes(arguments.value, arguments.value_size).to_vec();
            arguments.value_deleter.unwrap()(arguments.value);
            Ok(value)
        }
    }

    #[test]
    fn values_pass_through_callbacks() {
        let store: Arc<dyn KeyValueStore> = Arc::new(InMemory::default());
        assert_eq!(asked(&store, "a"), Err(5));
        store.put(b"a", b"1").unwrap();
        store.put(b"empty", b"").unwrap();
        assert_eq!(asked(&store, "a"), Ok(b"1".to_vec()));
        assert_eq!(asked(&store, "empty"), Ok(Vec::new()));
        assert_eq!(store.put(b"a", b"2").unwrap_err().code, 6);
        assert_eq!(store.get(b"b", Duration::from_millis(1)).unwrap_err().code, 4);
    }

    #[test]
    fn a_value_is_waited_for() {
        let store = Arc::new(InMemory::default());
        let other = Arc::clone(&store);
        let thread = std::thread::spawn(move || other.get(b"key", Duration::from_secs(60)));
        store.put(b"key", b"value").unwrap();
        assert_eq!(thread.join().unwrap(), Ok(b"value".to_vec()));
    }

    #[derive(Debug)]
    struct Panics;

    impl KeyValueStore for Panics {
        fn get(&self, _: &[u8], _: Duration) -> Result<Vec<u8>, KeyValueError> {
            panic!("no")
        }

        fn try_get(&self, _: &[u8]) -> Result<Vec<u8>, KeyValueError> {
            panic!("no")
        }

        fn put(&self, _: &[u8], _: &[u8]) -> Result<(), KeyValueError> {
            panic!("no")
        }
    }

    #[test]
    fn a_panic_does_not_reach_the_plugin() {
        let store: Arc<dyn KeyValueStore> = Arc::new(Panics);
        assert_eq!(asked(&store, "a"), Err(usize::try_from(INTERNAL).unwrap()));
    }
}
