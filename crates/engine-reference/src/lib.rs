//! The reference evaluator behind the engine port.
