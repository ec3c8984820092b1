//! A plugin: a shared object that is loaded, checked and initialised, once in a process.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use artifact_core::digest::Digest;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::api::{Api, list};
use crate::digests::{FileDigests, FileStamp, digest_of};
use crate::elf;
use crate::error::PluginError;
use crate::ffi;
use crate::named_value::NamedValue;
use crate::sys::{self, Arguments, Function, GetApi, MAJOR, MINOR_KNOWN, MINOR_MIN};

/// A loaded plugin. It stays loaded for as long as the process lives: it has threads of its own.
pub struct Plugin {
    path: PathBuf,
    api: Api,
    attributes: BTreeMap<String, NamedValue>,
    /// The file when it was loaded.
    stamp: FileStamp,
    /// Of the file, once it was asked for.
    digest: OnceLock<Digest>,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plugin({}, {:?})", self.path.display(), self.api)
    }
}

/// The functions that nothing can be done without.
const NEEDED: [Function; 21] = [
    sys::ErrorDestroy::FUNCTION,
    sys::ErrorMessage::FUNCTION,
    sys::ErrorGetCode::FUNCTION,
    sys::PluginInitialize::FUNCTION,
    sys::EventDestroy::FUNCTION,
    sys::EventIsReady::FUNCTION,
    sys::EventAwait::FUNCTION,
    sys::EventOnReady::FUNCTION,
    sys::ClientCreate::FUNCTION,
    sys::ClientDestroy::FUNCTION,
    sys::ClientPlatformName::FUNCTION,
    sys::ClientPlatformVersion::FUNCTION,
    sys::ClientAddressableDevices::FUNCTION,
    sys::ClientCompile::FUNCTION,
    sys::ClientBufferFromHostBuffer::FUNCTION,
    sys::ExecutableSerialize::FUNCTION,
    sys::LoadedExecutableDestroy::FUNCTION,
    sys::LoadedExecutableExecute::FUNCTION,
    sys::ExecutableDeserializeAndLoad::FUNCTION,
    sys::BufferDestroy::FUNCTION,
    sys::BufferToHostBuffer::FUNCTION,
];

impl Plugin {
    /// Loads a plugin, which runs its code. The path is one that the user or the environment named, and never one that came with an
    /// artifact. One that is loaded already is that one.
    ///
    /// # Errors
    /// A file that is not there, is no whole shared object for this machine, exports no `GetPjrtApi`, is of a version that is not
    /// known here, lacks a function, or does not initialise.
    pub fn open(path: &Path) -> Result<Arc<Self>, PluginError> {
        static LOADED: Mutex<BTreeMap<PathBuf, Arc<Plugin>>> = Mutex::new(BTreeMap::new());
        let refuse = |reason: String| PluginError::new(path, reason);
        let path = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
        // Held for all of it, so that two threads do not initialise it at once.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plugin) = loaded.get(&path) {
            return Ok(Arc::clone(plugin));
        }
        let plugin = Arc::new(Self::load(&path)?);
        loaded.insert(path, Arc::clone(&plugin));
        Ok(plugin)
    }

    fn load(path: &Path) -> Result<Self, PluginError> {
        let refuse = |reason: String| PluginError::new(path, reason);
        let unreadable = |error: std::io::Error| refuse(error.to_string());
        // Before it is opened: to open a pipe waits for whoever writes.
        if !path.metadata().map_err(unreadable)?.is_file() {
            return Err(refuse("it is no file".to_owned()));
        }
        let file = File::open(path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        elf::check(&file).map_err(unreadable)?.map_err(refuse)?;
        let api = get_api(path)?;
        check(&api).map_err(refuse)?;
        // SAFETY: the function takes nothing.
        unsafe { api.call(&mut sys::PluginInitialize::new()) }.map_err(|error| refuse(error.to_string()))?;
        ffi::register(api);
        Ok(Self {
            path: path.to_owned(),
            api,
            attributes: attributes(api),
            stamp: FileStamp::of(&found),
            digest: OnceLock::new(),
        })
    }

    /// The file, with no links left in its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The digest of the file, which is read once in a process at most.
    pub(crate) fn digest(&self, known: Option<&dyn FileDigests>) -> io::Result<Digest> {
        if let Some(digest) = self.digest.get() {
            return Ok(*digest);
        }
        let digest = digest_of(&self.path, self.stamp, known)?;
        Ok(*self.digest.get_or_init(|| digest))
    }

    pub(crate) const fn api(&self) -> Api {
        self.api
    }

    /// The version of the PJRT C API that it was built with: major, minor.
    #[must_use]
    pub fn api_version(&self) -> (i32, i32) {
        self.api.version()
    }

    /// What it says of itself: `xla_version`, `stablehlo_current_version`, `stablehlo_minimum_version` and others.
    #[must_use]
    pub const fn attributes(&self) -> &BTreeMap<String, NamedValue> {
        &self.attributes
    }
}

