//! Where this user's caches are.

use std::path::PathBuf;

use crate::environment::{CACHE_DIR, HOME, XDG_CACHE_HOME};

/// `ARTIFACT_CACHE_DIR`, else `artifact` in `XDG_CACHE_HOME`, else in `.cache` of `HOME`; nothing where none of them is an absolute path.
/// A path that others know too, such as one in `/tmp`, is never made up.
pub(crate) fn of_environment() -> Option<PathBuf> {
    let home = || HOME.absolute_path().filter(|home| home.parent().is_some());
    CACHE_DIR
        .absolute_path()
        .or_else(|| Some(XDG_CACHE_HOME.absolute_path()?.join("artifact")))
        .or_else(|| Some(home()?.join(".cache/artifact")))
}
