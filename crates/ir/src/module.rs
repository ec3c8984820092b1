//! Modules, functions, regions, blocks, operations and values.
//!
//! A [`Module`] owns functions; a function's [`Body`] owns everything in it in arenas, regions nested in operations included,
//! so that a region refers to a value from outside it by the same kind of id as to its own. Bodies may be ill-formed while they
//! are built or read; [`crate::verify`] says whether one is well-formed, and nothing that executes takes an unverified module.

use std::collections::HashMap;
use std::sync::Arc;

use artifact_core::entity::Arena;
use artifact_core::entity_id;
use smallvec::SmallVec;

use crate::attribute::NamedAttributes;
use crate::attribute::sdy::{Mesh, MeshOrRef};
use crate::diagnostic::SourceOffset;
use crate::location::{LocationId, Locations};
use crate::op::Op;
use crate::types::{FunctionType, Type};

entity_id! {
    /// A function of a module.
    pub struct FunctionId("fn");
}
entity_id! {
    /// A mesh of a module.
    pub struct MeshId("mesh");
}
entity_id! {
    /// A value of a body: an operation's result or a block's argument.
    pub struct ValueId("%");
}
entity_id! {
    /// An operation of a body.
    pub struct OpId("op");
}
entity_id! {
    /// A block of a body.
    pub struct BlockId("bb");
}
entity_id! {
    /// A region of a body.
    pub struct RegionId("region");
}

/// Operands or results of an operation. Few operations have more than four; for those the list lies in the operation itself.
pub type ValueList = SmallVec<[ValueId; 4]>;

/// A program: functions, and what its exporter said about it.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The symbol after `module`, if any.
    pub name: Option<Arc<str>>,
    /// Discardable attributes, such as `mhlo.num_partitions`.
    pub attributes: NamedAttributes,
    /// Functions in order of appearance.
    pub functions: Arena<FunctionId, Function>,
    /// Meshes (`sdy.mesh`) in order of appearance.
    pub meshes: Arena<MeshId, MeshGlobal>,
    /// Other operations beside functions, of dialects that we do not know.
    pub foreign: Vec<ForeignGlobal>,
    /// Every location that the module mentions.
    pub locations: Locations,
    /// The module's own location.
    pub location: LocationId,
    symbols: HashMap<Arc<str>, FunctionId>,
    mesh_symbols: HashMap<Arc<str>, MeshId>,
}

/// A mesh with a name (`sdy.mesh`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshGlobal {
    /// Its symbol.
    pub name: Arc<str>,
    /// What it is.
    pub mesh: Mesh,
    /// Discardable attributes, such as `stablehlo.mesh`.
    pub attributes: NamedAttributes,
    /// Where it came from.
    pub location: LocationId,
    /// Where in the file.
    pub source: SourceOffset,
}

/// An operation at module level that is not a function: carried as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignGlobal {
    /// Full name, dialect included.
    pub name: Arc<str>,
    /// The symbol that it defines, if any.
    pub symbol: Option<Arc<str>>,
    /// What follows the name and symbol, attributes included, as it was written.
    pub text: Arc<str>,
    /// Where in the file.
    pub source: SourceOffset,
}

impl Module {
    /// An empty module.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function. Where two have one name, the first one keeps it and the verifier refuses the module.
    pub fn add_function(&mut self, function: Function) -> FunctionId {
        let name = Arc::clone(&function.name);
        let id = self.functions.push(function);
        self.symbols.entry(name).or_insert(id);
        id
    }

