//! Encoding of attributes of the Shardy dialect. A mesh counts by what it is, not by its name.

use artifact_core::canonical::Encoder;
use artifact_core::digest::{Digest, Domain};

use super::Scheme;
use super::attributes::{axis_ref, i64s, mesh_axis, sub_axis};
use crate::attribute::sdy::{
    AllToAllParam, AllToAllParamList, AxisRefList, AxisToPropagationDetails, DimMapping, DimensionSharding,
    EdgeValueRef, ListOfAxisRefLists, ManualAxes, Mesh, MeshOrRef, OpShardingRule, PropagationEdges,
    PropagationOneStep, SdyAttribute, TensorMapping, TensorSharding, TensorShardingPerValue,
};
use crate::attribute::{AxisRef, NamedAttributes};
use crate::module::MeshId;

const MESH_DOMAIN: Domain = Domain::new("artifact program mesh v1");

impl Scheme<'_> {
    pub(super) fn sdy(&mut self, attribute: &SdyAttribute) {
        match attribute {
            SdyAttribute::Mesh(mesh) => self.inline_mesh(mesh),
            SdyAttribute::TensorSharding(sharding) => self.tensor_sharding(sharding),
            SdyAttribute::TensorShardingPerValue(TensorShardingPerValue(shardings)) => {
                self.encoder.text("sdy sharding_per_value");
                self.encoder.count(shardings.len());
                shardings
                    .iter()
                    .for_each(|sharding| self.tensor_sharding(sharding));
            }
            other => without_mesh(&mut self.encoder, other),
        }
    }

    fn tensor_sharding(&mut self, sharding: &TensorSharding) {
        let TensorSharding {
            mesh,
            dim_shardings,
            replicated_axes,
            unreduced_axes,
            reduction_op,
        } = sharding;
        self.encoder.text("sdy sharding");
        match mesh {
            MeshOrRef::Inline(mesh) => self.inline_mesh(mesh),
            MeshOrRef::Symbol(name) => match self.module.mesh(name) {
                Some(id) => self.named_mesh(id),
                None => {
                    self.encoder.text("symbol");
                    self.encoder.text(name);
                }
            },
        }
        self.encoder.sequence(dim_shardings.iter(), dimension_sharding);
        self.encoder.sequence(replicated_axes.iter(), axis_ref);
        self.encoder.sequence(unreduced_axes.iter(), axis_ref);
        self.encoder.text(reduction_op.name());
    }

    /// A mesh that has a name, by what it is. Its digest is kept: a mesh may be large, and many shardings may name it.
    pub(super) fn named_mesh(&mut self, id: MeshId) {
        let module = self.module;
        let known = self.meshes.get(&id).copied();
        let digest = known.unwrap_or_else(|| {
            let global = &module.meshes[id];
            self.mesh_digest(&global.mesh, &global.attributes)
        });
        self.meshes.insert(id, digest);
        self.encoder.text("sdy mesh");
        self.encoder.digest(&digest);
    }

    fn inline_mesh(&mut self, mesh: &Mesh) {
        let digest = self.mesh_digest(mesh, &NamedAttributes::new());
        self.encoder.text("sdy mesh");
        self.encoder.digest(&digest);
    }

    fn mesh_digest(&mut self, mesh: &Mesh, attributes: &NamedAttributes) -> Digest {
        let Mesh { axes, device_ids } = mesh;
        let outer = std::mem::replace(&mut self.encoder, Encoder::new(MESH_DOMAIN));
        self.encoder.sequence(axes.iter(), mesh_axis);
        i64s(&mut self.encoder, device_ids);
        self.discardable(attributes);
        std::mem::replace(&mut self.encoder, outer).finish()
    }
}

