//! Stops a call that takes too long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{EngineError, ErrorKind};
use crate::options::ExecuteOptions;

/// Asks calls to stop. Clones ask for the same.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every call that has it to stop, now and later.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Says when a call has to stop. It begins when it is made.
#[derive(Clone, Debug)]
pub struct Watch {
    until: Option<(Instant, Duration)>,
    cancellation: Option<Cancellation>,
}

impl Watch {
    /// The watch of a call that begins now.
    #[must_use]
    pub fn start(options: &ExecuteOptions) -> Self {
        // A limit beyond what the clock holds is none.
        let until = options
            .time_limit
            .and_then(|limit| Some((Instant::now().checked_add(limit)?, limit)));
        Self {
            until,
            cancellation: options.cancellation.clone(),
        }
    }

    /// Whether it can ever say stop: where it cannot, nobody needs to ask.
    #[must_use]
    pub const fn is_set(&self) -> bool {
        self.until.is_some() || self.cancellation.is_some()
    }

    /// # Errors
    /// [`ErrorKind::Cancelled`] and [`ErrorKind::TimeLimit`], when the call has to stop.
    pub fn check(&self) -> Result<(), EngineError> {
        if self.cancellation.as_ref().is_some_and(Cancellation::is_cancelled) {
            return Err(EngineError::new(ErrorKind::Cancelled, "the run was cancelled"));
        }
        match self.until {
            Some((until, limit)) if Instant::now() >= until => {
                let message = format!("the program runs for more than {} seconds", limit.as_secs_f64());
                Err(EngineError::new(ErrorKind::TimeLimit, message))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_to_stop() {
        let none = Watch::start(&ExecuteOptions::default());
        assert!(!none.is_set() && none.check().is_ok());
        let cancellation = Cancellation::new();
        let watch = Watch::start(&ExecuteOptions {
            cancellation: Some(cancellation.clone()),
            time_limit: Some(Duration::MAX),
            ..ExecuteOptions::default()
        });
        assert!(watch.is_set() && watch.check().is_ok());
        cancellation.cancel();
        assert_eq!(watch.check().unwrap_err().kind(), ErrorKind::Cancelled);
        let over = Watch::start(&ExecuteOptions {
            time_limit: Some(Duration::ZERO),
            ..ExecuteOptions::default()
        });
        assert_eq!(over.check().unwrap_err().kind(), ErrorKind::TimeLimit);
    }
}
