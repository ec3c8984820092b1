//! Messages between processes. Sending never waits; receiving waits until the message is there.
//!
//! All collectives are built on this: every member of a group sends its part to the others and waits for theirs. Messages on
//! one channel arrive in the order in which they were sent. When every process that still runs waits for a message that is
//! not there, none will ever come: all of them stop with an error that says who waits where.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::EvalError;
use crate::tensor::Tensor;

/// What a message belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Channel {
    /// The kind of operation: two kinds never exchange messages.
    pub(crate) operation: &'static str,
    /// The channel's number in the program.
    pub(crate) id: i64,
    /// The sending process; `None` for the host, which passes on what any process sends it.
    pub(crate) from: Option<usize>,
    /// The receiving process; `None` for the host.
    pub(crate) to: Option<usize>,
}

/// The messages that are on their way within a grid.
#[derive(Debug)]
pub(crate) struct Network {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queues: HashMap<Channel, VecDeque<Vec<Tensor>>>,
    /// Processes that have not ended.
    running: usize,
    /// What each waiting process waits for.
    waiting: BTreeMap<usize, Channel>,
    failure: Option<EvalError>,
}

impl State {
    fn is_ready(&self, channel: &Channel) -> bool {
        self.queues.get(channel).is_some_and(|queue| !queue.is_empty())
    }

    fn is_stuck(&self) -> bool {
        let stuck = |channel| !self.is_ready(channel);
        self.running > 0 && self.waiting.len() == self.running && self.waiting.values().all(stuck)
    }

    fn deadlock(&self) -> EvalError {
        let waiting = self.waiting.iter();
        let described: Vec<String> = waiting
            .map(|(process, channel)| {
                let from = channel
                    .from
                    .map_or_else(|| "the host".to_owned(), |from| format!("process {from}"));
                format!("process {process} in {} for {from}", channel.operation)
            })
            .collect();
        EvalError::runtime(format!(
            "deadlock: every process that still runs waits: {}",
            described.join(", ")
        ))
    }
}

/// A process's part in the network; dropping it says that the process has ended.
pub(crate) struct Membership<'a>(&'a Network);

impl Drop for Membership<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running -= 1;
        if state.failure.is_none() && state.is_stuck() {
            state.failure = Some(state.deadlock());
        }
        self.0.changed.notify_all();
    }
}

impl Network {
    /// A network between `processes` processes, all of which are going to [`Network::join`].
    pub(crate) fn new(processes: usize) -> Self {
        let state = State {
            running: processes,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// A process begins.
    pub(crate) const fn join(&self) -> Membership<'_> {
        Membership(self)
    }

    /// Stops every process that waits or is going to wait. The first error stays.
    pub(crate) fn fail(&self, error: EvalError) {
        self.lock().failure.get_or_insert(error);
        self.changed.notify_all();
    }

    /// Why processes were stopped, if they were.
    pub(crate) fn failure(&self) -> Option<EvalError> {
        self.lock().failure.clone()
    }

    /// Sends a message.
    pub(crate) fn send(&self, channel: Channel, message: Vec<Tensor>) {
        self.lock().queues.entry(channel).or_default().push_back(message);
        self.changed.notify_all();
    }

    /// Takes the oldest message of a channel, waiting for one if there is none.
    ///
    /// # Errors
    /// The failure of another process, or a runtime error in a deadlock.
    pub(crate) fn receive(&self, process: usize, channel: &Channel) -> Result<Vec<Tensor>, EvalError> {
        let mut state = self.lock();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if let Some(message) = state.queues.get_mut(channel).and_then(VecDeque::pop_front) {
                state.waiting.remove(&process);
                return Ok(message);
            }
            state.waiting.insert(process, channel.clone());
            if state.is_stuck() {
                let failure = state.deadlock();
                state.failure = Some(failure);
                self.changed.notify_all();
                continue;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A process that panics holds no half-made change: every change is one statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(from: usize, to: usize) -> Channel {
        Channel {
            operation: "test",
            id: 0,
            from: Some(from),
            to: Some(to),
        }
    }

    #[test]
    fn a_deadlock_ends_every_process() {
        let network = Network::new(2);
        let errors: Vec<EvalError> = std::thread::scope(|scope| {
            let wait = |process: usize| {
                let _membership = network.join();
                network
                    .receive(process, &channel(1 - process, process))
                    .unwrap_err()
            };
            let threads = [0, 1].map(|process| scope.spawn(move || wait(process)));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for error in errors {
            assert!(
                error.to_string().contains("process 1 in test for process 0"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_process_that_ends_leaves_nobody_waiting() {
        let network = Network::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let _membership = network.join();
                network.receive(1, &channel(0, 1))
            });
            drop(network.join());
            assert!(waiting.join().unwrap().is_err());
        });
    }
}
