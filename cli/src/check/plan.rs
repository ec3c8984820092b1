//! What is to be checked: one task a program.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use artifact_core::limit::Limit;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, Outcome};
use crate::files::{self, files_under, has_extension};

const LIST_BYTES: Limit = Limit::new("a list of programs", 64 << 20, "bytes");

/// Ends of the names of programs in other forms than text, which lists name for other tools.
const OTHER_FORMS: [&str; 2] = ["mlirbc", "bin"];

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
    /// The program must be refused.
    Reject { path: PathBuf, expected: Vec<Expected> },
    /// A list names something that is not there, or is malformed.
    Broken { path: PathBuf, reason: String },
}

impl Task {
    fn path(&self) -> &Path {
        match self {
            Self::Embedded { path, .. }
            | Self::Cases { path, .. }
            | Self::Reject { path, .. }
            | Self::Broken { path, .. } => path,
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

/// The runs of one program.
#[derive(Debug)]
pub(crate) struct Cases {
    pub(crate) arrays: PathBuf,
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
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
    variants: Vec<String>,
}

/// A diagnostic that must appear.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Expected {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// Finds the tasks in files and folders.
pub(crate) fn find(paths: &[PathBuf]) -> Outcome<Vec<Task>> {
    let mut tasks = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        let mut files = if path.is_dir() {
            files_under(path)?
        } else {
            vec![existing(path)?]
        };
        // A file that was given twice, or beside its folder, is one program.
        files.retain(|file| seen.insert(file.clone()));
        let mut folders: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
        for file in &files {
            folders
                .entry(file.parent().unwrap_or(Path::new(".")))
                .or_default()
                .push(file);
        }
        for (folder, files) in folders {
            Folder::read(folder)?.tasks(&files, &mut tasks)?;
        }
    }
    Ok(tasks)
}

fn existing(path: &Path) -> Outcome<PathBuf> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if path.exists() {
        return Err(Failure::input(format!(
            "{} is not a regular file",
            path.display()
        )));
    }
    Err(Failure::input(format!(
        "there is no file or folder {}",
        path.display()
    )))
}

/// The lists of a folder.
struct Folder {
    path: PathBuf,
    cases: Option<Value>,
    manifest: Option<Value>,
    index: Option<Value>,
}

impl Folder {
    fn read(path: &Path) -> Outcome<Self> {
        Ok(Self {
            path: path.to_owned(),
            cases: read_json(&path.join("cases.json"))?,
            manifest: read_json(&path.join("manifest.json"))?,
            index: read_json(&path.join("index.json"))?,
        })
    }

    fn tasks(&self, files: &[&PathBuf], tasks: &mut Vec<Task>) -> Outcome<()> {
        let wanted: HashSet<&Path> = files.iter().map(|file| file.as_path()).collect();
        let mut listed: HashSet<PathBuf> = HashSet::new();
        let mut add = |name: &str, found: Result<Vec<Task>, String>| {
            let found = found.unwrap_or_else(|reason| {
                vec![Task::Broken {
                    path: self.path.join(name),
                    reason,
                }]
            });
            for task in found {
                let path = task.path();
                listed.insert(path.to_owned());
                if wanted.contains(path) || matches!(task, Task::Broken { .. }) {
                    tasks.push(task);
                }
            }
        };
        let mut programs = |list: &Option<Value>, name: &str, pointer: &str| {
            let Some(list) = list else { return Map::new() };
            let programs = list.pointer(pointer).and_then(Value::as_object);
            let broken = || Err("it is no list of programs: they are expected as an object".to_owned());
            programs.cloned().unwrap_or_else(|| {
                add(name, broken());
                Map::new()
            })
        };
        let cases = programs(&self.cases, "cases.json", "");
        let manifest = programs(&self.manifest, "manifest.json", "/programs");
        let index = programs(&self.index, "index.json", "/programs");
        for (name, program) in cases {
            add(&name, self.listed_cases(&name, &program));
        }
        for (name, program) in manifest {
            add(&name, self.listed_variants(&name, &program));
        }
        for name in index.keys() {
            add(name, self.beside(name).map(|_| Vec::new()));
        }
        for file in files
            .iter()
            .filter(|file| has_extension(file, "mlir") && !listed.contains(**file))
        {
            let entry = file.file_name().and_then(|name| index.get(name.to_str()?));
            tasks.push(self.unlisted(file, entry)?);
        }
        Ok(())
    }

