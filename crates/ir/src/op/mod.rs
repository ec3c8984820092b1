//! Operations: one enum a family, one struct for each operation's attributes.
//!
//! What an operation is called, how many operands, results and regions it takes, and how its attributes are read, stands in
//! one row of its family's table ([`OpSpec`]). Everything that is generic over operations (parsers, printers, the verifier,
//! digests) works from those rows; everything that is not matches on the family's enum without a wildcard, so that a new
//! operation does not compile until it has been thought of everywhere.

mod chlo;
mod collective;
mod contraction;
mod control;
mod creation;
mod elementwise;
mod indexing;
mod linalg;
mod reduction;
mod shape;
mod sharding;
mod testing;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

pub use chlo::{
    BroadcastBinary, BroadcastCompare, Chlo, ChloConstant, ChloConstantLike, ChloScan, RaggedDot, TopK,
};
pub use collective::{
    AllGather, AllReduce, AllToAll, Collective, CollectiveBroadcast, CollectivePermute, CollectiveReduce,
    CrossReplicaSum, Infeed, Outfeed, Recv, ReduceScatter, Send,
};
pub use contraction::{Contraction, Convolution, Dot, DotGeneral, Einsum};
pub use control::{Call, Composite, Control, CustomCall, GetTupleElement};
pub use creation::{Constant, Creation, Iota, Rng, RngBitGenerator};
pub use elementwise::{Binary, Compare, Elementwise, ReducePrecision, Transcendental, Unary};
pub use indexing::{DynamicGather, Gather, Indexing, Scatter, TorchIndexSelect};
pub use linalg::{BatchNorm, Cholesky, Fft, Linalg, TriangularSolve};
pub use reduction::{Map, Reduce, ReduceWindow, Reduction, SelectAndScatter, Sort};
pub use shape::{
    Broadcast, BroadcastInDim, Concatenate, DimensionSize, DynamicBroadcastInDim, DynamicSlice, Pad, Reverse,
    Shape, Slice, Transpose,
};
pub use sharding::{
    DataFlowEdge, ManualComputation, NamedComputation, PropagationBarrier, ReplicatedToUnreduced, Reshard,
    ShardedAllGather, ShardedAllReduce, ShardedAllSlice, ShardedAllToAll, ShardedCollectivePermute,
    ShardedReduceScatter, ShardedToUnreduced, Sharding, ShardingConstraint, ShardingGroup,
};
pub use testing::{
    ExpectAlmostEq, ExpectAlmostEqConst, ExpectClose, ExpectConst, Probe, RunParallel, Testing,
};

use crate::attribute::{AttributeError, AttributeReader, AttributeWriter, NamedAttributes};
use crate::custom_call::{self, Effects};

/// How many operands, results or regions an operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Count {
    /// The smallest number allowed.
    pub min: usize,
    /// The largest number allowed; `None` for any.
    pub max: Option<usize>,
}

impl Count {
    /// Whether `count` is allowed.
    #[must_use]
    pub fn allows(self, count: usize) -> bool {
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max {
            Some(max) if max == self.min => write!(f, "{max}"),
            Some(max) => write!(f, "{} to {max}", self.min),
            None => write!(f, "{} or more", self.min),
        }
    }
}

/// Exactly `count`.
pub(crate) const fn n(count: usize) -> Count {
    Count {
        min: count,
        max: Some(count),
    }
}

/// `min` or more.
pub(crate) const fn from(min: usize) -> Count {
    Count { min, max: None }
}

/// The attributes of one operation, typed.
pub(crate) trait OpAttributes: Sized {
    /// Takes the operation's own attributes.
    fn read(reader: &mut AttributeReader<'_>) -> Result<Self, AttributeError>;

    /// Gives the operation's own attributes, defaults left out.
    fn write(&self, writer: &mut AttributeWriter);
}

impl<T: OpAttributes> OpAttributes for Box<T> {
    fn read(reader: &mut AttributeReader<'_>) -> Result<Self, AttributeError> {
        T::read(reader).map(Self::new)
    }

