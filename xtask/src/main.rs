//! Workspace tasks: `cargo xtask TASK`.
//!
//! Rules that the compiler does not check (crate layers, file sizes, licences, links) are checked here, so that they
//! hold without anyone remembering them; and the two commands of the README start here.
//!
//! Invariants:
//! * A task prints every command that it runs, so that the user can repeat it by hand.
//! * A check reports all that it finds, not only the first.
//! * Nothing here is a dependency of the product, and no crate of the product is a dependency of this one.
//!
//! Entry point: [`TASKS`], one row a task.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program talks to its user"
)]

mod bench;
mod corpus;
mod cross_check;
mod export_check;
mod failure;
mod files;
mod generate;
mod goldens;
mod gpu;
mod layers;
mod portable_check;
mod process;
mod quickstart;
mod schema;
mod setup;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use failure::{Failure, Outcome};
use workspace::Workspace;

/// One task: its name, the options it takes, what it is for, and the function that does it. An option `--name VALUE` takes a value.
#[derive(Debug)]
struct Task {
    name: &'static str,
    options: &'static [&'static str],
    summary: &'static str,
    run: fn(&Workspace, &[String]) -> Outcome,
}

/// All tasks, in the order in which help lists them.
const TASKS: &[Task] = &[
    Task {
        name: "quickstart",
        options: &[],
        summary: "build the release binary and run the main job on fixtures/transformer_block",
        run: quickstart::run,
    },
    Task {
        name: "test",
        options: &[],
        summary: "install what the tests need and run every test",
        run: test::run,
    },
    Task {
        name: "setup",
        options: &[],
        summary: "install the Python packages of tests/requirements.txt into target/venv",
        run: setup::run,
    },
    Task {
        name: "layers",
        options: &[],
        summary: "check the dependencies between the crates against the list of allowed ones",
        run: layers::run,
    },
    Task {
        name: "tidy",
        options: &[],
        summary: "check sizes, manifests, text, links, decisions and licences",
        run: tidy::run,
    },
    Task {
        name: "gen",
        options: &["--check", "--fixtures"],
        summary: "rewrite generated files; --check only compares; --fixtures runs the fixture scripts",
        run: generate::run,
    },
    Task {
        name: "goldens",
        options: &["--add"],
        summary: "check that released artifacts never change; --add writes those of a new version",
        run: goldens::run,
    },
    Task {
        name: "gpu",
        options: &[],
        summary: "compile programs for GPUs that are not there, with XLA's CUDA plugin (installs half a gigabyte)",
        run: gpu::run,
    },
    Task {
        name: "bench",
        options: &["cpu", "pjrt", "--filter NAME", "--json FILE", "--iterations N"],
        summary: "compare the CPU engine with XLA, or calls of a PJRT plugin with a bare loop and jax",
        run: bench::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome {
    let Some((name, options)) = arguments.split_first() else {
        print!("{}", usage());
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", usage());
        return Ok(());
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        return Err(Failure::new(format!("no task named `{name}`\n\n{}", usage())));
    };
    if let Some(unknown) = unknown_option(task, options) {
        return Err(Failure::new(format!(
            "task `{name}` takes no `{unknown}`; it takes: [{}]",
            task.options.join(", ")
        )));
    }
    (task.run)(&Workspace::enter()?, options)
}

/// The first word that is neither an option of the task nor the value of one.
fn unknown_option<'a>(task: &Task, words: &'a [String]) -> Option<&'a String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let valued = |option: &&str| option.split_once(' ').is_some_and(|(name, _)| name == word);
        let is_known = match task.options.iter().any(valued) {
            true => words.next().is_some(),
            false => task.options.contains(&word.as_str()),
        };
        if !is_known {
            return Some(word);
        }
    }
    None
}

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask TASK\n\n");
    for task in TASKS {
        let invocation = [&[task.name], task.options].concat().join(" ");
        text.push_str(&format!("  {invocation:<24} {}\n", task.summary));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_and_values_are_not_options() {
        let task = Task {
            name: "task",
            options: &["cpu", "--filter NAME", "--check"],
            summary: "",
            run: |_, _| Ok(()),
        };
        let check = |words: &str, want: Option<&str>| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            assert_eq!(
                unknown_option(&task, &words).map(String::as_str),
                want,
                "{words:?}"
            );
        };
        check("", None);
        check("cpu --filter --other --check", None);
        check("cpu --filter", Some("--filter"));
        check("--other", Some("--other"));
        check("--check sort", Some("sort"));
        check("NAME", Some("NAME"));
    }
}
