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

/// A file of the corpus as it stands.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name, without the folder.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// The files of `folder` whose names end with `.` and `extension`, by name.
///
/// # Panics
///
/// As [`programs`].
#[must_use]
pub fn files(folder: &str, extension: &str) -> Option<Vec<File>> {
    let folder = self::folder(folder)?;
    let mut paths = Vec::new();
    find(&folder, 0, extension, &mut paths);
    assert!(
        !paths.is_empty(),
        "there is no .{extension} in {}",
        folder.display()
    );
    paths.sort();
    Some(paths.into_iter().map(file).collect())
}

fn file(path: PathBuf) -> File {
    let bytes = std::fs::read(&path);
    File {
        name: name_of(&path),
        bytes: bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        path,
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_default()
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

/// A folder of the corpus, for those who read it by themselves; `None`, and a line that says so, when the variable is unset.
#[must_use]
pub fn folder(name: &str) -> Option<PathBuf> {
    let found = root().map(|root| root.join(name));
    if found.is_none() {
        eprintln!("SKIPPED: {VARIABLE} is not set, so `{name}` is not read");
    }
    found
}

fn read(folder: &str, levels: usize) -> Option<Vec<Program>> {
    let folder = self::folder(folder)?;
    let mut paths = Vec::new();
    find(&folder, levels, "mlir", &mut paths);
    assert!(!paths.is_empty(), "there is no program in {}", folder.display());
    paths.sort();
    Some(paths.iter().map(|path| program(path)).collect())
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

fn find(folder: &Path, levels: usize, wanted: &str, paths: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .path();
        if path.is_dir() {
            if levels > 0 {
                find(&path, levels - 1, wanted, paths);
            }
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            paths.push(path);
        }
    }
}

fn program(path: &Path) -> Program {
    Program {
        name: name_of(path),
        text: std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    }
}
