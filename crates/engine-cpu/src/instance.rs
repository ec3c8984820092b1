//! Calls of a loaded plan: bindings by their sizes, memory that is kept for the next call.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artifact_core::entity::EntityId as _;
use artifact_cpu_routine::pool::Pool;
use artifact_cpu_routine::workspace::Workspace;
use artifact_dims::Assignment;
use artifact_engine::Watch;
use artifact_eval::{Options, Outcome};
use artifact_ir::literal::Literal;
use artifact_lower::plan::{BufferId, Slot};

use crate::bind::{Bound, Place, bind};
use crate::error::CpuError;
use crate::loaded::Loaded;
use crate::machine::Machine;
use crate::memory::{Block, Fencing, Scratch};
use crate::run::Runner;

/// Bindings that are kept at most; with more, all are made again as they are needed.
const BINDINGS_MAX: usize = 256;

/// Scratch memory of a thread that no limit of memory counts: tiles, which are small. Beyond it are rows that are kept whole.
const SCRATCH_BYTES_USUAL: usize = 1 << 20;

/// A loaded plan and what its calls leave for each other.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) loaded: Loaded,
    bindings: Mutex<HashMap<Vec<i64>, Arc<Binding>>>,
    /// The dimension variables, in order of the key of a binding.
    variables: Vec<artifact_dims::Variable>,
    fencing: Fencing,
}

/// A bound plan, and memory for calls of it.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) bound: Bound,
    idle: Mutex<Vec<Memory>>,
}

/// The memory of one call at a time.
#[derive(Debug)]
struct Memory {
    /// What buffers of the arena lie in: all in one, or each between pages.
    arena: Vec<Block>,
    scratch: Scratch,
    workspace: Workspace,
    /// Where each buffer lies; arguments and results are filled in for each call.
    buffers: Vec<Address>,
    /// Constants that are repetitions of one element, and between pages all of them.
    constants: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Address(*mut u8);

// SAFETY: addresses of memory that the owner of the list keeps alive, and uses alone.
unsafe impl Send for Address {}

/// How a call is made.
pub(crate) struct Call<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) watch: &'a Watch,
    pub(crate) options: Options,
    /// What routines may take for themselves; `None` for any number.
    pub(crate) workspace_bytes_max: Option<usize>,
    pub(crate) observer: Option<&'a dyn Fn(u32, std::time::Duration)>,
}

impl Instance {
    pub(crate) fn new(loaded: Loaded, fencing: Fencing) -> Self {
        let variables = loaded.plan.sizes.variables().into_iter().collect();
        Self {
            loaded,
            bindings: Mutex::new(HashMap::new()),
            variables,
            fencing,
        }
    }

    /// The plan for these values of its variables.
    pub(crate) fn binding(&self, values: &Assignment) -> Result<Arc<Binding>, CpuError> {
        let key: Vec<i64> = self
            .variables
            .iter()
            .map(|name| values.get(name).unwrap_or(i64::MIN))
            .collect();
        if let Some(binding) = lock(&self.bindings).get(&key) {
            return Ok(Arc::clone(binding));
        }
        let bound = bind(&self.loaded, values)?;
        let binding = Arc::new(Binding {
            bound,
            idle: Mutex::new(Vec::new()),
        });
        let mut bindings = lock(&self.bindings);
        if bindings.len() >= BINDINGS_MAX {
            bindings.clear();
        }
        Ok(Arc::clone(bindings.entry(key).or_insert(binding)))
    }

    /// Runs the plan on arguments, and leaves its results.
    ///
    /// # Safety
    /// There must be an address for each array of the arguments and the results in order, of as many bytes as the binding says,
    /// aligned to 64 bytes; those of results belong to the call alone.
    pub(crate) unsafe fn run(
        &self,
        binding: &Binding,
        arguments: &[*const u8],
        results: &[*mut u8],
        call: Call<'_>,
    ) -> Result<Outcome, CpuError> {
        let idle = lock(&binding.idle).pop();
        let mut memory = match idle {
            Some(memory) => memory,
            None => Memory::new(&binding.bound, call.pool, self.fencing)?,
        };
        memory.workspace.limit(call.workspace_bytes_max);
        if self.fencing == Fencing::Pages {
            memory.forget();
        }
        let plan = &self.loaded.plan;
        let mut arguments = arguments.iter();
        for_each_array(&plan.arguments, &mut |buffer| {
            if let Some(address) = arguments.next() {
                memory.buffers[buffer.index()] = Address(address.cast_mut());
            }
        });
        let mut results = results.iter();
        for_each_array(&plan.results, &mut |buffer| {
            if let Some(address) = results.next() {
                memory.buffers[buffer.index()] = Address(*address);
            }
        });
        let Memory {
            scratch,
            workspace,
            buffers,
            ..
        } = &mut memory;
        // SAFETY: an address is a pointer.
        let addresses =
            unsafe { std::slice::from_raw_parts(buffers.as_ptr().cast::<*mut u8>(), buffers.len()) };
        let mut runner = Runner {
            loaded: &self.loaded,
            bound: &binding.bound,
            machine: Machine::new(self.loaded.target.level(), &self.loaded.evaluators, call.stop),
            buffers: addresses,
            scratch,
            workspace,
            parallel: call.pool.stoppable(call.stop),
            stop: call.stop,
            watch: call.watch,
            options: call.options,
            outcome: Outcome::default(),
            observer: call.observer,
        };
        // SAFETY: the arena and the constants are those of the binding, the rest is the caller's promise.
        unsafe { runner.steps(&binding.bound.steps)? };
        let outcome = runner.outcome;
        if self.fencing == Fencing::Pages {
            memory.check()?;
        }
        lock(&binding.idle).push(memory);
        Ok(outcome)
    }
}

