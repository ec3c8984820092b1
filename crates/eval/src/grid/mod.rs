//! A grid of simulated processes (spec, "Parallel execution"): replicas by partitions, one thread each.

pub(crate) mod groups;
mod network;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

use artifact_core::limit::Limit;
use artifact_ir::module::{Body, FunctionId, Module, RegionId};

use crate::error::EvalError;
use crate::interpreter::Process;
use crate::record::Record;
use crate::value::Value;
pub(crate) use network::{Channel, Network};

/// Processes of a grid, each of which is a thread.
const PROCESSES: Limit = Limit::new("number of simulated processes", 256, "processes");

/// Stack of a process: the deepest nesting that the interpreter allows fits several times, in unoptimised builds too.
const STACK_BYTES: usize = 64 << 20;

/// A process's place in its grid (spec, "Parallel execution").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId {
    pub(crate) replica: usize,
    pub(crate) partition: usize,
}

/// What a process runs.
#[derive(Clone, Copy)]
pub(crate) enum Program<'m> {
    /// A function of the module.
    Function(FunctionId),
    /// A region that uses nothing from outside.
    Region { body: &'m Body, region: RegionId },
}

/// Refuses a grid of too many processes, before anything is made for each.
pub(crate) fn check_size(processes: usize) -> Result<(), EvalError> {
    Ok(PROCESSES.check(processes as u64)?)
}

/// Processes that run together, and what connects them.
pub(crate) struct Grid<'m> {
    module: &'m Module,
    record: &'m Record,
    /// What each process runs, replica by replica.
    programs: Vec<Program<'m>>,
    /// Number of partitions of each replica.
    pub(crate) partitions: usize,
    pub(crate) network: Network,
    infeed: Mutex<VecDeque<FunctionId>>,
    nested: bool,
}

impl<'m> Grid<'m> {
    /// A grid of one process: what a program without a grid runs on.
    pub(crate) fn of_one(module: &'m Module, record: &'m Record, function: FunctionId) -> Self {
        Self {
            module,
            record,
            programs: vec![Program::Function(function)],
            partitions: 1,
            network: Network::new(1),
            infeed: Mutex::default(),
            nested: false,
        }
    }

    /// A grid that a process of this one starts.
    ///
    /// # Errors
    /// Invalid input when replicas have different numbers of partitions, or when there are too many processes; unsupported
    /// when this grid was itself started by a program.
    pub(crate) fn inner(
        &self,
        programs: &[Vec<FunctionId>],
        infeed: Vec<FunctionId>,
    ) -> Result<Self, EvalError> {
        self.refuse_nesting()?;
        let partitions = programs.first().map_or(0, Vec::len);
        if programs.iter().any(|row| row.len() != partitions) {
            return Err(EvalError::invalid_input(
                "replicas have different numbers of partitions",
            ));
        }
        let programs = programs.concat().into_iter().map(Program::Function).collect();
        self.starting(programs, partitions, infeed)
    }

    /// A grid of one replica, whose partitions are devices that all run one region.
    ///
    /// # Errors
    /// As [`Grid::inner`].
    pub(crate) fn of_devices(
        &self,
        devices: usize,
        body: &'m Body,
        region: RegionId,
    ) -> Result<Self, EvalError> {
        self.refuse_nesting()?;
        check_size(devices)?;
        let programs = vec![Program::Region { body, region }; devices];
        self.starting(programs, devices, Vec::new())
    }

    fn refuse_nesting(&self) -> Result<(), EvalError> {
        if self.nested {
            return Err(EvalError::unsupported(
                "a grid of processes inside another one is not evaluated",
            ));
        }
        Ok(())
    }

    fn starting(
        &self,
        programs: Vec<Program<'m>>,
        partitions: usize,
        infeed: Vec<FunctionId>,
    ) -> Result<Self, EvalError> {
        check_size(programs.len())?;
        Ok(Self {
            module: self.module,
            record: self.record,
            network: Network::new(programs.len()),
            programs,
            partitions,
            infeed: Mutex::new(infeed.into()),
            nested: true,
        })
    }

    /// Runs every process on its inputs; their results come back in the same order, replica by replica.
    pub(crate) fn run(&self, inputs: Vec<Vec<Value>>) -> Result<Vec<Vec<Value>>, EvalError> {
        let outcomes: Vec<Result<Vec<Value>, EvalError>> = thread::scope(|scope| {
            let start = |(number, inputs)| {
                let body = move || self.run_process(number, inputs);
                thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, body)
            };
            let started: Vec<_> = inputs.into_iter().enumerate().map(start).collect();
            started.into_iter().map(join).collect()
        });
        // Where one process stopped, others that waited for it stopped as well: the first cause is what is told.
        match self.network.failure() {
            Some(error) => Err(error),
            None => outcomes.into_iter().collect(),
        }
    }

    fn run_process(&self, number: usize, inputs: Vec<Value>) -> Result<Vec<Value>, EvalError> {
        let _membership = self.network.join();
        let mut process = Process::new(self.module, self.record, self, self.id(number));
        let outcome = match self.programs[number] {
            Program::Function(function) => process.call(function, inputs),
            Program::Region { body, region } => process.enter(body, region, inputs),
        };
        if let Err(error) = &outcome {
            self.network.fail(error.clone());
        }
        outcome
    }

    /// Number of processes.
    pub(crate) const fn len(&self) -> usize {
        self.programs.len()
    }

    /// Number of replicas.
    pub(crate) fn replicas(&self) -> usize {
        self.len() / self.partitions.max(1)
    }

    /// A process's place by its number, replica by replica.
    pub(crate) const fn id(&self, number: usize) -> ProcessId {
        ProcessId {
            replica: number / self.partitions,
            partition: number % self.partitions,
        }
    }

    /// A process's number by its place.
    pub(crate) const fn number(&self, id: ProcessId) -> usize {
        id.replica * self.partitions + id.partition
    }

    /// The next function that supplies infeed data.
    pub(crate) fn next_infeed(&self) -> Option<FunctionId> {
        self.infeed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }
}

type Started<'scope> = std::io::Result<thread::ScopedJoinHandle<'scope, Result<Vec<Value>, EvalError>>>;

fn join(started: Started<'_>) -> Result<Vec<Value>, EvalError> {
    match started.map(thread::ScopedJoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => Err(EvalError::runtime(format!(
            "a simulated process could not be started: {error}"
        ))),
    }
}
