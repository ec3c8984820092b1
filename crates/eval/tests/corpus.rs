//! Runs StableHLO's own test programs, which hold their expectations, and compares how many pass with what we promise.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test says what it skips, and fails where its files are not as they should be"
)]

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use artifact_eval::{EvalErrorKind, Options, evaluate};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_testkit::corpus::{Program, programs};

/// How a program went.
enum Verdict {
    Passed,
    Failed(String),
    Unsupported(String),
}

/// Programs of `stablehlo/static` that upstream does not run in its interpreter, or that XLA's CPU backend fails.
const EXEMPT: &[&str] = &[
    "cumprod_complex64_8_9.mlir",
    "dot_general_int8_4_3_float16_3_6.mlir",
    "dot_general_uint16_4_3_bfloat16_3_6.mlir",
    "dot_general_uint64_4_3_float16_3_6.mlir",
    "fft_float32_14_15_0_17.mlir",
    "fft_float64_14_15_0_17.mlir",
    "rng_bit_generator_uint64_2.mlir",
    "sin_complex64_20_20.mlir",
    "top_k_float32_5_chlo.mlir",
    "triangular_solve_float16_4_4_float16_4_1.mlir",
];

/// Threads that run programs.
const THREADS: usize = 2;

/// Steps of one program; the longest of the corpus needs far fewer.
const STEPS_MAX: u64 = 200_000_000;

#[test]
fn static_programs() {
    check("stablehlo/static", 0.998);
}

#[test]
fn interpreter_programs() {
    check("stablehlo/interpret", 0.98);
}

#[test]
fn math_programs() {
    check("stablehlo/math", 0.75);
}

#[test]
fn quantized_programs() {
    check("stablehlo/quantized", 0.95);
}

/// Runs every program of a folder; at least `share` of them must pass.
fn check(folder: &str, share: f64) {
    let Some(programs) = programs(folder) else { return };
    let (mut passed, mut report) = (0_usize, String::new());
    let mut counted = 0_usize;
    for (program, verdict) in programs.iter().zip(run_all(&programs)) {
        let name = program.name.as_str();
        let exempt = EXEMPT.contains(&name);
        counted += usize::from(!exempt);
        let (word, reason) = match verdict {
            Verdict::Passed => {
                passed += usize::from(!exempt);
                continue;
            }
            Verdict::Failed(reason) => ("failed", reason),
            Verdict::Unsupported(reason) => ("unsupported", reason),
        };
        let note = if exempt { " (exempt)" } else { "" };
        writeln!(report, "{name}: {word}{note}: {reason}").unwrap();
    }
    eprintln!("{report}{folder}: {passed} of {counted} passed");
    assert!(
        passed as f64 >= share * counted as f64,
        "{folder}: {passed} of {counted} passed, expected {share}"
    );
}

/// A verdict for each program, in order.
fn run_all(programs: &[Program]) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(program) = programs.get(number) else {
                        break;
                    };
                    let verdict = run(&program.text);
                    verdicts.lock().unwrap().push((number, verdict));
                }
            });
        }
    });
    let mut verdicts = verdicts.into_inner().unwrap();
    verdicts.sort_by_key(|(number, _)| *number);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

fn run(text: &str) -> Verdict {
    let module = match parse_module(text).into_module() {
        Ok(module) => module,
        Err(diagnostics) => return Verdict::Failed(format!("not read: {}", diagnostics[0])),
    };
    if let Some(finding) = verify(&module).first() {
        return Verdict::Failed(format!("not verified: {finding}"));
    }
    let Some(entry) = module.entry() else {
        return Verdict::Unsupported("no entry function".to_owned());
    };
    if !module.functions[entry].arguments.is_empty() {
        return Verdict::Unsupported("the entry function takes arguments".to_owned());
    }
    let options = Options {
        steps_max: Some(STEPS_MAX),
        bytes_max: None,
    };
    match evaluate(&module, entry, Vec::new(), &options) {
        Ok(outcome) => match outcome.failures.as_slice() {
            [] => Verdict::Passed,
            [first, ..] => Verdict::Failed(format!("{}: {}", first.check, first.message)),
        },
        Err(error) if error.kind() == EvalErrorKind::Unsupported => Verdict::Unsupported(error.to_string()),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}
