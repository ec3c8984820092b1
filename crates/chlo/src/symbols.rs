//! Symbols of a module: unused names for new functions, and removing functions that nothing refers to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::module::{Function, FunctionId, Module, Visibility};
use artifact_ir::op::{Creation, Op};

use crate::outline::live_ops;

/// Names that no symbol of a module has.
#[derive(Debug)]
pub(crate) struct Names {
    taken: HashSet<Arc<str>>,
    next: HashMap<String, usize>,
}

impl Names {
    pub(crate) fn new(taken: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self {
            taken: taken.into_iter().collect(),
            next: HashMap::new(),
        }
    }

    /// `base`, or `base_0`, `base_1`, and so on.
    pub(crate) fn unused(&mut self, base: &str) -> Arc<str> {
        let mut name: Arc<str> = base.into();
        let next = self.next.entry(base.to_owned()).or_default();
        while !self.taken.insert(Arc::clone(&name)) {
            name = format!("{base}_{next}").into();
            *next += 1;
        }
        name
    }
}

/// Every symbol of a module.
pub(crate) fn all(module: &Module) -> impl Iterator<Item = Arc<str>> {
    let foreign = module.foreign.iter().filter_map(|global| global.symbol.clone());
    let functions = module
        .functions
        .iter()
        .map(|(_, function)| Arc::clone(&function.name));
    functions.chain(foreign)
}

/// Removes private functions of `candidates`, and those that only they use, as far as nothing else refers to them.
pub(crate) fn remove_unused(module: &mut Module, candidates: HashSet<Arc<str>>) {
    let references: HashMap<Arc<str>, HashSet<Arc<str>>> = module
        .functions
        .iter()
        .map(|(_, function)| (Arc::clone(&function.name), of_function(function)))
        .collect();
    let mut outside = HashSet::new();
    of_attributes(&module.attributes, &mut outside);
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in references.values().flatten().chain(&outside) {
        *uses.entry(name).or_default() += 1;
    }
    let may_go: HashSet<&str> = module
        .functions
        .iter()
        .filter(|(_, function)| function.visibility == Visibility::Private)
        .map(|(_, function)| &*function.name)
        .collect();
    let mut removed: HashSet<Arc<str>> = HashSet::new();
    let mut pending: Vec<Arc<str>> = candidates.into_iter().collect();
    while let Some(name) = pending.pop() {
        let is_used = uses.get(&*name).is_some_and(|count| *count > 0) || is_mentioned(module, &name);
        if is_used || !may_go.contains(&*name) || !removed.insert(Arc::clone(&name)) {
            continue;
        }
        for callee in references.get(&name).into_iter().flatten() {
            if let Some(count) = uses.get_mut(&**callee) {
                *count -= 1;
            }
            pending.push(Arc::clone(callee));
        }
    }
    drop(may_go);
    remove(module, &removed);
}

/// Whether the text of an operation of another dialect may name a function.
fn is_mentioned(module: &Module, name: &str) -> bool {
    module.foreign.iter().any(|global| global.text.contains(name))
}

fn remove(module: &mut Module, names: &HashSet<Arc<str>>) {
    if names.is_empty() {
        return;
    }
    let mut kept = Module::new();
    kept.name = module.name.take();
    kept.attributes = std::mem::take(&mut module.attributes);
    kept.foreign = std::mem::take(&mut module.foreign);
    kept.locations = std::mem::take(&mut module.locations);
    kept.location = module.location;
    let ids: Vec<FunctionId> = module.functions.iter().map(|(id, _)| id).collect();
    for id in ids {
        let function = std::mem::replace(&mut module.functions[id], Function::new(""));
        if !names.contains(&function.name) {
            kept.add_function(function);
        }
    }
    *module = kept;
}

/// The symbols that a function mentions, each once.
fn of_function(function: &Function) -> HashSet<Arc<str>> {
    let mut symbols = HashSet::new();
    of_attributes(&function.attributes, &mut symbols);
    for parameter in function.arguments.iter().chain(&function.results) {
        of_attributes(&parameter.attributes, &mut symbols);
    }
    let Some(body) = &function.body else {
        return symbols;
    };
    for id in live_ops(body) {
        let op = &body.ops[id];
        of_attributes(&op.attributes, &mut symbols);
        // A constant holds nothing but numbers, and many of them.
        if !matches!(op.op, Op::Creation(Creation::Constant(_))) {
            of_attributes(&op.op.attributes(), &mut symbols);
        }
    }
    symbols
}

fn of_attributes(attributes: &NamedAttributes, symbols: &mut HashSet<Arc<str>>) {
    // Attributes nest as deep as a file says, so the stack is our own.
    let mut pending: Vec<&Attribute> = attributes.iter().map(|(_, value)| value).collect();
    while let Some(value) = pending.pop() {
        match value {
            Attribute::Symbol(symbol) => {
                symbols.insert(Arc::clone(&symbol.root));
            }
            Attribute::Array(items) => pending.extend(items),
            Attribute::Dictionary(items) => pending.extend(items.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}
