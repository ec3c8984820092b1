//! Where this user's caches are.

use std::path::PathBuf;

use crate::environment::{CACHE_DIR, HOME, XDG_CACHE_HOME};
use crate::failure::{Failure, Outcome};

/// `ARTIFACT_CACHE_DIR`, else `artifact` in `XDG_CACHE_HOME`, else in `.cache` of `HOME`; nothing where none of them says a place. Of
/// the variables that others define, a path that is not absolute says nothing (XDG Base Directory Specification). A path that others know
/// too, such as one in `/tmp`, is never made up.
///
/// # Errors
/// Usage, when our own variable has a path that is not absolute.
pub(crate) fn of_environment() -> Outcome<Option<PathBuf>> {
    if let Some(named) = CACHE_DIR.value().map(PathBuf::from) {
        return match named.is_absolute() {
            true => Ok(Some(named)),
            false => {
                let what = format!("{} is {named:?}, which is no absolute path", CACHE_DIR.name);
                Err(Failure::usage(what))
            }
        };
    }
    let home = || HOME.absolute_path().filter(|home| home.parent().is_some());
    let xdg = XDG_CACHE_HOME
        .absolute_path()
        .map(|folder| folder.join("artifact"));
    Ok(xdg.or_else(|| Some(home()?.join(".cache/artifact"))))
}
