//! Bytes as the choices that a random program is made of: the CPU engine and the evaluator must agree on it.

#![no_main]

#[path = "../../crates/engine-cpu/tests/differential/runner.rs"]
mod runner;

use std::sync::LazyLock;

use artifact_testkit::choices::Choices;
use libfuzzer_sys::fuzz_target;

use runner::Runner;

static RUNNER: LazyLock<Runner> = LazyLock::new(|| Runner::new(2).expect("the machine has a target"));

fuzz_target!(|bytes: &[u8]| {
    let (_, finding) = RUNNER.find(Choices::of_bytes(bytes));
    if let Some(finding) = finding {
        panic!("{finding}");
    }
});
