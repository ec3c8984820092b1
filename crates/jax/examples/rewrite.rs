//! Reads the `.bin` files of one folder, of `jax.export`, and writes them again into another: `rewrite ORIGINALS REWRITTEN`.
//! Each must come back from what was written. The check against JAX (`tests/jaxlib/rewritten_exports.py`) loads the results.

#![expect(clippy::print_stdout, reason = "a program talks to its user")]

use std::error::Error;
use std::path::{Path, PathBuf};

use artifact_core::blob::Blob;
use artifact_jax::{looks_like, read, write};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [originals, rewritten] = paths.as_slice() else {
        return Err("usage: rewrite ORIGINALS REWRITTEN".into());
    };
    let mut count = 0;
    for entry in std::fs::read_dir(originals)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            rewrite(&path, rewritten).map_err(|error| format!("{}: {error}", path.display()))?;
            count += 1;
        }
    }
    println!("{}: {count} files written", rewritten.display());
    if count == 0 {
        return Err(format!("{} holds no .bin file", originals.display()).into());
    }
    Ok(())
}

fn rewrite(path: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    if !looks_like(&bytes) {
        return Err("is not recognised as a JAX export".into());
    }
    let exported = read(Blob::new(bytes)).map_err(chain)?;
    let written = write(&exported).map_err(chain)?;
    if read(Blob::new(written.clone())).map_err(chain)? != exported {
        return Err("what was written is read as something else".into());
    }
    let name = path.file_name().ok_or("is not a file")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the check starts over when a file is torn"
    )]
    std::fs::write(folder.join(name), written)?;
    Ok(())
}

/// An error with its causes, in one line.
fn chain(error: artifact_jax::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
