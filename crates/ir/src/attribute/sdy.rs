//! Attributes of the Shardy dialect, `sdy` (ODS: `attrs.td`, `enums.td`).
//!
//! Which axes of a mesh of devices divide which dimensions of a value. Axes, and references to them, are those of StableHLO.
//! What they may be together depends on the mesh, and is checked by [`crate::verify`].

use std::sync::Arc;

use super::codec::AttributeValue;
use super::{Attribute, AxisRef, ByteString, MeshAxis, SubAxisInfo};
use crate::types::ElementType;

/// Any attribute of the dialect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the attribute that it holds")]
pub enum SdyAttribute {
    ManualAxes(ManualAxes),
    MeshAxis(MeshAxis),
    Mesh(Mesh),
    SubAxisInfo(SubAxisInfo),
    AxisRef(AxisRef),
    DimensionSharding(DimensionSharding),
    TensorSharding(TensorSharding),
    TensorShardingPerValue(TensorShardingPerValue),
    DimMapping(DimMapping),
    TensorMapping(TensorMapping),
    OpShardingRule(Box<OpShardingRule>),
    AxisRefList(AxisRefList),
    ListOfAxisRefLists(ListOfAxisRefLists),
    AllToAllParam(AllToAllParam),
    AllToAllParamList(AllToAllParamList),
    EdgeValueRef(EdgeValueRef),
    AxisToPropagationDetails(AxisToPropagationDetails),
    PropagationOneStep(PropagationOneStep),
    PropagationEdges(PropagationEdges),
}

/// A named arrangement of devices.
///
/// Without axes it is empty, or stands for one device where `device_ids` names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// The axes, outermost first.
    pub axes: Vec<MeshAxis>,
    /// The order of devices, unless it is 0, 1, 2...
    pub device_ids: Vec<i64>,
}

impl Mesh {
    /// A mesh of these axes. Devices in the order 0, 1, 2... are left out where there are axes: that order is assumed.
    #[must_use]
    pub fn new(axes: Vec<MeshAxis>, device_ids: Vec<i64>) -> Self {
        let mut mesh = Self { axes, device_ids };
        let iota = mesh
            .device_ids
            .iter()
            .zip(0_i64..)
            .all(|(id, index)| *id == index);
        if iota && !mesh.axes.is_empty() && mesh.device_count() == Some(mesh.device_ids.len() as u64) {
            mesh.device_ids = Vec::new();
        }
        mesh
    }

    /// The only device, if the mesh is of one that it names.
    #[must_use]
    pub fn maximal_device(&self) -> Option<i64> {
        match (self.axes.as_slice(), self.device_ids.as_slice()) {
            ([], [device]) => Some(*device),
            _ => None,
        }
    }

    /// Number of devices: the product of the sizes of the axes. `None` where it does not fit, or a size is not positive.
    #[must_use]
    pub fn device_count(&self) -> Option<u64> {
        if self.axes.is_empty() {
            return Some(self.device_ids.len() as u64);
        }
        self.axes.iter().try_fold(1_u64, |count, axis| {
            let size = u64::try_from(axis.size).ok().filter(|size| *size > 0)?;
            count.checked_mul(size)
        })
    }
}

/// A mesh by name or in place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum MeshOrRef {
    Symbol(Arc<str>),
    Inline(Mesh),
}

/// The axes that divide a dimension, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DimensionSharding {
    /// The axes.
    pub axes: Vec<AxisRef>,
    /// Whether propagation may not add more.
    pub is_closed: bool,
    /// When propagation takes it into account, 0 first.
    pub priority: Option<i64>,
}

/// How devices combine what they hold of a value that is not reduced yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the cases are named as the dialect names them")]
pub enum ReductionOp {
    #[default]
    Sum,
    Max,
    Min,
}

/// Which way propagation may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the cases are named as the dialect names them")]
pub enum PropagationDirection {
    None,
    Forward,
    Backward,
    Both,
}

/// What an end of an edge is to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the cases are named as the dialect names them")]
pub enum EdgeNodeType {
    Operand,
    Result,
}

macro_rules! cases {
    ($($name:ident { $($variant:ident = $number:literal $text:literal,)* })*) => {$(
        impl $name {
            /// The dialect's spelling.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The case that the dialect spells so.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)* _ => None }
            }

            /// The number in the generic form and in bytecode.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self { $(Self::$variant => $number,)* }
            }

            /// The case with that number.
            #[must_use]
            pub const fn from_number(number: i128) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }
    )*};
}

cases! {
    ReductionOp { Sum = 0 "sum", Max = 1 "max", Min = 2 "min", }
    PropagationDirection { None = 0 "NONE", Forward = 1 "FORWARD", Backward = 2 "BACKWARD", Both = 3 "BOTH", }
    EdgeNodeType { Operand = 0 "operand", Result = 1 "result", }
}

