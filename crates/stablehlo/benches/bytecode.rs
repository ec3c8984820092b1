//! Reading, verifying and writing portable bytecode on one core, beside jaxlib on the same file in the same run.
//!
//! `cargo bench -p artifact-stablehlo --bench bytecode`, after `cargo xtask setup` has installed jaxlib into `target/venv`. The
//! file is a training step that the script beside this one exports; another one is mostly a constant.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints what it measured, and stops where something is not as it should be"
)]

use std::ffi::OsStr;
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
    match python() {
        Some(python) => training_step(&python),
        None => println!("training step: SKIPPED, there is no jaxlib in target/venv (`cargo xtask setup`)"),
    }
    constant();
}

/// The Python that has jaxlib.
fn python() -> Option<PathBuf> {
    let path = root().join("target/venv/bin/python");
    path.exists().then_some(path)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn script(python: &Path, arguments: &[&OsStr]) -> String {
    let output = Command::new(python)
        .arg(root().join("crates/stablehlo/benches/training_step.py"))
        .args(arguments)
        .output()
        .expect("python starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("numbers are text")
}

/// The file as JAX writes it, then as artifacts hold it: without locations.
fn training_step(python: &Path) {
    let path = std::env::temp_dir().join(format!("training_step.{}.mlirbc", std::process::id()));
    script(python, &["export".as_ref(), path.as_os_str()]);
    let module = read_from(&path);
    measure("training step with locations", python, &path, true);
    let stripped = write(&module, &options(false)).expect("it was that version");
    std::fs::write(&path, stripped.to_vec()).expect("the file can be written");
    measure("training step without locations", python, &path, false);
    std::fs::remove_file(&path).expect("the file can be removed");
}

fn read_from(path: &Path) -> Module {
    let file = Blob::new(std::fs::read(path).expect("the file is there"));
    read(&file).expect("it is bytecode").module
}

const fn options(locations: bool) -> WriteOptions {
    WriteOptions {
        version: Version::new(1, 13, 0),
        locations,
    }
}

fn measure(what: &str, python: &Path, path: &Path, locations: bool) {
    let (passes, options) = (PASSES.to_string(), options(locations));
    let said = script(python, &["time".as_ref(), path.as_os_str(), passes.as_ref()]);
    let numbers: Vec<f64> = said
        .split_whitespace()
        .map(|number| number.parse().expect("a number"))
        .collect();
    let [operations, peer_read, peer_write] = numbers[..] else {
        panic!("three numbers: {said}")
    };
    let file = Blob::new(std::fs::read(path).expect("the file is there"));
    let module = read(&file).expect("it is bytecode").module;
    let only_read = middle(PASSES, || {
        black_box(read(black_box(&file)).expect("it was read before"));
    });
    let verified = middle(PASSES, || {
        let module = read(black_box(&file)).expect("it was read before").module;
        assert!(verify(black_box(&module)).is_empty());
    });
    let written = middle(PASSES, || {
        black_box(write(black_box(&module), &options).expect("it was that version"));
    });
    println!("{what}: {operations} operations, {} bytes", file.len());
    show("read", only_read, peer_read, operations);
    show("read and verified", verified, peer_read, operations);
    show("write", written, peer_write, operations);
}

fn show(what: &str, time: Duration, peer: f64, operations: f64) {
    let seconds = time.as_secs_f64();
    println!(
        "  {what:18} {:6.3} us an operation; jaxlib {:6.3}, {:.1} times as long",
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
    // What the machine does at most, in the same minute.
    let copy_time = middle(5, || {
        output.clear();
        black_box(&mut output).extend_from_slice(black_box(&file));
    });
    let rate = |time: Duration| CONSTANT_BYTES as f64 / time.as_secs_f64() / 1e9;
    println!(
        "constant of {} MB: read {:.1} GB/s, write {:.1} GB/s; a plain copy {:.1} GB/s",
        CONSTANT_BYTES >> 20,
        rate(read_time),
        rate(write_time),
        rate(copy_time)
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
