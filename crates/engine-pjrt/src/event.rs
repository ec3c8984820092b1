//! The end of something that a plugin does on threads of its own.

use std::any::Any;
use std::ffi::c_void;

use crate::api::Api;
use crate::error::PjrtError;
use crate::sys;

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    api: Api,
    pointer: *mut sys::Event,
}

// SAFETY: an event may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// # Safety
    /// The pointer is an event of the plugin that nobody else destroys, or null for one that has been.
    pub(crate) const unsafe fn new(api: Api, pointer: *mut sys::Event) -> Self {
        Self { api, pointer }
    }

    /// Blocks until it has come.
    pub(crate) fn wait(&self) -> Result<(), PjrtError> {
        if self.pointer.is_null() {
            return Ok(());
        }
        let mut wait = sys::EventAwait::new();
        wait.event = self.pointer;
        // SAFETY: the event is there.
        unsafe { self.api.call(&mut wait) }
    }

    /// Holds something until it has come. Where the plugin does not say when, that is for ever.
    pub(crate) fn hold(&self, held: Box<dyn Any + Send>) {
        if self.pointer.is_null() {
            std::mem::forget(held);
            return;
        }
        let held = Box::into_raw(Box::new(Held { api: self.api, held }));
        let mut listen = sys::EventOnReady::new();
        listen.event = self.pointer;
        listen.callback = Some(let_go);
        listen.user_argument = held.cast::<c_void>();
        // SAFETY: the callback takes the box, once. Where the plugin refuses it, nobody does: what it may still read stays.
        let _ = unsafe { self.api.call(&mut listen) };
    }
}

/// What a callback gets.
struct Held {
    api: Api,
    held: Box<dyn Any + Send>,
}

/// # Safety
/// The argument is a box of [`Held`], and the error this callback's own.
unsafe extern "C" fn let_go(error: *mut sys::Error, held: *mut c_void) {
    // SAFETY: the caller's promise.
    let Held { api, held } = *unsafe { Box::from_raw(held.cast::<Held>()) };
    // Whoever uses the buffer is told what went wrong.
    let _ = api.told("PJRT_Event_OnReady", error);
    drop(held);
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.pointer.is_null() {
            return;
        }
        let mut destroy = sys::EventDestroy::new();
        destroy.event = self.pointer;
        // SAFETY: nobody else has it. What waits for it is called even so.
        let _ = unsafe { self.api.call(&mut destroy) };
    }
}