    /// The function called `name`.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.symbols.get(name).copied()
    }

    /// Gives a function another name, and tells whether it could: not where another symbol of the module has it. Operations
    /// that refer to the old name are left alone.
    pub fn rename_function(&mut self, id: FunctionId, name: &str) -> bool {
        let of_foreign = |global: &ForeignGlobal| global.symbol.as_deref() == Some(name);
        let is_taken = self.symbols.contains_key(name)
            || self.mesh_symbols.contains_key(name)
            || self.foreign.iter().any(of_foreign);
        if is_taken {
            return false;
        }
        let name: Arc<str> = name.into();
        let old = std::mem::replace(&mut self.functions[id].name, Arc::clone(&name));
        if self.symbols.get(&old) == Some(&id) {
            self.symbols.remove(&old);
        }
        self.symbols.insert(name, id);
        true
    }

    /// Adds a mesh. Where two have one name, the first one keeps it and the verifier refuses the module.
    pub fn add_mesh(&mut self, mesh: MeshGlobal) -> MeshId {
        let name = Arc::clone(&mesh.name);
        let id = self.meshes.push(mesh);
        self.mesh_symbols.entry(name).or_insert(id);
        id
    }

    /// The mesh called `name`.
    #[must_use]
    pub fn mesh(&self, name: &str) -> Option<MeshId> {
        self.mesh_symbols.get(name).copied()
    }

    /// The mesh of a sharding; `None` where its name is not that of a mesh.
    #[must_use]
    pub fn resolve_mesh<'a>(&'a self, mesh: &'a MeshOrRef) -> Option<&'a Mesh> {
        match mesh {
            MeshOrRef::Symbol(name) => self.mesh(name).map(|id| &self.meshes[id].mesh),
            MeshOrRef::Inline(mesh) => Some(mesh),
        }
    }

    /// The function that a run starts with: `main`, or the only one. Private functions called `chlo.` something, which writers
    /// of bytecode add, do not count.
    #[must_use]
    pub fn entry(&self) -> Option<FunctionId> {
        let is_added = |function: &Function| {
            function.visibility == Visibility::Private && function.name.starts_with("chlo.")
        };
        let mut own = self.functions.iter().filter(|(_, function)| !is_added(function));
        let only = match (own.next(), own.next()) {
            (Some((id, _)), None) => Some(id),
            _ => None,
        };
        self.function("main").or(only)
    }
}

/// Who may refer to a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Anyone.
    #[default]
    Public,
    /// Its module.
    Private,
    /// Its module and those that contain it.
    Nested,
}

/// A function (`func.func`).
#[derive(Clone, Debug)]
pub struct Function {
    /// Its symbol.
    pub name: Arc<str>,
    /// Who may refer to it.
    pub visibility: Visibility,
    /// Arguments in order.
    pub arguments: Vec<Parameter>,
    /// Results in order.
    pub results: Vec<Parameter>,
    /// Discardable attributes.
    pub attributes: NamedAttributes,
    /// What it does; `None` for a declaration.
    pub body: Option<Body>,
    /// Where it came from.
    pub location: LocationId,
    /// Where in the file.
    pub source: SourceOffset,
}

impl Function {
    /// A function without arguments, results or a body.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            visibility: Visibility::default(),
            arguments: Vec::new(),
            results: Vec::new(),
            attributes: NamedAttributes::new(),
            body: None,
            location: LocationId::UNKNOWN,
            source: SourceOffset::NONE,
        }
    }

    /// Types of arguments and results.
    #[must_use]
    pub fn ty(&self) -> FunctionType {
        let types =
            |parameters: &[Parameter]| parameters.iter().map(|parameter| parameter.ty.clone()).collect();
        FunctionType {
            inputs: types(&self.arguments),
            results: types(&self.results),
        }
    }
}

/// An argument or a result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// Discardable attributes, such as `mhlo.sharding`.
    pub attributes: NamedAttributes,
    /// Where it came from; exporters put an argument's name here.
    pub location: LocationId,
}

impl Parameter {
    /// A parameter without attributes.
    #[must_use]
    pub const fn new(ty: Type) -> Self {
        Self {
            ty,
            attributes: NamedAttributes::new(),
            location: LocationId::UNKNOWN,
        }
    }
}

/// The inside of a function.
#[derive(Clone, Debug)]
pub struct Body {
    /// All values.
    pub values: Arena<ValueId, Value>,
    /// All operations, in order of creation, which is the order of the text.
    pub ops: Arena<OpId, Operation>,
    /// All blocks.
    pub blocks: Arena<BlockId, Block>,
    /// All regions.
    pub regions: Arena<RegionId, Region>,
    /// The outermost region. Its first block's arguments are the function's.
    pub root: RegionId,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// What makes it.
    pub definition: Definition,
}

/// What makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Result `index` of an operation.
    Result {
        /// The operation.
        op: OpId,
        /// Which of its results.
        index: u32,
    },
    /// Argument `index` of a block.
    Argument {
        /// The block.
        block: BlockId,
        /// Which of its arguments.
        index: u32,
    },
}

/// An operation at its place.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub op: Op,
    /// What it works on.
    pub operands: ValueList,
    /// What it makes.
    pub results: ValueList,
    /// Regions in order.
    pub regions: Vec<RegionId>,
    /// Discardable attributes.
    pub attributes: NamedAttributes,
    /// Where it came from.
    pub location: LocationId,
    /// Where in the file.
    pub source: SourceOffset,
    /// The block that it is in.
    pub block: BlockId,
}

