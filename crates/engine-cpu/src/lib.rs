//! The embedded engine: structured kernels through Cranelift.
