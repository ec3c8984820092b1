//! Names of kernels for `perf`, which looks in `/tmp/perf-PID.map` for those of code that no file holds.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use artifact_engine::{EngineError, ErrorKind};
use artifact_lower::plan::{KernelId, Plan, Step, StepKind};

use crate::code::Code;

/// The map of this process.
#[derive(Debug)]
pub(crate) struct PerfMap(Mutex<File>);

impl PerfMap {
    /// The one map of the process, made when it is first asked for. A file that is there already is not touched, since anybody
    /// may have made it.
    pub(crate) fn of_process() -> Result<Arc<Self>, EngineError> {
        static MAP: OnceLock<Arc<PerfMap>> = OnceLock::new();
        if let Some(map) = MAP.get() {
            return Ok(Arc::clone(map));
        }
        let path = format!("/tmp/perf-{}.map", std::process::id());
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|error| {
            let what = format!("cannot make {path}, where `perf` looks for the names of kernels: {error}");
            EngineError::new(ErrorKind::Unavailable, what)
        })?;
        Ok(Arc::clone(MAP.get_or_init(|| Arc::new(Self(Mutex::new(file))))))
    }

    /// Writes the names of the phases of a plan's kernels, which begin at these places of its code. Who reads the map gets along
    /// without what could not be written.
    pub(crate) fn note(&self, plan: &Plan, entries: &[Vec<usize>], code: &Code) {
        let names = names(plan);
        let mut ends: Vec<usize> = entries.iter().flatten().copied().collect();
        ends.push(code.bytes());
        ends.sort_unstable();
        let mut text = String::new();
        for ((id, _), phases) in plan.kernels.iter().zip(entries) {
            let name = names.get(&id).map_or("region", |name| name);
            for (phase, start) in phases.iter().enumerate() {
                let end = ends.iter().find(|end| *end > start).unwrap_or(start);
                let address = code.function(*start).map_or(0, <*const u8>::addr);
                text += &format!("{address:x} {:x} artifact:{id:?}.{phase}:{name}\n", end - start);
            }
        }
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(text.as_bytes());
    }
}

/// What the steps that run each kernel are called.
fn names(plan: &Plan) -> HashMap<KernelId, &str> {
    let mut names = HashMap::new();
    let mut open: Vec<&[Step]> = vec![&plan.steps];
    while let Some(steps) = open.pop() {
        for step in steps {
            match &step.kind {
                StepKind::Launch(launch) => {
                    names.entry(launch.kernel).or_insert(step.name.as_str());
                }
                StepKind::While { condition, body, .. } => open.extend([condition.as_slice(), body]),
                StepKind::Case { branches, .. } => open.extend(branches.iter().map(Vec::as_slice)),
                StepKind::Product(_) | StepKind::Copy { .. } | StepKind::Operation { .. } => {}
            }
        }
    }
    names
}
