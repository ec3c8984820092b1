//! What was read, written and read again is the same program; and writing it again gives the same bytes.
//!
//! Texts that do not parse are another test's matter and are left out here.

use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{OperationForm, PrintOptions, print_module};
use artifact_stablehlo::source::SourceText;
use artifact_testkit::corpus::programs;

const ALL_OPTIONS: [PrintOptions; 3] = [
    PrintOptions {
        locations: false,
        form: OperationForm::Pretty,
    },
    PrintOptions {
        locations: true,
        form: OperationForm::Pretty,
    },
    PrintOptions {
        locations: true,
        form: OperationForm::Generic,
    },
];

/// What is wrong with a round trip, if anything.
fn fault(module: &Module, options: &PrintOptions) -> Option<String> {
    let text = print_module(module, options);
    let parsed = parse_module(&text);
    if !parsed.diagnostics.is_empty() {
        return Some(SourceText::new("printed", &text).render_all(&parsed.diagnostics));
    }
    let again = match parsed.into_module() {
        Ok(module) => module,
        Err(diagnostics) => return Some(format!("{diagnostics:?}")),
    };
    if program_digest(module) != program_digest(&again) {
        return Some(format!("another program:\n{text}"));
    }
    let second = print_module(&again, options);
    let mut lines = text.lines().zip(second.lines());
    match lines.find(|(first, second)| first != second) {
        Some((first, second)) => Some(format!("first  {first}\nsecond {second}")),
        None => (text != second).then(|| "one text is longer than the other".to_owned()),
    }
}

/// Sends every text of a folder there and back, `least` of them at the least.
fn check(folder: &str, least: usize) {
    let Some(programs) = programs(folder) else { return };
    let (mut faults, mut count) = (Vec::new(), 0);
    for program in &programs {
        let parsed = parse_module(&program.text);
        if !parsed.diagnostics.is_empty() {
            continue;
        }
        count += 1;
        for options in &ALL_OPTIONS {
            let fault = parsed.modules.iter().find_map(|module| fault(module, options));
            if let Some(fault) = fault {
                faults.push(format!("{} with {options:?}: {fault}", program.name));
                break;
            }
        }
    }
    assert!(count >= least, "only {count} texts of {folder} were read");
    assert!(
        faults.is_empty(),
        "{} of {count} texts of {folder}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn jax() {
    check("jax", 38);
}

#[test]
fn jax_sharded() {
    check("jax_sharded", 6);
}

#[test]
fn static_programs() {
    check("stablehlo/static", 1100);
}

#[test]
fn dynamic_programs() {
    check("stablehlo/dynamic", 190);
}

#[test]
fn quantized_programs() {
    check("stablehlo/quantized", 100);
}

#[test]
fn interpreter_programs() {
    check("stablehlo/interpret", 280);
}

#[test]
fn mathematical_functions() {
    check("stablehlo/math", 20);
}

#[test]
fn programs_to_refine() {
    check("stablehlo/refine", 60);
}

/// What the verifier refuses must print too, whatever is wrong with it.
#[test]
fn refused_programs() {
    check("stablehlo/reject", 100);
}
