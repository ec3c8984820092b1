//! The refined module: one function for each instance, with types that say what is known and without what it made needless.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use artifact_core::entity::EntityId as _;
use artifact_ir::attribute::SymbolRef;
use artifact_ir::literal::Literal;
use artifact_ir::module::{
    BlockId, Body, Function, FunctionId, Module, NewOperation, OpId, ValueId, ValueList, Visibility,
};
use artifact_ir::op::{Call, Constant, Control, Creation, DynamicSlice, Op, Shape, Slice, Testing};
use artifact_ir::types::{TensorType, Type};

use crate::analysis::Instance;
use crate::compact::compact;
use crate::prune::prune;
use crate::rewrite::{Rewritten, rewrite};

/// Makes the module of an instance and of those that it calls.
pub(crate) fn emit(module: &Module, instances: &[Instance], entry: usize) -> (Module, FunctionId) {
    let reached = reached(instances, entry);
    let names = names(module, instances, &reached, entry);
    let mut refined = Module::new();
    refined.name.clone_from(&module.name);
    refined.attributes = module.attributes.clone();
    for (_, mesh) in module.meshes.iter() {
        refined.add_mesh(mesh.clone());
    }
    refined.foreign.clone_from(&module.foreign);
    refined.locations = module.locations.clone();
    refined.location = module.location;
    // Callees were examined before their callers, so that what they do is known when their calls are looked at.
    let mut pure: HashSet<Arc<str>> = HashSet::new();
    let mut functions = BTreeMap::new();
    for index in reached {
        let instance = &instances[index];
        let original = &module.functions[instance.function];
        let mut function = function(original, instance, &names);
        function.name = Arc::clone(&names[&index]);
        if index != entry {
            function.visibility = Visibility::Private;
        }
        if let Some(body) = &mut function.body {
            if prune(body, &pure) {
                pure.insert(Arc::clone(&function.name));
            }
            *body = compact(body);
        }
        functions.insert((index != entry, index), function);
    }
    let ids: Vec<FunctionId> = functions
        .into_values()
        .map(|function| refined.add_function(function))
        .collect();
    // The entry sorts first.
    (refined, ids[0])
}

/// The instances that an instance needs, itself included, in the order in which they were examined.
fn reached(instances: &[Instance], entry: usize) -> Vec<usize> {
    let mut seen = HashSet::from([entry]);
    let mut pending = vec![entry];
    while let Some(index) = pending.pop() {
        for callee in instances[index].callees.values().flatten() {
            if seen.insert(*callee) {
                pending.push(*callee);
            }
        }
    }
    let mut reached: Vec<usize> = seen.into_iter().collect();
    reached.sort_unstable();
    reached
}

/// A name for each instance: that of its function for the first, with a number for the others.
fn names(
    module: &Module,
    instances: &[Instance],
    reached: &[usize],
    entry: usize,
) -> BTreeMap<usize, Arc<str>> {
    let mut taken: HashSet<Arc<str>> = module
        .functions
        .iter()
        .map(|(_, function)| function.name.clone())
        .collect();
    let mut first: HashSet<FunctionId> = HashSet::new();
    let mut count: HashMap<FunctionId, usize> = HashMap::new();
    let mut names = BTreeMap::new();
    // The entry is the one whose name matters outside.
    for index in std::iter::once(&entry).chain(reached.iter().filter(|index| **index != entry)) {
        let id = instances[*index].function;
        let original = &module.functions[id].name;
        let name = if first.insert(id) {
            Arc::clone(original)
        } else {
            let number = count.entry(id).or_default();
            loop {
                *number += 1;
                let name: Arc<str> = format!("{original}_{number}").into();
                if taken.insert(Arc::clone(&name)) {
                    break name;
                }
            }
        };
        names.insert(*index, name);
    }
    names
}

