//! Where the time of a call goes, step by step.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use artifact_core::entity::EntityId as _;
use artifact_engine::{Profile, ProfileStep, Work};
use artifact_lower::plan::{Access, Operand, Source, Step, StepKind};

use crate::instance::{Binding, Instance};

/// Notes the time of each step.
pub(crate) struct Recorder<'a> {
    instance: &'a Instance,
    binding: &'a Binding,
    times: RefCell<BTreeMap<u32, (u64, Duration)>>,
    start: Instant,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(instance: &'a Instance, binding: &'a Binding) -> Self {
        Self {
            instance,
            binding,
            times: RefCell::new(BTreeMap::new()),
            start: Instant::now(),
        }
    }

    pub(crate) fn note(&self, step: u32, time: Duration) {
        let mut times = self.times.borrow_mut();
        let (calls, total) = times.entry(step).or_default();
        *calls += 1;
        *total += time;
    }

    pub(crate) fn finish(self) -> Profile {
        let total = self.start.elapsed();
        let plan = &self.instance.loaded.plan;
        let mut steps = Vec::new();
        self.collect(&plan.steps, &mut steps);
        Profile { steps, total }
    }

    fn collect(&self, steps: &[Step], found: &mut Vec<ProfileStep>) {
        for step in steps {
            match &step.kind {
                // Their time is that of the steps within.
                StepKind::While { condition, body, .. } => {
                    self.collect(condition, found);
                    self.collect(body, found);
                }
                StepKind::Case { branches, .. } => {
                    branches.iter().for_each(|branch| self.collect(branch, found));
                }
                StepKind::Launch(_)
                | StepKind::Product(_)
                | StepKind::Copy { .. }
                | StepKind::Operation { .. } => {
                    let (calls, time) = self.times.borrow().get(&step.number).copied().unwrap_or_default();
                    if calls == 0 {
                        continue;
                    }
                    let work = self.work(step);
                    let work = Work {
                        bytes: work.bytes.saturating_mul(calls),
                        flops: work.flops.saturating_mul(calls),
                    };
                    let (name, source) = (step.name.clone(), step.source);
                    found.push(ProfileStep {
                        name,
                        kind: self.kind(step),
                        source,
                        calls,
                        time,
                        work,
                    });
                }
            }
        }
    }

    fn kind(&self, step: &Step) -> &'static str {
        match &step.kind {
            StepKind::Launch(_) => "kernel",
            StepKind::Product(_) => "product",
            StepKind::Copy { .. } => "copy",
            StepKind::Operation { .. } if self.binding.bound.has_routine(step.number) => "routine",
            StepKind::Operation { .. } => "interpret",
            StepKind::While { .. } | StepKind::Case { .. } => "control",
        }
    }

    fn work(&self, step: &Step) -> Work {
        let bytes = |id: &artifact_lower::plan::BufferId| self.binding.bound.buffers[id.index()].bytes as u64;
        let of = |access: &Access| bytes(&access.buffer);
        match &step.kind {
            StepKind::Launch(launch) => {
                let read = launch.inputs.iter().map(|input| match input {
                    Source::Array(access) => of(access),
                    Source::Position { .. } => 0,
                });
                let flops = self
                    .binding
                    .bound
                    .launch_flops(step.number, &self.instance.loaded);
                Work {
                    bytes: read.chain(launch.outputs.iter().map(of)).sum(),
                    flops,
                }
            }
            StepKind::Product(product) => {
                let flops = self.binding.bound.product_flops(step.number);
                Work {
                    bytes: of(&product.left) + of(&product.right) + of(&product.output),
                    flops,
                }
            }
            StepKind::Copy { to, .. } => Work {
                bytes: 2 * bytes(to),
                flops: 0,
            },
            StepKind::Operation {
                operands, results, ..
            } => {
                let arrays = operands.iter().chain(results).map(|operand| match operand {
                    Operand::Array(id, _) => bytes(id),
                    Operand::Token | Operand::Tuple(_) => 0,
                });
                Work {
                    bytes: arrays.sum(),
                    flops: 0,
                }
            }
            StepKind::While { .. } | StepKind::Case { .. } => Work::default(),
        }
    }
}
