//! The `artifact` command as its users meet it: what it prints, its exit codes, and what it leaves behind.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test writes its files as users do, and fails where that does not work"
)]

mod check;
mod convert;
mod doctor;
mod engines;
mod export;
mod files;
mod golden;
mod interchange;
mod json;
mod kinds;
mod mismatch;
mod plugins;
mod positions;
mod rewriting;
mod run;
mod sealing;
mod shapes;
mod symbolic;
mod upgrade;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder that goes when the test ends.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Names of what lies in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn artifact() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_artifact"));
    // Nothing but its arguments may decide what it does.
    command.env_clear();
    command
}

/// What a command printed, and how it ended.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

fn ended(output: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Runs `artifact`; paths and texts are arguments alike.
fn run(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Ended {
    ended(
        artifact()
            .args(arguments.iter().map(|argument| argument.as_ref()))
            .output()
            .unwrap(),
    )
}

impl Ended {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "standard output:\n{}\nstandard error:\n{}",
            self.out,
            self.err
        );
        self
    }

    #[track_caller]
    fn says(self, text: &str) -> Self {
        let all = format!("{}{}", self.out, self.err);
        assert!(all.contains(text), "no `{text}` in:\n{all}");
        self
    }

    #[track_caller]
    fn says_not(self, text: &str) -> Self {
        let all = format!("{}{}", self.out, self.err);
        assert!(!all.contains(text), "`{text}` in:\n{all}");
        self
    }
}

fn fixture(suffix: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fixtures/transformer_block{suffix}"))
}

/// A program of one addition, with the names that JAX records.
const ADD: &str = r#"module @add {
  func.func public @main(%arg0: tensor<2x3xf32> loc("x"), %arg1: tensor<3xf32> loc("bias")) -> (tensor<2x3xf32> {jax.result_info = "sum"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}
"#;

/// A NumPy array file (NEP 1) of version 1.0.
fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

/// An archive as `numpy.savez` writes it, of arrays with names.
fn npz(arrays: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("{name}.npy"), options).unwrap();
        std::io::Write::write_all(&mut zip, array).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An export of the newest schema, as JAX wrote it.
fn jax_export(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/jax_exports/schema12");
    folder.join(name).with_added_extension("bin")
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn help_names_every_command() {
    let help = run(&[&"--help"]).expect(0).out;
    for command in [
        "export",
        "inspect",
        "keygen",
        "sign",
        "verify",
        "run",
        "specialize",
        "upgrade",
        "check",
        "convert",
        "completions",
    ] {
        assert!(help.contains(command), "{help}");
        let own = run(&[&command, &"--help"]).expect(0).out;
        assert!(own.contains("Usage: artifact"), "{own}");
    }
}

#[test]
fn usage_errors() {
    run(&[]).expect(2);
    run(&[&"exprot"]).expect(2).says("export");
    run(&[&"run"]).expect(2);
}

/// Previews had the same version: the day and the containers tell what is read.
#[test]
fn the_version_says_what_is_read() {
    let version = run(&[&"--version"]).expect(0).out;
    let (_, rest) = version.split_once(", released 20").unwrap();
    assert!(rest.ends_with("; reads containers 0.9 to 1.0\n"), "{version}");
}

#[test]
fn completions() {
    run(&[&"completions", &"bash"]).expect(0).says("_artifact");
}
