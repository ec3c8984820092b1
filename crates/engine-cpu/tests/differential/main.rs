//! Random programs: this engine against the reference evaluator. `examples/differential.rs` does the same for as long as one likes.

mod runner;

use artifact_testkit::choices::Choices;

use runner::Runner;

/// Programs that are tried.
const PROGRAMS: u64 = 60;

#[test]
fn random_programs_agree() {
    let runner = Runner::new(2).unwrap_or_else(|error| panic!("{error}"));
    for seed in 0..PROGRAMS {
        let (_, finding) = runner.find(Choices::of_seed(seed));
        if let Some(finding) = finding {
            panic!("seed {seed}: {finding}");
        }
    }
}
