//! Gather and scatter.

use std::sync::Arc;

use artifact_cpu_routine::{gather as gathering, scatter as scattering};
use artifact_ir::attribute::{GatherDimensionNumbers, ScatterDimensionNumbers};
use artifact_ir::op::{DynamicGather, Gather, Scatter};
use artifact_ir::types::ElementType;
use smallvec::SmallVec;

use super::regions::Combination;
use super::{Array, BoundRoutine, Hands, Routine, Site, positions};
use crate::error::CpuError;
use crate::launch::integer;

/// Sizes of slices: attributes of the program, or an operand.
#[derive(Debug)]
enum SliceSizes {
    Known(Vec<usize>),
    Operand(Array),
}

impl SliceSizes {
    /// # Safety
    /// `buffers` must point to the buffers of the plan that it was bound for.
    unsafe fn get(&self, buffers: &[*mut u8]) -> SmallVec<[usize; 6]> {
        match self {
            Self::Known(sizes) => SmallVec::from_slice(sizes),
            Self::Operand(array) => {
                let width = array.element.bytes();
                let element = |index: usize| buffers[array.buffer].wrapping_add(index * width);
                // SAFETY: the array has so many integers.
                let size = |index: usize| unsafe { integer(element(index), array.element) };
                let sizes = 0..array.shape.first().copied().unwrap_or(0);
                sizes
                    .map(|index| usize::try_from(size(index)).unwrap_or(usize::MAX))
                    .collect()
            }
        }
    }
}

#[derive(Debug)]
struct BoundGather {
    offset: Vec<usize>,
    collapsed: Vec<usize>,
    operand_batching: Vec<usize>,
    index_batching: Vec<usize>,
    start_index_map: Vec<usize>,
    index_vector_dim: usize,
    slice_sizes: SliceSizes,
    operand: Array,
    indices: Array,
    out: Array,
}

impl Routine for BoundGather {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        // SAFETY: the caller's promise.
        let slice_sizes = unsafe { self.slice_sizes.get(hands.buffers) };
        let dimensions = gathering::Dimensions {
            offset: &self.offset,
            collapsed: &self.collapsed,
            operand_batching: &self.operand_batching,
            index_batching: &self.index_batching,
            start_index_map: &self.start_index_map,
            index_vector_dim: self.index_vector_dim,
            slice_sizes: &slice_sizes,
        };
        let Hands {
            buffers, parallel, ..
        } = hands;
        // SAFETY: the caller's promise; the result is an array of its own.
        unsafe {
            let (operand, indices) = (self.operand.view(buffers), self.indices.view(buffers));
            let mut out = self.out.view_mut(buffers);
            Ok(gathering::gather(
                parallel,
                &dimensions,
                &operand,
                &indices,
                &mut out,
            )?)
        }
    }
}

pub(super) fn gather(site: &Site<'_>, gather: &Gather) -> Option<BoundRoutine> {
    let ([operand, indices], out) = site.fixed()?;
    let sizes = SliceSizes::Known(positions(&gather.slice_sizes));
    bind_gather(&gather.dimension_numbers, sizes, [operand, indices, out])
}

pub(super) fn dynamic_gather(site: &Site<'_>, gather: &DynamicGather) -> Option<BoundRoutine> {
    let ([operand, indices, sizes], out) = site.fixed()?;
    let is_integer = sizes.element.is_integer() && sizes.element.bits() >= 8;
    let sizes = is_integer.then_some(SliceSizes::Operand(sizes))?;
    bind_gather(&gather.dimension_numbers, sizes, [operand, indices, out])
}

fn bind_gather(
    numbers: &GatherDimensionNumbers,
    slice_sizes: SliceSizes,
    [operand, indices, out]: [Array; 3],
) -> Option<BoundRoutine> {
    let GatherDimensionNumbers {
        offset_dims,
        collapsed_slice_dims,
        operand_batching_dims,
        start_indices_batching_dims,
        start_index_map,
        index_vector_dim,
    } = numbers;
    if !indices.element.is_integer() || indices.element.bits() < 8 {
        return None;
    }
    Some(Arc::new(BoundGather {
        offset: positions(offset_dims),
        collapsed: positions(collapsed_slice_dims),
        operand_batching: positions(operand_batching_dims),
        index_batching: positions(start_indices_batching_dims),
        start_index_map: positions(start_index_map),
        index_vector_dim: usize::try_from(*index_vector_dim).ok()?,
        slice_sizes,
        operand,
        indices,
        out,
    }))
}

#[derive(Debug)]
struct BoundScatter {
    update_window: Vec<usize>,
    inserted: Vec<usize>,
    input_batching: Vec<usize>,
    index_batching: Vec<usize>,
    index_map: Vec<usize>,
    index_vector_dim: usize,
    combination: Combination,
    inputs: Vec<Array>,
    indices: Array,
    updates: Vec<Array>,
    outs: Vec<Array>,
}

impl Routine for BoundScatter {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let dimensions = scattering::Dimensions {
            update_window: &self.update_window,
            inserted: &self.inserted,
            input_batching: &self.input_batching,
            index_batching: &self.index_batching,
            index_map: &self.index_map,
            index_vector_dim: self.index_vector_dim,
        };
        let (buffers, parallel) = (hands.buffers, hands.parallel);
        for (input, out) in self.inputs.iter().zip(&self.outs) {
            // SAFETY: the caller's promise; the result is as large, and an array of its own unless it takes the input's place.
            unsafe {
                let (from, mut to) = (input.view(buffers), out.view_mut(buffers));
                if buffers[input.buffer] != buffers[out.buffer] {
                    artifact_cpu_routine::copy::copy(parallel, &from, &mut to)?;
                }
            }
        }
        self.combination.with(hands, |combiner, _| {
            // SAFETY: as above.
            unsafe {
                let updates: SmallVec<[_; 2]> =
                    self.updates.iter().map(|array| array.view(buffers)).collect();
                let mut outs: SmallVec<[_; 2]> =
                    self.outs.iter().map(|array| array.view_mut(buffers)).collect();
                let indices = self.indices.view(buffers);
                scattering::scatter(parallel, &dimensions, combiner, &indices, &updates, &mut outs)
            }
        })
    }
}

pub(super) fn scatter(site: &Site<'_>, scatter: &Scatter) -> Option<BoundRoutine> {
    let ScatterDimensionNumbers {
        update_window_dims,
        inserted_window_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        scatter_dims_to_operand_dims,
        index_vector_dim,
    } = &scatter.scatter_dimension_numbers;
    let count = site.results.len();
    let (inputs, rest) = site.operands.split_at_checked(count)?;
    let (indices, updates) = rest.split_first()?;
    let elements: Vec<ElementType> = inputs.iter().map(|array| array.element).collect();
    let alike = |arrays: &[Array]| {
        arrays
            .iter()
            .map(|array| array.element)
            .eq(elements.iter().copied())
    };
    let is_integer = indices.element.is_integer() && indices.element.bits() >= 8;
    if !is_integer || !alike(updates) || !alike(&site.results) {
        return None;
    }
    let combination = Combination::of(site, 0, &elements)?;
    Some(Arc::new(BoundScatter {
        update_window: positions(update_window_dims),
        inserted: positions(inserted_window_dims),
        input_batching: positions(input_batching_dims),
        index_batching: positions(scatter_indices_batching_dims),
        index_map: positions(scatter_dims_to_operand_dims),
        index_vector_dim: usize::try_from(*index_vector_dim).ok()?,
        combination,
        inputs: inputs.to_vec(),
        indices: indices.clone(),
        updates: updates.to_vec(),
        outs: site.results.clone(),
    }))
}