fn function(original: &Function, instance: &Instance, names: &BTreeMap<usize, Arc<str>>) -> Function {
    let mut function = original.clone();
    for (parameter, fact) in function.results.iter_mut().zip(&instance.results) {
        parameter.ty = fact.ty.clone();
    }
    let Some(body) = &mut function.body else {
        return function;
    };
    let arguments = body
        .entry_block()
        .map(|block| body.blocks[block].arguments.clone());
    for (parameter, value) in function.arguments.iter_mut().zip(arguments.unwrap_or_default()) {
        parameter.ty = instance.facts[value.index()].ty.clone();
    }
    let values: Vec<ValueId> = body.values.iter().map(|(id, _)| id).collect();
    for (value, fact) in values.iter().zip(&instance.facts) {
        body.values[*value].ty = fact.ty.clone();
    }
    let blocks: Vec<BlockId> = body.blocks.iter().map(|(id, _)| id).collect();
    let mut emission = Emission {
        body,
        instance,
        names,
        replaced: HashMap::new(),
    };
    blocks.into_iter().for_each(|block| emission.block(block));
    emission.redirect();
    function
}

/// The body of one function, being rewritten in place: values and operations keep their ids.
struct Emission<'a> {
    body: &'a mut Body,
    instance: &'a Instance,
    names: &'a BTreeMap<usize, Arc<str>>,
    /// Values that another one stands for.
    replaced: HashMap<ValueId, ValueId>,
}

