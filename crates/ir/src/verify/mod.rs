//! Whether a module is well-formed.
//!
//! [`verify`] reports everything that it finds, each with its place. After it found nothing, later stages rely on this:
//!
//! * Every region of an operation that we know has one block, which ends in the terminator of its dialect and has no other.
//! * Every operand is defined before its use, in the same block or in one around it, and not across a region that is isolated.
//! * Numbers of operands, results and regions are those of the operation's row; types obey the rules of [`crate::infer`], and
//!   declared result types agree with inferred ones.
//! * Symbols are unique, calls resolve and their types agree; no function calls itself, directly or through others.
//! * Shardings name meshes that are there, use each axis at most once, and fit the ranks of their values.
//! * Regions nest at most [`NESTING`] deep, so that recursion over them is safe.
//!
//! Operations of dialects that we do not know are carried as they are: only their operands are checked.

pub(crate) mod body;
mod calls;
pub(crate) mod context;
pub(crate) mod function;
pub(crate) mod sharding;
pub(crate) mod types;

use artifact_core::limit::Limit;

use crate::diagnostic::Diagnostic;
use crate::module::Module;

pub(crate) use calls::resolve;
pub use context::{OpError, RegionTypes};
pub use sharding::check_mesh;

/// How deep regions may nest.
pub const NESTING: Limit = Limit::new("nesting of regions", 256, "levels");

/// How many findings are reported; after that many a reader is helped more by fixing some.
pub const DIAGNOSTICS_MAX: usize = 100;

/// Everything that is wrong with the module, functions in order, up to [`DIAGNOSTICS_MAX`] findings.
#[must_use]
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    function::check_symbols(module, &mut findings);
    sharding::check_meshes(module, &mut findings);
    for (_, function) in module.functions.iter() {
        function::check(Some(module), function, &mut findings);
    }
    calls::check_acyclic(module, &mut findings);
    findings.into_vec()
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Diagnostic>,
}

impl Findings {
    /// Adds a finding, unless there are enough.
    pub(crate) fn report(&mut self, finding: Diagnostic) {
        if !self.is_full() {
            self.all.push(finding);
        }
    }

    /// Whether no more findings are kept.
    pub(crate) const fn is_full(&self) -> bool {
        self.all.len() >= DIAGNOSTICS_MAX
    }

    /// Everything found.
    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.all
    }
}

#[cfg(test)]
mod tests;
