//! Tests of the artifact container from outside: one binary, a module for each question.

mod atomic;
mod damage;
mod golden;
mod large;
mod lies;
mod properties;
mod round_trip;
mod sample;
