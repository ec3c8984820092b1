//! Every program of the corpus, read, verified, written and refused.

#![expect(
    clippy::expect_used,
    reason = "a test fails where its files are not as they should be"
)]

mod portable;
mod print;
mod read;
mod refuse;
mod verify;