/// How a value is divided over a mesh. On axes that are not named, devices hold copies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorSharding {
    /// The mesh.
    pub mesh: MeshOrRef,
    /// One entry a dimension.
    pub dim_shardings: Vec<DimensionSharding>,
    /// Axes on which devices must hold copies, in the order of the mesh.
    pub replicated_axes: Vec<AxisRef>,
    /// Axes on which devices hold parts of a reduction, in the order of the mesh.
    pub unreduced_axes: Vec<AxisRef>,
    /// The reduction; `Sum` where no axis is unreduced.
    pub reduction_op: ReductionOp,
}

/// The sharding of each operand or result of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorShardingPerValue(pub Vec<TensorSharding>);

/// Names of the axes on which a body is written for one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ManualAxes(pub Vec<ByteString>);

/// Axes of which none overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AxisRefList(pub Vec<AxisRef>);

/// A list of axes for each dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListOfAxisRefLists(pub Vec<AxisRefList>);

/// Axes that move from one dimension to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AllToAllParam {
    /// The axes.
    pub axes: Vec<AxisRef>,
    /// The dimension that they divide before.
    pub src_dim: i64,
    /// The dimension that they divide after.
    pub tgt_dim: i64,
}

/// All moves of an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AllToAllParamList(pub Vec<AllToAllParam>);

/// The factors that make a dimension, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DimMapping(pub Vec<i64>);

/// The factors of each dimension of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorMapping(pub Vec<DimMapping>);

/// How dimensions of the operands and results of an operation correspond.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpShardingRule {
    /// Size of each factor.
    pub factor_sizes: Vec<i64>,
    /// Factors of each operand.
    pub operand_mappings: Vec<TensorMapping>,
    /// Factors of each result.
    pub result_mappings: Vec<TensorMapping>,
    /// Factors that are reduced.
    pub reduction_factors: Vec<i64>,
    /// Factors that may not be divided.
    pub need_replication_factors: Vec<i64>,
    /// Factors that need communication between neighbours when they are divided.
    pub permutation_factors: Vec<i64>,
    /// Factors along which shardings do not propagate.
    pub blocked_propagation_factors: Vec<i64>,
    /// Whether it comes from the user.
    pub is_custom_rule: bool,
}

/// An operand or result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EdgeValueRef {
    /// Which of both.
    pub kind: EdgeNodeType,
    /// Its number.
    pub index: i64,
}

/// How an axis came to values of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AxisToPropagationDetails {
    /// The axis.
    pub axis: AxisRef,
    /// Where it was.
    pub source: EdgeValueRef,
    /// Where it went.
    pub targets: Vec<EdgeValueRef>,
}

/// What happened in one step of propagation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PropagationOneStep {
    /// The step.
    pub step_index: i64,
    /// Each axis that moved.
    pub axis_entries: Vec<AxisToPropagationDetails>,
}

/// The history of propagation through an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PropagationEdges(pub Vec<PropagationOneStep>);

impl TensorSharding {
    /// The sharding that divides nothing and is closed.
    #[must_use]
    pub fn replicated(mesh: MeshOrRef, rank: usize) -> Self {
        let dimension = DimensionSharding {
            is_closed: true,
            ..DimensionSharding::default()
        };
        Self {
            mesh,
            dim_shardings: vec![dimension; rank],
            replicated_axes: Vec::new(),
            unreduced_axes: Vec::new(),
            reduction_op: ReductionOp::Sum,
        }
    }
}

macro_rules! sdy_attribute_values {
    ($($ty:ident as $expected:literal,)*) => {$(
        impl AttributeValue for $ty {
            const EXPECTED: &'static str = $expected;

            fn from_attribute(attribute: &Attribute) -> Option<Self> {
                match attribute {
                    Attribute::Sdy(SdyAttribute::$ty(value)) => Some(value.clone()),
                    _ => None,
                }
            }

            fn to_attribute(&self) -> Attribute {
                Attribute::Sdy(SdyAttribute::$ty(self.clone()))
            }
        }
    )*};
}

sdy_attribute_values! {
    ManualAxes as "manual axes, `#sdy<manual_axes{...}>`",
    TensorSharding as "a sharding, `#sdy.sharding<...>`",
    TensorShardingPerValue as "a sharding for each value, `#sdy.sharding_per_value<...>`",
    Mesh as "a mesh, `#sdy.mesh<...>`",
    AxisRefList as "a list of axes, `#sdy<axis_ref_list{...}>`",
    ListOfAxisRefLists as "axes for each dimension, `#sdy<list_of_axis_ref_lists[...]>`",
    AllToAllParamList as "axes with dimensions, `#sdy<all_to_all_param_list[...]>`",
}

macro_rules! numbered_values {
    ($($ty:ident as $expected:literal,)*) => {$(
        impl AttributeValue for $ty {
            const EXPECTED: &'static str = $expected;

            fn from_attribute(attribute: &Attribute) -> Option<Self> {
                match attribute {
                    Attribute::Integer { value, ty: ElementType::I32 } => Self::from_number(*value),
                    _ => None,
                }
            }

            fn to_attribute(&self) -> Attribute {
                Attribute::Integer { value: i128::from(self.number()), ty: ElementType::I32 }
            }
        }
    )*};
}

numbered_values! {
    PropagationDirection as "a direction of propagation, an i32 of 0 to 3",
    ReductionOp as "a reduction, an i32 of 0 to 2",
}
