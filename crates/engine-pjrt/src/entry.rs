//! The entry of a program as XLA wants it: called `main`, public, of arrays alone, and with a sharding for each of them where several
//! devices run it.

use std::sync::Arc;

use artifact_engine::EngineError;
use artifact_ir::attribute::sdy::{DimensionSharding, Mesh, MeshOrRef, SdyAttribute, TensorSharding};
use artifact_ir::attribute::{Attribute, MeshAxis, NamedAttributes};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::location::LocationId;
use artifact_ir::module::{
    BlockId, Body, Function, FunctionId, MeshGlobal, Module, NewOperation, Parameter, ValueId, ValueList,
    Visibility,
};
use artifact_ir::op::{Call, Control, GetTupleElement, Op};
use artifact_ir::types::Type;

/// XLA starts with the public function of this name.
const MAIN: &str = "main";

/// Makes a function the entry.
///
/// # Errors
/// Unsupported when another function has the name: who calls that one calls it by the name.
pub(crate) fn make_main(module: &mut Module, entry: FunctionId) -> Result<(), EngineError> {
    if &*module.functions[entry].name != MAIN && !module.rename_function(entry, MAIN) {
        let what = "XLA starts with the function `main`, and the program has another one of that name";
        return Err(EngineError::unsupported(what));
    }
    module.functions[entry].visibility = Visibility::Public;
    Ok(())
}

/// Puts a function of arrays in front of an entry that takes or gives tokens or tuples, and gives the entry that there is then.
pub(crate) fn of_arrays(module: &mut Module, entry: FunctionId) -> FunctionId {
    let ty = module.functions[entry].ty();
    let is_array = |ty: &Type| matches!(ty, Type::Tensor(_));
    if ty.inputs.iter().chain(ty.results.iter()).all(is_array) {
        return entry;
    }
    let mut number = 0;
    while !module.rename_function(entry, &format!("{MAIN}_{number}")) {
        number += 1;
    }
    module.functions[entry].visibility = Visibility::Private;
    let callee = Arc::clone(&module.functions[entry].name);
    let mut body = Body::new();
    let block = body.add_block(body.root);
    let mut wrapper = Wrapper {
        body,
        block,
        arguments: Vec::new(),
    };
    let operands: Vec<ValueId> = ty.inputs.iter().map(|ty| wrapper.argument(ty)).collect();
    let call = Control::Call(Call {
        callee: artifact_ir::attribute::SymbolRef::flat(callee),
    });
    let values = wrapper.op(call, operands, ty.results.to_vec());
    let mut arrays = Vec::new();
    for (ty, value) in ty.results.iter().zip(values) {
        wrapper.results(ty, value, &mut arrays);
    }
    let results = arrays.iter().map(|value| wrapper.body.ty(*value).clone());
    let results: Vec<Parameter> = results.map(Parameter::new).collect();
    wrapper.op(Control::FuncReturn, arrays, Vec::new());
    let mut function = Function::new(MAIN);
    function.visibility = Visibility::Public;
    function.arguments = wrapper.arguments;
    function.results = results;
    function.body = Some(wrapper.body);
    module.add_function(function)
}

/// The body that takes arrays, calls the entry and gives arrays.
struct Wrapper {
    body: Body,
    block: BlockId,
    arguments: Vec<Parameter>,
}

impl Wrapper {
    fn op(&mut self, op: impl Into<Op>, operands: Vec<ValueId>, results: Vec<Type>) -> ValueList {
        let id = self
            .body
            .add_op(self.block, NewOperation::new(op, operands), results);
        self.body.ops[id].results.clone()
    }

    /// An argument of the entry, made of arguments that are arrays.
    fn argument(&mut self, ty: &Type) -> ValueId {
        match ty {
            Type::Token => self.op(Control::AfterAll, Vec::new(), vec![Type::Token])[0],
            Type::Tuple(items) => {
                let items = items.iter().map(|item| self.argument(item)).collect();
                self.op(Control::Tuple, items, vec![ty.clone()])[0]
            }
            _ => {
                self.arguments.push(Parameter::new(ty.clone()));
                self.body
                    .add_argument(self.block, ty.clone(), LocationId::UNKNOWN)
            }
        }
    }

    /// The arrays of a result of the entry.
    fn results(&mut self, ty: &Type, value: ValueId, arrays: &mut Vec<ValueId>) {
        match ty {
            Type::Token => {}
            Type::Tuple(items) => {
                for (index, item) in (0..).zip(items.iter()) {
                    let element = Control::GetTupleElement(GetTupleElement { index });
                    let element = self.op(element, vec![value], vec![item.clone()])[0];
                    self.results(item, element, arrays);
                }
            }
            _ => arrays.push(value),
        }
    }
}

/// Fixes how each argument and result is divided: no further than the program says, and not at all where it says nothing. What the
/// partitioner would choose by itself is nothing that a caller could know.
pub(crate) fn fix_shardings(module: &mut Module, entry: FunctionId, devices: u32) {
    let mesh = any_mesh(module, devices);
    let function = &mut module.functions[entry];
    for parameter in function.arguments.iter_mut().chain(&mut function.results) {
        let sharding = match parameter.attributes.get(SHARDING) {
            Some(Attribute::Sdy(SdyAttribute::TensorSharding(said))) => closed(said.clone()),
            _ => whole(&parameter.ty, &mesh),
        };
        let sharding = Attribute::Sdy(SdyAttribute::TensorSharding(sharding));
        parameter.attributes.insert(SHARDING, sharding);
    }
}

const SHARDING: &str = "sdy.sharding";

/// The name of a mesh with axes: one that the program has, or one of all devices.
fn any_mesh(module: &mut Module, devices: u32) -> Arc<str> {
    let with_axes = module
        .meshes
        .iter()
        .find(|(_, global)| !global.mesh.axes.is_empty());
    if let Some((_, global)) = with_axes {
        return Arc::clone(&global.name);
    }
    let taken = |name: &str| module.function(name).is_some() || module.mesh(name).is_some();
    let mut name = "mesh".to_owned();
    while taken(&name) {
        name.push('_');
    }
    let name: Arc<str> = name.into();
    let axis = MeshAxis {
        name: "devices".into(),
        size: i64::from(devices),
    };
    module.add_mesh(MeshGlobal {
        name: Arc::clone(&name),
        mesh: Mesh::new(vec![axis], Vec::new()),
        attributes: NamedAttributes::new(),
        location: LocationId::UNKNOWN,
        source: SourceOffset::NONE,
    });
    name
}

fn closed(mut sharding: TensorSharding) -> TensorSharding {
    for dimension in &mut sharding.dim_shardings {
        dimension.is_closed = true;
        dimension.priority = None;
    }
    sharding
}

fn whole(ty: &Type, mesh: &Arc<str>) -> TensorSharding {
    let dimension = DimensionSharding {
        is_closed: true,
        ..DimensionSharding::default()
    };
    let rank = ty.as_tensor().map_or(0, |tensor| tensor.rank());
    TensorSharding {
        mesh: MeshOrRef::Symbol(Arc::clone(mesh)),
        dim_shardings: vec![dimension; rank],
        replicated_axes: Vec::new(),
        unreduced_axes: Vec::new(),
        reduction_op: Default::default(),
    }
}