    /// A program of `cases.json`. One in another form than text is for other tools.
    fn listed_cases(&self, name: &str, program: &Value) -> Result<Vec<Task>, String> {
        if !program.is_object() {
            return Err("its entry is no object".to_owned());
        }
        let stem = name.strip_suffix(".mlir").unwrap_or(name);
        let file = field(program, "program")
            .and_then(Value::as_str)
            .map_or_else(|| format!("{stem}.mlir"), str::to_owned);
        if OTHER_FORMS
            .iter()
            .any(|form| has_extension(Path::new(&file), form))
        {
            return Ok(Vec::new());
        }
        let path = self.beside(&file)?;
        let arrays = field(program, "npz")
            .and_then(Value::as_str)
            .map_or_else(|| format!("{stem}.npz"), str::to_owned);
        let cases = cases(program)?;
        let kept = None;
        let cases = Cases {
            arrays: self.beside(&arrays)?,
            rtol: number(program, "rtol")?,
            atol: number(program, "atol")?,
            kept,
            cases,
        };
        Ok(vec![Task::Cases {
            run: (path.file_stem() != Some(stem.as_ref())).then(|| name.to_owned()),
            path,
            cases,
        }])
    }

    /// A program of `manifest.json`, one task for each variant whose sizes are known.
    fn listed_variants(&self, name: &str, program: &Value) -> Result<Vec<Task>, String> {
        let Some(variants) = field(program, "variants").and_then(Value::as_object) else {
            return Err("its entry has no object `variants`".to_owned());
        };
        let arrays = field(program, "npz")
            .and_then(Value::as_str)
            .map_or_else(|| format!("{name}.npz"), str::to_owned);
        let all = cases(program)?;
        let mut tasks = Vec::new();
        for (variant, description) in variants {
            let Some(file) = field(description, "mlir").and_then(Value::as_str) else {
                continue;
            };
            let fits = |case: &&Case| case.variants.is_empty() || case.variants.contains(variant);
            let cases = Cases {
                arrays: self.beside(&arrays)?,
                rtol: number(program, "rtol")?,
                atol: number(program, "atol")?,
                kept: field(description, "module_kept_var_idx")
                    .map(indices)
                    .transpose()?,
                cases: all.iter().filter(fits).cloned().collect(),
            };
            tasks.push(Task::Cases {
                path: self.beside(file)?,
                run: Some(variant.clone()),
                cases,
            });
        }
        Ok(tasks)
    }

    /// A file that a list names, which must be there, in the folder of the list or below.
    fn beside(&self, name: &str) -> Result<PathBuf, String> {
        let inside = |part| matches!(part, Component::Normal(_));
        if !Path::new(name).components().all(inside) {
            return Err(format!(
                "its list names `{name}`, which is outside the folder of the list"
            ));
        }
        let path = self.path.join(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(format!("its list names `{name}`, which is not there"))
        }
    }

    fn unlisted(&self, path: &Path, entry: Option<&Value>) -> Outcome<Task> {
        let path = path.to_owned();
        if let Some(expected) = entry.and_then(|entry| field(entry, "expected")) {
            return match serde_json::from_value::<Vec<Expected>>(expected.clone()) {
                Ok(expected) if expected.is_empty() => {
                    let reason = "its `expected` lists no line".to_owned();
                    Ok(Task::Broken { path, reason })
                }
                Ok(expected) => Ok(Task::Reject { path, expected }),
                Err(error) => {
                    let list = self.path.join("index.json");
                    Err(Failure::file(
                        "a list of expected refusals is malformed:",
                        &list,
                        &error,
                    ))
                }
            };
        }
        let mark = |key: &str| {
            let reason = entry.and_then(|entry| field(entry, key));
            let reason = reason
                .filter(|reason| **reason != Value::Bool(false))?
                .to_string();
            Some(format!("{key}: {reason}"))
        };
        Ok(Task::Embedded {
            path,
            disabled: mark("run_disabled").or_else(|| mark("xla_cpu_fails")),
        })
    }
}

fn read_json(path: &Path) -> Outcome<Option<Value>> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = files::read(path, &LIST_BYTES)?;
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| Failure::file("this list is not JSON:", path, &error))
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|value| !value.is_null())
}

fn number(program: &Value, name: &str) -> Result<f64, String> {
    let number = field(program, name)
        .and_then(Value::as_f64)
        .ok_or_else(|| format!("its entry has no number `{name}`"))?;
    if number >= 0.0 {
        Ok(number)
    } else {
        Err(format!("its `{name}` is negative"))
    }
}

fn cases(program: &Value) -> Result<Vec<Case>, String> {
    let cases = field(program, "cases")
        .cloned()
        .unwrap_or(Value::Array(Vec::new()));
    serde_json::from_value(cases).map_err(|error| format!("its cases are malformed: {error}"))
}

fn indices(value: &Value) -> Result<Vec<usize>, String> {
    serde_json::from_value(value.clone())
        .map_err(|error| format!("its `module_kept_var_idx` is malformed: {error}"))
}
