//! Sharding over a mesh (the Shardy dialect).
//!
//! One process sees whole values, on which most operations of the dialect are the identity: they say where parts are. A manual
//! computation is written for one device along some axes; it is run as a grid with a process for each device of its mesh, on
//! the parts of its operands, and the parts of its results are joined.

use std::collections::HashMap;

use artifact_ir::attribute::ByteString;
use artifact_ir::attribute::sdy::{Mesh, TensorSharding};
use artifact_ir::module::Operation;
use artifact_ir::op::{ManualComputation, Sharding};

use crate::error::EvalError;
use crate::interpreter::{Frame, Process};
use crate::shape::{join_along, part_along};
use crate::tensor::Tensor;
use crate::value::Value;

/// Runs an operation of the family.
pub(crate) fn run<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    sharding: &Sharding,
) -> Result<Vec<Value>, EvalError> {
    match sharding {
        Sharding::AllGather(_)
        | Sharding::AllReduce(_)
        | Sharding::AllSlice(_)
        | Sharding::AllToAll(_)
        | Sharding::CollectivePermute(_)
        | Sharding::DataFlowEdge(_)
        | Sharding::FuncDataFlowEdge
        | Sharding::PropagationBarrier(_)
        | Sharding::ReduceScatter(_)
        | Sharding::ReplicatedToUnreduced(_)
        | Sharding::Reshard(_)
        | Sharding::ShardedToUnreduced(_)
        | Sharding::ShardingConstraint(_) => frame.operands(op),
        Sharding::ShardingGroup(_) => Ok(Vec::new()),
        Sharding::Constant(constant) => Ok(vec![Value::Tensor(Tensor::from_literal(&constant.value)?)]),
        Sharding::NamedComputation(_) => {
            let operands = frame.operands(op)?;
            process.region(frame, op.regions[0], operands)
        }
        Sharding::ManualComputation(manual) => manual_computation(process, frame, op, manual),
        Sharding::Return => Err(EvalError::runtime("sdy.return is not at the end of its block")),
    }
}

fn manual_computation<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    manual: &ManualComputation,
) -> Result<Vec<Value>, EvalError> {
    let operands = frame.operands(op)?;
    let shardings = manual.in_shardings.0.iter().chain(&manual.out_shardings.0);
    let meshes = shardings.filter_map(|sharding| process.module.resolve_mesh(&sharding.mesh));
    let mesh = meshes.into_iter().find(|mesh| !mesh.axes.is_empty());
    let Some(mesh) = mesh.filter(|_| !manual.manual_axes.0.is_empty()) else {
        // Manual on no axis: the body sees whole values.
        return process.region(frame, op.regions[0], operands);
    };
    if process.grid.len() > 1 {
        return Err(EvalError::unsupported(
            "a manual computation inside another one, or in one process of a grid, is not evaluated",
        ));
    }
    let devices = Devices::new(mesh, &manual.manual_axes.0)?;
    let grid = process
        .grid
        .of_devices(devices.count, frame.body, op.regions[0])?;
    let inputs = (0..devices.count)
        .map(|device| {
            let values = operands.iter().zip(&manual.in_shardings.0);
            values
                .map(|(value, sharding)| devices.part(value, sharding, device))
                .collect()
        })
        .collect::<Result<Vec<Vec<Value>>, EvalError>>()?;
    let outputs = grid.run(inputs)?;
    let joined = manual.out_shardings.0.iter().enumerate();
    joined
        .map(|(index, sharding)| devices.join(&outputs, index, sharding))
        .collect()
}

/// The devices of a mesh, of which some axes are manual. A process has the number of its device.
struct Devices {
    count: usize,
    /// Position in the mesh of each device.
    positions: Vec<usize>,
    /// Of the manual axes: the product of the sizes of the axes inside, and their own size.
    axes: HashMap<ByteString, (usize, usize)>,
}

/// The part of each divided dimension that a device has: which of how many.
type Parts = Vec<(usize, usize)>;

