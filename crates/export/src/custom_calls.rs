//! The custom calls that a program makes.

use std::collections::BTreeMap;

use artifact_container::manifest::CustomCall;
use artifact_ir::module::Module;
use artifact_ir::op::{Control, Op};

/// The targets that a module calls, sorted by name, then by calling convention.
pub(crate) fn custom_calls(module: &Module) -> Vec<CustomCall> {
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
