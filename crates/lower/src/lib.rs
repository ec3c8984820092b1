//! From a refined program to structured kernels and a launch plan.
//!
//! [`lower`] takes a module whose types hold dimension expressions and makes a [`Plan`]: what is computed element by element or
//! reduced becomes a structured [`Kernel`]; products, sorts and the like become steps that an engine has a routine for; control
//! flow becomes nested sequences; what is none of these is left to the evaluator, step by step, and said so in every dump.
//!
//! Invariants:
//! * A kernel says what is computed and not how: no vectors, tiles or threads. It holds no sizes, so that one serves all.
//! * Every size in a plan is an expression over dimension variables ([`Sizes`]), evaluated once they are known.
//! * The same module gives the same plan, whatever the machine. Which operations share a kernel changes no result: the order of
//!   a reduction is fixed by its sizes ([`kernel`]), and multiplications join additions before fusion or not at all.
//! * Floating-point constants are not folded: which are known depends on which sizes are, and contraction would tell the two apart.
//! * A plan writes only to its own buffers and to those that it was given for results; arguments are read, unless donated.
//!
//! Entry points: [`lower`], [`text`].

mod build;
mod demand;
mod emit;
mod error;
mod fuse;
mod graph;
mod index;
pub mod kernel;
mod live;
mod options;
pub mod plan;
mod region;
mod schedule;
mod sizes;
pub mod text;
mod trace;
mod view;

use artifact_ir::module::{FunctionId, Module};

use build::Builder;
use demand::Demand;
use graph::{Definition, TensorId};

pub use error::LowerError;
pub use kernel::Kernel;
pub use options::LowerOptions;
pub use plan::Plan;
pub use sizes::{SizeId, Sizes};

/// Lowers a function of a verified module whose sizes are numbers or expressions over dimension variables.
///
/// # Errors
/// [`LowerError`] when a size is known only when the program runs, or when the program holds what no plan does.
pub fn lower(module: &Module, entry: FunctionId, options: &LowerOptions) -> Result<Plan, LowerError> {
    let mut traced = trace::trace(module, entry)?;
    let demand = Demand::of(&mut traced)?;
    let root = std::mem::take(&mut traced.root);
    let mut builder = Builder {
        traced: &mut traced,
        demand: &demand,
        options: *options,
        count: 0,
    };
    let works = schedule::schedule(&mut builder, &root)?;
    let given: std::collections::HashSet<TensorId> = builder
        .traced
        .arguments
        .iter()
        .flat_map(graph::Value::tensors)
        .collect();
    let homes = {
        let tensors = &builder.traced.tensors;
        let is_fixed = |tensor: TensorId| {
            given.contains(&tensor) || matches!(tensors[tensor].definition, Definition::Literal(_))
        };
        live::homes(&works, &is_fixed)
    };
    emit::emit(builder, &works, homes)
}
