//! Median times of the routines, in milliseconds.

fn main() {}
