//! The programs of the corpus through XLA's CPU plugin.

use std::path::PathBuf;

use artifact_testkit::corpus;

use super::{artifact, ended};

/// XLA's CPU plugin, if the tests were told where one is.
pub(crate) fn xla() -> Option<PathBuf> {
    let path = std::env::var_os("ARTIFACT_PJRT_PLUGIN").filter(|value| !value.is_empty());
    if path.is_none() {
        #[expect(clippy::print_stdout, reason = "a test that did nothing says so")]
        {
            println!("SKIPPED: ARTIFACT_PJRT_PLUGIN names no plugin; `cargo xtask test` installs one");
        }
    }
    path.map(PathBuf::from)
}

/// Checks programs on so many devices: how many pass, and how many are not for this engine. None may fail.
#[track_caller]
fn check(programs: Option<Vec<PathBuf>>, devices: u32, passed: usize, unsupported: usize) {
    let (Some(xla), Some(programs)) = (xla(), programs) else {
        return;
    };
    let mut command = artifact();
    command
        .arg("check")
        .args(programs)
        .arg(format!("--engine=pjrt:{}", xla.display()));
    let ended = ended(command.arg(format!("--devices={devices}")).output().unwrap());
    let count = format!("{passed} passed, 0 failed, {unsupported} unsupported\n");
    assert!(ended.out.ends_with(&count), "{count}{}", ended.out);
}

fn folder(name: &str) -> Option<Vec<PathBuf>> {
    corpus::folder(name).map(|folder| vec![folder])
}

#[test]
fn programs_of_jax() {
    // The same programs are there in two more forms; compiling takes its time.
    let files = corpus::files("jax", "bin");
    let paths = files.map(|files| files.into_iter().map(|file| file.path).collect());
    check(paths, 1, 38, 0);
}

#[test]
fn artifacts_of_earlier_jax() {
    check(folder("jax_backcompat"), 1, 24, 0);
}

/// Half of the programs are for 4 devices, and half for 8.
#[test]
fn programs_of_several_devices() {
    check(folder("jax_sharded"), 4, 9, 9);
    check(folder("jax_sharded"), 8, 9, 9);
}

/// Of two, XLA's CPU compiler does not have what they ask for.
#[test]
fn programs_of_the_specification() {
    check(folder("stablehlo/static"), 1, 1163, 2);
}
