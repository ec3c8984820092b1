//! `artifact check`: finds programs that come with what they must give, runs them, and counts.

mod cases;
mod embedded;
mod judgement;
mod list;
mod pair;
mod plan;
mod reject;
mod report;
mod twin;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use artifact_engine::ExecuteOptions;
use artifact_runtime::Session;

use crate::arguments::CheckArguments;
use crate::check::plan::{Found, Task};
use crate::check::report::{Report, Verdict};
use crate::failure::{Exit, Failure, Outcome};
use crate::{engine, files, output};

pub(crate) fn execute(options: &CheckArguments) -> Outcome<Exit> {
    let session = engine::session(&options.engine)?;
    let Found {
        tasks,
        unlisted,
        passed_over,
    } = plan::find(&options.paths)?;
    files::tell_passed_over(&passed_over);
    if let Some(first) = unlisted.first() {
        output::note(&format!(
            "note: programs that no list of their folder names are not checked: {}, such as {}",
            unlisted.len(),
            first.display()
        ));
    }
    if tasks.is_empty() {
        let what = "there is no program to check in what was given";
        return Err(Failure::input(what).hint(
            "name artifacts, StableHLO as text or portable bytecode, JAX exports, or folders that hold them",
        ));
    }
    let report = Report::new(tasks.len(), options.json);
    let settings = Settings {
        through_artifact: options.through_artifact,
        limits: engine::limits(&options.engine, &session, Some(STEPS_MAX))?,
        session,
    };
    let report = run_all(&tasks, jobs(options, tasks.len()), &settings, report);
    report.finish()
}

/// Steps of one program where nobody says how many.
const STEPS_MAX: u64 = 200_000_000;

/// How programs are run.
#[derive(Debug)]
struct Settings {
    session: Session,
    /// Of each program.
    limits: ExecuteOptions,
    through_artifact: bool,
}

fn jobs(options: &CheckArguments, tasks: usize) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    options.jobs.unwrap_or_else(processors).clamp(1, tasks.max(1))
}

/// Stack of each worker: the evaluator recurses once a nested region or call, within its own limit.
const STACK_BYTES: usize = 256 << 20;

/// Runs tasks on workers that take the next one as they become free.
fn run_all(tasks: &[Task], jobs: usize, settings: &Settings, report: Report) -> Report {
    let next = AtomicUsize::new(0);
    let report = Mutex::new(report);
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(place) else { return };
            let verdict = judge(task, settings);
            let mut report = report.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            report.add(place, task, &verdict);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            // Where no thread can be had, the ones that there are do the work; the last resort is this one.
            if std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, work)
                .is_err()
            {
                work();
            }
        }
    });
    report
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn judge(task: &Task, settings: &Settings) -> Verdict {
    match task {
        Task::Embedded { path, disabled } => embedded::judge(path, disabled.as_deref(), settings),
        Task::Cases { path, cases, .. } => cases::judge(path, cases, settings),
        Task::Pair { path, pair } => pair::judge(path, pair, settings),
        Task::Reject { path, expected } => reject::judge(path, expected),
        Task::Twin { path, text } => twin::judge(path, text),
        Task::Unread { .. } => Verdict::Unsupported("this release does not read such a file".to_owned()),
        Task::Broken { reason, .. } => Verdict::Failed(reason.clone()),
    }
}
