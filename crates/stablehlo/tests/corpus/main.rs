//! Every text of the corpus, read, verified, printed and refused.

#![expect(
    clippy::expect_used,
    reason = "a test fails where its files are not as they should be"
)]

mod print;
mod read;
mod refuse;
mod verify;
