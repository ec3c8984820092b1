//! Moves large constants out of a program.
//!
//! A constant above [`HOISTED_BYTES_MIN`] becomes a trailing argument of the entry function. A constant of a function that the
//! entry calls becomes an argument of that function too, and every call passes it on; regions see the argument as any other
//! value from outside. Equal constants become one argument.
//!
//! A constant stays where it is when it cannot be passed in without changing what something else means: in a function that is
//! a decomposition or is named by anything but a call, and in a region that sees nothing from outside (that of `chlo.scan`,
//! `sdy.manual_computation` and a few others). A
//! constant of equal elements is small however large its tensor, and stays as well.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use artifact_core::digest::Digest;
use artifact_ir::attribute::Attribute;
use artifact_ir::literal::Literal;
use artifact_ir::location::LocationId;
use artifact_ir::module::{Body, FunctionId, Module, OpId, Parameter, RegionId, ValueId};
use artifact_ir::op::{Control, Creation, Op};
use artifact_ir::types::{TensorType, Type};

use crate::splice::{detach, in_text_order, replace_uses};

/// Constants of more bytes than this are hoisted.
pub const HOISTED_BYTES_MIN: u64 = 4096;

/// Identifies a constant: its type and its value.
type Key = (Arc<TensorType>, Digest);

/// Hoists the large constants of what `entry` reaches, and returns them in the order of the arguments that they became.
pub fn hoist(module: &mut Module, entry: FunctionId) -> Vec<Literal> {
    let candidates = Candidates::find(module, entry);
    let mut hoisted: HashMap<FunctionId, Vec<(Key, Literal)>> = HashMap::new();
    for function in &candidates.callees_first {
        let constants = hoist_function(module, *function, &candidates, &hoisted);
        hoisted.insert(*function, constants);
    }
    hoisted
        .remove(&entry)
        .unwrap_or_default()
        .into_iter()
        .map(|(_, literal)| literal)
        .collect()
}

/// The functions whose constants may be hoisted.
struct Candidates {
    callees_first: Vec<FunctionId>,
}

impl Candidates {
    fn find(module: &Module, entry: FunctionId) -> Self {
        let fixed = named_other_than_by_calls(module, entry);
        let mut callees_first = callees_first(module, entry, &fixed);
        let reached: HashSet<FunctionId> = callees_first.iter().copied().collect();
        // A function that someone outside calls too would change under that caller.
        let outside = callees_of_others(module, &reached);
        callees_first.retain(|function| *function == entry || !outside.contains(function));
        Self { callees_first }
    }
}

/// The functions that `entry` reaches by calls, callees before callers, those of `fixed` and behind them left out. Without
/// recursion of our own, for a file may hold a chain of a million calls; the verifier has refused circles.
fn callees_first(module: &Module, entry: FunctionId, fixed: &HashSet<FunctionId>) -> Vec<FunctionId> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut pending = vec![(entry, false)];
    while let Some((function, callees_are_done)) = pending.pop() {
        if callees_are_done {
            order.push(function);
            continue;
        }
        let Some(body) = &module.functions[function].body else {
            continue;
        };
        if !seen.insert(function) {
            continue;
        }
        pending.push((function, true));
        let callees = body.ops.iter().filter_map(|(_, op)| callee(module, &op.op));
        pending.extend(
            callees
                .filter(|callee| !fixed.contains(callee))
                .map(|callee| (callee, false)),
        );
    }
    order
}

fn callee(module: &Module, op: &Op) -> Option<FunctionId> {
    match op {
        Op::Control(Control::Call(call)) if call.callee.nested.is_empty() => {
            module.function(&call.callee.root)
        }
        _ => None,
    }
}

/// Functions that something other than a call names, or a call in a region that sees nothing from outside, and all that they
/// reach: their arguments must stay as they are.
fn named_other_than_by_calls(module: &Module, entry: FunctionId) -> HashSet<FunctionId> {
    let mut fixed = HashSet::new();
    let mut pending = Vec::new();
    for body in module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref())
    {
        let isolated = isolated_regions(body);
        for (_, operation) in body.ops.iter() {
            if let Some(callee) = callee(module, &operation.op) {
                // Nothing can be passed on from outside there.
                if is_inside(body, body.blocks[operation.block].region, &isolated) {
                    pending.push(callee);
                }
                continue;
            }
            let own = operation.op.attributes();
            for (_, attribute) in own.iter().chain(operation.attributes.iter()) {
                symbols(module, attribute, &mut pending);
            }
        }
    }
    while let Some(function) = pending.pop() {
        if function == entry || !fixed.insert(function) {
            continue;
        }
        let body = module.functions[function].body.iter();
        pending.extend(
            body.flat_map(|body| body.ops.iter())
                .filter_map(|(_, op)| callee(module, &op.op)),
        );
    }
    fixed
}

fn symbols(module: &Module, attribute: &Attribute, found: &mut Vec<FunctionId>) {
    match attribute {
        Attribute::Symbol(symbol) => found.extend(module.function(&symbol.root)),
        Attribute::Array(items) => items.iter().for_each(|item| symbols(module, item, found)),
        Attribute::Dictionary(items) => items.iter().for_each(|(_, item)| symbols(module, item, found)),
        _ => {}
    }
}

