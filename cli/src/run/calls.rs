//! The calls of a run, and how long they took.

use std::time::{Duration, Instant};

use artifact_engine::{Argument, EngineError, ExecuteOptions, Report, Value};
use artifact_runtime::Binding;
use serde_json::json;

use super::profile::time_text;

/// What came of calling a program one or several times.
pub(super) struct Calls {
    /// Of the last call.
    pub(super) results: Vec<Value>,
    /// Of the last call.
    pub(super) report: Report,
    compile_time: Duration,
    /// Of each call, in order.
    times: Vec<Duration>,
}

/// Times of the calls after the first, which finds nothing in the processor's caches.
struct Later {
    fastest: Duration,
    median: Duration,
    slowest: Duration,
}

impl Calls {
    /// Compiles a program and calls it, with the same arguments each time; memory of results is used again.
    pub(super) fn run(
        binding: &Binding,
        inputs: &[Value],
        limits: &ExecuteOptions,
        count: u32,
    ) -> Result<Self, EngineError> {
        let start = Instant::now();
        binding.prepare(inputs)?;
        let mut calls = Self {
            results: Vec::new(),
            report: Report::default(),
            compile_time: start.elapsed(),
            times: Vec::new(),
        };
        for _ in 0..count {
            let mut arguments: Vec<Argument<'_>> = inputs.iter().map(Argument::from).collect();
            let start = Instant::now();
            calls.report = binding.run(&mut arguments, &mut calls.results, limits)?;
            calls.times.push(start.elapsed());
        }
        Ok(calls)
    }

    fn later(&self) -> Option<Later> {
        let mut times = self.times.get(1..)?.to_vec();
        times.sort_unstable();
        Some(Later {
            fastest: *times.first()?,
            median: *times.get(times.len() / 2)?,
            slowest: *times.last()?,
        })
    }

    pub(super) fn times_text(&self) -> String {
        let first = self.times.first().copied().unwrap_or_default();
        let later = self.later().map_or_else(String::new, |later| {
            format!(
                "; the others: median {}, fastest {}, slowest {}",
                time_text(later.median),
                time_text(later.fastest),
                time_text(later.slowest)
            )
        });
        format!(
            "compiled in {}, called {} times: the first {}{later}\n",
            time_text(self.compile_time),
            self.times.len(),
            time_text(first)
        )
    }

    pub(super) fn times_json(&self) -> serde_json::Value {
        let later = self.later();
        let seconds = |time: fn(&Later) -> Duration| later.as_ref().map(|later| time(later).as_secs_f64());
        json!({
            "compile_seconds": self.compile_time.as_secs_f64(),
            "count": self.times.len(),
            "first_seconds": self.times.first().map(Duration::as_secs_f64),
            "median_seconds": seconds(|later| later.median),
            "fastest_seconds": seconds(|later| later.fastest),
            "slowest_seconds": seconds(|later| later.slowest),
        })
    }
}
