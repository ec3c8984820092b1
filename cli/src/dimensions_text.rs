//! The dimensions of a program as `inspect --dims` shows them: what is declared, and what refinement finds.

use std::fmt::Write as _;
use std::path::Path;

use artifact_dims::{Comparison, Constraint, Expr, Scope};
use artifact_export::{Argument, Signature};
use artifact_ir::types::{Dim, Type};
use artifact_refine::{Assertion, Fact, Obligation, Refined, refine};

use crate::failure::{Failure, Outcome};
use crate::output::one_line;
use crate::program::Program;

/// The text for a file.
pub(crate) fn dimensions_text(path: &Path) -> Outcome<String> {
    let program = Program::open(path)?;
    let (definition, signature) = (&program.definition, program.signature());
    let types = signature.inputs.iter().map(|input| input.ty.clone());
    let constants = definition
        .constants
        .iter()
        .map(|constant| Type::Tensor(constant.ty().clone()));
    let arguments: Vec<Fact> = types.chain(constants).map(Fact::of_type).collect();
    let refined = refine(
        &definition.module,
        definition.entry,
        &arguments,
        &signature.dimensions,
    )
    .map_err(|error| Failure::input(format!("{} cannot be refined", path.display())).because(&error))?;
    let mut text = String::new();
    declared(signature, &mut text);
    found(&refined, &signature.dimensions, &mut text);
    if signature.inputs.iter().any(is_open) {
        text.push_str("some sizes of arguments have no name; `artifact export --shapes` names them\n");
    }
    Ok(text)
}

fn is_open(argument: &Argument) -> bool {
    let tensor = argument.ty.as_tensor();
    tensor.is_some_and(|ty| ty.dims.contains(&Dim::Unknown))
}

fn declared(signature: &Signature, text: &mut String) {
    // Writing to a string does not fail.
    for (label, arguments) in [("in ", &signature.inputs), ("out", &signature.outputs)] {
        for argument in arguments {
            let (name, shape) = (one_line(&argument.name), argument.shape_text());
            let _ = writeln!(text, "{label} {name}: {}", one_line(&shape));
        }
    }
    for (variable, range) in signature.dimensions.ranges() {
        let _ = writeln!(text, "dimension {variable}: {range}");
    }
    for constraint in signature.dimensions.constraints() {
        let _ = writeln!(text, "constraint {constraint}");
    }
}

fn found(refined: &Refined, scope: &Scope, text: &mut String) {
    // Writing to a string does not fail.
    for needed in refined
        .obligations
        .iter()
        .filter_map(|obligation| needed(obligation, scope))
    {
        let _ = writeln!(text, "needs {needed}");
    }
    for assertion in &refined.assertions {
        let _ = writeln!(text, "asserts {}", one_line(&asserted(assertion)));
    }
    for unknown in &refined.unknown {
        let _ = writeln!(text, "unknown {}: {}", unknown.ty, one_line(&unknown.reason));
    }
    if refined.unknown.is_empty() {
        text.push_str("every value has a shape of numbers and expressions\n");
    }
}

/// What an obligation asks for besides what holds anyway.
fn needed(obligation: &Obligation, scope: &Scope) -> Option<String> {
    let Obligation { value, min, max, .. } = obligation;
    let holds = |comparison: Comparison, bound: i64| {
        let constraint = Constraint::new(value.clone(), comparison, Expr::constant(bound));
        scope.decide(&constraint).is_yes()
    };
    match (holds(Comparison::Ge, *min), holds(Comparison::Le, *max)) {
        (true, true) => None,
        (true, false) => Some(format!("{value} <= {max}")),
        (false, true) => Some(format!("{value} >= {min}")),
        (false, false) => Some(format!("{min} <= {value} <= {max}")),
    }
}

/// What an assertion says; its message where that is no expression.
fn asserted(assertion: &Assertion) -> String {
    let Some(constraints) = &assertion.constraints else {
        return format!(
            "a condition that is no expression of dimensions: \"{}\"",
            assertion.message
        );
    };
    let texts: Vec<String> = constraints.iter().map(ToString::to_string).collect();
    texts.join(" and ")
}