fn callees_of_others(module: &Module, reached: &HashSet<FunctionId>) -> HashSet<FunctionId> {
    let others = module.functions.iter().filter(|(id, _)| !reached.contains(id));
    let bodies = others.filter_map(|(_, function)| function.body.as_ref());
    let mut found: HashSet<FunctionId> = bodies
        .flat_map(|body| body.ops.iter())
        .filter_map(|(_, op)| callee(module, &op.op))
        .collect();
    // What they reach changes under them as well.
    let mut pending: Vec<FunctionId> = found.iter().copied().collect();
    while let Some(function) = pending.pop() {
        let body = module.functions[function].body.iter();
        for callee in body
            .flat_map(|body| body.ops.iter())
            .filter_map(|(_, op)| callee(module, &op.op))
        {
            if found.insert(callee) {
                pending.push(callee);
            }
        }
    }
    found
}

/// Hoists the constants of one function whose callees are done, and passes on what they need.
fn hoist_function(
    module: &mut Module,
    function: FunctionId,
    candidates: &Candidates,
    hoisted: &HashMap<FunctionId, Vec<(Key, Literal)>>,
) -> Vec<(Key, Literal)> {
    debug_assert!(candidates.callees_first.contains(&function));
    let Some(body) = &module.functions[function].body else {
        return Vec::new();
    };
    let order = in_text_order(body);
    let own = large_constants(body, &order);
    let calls: Vec<(OpId, FunctionId)> = order
        .iter()
        .filter_map(|id| Some((*id, callee(module, &body.ops[*id].op)?)))
        .filter(|(_, callee)| hoisted.get(callee).is_some_and(|constants| !constants.is_empty()))
        .collect();
    let mut constants: Vec<(Key, Literal)> = Vec::new();
    let mut positions: HashMap<Key, usize> = HashMap::new();
    let mut position_of = |key: &Key, literal: &Literal| {
        *positions.entry(key.clone()).or_insert_with(|| {
            constants.push((key.clone(), literal.clone()));
            constants.len() - 1
        })
    };
    let own: Vec<(OpId, usize)> = own
        .into_iter()
        .map(|(op, literal)| (op, position_of(&key(&literal), &literal)))
        .collect();
    let calls: Vec<(OpId, Vec<usize>)> = calls
        .into_iter()
        .map(|(op, callee)| {
            (
                op,
                hoisted[&callee]
                    .iter()
                    .map(|(key, literal)| position_of(key, literal))
                    .collect(),
            )
        })
        .collect();
    add_arguments(module, function, &constants, &own, &calls);
    constants
}

fn key(literal: &Literal) -> Key {
    (Arc::clone(literal.ty()), literal.value_digest())
}

/// Adds the arguments, makes users of constants use them, and passes them to calls.
fn add_arguments(
    module: &mut Module,
    function: FunctionId,
    constants: &[(Key, Literal)],
    own: &[(OpId, usize)],
    calls: &[(OpId, Vec<usize>)],
) {
    let function = &mut module.functions[function];
    let Some(body) = &mut function.body else { return };
    let Some(block) = body.entry_block() else { return };
    let arguments: Vec<ValueId> = constants
        .iter()
        .map(|(_, literal)| {
            let ty = Type::Tensor(Arc::clone(literal.ty()));
            function.arguments.push(Parameter::new(ty.clone()));
            body.add_argument(block, ty, LocationId::UNKNOWN)
        })
        .collect();
    let uses = own.iter().flat_map(|(op, position)| {
        let results = body.ops[*op].results.clone();
        results.into_iter().map(|result| (result, arguments[*position]))
    });
    let uses: HashMap<ValueId, ValueId> = uses.collect();
    replace_uses(body, &uses);
    let ops: Vec<OpId> = own.iter().map(|(op, _)| *op).collect();
    detach(body, &ops);
    for (op, positions) in calls {
        body.ops[*op]
            .operands
            .extend(positions.iter().map(|position| arguments[*position]));
    }
}

/// The constants of a body that are hoisted, in order of appearance.
fn large_constants(body: &Body, order: &[OpId]) -> Vec<(OpId, Literal)> {
    let isolated = isolated_regions(body);
    let large = order.iter().filter_map(|id| {
        let operation = &body.ops[*id];
        let Op::Creation(Creation::Constant(constant)) = &operation.op else {
            return None;
        };
        let literal = &constant.value;
        let bytes = literal.as_dense().map_or(0, |bytes| bytes.len() as u64);
        let plain = literal.ty().element.as_plain().is_some();
        let inside = is_inside(body, body.blocks[operation.block].region, &isolated);
        let hoisted = plain && bytes > HOISTED_BYTES_MIN && literal.uniform().is_none() && !inside;
        hoisted.then(|| (*id, literal.clone()))
    });
    large.collect()
}

fn isolated_regions(body: &Body) -> HashSet<RegionId> {
    let isolated = body
        .ops
        .iter()
        .filter(|(_, operation)| operation.op.is_isolated());
    isolated
        .flat_map(|(_, operation)| operation.regions.iter().copied())
        .collect()
}

fn is_inside(body: &Body, mut region: RegionId, isolated: &HashSet<RegionId>) -> bool {
    loop {
        if isolated.contains(&region) {
            return true;
        }
        match body.regions[region].parent {
            Some(op) => region = body.blocks[body.ops[op].block].region,
            None => return false,
        }
    }
}
