//! The program digest: a versioned scheme over what a program means.
//!
//! Two modules have the same digest when they are the same program:
//!
//! | rule | what counts | what does not |
//! | --- | --- | --- |
//! | values | operands by the order of their definition | names |
//! | attributes | by name, in order of name | those at the specification's default; the kind of a channel of a collective |
//! | constants | type and value ([`Literal::value_digest`]) | how the value was spelt |
//! | functions | public ones by name, others by first use | names of private functions, unreachable functions, order |
//! | meshes | axes and devices, where a sharding or a group of processes refers to them | names, unused meshes |
//! | dimensions | variables by first use | names of dimension variables |
//! | discardable attributes | those of [`COUNTED_DISCARDABLE`] | all others, `jax.result_info` and `mhlo.layout_mode` among them |
//! | the rest | types, regions, foreign operations | locations, the module's name |
//!
//! The scheme has a version in its domain. A change of any rule or of any byte of the encoding is a new version, and makes
//! every cache entry and every stored identity that was keyed by the old one a miss.

mod attributes;
mod sdy;
mod types;

use std::collections::HashMap;
use std::sync::Arc;

use artifact_core::canonical::Encoder;
use artifact_core::digest::{Digest, Domain};
use artifact_core::digest_newtype;
use artifact_core::entity::EntityId;

use self::types::DimensionVariables;
use crate::attribute::{Attribute, ChannelHandle, NamedAttributes, StablehloAttribute, SymbolRef};
use crate::module::{
    BlockId, Body, Function, FunctionId, MeshId, Module, OpId, Parameter, RegionId, ValueId, Visibility,
};
use crate::op::{Collective, Op};

digest_newtype! {
    /// The identity of a program under scheme 2.
    pub struct ProgramDigest;
}

const DOMAIN: Domain = Domain::new("artifact program v2");

/// Discardable attributes that change what a program means or what may be done with it: aliasing and donation, sharding,
/// the shape of the cluster, dimension arguments, and configuration that travels beside an operation.
pub const COUNTED_DISCARDABLE: &[&str] = &[
    "jax.buffer_donor",
    "jax.global_constant",
    "mhlo.backend_config",
    "mhlo.frontend_attributes",
    "mhlo.num_partitions",
    "mhlo.num_replicas",
    "mhlo.sharding",
    "sdy.sharding",
    "sdy.sharding_rule",
    "stablehlo.mesh",
    "tf.aliasing_output",
];

/// The digest of a module. It never fails: a module that does not verify has one too, so that two readings can be compared.
#[must_use]
pub fn program_digest(module: &Module) -> ProgramDigest {
    let mut scheme = Scheme {
        encoder: Encoder::new(DOMAIN),
        module,
        functions: FunctionOrder::default(),
        dimension_variables: DimensionVariables::default(),
        meshes: HashMap::new(),
    };
    scheme.module();
    ProgramDigest::new(scheme.encoder.finish())
}

/// Functions in order of first use.
#[derive(Debug, Default)]
struct FunctionOrder {
    numbers: HashMap<FunctionId, usize>,
    order: Vec<FunctionId>,
}

impl FunctionOrder {
    fn number(&mut self, function: FunctionId) -> usize {
        *self.numbers.entry(function).or_insert_with(|| {
            self.order.push(function);
            self.order.len() - 1
        })
    }
}

struct Scheme<'a> {
    encoder: Encoder,
    module: &'a Module,
    functions: FunctionOrder,
    dimension_variables: DimensionVariables,
    /// What meshes are, by their number in the module.
    meshes: HashMap<MeshId, Digest>,
}

impl<'a> Scheme<'a> {
    fn module(&mut self) {
        let module = self.module;
        self.discardable(&module.attributes);
        let mut globals: Vec<_> = module
            .foreign
            .iter()
            .map(|global| (&global.name, &global.symbol, &global.text))
            .collect();
        globals.sort();
        self.encoder.count(globals.len());
        for (name, symbol, text) in globals {
            self.encoder.text(name);
            self.encoder.option(symbol.as_deref(), Encoder::text);
            self.encoder.text(text);
        }
        let mut roots: Vec<_> = module
            .functions
            .iter()
            .filter(|(_, function)| function.visibility == Visibility::Public)
            .collect();
        roots.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        self.encoder.count(roots.len());
        for (id, function) in roots {
            self.encoder.text(&function.name);
            self.functions.number(id);
        }
        // Encoding a function may add others to the order.
        let mut next = 0;
        while let Some(id) = self.functions.order.get(next).copied() {
            self.function(&module.functions[id]);
            next += 1;
        }
    }

