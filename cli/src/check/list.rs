//! The lists of a folder: which programs there are, and what they must give.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use artifact_core::limit::Limit;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::check::judgement::{Rule, Tolerance};
use crate::check::plan::{Case, Cases, Expected, Task};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::program::holds_program;

const LIST_BYTES: Limit = Limit::new("a list of programs", 64 << 20, "bytes");

/// Fields of a variant that name a file with its program: text, portable bytecode, and JAX's own.
const FORMS: [&str; 3] = ["mlir", "mlirbc", JAX];
const JAX: &str = "bin";

/// The lists of one folder.
pub(crate) struct Lists {
    folder: PathBuf,
    cases: Option<Value>,
    manifest: Option<Value>,
    index: Option<Value>,
}

/// What lists ask for.
#[derive(Default)]
pub(crate) struct Listed {
    tasks: Vec<Task>,
    /// Files that are part of a task.
    files: HashSet<PathBuf>,
}

impl Listed {
    /// Whether a list names the file.
    pub(crate) fn names(&self, file: &Path) -> bool {
        self.files.contains(file)
    }

    /// The tasks of these files, and what is wrong with the lists.
    pub(crate) fn of_files(self, files: &[PathBuf]) -> Vec<Task> {
        let files: HashSet<&Path> = files.iter().map(|file| file.as_path()).collect();
        let mut tasks = self.tasks;
        tasks.retain(|task| files.contains(task.path()) || matches!(task, Task::Broken { .. }));
        tasks
    }

    fn add(&mut self, task: Task) {
        self.files.insert(task.path().to_owned());
        if let Task::Twin { text, .. } = &task {
            self.files.insert(text.clone());
        }
        self.tasks.push(task);
    }
}

impl Lists {
    pub(crate) fn read(folder: &Path) -> Outcome<Self> {
        Ok(Self {
            folder: folder.to_owned(),
            cases: read_json(&folder.join("cases.json"))?,
            manifest: read_json(&folder.join("manifest.json"))?,
            index: read_json(&folder.join("index.json"))?,
        })
    }

    /// Adds one task for each program, and one for each mistake. Says whether there is any list.
    pub(crate) fn add_to(&self, listed: &mut Listed) -> bool {
        let add = |listed: &mut Listed, name: &str, found: Result<Vec<Task>, String>| {
            let path = self.folder.join(name);
            let found = found.unwrap_or_else(|reason| vec![Task::Broken { path, reason }]);
            found.into_iter().for_each(|task| listed.add(task));
        };
        for (name, program) in self.programs(&self.cases, "cases.json", "", listed) {
            add(listed, &name, self.with_cases(&name, &program));
        }
        for (name, program) in self.programs(&self.manifest, "manifest.json", "/programs", listed) {
            add(listed, &name, self.with_variants(&name, &program));
        }
        for (name, program) in self.programs(&self.index, "index.json", "/programs", listed) {
            // Another list may say more of it.
            if !listed.names(&self.folder.join(&name)) {
                add(listed, &name, self.indexed(&name, &program));
            }
        }
        self.cases.is_some() || self.manifest.is_some() || self.index.is_some()
    }

    /// The entries of a list by name.
    fn programs(
        &self,
        list: &Option<Value>,
        name: &str,
        pointer: &str,
        listed: &mut Listed,
    ) -> Map<String, Value> {
        let Some(list) = list else { return Map::new() };
        let programs = list.pointer(pointer).and_then(Value::as_object);
        programs.cloned().unwrap_or_else(|| {
            listed.add(Task::Broken {
                path: self.folder.join(name),
                reason: "it is no list of programs: they are expected as an object".to_owned(),
            });
            Map::new()
        })
    }

    /// A program of `cases.json`.
    fn with_cases(&self, name: &str, program: &Value) -> Result<Vec<Task>, String> {
        if !program.is_object() {
            return Err("its entry is no object".to_owned());
        }
        let stem = name.strip_suffix(".mlir").unwrap_or(name);
        let file = parsed(program, "program")?.unwrap_or_else(|| format!("{stem}.mlir"));
        let path = self.beside(&file)?;
        let cases = self.cases(stem, program)?;
        Ok(vec![Task::Cases {
            run: (path.file_stem() != Some(stem.as_ref())).then(|| name.to_owned()),
            path,
            cases,
        }])
    }

