//! `tidy`: the rules about the repository that neither the compiler nor clippy checks, one module a subject.
//!
//! The files are those that git tracks or would track, so a new file is checked before it is committed.

mod decisions;
mod licences;
mod links;
mod manifests;
mod sizes;
mod spdx;
mod text;

use std::process::Command;

use crate::failure::{Findings, Outcome};
use crate::process;
use crate::workspace::Workspace;

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    let paths = tracked_paths()?;
    let mut findings = Findings::default();
    sizes::check(&paths, &mut findings)?;
    text::check(&paths, &mut findings)?;
    manifests::check(workspace, &mut findings)?;
    links::check(&paths, &mut findings)?;
    decisions::check(&paths, &mut findings)?;
    let packages = licences::check(&mut findings)?;
    findings.into_outcome("tidy")?;
    println!(
        "tidy: {} files, {} crates, {packages} third-party packages",
        paths.len(),
        workspace.members.len()
    );
    Ok(())
}

/// The repository's files, relative to the root, with `/`.
fn tracked_paths() -> Outcome<Vec<String>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = process::capture(Command::new("git").args(list))?;
    let mut paths: Vec<String> = output
        .split('\0')
        .filter(|path| std::path::Path::new(path).is_file())
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The line number of a byte offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}
