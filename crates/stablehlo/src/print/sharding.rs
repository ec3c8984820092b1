//! Short forms of Shardy's operations (ODS: the assembly formats of `ops.td`).

use artifact_ir::attribute::sdy::{ReductionOp, TensorSharding};
use artifact_ir::module::{OpId, Operation};
use artifact_ir::op::{Op, Sharding};

use super::form::TypeSyntax::Results;
use super::operation::BodyPrinter;

impl BodyPrinter<'_> {
    /// An operation without regions.
    pub(super) fn sharding(&mut self, operation: &Operation, op: &Sharding) {
        match op {
            Sharding::Constant(constant) => {
                self.remaining_attributes(operation, &["value"]);
                self.writer.push(" ");
                self.writer.literal(&constant.value);
            }
            Sharding::ShardingConstraint(_) | Sharding::Reshard(_) => {
                self.spaced_operands(operation);
                self.writer.push(" ");
                self.bare_sharding(op);
                self.attributes_and_types(operation, &["sharding"], Results);
            }
            Sharding::DataFlowEdge(_) => {
                self.spaced_operands(operation);
                if op.out_sharding().is_some() {
                    self.writer.push(" sharding=");
                    self.bare_sharding(op);
                }
                self.attributes_and_types(operation, &["sharding"], Results);
            }
            Sharding::FuncDataFlowEdge => {
                self.spaced_operands(operation);
                self.attributes_and_types(operation, &[], Results);
            }
            Sharding::PropagationBarrier(barrier) => {
                self.spaced_operands(operation);
                let direction = barrier.allowed_direction.name();
                write!(self.writer, " allowed_direction={direction}");
                self.attributes_and_types(operation, &["allowed_direction"], Results);
            }
            Sharding::ShardingGroup(group) => {
                self.spaced_operands(operation);
                write!(self.writer, " group_id={}", group.group_id);
                self.remaining_attributes(operation, &["group_id"]);
                self.writer.push(" : ");
                self.type_list(&operation.operands);
            }
            Sharding::Return => {
                self.remaining_attributes(operation, &[]);
                if !operation.operands.is_empty() {
                    self.spaced_operands(operation);
                    self.writer.push(" : ");
                    self.type_list(&operation.operands);
                }
            }
            // These have a region.
            Sharding::ManualComputation(_) | Sharding::NamedComputation(_) => {}
            Sharding::AllGather(_)
            | Sharding::AllReduce(_)
            | Sharding::AllSlice(_)
            | Sharding::AllToAll(_)
            | Sharding::CollectivePermute(_)
            | Sharding::ReduceScatter(_)
            | Sharding::ReplicatedToUnreduced(_)
            | Sharding::ShardedToUnreduced(_) => self.sharded_collective(operation, op),
        }
    }

    /// ` [{"x"}, {}] %0 out_sharding=<...> : T`: the axes stand before the operand.
    fn sharded_collective(&mut self, operation: &Operation, op: &Sharding) {
        match op {
            Sharding::AllGather(op) => {
                self.writer.push(" ");
                self.writer.list_of_axis_ref_lists(&op.gathering_axes.0);
                self.out_sharding(operation, &op.out_sharding, "gathering_axes");
            }
            Sharding::AllSlice(op) => {
                self.writer.push(" ");
                self.writer.list_of_axis_ref_lists(&op.slicing_axes.0);
                self.out_sharding(operation, &op.out_sharding, "slicing_axes");
            }
            Sharding::AllToAll(op) => {
                self.writer.push(" ");
                self.writer.all_to_all_params(&op.params.0);
                self.out_sharding(operation, &op.out_sharding, "params");
            }
            Sharding::CollectivePermute(op) => self.out_sharding(operation, &op.out_sharding, ""),
            Sharding::AllReduce(op) => {
                self.reduction_op(op.reduction_op);
                self.writer.push(" ");
                self.writer.sdy_axes(&op.reduction_axes.0);
                self.out_sharding(operation, &op.out_sharding, "reduction_axes");
            }
            Sharding::ReduceScatter(op) => {
                self.reduction_op(op.reduction_op);
                self.writer.push(" ");
                self.writer.list_of_axis_ref_lists(&op.reduce_scatter_axes.0);
                self.out_sharding(operation, &op.out_sharding, "reduce_scatter_axes");
            }
            Sharding::ShardedToUnreduced(op) => {
                self.writer.push(" ");
                self.writer.list_of_axis_ref_lists(&op.axes.0);
                self.out_sharding(operation, &op.out_sharding, "axes");
            }
            Sharding::ReplicatedToUnreduced(op) => {
                self.writer.push(" ");
                self.writer.sdy_axes(&op.axes.0);
                self.out_sharding(operation, &op.out_sharding, "axes");
            }
            _ => {}
        }
    }

    fn bare_sharding(&mut self, op: &Sharding) {
        if let Some(sharding) = op.out_sharding() {
            self.writer.tensor_sharding(sharding);
        }
    }

    /// ` max`, nothing for a sum.
    fn reduction_op(&mut self, op: ReductionOp) {
        if op != ReductionOp::Sum {
            write!(self.writer, " {}", op.name());
        }
    }

    /// ` %0 out_sharding=<...> {...} : T`; the attribute `said` stands before.
    fn out_sharding(&mut self, operation: &Operation, sharding: &TensorSharding, said: &str) {
        self.spaced_operands(operation);
        self.writer.push(" out_sharding=");
        self.writer.tensor_sharding(sharding);
        self.attributes_and_types(operation, &["out_sharding", "reduction_op", said], Results);
    }

    /// `sdy.manual_computation(%0) in_shardings=[...] out_shardings=[...] manual_axes={"x"}`.
    pub(super) fn sharded_head(&mut self, operation: &Operation) {
        self.writer.push(operation.op.name());
        let (shardings, manual) = match &operation.op {
            Op::Sharding(Sharding::ManualComputation(op)) => {
                let shardings = [Some(&op.in_shardings), Some(&op.out_shardings)];
                (shardings, Some(&op.manual_axes))
            }
            Op::Sharding(Sharding::NamedComputation(op)) => {
                self.writer.push("<");
                self.writer.string(op.name.as_bytes());
                self.writer.push(">");
                ([op.in_shardings.as_ref(), op.out_shardings.as_ref()], None)
            }
            _ => ([None, None], None),
        };
        self.writer.push("(");
        self.operands(&operation.operands);
        self.writer.push(")");
        for (name, shardings) in ["in_shardings", "out_shardings"].into_iter().zip(shardings) {
            if let Some(shardings) = shardings {
                write!(self.writer, " {name}=");
                self.writer.shardings(&shardings.0);
            }
        }
        if let Some(manual) = manual {
            self.writer.push(" manual_axes={");
            self.writer
                .list(&manual.0, |writer, name| writer.string(name.as_bytes()));
            self.writer.push("}");
        }
    }

    /// ` (%arg1: tensor<2xf32>) {`.
    pub(super) fn sharded_arguments(&mut self, op: OpId) {
        let body = self.body;
        self.writer.push(" (");
        let region = body.ops[op].regions.first();
        if let Some(block) = region.and_then(|region| body.single_block(*region)) {
            let block = &body.blocks[block];
            for (index, argument) in block.arguments.iter().enumerate() {
                if index > 0 {
                    self.writer.push(", ");
                }
                let location = block.argument_locations.get(index).copied().unwrap_or_default();
                self.block_argument(*argument, location);
            }
        }
        self.writer.push(") {\n");
    }
}
