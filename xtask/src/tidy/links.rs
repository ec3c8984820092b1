//! What documents point to: local links must resolve, and the commands they show must exist.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::line_of;
use crate::failure::{Findings, Outcome};
use crate::{TASKS, files, generate};

/// Checks every Markdown file.
pub(super) fn check(paths: &[String], findings: &mut Findings) -> Outcome {
    let commands = documented_commands()?;
    for path in paths.iter().filter(|path| path.ends_with(".md")) {
        let text = files::read(Path::new(path))?;
        check_links(path, &text, findings)?;
        check_commands(path, &text, &commands, findings);
        check_tasks(path, &text, findings);
    }
    Ok(())
}

fn check_links(path: &str, text: &str, findings: &mut Findings) -> Outcome {
    for (offset, link) in links(text) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let place = format!("{path}:{}", line_of(text, offset));
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() {
            PathBuf::from(path)
        } else {
            resolve(path, file)
        };
        if !target.exists() {
            findings.push(
                &place,
                format!("link to `{link}`, but there is no {}", target.display()),
            );
        } else if !anchor.is_empty() && !anchors(&files::read(&target)?).contains(anchor) {
            findings.push(
                &place,
                format!(
                    "link to `{link}`, but no heading of {} is #{anchor}",
                    target.display()
                ),
            );
        }
    }
    Ok(())
}

/// The target of every `[text](target)` outside code, with the offset of its bracket.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (start, line) in prose_lines(text) {
        for (bracket, _) in line.match_indices("](") {
            let in_code = line[..bracket].matches('`').count() % 2 == 1;
            let target = &line[bracket + 2..];
            if let Some(end) = target.find(')').filter(|_| !in_code) {
                found.push((start + bracket, target[..end].trim()));
            }
        }
    }
    found
}

/// A link's file, relative to the document that holds it.
fn resolve(document: &str, file: &str) -> PathBuf {
    let mut path = Path::new(document).parent().unwrap_or(Path::new("")).to_owned();
    for component in Path::new(file).components() {
        match component {
            Component::ParentDir if path.file_name().is_some() => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

/// The anchors of a document's headings: lower case, spaces become `-`, punctuation goes.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose_lines(text)
        .into_iter()
        .filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// The subcommands of `artifact`, from the generated reference.
fn documented_commands() -> Outcome<BTreeSet<String>> {
    let text = files::read(Path::new(generate::CLI_PAGE))?;
    let headings = text.lines().filter_map(|line| line.strip_prefix("## artifact "));
    Ok(headings.map(|name| name.trim().to_owned()).collect())
}

fn check_commands(path: &str, text: &str, commands: &BTreeSet<String>, findings: &mut Findings) {
    for (offset, word) in words_after(text, &["artifact", "target/release/artifact"]) {
        if !word.starts_with('-') && word != "help" && !commands.contains(word) {
            let place = format!("{path}:{}", line_of(text, offset));
            findings.push(
                place,
                format!("`artifact {word}` is not in {}", generate::CLI_PAGE),
            );
        }
    }
}

fn check_tasks(path: &str, text: &str, findings: &mut Findings) {
    for (offset, word) in words_after(text, &["cargo xtask"]) {
        if !TASKS.iter().any(|task| task.name == word) {
            let place = format!("{path}:{}", line_of(text, offset));
            findings.push(place, format!("`cargo xtask {word}` is not a task"));
        }
    }
}

/// The word after one of these programs, in code lines that start with it (after an optional `$`).
fn words_after<'a>(text: &'a str, programs: &[&str]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (start, line) in code_lines(text) {
        let command = line.trim_start().trim_start_matches("$ ");
        for program in programs {
            let arguments = command
                .strip_prefix(program)
                .and_then(|rest| rest.strip_prefix(' '));
            if let Some(word) = arguments.and_then(|rest| rest.split_whitespace().next()) {
                found.push((start, word));
            }
        }
    }
    found
}

/// Lines outside fenced code, with their offsets.
fn prose_lines(text: &str) -> Vec<(usize, &str)> {
    lines_by_fence(text, false)
}

/// Lines inside fenced code, with their offsets.
fn code_lines(text: &str) -> Vec<(usize, &str)> {
    lines_by_fence(text, true)
}

fn lines_by_fence(text: &str, inside: bool) -> Vec<(usize, &str)> {
    let (mut fenced, mut offset, mut found) = (false, 0, Vec::new());
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced == inside {
            found.push((offset, line.trim_end_matches('\n')));
        }
        offset += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code_only() {
        let text = "see [a](x.md) and [b](y.md#z)\n`[c](no)`\n```\n[d](no)\n```\n[e](https://e.example)\n";
        let targets: Vec<&str> = links(text).into_iter().map(|(_, target)| target).collect();
        assert_eq!(targets, ["x.md", "y.md#z", "https://e.example"]);
        assert_eq!(line_of(text, links(text)[2].0), 6);
    }

    #[test]
    fn links_are_relative_to_their_document() {
        assert_eq!(resolve("docs/STYLE.md", "../README.md"), Path::new("README.md"));
        assert_eq!(resolve("README.md", "docs/cli.md"), Path::new("docs/cli.md"));
    }

    #[test]
    fn headings_become_anchors() {
        let found = anchors("# Exit codes\n## What `artifact run` does, and why\n```\n# not this\n```\n");
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["exit-codes", "what-artifact-run-does-and-why"]
        );
    }

    #[test]
    fn commands_in_code_must_exist() {
        let commands = BTreeSet::from(["run".to_owned()]);
        let check = |text: &str, want: usize| {
            let mut findings = Findings::default();
            check_commands("README.md", text, &commands, &mut findings);
            check_tasks("README.md", text, &mut findings);
            assert_eq!(findings.lines().len(), want, "{text}: {:?}", findings.lines());
        };
        check(
            "```\n$ artifact run x\nartifact --help\ncargo xtask test\n```\n",
            0,
        );
        check("artifact walk is prose\n", 0);
        check("```\n$ artifact walk x\ncargo xtask walk\n```\n", 2);
    }
}
