//! The `artifact` command: packs programs, looks into artifacts, runs and checks them.
//!
//! This crate parses arguments, wires the libraries and prints. Results go to standard output, everything else to standard
//! error; the exit code says what kind of failure it was ([`failure::Exit`]).

mod archive;
mod arguments;
mod cache_folder;
mod check;
mod compatibility;
mod compile;
mod convert;
mod description;
mod dimensions;
mod dimensions_text;
mod doctor;
mod engine;
mod environment;
mod export;
mod failure;
mod files;
mod inspect;
mod interface_text;
mod keygen;
mod losses;
mod names;
mod npy;
mod output;
mod platform;
mod plugins;
mod program;
mod python;
mod random;
mod rewriting;
mod run;
mod shape_texts;
mod sign;
mod source;
mod specialize;
mod tensors;
mod trust;
mod upgrade;
mod verify;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser};

use crate::arguments::{Arguments, Command};
use crate::failure::{Exit, Outcome};

/// Stack of the thread that does the work: the evaluator recurses once a nested region or call, within its own limit.
const STACK_BYTES: usize = 512 << 20;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version are no errors; clap knows which stream each goes to.
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            let _ = error.print();
            return code.into();
        }
    };
    survive_file_size_limit();
    quiet_plugins();
    let json = arguments.command.is_json();
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || execute(arguments.command));
    let outcome = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        // The panic has printed itself.
        Ok(Err(_)) => return Exit::Internal.into(),
        Err(error) => Err(failure::Failure::input(format!(
            "no thread with a stack of {} MiB can be started",
            STACK_BYTES >> 20
        ))
        .because(&error)
        .hint("allow more address space: `ulimit -v` shows the limit")),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            if json {
                // Standard error has said it already.
                let _ = output::json(&failure.to_json());
            }
            failure.exit().into()
        }
    }
}

/// A write beyond the limit of `ulimit -f` becomes an error (EFBIG) with a message, and what was written is removed. Without a
/// handler the signal would kill the process.
fn survive_file_size_limit() {
    // Nobody reads the flag: the error of the write says it. Where no handler can be had, it is as it was.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Lets PJRT plugins log what ends the process and nothing else, unless the user asks for more: what went wrong is in the errors
/// that they return.
fn quiet_plugins() {
    const FATAL: &str = "3";
    if environment::PLUGIN_LOG.value().is_none() {
        #[expect(unsafe_code, reason = "plugins read this from the environment alone")]
        // SAFETY: no other thread runs yet.
        unsafe {
            std::env::set_var(environment::PLUGIN_LOG.name, FATAL);
        }
    }
}

fn execute(command: Command) -> Outcome<Exit> {
    match command {
        Command::Export(options) => export::execute(&options),
        Command::Inspect(options) => inspect::execute(&options),
        Command::Keygen(options) => keygen::execute(&options),
        Command::Sign(options) => sign::execute(&options),
        Command::Verify(options) => verify::execute(&options),
        Command::Run(options) => run::execute(&options),
        Command::Check(options) => check::execute(&options),
        Command::Compile(options) => compile::execute(&options),
        Command::Specialize(options) => specialize::execute(&options),
        Command::Upgrade(options) => upgrade::execute(&options),
        Command::Convert(options) => convert::execute(&options),
        Command::Doctor(options) => doctor::execute(&options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "artifact", &mut script);
            output::bytes(&script)?;
            Ok(Exit::Ok)
        }
    }
}
