//! Where Python packages are installed that the environment leads to. No Python is started.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::environment::{CONDA_PREFIX, HOME, PATH, VIRTUAL_ENV};

/// The folders of packages: of the environment that is active, of each Python that `PATH` leads to, and of this user.
pub(crate) fn package_folders() -> Vec<PathBuf> {
    let active = [VIRTUAL_ENV, CONDA_PREFIX].map(|variable| variable.value().map(PathBuf::from));
    let user = HOME.absolute_path().map(|home| home.join(".local"));
    let prefixes = active.into_iter().flatten().chain(of_path()).chain(user);
    let mut known = BTreeSet::new();
    let folders = prefixes.flat_map(|prefix| below(&prefix));
    // `lib64` may be a link to `lib`, and `/lib` one to `/usr/lib`.
    let is_new = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| known.insert(folder));
    folders.filter(is_new).collect()
}

/// The installations whose `bin` is in `PATH`.
fn of_path() -> Vec<PathBuf> {
    let path = PATH.value().unwrap_or_default();
    let has_python = |bin: &PathBuf| bin.is_absolute() && bin.join("python3").exists();
    let bins = std::env::split_paths(&path).filter(has_python);
    bins.filter_map(|bin| bin.parent().map(Path::to_owned)).collect()
}

/// The folders of packages below the prefix of an installation, those of newer versions first.
fn below(prefix: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    // What Debian installs for the system is beside what users install for all.
    for library in ["lib", "lib64", "local/lib"] {
        let library = prefix.join(library);
        let entries = fs::read_dir(&library).into_iter().flatten().flatten();
        let mut versions: Vec<(u32, PathBuf)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let version = name.strip_prefix("python3")?;
                let minor = version
                    .strip_prefix('.')
                    .map_or(Some(0), |minor| minor.parse().ok());
                Some((minor?, entry.path()))
            })
            .collect();
        versions.sort_unstable_by(|a, b| b.cmp(a));
        for (_, version) in versions {
            folders.extend(["site-packages", "dist-packages"].map(|kind| version.join(kind)));
        }
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_versions_come_first() {
        let home = tempfile::tempdir().unwrap();
        for folder in [
            "lib/python3.9/site-packages",
            "lib/python3.12/site-packages",
            "lib/python3/dist-packages",
        ] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        fs::create_dir_all(home.path().join("lib/python2.7/site-packages")).unwrap();
        let found = below(home.path());
        let names: Vec<&str> = found
            .iter()
            .map(|folder| folder.strip_prefix(home.path()).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "lib/python3.12/site-packages",
                "lib/python3.9/site-packages",
                "lib/python3/dist-packages"
            ]
        );
    }
}