/// The table of a shared object that was looked at.
fn get_api(path: &Path) -> Result<Api, PluginError> {
    const SYMBOL: &[u8] = b"GetPjrtApi\0";
    let refuse = |reason: String| PluginError::new(path, reason);
    let loaded = |error: libloading::Error| refuse(format!("the system does not load it: {}", chain(&error)));
    // SAFETY: to load a plugin is to run its code, which whoever named the path wants.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(loaded)?;
    // SAFETY: a plugin exports the symbol with this type (`pjrt_c_api.h`).
    let found = unsafe { library.get::<GetApi>(SYMBOL) };
    let get_api = found.map_err(|_| refuse("it exports no GetPjrtApi".to_owned()))?;
    // SAFETY: as above.
    let api = unsafe { get_api() };
    let api =
        NonNull::new(api.cast_mut()).ok_or_else(|| refuse("its GetPjrtApi gives nothing".to_owned()))?;
    // It has threads and handlers of its own, and is never unloaded.
    std::mem::forget(library);
    // SAFETY: that is where it came from, and it stays loaded.
    Ok(unsafe { Api::new(api) })
}

/// An error and what led to it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// Refuses a table of another version, or without a function that is needed.
fn check(api: &Api) -> Result<(), String> {
    let (major, minor) = api.version();
    let known = format!(
        "known here are {MAJOR}.{MINOR_MIN} to {MAJOR}.{MINOR_KNOWN} and what later minor versions add"
    );
    if major != MAJOR {
        return Err(format!(
            "it speaks version {major}.{minor} of the PJRT C API; {known}"
        ));
    }
    if minor < MINOR_MIN {
        return Err(format!(
            "it speaks version {major}.{minor} of the PJRT C API, which is too old; {known}"
        ));
    }
    match NEEDED.into_iter().find(|function| !api.has(*function)) {
        Some(missing) => Err(format!("it lacks the function {}", missing.name)),
        None => Ok(()),
    }
}

fn attributes(api: Api) -> BTreeMap<String, NamedValue> {
    let mut arguments = sys::PluginAttributes::new();
    // SAFETY: the function takes nothing; the attributes live as long as the process.
    unsafe {
        // A plugin without attributes says nothing of itself.
        if api.call(&mut arguments).is_err() {
            return BTreeMap::new();
        }
        let all = list(arguments.attributes, arguments.count);
        all.iter().filter_map(|raw| NamedValue::read(raw)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of functions that nobody calls.
    #[repr(C)]
    struct Table {
        header: sys::Api,
        functions: [usize; 90],
    }

    fn checked(major: i32, minor: i32, change: impl FnOnce(&mut Table)) -> Result<(), String> {
        let mut table = Table {
            header: sys::Api {
                struct_size: size_of::<Table>(),
                extension_start: std::ptr::null_mut(),
                version: sys::ApiVersion {
                    struct_size: size_of::<sys::ApiVersion>(),
                    extension_start: std::ptr::null_mut(),
                    major,
                    minor,
                },
            },
            functions: [1; 90],
        };
        change(&mut table);
        let pointer = NonNull::from(&table).cast::<sys::Api>();
        // SAFETY: the table lives as long, and no function of it is called.
        check(&unsafe { Api::new(pointer) })
    }

    #[test]
    fn tables_that_are_not_used() {
        assert_eq!(checked(0, 106, |_| ()), Ok(()));
        assert_eq!(checked(0, 200, |_| ()), Ok(()));
        let refused = |major, minor, change: fn(&mut Table), why: &str| {
            let refusal = checked(major, minor, change).unwrap_err();
            assert!(refusal.contains(why), "{refusal}");
        };
        refused(
            1,
            0,
            |_| (),
            "version 1.0 of the PJRT C API; known here are 0.61 to 0.116",
        );
        refused(0, 33, |_| (), "version 0.33 of the PJRT C API, which is too old");
        let place = sys::BufferToHostBuffer::FUNCTION.place;
        assert_eq!(place, 70);
        refused(
            0,
            106,
            |table| table.functions[70] = 0,
            "lacks the function PJRT_Buffer_ToHostBuffer",
        );
        // Shorter than it should be.
        refused(
            0,
            106,
            |table| table.header.struct_size = size_of::<sys::Api>() + 20 * 8,
            "lacks the function PJRT_Client_Compile",
        );
    }
}
