//! Attributes of the Shardy dialect (ODS: `attrs.td`).

use artifact_ir::attribute::sdy::{
    AllToAllParam, AxisRefList, AxisToPropagationDetails, DimMapping, DimensionSharding, EdgeValueRef, Mesh,
    MeshOrRef, OpShardingRule, PropagationOneStep, ReductionOp, SdyAttribute, TensorMapping, TensorSharding,
};
use artifact_ir::attribute::{AxisRef, MeshAxis, SubAxisInfo};

use super::writer::Writer;

/// Factors with a letter of their own: `i` to `z`. Later ones are `z_1`, `z_2` and so on.
const LETTERS: i64 = 18;

impl Writer {
    /// An attribute of the dialect, `#` included. What is not in angle brackets gets them around its name.
    pub(super) fn sdy_attribute(&mut self, attribute: &SdyAttribute) {
        use SdyAttribute as A;
        match attribute {
            A::Mesh(mesh) => {
                self.push("#sdy.mesh");
                self.sdy_mesh(mesh);
            }
            A::TensorSharding(sharding) => {
                self.push("#sdy.sharding");
                self.tensor_sharding(sharding);
            }
            A::TensorShardingPerValue(shardings) => {
                self.push("#sdy.sharding_per_value<");
                self.shardings(&shardings.0);
                self.push(">");
            }
            A::OpShardingRule(rule) => {
                self.push("#sdy.op_sharding_rule");
                self.op_sharding_rule(rule);
            }
            A::PropagationEdges(edges) => {
                self.push("#sdy.propagation_edges<[");
                self.list(&edges.0, Self::propagation_step);
                self.push("]>");
            }
            other => {
                self.push("#sdy<");
                self.sdy_unbracketed(other);
                self.push(">");
            }
        }
    }

    fn sdy_unbracketed(&mut self, attribute: &SdyAttribute) {
        use SdyAttribute as A;
        match attribute {
            // These have brackets of their own, and are written with them.
            A::Mesh(_)
            | A::TensorSharding(_)
            | A::TensorShardingPerValue(_)
            | A::OpShardingRule(_)
            | A::PropagationEdges(_) => {}
            A::ManualAxes(axes) => {
                self.push("manual_axes{");
                self.list(&axes.0, |writer, name| writer.string(name.as_bytes()));
                self.push("}");
            }
            A::MeshAxis(axis) => {
                self.push("mesh_axis");
                self.sdy_mesh_axis(axis);
            }
            A::SubAxisInfo(part) => {
                self.push("sub_axis_info");
                self.sdy_sub_axis(part);
            }
            A::AxisRef(axis) => {
                self.push("axis_ref");
                self.sdy_axis(axis);
            }
            A::DimensionSharding(sharding) => {
                self.push("dimension_sharding");
                self.dimension_sharding(sharding);
            }
            A::DimMapping(mapping) => {
                self.push("dim_mapping ");
                self.dim_mapping(mapping);
            }
            A::TensorMapping(mapping) => {
                self.push("tensor_mapping");
                self.tensor_mapping(mapping);
            }
            A::AxisRefList(list) => {
                self.push("axis_ref_list");
                self.sdy_axes(&list.0);
            }
            A::ListOfAxisRefLists(lists) => {
                self.push("list_of_axis_ref_lists");
                self.list_of_axis_ref_lists(&lists.0);
            }
            A::AllToAllParam(param) => {
                self.push("all_to_all_param");
                self.all_to_all_param(param);
            }
            A::AllToAllParamList(params) => {
                self.push("all_to_all_param_list");
                self.all_to_all_params(&params.0);
            }
            A::EdgeValueRef(value) => {
                self.push("edge_value_ref ");
                self.edge_value_ref(value);
            }
            A::AxisToPropagationDetails(details) => {
                self.push("axis_to_propagation_details");
                self.propagation_details(details);
            }
            A::PropagationOneStep(step) => {
                self.push("propagation_one_step");
                self.propagation_step(step);
            }
        }
    }

    /// `<["x"=2], device_ids=[1, 0]>`.
    pub(super) fn sdy_mesh(&mut self, mesh: &Mesh) {
        self.push("<[");
        self.list(&mesh.axes, Self::sdy_mesh_axis);
        self.push("]");
        if !mesh.device_ids.is_empty() {
            self.push(", device_ids=");
            self.numbers(&mesh.device_ids);
        }
        self.push(">");
    }

    fn sdy_mesh_axis(&mut self, axis: &MeshAxis) {
        self.string(axis.name.as_bytes());
        write!(self, "={}", axis.size);
    }

    fn sdy_sub_axis(&mut self, part: &SubAxisInfo) {
        write!(self, "({}){}", part.pre_size, part.size);
    }

    fn sdy_axis(&mut self, axis: &AxisRef) {
        self.string(axis.name.as_bytes());
        if let Some(part) = &axis.sub_axis_info {
            self.push(":");
            self.sdy_sub_axis(part);
        }
    }

