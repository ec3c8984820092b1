//! Where the corpus lies: programs with known results that the tests run and that are too large for the repository.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;

/// The variable that names the folder, for this task and for the tests that it starts.
pub(crate) const VARIABLE: &str = "ARTIFACT_CORPUS_DIR";

/// Where the corpus lies beside a checkout, when the variable is unset.
const BESIDE_CHECKOUT: &str = "../shared/corpus";

/// The corpus folder, absolute; none when there is no corpus on this machine, which is said loudly.
pub(crate) fn find(workspace: &Workspace) -> Outcome<Option<PathBuf>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this binary reads the variable and passes it to the tests"
    )]
    let named = std::env::var_os(VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let found = choose(named, &workspace.root.join(BESIDE_CHECKOUT))?;
    match &found {
        Some(folder) => println!("corpus: {}", folder.display()),
        None => println!(
            "corpus: NONE. Every test that needs it is SKIPPED. Set {VARIABLE} to its folder, or put it at {BESIDE_CHECKOUT}."
        ),
    }
    Ok(found)
}

/// A folder that was named must exist; the default may be absent.
fn choose(named: Option<PathBuf>, default: &Path) -> Outcome<Option<PathBuf>> {
    let folder = named.as_deref().unwrap_or(default);
    match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(Some(folder)),
        _ if named.is_none() => Ok(None),
        _ => Err(Failure::new(format!(
            "{VARIABLE} is {}, which is not a folder",
            folder.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_must_exist_and_the_default_may_be_absent() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let absent = here.join("no-such-folder");
        assert_eq!(choose(None, &absent).unwrap(), None);
        assert_eq!(choose(None, here).unwrap(), Some(here.canonicalize().unwrap()));
        assert_eq!(
            choose(Some(here.join("src")), &absent).unwrap(),
            Some(here.join("src").canonicalize().unwrap())
        );
        let failure = choose(Some(absent), here).unwrap_err().to_string();
        assert!(failure.contains("no-such-folder"), "{failure}");
    }
}