    fn write(&self, writer: &mut AttributeWriter) {
        (**self).write(writer);
    }
}

/// One row of the table of operations.
#[derive(Debug)]
pub struct OpSpec {
    /// Full name, dialect included: `stablehlo.add`.
    pub name: &'static str,
    /// Number of operands.
    pub operands: Count,
    /// Number of results.
    pub results: Count,
    /// Number of regions.
    pub regions: Count,
    read: fn(&mut AttributeReader<'_>) -> Result<Op, AttributeError>,
}

impl OpSpec {
    /// The row of the operation called `name`; `None` for one that we do not know.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        static BY_NAME: LazyLock<HashMap<&'static str, &'static OpSpec>> =
            LazyLock::new(|| OpSpec::all().map(|spec| (spec.name, spec)).collect());
        BY_NAME.get(name).copied()
    }

    /// Reads the operation's attributes out of `attributes`; what is left there is discardable.
    ///
    /// # Errors
    /// [`AttributeError`] when an attribute is missing or of the wrong form.
    pub fn read(&self, attributes: &mut NamedAttributes) -> Result<Op, AttributeError> {
        (self.read)(&mut AttributeReader::new(attributes))
    }
}

/// Declares a family: its enum and its rows.
macro_rules! op_family {
    ($(#[$meta:meta])* $family:ident {$(
        $(#[$variant_meta:meta])*
        $variant:ident $(($payload:ty))? = $name:literal: $operands:expr => $results:expr $(; regions $regions:expr)?,
    )*}) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $family { $($(#[$variant_meta])* $variant $(($payload))?,)* }

        impl $family {
            /// The rows of this family, in order of the variants.
            pub(crate) const SPECS: &'static [$crate::op::OpSpec] = &[$($crate::op::OpSpec {
                name: $name,
                operands: $operands,
                results: $results,
                regions: $crate::op::op_family!(@regions $($regions)?),
                read: $crate::op::op_family!(@read $family $variant $($payload)?),
            },)*];

            /// The row of this operation.
            #[must_use]
            pub const fn spec(&self) -> &'static $crate::op::OpSpec {
                &Self::SPECS[self.index()]
            }

            const fn index(&self) -> usize {
                #[derive(Clone, Copy)]
                enum Position { $($variant,)* }
                match self {
                    $($crate::op::op_family!(@pattern $family $variant $($payload)?) => Position::$variant as usize,)*
                }
            }

            pub(crate) fn write(&self, writer: &mut $crate::attribute::AttributeWriter) {
                match self {
                    $($crate::op::op_family!(@bind $family $variant payload $($payload)?) => {
                        $crate::op::op_family!(@write writer payload $($payload)?)
                    })*
                }
            }
        }
    };
    (@regions) => { $crate::op::n(0) };
    (@regions $regions:expr) => { $regions };
    (@read $family:ident $variant:ident) => { |_| Ok($crate::op::Op::$family($family::$variant)) };
    (@read $family:ident $variant:ident $payload:ty) => {
        |reader| {
            let payload = <$payload as $crate::op::OpAttributes>::read(reader)?;
            Ok($crate::op::Op::$family($family::$variant(payload)))
        }
    };
    (@pattern $family:ident $variant:ident) => { $family::$variant };
    (@pattern $family:ident $variant:ident $payload:ty) => { $family::$variant(_) };
    (@bind $family:ident $variant:ident $binding:ident) => { $family::$variant };
    (@bind $family:ident $variant:ident $binding:ident $payload:ty) => { $family::$variant($binding) };
    (@write $writer:ident $binding:ident) => { { let _: &mut $crate::attribute::AttributeWriter = $writer; } };
    (@write $writer:ident $binding:ident $payload:ty) => {
        $crate::op::OpAttributes::write($binding, $writer)
    };
}
pub(crate) use op_family;

macro_rules! families {
    ($($(#[$meta:meta])* $family:ident,)*) => {
        /// An operation: what it does and its own attributes, without operands, results and regions.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $($(#[$meta])* $family($family),)*
            /// An operation of a dialect that we do not know. It is carried, never executed.
            Foreign(Box<ForeignOp>),
        }

        impl OpSpec {
            /// Every row.
            pub fn all() -> impl Iterator<Item = &'static Self> {
                let families: &[&'static [Self]] = &[$($family::SPECS,)*];
                families.to_vec().into_iter().flatten()
            }
        }

        impl Op {
            /// The row of this operation; `None` for a foreign one.
            #[must_use]
            pub const fn spec(&self) -> Option<&'static OpSpec> {
                match self {
                    $(Self::$family(op) => Some(op.spec()),)*
                    Self::Foreign(_) => None,
                }
            }

            /// The operation's own attributes by name, those at their default left out.
            #[must_use]
            pub fn attributes(&self) -> NamedAttributes {
                let mut writer = AttributeWriter::default();
                match self {
                    $(Self::$family(op) => op.write(&mut writer),)*
                    Self::Foreign(op) => return op.properties.clone(),
                }
                writer.finish()
            }
        }

        $(impl From<$family> for Op {
            fn from(op: $family) -> Self {
                Self::$family(op)
            }
        })*
    };
}