impl Devices {
    fn new(mesh: &Mesh, manual: &[ByteString]) -> Result<Self, EvalError> {
        let invalid = || EvalError::invalid_input("a mesh has too many devices, or numbers them wrongly");
        let count = mesh.device_count().and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(invalid)?;
        crate::grid::check_size(count)?;
        let mut positions: Vec<usize> = (0..count).collect();
        for (position, device) in mesh.device_ids.iter().enumerate() {
            let slot = usize::try_from(*device)
                .ok()
                .and_then(|device| positions.get_mut(device));
            *slot.ok_or_else(invalid)? = position;
        }
        let (mut axes, mut inside) = (HashMap::new(), 1);
        for axis in mesh.axes.iter().rev() {
            let size = usize::try_from(axis.size).map_err(|_| invalid())?;
            if manual.contains(&axis.name) {
                axes.insert(axis.name.clone(), (inside, size));
            }
            inside *= size;
        }
        Ok(Self {
            count,
            positions,
            axes,
        })
    }

    /// Which part of each dimension a device has.
    fn parts(&self, sharding: &TensorSharding, device: usize) -> Result<Parts, EvalError> {
        let unreduced = sharding
            .unreduced_axes
            .iter()
            .any(|axis| self.axes.contains_key(&axis.name));
        if unreduced {
            return Err(EvalError::unsupported(
                "a manual computation on values that are unreduced on its axes is not evaluated",
            ));
        }
        let dims = sharding.dim_shardings.iter();
        dims.map(|dim| {
            let (mut index, mut count) = (0, 1);
            for axis in &dim.axes {
                let Some((inside, full)) = self.axes.get(&axis.name).copied() else {
                    continue;
                };
                let on_axis = self.positions[device] / inside % full;
                let (pre, size) = match axis.sub_axis_info {
                    None => (1, full),
                    Some(part) => {
                        let number = |value| usize::try_from(value).ok().filter(|value| *value > 0);
                        let both = number(part.pre_size).zip(number(part.size));
                        both.ok_or_else(|| EvalError::invalid_input("an axis is split wrongly"))?
                    }
                };
                let within = full / (pre * size).max(1);
                index = index * size + on_axis / within.max(1) % size;
                count *= size;
            }
            Ok((index, count))
        })
        .collect()
    }

    /// What a device has of a value.
    fn part(&self, value: &Value, sharding: &TensorSharding, device: usize) -> Result<Value, EvalError> {
        let Value::Tensor(whole) = value else {
            return Ok(value.clone());
        };
        let mut part = whole.clone();
        for (dim, (index, count)) in self.parts(sharding, device)?.into_iter().enumerate() {
            if count > 1 {
                part = part_along(&part, dim as i64, index, count)?;
            }
        }
        Ok(Value::Tensor(part))
    }

    /// The value whose parts the devices have as result `result`.
    fn join(
        &self,
        outputs: &[Vec<Value>],
        result: usize,
        sharding: &TensorSharding,
    ) -> Result<Value, EvalError> {
        let missing = || EvalError::runtime("a device has not all results of a manual computation");
        let mut pieces: Vec<Option<&Tensor>> = Vec::new();
        let mut counts = Vec::new();
        for (device, values) in outputs.iter().enumerate() {
            let value = values.get(result).ok_or_else(missing)?;
            let Value::Tensor(piece) = value else {
                return Ok(value.clone());
            };
            let parts = self.parts(sharding, device)?;
            counts = parts.iter().map(|(_, count)| *count).collect();
            pieces.resize(counts.iter().product(), None);
            let place = parts
                .iter()
                .fold(0, |place, (index, count)| place * count + index);
            match pieces[place].replace(piece) {
                Some(other) if other.bytes() != piece.bytes() => {
                    return Err(EvalError::runtime(format!(
                        "result #{result} of a manual computation must be the same on devices that hold copies of it, \
                         but device {device} has other values"
                    )));
                }
                _ => {}
            }
        }
        let pieces: Option<Vec<Tensor>> = pieces.into_iter().map(|piece| piece.cloned()).collect();
        join_all(pieces.ok_or_else(missing)?, &counts).map(Value::Tensor)
    }
}

/// Joins parts in row-major order, so many along each dimension.
fn join_all(mut pieces: Vec<Tensor>, counts: &[usize]) -> Result<Tensor, EvalError> {
    for (dim, count) in counts.iter().enumerate().rev() {
        if *count > 1 {
            pieces = pieces
                .chunks(*count)
                .map(|row| join_along(row, dim as i64))
                .collect::<Result<_, _>>()?;
        }
    }
    let joined = pieces.into_iter().next();
    joined.ok_or_else(|| EvalError::runtime("a mesh has no devices"))
}
