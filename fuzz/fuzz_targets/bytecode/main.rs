//! Any bytes as portable bytecode: reading, verifying and printing must return, and a sound module must come back the same from
//! what is written for it, as the current version and as that of its file. Mutations know the format, so that most of them
//! pass the first checks.

#![no_main]

#[path = "../../../crates/stablehlo/tests/bytecode/file.rs"]
mod file;
mod mutation;
mod random;

use artifact_core::blob::Blob;
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::bytecode::{WriteOptions, read, write};
use artifact_stablehlo::print::{OperationForm, PrintOptions, print_module};
use artifact_stablehlo::vhlo::Version;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| {
    let Ok(portable) = read(&Blob::new(bytes.to_vec())) else {
        return;
    };
    let sound = verify(&portable.module).is_empty();
    for form in [OperationForm::Pretty, OperationForm::Generic] {
        let options = PrintOptions {
            locations: true,
            form,
        };
        let _ = print_module(&portable.module, &options);
    }
    for version in [Some(Version::CURRENT), portable.version].into_iter().flatten() {
        comes_back(&portable.module, version, sound);
    }
});

/// What an older version cannot say is refused; nothing is lost without a word.
fn comes_back(module: &Module, version: Version, sound: bool) {
    let options = WriteOptions {
        version,
        locations: true,
    };
    let Ok(written) = write(module, &options) else {
        return;
    };
    if !sound {
        return;
    }
    let bytes = written.to_vec();
    assert_eq!(bytes.len(), written.len());
    let again = read(&Blob::new(bytes.clone()));
    let again = again.unwrap_or_else(|error| panic!("what was written as {version} is refused: {error}"));
    assert_eq!(
        program_digest(module),
        program_digest(&again.module),
        "another program"
    );
    let twice = write(&again.module, &options).expect("what was written once can be written again");
    assert_eq!(bytes, twice.to_vec(), "other bytes for the same module");
}

/// One in four mutations is the fuzzer's own, which knows nothing of the format.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = random::Random::new(seed);
    let mutated = match random.below(4) {
        0 => None,
        _ => mutation::mutate(&data[..size], &mut random),
    };
    match mutated {
        Some(bytes) if bytes.len() <= max_size => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});
