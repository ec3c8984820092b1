//! Numbers steps, and notes from when to when each buffer is used.

use artifact_core::entity::EntityId as _;

use crate::plan::{Access, BufferId, Launch, Operand, Plan, Product, Source, Step, StepKind};

/// Numbers the steps of a plan and sets the lives of its buffers.
pub(crate) fn number(plan: &mut Plan) {
    let mut steps = std::mem::take(&mut plan.steps);
    let mut walk = Walk {
        count: 0,
        lives: vec![None; plan.buffers.len()],
        open: Vec::new(),
    };
    walk.sequence(&mut steps);
    for (index, life) in walk.lives.iter().enumerate() {
        let buffer = BufferId::from_index(index as u32);
        plan.buffers[buffer].life = life.unwrap_or((0, 0));
    }
    plan.steps = steps;
}

struct Walk {
    count: u32,
    lives: Vec<Option<(u32, u32)>>,
    /// For each loop around, its first number and the buffers that were used in it.
    open: Vec<(u32, Vec<BufferId>)>,
}

impl Walk {
    fn sequence(&mut self, steps: &mut [Step]) {
        for step in steps {
            self.count += 1;
            step.number = self.count;
            self.step(step);
        }
    }

    fn step(&mut self, step: &mut Step) {
        for buffer in used(&step.kind) {
            self.note(buffer);
        }
        match &mut step.kind {
            StepKind::While {
                condition,
                predicate,
                body,
            } => {
                self.open.push((step.number, Vec::new()));
                self.sequence(condition);
                self.note(*predicate);
                self.sequence(body);
                self.count += 1;
                self.end_loop();
            }
            StepKind::Case { branches, .. } => {
                for branch in branches {
                    self.sequence(branch);
                }
            }
            StepKind::Launch(_)
            | StepKind::Product(_)
            | StepKind::Copy { .. }
            | StepKind::Operation { .. } => {}
        }
    }

    fn note(&mut self, buffer: BufferId) {
        let now = self.count;
        let life = self.lives[buffer.index()].get_or_insert((now, now));
        life.1 = life.1.max(now);
        for (_, used) in &mut self.open {
            used.push(buffer);
        }
    }

    /// What was there before a loop and is used in it is needed in each of its turns.
    fn end_loop(&mut self) {
        let Some((first, used)) = self.open.pop() else {
            return;
        };
        for buffer in used {
            if let Some(life) = &mut self.lives[buffer.index()]
                && life.0 < first
            {
                life.1 = life.1.max(self.count);
            }
        }
    }
}

fn used(kind: &StepKind) -> Vec<BufferId> {
    match kind {
        StepKind::Launch(Launch { inputs, outputs, .. }) => {
            let read = inputs.iter().filter_map(|input| match input {
                Source::Array(access) => Some(access),
                Source::Position { .. } => None,
            });
            read.chain(outputs).flat_map(of_access).collect()
        }
        StepKind::Product(Product {
            left, right, output, ..
        }) => [left, right, output].into_iter().flat_map(of_access).collect(),
        StepKind::Copy { from, to } => vec![*from, *to],
        StepKind::Operation {
            operands, results, ..
        } => operands.iter().chain(results).flat_map(of_operand).collect(),
        StepKind::While { .. } => Vec::new(),
        StepKind::Case { index, .. } => vec![*index],
    }
}

fn of_access(access: &Access) -> Vec<BufferId> {
    let starts = access.starts.iter().map(|start| start.index);
    starts.chain([access.buffer]).collect()
}

fn of_operand(operand: &Operand) -> Vec<BufferId> {
    match operand {
        Operand::Array(buffer, _) => vec![*buffer],
        Operand::Token => Vec::new(),
        Operand::Tuple(operands) => operands.iter().flat_map(of_operand).collect(),
    }
}
