//! The ports between the runtime and the engines, and the suite that every engine passes.
