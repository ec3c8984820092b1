//! What no text of ours may contain: tabs, spaces at line ends, unfinished work.

use std::path::Path;

use crate::failure::{Findings, Outcome};
use crate::files;

/// Files written by people. Test data (MLIR, archives) is left as it came.
const TEXT_EXTENSIONS: &[&str] = &["rs", "toml", "md", "py", "sh", "txt", "yml", "json"];

/// Text files without an extension.
const TEXT_FILES: &[&str] = &[".ci/run", ".gitignore", "LICENSE"];

/// Files that hold code, where a marker means unfinished work rather than a sentence about it.
const CODE_EXTENSIONS: &[&str] = &["rs", "toml", "py", "sh"];

/// Marks of unfinished work, in two halves so that this file does not contain them.
const UNFINISHED: &[(&str, &str)] = &[
    ("to", "do!("),
    ("unimple", "mented!("),
    ("FIX", "ME"),
    ("XX", "X"),
    ("TO", "DO"),
];

/// Checks every text file.
pub(super) fn check(paths: &[String], findings: &mut Findings) -> Outcome {
    for path in paths.iter().filter(|path| is_text(path)) {
        check_text(path, &files::read(Path::new(path))?, findings);
    }
    Ok(())
}

fn is_text(path: &str) -> bool {
    TEXT_FILES.contains(&path) || has_extension(path, TEXT_EXTENSIONS)
}

fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let found = Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str());
    found.is_some_and(|extension| extensions.contains(&extension))
}

fn check_text(path: &str, text: &str, findings: &mut Findings) {
    let code = has_extension(path, CODE_EXTENSIONS);
    for (index, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", index + 1);
        if line.contains('\t') {
            findings.push(&place, "tab; indent with spaces");
        }
        if line.ends_with([' ', '\r']) {
            findings.push(&place, "space or carriage return at the end of the line");
        }
        if code && let Some(marker) = unfinished_marker(line) {
            findings.push(
                &place,
                format!("`{marker}`: finish it, or say in docs what is absent"),
            );
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(path, "the last line has no end");
    }
}

fn unfinished_marker(line: &str) -> Option<String> {
    let markers = UNFINISHED.iter().map(|(head, tail)| format!("{head}{tail}"));
    markers.into_iter().find(|marker| contains_word(line, marker))
}

/// Whether `word` occurs with no letter, digit or `_` on either side.
fn contains_word(line: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, found)| {
        let before = line[..start].chars().next_back();
        let after = line[start + found.len()..].chars().next();
        !before.is_some_and(in_word) && (word.ends_with('(') || !after.is_some_and(in_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found_at_its_line() {
        let check = |path: &str, text: &str, want: &[&str]| {
            let mut findings = Findings::default();
            check_text(path, text, &mut findings);
            let lines = findings.lines();
            assert_eq!(lines.len(), want.len(), "{text:?}: {lines:?}");
            for (line, start) in lines.iter().zip(want) {
                assert!(line.starts_with(start), "{text:?}: {line:?}");
            }
        };
        let marker = ["FIX", "ME"].concat();
        let call = ["    to", "do!()\n"].concat();
        check("a.rs", "fn a() {}\n", &[]);
        check("a.rs", "a\n\tb\n", &["a.rs:2: tab"]);
        check("a.md", "a \nb\r\n", &["a.md:1: space"]);
        check("a.md", "a", &["a.md: the last line"]);
        check("a.rs", &call, &["a.rs:1: `"]);
        check("a.rs", &format!("// {marker}: later\n"), &["a.rs:1: `"]);
        check("a.rs", &format!("let {marker}S = 1;\n"), &[]);
        check("a.md", &format!("never write {marker}\n"), &[]);
    }
}
