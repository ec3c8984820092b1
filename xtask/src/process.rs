//! Running other programs: each command is printed before it runs, and a failure names it.

use std::process::{Command, Stdio};

use crate::failure::{During, Failure, Outcome};

/// Prints a command in a form that can be pasted into a shell, and runs it with this terminal.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let line = shell_line(command);
    println!("$ {line}");
    let status = command.status().during(|| format!("start `{line}`"))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{line}` failed: {status}")))
}

/// Runs a command quietly, without a terminal, and returns what it wrote to standard output.
pub(crate) fn capture(command: &mut Command) -> Outcome<String> {
    let line = shell_line(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .during(|| format!("start `{line}`"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!(
            "`{line}` failed: {}\n{}",
            output.status,
            errors.trim_end()
        )));
    }
    String::from_utf8(output.stdout).during(|| format!("read the output of `{line}` as UTF-8"))
}

/// Whether a command can be started and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The program and its arguments, quoted where a shell would split or expand them.
fn shell_line(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| quote(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_command_can_be_pasted() {
        let check = |words: &[&str], want: &str| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]);
            assert_eq!(shell_line(&command), want);
        };
        check(&["cargo", "test", "--doc"], "cargo test --doc");
        check(&["run", "a b", "it's", ""], r"run 'a b' 'it'\''s' ''");
        check(&["run", "$HOME", "x=1e-5"], "run '$HOME' x=1e-5");
    }

    #[test]
    fn a_failing_command_is_named_with_what_it_said() {
        let failure = capture(Command::new("sh").args(["-c", "echo reason >&2; exit 3"])).unwrap_err();
        let text = failure.to_string();
        assert!(
            text.contains("sh -c") && text.contains("reason") && text.contains('3'),
            "{text}"
        );
    }

    #[test]
    fn a_missing_program_is_not_a_success() {
        assert!(!succeeds(&mut Command::new("no-such-program-anywhere")));
    }
}
