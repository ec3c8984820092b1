//! An exported function.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_dims::Variable;

use crate::aval::{AbstractValue, Dimension};
use crate::sharding::Sharding;
use crate::tree::PyTree;

/// Everything that a file of `jax.export` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// What the file says about its schema.
    pub serialization_version: SerializationVersion,
    /// The release of JAX that wrote the file; files of schemas before 12 do not say.
    pub jax_version: Option<String>,
    /// The name of the function.
    pub function_name: String,
    /// What it takes: the tree is a tuple of the positional arguments, a tuple, and the keyword arguments, a dictionary.
    pub inputs: Values,
    /// What it returns.
    pub outputs: Values,
    /// The number of devices that it was exported for.
    pub devices: NonZeroU32,
    /// Such as `cpu`. Where there are several, `main` takes the position of the one it runs on.
    pub platforms: Vec<String>,
    /// Effects for which `main` takes and returns a token each.
    pub ordered_effects: Vec<Effect>,
    /// Effects without tokens.
    pub unordered_effects: Vec<Effect>,
    /// Checks that the exporter waived.
    pub disabled_checks: Vec<DisabledCheck>,
    /// The program, as portable bytecode of StableHLO: a view of the file.
    pub module: Blob,
    /// How `main` of the program is called.
    pub calling_convention_version: CallingConventionVersion,
    /// The leaves of `inputs` that `main` takes, ascending.
    pub module_kept_var_idx: Vec<u16>,
    /// Whether the program uses the sizes of its arguments or the platform, so that shapes are refined before it is compiled.
    pub uses_global_constants: bool,
    /// The function of gradients, if it was exported too: from the leaves of `inputs` and the gradients of `outputs` to
    /// the gradients of `inputs`.
    pub vjp: Option<Box<Exported>>,
}

impl Exported {
    /// The number of functions of gradients within one another.
    #[must_use]
    pub fn vjp_order(&self) -> usize {
        std::iter::successors(self.vjp.as_deref(), |vjp| vjp.vjp.as_deref()).count()
    }

    /// The named sizes in the shapes of the inputs. Those of the outputs are among them.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<Variable> {
        self.inputs
            .dimensions()
            .flat_map(|dimension| dimension.expr().variables())
            .collect()
    }
}

/// Arguments or results: how they are nested in Python, and what each is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// How they are nested.
    pub tree: PyTree,
    /// One for each leaf of `tree`, in order.
    pub leaves: Vec<Leaf>,
}

impl Values {
    /// The dimensions of all leaves, those that are one object once: a small file may have a million leaves of one type.
    pub(crate) fn dimensions(&self) -> impl Iterator<Item = &Dimension> {
        let (mut avals, mut texts) = (HashSet::new(), HashSet::new());
        let leaves = self.leaves.iter().map(|leaf| &leaf.aval);
        leaves
            .filter(move |aval| avals.insert(Arc::as_ptr(aval)))
            .flat_map(|aval| &aval.shape)
            .filter(move |dimension| texts.insert(dimension.text().as_ptr()))
    }
}

/// One argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its type. Equal ones may be shared.
    pub aval: Arc<AbstractValue>,
    /// How it is laid out.
    pub sharding: Sharding,
}

/// A side effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The Python class, as `str` prints it, such as `<class 'jax._src.debugging.DebugEffect'>`.
    pub type_name: String,
}

/// A check that the exporter waived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisabledCheck {
    /// That the program runs on a platform that it was exported for.
    Platform,
    /// That a target of custom calls is known to be stable; `ALL` for every target.
    CustomCall(String),
    /// That shapes are as asserted. JAX does not read files that say so.
    ShapeAssertions,
}

/// What a file says about its schema.
///
/// Until July 2026 JAX wrote 1, then 2 for the schemas 2 to 4 and 3 for the schemas 5 to 11, because older readers refused
/// other numbers. So 3 does not tell what a file holds. The history of the schema:
/// 1, November 2023, the first.
/// 2, December 2023, `float0`.
/// 3, October 2024, named tuples and custom nodes.
/// 4, April 2025, keys of random generators.
/// 5, November 2025, memory spaces, and numbers of devices of 32 bits.
/// 6, January 2026, named shardings beside HLO shardings.
/// 7, March 2026, withdrawn.
/// 8, March 2026, kinds of devices of meshes.
/// 9, March 2026, no HLO shardings.
/// 10, April 2026, each type, mesh and sharding once.
/// 11, May 2026, platforms of devices.
/// 12, July 2026, the release of JAX; this number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SerializationVersion(pub u16);

impl SerializationVersion {
    /// The newest that this crate knows, which it also writes.
    pub const NEWEST: Self = Self(12);
}

impl fmt::Display for SerializationVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How `main` of a program is called: 9 or 10 in files that JAX still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallingConventionVersion(pub u16);

impl fmt::Display for CallingConventionVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
