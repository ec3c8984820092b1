//! A compiled plan in memory, ready to be bound and run.

use artifact_core::entity::EntityId as _;
use artifact_lower::plan::{KernelId, Plan};

use crate::code::{ALIGNMENT, Code};
use crate::error::CpuError;
use crate::evaluate::ElementEvaluator;
use crate::kernel::codegen::Compiler;
use crate::kernel::program::Program;
use crate::kernel::stages::{Evaluated, schedule};
use crate::launch::{LoadedKernel, PhaseFn};
use crate::perf::PerfMap;
use crate::target::Target;

/// A plan and its machine code, as data.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) plan: Plan,
    pub(crate) target: Target,
    pub(crate) programs: Vec<Program>,
    pub(crate) evaluated: Vec<Evaluated>,
    pub(crate) code: Vec<u8>,
    /// Where the code of each phase begins, kernel by kernel.
    pub(crate) entries: Vec<Vec<usize>>,
}

/// Compiles a plan.
pub(crate) fn compile(plan: Plan, target: Target) -> Result<Compiled, CpuError> {
    let mut compiler = Compiler::new(target)?;
    let (mut programs, mut evaluated, mut code, mut entries) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (_, kernel) in plan.kernels.iter() {
        let program = schedule(kernel, &mut evaluated);
        let mut starts = Vec::with_capacity(program.phases.len());
        for phase in &program.phases {
            code.resize(usize::next_multiple_of(code.len(), ALIGNMENT), 0xCC);
            starts.push(code.len());
            code.extend(compiler.phase(kernel, &program, phase)?);
        }
        programs.push(program);
        entries.push(starts);
    }
    Ok(Compiled {
        plan,
        target,
        programs,
        evaluated,
        code,
        entries,
    })
}

/// A compiled plan that can be run.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) plan: Plan,
    pub(crate) target: Target,
    pub(crate) kernels: Vec<LoadedKernel>,
    pub(crate) evaluators: Vec<ElementEvaluator>,
    /// What the functions of the kernels point into.
    _code: Code,
}

impl Loaded {
    /// Makes code executable. It must come from [`compile`], in this process or by way of someone who is trusted with it.
    pub(crate) fn new(compiled: Compiled, map: Option<&PerfMap>) -> Result<Self, CpuError> {
        if !compiled.target.is_supported() {
            return Err(CpuError::input(format!(
                "this machine does not run code for {}",
                compiled.target
            )));
        }
        let code = Code::load(&compiled.code)?;
        if let Some(map) = map {
            map.note(&compiled.plan, &compiled.entries, &code);
        }
        let mut kernels = Vec::with_capacity(compiled.programs.len());
        for (program, entries) in compiled.programs.into_iter().zip(&compiled.entries) {
            let phases = entries.iter().map(|entry| {
                let address = code
                    .function(*entry)
                    .ok_or_else(|| CpuError::module("the code ends early"))?;
                // SAFETY: code of a phase begins here; the caller's promise.
                Ok(unsafe { std::mem::transmute::<*const u8, PhaseFn>(address) })
            });
            let phases = phases.collect::<Result<_, CpuError>>()?;
            kernels.push(LoadedKernel { program, phases });
        }
        Ok(Self {
            evaluators: compiled.evaluated.iter().map(ElementEvaluator::new).collect(),
            plan: compiled.plan,
            target: compiled.target,
            kernels,
            _code: code,
        })
    }

    pub(crate) fn program(&self, kernel: KernelId) -> Result<&Program, CpuError> {
        let kernel = self.kernels.get(kernel.index());
        kernel
            .map(|kernel| &kernel.program)
            .ok_or_else(|| CpuError::module("a kernel is missing"))
    }
}
