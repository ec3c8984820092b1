//! Rust from a FlatBuffers schema: the constants of `artifact-proto`, from `schemas/`.
//!
//! What is generated declares names, places and types; reading and writing is `artifact-flatbuffer`. The language is the
//! part of FlatBuffers' that our schemas use (<https://flatbuffers.dev/schema/>), and everything else is refused: so no
//! other tool has to be installed, and every declaration must have a comment.

mod emit;
mod parse;

use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;
use crate::{files, process};

/// The Rust file of a schema, formatted.
pub(crate) fn rust_of(workspace: &Workspace, path: &str) -> Outcome<String> {
    let text = files::read(Path::new(path))?;
    let schema = parse::parse(&text)
        .and_then(parse::Schema::checked)
        .map_err(|error| Failure::new(format!("{path}:{error}")))?;
    formatted(workspace, &emit::emit(&schema, path))
}

/// The text as `cargo fmt` leaves it.
fn formatted(workspace: &Workspace, text: &str) -> Outcome<String> {
    let scratch = workspace.target.join("gen/schema.rs");
    files::write(&scratch, text)?;
    process::capture(
        Command::new("rustfmt")
            .args(["--edition", "2024", "--config-path", "rustfmt.toml", "--quiet"])
            .arg(&scratch),
    )?;
    files::read(&scratch)
}
