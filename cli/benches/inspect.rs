//! What looking into a large artifact costs: `artifact inspect` on a file with a constant of 3 GB.
//!
//! `cargo bench -p artifact-cli --bench inspect`. The file lies in the folder for temporary files and goes afterwards. Shown are the
//! middle of several runs of the whole process, beside the same for `artifact --version`, which opens nothing; and the
//! memory that this process takes, mapped pages of the file apart, to open the file and to verify all of it.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark stops where its files are not as they should be"
)]

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use artifact_container::manifest::{Manifest, Producer, ProgramFormat, Signature};
use artifact_container::release::RELEASED;
use artifact_container::{ConstantSource, ConstantType, Container, ContainerBuilder, ReadOptions};
use artifact_testkit::timing::middle;

const CONSTANT_BYTES: u64 = 3_000_000_000;
/// Runs of each command; the middle one counts.
const RUNS: usize = 31;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.artifact");
    write(&path);
    let (nothing, inspect) = (
        middle(RUNS, || run(&["--version"])),
        middle(RUNS, || run(&["inspect", path.to_str().unwrap()])),
    );
    println!("artifact --version {nothing:>10.2?}");
    println!("artifact inspect   {inspect:>10.2?}  (a constant of {CONSTANT_BYTES} bytes)");

    let start = private_bytes();
    let described = Container::open_with(&path, &ReadOptions::describe_only()).unwrap();
    println!("memory to open     {:>7} KiB", (private_bytes() - start) >> 10);
    described.verify_all().unwrap();
    println!("memory to verify   {:>7} KiB", (private_bytes() - start) >> 10);
}

fn write(path: &Path) {
    let mut builder = ContainerBuilder::new(manifest(), b"module {}");
    builder.constant(
        ConstantType {
            dtype: "ui8".into(),
            shape: vec![CONSTANT_BYTES],
        },
        ConstantSource::Reader(Box::new(io::repeat(0).take(CONSTANT_BYTES))),
    );
    builder.write_file(path).unwrap();
}

fn manifest() -> Manifest {
    Manifest {
        producer: Producer {
            name: "benchmark".into(),
            version: "1.0.0".into(),
            released: Some(RELEASED),
        },
        program: ProgramFormat {
            name: "stablehlo-text".into(),
            version: "1.20.0".into(),
        },
        signature: Signature {
            function: "main".into(),
            inputs: vec![],
            outputs: vec![],
        },
        platforms: vec![],
        required_features: vec![],
        calling_convention: 1,
        custom_calls: vec![],
        custom_call_waivers: vec![],
        constants: vec![],
        dimensions: None,
        interface: None,
        derivatives: vec![],
        created: None,
        metadata: [].into(),
    }
}

fn run(arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_artifact"));
    let status = command.args(arguments).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{arguments:?} failed");
}

/// Memory of this process that no file backs: `RssAnon` of proc(5).
fn private_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes: u64 = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .unwrap()
        .parse()
        .unwrap();
    kibibytes << 10
}
