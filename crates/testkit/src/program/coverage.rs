//! Which operations programs consist of.

use std::collections::BTreeMap;

use artifact_ir::module::Module;
use artifact_ir::op::OpSpec;

/// How often each operation was used, by name.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeMap<String, u64>);

/// Operations that random programs do not have: beginnings of names, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("sdy.", "sharding says where values lie, not what they are"),
    ("check.", "an expectation computes nothing"),
    ("interpreter.", "runs other programs"),
    ("stablehlo.all_", "between processes"),
    ("stablehlo.collective_", "between processes"),
    ("stablehlo.cross-replica-sum", "between processes"),
    ("stablehlo.cross_replica_sum", "between processes"),
    ("stablehlo.partition_id", "between processes"),
    ("stablehlo.replica_id", "between processes"),
    ("stablehlo.reduce_scatter", "between processes"),
    ("stablehlo.send", "between processes"),
    ("stablehlo.recv", "between processes"),
    ("stablehlo.infeed", "with the host"),
    ("stablehlo.outfeed", "with the host"),
    ("stablehlo.async_", "runs other operations"),
    ("stablehlo.after_all", "tokens carry nothing"),
    ("stablehlo.create_token", "tokens carry nothing"),
    ("stablehlo.custom_call", "is outside the program"),
    ("stablehlo.rng", "its numbers are up to the engine"),
    ("stablehlo.set_dimension_size", "bounded sizes"),
    ("chlo._asin_acos_kernel", "a part of others"),
];

impl Coverage {
    /// Counts the operations of a module.
    pub fn add(&mut self, module: &Module) {
        let bodies = module
            .functions
            .iter()
            .filter_map(|(_, function)| function.body.as_ref());
        for (_, operation) in bodies.flat_map(|body| body.ops.iter()) {
            *self.0.entry(operation.op.name().to_owned()).or_default() += 1;
        }
    }

    /// The operations that random programs should have and that were not used.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let is_left_out = |name: &str| {
            let exact = name == "stablehlo.rng_bit_generator";
            !exact && LEFT_OUT.iter().any(|(prefix, _)| name.starts_with(prefix))
        };
        let names = OpSpec::all().map(|spec| spec.name);
        names
            .filter(|name| !self.0.contains_key(*name) && !is_left_out(name))
            .collect()
    }

    /// Names and numbers.
    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }
}
