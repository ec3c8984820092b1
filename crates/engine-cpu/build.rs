//! The identity of what compiles: a digest of the sources that decide which code a program becomes and what that code calls, and
//! of the versions of the code generator and the libraries behind it.
//!
//! Two builds of the same sources share compiled modules, whatever else the binaries around them contain.

use std::error::Error;
use std::path::{Path, PathBuf};

use artifact_core::digest::Hasher;

/// Crates of the workspace whose sources count.
const CRATES: [&str; 10] = [
    "chlo",
    "cpu-routine",
    "cpu-tile",
    "dims",
    "engine",
    "engine-cpu",
    "eval",
    "ir",
    "lower",
    "refine",
];

/// What the names of packages of others begin with whose versions count.
const PACKAGES: [&str; 4] = ["cranelift-", "gemm", "libm", "regalloc2"];

fn main() -> Result<(), Box<dyn Error>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("the crate has no folder")?;
    let mut digest = Hasher::content();
    for name in CRATES {
        let sources = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        for path in files(&sources)? {
            let content = std::fs::read(&path)?;
            let name = path
                .strip_prefix(crates)?
                .to_str()
                .ok_or("a path that is no text")?;
            add(&mut digest, name.as_bytes());
            add(&mut digest, &content);
        }
    }
    let lock = crates.join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    for package in packages(&std::fs::read_to_string(lock)?) {
        add(&mut digest, package.as_bytes());
    }
    println!("cargo::rustc-env=ARTIFACT_ENGINE_CPU_SOURCES={}", digest.finish());
    Ok(())
}

/// A part, told apart from the next one by its length.
fn add(digest: &mut Hasher, bytes: &[u8]) {
    digest.update(&(bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// All files in a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// Name, version and checksum of each package of a lock file that counts.
fn packages(lock: &str) -> impl Iterator<Item = &str> {
    let counts = |section: &&str| {
        let name = section.lines().find_map(|line| line.strip_prefix("name = \""));
        name.is_some_and(|name| PACKAGES.iter().any(|prefix| name.starts_with(prefix)))
    };
    lock.split("[[package]]").filter(counts)
}
