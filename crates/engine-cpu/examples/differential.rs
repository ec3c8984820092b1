//! Random programs, this engine against the reference evaluator, for as long as one likes.
//!
//! `differential [--seconds N] [--seed N] [--count N] [--threads N]` starts with the programs of that seed, prints each difference that
//! it finds as a small program, and at the end which operations the programs consisted of. It ends with status 1 where there was a
//! difference or an operation was never used.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it says what it found, and where it is"
)]

#[path = "../tests/differential/runner.rs"]
mod runner;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use artifact_testkit::choices::Choices;
use artifact_testkit::program::Coverage;

use runner::{Finding, Runner};

/// Programs that are shown of those that seem to show the same.
const SHOWN_OF_A_KIND: u64 = 3;

struct Options {
    time: Duration,
    seed: u64,
    count: u64,
    threads: usize,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Options {
        time,
        seed,
        count,
        threads,
    } = options(&words)?;
    // A panic is a finding, which is printed with its program.
    std::panic::set_hook(Box::new(|_| {}));
    let runner = Runner::new(threads)?;
    let mut coverage = Coverage::default();
    let mut findings: BTreeMap<String, u64> = BTreeMap::new();
    let start = Instant::now();
    let mut tried = 0;
    while tried < count && start.elapsed() < time {
        let current = seed + tried;
        tried += 1;
        // A guard page that is touched stops the process: this is what it was at.
        eprint!("\r{current} ");
        let (case, finding) = runner.find(Choices::of_seed(current));
        if let Some(case) = case {
            coverage.add(&case.module);
        }
        if let Some(finding) = finding {
            let count = findings.entry(kind(&finding)).or_default();
            *count += 1;
            if *count <= SHOWN_OF_A_KIND {
                println!("seed {current}: {finding}\n");
            }
        }
    }
    for (kind, count) in &findings {
        println!("{count:>8} times: {kind}");
    }
    for (name, count) in coverage.counts() {
        println!("{count:>8} {name}");
    }
    let missing = coverage.missing();
    println!(
        "{tried} programs from seed {seed}, {} kinds of differences, never used: {missing:?}",
        findings.len()
    );
    let fine = findings.is_empty() && missing.is_empty();
    Ok(if fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What a finding says apart from numbers: the same for programs that show the same.
fn kind(finding: &Finding) -> String {
    let what = finding.difference.to_string();
    let what = what.split("Some(").next().unwrap_or_default();
    let letters = what.chars().filter(|letter| !letter.is_ascii_digit());
    let name = |line: &str| {
        let op = line.split_once("= ")?.1;
        Some(op.split([' ', '(']).next()?.to_owned())
    };
    let ops: BTreeSet<String> = finding.text.lines().filter_map(name).collect();
    format!("{} {ops:?}", letters.take(80).collect::<String>())
}

fn options(words: &[String]) -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        time: Duration::from_mins(1),
        seed: 0,
        count: u64::MAX,
        threads: 2,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--seconds" => options.time = Duration::from_secs(value.parse()?),
            "--seed" => options.seed = value.parse()?,
            "--count" => options.count = value.parse()?,
            "--threads" => options.threads = value.parse()?,
            _ => return Err(format!("there is no option {word}").into()),
        }
    }
    Ok(options)
}
