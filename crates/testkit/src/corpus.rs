//! Programs that nobody here wrote, with known results. They are too large for the repository.

#![expect(
    clippy::print_stderr,
    reason = "a test says what it skips where nothing else would tell"
)]

use std::path::{Path, PathBuf};

/// The variable that names the corpus's folder.
pub const VARIABLE: &str = "ARTIFACT_CORPUS_DIR";

/// Levels of folders that are searched.
const LEVELS_MAX: usize = 4;

/// One program of the corpus.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its file's name, without the folder.
    pub name: String,
    /// What the file holds.
    pub text: String,
}

/// The programs that lie in `folder` itself (such as `stablehlo/static`), by name.
///
/// `None`, and a line that says so, when the variable is unset.
///
/// # Panics
///
/// When the folder or a file cannot be read, or when the folder holds no program.
#[must_use]
pub fn programs(folder: &str) -> Option<Vec<Program>> {
    read(folder, 0)
}

/// The programs in all folders of the corpus.
///
/// # Panics
///
/// As [`programs`].
#[must_use]
pub fn all_programs() -> Option<Vec<Program>> {
    read("", LEVELS_MAX)
}

/// The files of `folder` with this extension, each with its name and its bytes, by name.
///
/// `None`, and a line that says so, when the variable is unset.
///
/// # Panics
///
/// When the folder or a file cannot be read, or when the folder holds no such file.
#[must_use]
pub fn files(folder: &str, extension: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let paths = paths(folder, extension, 0)?;
    let read =
        |path: &Path| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(paths.iter().map(|path| (file_name(path), read(path))).collect())
}

/// The text of another file of the corpus, such as the list of a folder's programs.
///
/// # Panics
///
/// When it cannot be read.
#[must_use]
pub fn text(file: &str) -> Option<String> {
    let path = root()?.join(file);
    let text = std::fs::read_to_string(&path);
    Some(text.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn read(folder: &str, levels: usize) -> Option<Vec<Program>> {
    let paths = paths(folder, "mlir", levels)?;
    Some(paths.iter().map(|path| program(path)).collect())
}

fn paths(folder: &str, extension: &str, levels: usize) -> Option<Vec<PathBuf>> {
    let Some(root) = root() else {
        eprintln!("SKIPPED: {VARIABLE} is not set, so no file of `{folder}` is read");
        return None;
    };
    let folder = root.join(folder);
    let mut paths = Vec::new();
    find(&folder, extension, levels, &mut paths);
    assert!(
        !paths.is_empty(),
        "there is no .{extension} file in {}",
        folder.display()
    );
    paths.sort();
    Some(paths)
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests find the corpus through the environment"
)]
fn root() -> Option<PathBuf> {
    std::env::var_os(VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn find(folder: &Path, extension: &str, levels: usize, paths: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .path();
        if path.is_dir() {
            if levels > 0 {
                find(&path, extension, levels - 1, paths);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
}

fn program(path: &Path) -> Program {
    Program {
        name: file_name(path),
        text: std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_default()
}