/// Visits the arrays of slots in order.
pub(crate) fn for_each_array(slots: &[Slot], visit: &mut dyn FnMut(BufferId)) {
    for slot in slots {
        match slot {
            Slot::Array(buffer) => visit(*buffer),
            Slot::Token => {}
            Slot::Tuple(parts) => for_each_array(parts, visit),
        }
    }
}

impl Memory {
    fn new(bound: &Bound, pool: &Pool, fencing: Fencing) -> Result<Self, CpuError> {
        let threads = pool.parallel().slots();
        let mut memory = Self {
            arena: Vec::new(),
            scratch: Scratch::new(threads, bound.scratch_bytes, bound.shared_bytes, fencing)?,
            workspace: Workspace::new(),
            buffers: Vec::with_capacity(bound.buffers.len()),
            constants: Vec::new(),
        };
        if fencing == Fencing::None {
            memory.arena.push(Block::new(bound.arena_bytes)?);
        }
        for buffer in &bound.buffers {
            let address = match &buffer.place {
                Place::Argument | Place::Result => std::ptr::null_mut(),
                Place::Arena(offset) => memory.in_arena(*offset, buffer.bytes, fencing)?,
                Place::Constant(literal) => memory.constant(literal, buffer.bytes, fencing)?,
            };
            memory.buffers.push(Address(address));
        }
        Ok(memory)
    }

    fn in_arena(&mut self, offset: usize, bytes: usize, fencing: Fencing) -> Result<*mut u8, CpuError> {
        if fencing == Fencing::Pages {
            let block = Block::fenced(bytes, fencing)?;
            let address = block.data();
            self.arena.push(block);
            return Ok(address);
        }
        let all = self.arena.first().map_or(std::ptr::null_mut(), Block::data);
        Ok(all.wrapping_add(offset))
    }

    fn constant(&mut self, literal: &Literal, bytes: usize, fencing: Fencing) -> Result<*mut u8, CpuError> {
        let block = match (literal.as_dense(), fencing) {
            (Some(dense), Fencing::None) => return Ok(dense.as_ptr().cast_mut()),
            (Some(dense), Fencing::Pages) => Block::sealed(dense)?,
            (None, _) => {
                let block = Block::fenced(bytes, fencing)?;
                repeat(&block, literal.as_splat().unwrap_or_default());
                block
            }
        };
        let address = block.data();
        self.constants.push(block);
        Ok(address)
    }

    fn written(&mut self) -> impl Iterator<Item = &mut Block> {
        self.arena.iter_mut().chain(self.scratch.blocks_mut())
    }

    /// Forgets what the last call left, where memory is between pages.
    fn forget(&mut self) {
        self.written().for_each(Block::forget);
    }

    /// Refuses memory between pages around which somebody wrote.
    fn check(&mut self) -> Result<(), CpuError> {
        self.constants.iter().try_for_each(Block::check)?;
        self.written().try_for_each(|block| block.check())
    }
}

impl Binding {
    /// Bytes that a call of it takes on so many threads besides its arguments and results, apart from what every program takes.
    pub(crate) fn own_bytes(&self, threads: usize) -> u64 {
        let rows = self.bound.scratch_bytes.saturating_sub(SCRATCH_BYTES_USUAL);
        let of_threads = (rows as u64).saturating_mul(threads as u64);
        ((self.bound.arena_bytes + self.bound.shared_bytes) as u64).saturating_add(of_threads)
    }

    /// Bytes of its results.
    pub(crate) fn result_bytes(&self) -> u64 {
        let results = self
            .bound
            .buffers
            .iter()
            .filter(|buffer| matches!(buffer.place, Place::Result));
        results.map(|buffer| buffer.bytes as u64).sum()
    }
}

/// Fills memory with one element.
fn repeat(block: &Block, element: &[u8]) {
    for start in (0..block.bytes()).step_by(element.len().max(1)) {
        let length = element.len().min(block.bytes() - start);
        // SAFETY: so many bytes are left.
        unsafe { std::ptr::copy_nonoverlapping(element.as_ptr(), block.data().add(start), length) };
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
