//! Any bytes as StableHLO text: reading, verifying, printing, running and refining must return, and what was accepted must come back
//! from its own print as the same program.

#![no_main]

use artifact_dims::Scope;
use artifact_eval::{Options, evaluate};
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_ir::verify::verify;
use artifact_refine::{Fact, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{OperationForm, PrintOptions, print_module};
use artifact_stablehlo::source::SourceText;
use libfuzzer_sys::fuzz_target;

/// A fuzzed loop may run for ever; this many operations show whatever one would.
const STEPS_MAX: u64 = 2_000;
/// Large enough for every kind of operation, small enough for millions of runs.
const BYTES_MAX: u64 = 1 << 16;

fuzz_target!(|text: &str| {
    let parsed = parse_module(text);
    // Rendering finds the line and draws the caret, whatever the offset.
    let _ = SourceText::new("fuzz", text).render_all(&parsed.diagnostics);
    let sound = parsed.diagnostics.is_empty();
    for module in &parsed.modules {
        let findings = verify(module);
        let _ = SourceText::new("fuzz", text).render_all(&findings);
        if sound {
            comes_back(module);
        }
        if sound && findings.is_empty() {
            run(module);
            refined(module);
        }
    }
});

fn comes_back(module: &Module) {
    for form in [OperationForm::Pretty, OperationForm::Generic] {
        let options = PrintOptions {
            locations: true,
            form,
        };
        let printed = print_module(module, &options);
        let again = parse_module(&printed).into_module();
        let again = again.unwrap_or_else(|found| panic!("its own print is refused: {found:?}\n{printed}"));
        assert_eq!(
            program_digest(module),
            program_digest(&again),
            "another program:\n{printed}"
        );
    }
}

/// With a variable for each size that the arguments leave open, whatever comes out must verify, which `refine` sees to.
fn refined(module: &Module) {
    let Some(entry) = module.entry() else { return };
    let mut count = 0;
    let mut open = |dim: &Dim| match dim {
        Dim::Unknown => {
            count += 1;
            format!("d{count}").parse().map_or(Dim::Unknown, Dim::Symbolic)
        }
        known => known.clone(),
    };
    let arguments = module.functions[entry].arguments.iter();
    let facts: Vec<Fact> = arguments
        .map(|argument| match &argument.ty {
            Type::Tensor(ty) => {
                let mut ty = TensorType::clone(ty);
                ty.dims = ty.dims.iter().map(&mut open).collect();
                Fact::of_type(ty.into())
            }
            other => Fact::of_type(other.clone()),
        })
        .collect();
    let _ = refine(module, entry, &facts, &Scope::default());
}

fn run(module: &Module) {
    let Some(entry) = module.entry() else { return };
    if module.functions[entry].arguments.is_empty() {
        let options = Options {
            steps_max: Some(STEPS_MAX),
            bytes_max: Some(BYTES_MAX),
        };
        let _ = evaluate(module, entry, Vec::new(), &options);
    }
}
