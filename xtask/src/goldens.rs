//! `goldens`: artifacts of released versions, in `fixtures/artifacts`, which are only ever added to.
//!
//! A folder holds what the release of one container version wrote: artifacts, with inputs and the results that JAX computed,
//! sealed by a key that is gone since, and the trust file that names it.
//! [`LIST`] has the digest of every file, as `b3sum` prints it. The task compares the files with the list, and the list with
//! every line that any commit has added to it: a golden file that is changed, removed, or forgotten in the list fails the
//! build. `--add` makes the folder of the version that the workspace writes, and overwrites nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::failure::{During, Failure, Findings, Outcome};
use crate::quickstart::{self, Build};
use crate::workspace::Workspace;
use crate::{files, process};

/// The folder of folders.
const FOLDER: &str = "fixtures/artifacts";

/// The digests, one line a file.
const LIST: &str = "fixtures/artifacts/DIGESTS.txt";

/// The trust file of a version's folder.
const TRUST: &str = "trust.toml";

/// What the seals say that the files are for.
const SCOPE: &str = "golden";

/// A program that every version's folder gets.
#[derive(Debug)]
struct Program {
    /// What is exported; inputs and results lie beside it, as `NAME.inputs.npz` and `NAME.expected.npz`.
    source: &'static str,
    /// Options for `artifact export`.
    options: &'static [&'static str],
}

/// Text with constraints, text with a large constant, and of JAX's exports: functions of gradients, sizes that depend on each
/// other, several platforms, a donated argument, and a custom call.
const PROGRAMS: &[Program] = &[
    Program {
        source: "fixtures/symbolic_rows.mlir",
        options: &[
            "--shapes",
            "arg0: (b, 8)",
            "--constraint",
            "b >= 2",
            "--constraint",
            "b <= 64",
        ],
    },
    Program::plain("fixtures/transformer_block.mlir"),
    Program::plain("fixtures/jax_exports/schema12/vjp2.bin"),
    Program::plain("fixtures/jax_exports/schema12/constraints.bin"),
    Program::plain("fixtures/jax_exports/schema12/platforms.bin"),
    Program::plain("fixtures/jax_exports/schema12/donation.bin"),
    Program::plain("fixtures/jax_exports/schema12/solve.bin"),
];

impl Program {
    const fn plain(source: &'static str) -> Self {
        Self { source, options: &[] }
    }
}

/// The task.
pub(crate) fn run(workspace: &Workspace, options: &[String]) -> Outcome {
    if options.iter().any(|option| option == "--add") {
        return add(workspace);
    }
    let mut findings = Findings::default();
    let list = Digests::parse(&files::read(Path::new(LIST))?)?;
    let found = found_digests(Path::new(FOLDER))?;
    list.compare(&found, &mut findings);
    let history = history()?;
    list.check_history(&history, &mut findings);
    findings.into_outcome("goldens")?;
    println!(
        "goldens: {} files are as they were committed ({} lines of history)",
        found.len(),
        history.len()
    );
    Ok(())
}

/// Digests by path, relative to [`FOLDER`].
#[derive(Debug, Default, PartialEq, Eq)]
struct Digests(BTreeMap<String, String>);

impl Digests {
    fn parse(text: &str) -> Outcome<Self> {
        let mut digests = BTreeMap::new();
        for line in text.lines() {
            let (digest, path) = line
                .split_once("  ")
                .ok_or_else(|| Failure::new(format!("{LIST}: `{line}` is not `DIGEST  PATH`")))?;
            if digests.insert(path.to_owned(), digest.to_owned()).is_some() {
                return Err(Failure::new(format!("{LIST}: {path} is listed twice")));
            }
        }
        Ok(Self(digests))
    }

    fn text(&self) -> String {
        self.0
            .iter()
            .map(|(path, digest)| format!("{digest}  {path}\n"))
            .collect()
    }

    fn compare(&self, found: &BTreeMap<String, String>, findings: &mut Findings) {
        for (path, digest) in &self.0 {
            match found.get(path) {
                Some(now) if now == digest => {}
                Some(_) => findings.push(
                    path,
                    "was changed; a released file stays as it is: restore it from git",
                ),
                None => findings.push(
                    path,
                    "is gone; a released file is never removed: restore it from git",
                ),
            }
        }
        for path in found.keys().filter(|path| !self.0.contains_key(*path)) {
            findings.push(path, format!("is not listed in {LIST}"));
        }
    }

    /// Every line that was ever added is still there.
    fn check_history(&self, added: &BTreeSet<String>, findings: &mut Findings) {
        let lines: BTreeSet<String> = self.text().lines().map(str::to_owned).collect();
        for line in added.difference(&lines) {
            findings.push(LIST, format!("`{line}` was in the list and is not; put it back"));
        }
    }
}

/// The files of the version folders with their digests.
fn found_digests(root: &Path) -> Outcome<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for folder in files::list(root)?.into_iter().filter(|path| path.is_dir()) {
        for file in files::list(&folder)? {
            let bytes = std::fs::read(&file).during(|| format!("read {}", file.display()))?;
            let path = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            found.insert(path, blake3::hash(&bytes).to_hex().to_string());
        }
    }
    Ok(found)
}

/// Every line that a commit of the current branch's history has added to the list. A shallow clone has less of it.
fn history() -> Outcome<BTreeSet<String>> {
    let log = [
        "log",
        "--patch",
        "--format=",
        "--unified=0",
        "--no-renames",
        "--",
        LIST,
    ];
    Ok(added_lines(&process::capture(Command::new("git").args(log))?))
}

fn added_lines(patches: &str) -> BTreeSet<String> {
    let lines = patches.lines().filter(|line| !line.starts_with("+++"));
    lines
        .filter_map(|line| line.strip_prefix('+'))
        .map(str::to_owned)
        .collect()
}