families! {
    /// One operand, element by element.
    Unary,
    /// Two operands of one shape, element by element.
    Binary,
    /// Other operations that work element by element, conversions among them.
    Elementwise,
    /// Values out of nothing or out of a shape.
    Creation,
    /// Data movement that depends on shapes and small attributes only.
    Shape,
    /// Data movement that depends on index operands.
    Indexing,
    /// Operations that apply a region over elements or windows.
    Reduction,
    /// Products: dot and convolution.
    Contraction,
    /// Factorisations, FFT and batch normalisation.
    Linalg,
    /// Control flow, calls, tuples and tokens.
    Control,
    /// Communication between processes and with the host.
    Collective,
    /// Client-level operations (CHLO).
    Chlo,
    /// Sharding of values over a mesh of devices (Shardy).
    Sharding,
    /// The dialects of the specification's own tests: `check` and `interpreter`.
    Testing,
}

impl Op {
    /// Full name, dialect included.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Foreign(op) => &op.name,
            other => other.spec().map_or("", |spec| spec.name),
        }
    }

    /// Whether it does nothing besides computing its results, its regions apart: it may be left out where nobody uses them. A
    /// call is not, since that is up to its callee; nor is a loop, which may have no end.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        match self {
            Self::Unary(_)
            | Self::Binary(_)
            | Self::Elementwise(_)
            | Self::Shape(_)
            | Self::Indexing(_)
            | Self::Reduction(_)
            | Self::Contraction(_)
            | Self::Linalg(_)
            | Self::Chlo(_) => true,
            Self::Creation(op) => !matches!(op, Creation::Rng(_)),
            Self::Control(Control::CustomCall(call)) => {
                let target = call.call_target_name.as_str().and_then(custom_call::find);
                !call.has_side_effect && target.is_some_and(|target| target.effects == Effects::None)
            }
            Self::Control(op) => matches!(
                op,
                Control::Case | Control::If | Control::GetTupleElement(_) | Control::Tuple
            ),
            // As upstream has it: the others are kept for what they say, although they compute nothing else.
            Self::Sharding(op) => matches!(
                op,
                Sharding::Constant(_)
                    | Sharding::ManualComputation(_)
                    | Sharding::NamedComputation(_)
                    | Sharding::PropagationBarrier(_)
                    | Sharding::Reshard(_)
            ),
            Self::Collective(_) | Self::Testing(_) | Self::Foreign(_) => false,
        }
    }

    /// Whether no region of it may use a value from outside (ODS: `IsolatedFromAbove`).
    #[must_use]
    pub const fn is_isolated(&self) -> bool {
        matches!(
            self,
            Self::Control(Control::AsyncStart)
                | Self::Chlo(Chlo::Scan(_))
                | Self::Sharding(Sharding::ManualComputation(_) | Sharding::NamedComputation(_))
        )
    }

    /// Whether it ends a block.
    #[must_use]
    pub fn is_terminator(&self) -> bool {
        match self {
            Self::Control(Control::Return | Control::FuncReturn) | Self::Sharding(Sharding::Return) => true,
            Self::Foreign(op) => op.terminator,
            _ => false,
        }
    }
}

/// An operation that we know by name only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForeignOp {
    /// Full name, dialect included.
    pub name: Arc<str>,
    /// What stood in `<{...}>`.
    pub properties: NamedAttributes,
    /// Whether it was the last operation of a region that needs a terminator of this dialect.
    pub terminator: bool,
}

/// Whether every value is 1: strides and dilations that change nothing.
pub(crate) fn all_ones(values: &[i64]) -> bool {
    values.iter().all(|value| *value == 1)
}

/// Whether every value is false.
pub(crate) fn all_false(values: &[bool]) -> bool {
    values.iter().all(|value| !*value)
}

#[cfg(test)]
mod tests;
