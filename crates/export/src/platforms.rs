//! Names of platforms that a user gives a program. The set is open: an engine that we do not know may have one.

use crate::error::ExportError;

/// Names that JAX has, all of small letters.
const KNOWN: [&str; 4] = ["cpu", "cuda", "rocm", "tpu"];

/// Refuses names that no platform has, and those that are there twice.
pub(crate) fn check(platforms: &[String]) -> Result<(), ExportError> {
    for (index, platform) in platforms.iter().enumerate() {
        if platform.is_empty() {
            return Err(ExportError::input(
                "a platform has an empty name; leave it out for a program that runs on any",
            ));
        }
        let shown = platform.escape_debug();
        let usable = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if !platform.chars().all(usable) {
            return Err(ExportError::input(format!(
                "`{shown}` is no name of a platform, which has letters, digits, `_`, `-` and `.`; the platforms of JAX are {}",
                KNOWN.join(", ")
            )));
        }
        let known = KNOWN.iter().find(|known| known.eq_ignore_ascii_case(platform));
        if let Some(known) = known.filter(|known| *known != platform) {
            return Err(ExportError::input(format!(
                "there is no platform `{shown}`; did you mean `{known}`?"
            )));
        }
        if platforms[..index].contains(platform) {
            return Err(ExportError::input(format!(
                "the platform `{shown}` is named twice"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            check(&names).map_err(|error| error.to_string())
        };
        for good in [&[][..], &["cpu"], &["cpu", "cuda"], &["METAL"], &["my-npu.2"]] {
            assert_eq!(of(good), Ok(()));
        }
        for (bad, part) in [
            (&[""][..], "empty name"),
            (&["cpu "], "`cpu ` is no name"),
            (&["cpu,cuda"], "is no name"),
            (&["c\npu"], "`c\\npu` is no name"),
            (&["\u{202e}cpu"], "is no name"),
            (&["CPU"], "did you mean `cpu`?"),
            (&["cpu", "Cuda"], "did you mean `cuda`?"),
            (&["cpu", "cpu"], "`cpu` is named twice"),
        ] {
            let error = of(bad).unwrap_err();
            assert!(error.contains(part), "{bad:?}: {error}");
        }
    }
}
