//! The kernels and plans of small programs, as text: `fixtures/plans/NAME.mlir` becomes `NAME.plan`.
//!
//! A change of lowering shows here as a difference that a reader can judge. `ARTIFACT_BLESS=1` rewrites what differs.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and is told by its environment to rewrite what it expects"
)]

use std::path::{Path, PathBuf};

use artifact_dims::{Expr, Scope, Variable};
use artifact_ir::module::Module;
use artifact_ir::types::{Dim, TensorType};
use artifact_lower::{LowerOptions, Plan, lower, text};
use artifact_refine::{Fact, refine};
use artifact_stablehlo::parse::parse_module;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/plans")
}

fn read(name: &str) -> Module {
    let text = std::fs::read_to_string(folder().join(format!("{name}.mlir"))).unwrap();
    parse_module(&text).into_module().unwrap()
}

/// The plan of a program; its first dimension is the variable `b` where `is_symbolic`.
fn plan(module: &Module, is_symbolic: bool) -> Plan {
    let entry = module.entry().unwrap();
    let arguments = module.functions[entry].arguments.iter().enumerate();
    let facts: Vec<Fact> = arguments
        .map(|(index, argument)| {
            let mut ty = TensorType::clone(argument.ty.as_tensor().unwrap());
            if is_symbolic && index == 0 {
                ty.dims[0] = Dim::from(Expr::variable(Variable::new("b").unwrap()));
            }
            Fact::of_type(ty.into())
        })
        .collect();
    let refined = refine(module, entry, &facts, &Scope::default()).unwrap();
    lower(&refined.module, refined.entry, &LowerOptions::default()).unwrap()
}

fn is_blessed() -> bool {
    std::env::var_os("ARTIFACT_BLESS").is_some()
}

fn check(name: &str) -> Plan {
    let plan = plan(&read(name), false);
    let got = format!("{}\n{}", text::kernels(&plan), text::plan(&plan));
    let path = folder().join(format!("{name}.plan"));
    if is_blessed() {
        std::fs::write(&path, &got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        got, want,
        "{name}.plan is not what the code makes; ARTIFACT_BLESS=1 rewrites it"
    );
    plan
}

/// Programs of which everything happens while a row is at hand.
#[test]
fn rows_are_gone_through_in_one_kernel() {
    for name in [
        "softmax",
        "log_softmax",
        "masked_softmax",
        "layer_norm",
        "rms_norm",
    ] {
        let plan = check(name);
        assert_eq!((plan.kernels.len(), plan.steps.len()), (1, 1), "{name}");
    }
}

#[test]
fn groups_are_gone_through_in_few_kernels() {
    let plan = check("group_norm");
    assert!(plan.steps.len() <= 3, "{} steps", plan.steps.len());
}

/// The body of the loop writes its results where they belong: it copies nothing.
#[test]
fn loops_update_in_place() {
    let text = text::steps(&check("loop_in_place"));
    let body = text.split_once("do {").unwrap().1;
    assert!(!body.contains("copy"), "{text}");
}

#[test]
fn products_are_written_transposed() {
    assert_eq!(check("transposed_product").steps.len(), 1);
}

#[test]
fn parts_are_computed_into_the_whole() {
    assert!(!text::steps(&check("joined")).contains("copy"));
}

/// Kernels hold no sizes.
#[test]
fn a_symbolic_program_has_the_kernels_of_the_static_one() {
    for name in ["softmax", "log_softmax"] {
        let module = read(name);
        let kernels = |is_symbolic| text::kernels(&plan(&module, is_symbolic));
        assert_eq!(kernels(true), kernels(false), "{name}");
    }
}
