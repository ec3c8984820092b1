//! Rules about the crates' manifests and root modules.

use std::path::Path;

use toml::{Table, Value};

use crate::failure::{During, Findings, Outcome};
use crate::files;
use crate::workspace::{Member, Workspace};

/// The tables of a manifest that hold dependencies.
const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks every crate of the workspace.
pub(super) fn check(workspace: &Workspace, findings: &mut Findings) -> Outcome {
    for member in &workspace.members {
        let path = workspace.relative(&member.manifest_path);
        let manifest = read_manifest(&path)?;
        check_manifest(&path, &manifest, findings);
        check_name(&path, &member.name, findings);
        check_root_modules(workspace, member, findings)?;
    }
    Ok(())
}

/// Reads a manifest, or any other TOML file, as a table.
pub(super) fn read_manifest(path: &str) -> Outcome<Table> {
    files::read(Path::new(path))?
        .parse::<Table>()
        .during(|| format!("read {path} as TOML"))
}

fn check_manifest(path: &str, manifest: &Table, findings: &mut Findings) {
    if !inherits(manifest.get("lints")) {
        findings.push(path, "add `[lints]` with `workspace = true`");
    }
    let by_target = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    for tables in std::iter::once(manifest).chain(by_target) {
        check_dependencies(path, tables, findings);
    }
}

fn check_dependencies(path: &str, tables: &Table, findings: &mut Findings) {
    for table in DEPENDENCY_TABLES {
        for (name, dependency) in tables.get(*table).and_then(Value::as_table).into_iter().flatten() {
            if !inherits(Some(dependency)) {
                findings.push(
                    path,
                    format!("`{name}` in [{table}]: declare the version in the root manifest and write `{name}.workspace = true`"),
                );
            }
        }
    }
}

/// Whether a value is a table with `workspace = true`.
fn inherits(value: Option<&Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(Value::as_bool)
        == Some(true)
}

/// A package is `artifact-` and the name of its folder; xtask is not part of the product.
fn check_name(path: &str, name: &str, findings: &mut Findings) {
    let folder = Path::new(path)
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default()
        .to_string_lossy();
    if name != "xtask" && name != format!("artifact-{folder}") {
        findings.push(
            path,
            format!("package `{name}` in folder `{folder}`: name it `artifact-{folder}`"),
        );
    }
}

/// The root module of every library and binary says what the crate is for.
fn check_root_modules(workspace: &Workspace, member: &Member, findings: &mut Findings) -> Outcome {
    let is_product = |kind: &String| matches!(kind.as_str(), "lib" | "bin" | "proc-macro" | "cdylib");
    for target in member
        .targets
        .iter()
        .filter(|target| target.kind.iter().any(is_product))
    {
        let text = files::read(&target.src_path)?;
        if !text.starts_with("//! ") {
            findings.push(
                workspace.relative(&target.src_path),
                "open with `//!`: purpose, invariants, entry points",
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_inherits_lints_and_versions() {
        let check = |text: &str, want: &[&str]| {
            let mut findings = Findings::default();
            check_manifest("Cargo.toml", &text.parse().expect("TOML"), &mut findings);
            let lines = findings.lines();
            assert_eq!(lines.len(), want.len(), "{text}: {lines:?}");
            for (line, part) in lines.iter().zip(want) {
                assert!(line.contains(part), "{text}: {line:?} lacks {part:?}");
            }
        };
        let lints = "lints.workspace = true\n";
        check(&format!("{lints}[dependencies]\nserde.workspace = true"), &[]);
        check(
            &format!("{lints}[dependencies]\nserde = {{ workspace = true, features = [] }}"),
            &[],
        );
        check("[dependencies]", &["[lints]"]);
        check(
            &format!("{lints}[dependencies]\nserde = \"1\""),
            &["`serde` in [dependencies]"],
        );
        check(
            &format!("{lints}[target.'cfg(unix)'.dev-dependencies]\nx = {{ path = \"../x\" }}"),
            &["`x` in [dev-dependencies]"],
        );
    }

    #[test]
    fn a_package_is_named_for_its_folder() {
        let check = |path: &str, name: &str, want: usize| {
            let mut findings = Findings::default();
            check_name(path, name, &mut findings);
            assert_eq!(findings.lines().len(), want, "{path} {name}");
        };
        check("crates/ir/Cargo.toml", "artifact-ir", 0);
        check("cli/Cargo.toml", "artifact-cli", 0);
        check("xtask/Cargo.toml", "xtask", 0);
        check("crates/ir/Cargo.toml", "ir", 1);
    }
}
