//! Portable bytecode through its public face: what each version can say, what is kept and what is left out, and what becomes of
//! files that are damaged or were made to do harm.

mod availability;
mod damage;
mod downgrade;
mod file;
mod hostile;
mod kept;
mod structure;

use artifact_core::blob::Blob;
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::bytecode::{Portable, WriteError, WriteErrorKind, WriteOptions, read, write};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_stablehlo::vhlo::Version;

/// The module of a text that verifies.
fn parsed(text: &str) -> Module {
    let module = parse_module(text).into_module();
    let module = module.unwrap_or_else(|found| panic!("{found:?}\n{text}"));
    let findings = verify(&module);
    assert!(findings.is_empty(), "{findings:?}\n{text}");
    module
}

fn version(text: &str) -> Version {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn written(module: &Module, asked: &str, locations: bool) -> Result<Vec<u8>, WriteError> {
    let options = WriteOptions {
        version: version(asked),
        locations,
    };
    write(module, &options).map(|bytes| bytes.to_vec())
}

fn reread(bytes: Vec<u8>) -> Portable {
    read(&Blob::new(bytes)).unwrap_or_else(|error| panic!("{error}"))
}

/// All that is done with a file must return, whatever it holds.
fn use_it(bytes: &[u8]) {
    let Ok(portable) = read(&Blob::new(bytes.to_vec())) else {
        return;
    };
    let options = PrintOptions {
        locations: true,
        ..PrintOptions::default()
    };
    let _ = print_module(&portable.module, &options);
    if verify(&portable.module).is_empty() {
        let _ = program_digest(&portable.module);
        let _ = write(&portable.module, &WriteOptions::default());
    }
}

/// What can be written as a version comes back as the same program.
fn comes_back(text: &str, asked: &str) {
    let module = parsed(text);
    let bytes = written(&module, asked, false).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let again = reread(bytes);
    assert_eq!(again.version, Some(version(asked)));
    assert!(verify(&again.module).is_empty(), "{text}");
    let same = program_digest(&again.module) == program_digest(&module);
    assert!(same, "another program in {asked}:\n{text}");
}

/// What needs a later version is refused, naming `what`, the version needed and the one asked for; and is written as that.
fn needs(text: &str, what: &str, needed: &str, asked: &str) {
    let error = match written(&parsed(text), asked, false) {
        Ok(_) => panic!("{asked} can say it:\n{text}"),
        Err(error) => error,
    };
    let kind = WriteErrorKind::NeedsVersion {
        needed: version(needed),
    };
    assert_eq!(error.kind(), kind, "{error}");
    let message = format!("{what} needs StableHLO {needed} or later, and version {asked} was asked for");
    assert_eq!(error.to_string(), message);
    comes_back(text, needed);
}