    /// `{"x", "y":(1)2}`.
    pub(super) fn sdy_axes(&mut self, axes: &[AxisRef]) {
        self.push("{");
        self.list(axes, Self::sdy_axis);
        self.push("}");
    }

    /// `[{"x"}, {}]`.
    pub(super) fn list_of_axis_ref_lists(&mut self, lists: &[AxisRefList]) {
        self.push("[");
        self.list(lists, |writer, list| writer.sdy_axes(&list.0));
        self.push("]");
    }

    fn dimension_sharding(&mut self, sharding: &DimensionSharding) {
        self.push("{");
        self.list(&sharding.axes, Self::sdy_axis);
        if !sharding.is_closed {
            self.push(if sharding.axes.is_empty() { "?" } else { ", ?" });
        }
        self.push("}");
        if let Some(priority) = sharding.priority {
            write!(self, "p{priority}");
        }
    }

    /// `<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced=max{"z"}>`.
    pub(super) fn tensor_sharding(&mut self, sharding: &TensorSharding) {
        self.push("<");
        match &sharding.mesh {
            MeshOrRef::Symbol(name) => self.symbol(name.as_bytes()),
            MeshOrRef::Inline(mesh) => {
                self.push("mesh");
                self.sdy_mesh(mesh);
            }
        }
        self.push(", [");
        self.list(&sharding.dim_shardings, Self::dimension_sharding);
        self.push("]");
        if !sharding.replicated_axes.is_empty() {
            self.push(", replicated=");
            self.sdy_axes(&sharding.replicated_axes);
        }
        if !sharding.unreduced_axes.is_empty() {
            self.push(", unreduced=");
            if sharding.reduction_op != ReductionOp::Sum {
                self.push(sharding.reduction_op.name());
            }
            self.sdy_axes(&sharding.unreduced_axes);
        }
        self.push(">");
    }

    /// `[<@mesh, [...]>, ...]`.
    pub(super) fn shardings(&mut self, shardings: &[TensorSharding]) {
        self.push("[");
        self.list(shardings, Self::tensor_sharding);
        self.push("]");
    }

    fn all_to_all_param(&mut self, param: &AllToAllParam) {
        self.sdy_axes(&param.axes);
        write!(self, ": {}->{}", param.src_dim, param.tgt_dim);
    }

    /// `[{"x"}: 0->1]`.
    pub(super) fn all_to_all_params(&mut self, params: &[AllToAllParam]) {
        self.push("[");
        self.list(params, Self::all_to_all_param);
        self.push("]");
    }

    /// `i`, or `z_1` from the 19th on.
    fn factor(&mut self, factor: i64) {
        match u8::try_from(factor) {
            Ok(index) if factor < LETTERS => write!(self, "{}", char::from(b'i' + index)),
            _ => write!(self, "z_{}", factor.saturating_sub(LETTERS - 1)),
        }
    }

    fn dim_mapping(&mut self, mapping: &DimMapping) {
        mapping.0.iter().for_each(|factor| self.factor(*factor));
    }

    fn tensor_mapping(&mut self, mapping: &TensorMapping) {
        self.push("[");
        self.list(&mapping.0, Self::dim_mapping);
        self.push("]");
    }

    /// `<([i, k], [k, j])->([i, j]) {i=2, j=4, k=8} reduction={k}, custom>`.
    fn op_sharding_rule(&mut self, rule: &OpShardingRule) {
        self.push("<(");
        self.list(&rule.operand_mappings, Self::tensor_mapping);
        self.push(")->(");
        self.list(&rule.result_mappings, Self::tensor_mapping);
        self.push(")");
        if !rule.factor_sizes.is_empty() {
            self.push(" {");
            self.list((0..).zip(&rule.factor_sizes), |writer, (factor, size)| {
                writer.factor(factor);
                write!(writer, "={size}");
            });
            self.push("}");
        }
        for (name, factors) in [
            ("reduction", &rule.reduction_factors),
            ("need_replication", &rule.need_replication_factors),
            ("permutation", &rule.permutation_factors),
            ("blocked_propagation", &rule.blocked_propagation_factors),
        ] {
            if !factors.is_empty() {
                write!(self, " {name}={{");
                self.list(factors, |writer, factor| writer.factor(*factor));
                self.push("}");
            }
        }
        if rule.is_custom_rule {
            self.push(", custom");
        }
        self.push(">");
    }

    fn edge_value_ref(&mut self, value: &EdgeValueRef) {
        write!(self, "{}-{}", value.kind.name(), value.index);
    }

    fn propagation_details(&mut self, details: &AxisToPropagationDetails) {
        self.push("{");
        self.sdy_axis(&details.axis);
        self.push(" = ");
        self.edge_value_ref(&details.source);
        self.push(" -> [");
        self.list(&details.targets, Self::edge_value_ref);
        self.push("]}");
    }

    fn propagation_step(&mut self, step: &PropagationOneStep) {
        write!(self, "{{step-{} = [", step.step_index);
        self.list(&step.axis_entries, Self::propagation_details);
        self.push("]}");
    }
}
