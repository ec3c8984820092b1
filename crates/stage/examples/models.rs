//! Three functions, from a line of arithmetic to a layer of attention, staged and printed as StableHLO.
//!
//! `cargo run -p artifact-stage --example models -- attention > attention.mlir` writes one. With `artifact export` it becomes an
//! artifact that runs at every size; the command that names its dimensions is printed to standard error.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the example writes a program and says what to do with it"
)]

use artifact_ir::types::ElementType::{F32, I32};
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_stage::{StageError, Staged, function};

/// `3x² + 2x - 1` of each element of a vector of any length.
///
/// A shape is written as text: `n` is a dimension variable, at least 1. Operators work on tensors and on numbers, which take
/// the type of the tensor beside them.
fn quadratic() -> Result<Staged, StageError> {
    function("quadratic", |s| {
        let x = s.arg("x", F32, "n")?;
        Ok(vec![("y", 3.0 * &x * &x + 2.0 * &x - 1.0)])
    })
}

/// Two dense layers. The weights are arguments with names, the batch size `b` is open.
///
/// `hidden + b1` adds a vector to each row: shapes broadcast as in NumPy, and a size repeats only where it is the number 1.
/// Had `w2` the shape `(32, 10)`, the product would be refused at its line, with both sizes.
fn perceptron() -> Result<Staged, StageError> {
    function("mlp", |s| {
        let x = s.arg("x", F32, "b, 128")?;
        let (w1, b1) = (s.arg("w1", F32, "128, 64")?, s.arg("b1", F32, "64")?);
        let (w2, b2) = (s.arg("w2", F32, "64, 10")?, s.arg("b2", F32, "10")?);
        let hidden = (x.matmul(&w1) + b1).relu();
        let logits = hidden.matmul(&w2) + b2;
        Ok(vec![("probabilities", logits.softmax(-1))])
    })
}

/// Causal attention with layer norm in front and a residual connection behind.
///
/// Batch `b` and length `t` are open; the length has to be a multiple of 8. In `bqd,bkd->bqk` the letters are dimensions: those
/// in both operands and not in the result are summed over. The mask compares positions, which `iota_like` counts along a
/// dimension of a shape that is only known when the program runs.
fn attention() -> Result<Staged, StageError> {
    function("attention", |s| {
        let x = s.arg("x", F32, "b, t, 64")?;
        s.constraint("mod(t, 8) == 0")?;
        let (scale, bias) = (s.arg("scale", F32, "64")?, s.arg("bias", F32, "64")?);
        let (query, key) = (s.arg("query", F32, "64, 64")?, s.arg("key", F32, "64, 64")?);
        let value = s.arg("value", F32, "64, 64")?;
        let normal = x.layer_norm(&scale, &bias, 1e-5);
        let [q, k, v] = [query, key, value].map(|weights| normal.matmul(&weights));
        let scores = q.einsum(&k, "bqd,bkd->bqk") / 8.0;
        let (row, column) = (scores.iota_like(1, I32), scores.iota_like(2, I32));
        let past = row.greater_equal(&column);
        let masked = scores.where_(&past, &scores.full_like(f64::NEG_INFINITY));
        Ok(vec![("y", x + masked.softmax(-1).matmul(&v))])
    })
}

fn main() -> std::process::ExitCode {
    let staged = match std::env::args().nth(1).as_deref() {
        Some("quadratic") => quadratic(),
        Some("mlp") => perceptron(),
        Some("attention") => attention(),
        _ => {
            eprintln!("name one of: quadratic, mlp, attention");
            return std::process::ExitCode::from(2);
        }
    };
    match staged {
        Ok(staged) => {
            let options = PrintOptions {
                locations: true,
                ..PrintOptions::default()
            };
            print!("{}", print_module(&staged.module, &options));
            let shapes: Vec<String> = staged
                .shapes
                .iter()
                .map(|(name, shape)| format!("{name}: {shape}"))
                .collect();
            let constraints: String = staged
                .constraints
                .iter()
                .map(|text| format!(" --constraint '{text}'"))
                .collect();
            eprintln!(
                "artifact export PROGRAM.mlir --shapes '{}'{constraints} -o F.artifact",
                shapes.join("; ")
            );
            std::process::ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
