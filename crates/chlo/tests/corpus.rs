//! Programs of the corpus that hold CHLO operations: legalized, they verify, meet the expectations that they hold, and come back
//! to the same program.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test says what it skips, and fails where its files are not as they should be"
)]

use artifact_chlo::{Form, legalize, recognise};
use artifact_eval::{Options, evaluate};
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_ir::op::Op;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_testkit::corpus::{Program, all_programs, programs};

const FORMS: [Form; 3] = [Form::CompositesWithRegions, Form::Composites, Form::Calls];

/// Programs that hold CHLO operations, of those that verify.
fn with_chlo(programs: Vec<Program>) -> impl Iterator<Item = (String, Module)> {
    let mentioned = programs
        .into_iter()
        .filter(|program| program.text.contains("chlo."));
    mentioned.filter_map(|program| {
        let module = parse_module(&program.text).into_module().ok()?;
        (verify(&module).is_empty() && holds_chlo(&module)).then_some((program.name, module))
    })
}

fn holds_chlo(module: &Module) -> bool {
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    bodies
        .flat_map(|body| body.ops.iter())
        .any(|(_, operation)| matches!(operation.op, Op::Chlo(_)))
}

/// The expectations of a program that are not met.
fn failures(module: &Module) -> Vec<String> {
    let entry = module.entry().unwrap();
    if !module.functions[entry].arguments.is_empty() {
        return Vec::new();
    }
    match evaluate(module, entry, Vec::new(), &Options::default()) {
        Ok(outcome) => {
            let failures = outcome.failures.iter();
            failures
                .map(|failure| format!("{}: {}", failure.check, failure.message))
                .collect()
        }
        Err(error) => vec![error.to_string()],
    }
}

/// Every program of a folder meets its expectations when it is legalized, but for the `exempt`.
fn check(folder: &str, count_min: usize, exempt: &[&str]) {
    let Some(programs) = programs(folder) else { return };
    let (mut count, mut report) = (0, Vec::new());
    for (name, module) in with_chlo(programs) {
        count += 1;
        for form in [Form::CompositesWithRegions, Form::Calls] {
            let mut legalized = module.clone();
            legalize(&mut legalized, form).unwrap();
            let failures = failures(&legalized);
            if failures.is_empty() == exempt.contains(&name.as_str()) {
                report.push(format!("{name} as {form:?}: {failures:?}"));
            }
        }
    }
    eprintln!("{folder}: {count} programs with CHLO operations");
    assert!(report.is_empty(), "{}", report.join("\n"));
    assert!(count >= count_min, "{folder}: {count} programs");
}

#[test]
fn static_programs() {
    check("stablehlo/static", 50, &[]);
}

#[test]
fn interpreter_programs() {
    check("stablehlo/interpret", 7, &[]);
}

#[test]
fn math_programs() {
    check("stablehlo/math", 13, &[]);
}

/// Legalized programs verify, read back from text, and are the same program once recognised.
#[test]
fn programs_come_back() {
    let Some(programs) = all_programs() else { return };
    let mut count = 0;
    for (name, module) in with_chlo(programs) {
        count += 1;
        for form in FORMS {
            let mut legalized = module.clone();
            legalize(&mut legalized, form).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!holds_chlo(&legalized), "{name}");
            assert_eq!(verify(&legalized), [], "{name}");
            let text = print_module(&legalized, &PrintOptions::default());
            let mut read = parse_module(&text).into_module().unwrap();
            recognise(&mut read);
            assert_eq!(verify(&read), [], "{name}");
            if form == Form::CompositesWithRegions {
                assert_eq!(program_digest(&read), program_digest(&module), "{name}\n{text}");
            }
        }
    }
    assert!(count >= 79, "{count} programs");
}

/// The composites that JAX exports are recognised, their functions go, and they are found again in what is written.
#[test]
fn composites_of_other_exporters() {
    let Some(programs) = programs("jax") else { return };
    let mut count = 0;
    for program in programs.iter().filter(|program| program.text.contains("\"chlo.")) {
        let mut module = parse_module(&program.text).into_module().unwrap();
        let functions = module.functions.len();
        let recognised = recognise(&mut module);
        let composites = program.text.matches("stablehlo.composite \"chlo.").count();
        assert_eq!(recognised, composites, "{}", program.name);
        assert_eq!(module.functions.len(), functions - composites, "{}", program.name);
        assert_eq!(verify(&module), [], "{}", program.name);
        let digest = program_digest(&module);
        legalize(&mut module, Form::Composites).unwrap();
        assert_eq!(verify(&module), [], "{}", program.name);
        assert_eq!(recognise(&mut module), recognised, "{}", program.name);
        assert_eq!(program_digest(&module), digest, "{}", program.name);
        count += recognised;
    }
    assert!(count >= 18, "{count} composites");
}
