//! What a program loses when it becomes text or bytecode, which hold nothing but the program.

use artifact_container::manifest::{Dimensions, Manifest, Value};
use artifact_export::{ExportError, Exported, describe};
use artifact_ir::location::LocationId;
use artifact_ir::module::{FunctionId, Module};

use crate::output::one_line;

/// Names that a list shows.
const SHOWN_MAX: usize = 4;

/// What was said of a program, and who reads `module` as it is written, with or without locations, cannot know. `gradients` is
/// the number of programs of gradients beside it.
///
/// # Errors
/// Never for a verified module with an entry.
pub(crate) fn of_program(
    said: &Manifest,
    gradients: usize,
    module: &Module,
    locations: bool,
) -> Result<Vec<String>, ExportError> {
    let mut written = module.clone();
    if !locations {
        without_names(&mut written);
    }
    // As whoever exports the file will find it.
    let now = describe(&Exported::new(written)?.with_named_sizes()?)?;
    let mut lost = Vec::new();
    let names = renamed(&said.signature.inputs, &now.signature.inputs);
    if !names.is_empty() {
        let kept = if locations { "" } else { "; --locations keeps them" };
        lost.push(format!("names of arguments ({}{kept})", listed(&names)));
    }
    let names = renamed(&said.signature.outputs, &now.signature.outputs);
    if !names.is_empty() {
        lost.push(format!("names of results ({})", listed(&names)));
    }
    lost.extend(of_dimensions(said.dimensions.as_ref(), now.dimensions.as_ref()));
    if said.interface.is_some() {
        lost.push("how its caller sees it (trees, types, shardings, effects)".to_owned());
    }
    match gradients {
        0 => {}
        1 => lost.push("the program of its gradient".to_owned()),
        more => lost.push(format!("the programs of {more} gradients")),
    }
    if !said.platforms.is_empty() {
        lost.push(format!("its platforms ({})", listed(&said.platforms)));
    }
    if !said.custom_call_waivers.is_empty() {
        lost.push(format!(
            "waivers of custom calls ({})",
            listed(&said.custom_call_waivers)
        ));
    }
    lost.extend(of_metadata(said));
    Ok(lost)
}

/// What only an artifact holds.
pub(crate) fn of_metadata(said: &Manifest) -> Vec<String> {
    let keys: Vec<String> = said.metadata.keys().cloned().collect();
    let metadata = (!keys.is_empty()).then(|| format!("metadata ({})", listed(&keys)));
    let created = said.created.map(|_| "the time of its export".to_owned());
    metadata.into_iter().chain(created).collect()
}

/// Who names arguments does so in locations.
fn without_names(module: &mut Module) {
    let functions: Vec<FunctionId> = module.functions.iter().map(|(id, _)| id).collect();
    for id in functions {
        for argument in &mut module.functions[id].arguments {
            argument.location = LocationId::UNKNOWN;
        }
    }
}

fn renamed(said: &[Value], now: &[Value]) -> Vec<String> {
    let pairs = said.iter().zip(now);
    let changed = pairs.filter(|(said, now)| said.name != now.name);
    changed.map(|(said, _)| said.name.clone()).collect()
}

fn of_dimensions(said: Option<&Dimensions>, now: Option<&Dimensions>) -> Vec<String> {
    let Some(said) = said.filter(|said| Some(*said) != now) else {
        return Vec::new();
    };
    let known = |name: &String| now.is_some_and(|now| now.variables.iter().any(|one| one.name == *name));
    let names = said.variables.iter().map(|variable| variable.name.clone());
    let names: Vec<String> = names.filter(|name| !known(name)).collect();
    let holds = |constraint: &String| now.is_some_and(|now| now.constraints.contains(constraint));
    let constraints = said.constraints.iter().filter(|constraint| !holds(constraint));
    let constraints: Vec<String> = constraints.cloned().collect();
    let mut lost = Vec::new();
    if !names.is_empty() {
        lost.push(format!("names of dimensions ({})", listed(&names)));
    }
    if !constraints.is_empty() {
        lost.push(format!("constraints ({})", listed(&constraints)));
    }
    if lost.is_empty() {
        lost.push("ranges of dimensions".to_owned());
    }
    lost
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN_MAX)
        .map(|name| format!("`{}`", one_line(name)))
        .collect();
    match names.len().saturating_sub(SHOWN_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
