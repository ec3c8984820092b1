//! The embedded engine: structured kernels through Cranelift.
//!
//! A plan ([`artifact_lower::Plan`]) is compiled kernel by kernel to machine code that has no relocations, loaded into memory
//! that is never writable and executable at once, bound to sizes as often as there are different ones, and run on a small pool
//! of threads.
//!
//! Invariants:
//! * Code knows no sizes: one compile serves all.
//! * The same module, target and inputs give the same bits, whatever the number of threads, and whether sizes were symbolic.
//! * Every access of a kernel is checked against its buffers when sizes are bound; code itself has no way out of the tiles that
//!   it is given.
//! * What has neither a kernel nor a routine is evaluated by the reference evaluator, step by step.

#![expect(
    unsafe_code,
    reason = "the engine makes code executable, calls it, and works on memory that plans divide"
)]

mod bind;
mod code;
mod compile;
mod dump;
mod engine;
mod error;
mod evaluate;
mod executable;
mod instance;
mod kernel;
mod launch;
mod layout;
mod loaded;
mod machine;
mod memory;
mod payload;
mod place;
mod profile;
mod routine;
mod run;
mod sizes;
mod target;
mod values;

pub use dump::{Emit, dump};
pub use engine::{CpuEngine, Settings};
pub use error::{CpuError, CpuErrorKind};
pub use target::Target;

/// For tests of the parts of the engine: compiles, binds and runs a plan in one go. Arguments and results are the bytes of arrays.
///
/// # Errors
/// [`CpuError`].
#[doc(hidden)]
pub fn run_once(
    plan: artifact_lower::Plan,
    target: Target,
    threads: usize,
    values: &artifact_dims::Assignment,
    arguments: &[Vec<u8>],
) -> Result<(Vec<Vec<u8>>, artifact_eval::Outcome), CpuError> {
    use artifact_core::entity::EntityId as _;
    let instance = instance::Instance::new(loaded::Loaded::new(loaded::compile(plan, target)?)?);
    let binding = instance.binding(values)?;
    let mut sizes = Vec::new();
    instance::for_each_array(&instance.loaded.plan.results, &mut |buffer| {
        sizes.push(binding.bound.buffers[buffer.index()].bytes);
    });
    let inputs = arguments
        .iter()
        .map(|bytes| memory::Block::new(bytes.len()))
        .collect::<Result<Vec<_>, _>>()?;
    for (block, bytes) in inputs.iter().zip(arguments) {
        // SAFETY: the block has so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.data(), bytes.len()) };
    }
    let outputs = sizes
        .iter()
        .map(|bytes| memory::Block::new(*bytes))
        .collect::<Result<Vec<_>, _>>()?;
    let pool = artifact_cpu_routine::pool::Pool::new(threads);
    let call = instance::Call {
        pool: &pool,
        stop: &std::sync::atomic::AtomicBool::new(false),
        options: artifact_eval::Options::default(),
        observer: None,
    };
    let addresses: Vec<*const u8> = inputs.iter().map(|block| block.data().cast_const()).collect();
    let results: Vec<*mut u8> = outputs.iter().map(memory::Block::data).collect();
    // SAFETY: each block is as large as its array.
    let outcome = unsafe { instance.run(&binding, &addresses, &results, call)? };
    let bytes = outputs.iter().zip(sizes).map(|(block, bytes)| {
        // SAFETY: the block has so many bytes.
        unsafe { std::slice::from_raw_parts(block.data(), bytes) }.to_vec()
    });
    Ok((bytes.collect(), outcome))
}
