//! Timing of benchmarks.

use std::time::{Duration, Instant};

/// The middle of the times of several runs.
///
/// # Panics
///
/// When there are no runs.
#[must_use]
pub fn middle(runs: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[runs / 2]
}
