//! Refinement as a whole.

use std::collections::{HashMap, HashSet};

use artifact_core::entity::EntityId as _;
use artifact_dims::{Expr, Scope};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Definition, FunctionId, Module, ValueId};
use artifact_ir::types::{Dim, Type};
use artifact_ir::verify::verify;

use crate::analysis::{Analysis, Instance};
use crate::arithmetic::Obligation;
use crate::assertion::Assertion;
use crate::emit::emit;
use crate::error::{RefineError, RefineProblem};
use crate::fact::Fact;
use crate::known::{Element, is_anonymous};
use crate::requirement::{self, Requirement};

/// A program of which all is known that follows from its arguments.
#[derive(Clone, Debug)]
pub struct Refined {
    /// The program: verified, and without functions that the entry does not reach.
    pub module: Module,
    /// Its entry.
    pub entry: FunctionId,
    /// What must hold for it to compute what the original does.
    pub obligations: Vec<Obligation>,
    /// Sizes that must be equal for it to run at all, which is not known of them.
    pub requirements: Vec<Requirement>,
    /// What it asserts about its shapes and was not decided.
    pub assertions: Vec<Assertion>,
    /// Values with a size that is not known.
    pub unknown: Vec<UnknownShape>,
    /// The integers that the original entry computes from sizes, by the values of its body.
    pub integers: HashMap<ValueId, Expr>,
}

/// A value with a size that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownShape {
    /// Its type.
    pub ty: Type,
    /// Why.
    pub reason: String,
    /// The operation that makes it.
    pub source: SourceOffset,
}

/// Refines a verified module for arguments of which this is known: types at least as exact as those that the entry declares,
/// and the elements of arguments that hold sizes.
///
/// # Errors
/// [`RefineError`] when the arguments do not fit, or when shapes that follow from them break a rule or an assertion of the
/// program.
pub fn refine(
    module: &Module,
    entry: FunctionId,
    arguments: &[Fact],
    scope: &Scope,
) -> Result<Refined, RefineError> {
    let declared = &module.functions[entry].arguments;
    if declared.len() != arguments.len() {
        let (want, got) = (declared.len(), arguments.len());
        let reason = format!("the program takes {want} arguments, {got} were given");
        return Err(RefineError::new(RefineProblem::Argument(reason)));
    }
    let mut analysis = Analysis::new(module, scope);
    let index = analysis.instance(entry, arguments.to_vec())?;
    let instances = analysis.instances;
    let requirements = requirement::of_program(module, &instances, index)?;
    let (refined, entry) = emit(module, &instances, index);
    if let Some(finding) = verify(&refined).into_iter().next() {
        let error = RefineError::new(RefineProblem::Argument(finding.message));
        return Err(error.at(finding.source));
    }
    let notes = || instances.iter().flat_map(|instance| instance.notes.values());
    let mut seen = HashSet::new();
    let obligations = notes().flat_map(|notes| &notes.obligations);
    let obligations = obligations.filter(|found| seen.insert((found.value.clone(), found.min, found.max)));
    Ok(Refined {
        obligations: obligations.cloned().collect(),
        requirements,
        assertions: notes().filter_map(|notes| notes.assertion.clone()).collect(),
        unknown: instances
            .iter()
            .flat_map(|instance| unknown(module, instance))
            .collect(),
        integers: integers(module, &instances[index]),
        module: refined,
        entry,
    })
}

/// The values of an instance that are one integer with an expression.
fn integers(module: &Module, instance: &Instance) -> HashMap<ValueId, Expr> {
    let Some(body) = &module.functions[instance.function].body else {
        return HashMap::new();
    };
    let integer = |id: ValueId| match instance.facts[id.index()].known.as_deref() {
        Some([Element::Int(value)]) if !is_anonymous(value) => Some((id, value.clone())),
        _ => None,
    };
    body.values.iter().filter_map(|(id, _)| integer(id)).collect()
}

/// The values of an instance that have a size that is not known.
fn unknown(module: &Module, instance: &Instance) -> Vec<UnknownShape> {
    let function = &module.functions[instance.function];
    let Some(body) = &function.body else {
        return Vec::new();
    };
    let open = |fact: &Fact| fact.tensor().is_some_and(|ty| ty.dims.contains(&Dim::Unknown));
    let values = body.values.iter().map(|(id, value)| (id, value.definition));
    let values = values.filter(|(id, _)| open(&instance.facts[id.index()]));
    let describe = |(id, definition): (ValueId, Definition)| {
        let (reason, source) = match definition {
            Definition::Argument { block, index } => {
                let region = match body.entry_block() == Some(block) {
                    true => "",
                    false => "a region in ",
                };
                let name = &function.name;
                (
                    format!("argument {index} of {region}the function `{name}` has an unknown size"),
                    function.source,
                )
            }
            Definition::Result { op, .. } => {
                let op = &body.ops[op];
                let from_operand = op
                    .operands
                    .iter()
                    .any(|operand| open(&instance.facts[operand.index()]));
                let reason = if from_operand {
                    format!(
                        "'{}' in the function `{}` has an operand of unknown size",
                        op.op.name(),
                        function.name
                    )
                } else {
                    format!(
                        "the result of '{}' in the function `{}` does not follow from its operands",
                        op.op.name(),
                        function.name
                    )
                };
                (reason, op.source)
            }
        };
        UnknownShape {
            ty: instance.facts[id.index()].ty.clone(),
            reason,
            source,
        }
    };
    values.map(describe).collect()
}
