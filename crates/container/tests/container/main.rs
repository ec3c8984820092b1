//! Tests of the artifact container from outside: one binary, a module for each question.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its files are not as they should be"
)]

mod atomic;
mod damage;
mod golden;
mod large;
mod lies;
mod properties;
mod round_trip;
mod sample;
mod seals;
mod trusted;
