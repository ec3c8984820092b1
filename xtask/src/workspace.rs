//! The workspace as cargo sees it: its folder, its target folder, and its crates with their direct dependencies.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::{During, Outcome};
use crate::process;

/// What `cargo metadata` says about this workspace, without third-party packages.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    /// The folder of the root manifest.
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    /// Where cargo builds (`CARGO_TARGET_DIR` is taken into account), relative to the root when it lies inside.
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    /// The member crates, sorted by name.
    #[serde(rename = "packages")]
    pub(crate) members: Vec<Member>,
}

/// One crate of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Member {
    /// The package name, `artifact-<folder>`.
    pub(crate) name: String,
    /// Its `Cargo.toml`.
    pub(crate) manifest_path: PathBuf,
    /// Its direct dependencies, ours and others'.
    pub(crate) dependencies: Vec<Dependency>,
    /// Libraries, binaries, tests.
    pub(crate) targets: Vec<Target>,
}

/// One direct dependency.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    /// The package name (not the name it is renamed to).
    pub(crate) name: String,
    /// Absent for a normal dependency.
    pub(crate) kind: Option<DependencyKind>,
    /// Present for a path dependency, which here means a crate of the workspace.
    pub(crate) path: Option<PathBuf>,
}

/// The kinds of dependency that cargo names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DependencyKind {
    /// `[build-dependencies]`.
    Build,
    /// `[dev-dependencies]`.
    Dev,
}

/// One target of a crate.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    /// `lib`, `bin`, `test`, and so on.
    pub(crate) kind: Vec<String>,
    /// The file that holds its root module.
    pub(crate) src_path: PathBuf,
}

impl Workspace {
    /// Asks cargo about the workspace of the current folder, and makes its root the current folder, so that every
    /// command that a task prints can be repeated from there.
    pub(crate) fn enter() -> Outcome<Self> {
        let json = process::capture(&mut metadata_command(&["--no-deps"]))?;
        let mut workspace: Workspace =
            serde_json::from_str(&json).during(|| "read the output of `cargo metadata`".to_owned())?;
        workspace.members.sort_by(|a, b| a.name.cmp(&b.name));
        if let Ok(inside) = workspace.target.strip_prefix(&workspace.root) {
            workspace.target = inside.to_owned();
        }
        std::env::set_current_dir(&workspace.root)
            .during(|| format!("enter {}", workspace.root.display()))?;
        Ok(workspace)
    }

    /// A path below the root, as text with `/`, for messages.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// `cargo metadata` in its stable format, with more options.
pub(crate) fn metadata_command(options: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new("cargo");
    command.args(["metadata", "--format-version", "1"]).args(options);
    command
}