fn without_mesh(encoder: &mut Encoder, attribute: &SdyAttribute) {
    match attribute {
        // These hold meshes, and are encoded with their module.
        SdyAttribute::Mesh(_) | SdyAttribute::TensorSharding(_) | SdyAttribute::TensorShardingPerValue(_) => {
        }
        SdyAttribute::ManualAxes(ManualAxes(axes)) => {
            encoder.text("sdy manual_axes");
            encoder.sequence(axes.iter(), |encoder, name| encoder.bytes(name.as_bytes()));
        }
        SdyAttribute::MeshAxis(axis) => {
            encoder.text("sdy");
            mesh_axis(encoder, axis);
        }
        SdyAttribute::SubAxisInfo(info) => {
            encoder.text("sdy sub_axis_info");
            sub_axis(encoder, info);
        }
        SdyAttribute::AxisRef(axis) => {
            encoder.text("sdy");
            axis_ref(encoder, axis);
        }
        SdyAttribute::DimensionSharding(sharding) => {
            encoder.text("sdy dimension_sharding");
            dimension_sharding(encoder, sharding);
        }
        SdyAttribute::DimMapping(mapping) => {
            encoder.text("sdy dim_mapping");
            dim_mapping(encoder, mapping);
        }
        SdyAttribute::TensorMapping(mapping) => {
            encoder.text("sdy tensor_mapping");
            tensor_mapping(encoder, mapping);
        }
        SdyAttribute::OpShardingRule(rule) => op_sharding_rule(encoder, rule),
        SdyAttribute::AxisRefList(AxisRefList(axes)) => {
            encoder.text("sdy axis_ref_list");
            axis_refs(encoder, axes);
        }
        SdyAttribute::ListOfAxisRefLists(ListOfAxisRefLists(lists)) => {
            encoder.text("sdy list_of_axis_ref_lists");
            encoder.sequence(lists.iter(), |encoder, list| axis_refs(encoder, &list.0));
        }
        SdyAttribute::AllToAllParam(param) => {
            encoder.text("sdy all_to_all_param");
            all_to_all_param(encoder, param);
        }
        SdyAttribute::AllToAllParamList(AllToAllParamList(params)) => {
            encoder.text("sdy all_to_all_param_list");
            encoder.sequence(params.iter(), all_to_all_param);
        }
        SdyAttribute::EdgeValueRef(value) => {
            encoder.text("sdy edge_value_ref");
            edge_value_ref(encoder, value);
        }
        SdyAttribute::AxisToPropagationDetails(details) => {
            encoder.text("sdy axis_to_propagation_details");
            propagation_details(encoder, details);
        }
        SdyAttribute::PropagationOneStep(step) => {
            encoder.text("sdy propagation_one_step");
            propagation_step(encoder, step);
        }
        SdyAttribute::PropagationEdges(PropagationEdges(steps)) => {
            encoder.text("sdy propagation_edges");
            encoder.sequence(steps.iter(), propagation_step);
        }
    }
}

fn axis_refs(encoder: &mut Encoder, axes: &[AxisRef]) {
    encoder.sequence(axes.iter(), axis_ref);
}

fn dimension_sharding(encoder: &mut Encoder, sharding: &DimensionSharding) {
    let DimensionSharding {
        axes,
        is_closed,
        priority,
    } = sharding;
    axis_refs(encoder, axes);
    encoder.bool(*is_closed);
    encoder.option(*priority, Encoder::i64);
}

fn dim_mapping(encoder: &mut Encoder, mapping: &DimMapping) {
    i64s(encoder, &mapping.0);
}

fn tensor_mapping(encoder: &mut Encoder, mapping: &TensorMapping) {
    encoder.sequence(mapping.0.iter(), dim_mapping);
}

fn op_sharding_rule(encoder: &mut Encoder, rule: &OpShardingRule) {
    let OpShardingRule {
        factor_sizes,
        operand_mappings,
        result_mappings,
        reduction_factors,
        need_replication_factors,
        permutation_factors,
        blocked_propagation_factors,
        is_custom_rule,
    } = rule;
    encoder.text("sdy op_sharding_rule");
    i64s(encoder, factor_sizes);
    encoder.sequence(operand_mappings.iter(), tensor_mapping);
    encoder.sequence(result_mappings.iter(), tensor_mapping);
    i64s(encoder, reduction_factors);
    i64s(encoder, need_replication_factors);
    i64s(encoder, permutation_factors);
    i64s(encoder, blocked_propagation_factors);
    encoder.bool(*is_custom_rule);
}

fn all_to_all_param(encoder: &mut Encoder, param: &AllToAllParam) {
    let AllToAllParam {
        axes,
        src_dim,
        tgt_dim,
    } = param;
    axis_refs(encoder, axes);
    i64s(encoder, &[*src_dim, *tgt_dim]);
}

fn edge_value_ref(encoder: &mut Encoder, value: &EdgeValueRef) {
    let EdgeValueRef { kind, index } = value;
    encoder.text(kind.name());
    encoder.i64(*index);
}

fn propagation_details(encoder: &mut Encoder, details: &AxisToPropagationDetails) {
    let AxisToPropagationDetails {
        axis,
        source,
        targets,
    } = details;
    axis_ref(encoder, axis);
    edge_value_ref(encoder, source);
    encoder.sequence(targets.iter(), edge_value_ref);
}

fn propagation_step(encoder: &mut Encoder, step: &PropagationOneStep) {
    let PropagationOneStep {
        step_index,
        axis_entries,
    } = step;
    encoder.i64(*step_index);
    encoder.sequence(axis_entries.iter(), propagation_details);
}