    fn function(&mut self, function: &'a Function) {
        self.encoder.text("function");
        self.parameters(&function.arguments);
        self.parameters(&function.results);
        self.discardable(&function.attributes);
        self.encoder.bool(function.body.is_some());
        if let Some(body) = &function.body {
            let mut numbers = ValueNumbers::new(body);
            self.region(body, body.root, &mut numbers);
        }
    }

    fn parameters(&mut self, parameters: &'a [Parameter]) {
        self.encoder.count(parameters.len());
        for parameter in parameters {
            self.ty(&parameter.ty);
            self.discardable(&parameter.attributes);
        }
    }

    fn region(&mut self, body: &'a Body, region: RegionId, numbers: &mut ValueNumbers) {
        let blocks = &body.regions[region].blocks;
        self.encoder.count(blocks.len());
        for block in blocks {
            self.block(body, *block, numbers);
        }
    }

    fn block(&mut self, body: &'a Body, block: BlockId, numbers: &mut ValueNumbers) {
        let block = &body.blocks[block];
        self.encoder.count(block.arguments.len());
        for argument in &block.arguments {
            numbers.define(*argument);
            self.ty(body.ty(*argument));
        }
        self.encoder.count(block.ops.len());
        for op in &block.ops {
            self.operation(body, *op, numbers);
        }
    }

    fn operation(&mut self, body: &'a Body, op: OpId, numbers: &mut ValueNumbers) {
        let operation = &body.ops[op];
        self.encoder.text(operation.op.name());
        self.encoder.count(operation.operands.len());
        for operand in &operation.operands {
            self.encoder.u64(numbers.get(*operand));
        }
        self.attributes(&own_attributes(&operation.op));
        self.discardable(&operation.attributes);
        self.encoder.count(operation.regions.len());
        for region in &operation.regions {
            self.region(body, *region, numbers);
        }
        // Results come after regions, which cannot use them.
        self.encoder.count(operation.results.len());
        for result in &operation.results {
            numbers.define(*result);
            self.ty(body.ty(*result));
        }
    }

    fn discardable(&mut self, attributes: &NamedAttributes) {
        let counted: Vec<(&Arc<str>, &Attribute)> = attributes
            .iter()
            .filter(|(name, _)| COUNTED_DISCARDABLE.contains(&&***name))
            .collect();
        self.encoder.count(counted.len());
        for (name, attribute) in counted {
            self.encoder.text(name);
            self.attribute(attribute);
        }
    }

    fn symbol(&mut self, symbol: &SymbolRef) {
        let flat = symbol.nested.is_empty();
        if let Some(function) = self.module.function(&symbol.root).filter(|_| flat) {
            self.encoder.text("function");
            let number = self.functions.number(function);
            self.encoder.count(number);
        } else if let Some(mesh) = self.module.mesh(&symbol.root).filter(|_| flat) {
            self.named_mesh(mesh);
        } else {
            self.encoder.text("symbol");
            self.encoder.text(&symbol.root);
            self.encoder
                .sequence(symbol.nested.iter(), |encoder, name| encoder.text(name));
        }
    }
}

/// The attributes of an operation that count. Only transfers between two processes have a kind of channel that says anything;
/// VHLO keeps no other.
fn own_attributes(op: &Op) -> NamedAttributes {
    let mut attributes = op.attributes();
    let is_transfer = matches!(op, Op::Collective(Collective::Send(_) | Collective::Recv(_)));
    if let Some(Attribute::Stablehlo(StablehloAttribute::ChannelHandle(channel))) =
        attributes.get("channel_handle")
        && !is_transfer
    {
        let channel = ChannelHandle { kind: 0, ..*channel };
        attributes.insert(
            "channel_handle",
            Attribute::Stablehlo(StablehloAttribute::ChannelHandle(channel)),
        );
    }
    attributes
}

/// Numbers of the values of one body, in order of definition.
struct ValueNumbers {
    numbers: Vec<u64>,
    defined: u64,
}

impl ValueNumbers {
    /// What a value is called that is used before it is defined; a module that verifies has none.
    const UNDEFINED: u64 = u64::MAX;

    fn new(body: &Body) -> Self {
        Self {
            numbers: vec![Self::UNDEFINED; body.values.len()],
            defined: 0,
        }
    }

    fn define(&mut self, value: ValueId) {
        self.numbers[value.index()] = self.defined;
        self.defined += 1;
    }

    fn get(&self, value: ValueId) -> u64 {
        self.numbers[value.index()]
    }
}

#[cfg(test)]
mod tests;
