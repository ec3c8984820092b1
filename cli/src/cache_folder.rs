//! Where this user's caches are.

use std::path::PathBuf;

/// `ARTIFACT_CACHE_DIR`, else `artifact` in `XDG_CACHE_HOME`, else in `.cache` of `HOME`; nothing where none of them is an absolute path.
/// A path that others know too, such as one in `/tmp`, is never made up.
pub(crate) fn of_environment() -> Option<PathBuf> {
    let named = |name: &str| -> Option<PathBuf> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this binary reads the environment, once, and passes on what it says"
        )]
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let home = || named("HOME").filter(|home| home.parent().is_some());
    named("ARTIFACT_CACHE_DIR")
        .or_else(|| Some(named("XDG_CACHE_HOME")?.join("artifact")))
        .or_else(|| Some(home()?.join(".cache/artifact")))
}