    /// A program of `manifest.json`: one task for each file of each variant.
    fn with_variants(&self, name: &str, program: &Value) -> Result<Vec<Task>, String> {
        let Some(variants) = field(program, "variants").and_then(Value::as_object) else {
            return Err("its entry has no object `variants`".to_owned());
        };
        let mut tasks = Vec::new();
        for (variant, description) in variants {
            for form in FORMS {
                let Some(file) = parsed::<String>(description, form)? else {
                    continue;
                };
                let path = self.beside(&file)?;
                if form == JAX && !holds_program(&path).map_err(|failure| failure.one_line())? {
                    tasks.push(Task::Unread { path });
                    continue;
                }
                let mut cases = self.cases(name, program)?;
                let fits = |case: &Case| case.variants.is_empty() || case.variants.contains(variant);
                cases.cases.retain(fits);
                cases.kept = parsed(description, "module_kept_var_idx")?;
                tasks.push(Task::Cases {
                    path,
                    run: Some(variant.clone()),
                    cases,
                });
            }
        }
        Ok(tasks)
    }

    /// What both lists say of runs.
    fn cases(&self, name: &str, program: &Value) -> Result<Cases, String> {
        let cases = parsed(program, "cases")?.unwrap_or_default();
        let arrays: String = parsed(program, "npz")?.unwrap_or_else(|| format!("{name}.npz"));
        Ok(Cases {
            arrays: self.beside(&arrays)?,
            tolerance: Tolerance {
                rtol: number(program, "rtol")?,
                atol: number(program, "atol")?,
            },
            rule: parsed::<Rule>(program, "check")?.unwrap_or_default(),
            operand: parsed(program, "operand")?,
            kept: None,
            cases,
        })
    }

    /// A file of `index.json`.
    fn indexed(&self, name: &str, entry: &Value) -> Result<Vec<Task>, String> {
        let path = self.beside(name)?;
        let twin = parsed::<String>(entry, "text")?;
        let twin = twin.map(|twin| self.beside(&twin)).transpose()?;
        if field(entry, "must_be_rejected") == Some(&Value::Bool(true)) {
            let refused = |path| Task::Reject {
                path,
                expected: Vec::new(),
            };
            return Ok(std::iter::once(path).chain(twin).map(refused).collect());
        }
        let task = match parsed::<Vec<Expected>>(entry, "expected")? {
            Some(expected) if expected.is_empty() => return Err("its `expected` lists no line".to_owned()),
            Some(expected) => Task::Reject { path, expected },
            None => match twin {
                Some(text) => Task::Twin { path, text },
                None => Task::Embedded {
                    path,
                    disabled: mark(entry, "run_disabled").or_else(|| mark(entry, "xla_cpu_fails")),
                },
            },
        };
        Ok(vec![task])
    }

    /// A file that a list names, which must be there, in the folder of the list or below.
    fn beside(&self, name: &str) -> Result<PathBuf, String> {
        let inside = |part| matches!(part, Component::Normal(_));
        if !Path::new(name).components().all(inside) {
            return Err(format!(
                "its list names `{name}`, which is outside the folder of the list"
            ));
        }
        let path = self.folder.join(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(format!("its list names `{name}`, which is not there"))
        }
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

/// Why the results of a program are not relied upon.
fn mark(entry: &Value, key: &str) -> Option<String> {
    let reason = field(entry, key).filter(|reason| **reason != Value::Bool(false))?;
    Some(format!("{key}: {reason}"))
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|value| !value.is_null())
}

/// A field of a type, where it is there.
fn parsed<T: DeserializeOwned>(value: &Value, name: &str) -> Result<Option<T>, String> {
    let parsed = field(value, name).cloned().map(serde_json::from_value);
    parsed
        .transpose()
        .map_err(|error| format!("its `{name}` is malformed: {error}"))
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
