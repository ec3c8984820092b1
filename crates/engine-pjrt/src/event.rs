//! The end of something that a plugin does on threads of its own.

use std::any::Any;
use std::ffi::c_void;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

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

    /// Its end as a future.
    pub(crate) const fn end(&self) -> End<'_> {
        End {
            event: self,
            waker: None,
        }
    }

    fn is_ready(&self) -> Result<bool, PjrtError> {
        let mut ask = sys::EventIsReady::new();
        ask.event = self.pointer;
        // SAFETY: the event is there.
        unsafe { self.api.call(&mut ask) }?;
        Ok(ask.is_ready)
    }

    /// Holds something until it has come. Where the plugin does not say when, that is for ever.
    pub(crate) fn hold(&self, held: Box<dyn Any + Send>) {
        if self.pointer.is_null() {
            std::mem::forget(held);
            return;
        }
        // Where the plugin refuses, nobody lets it go: what it may still read stays.
        let _ = self.then(Box::new(move || drop(held)));
    }

    /// Calls something when it has come, on whichever thread. It is not called, nor dropped, where the plugin refuses.
    fn then(&self, call: Box<dyn FnOnce() + Send>) -> Result<(), PjrtError> {
        let callback = Box::into_raw(Box::new(Callback { api: self.api, call }));
        let mut listen = sys::EventOnReady::new();
        listen.event = self.pointer;
        listen.callback = Some(called);
        listen.user_argument = callback.cast::<c_void>();
        // SAFETY: the callback takes the box, once.
        unsafe { self.api.call(&mut listen) }
    }
}

/// Waits for an event.
pub(crate) struct End<'e> {
    event: &'e Event,
    /// Whom the plugin wakes, once it was asked to.
    waker: Option<Arc<Mutex<Waker>>>,
}

impl Future for End<'_> {
    type Output = Result<(), PjrtError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let event = self.event;
        if let Some(waker) = &self.waker {
            let mut waker = waker.lock().unwrap_or_else(PoisonError::into_inner);
            waker.clone_from(context.waker());
        }
        if event.pointer.is_null() || event.is_ready()? {
            return Poll::Ready(event.wait());
        }
        if self.waker.is_none() {
            let waker = Arc::new(Mutex::new(context.waker().clone()));
            self.waker = Some(Arc::clone(&waker));
            event.then(Box::new(move || {
                let waker = waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
                waker.wake();
            }))?;
        }
        Poll::Pending
    }
}

/// What a callback gets.
struct Callback {
    api: Api,
    call: Box<dyn FnOnce() + Send>,
}

/// # Safety
/// The argument is a box of [`Callback`], and the error this callback's own.
unsafe extern "C" fn called(error: *mut sys::Error, callback: *mut c_void) {
    // SAFETY: the caller's promise.
    let Callback { api, call } = *unsafe { Box::from_raw(callback.cast::<Callback>()) };
    // Whoever waits for the event, or uses the buffer, is told what went wrong.
    let _ = api.told("PJRT_Event_OnReady", error);
    call();
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
