//! The end of a call, awaited or waited for.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::error::EngineError;
use crate::executable::Report;
use crate::value::Value;

/// A call that is under way. Dropping it before its end gives up the results, and may block until nothing that the call borrowed is
/// used any more.
pub type Completion<'a> = Pin<Box<dyn Future<Output = Result<Report, EngineError>> + Send + 'a>>;

/// A call that runs in the thread that first asks for its end. After an error there are no results.
pub fn at_once<'a>(
    results: &'a mut Vec<Value>,
    run: impl FnOnce(&mut Vec<Value>) -> Result<Report, EngineError> + Send + 'a,
) -> Completion<'a> {
    Box::pin(async move { run(results).inspect_err(|_| results.clear()) })
}

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks this thread until a future is done. It needs no runtime, and runs none: a future that needs one waits for ever.
pub fn wait<F: Future + Unpin>(mut future: F) -> F::Output {
    // Most calls of most engines are done when they are first asked.
    if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
        return output;
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match Pin::new(&mut future).poll(&mut context) {
            Poll::Ready(output) => return output,
            // A wake-up before this is not lost: it leaves a token.
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Done when a thread says so.
    struct Later(Option<thread::JoinHandle<()>>, bool);

    impl Future for Later {
        type Output = u32;

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
            if self.0.take().is_some_and(|thread| thread.join().is_ok()) {
                return Poll::Ready(7);
            }
            if !std::mem::replace(&mut self.1, true) {
                // The first poll tells nobody.
                return Poll::Pending;
            }
            let waker = context.waker().clone();
            self.0 = Some(thread::spawn(move || waker.wake()));
            Poll::Pending
        }
    }

    #[test]
    fn a_thread_is_woken() {
        assert_eq!(wait(Later(None, false)), 7);
        assert_eq!(wait(std::future::ready(1)), 1);
    }
}