/// Makes the folder of the version that the workspace writes.
fn add(workspace: &Workspace) -> Outcome {
    let program = quickstart::build(workspace, Build::Dev)?;
    let scratch = workspace.target.join("goldens");
    files::create_empty_folder(&scratch)?;
    let key = scratch.join("key");
    let trust = scratch.join(TRUST);
    files::write(&trust, &trust_in(&made_key(&program, &key)?))?;
    let mut wanted: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for Program { source, options } in PROGRAMS {
        let source = Path::new(source);
        let name = source.file_stem().unwrap_or_default();
        let artifact = scratch.join(name).with_extension("artifact");
        let mut export = Command::new(&program);
        export
            .arg("export")
            .arg(source)
            .args(*options)
            .arg("-o")
            .arg(&artifact);
        process::run(&mut export)?;
        let mut sign = Command::new(&program);
        sign.args(["sign", "--scope", SCOPE, "--key"])
            .arg(&key)
            .arg(&artifact);
        process::run(&mut sign)?;
        let folder = Path::new(FOLDER).join(folder_of(&program, &artifact)?);
        let target = folder.join(name);
        wanted.insert(target.with_extension("artifact"), artifact);
        for suffix in ["inputs.npz", "expected.npz"] {
            wanted.insert(target.with_extension(suffix), source.with_extension(suffix));
        }
        wanted.insert(folder.join(TRUST), trust.clone());
    }
    if let Some((target, _)) = wanted.iter().find(|(target, _)| target.exists()) {
        return Err(Failure::new(format!(
            "{} is there already, and a released file is never written again; a format that changes gets a new version \
             (docs/VERSIONING.md)",
            target.display()
        )));
    }
    for (target, source) in &wanted {
        target.parent().map_or(Ok(()), files::create_folder)?;
        std::fs::copy(source, target).during(|| format!("copy {}", source.display()))?;
        println!("goldens: wrote {}", target.display());
    }
    let mut list = Digests::parse(&files::read(Path::new(LIST))?)?;
    for (path, digest) in found_digests(Path::new(FOLDER))? {
        list.0.entry(path).or_insert(digest);
    }
    files::write(Path::new(LIST), &list.text())
}

/// Makes a key pair; the result is the public key, as trust files write it.
fn made_key(program: &Path, key: &Path) -> Outcome<String> {
    process::run(Command::new(program).args(["keygen", "-o"]).arg(key))?;
    let lines = files::read(&key.with_extension("pub"))?;
    let line = lines.lines().find_map(|line| line.strip_prefix("public: "));
    line.map(str::to_owned)
        .ok_or_else(|| Failure::new("`artifact keygen` wrote no public key"))
}

fn trust_in(public_key: &str) -> String {
    format!(
        "version = 1\nsigners = 1\n\n[[keys]]\nname = \"golden\"\npublic_key = \"{public_key}\"\nscopes = [\"{SCOPE}\"]\n"
    )
}

/// `v1_0` of a file of container version 1.0.
fn folder_of(program: &Path, artifact: &Path) -> Outcome<String> {
    let described = process::capture(Command::new(program).arg("inspect").arg(artifact).arg("--json"))?;
    let described: Value =
        serde_json::from_str(&described).during(|| format!("read what {} is", artifact.display()))?;
    let version = described["container_version"].as_str();
    version
        .map(|version| format!("v{}", version.replace('.', "_")))
        .ok_or_else(|| Failure::new("`artifact inspect --json` says no container version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(text: &str) -> Digests {
        Digests::parse(text).unwrap()
    }

    #[test]
    fn changed_removed_and_unlisted_files_are_found() {
        let check = |found: &str, want: &[&str]| {
            let mut findings = Findings::default();
            digests("aa  v1_0/a\nbb  v1_0/b\n").compare(&digests(found).0, &mut findings);
            assert_eq!(findings.lines().len(), want.len(), "{:?}", findings.lines());
            for (line, part) in findings.lines().iter().zip(want) {
                assert!(line.contains(part), "{line}");
            }
        };
        check("aa  v1_0/a\nbb  v1_0/b\n", &[]);
        check("ax  v1_0/a\n", &["v1_0/a: was changed", "v1_0/b: is gone"]);
        check("aa  v1_0/a\nbb  v1_0/b\ncc  v1_1/c\n", &["v1_1/c: is not listed"]);
    }

    /// A list that is changed with the file does not help.
    #[test]
    fn a_line_that_was_ever_added_stays() {
        let patches =
            "+++ b/x\n@@ -0,0 +1,2 @@\n+aa  v1_0/a\n+bb  v1_0/b\n--- a/x\n-aa  v1_0/a\n+ax  v1_0/a\n";
        let check = |list: &str, want: usize| {
            let mut findings = Findings::default();
            digests(list).check_history(&added_lines(patches), &mut findings);
            assert_eq!(findings.lines().len(), want, "{:?}", findings.lines());
        };
        check("ax  v1_0/a\nbb  v1_0/b\n", 1);
        check("bb  v1_0/b\n", 2);
        let patches = "+aa  v1_0/a\n";
        let mut findings = Findings::default();
        digests("aa  v1_0/a\nbb  v1_0/b\n").check_history(&added_lines(patches), &mut findings);
        assert!(findings.lines().is_empty());
    }

    #[test]
    fn a_list_is_read_and_printed() {
        let text = "aa  v1_0/a\nbb  v1_0/b\n";
        assert_eq!(digests(text).text(), text);
        assert!(Digests::parse("aa v1_0/a\n").is_err());
        assert!(Digests::parse("aa  x\nbb  x\n").is_err());
    }
}
