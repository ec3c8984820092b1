//! From text to modules.
