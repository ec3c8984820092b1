//! Reading, verifying and writing portable bytecode on one core, beside jaxlib on the same file in the same run.
//!
//! `cargo bench -p artifact-stablehlo --bench bytecode`, after `cargo xtask setup` has installed jaxlib into `target/venv`. The
//! file is a training step that the script beside this one exports; another one is mostly a constant.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints what it measured, and stops where something is not as it should be"
)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use artifact_core::blob::Blob;
use artifact_ir::literal::Literal;
use artifact_ir::module::Module;
use artifact_ir::types::{ElementType, TensorType};
use artifact_ir::verify::verify;
use artifact_stablehlo::bytecode::{WriteOptions, read, write};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::vhlo::Version;
use artifact_testkit::timing::middle;

/// Runs of each measurement; the middle one counts.
const PASSES: usize = 21;
/// Bytes of the constant.
const CONSTANT_BYTES: usize = 256 << 20;

fn main() {
    match peer() {
        Some(peer) => training_step(&peer),
        None => println!("training step: SKIPPED, there is no jaxlib in target/venv (`cargo xtask setup`)"),
    }
    constant();
}

/// What jaxlib takes, and the file that it wrote.
struct Peer {
    file: Blob,
    operations: f64,
    read: f64,
    write: f64,
}

fn peer() -> Option<Peer> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/venv/bin/python");
    if !python.exists() {
        return None;
    }
    let path: PathBuf = std::env::temp_dir().join(format!("training_step.{}.mlirbc", std::process::id()));
    let output = Command::new(python)
        .arg(root.join("crates/stablehlo/benches/training_step.py"))
        .arg(&path)
        .arg(PASSES.to_string())
        .output()
        .expect("python starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = std::fs::read(&path).expect("the script wrote the file");
    std::fs::remove_file(&path).expect("the file can be removed");
    let text = String::from_utf8(output.stdout).expect("numbers are text");
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(|number| number.parse().expect("a number"))
        .collect();
    Some(Peer {
        file: Blob::new(file),
        operations: numbers[0],
        read: numbers[1],
        write: numbers[2],
    })
}

fn training_step(peer: &Peer) {
    let options = WriteOptions {
        version: Version::new(1, 13, 0),
        locations: true,
    };
    let module = read(&peer.file).expect("jaxlib wrote it").module;
    println!(
        "training step: {} operations, {} bytes",
        peer.operations,
        peer.file.len()
    );
    let only_read = middle(PASSES, || {
        black_box(read(black_box(&peer.file)).expect("it was read before"));
    });
    let verified = middle(PASSES, || {
        let module = read(black_box(&peer.file)).expect("it was read before").module;
        assert!(verify(black_box(&module)).is_empty());
    });
    let written = middle(PASSES, || {
        black_box(write(black_box(&module), &options).expect("it was that version"));
    });
    show("read", only_read, peer.read, peer.operations);
    show("read and verified", verified, peer.read, peer.operations);
    show("write", written, peer.write, peer.operations);
}

fn show(what: &str, time: Duration, peer: f64, operations: f64) {
    let seconds = time.as_secs_f64();
    println!(
        "{what:18} {:6.3} us an operation; jaxlib {:6.3}, {:.1} times as long",
        seconds / operations * 1e6,
        peer / operations * 1e6,
        peer / seconds
    );
}

/// A program of one large constant whose elements differ.
fn constant() {
    let count = CONSTANT_BYTES / 4;
    let bytes = (0..count as u32).flat_map(u32::to_le_bytes).collect();
    let ty = TensorType::of_static(&[count as u64], ElementType::I32);
    let literal = Literal::dense(Arc::new(ty), Blob::new(bytes)).expect("the length fits");
    let module = program_of(&literal);
    let options = WriteOptions::default();
    let encoded = write(&module, &options).expect("a constant can be written");
    let file = Blob::new(encoded.to_vec());
    // The memory that is written to is there before, as a file's would be.
    let mut output = Vec::with_capacity(file.len());
    encoded.write_to(&mut output).expect("memory takes everything");
    let read_time = middle(5, || {
        let module = read(black_box(&file)).expect("it was written").module;
        assert!(verify(black_box(&module)).is_empty());
    });
    let write_time = middle(5, || {
        output.clear();
        let encoded = write(black_box(&module), &options).expect("it was written before");
        encoded
            .write_to(black_box(&mut output))
            .expect("memory takes everything");
    });
    let rate = |time: Duration| CONSTANT_BYTES as f64 / time.as_secs_f64() / 1e9;
    println!(
        "constant of {} MB: read {:.1} GB/s, write {:.1} GB/s",
        CONSTANT_BYTES >> 20,
        rate(read_time),
        rate(write_time)
    );
}

fn program_of(literal: &Literal) -> Module {
    let ty = literal.ty();
    let text = format!(
        "func.func @main() -> {ty} {{\n  %0 = stablehlo.constant dense<0> : {ty}\n  return %0 : {ty}\n}}"
    );
    let mut module = parse_module(&text).into_module().expect("the text is a program");
    let main = module.entry().expect("there is a function");
    let body = module.functions[main].body.as_mut().expect("it has a body");
    let op = body.blocks[body.entry_block().expect("one block")].ops[0];
    body.ops[op].op = artifact_ir::op::Creation::Constant(artifact_ir::op::Constant {
        value: literal.clone(),
    })
    .into();
    module
}
