//! Every routine against the reference evaluator: programs of one operation, random shapes, sizes 0 and 1 among them.
//!
//! `harness` runs a routine with one, two and three threads over operands of any layout and a result between canaries, and
//! compares the bits; then it compares with what the evaluator makes of the same operation.

#![expect(
    clippy::expect_used,
    clippy::panic,
    unsafe_code,
    reason = "a test fails where something is not as it should be, and makes views of the arrays that it owns"
)]

mod convolution;
mod copy;
mod dot;
mod fft;
mod harness;
mod indexing;
mod linalg;
mod random;
mod reduce;
mod sort;
mod window;
