//! What is to be checked: one task a program.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::check::judgement::{Rule, Tolerance};
use crate::check::list::{Listed, Lists};
use crate::failure::{Failure, Outcome};
use crate::files::{self, files_under};
use crate::program::holds_program;

/// One program and what it must give.
#[derive(Debug)]
pub(crate) enum Task {
    /// Expectations are operations of the program.
    Embedded {
        path: PathBuf,
        /// Why its list says that it is not run, if it does.
        disabled: Option<String>,
    },
    /// Inputs and results are arrays beside the program.
    Cases {
        path: PathBuf,
        /// Which of the runs of this file: an entry of the list, or a variant.
        run: Option<String>,
        cases: Cases,
    },
    /// Arguments, where it has some, and results are archives of its name.
    Pair { path: PathBuf, pair: Pair },
    /// The program must be refused, at one of these lines; anywhere where there is none.
    Reject { path: PathBuf, expected: Vec<Expected> },
    /// The program is only read; as its twin, a text, it must be right, and both must be the same program.
    Twin { path: PathBuf, text: PathBuf },
    /// A list names a file of a kind that this release does not read.
    Unread { path: PathBuf },
    /// A list names something that is not there, or is malformed.
    Broken { path: PathBuf, reason: String },
}

impl Task {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Embedded { path, .. }
            | Self::Cases { path, .. }
            | Self::Pair { path, .. }
            | Self::Reject { path, .. }
            | Self::Twin { path, .. }
            | Self::Unread { path }
            | Self::Broken { path, .. } => path,
        }
    }

    const fn pair(&self) -> Option<&Pair> {
        match self {
            Self::Pair { pair, .. } => Some(pair),
            _ => None,
        }
    }

    pub(crate) fn name(&self) -> String {
        let path = self.path().display();
        match self {
            Self::Cases { run: Some(run), .. } => format!("{path} ({run})"),
            _ => path.to_string(),
        }
    }
}

/// Two archives: what a program takes, where it takes something, and what it gives.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) inputs: Option<PathBuf>,
    pub(crate) expected: PathBuf,
}

impl Pair {
    /// Those of a file `X` or `X.EXTENSION`: `X.inputs.npz` and `X.expected.npz`, where the second is there.
    fn beside(path: &Path) -> Option<Self> {
        let [inputs, expected] = [Self::inputs_of(path), archive_of(path, "expected.npz")];
        expected.is_file().then(|| Self {
            inputs: Some(inputs).filter(|inputs| inputs.is_file()),
            expected,
        })
    }

    /// Where the arguments of a program lie.
    pub(crate) fn inputs_of(path: &Path) -> PathBuf {
        archive_of(path, "inputs.npz")
    }

    fn archives(&self) -> impl Iterator<Item = &Path> {
        self.inputs.as_deref().into_iter().chain([&*self.expected])
    }
}

fn archive_of(path: &Path, end: &str) -> PathBuf {
    path.with_extension("").with_added_extension(end)
}

/// The runs of one program.
#[derive(Debug)]
pub(crate) struct Cases {
    pub(crate) arrays: PathBuf,
    pub(crate) tolerance: Tolerance,
    pub(crate) rule: Rule,
    /// The array that was factorized or searched; the first input when absent.
    pub(crate) operand: Option<String>,
    /// Position in a case's inputs of each argument; all of them in order when absent.
    pub(crate) kept: Option<Vec<usize>>,
    pub(crate) cases: Vec<Case>,
}

/// One run: names of arrays.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    #[serde(default)]
    pub(crate) variants: Vec<String>,
}

/// A diagnostic that must appear.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Expected {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// What was found in files and folders.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tasks: Vec<Task>,
    /// Programs in folders with lists that no list names.
    pub(crate) unlisted: Vec<PathBuf>,
    /// Files of folders that hold no program.
    pub(crate) passed_over: Vec<PathBuf>,
}

/// Finds the tasks in files and folders. Where there are lists, they say which files of a folder count, and else what the files
/// hold; a file that is named itself counts always. What cannot be read is a task that fails.
pub(crate) fn find(paths: &[PathBuf]) -> Outcome<Found> {
    let mut found = Found::default();
    let mut seen = HashSet::new();
    for path in paths {
        let is_folder = path.is_dir();
        let mut files = if is_folder {
            let files::Found { files, failures } = files_under(path)?;
            let unread = failures
                .into_iter()
                .map(|(path, failure)| unread(&path, &failure));
            found.tasks.extend(unread);
            files
        } else {
            vec![existing(path)?]
        };
        // A file that was given twice, or beside its folder, is one program.
        files.retain(|file| seen.insert(file.clone()));
        let folder_of = |file: &PathBuf| file.parent().unwrap_or(Path::new(".")).to_owned();
        let folders: BTreeSet<PathBuf> = files.iter().map(folder_of).collect();
        let mut with_lists = HashSet::new();
        let mut listed = Listed::default();
        for folder in folders {
            if Lists::read(&folder)?.add_to(&mut listed) {
                with_lists.insert(folder);
            }
        }
        for file in files.iter().filter(|file| !listed.names(file)) {
            if !is_folder {
                found.tasks.push(by_itself(file));
                continue;
            }
            match holds_program(file) {
                Ok(true) if with_lists.contains(&folder_of(file)) => found.unlisted.push(file.clone()),
                Ok(true) => found.tasks.push(by_itself(file)),
                Ok(false) => found.passed_over.push(file.clone()),
                Err(failure) => found.tasks.push(unread(file, &failure)),
            }
        }
        found.tasks.extend(listed.of_files(&files));
    }
    // The archives of a pair are read with their program.
    let pairs = found.tasks.iter().filter_map(Task::pair);
    let archives: HashSet<&Path> = pairs.flat_map(Pair::archives).collect();
    found
        .passed_over
        .retain(|file| !archives.contains(file.as_path()));
    Ok(found)
}

/// A program that no list names.
fn by_itself(path: &Path) -> Task {
    let pair = Pair::beside(path);
    let path = path.to_owned();
    match pair {
        Some(pair) => Task::Pair { path, pair },
        None => Task::Embedded { path, disabled: None },
    }
}

fn unread(path: &Path, failure: &Failure) -> Task {
    Task::Broken {
        path: path.to_owned(),
        reason: failure.one_line(),
    }
}

fn existing(path: &Path) -> Outcome<PathBuf> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(path.to_owned()),
        Ok(_) => Err(Failure::input(format!(
            "{} is not a regular file",
            path.display()
        ))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure::input(format!(
            "there is no file or folder {}",
            path.display()
        ))),
        Err(error) => Err(Failure::file("cannot open", path, &error)),
    }
}
