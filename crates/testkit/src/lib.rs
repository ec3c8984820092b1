//! What tests and benchmarks of several crates need. Never a normal dependency.
//!
//! Its functions panic where the machine is not as a test needs it: that is how a test fails.

pub mod choices;
pub mod corpus;
pub mod program;
pub mod timing;
