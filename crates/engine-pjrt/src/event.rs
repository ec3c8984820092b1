//! The end of something that a plugin does on threads of its own.

use std::ffi::c_void;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::api::Api;
use crate::error::PjrtError;
use crate::sys;

/// An event, which is awaited or waited for.
#[derive(Debug)]
pub(crate) struct Event {
    api: Api,
    pointer: *mut sys::Event,
    /// Set once somebody awaits it.
    heard: Option<Arc<Mutex<Heard>>>,
}

// SAFETY: an event may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// What the plugin's thread tells the one that awaits.
#[derive(Debug, Default)]
struct Heard {
    outcome: Option<Result<(), PjrtError>>,
    waker: Option<Waker>,
}

impl Event {
    /// # Safety
    /// The pointer is an event of the plugin that nobody else destroys, or null for one that has been.
    pub(crate) const unsafe fn new(api: Api, pointer: *mut sys::Event) -> Self {
        Self {
            api,
            pointer,
            heard: None,
        }
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

    /// Has the plugin call back once it has come.
    fn listen(&self, heard: &Arc<Mutex<Heard>>) -> Result<(), PjrtError> {
        let mut listen = sys::EventOnReady::new();
        listen.event = self.pointer;
        listen.callback = Some(ready);
        let told = Box::new(Told {
            api: self.api,
            heard: Arc::clone(heard),
        });
        let told = Box::into_raw(told);
        listen.user_argument = told.cast::<c_void>();
        // SAFETY: the callback takes the box, once. Where there is none it is taken back.
        unsafe {
            self.api
                .call(&mut listen)
                .inspect_err(|_| drop(Box::from_raw(told)))
        }
    }
}

/// What a callback gets.
struct Told {
    api: Api,
    heard: Arc<Mutex<Heard>>,
}

/// # Safety
/// The argument is a box of [`Told`], and the error this callback's own.
unsafe extern "C" fn ready(error: *mut sys::Error, told: *mut c_void) {
    // SAFETY: the caller's promise.
    let told = unsafe { Box::from_raw(told.cast::<Told>()) };
    let outcome = told.api.told("the work of a device", error);
    let waker = {
        let mut heard = told.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.outcome = Some(outcome);
        heard.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Future for Event {
    type Output = Result<(), PjrtError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.pointer.is_null() {
            return Poll::Ready(Ok(()));
        }
        let heard = match &self.heard {
            Some(heard) => Arc::clone(heard),
            None => {
                let heard = Arc::default();
                self.listen(&heard)?;
                self.heard = Some(Arc::clone(&heard));
                heard
            }
        };
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        match heard.outcome.clone() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                heard.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.pointer.is_null() {
            return;
        }
        let mut destroy = sys::EventDestroy::new();
        destroy.event = self.pointer;
        // SAFETY: nobody else has it. A callback that waits for it keeps what it needs.
        let _ = unsafe { self.api.call(&mut destroy) };
    }
}
