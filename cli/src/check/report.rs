//! Counting and printing verdicts.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::check::plan::Task;
use crate::failure::{Exit, Outcome};
use crate::output;

/// What came of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All that it must give, it gave.
    Passed,
    /// It ran, and says nothing of what it must give.
    PassedWithoutExpectation,
    /// Something differs.
    Failed(String),
    /// It cannot be judged here, and why.
    Unsupported(String),
}

impl Verdict {
    const fn word(&self) -> &'static str {
        match self {
            Self::Passed | Self::PassedWithoutExpectation => "passed",
            Self::Failed(_) => "failed",
            Self::Unsupported(_) => "unsupported",
        }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Passed => "",
            Self::PassedWithoutExpectation => "it ran; it expects nothing",
            Self::Failed(reason) | Self::Unsupported(reason) => reason,
        }
    }
}

/// The verdicts so far.
pub(crate) struct Report {
    json: bool,
    progress: ProgressBar,
    counts: BTreeMap<&'static str, usize>,
    without_expectation: usize,
    /// Lines by the place of the task, so that the order does not depend on which was done first.
    lines: BTreeMap<usize, String>,
}

impl Report {
    pub(crate) fn new(programs: usize, json: bool) -> Self {
        // Hidden by itself when standard error is no terminal.
        let progress = ProgressBar::new(programs as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            progress.set_style(style);
        }
        progress.enable_steady_tick(Duration::from_millis(200));
        Self {
            json,
            progress,
            counts: BTreeMap::new(),
            without_expectation: 0,
            lines: BTreeMap::new(),
        }
    }

    /// Adds the verdict of the task at a place.
    pub(crate) fn add(&mut self, place: usize, task: &Task, verdict: &Verdict) {
        let name = task.name();
        self.progress.inc(1);
        *self.counts.entry(verdict.word()).or_default() += 1;
        self.without_expectation += usize::from(*verdict == Verdict::PassedWithoutExpectation);
        let line = if self.json {
            json!({"program": name, "verdict": verdict.word(), "reason": verdict.reason()}).to_string()
        } else if matches!(verdict, Verdict::Passed) {
            return;
        } else {
            let line = format!("{}: {name}: {}", verdict.word(), verdict.reason());
            output::one_line(&line).into_owned()
        };
        self.lines.insert(place, line);
    }

    /// Prints what was found; the last line is the count.
    pub(crate) fn finish(self) -> Outcome<Exit> {
        self.progress.finish_and_clear();
        for line in self.lines.values() {
            let line = format!("{line}\n");
            if self.json {
                output::json(&line)
            } else {
                output::text(&line)
            }?;
        }
        let count = |word| self.counts.get(word).copied().unwrap_or(0);
        let (passed, failed, unsupported) = (count("passed"), count("failed"), count("unsupported"));
        let summary = format!("{passed} passed, {failed} failed, {unsupported} unsupported");
        if self.json {
            output::note(&summary);
        } else {
            if self.without_expectation > 0 {
                let without = self.without_expectation;
                output::text(&format!(
                    "{without} of those that passed expect nothing: they only ran\n"
                ))?;
            }
            output::text(&format!("{summary}\n"))?;
        }
        Ok(if failed > 0 { Exit::CheckFailed } else { Exit::Ok })
    }
}
