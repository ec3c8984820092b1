//! What a caller decides about lowering. Each is a part of the key of what is compiled.

/// How a program is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LowerOptions {
    /// Whether a product that is only added to something is rounded once, with the sum.
    pub contract: bool,
}

impl Default for LowerOptions {
    fn default() -> Self {
        Self { contract: true }
    }
}
