//! Routines of the CPU engine over whole arrays, and its thread pool.
//!
//! Each routine is one function over plain data: views of its operands and results, numbers as the specification names them,
//! a [`pool::Parallel`] to share the work and, where it needs memory, a [`workspace::Workspace`] of the call site. What they
//! share is [`copy`], the geometry of windows and the one matrix product in `product`, so that each can be replaced on its own.
//!
//! Invariants:
//! * A result has the same bits for any number of threads: work is cut by sizes and strides alone, and where cuts follow the
//!   threads, as in [`scatter`], no element's arithmetic depends on the cut.
//! * Views are unsafe to make and safe to use: who makes one answers for its memory. Shapes are compared before anything is
//!   touched, and a routine that does not fit its views is an error, never a panic.
//! * Elements lie in memory as [`artifact_ir::types::ElementType::bytes`] says: `i1` and sub-byte types a byte each, complex
//!   numbers as pairs.
//! * What a routine cannot do is [`error::RoutineError::Unsupported`], before it has written anything.
//! * Nothing reads the environment; no thread is made before the first work that has parts.

#![expect(
    unsafe_code,
    reason = "views are raw pointers over strided memory that several threads share, and vector code is chosen at run time"
)]

pub mod combine;
mod convert;
pub mod convolution;
pub mod copy;
pub mod dot;
pub mod error;
pub mod fft;
pub mod gather;
mod level;
pub mod linalg;
mod number;
mod odometer;
pub mod pool;
mod product;
pub mod random;
pub mod reduce;
pub mod scatter;
pub mod sort;
pub mod view;
pub mod window;
pub mod workspace;
