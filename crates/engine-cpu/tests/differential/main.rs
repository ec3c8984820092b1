//! Random programs: this engine against the reference evaluator. `examples/differential.rs` does the same for as long as one likes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod found;
mod runner;

use artifact_testkit::choices::Choices;

use runner::Runner;

/// Programs that are tried.
const PROGRAMS: u64 = 200;

#[test]
fn random_programs_agree() {
    let runner = Runner::new(2).unwrap();
    for seed in 0..PROGRAMS {
        let (_, finding) = runner.find(Choices::of_seed(seed));
        if let Some(finding) = finding {
            panic!("seed {seed}: {finding}");
        }
    }
}
