//! The operations that are no kernels, each as a function of its own.

use std::collections::HashMap;
use std::sync::Arc;

use artifact_ir::location::LocationId;
use artifact_ir::module::{
    BlockId, Body, Function, FunctionId, Module, NewOperation, OpId, Operation, Parameter, ValueId,
    ValueList, Visibility,
};
use artifact_ir::op::{Control, Op, Testing};
use artifact_ir::types::Type;

/// A module that grows by one function an operation.
#[derive(Debug)]
pub(super) struct Library<'m> {
    origin: &'m Module,
    module: Module,
    /// Whether the functions of the program are in it.
    has_functions: bool,
    count: usize,
}

impl<'m> Library<'m> {
    pub(super) fn new(origin: &'m Module) -> Self {
        let mut module = Module::new();
        module.attributes = origin.attributes.clone();
        module.locations = origin.locations.clone();
        for (_, mesh) in origin.meshes.iter() {
            module.add_mesh(mesh.clone());
        }
        Self {
            origin,
            module,
            has_functions: false,
            count: 0,
        }
    }

    pub(super) fn into_module(self) -> Module {
        self.module
    }

    /// Adds an operation, with the values from outside that its regions use after its operands; those come back.
    pub(super) fn add(&mut self, body: &Body, op: &Operation) -> (FunctionId, Vec<ValueId>) {
        let captured = captured(body, op);
        if names_functions(body, op) {
            self.add_functions();
        }
        let values: Vec<ValueId> = op.operands.iter().chain(&captured).copied().collect();
        let name: Arc<str> = format!("step.{}", self.count).into();
        self.count += 1;
        let mut function = Function::new(name);
        function.visibility = Visibility::Public;
        function.source = op.source;
        let parameter = |id: &ValueId| Parameter::new(body.ty(*id).clone());
        function.arguments = values.iter().map(parameter).collect();
        function.results = op.results.iter().map(parameter).collect();
        function.body = Some(body_of(body, op, &values));
        (self.module.add_function(function), captured)
    }

    fn add_functions(&mut self) {
        if self.has_functions {
            return;
        }
        self.has_functions = true;
        for (_, function) in self.origin.functions.iter() {
            let mut function = function.clone();
            function.visibility = Visibility::Private;
            self.module.add_function(function);
        }
    }
}

/// A function's body that does one operation and returns its results.
fn body_of(from: &Body, op: &Operation, values: &[ValueId]) -> Body {
    let mut body = Body::new();
    let block = body.add_block(body.root);
    let mut names = HashMap::new();
    for id in values {
        // An operand that comes twice keeps its first argument.
        let argument = body.add_argument(block, from.ty(*id).clone(), LocationId::UNKNOWN);
        names.entry(*id).or_insert(argument);
    }
    let id = copy(from, op, &mut body, block, &mut names);
    let results = body.ops[id].results.clone();
    let ret = NewOperation::new(Op::from(Control::FuncReturn), results);
    body.add_op(block, ret, Vec::<Type>::new());
    body
}

fn copy(
    from: &Body,
    op: &Operation,
    body: &mut Body,
    block: BlockId,
    names: &mut HashMap<ValueId, ValueId>,
) -> OpId {
    let operands: ValueList = op
        .operands
        .iter()
        .filter_map(|id| names.get(id).copied())
        .collect();
    let new = NewOperation {
        op: op.op.clone(),
        operands,
        attributes: op.attributes.clone(),
        location: op.location,
        source: op.source,
    };
    let types: Vec<Type> = op.results.iter().map(|id| from.ty(*id).clone()).collect();
    let id = body.add_op(block, new, types);
    let results = body.ops[id].results.clone();
    names.extend(op.results.iter().copied().zip(results));
    for region in &op.regions {
        let new = body.add_region(id);
        for inner in &from.regions[*region].blocks {
            let target = body.add_block(new);
            for argument in &from.blocks[*inner].arguments {
                let copied = body.add_argument(target, from.ty(*argument).clone(), LocationId::UNKNOWN);
                names.insert(*argument, copied);
            }
            for inner_op in &from.blocks[*inner].ops {
                copy(from, &from.ops[*inner_op], body, target, names);
            }
        }
    }
    id
}

/// Every operation in the regions of an operation, however deep.
fn inner_ops(body: &Body, op: &Operation) -> Vec<OpId> {
    let mut found = Vec::new();
    let mut open: Vec<_> = op.regions.clone();
    while let Some(region) = open.pop() {
        for block in &body.regions[region].blocks {
            for id in &body.blocks[*block].ops {
                found.push(*id);
                open.extend(&body.ops[*id].regions);
            }
        }
    }
    found
}

/// The values from outside that the regions of an operation use, each once, in order of use.
pub(super) fn captured(body: &Body, op: &Operation) -> Vec<ValueId> {
    let inner = inner_ops(body, op);
    let mut own: std::collections::HashSet<ValueId> = inner
        .iter()
        .flat_map(|id| body.ops[*id].results.iter().copied())
        .collect();
    let mut regions: Vec<_> = op.regions.clone();
    regions.extend(inner.iter().flat_map(|id| body.ops[*id].regions.iter().copied()));
    for region in regions {
        for block in &body.regions[region].blocks {
            own.extend(&body.blocks[*block].arguments);
        }
    }
    let mut found = Vec::new();
    for id in inner {
        for operand in &body.ops[id].operands {
            if own.insert(*operand) {
                found.push(*operand);
            }
        }
    }
    found.retain(|id| !op.operands.contains(id));
    found
}

/// Whether an operation, or one within it, names a function of the program.
fn names_functions(body: &Body, op: &Operation) -> bool {
    let names = |op: &Op| match op {
        Op::Control(Control::Call(_) | Control::Composite(_)) | Op::Testing(Testing::RunParallel(_)) => true,
        Op::Control(Control::CustomCall(call)) => !call.called_computations.is_empty(),
        _ => false,
    };
    names(&op.op) || inner_ops(body, op).into_iter().any(|id| names(&body.ops[id].op))
}