impl Emission<'_> {
    fn block(&mut self, block: BlockId) {
        let ops = std::mem::take(&mut self.body.blocks[block].ops);
        for argument in self.body.blocks[block].arguments.clone() {
            self.as_constant(block, argument);
        }
        for op in ops {
            self.operation(block, op);
        }
    }

    fn operation(&mut self, block: BlockId, id: OpId) {
        if self.instance.notes.get(&id).is_some_and(|notes| notes.discharged) {
            return;
        }
        self.name_callees(id);
        if self.cut_by_position(block, id) {
            self.body.blocks[block].ops.push(id);
            return;
        }
        let facts = &self.instance.facts;
        match rewrite(&self.body.ops[id], facts) {
            Rewritten::Kept => {}
            Rewritten::Operand(index) => {
                let op = &self.body.ops[id];
                self.replaced.insert(op.results[0], op.operands[index]);
                return;
            }
            Rewritten::Other(form) => {
                let target = &mut self.body.ops[id];
                (target.op, target.operands, target.attributes) =
                    (form.op, form.operands.into(), form.attributes);
                if let Some(callee) = form.region {
                    self.region_of_call(id, callee);
                }
                let target = &mut self.body.ops[id];
                if target.op.spec().is_some_and(|spec| spec.regions.max == Some(0)) {
                    target.regions.clear();
                }
            }
        }
        self.body.blocks[block].ops.push(id);
        if !matches!(self.body.ops[id].op, Op::Creation(Creation::Constant(_))) {
            for result in self.body.ops[id].results.clone() {
                self.as_constant(block, result);
            }
        }
    }

    /// A slice of known sizes from computed positions, with steps of 1, is a `dynamic_slice`. Whether the operation is one.
    fn cut_by_position(&mut self, block: BlockId, id: OpId) -> bool {
        let op = &self.body.ops[id];
        let fact = |value: &ValueId| &self.instance.facts[value.index()];
        let Op::Shape(Shape::RealDynamicSlice) = op.op else {
            return false;
        };
        let (starts, strides) = (op.operands[1], fact(&op.operands[3]).numbers());
        let sizes = fact(&op.results[0]).tensor().and_then(TensorType::static_shape);
        let operand = fact(&op.operands[0]).tensor().map(|ty| ty.dims.to_vec());
        let (Some(strides), Some(sizes), Some(operand)) = (strides, sizes, operand) else {
            return false;
        };
        let fits = operand
            .iter()
            .zip(&sizes)
            .all(|(dim, size)| dim.as_static().is_none_or(|dim| *size <= dim));
        if !fits || strides.iter().any(|stride| *stride != 1) || fact(&starts).numbers().is_some() {
            return false;
        }
        let Some(element) = fact(&starts).tensor().map(|ty| ty.element.clone()) else {
            return false;
        };
        let typed = |shape: &[u64]| Type::from(TensorType::of_static(shape, element.clone()));
        let mut operands = ValueList::from_slice(&[op.operands[0]]);
        for position in 0..sizes.len() as i64 {
            let slice = Shape::Slice(Box::new(Slice {
                start_indices: vec![position],
                limit_indices: vec![position + 1],
                strides: vec![1],
            }));
            let slice = self
                .body
                .add_op(block, NewOperation::new(slice, vec![starts]), vec![typed(&[1])]);
            let slice = self.body.ops[slice].results[0];
            let scalar = NewOperation::new(Shape::Reshape, vec![slice]);
            let scalar = self.body.add_op(block, scalar, vec![typed(&[])]);
            operands.push(self.body.ops[scalar].results[0]);
        }
        let slice_sizes = sizes.iter().map(|size| *size as i64).collect();
        let op = &mut self.body.ops[id];
        op.op = Shape::DynamicSlice(DynamicSlice { slice_sizes }).into();
        op.operands = operands;
        true
    }

    /// Gives a reduction the region that calls a function: with a scalar of each operand's element type, twice over.
    fn region_of_call(&mut self, id: OpId, callee: SymbolRef) {
        let op = &self.body.ops[id];
        let (location, operands) = (op.location, op.operands.clone());
        let inits = &operands[operands.len() / 2..];
        let types: Vec<Type> = inits.iter().map(|init| self.body.ty(*init).clone()).collect();
        let region = self.body.add_region(id);
        let block = self.body.add_block(region);
        let arguments: Vec<ValueId> = types
            .iter()
            .chain(&types)
            .map(|ty| self.body.add_argument(block, ty.clone(), location))
            .collect();
        let call = NewOperation::new(Control::Call(Call { callee }), arguments);
        let call = self.body.add_op(block, call, types);
        let results = self.body.ops[call].results.clone();
        let terminator = NewOperation::new(Control::Return, results);
        self.body.add_op(block, terminator, Vec::new());
    }

    /// Puts a constant in place of a value that is the same for all sizes.
    fn as_constant(&mut self, block: BlockId, value: ValueId) {
        let literal: Option<Literal> = self
            .instance
            .facts
            .get(value.index())
            .and_then(crate::fact::Fact::literal);
        let Some(literal) = literal else { return };
        let ty = Type::Tensor(literal.ty().clone());
        let op = NewOperation::new(Creation::Constant(Constant { value: literal }), Vec::new());
        let id = self.body.add_op(block, op, vec![ty]);
        self.replaced.insert(value, self.body.ops[id].results[0]);
    }

    /// Names the instances that an operation calls.
    fn name_callees(&mut self, id: OpId) {
        let callees = self
            .instance
            .callees
            .get(&id)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut names = callees.iter().map(|callee| &self.names[callee]);
        let mut rename = |symbol: &mut SymbolRef| {
            if let Some(name) = names.next() {
                symbol.root = Arc::clone(name);
            }
        };
        match &mut self.body.ops[id].op {
            Op::Control(Control::Call(call)) => rename(&mut call.callee),
            Op::Control(Control::Composite(composite)) => rename(&mut composite.decomposition),
            Op::Control(Control::CustomCall(call)) => call.called_computations.iter_mut().for_each(rename),
            Op::Testing(Testing::RunParallel(run)) => {
                run.programs.iter_mut().flatten().for_each(&mut rename);
                run.infeed.iter_mut().flatten().for_each(rename);
            }
            _ => {}
        }
    }

    /// Lets operations use what stands for their operands now.
    fn redirect(&mut self) {
        let ids: Vec<OpId> = self.body.ops.iter().map(|(id, _)| id).collect();
        for id in ids {
            for operand in &mut self.body.ops[id].operands {
                while let Some(other) = self.replaced.get(operand) {
                    *operand = *other;
                }
            }
        }
    }
}
