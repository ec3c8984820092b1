//! The custom calls that a program makes, and which of them nobody vouches for.

use std::collections::{BTreeMap, BTreeSet};

use artifact_container::manifest::CustomCall;
use artifact_ir::custom_call;
use artifact_ir::module::Module;
use artifact_ir::op::{Control, Op};

use crate::error::ExportError;

/// The targets that a module calls, sorted by name, then by calling convention.
#[must_use]
pub fn custom_calls(module: &Module) -> Vec<CustomCall> {
    let mut uses: BTreeMap<(String, u32), CustomCall> = BTreeMap::new();
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    for (_, operation) in bodies.flat_map(|body| body.ops.iter()) {
        let Op::Control(Control::CustomCall(call)) = &operation.op else {
            continue;
        };
        let target = call.call_target_name.as_bytes().escape_ascii().to_string();
        let api_version = call.api_version.number() as u32;
        let entry = uses.entry((target.clone(), api_version)).or_insert(CustomCall {
            target,
            api_version,
            has_side_effect: false,
            count: 0,
        });
        entry.has_side_effect |= call.has_side_effect;
        entry.count += 1;
    }
    uses.into_values().collect()
}

/// The targets whose meaning is in no table that we keep: what they do is for whoever runs the program to know.
pub(crate) fn opaque_targets(calls: &[CustomCall]) -> Vec<String> {
    let opaque = calls
        .iter()
        .filter(|call| custom_call::find(&call.target).is_none());
    let targets: BTreeSet<&String> = opaque.map(|call| &call.target).collect();
    targets.into_iter().cloned().collect()
}

/// The waivers of a file with these calls: each opaque target needs one, given now or by whoever exported the program before.
/// One that is given now is for a target that needs it.
pub(crate) fn waivers(
    calls: &[CustomCall],
    given: &Waivers,
    before: &Waivers,
) -> Result<Vec<String>, ExportError> {
    let opaque = opaque_targets(calls);
    let waived = |target: &&String| !given.covers(target) && !before.covers(target);
    if let Some(target) = opaque.iter().find(waived) {
        return Err(ExportError::input(format!(
            "the program calls `{target}`, which has no guarantee to stay what it is; accept that with `--allow-custom-call {target}`"
        )));
    }
    let stray = match given {
        Waivers::Targets(targets) => targets.iter().find(|target| !opaque.contains(target)),
        Waivers::All => None,
    };
    match stray {
        Some(stray) => Err(ExportError::input(format!(
            "a waiver is given for `{stray}`, which is no custom call of the program or needs none"
        ))),
        None => Ok(opaque),
    }
}

/// Which custom calls without a guarantee a file may have. It records those that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waivers {
    /// These targets.
    Targets(BTreeSet<String>),
    /// Whatever the program calls, for a file that is not kept.
    All,
}

/// The word of `jax.export` for every target.
const ALL: &str = "ALL";

impl Waivers {
    /// Whether a target is accepted.
    pub(crate) fn covers(&self, target: &str) -> bool {
        match self {
            Self::Targets(targets) => targets.contains(target),
            Self::All => true,
        }
    }

    /// The waivers of `jax.export`, where one target stands for all.
    pub(crate) fn of_jax<'a>(targets: impl Iterator<Item = &'a str>) -> Self {
        let targets: BTreeSet<String> = targets.map(str::to_owned).collect();
        match targets.contains(ALL) {
            true => Self::All,
            false => Self::Targets(targets),
        }
    }
}

impl Default for Waivers {
    fn default() -> Self {
        Self::Targets(BTreeSet::new())
    }
}
