//! Portable bytecode: of others, and of every text.

use artifact_core::blob::Blob;
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_ir::op::Op;
use artifact_ir::verify::verify;
use artifact_stablehlo::bytecode::{Portable, ReadErrorKind, WriteOptions, read, write};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_stablehlo::vhlo::Version;
use artifact_testkit::corpus::{File, all_programs, files};

/// Folders with portable artifacts, and how their names end.
const FOLDERS: [(&str, &str); 4] = [
    ("jax", "mlirbc"),
    ("jax_sharded", "mlirbc"),
    ("jax_backcompat", "mlirbc"),
    ("stablehlo/vhlo", "bc"),
];

/// The file of a version that is not there yet.
const FUTURE: &str = "invalid_vhlo_future.mlir.bc";

fn artifacts(folder: &str, extension: &str) -> Vec<File> {
    let all = files(folder, extension).unwrap_or_default();
    all.into_iter().filter(|file| file.name != FUTURE).collect()
}

fn read_file(file: &File) -> Portable {
    match read(&Blob::new(file.bytes.clone())) {
        Ok(portable) => portable,
        Err(error) => panic!("{}: {error}", file.name),
    }
}

fn with_locations(module: &Module) -> String {
    let options = PrintOptions {
        locations: true,
        ..PrintOptions::default()
    };
    print_module(module, &options)
}

#[test]
fn every_artifact_is_read_and_verified() {
    let mut failures = Vec::new();
    for (folder, extension) in FOLDERS {
        for file in artifacts(folder, extension) {
            let findings = verify(&read_file(&file).module);
            failures.extend(findings.iter().map(|finding| format!("{}: {finding}", file.name)));
        }
    }
    assert_eq!(failures, [""; 0]);
}

#[test]
fn every_artifact_is_rewritten_at_its_own_version() {
    for (folder, extension) in FOLDERS {
        for file in artifacts(folder, extension) {
            let portable = read_file(&file);
            let options = WriteOptions {
                version: portable.version.unwrap_or(Version::CURRENT),
                locations: true,
            };
            let bytes =
                write(&portable.module, &options).unwrap_or_else(|error| panic!("{}: {error}", file.name));
            let again =
                read(&Blob::new(bytes.to_vec())).unwrap_or_else(|error| panic!("{}: {error}", file.name));
            assert_eq!(again.version, Some(options.version));
            assert!(
                with_locations(&again.module) == with_locations(&portable.module),
                "{}",
                file.name
            );
        }
    }
}

#[test]
fn an_artifact_is_the_program_of_its_text() {
    for folder in ["jax", "jax_sharded"] {
        for file in artifacts(folder, "mlirbc") {
            let text = std::fs::read_to_string(file.path.with_extension("mlir")).expect("each has a text");
            let module = parse_module(&text).into_module().expect("the text is a program");
            let same = program_digest(&module) == program_digest(&read_file(&file).module);
            assert!(same, "{}", file.name);
        }
    }
}

#[test]
fn a_later_version_is_refused_by_its_number() {
    for file in files("stablehlo/vhlo", "bc").unwrap_or_default() {
        if file.name == FUTURE {
            let error = read(&Blob::new(file.bytes)).expect_err("nothing reads the future");
            assert_eq!(error.kind(), ReadErrorKind::Unsupported);
            assert!(error.to_string().contains("2.0.0"), "{error}");
        }
    }
}

/// Whether there is no operation that has no form in bytecode: those of CHLO have one after `artifact_chlo::legalize` only, and
/// casts between dialects are what separates the dialects in a file.
fn is_portable(module: &Module) -> bool {
    let is_other = |op: &Op| match op {
        Op::Chlo(_) => true,
        Op::Foreign(op) => op.name.starts_with("builtin."),
        _ => false,
    };
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    let mut ops = bodies.flat_map(|body| body.ops.iter());
    module.foreign.is_empty() && !ops.any(|(_, operation)| is_other(&operation.op))
}

#[test]
fn every_text_says_the_same_as_bytecode() {
    let mut written = 0;
    for program in all_programs().unwrap_or_default() {
        let Ok(modules) = parse_module(&program.text).into_modules() else {
            continue;
        };
        for module in modules
            .iter()
            .filter(|module| verify(module).is_empty() && is_portable(module))
        {
            let bytes = write(module, &WriteOptions::default())
                .unwrap_or_else(|error| panic!("{}: {error}", program.name));
            let again =
                read(&Blob::new(bytes.to_vec())).unwrap_or_else(|error| panic!("{}: {error}", program.name));
            let same = program_digest(&again.module) == program_digest(module);
            assert!(same, "{}", program.name);
            written += 1;
        }
    }
    assert!(
        written == 0 || written > 1700,
        "only {written} programs were written"
    );
}