/// A sequence of operations with arguments.
#[derive(Clone, Debug)]
pub struct Block {
    /// Values that the block is entered with.
    pub arguments: Vec<ValueId>,
    /// Where each argument came from.
    pub argument_locations: Vec<LocationId>,
    /// Operations in order; the last one is the terminator.
    pub ops: Vec<OpId>,
    /// The region that it is in.
    pub region: RegionId,
}

/// A list of blocks. Regions of StableHLO have exactly one.
#[derive(Clone, Debug)]
pub struct Region {
    /// The blocks.
    pub blocks: Vec<BlockId>,
    /// The operation that it belongs to; `None` for a function's outermost region.
    pub parent: Option<OpId>,
}

impl Body {
    /// A body with an outermost region without blocks.
    #[must_use]
    pub fn new() -> Self {
        let mut regions = Arena::new();
        let root = regions.push(Region {
            blocks: Vec::new(),
            parent: None,
        });
        Self {
            values: Arena::new(),
            ops: Arena::new(),
            blocks: Arena::new(),
            regions,
            root,
        }
    }

    /// Adds an empty block to a region.
    pub fn add_block(&mut self, region: RegionId) -> BlockId {
        let block = Block {
            arguments: Vec::new(),
            argument_locations: Vec::new(),
            ops: Vec::new(),
            region,
        };
        let id = self.blocks.push(block);
        self.regions[region].blocks.push(id);
        id
    }

    /// Adds an argument to a block.
    pub fn add_argument(&mut self, block: BlockId, ty: Type, location: LocationId) -> ValueId {
        let index = self.blocks[block].arguments.len() as u32;
        let value = self.values.push(Value {
            ty,
            definition: Definition::Argument { block, index },
        });
        self.blocks[block].arguments.push(value);
        self.blocks[block].argument_locations.push(location);
        value
    }

    /// Adds an operation at the end of a block, and its results.
    #[inline]
    pub fn add_op(
        &mut self,
        block: BlockId,
        op: NewOperation,
        result_types: impl IntoIterator<Item = Type>,
    ) -> OpId {
        let NewOperation {
            op,
            operands,
            attributes,
            location,
            source,
        } = op;
        let id = self.ops.next_id();
        let results = result_types
            .into_iter()
            .enumerate()
            .map(|(index, ty)| {
                let definition = Definition::Result {
                    op: id,
                    index: index as u32,
                };
                self.values.push(Value { ty, definition })
            })
            .collect();
        let regions = Vec::new();
        self.ops.push(Operation {
            op,
            operands,
            results,
            regions,
            attributes,
            location,
            source,
            block,
        });
        self.blocks[block].ops.push(id);
        id
    }

    /// Adds an empty region to an operation.
    pub fn add_region(&mut self, op: OpId) -> RegionId {
        let region = self.regions.push(Region {
            blocks: Vec::new(),
            parent: Some(op),
        });
        self.ops[op].regions.push(region);
        region
    }

    /// The outermost block, once there is one.
    #[must_use]
    pub fn entry_block(&self) -> Option<BlockId> {
        self.regions[self.root].blocks.first().copied()
    }

    /// The only block of a region; `None` when it has none or several.
    #[must_use]
    pub fn single_block(&self, region: RegionId) -> Option<BlockId> {
        match self.regions[region].blocks.as_slice() {
            [block] => Some(*block),
            _ => None,
        }
    }

    /// The type of a value.
    #[must_use]
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.values[value].ty
    }

    /// The last operation of a block.
    #[must_use]
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].ops.last().copied()
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::new()
    }
}

/// An operation that is about to be added; results and regions come after.
#[derive(Clone, Debug)]
pub struct NewOperation {
    /// What it does.
    pub op: Op,
    /// What it works on.
    pub operands: ValueList,
    /// Discardable attributes.
    pub attributes: NamedAttributes,
    /// Where it came from.
    pub location: LocationId,
    /// Where in the file.
    pub source: SourceOffset,
}

impl NewOperation {
    /// An operation that was not read from anywhere.
    #[must_use]
    pub fn new(op: impl Into<Op>, operands: impl Into<ValueList>) -> Self {
        Self {
            op: op.into(),
            operands: operands.into(),
            attributes: NamedAttributes::new(),
            location: LocationId::UNKNOWN,
            source: SourceOffset::NONE,
        }
    }
}
