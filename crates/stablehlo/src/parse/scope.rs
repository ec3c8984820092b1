//! Names of values.

use std::collections::HashMap;

use artifact_ir::module::ValueId;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    /// Values with consecutive ids.
    Values {
        /// The first one.
        first: ValueId,
        /// How many.
        count: u32,
    },
    /// Results of something that could not be read: using them is no further mistake.
    Broken,
}

/// Names that are visible: those of the function, and of the regions around the place that is being read.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    bindings: HashMap<&'a str, Binding>,
    /// Names in order of definition, so that a region's can be taken back.
    names: Vec<&'a str>,
}

/// The names that were visible at some place.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeMark(usize);

impl<'a> Scope<'a> {
    pub(super) fn get(&self, name: &str) -> Option<Binding> {
        self.bindings.get(name).copied()
    }

    /// Makes a name visible; `false` when it is already.
    pub(super) fn define(&mut self, name: &'a str, binding: Binding) -> bool {
        if self.bindings.contains_key(name) {
            return false;
        }
        self.bindings.insert(name, binding);
        self.names.push(name);
        true
    }

    pub(super) fn mark(&self) -> ScopeMark {
        ScopeMark(self.names.len())
    }

    /// Forgets what was defined since `mark`.
    pub(super) fn forget_since(&mut self, mark: ScopeMark) {
        for name in self.names.drain(mark.0.min(self.names.len())..) {
            self.bindings.remove(name);
        }
    }

    pub(super) fn clear(&mut self) {
        self.bindings.clear();
        self.names.clear();
    }
}
