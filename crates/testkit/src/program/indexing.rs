//! Gather and scatter, with indices that are often out of range.

use artifact_ir::attribute::{GatherDimensionNumbers, ScatterDimensionNumbers};
use artifact_ir::builder::RegionBuilder;
use artifact_ir::op::{Binary, DynamicGather, Gather, Indexing, Scatter, TorchIndexSelect};
use artifact_ir::types::{Dim, TensorType, Type};

use super::draft::{Draft, Made};
use super::facts::Facts;
use super::movement::permutation;
use super::reduction::{combine, combiners};
use super::shapes::INDICES;
use super::value::{Known, Pattern, array};

/// How slices of an operand lie, and where the result has them.
struct Slices {
    /// The size in each dimension of the operand.
    sizes: Vec<u64>,
    /// Dimensions of the operand that the result lacks.
    dropped: Vec<i64>,
    /// Dimensions of the operand that go with one of the indices.
    operand_batching: Vec<i64>,
    indices_batching: Vec<i64>,
    /// The dimension of the operand for each component of an index.
    map: Vec<i64>,
    /// The dimension of the indices that holds components.
    vector: usize,
    /// Dimensions of the result that hold slices.
    offsets: Vec<i64>,
    /// The shape of the result.
    dims: Vec<Dim>,
}

impl Slices {
    fn draw(draft: &Draft<'_, '_>, operand: &Known, indices: &Known) -> Option<Self> {
        let choices = draft.choices;
        let rank = operand.rank();
        let components: Vec<usize> = (0..indices.rank())
            .filter(|dim| indices.size(*dim).is_some_and(|size| size <= rank as u64))
            .collect();
        let vector = match choices.once_in(2) && !components.is_empty() {
            true => *choices.pick(&components),
            false => indices.rank(),
        };
        let count = indices.size(vector).map_or(1, |size| size as usize);
        if count > rank {
            return None;
        }
        let map = permutation(choices, rank)[..count].to_vec();
        let mut slices = Self {
            sizes: Vec::new(),
            dropped: Vec::new(),
            operand_batching: Vec::new(),
            indices_batching: Vec::new(),
            map,
            vector,
            offsets: Vec::new(),
            dims: Vec::new(),
        };
        slices.batch(draft, operand, indices);
        for (dim, size) in operand.shape().into_iter().enumerate() {
            let is_batching = slices.operand_batching.contains(&(dim as i64));
            let drops = !is_batching && size > 0 && choices.flip();
            let size = match () {
                () if drops || is_batching => 1,
                () if choices.flip() => size,
                () => choices.below(size as usize + 1) as u64,
            };
            if drops {
                slices.dropped.push(dim as i64);
            }
            slices.sizes.push(size);
        }
        slices.place(draft, indices);
        Some(slices)
    }

    /// Pairs a dimension of the operand with one of the indices of the same size, sometimes.
    fn batch(&mut self, draft: &Draft<'_, '_>, operand: &Known, indices: &Known) {
        if !draft.choices.once_in(3) {
            return;
        }
        for (dim, size) in operand.shape().into_iter().enumerate() {
            let pair =
                (0..indices.rank()).find(|other| *other != self.vector && indices.size(*other) == Some(size));
            if let Some(other) = pair
                && size > 0
                && !self.map.contains(&(dim as i64))
            {
                self.operand_batching.push(dim as i64);
                self.indices_batching.push(other as i64);
                return;
            }
        }
    }

    /// Chooses which dimensions of the result hold slices.
    fn place(&mut self, draft: &Draft<'_, '_>, indices: &Known) {
        let is_kept = |dim: i64| !self.dropped.contains(&dim) && !self.operand_batching.contains(&dim);
        let mut kept = (0..self.sizes.len())
            .filter(|dim| is_kept(*dim as i64))
            .map(|dim| self.sizes[dim]);
        let around: Vec<Dim> = (0..indices.rank())
            .filter(|dim| *dim != self.vector)
            .map(|dim| indices.ty.dims[dim].clone())
            .collect();
        let mut around = around.into_iter();
        let count = kept.clone().count();
        let total = count + around.len();
        let (mut offsets, mut dims) = (Vec::new(), Vec::new());
        for at in 0..total {
            let must = total - at == count - offsets.len();
            let may = offsets.len() < count && (must || draft.choices.flip());
            let dim = match may {
                true => kept.next().map(Dim::Static),
                false => around.next(),
            };
            if may {
                offsets.push(at as i64);
            }
            dims.extend(dim);
        }
        (self.offsets, self.dims) = (offsets, dims);
    }
}

/// Indices: values that are there, or a few numbers around the sizes of arrays.
fn indices(draft: &mut Draft<'_, '_>) -> Made {
    let found = match draft.choices.flip() {
        true => draft.find(|known| {
            INDICES.contains(&known.element())
                && draft.setting.count(&known.ty).is_some_and(|count| count <= 512)
        }),
        false => None,
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let element = *draft.choices.pick(INDICES);
    let shape = match draft.choices.below(4) {
        0 => vec![draft.choices.below(9) as u64],
        1 => vec![],
        2 => vec![
            *draft.choices.pick(&[3, 1, 17]),
            1 + draft.choices.below(2) as u64,
        ],
        _ => vec![2, *draft.choices.pick(&[2, 5])],
    };
    let ty = std::sync::Arc::new(TensorType::of_static(&shape, element));
    let pattern = *draft.choices.pick(&[
        Pattern::Small,
        Pattern::Positive,
        Pattern::Ordinary,
        Pattern::Edges,
    ]);
    let literal = array(&ty, pattern, draft.choices.seed());
    draft.constant(literal, Facts::of(element))
}

fn whole_array(draft: &Draft<'_, '_>) -> Option<Known> {
    draft.find(|known| known.ty.is_static() && known.rank() >= 1)
}

pub(super) fn gather(draft: &mut Draft<'_, '_>) -> Made<()> {
    if draft.choices.once_in(8) {
        return torch_index_select(draft);
    }
    let Some(operand) = whole_array(draft) else {
        return Ok(());
    };
    let indices = indices(draft)?;
    let Some(slices) = Slices::draw(draft, &operand, &indices) else {
        return Ok(());
    };
    let ty = TensorType::new(slices.dims.clone(), operand.element());
    if draft
        .setting
        .count(&ty)
        .is_none_or(|count| count > draft.setting.elements_max)
    {
        return Ok(());
    }
    let dimension_numbers = GatherDimensionNumbers {
        offset_dims: slices.offsets,
        collapsed_slice_dims: slices.dropped,
        operand_batching_dims: slices.operand_batching,
        start_indices_batching_dims: slices.indices_batching,
        start_index_map: slices.map,
        index_vector_dim: slices.vector as i64,
    };
    let sizes: Vec<i64> = slices.sizes.iter().map(|size| *size as i64).collect();
    if draft.choices.once_in(6) {
        let sizes = draft.numbers(&sizes)?;
        let op = Indexing::DynamicGather(Box::new(DynamicGather {
            dimension_numbers,
            indices_are_sorted: false,
        }));
        return draft
            .add_typed(op, &[&operand, &indices, &sizes], ty, operand.facts)
            .map(drop);
    }
    let op = Indexing::Gather(Box::new(Gather {
        dimension_numbers,
        slice_sizes: sizes,
        indices_are_sorted: false,
    }));
    draft.add(op, &[&operand, &indices], operand.facts).map(drop)
}

/// The legacy form, which says nothing of indices that are out of range.
fn torch_index_select(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(operand) = whole_array(draft).filter(|known| !known.shape().contains(&0)) else {
        return Ok(());
    };
    let dim = draft.choices.below(operand.rank());
    let last = operand.size(dim).unwrap_or(1) as i64 - 1;
    let count = draft.choices.below(5) as i64;
    let numbers: Vec<i64> = (0..count)
        .map(|_| draft.choices.below(last as usize + 1) as i64)
        .collect();
    let index = draft.numbers(&numbers)?;
    let mut shape = operand.shape();
    shape[dim] = count.unsigned_abs();
    let ty = TensorType::of_static(&shape, operand.element());
    if ty
        .element_count()
        .is_none_or(|count| count > draft.setting.elements_max)
    {
        return Ok(());
    }
    let op = Indexing::TorchIndexSelect(TorchIndexSelect {
        dim: dim as i64,
        batch_dims: 0,
    });
    draft
        .add_typed(op, &[&operand, &index], ty, operand.facts)
        .map(drop)
}

pub(super) fn scatter(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(input) = draft.find(|known| {
        known.ty.is_static()
            && known.rank() >= 1
            && (known.element().bits() > 8 || !known.element().is_float())
    }) else {
        return Ok(());
    };
    let indices = indices(draft)?;
    let Some(slices) = Slices::draw(draft, &input, &indices) else {
        return Ok(());
    };
    let element = input.element();
    let ty = TensorType::new(slices.dims.clone(), element);
    let Some(count) = draft
        .setting
        .count(&ty)
        .filter(|count| *count <= draft.setting.elements_max)
    else {
        return Ok(());
    };
    let found = draft.find(|known| *known.ty == ty);
    let updates = match (found, ty.static_shape()) {
        (Some(found), _) => found,
        (None, Some(shape)) => draft.fresh(&shape, element)?,
        (None, None) => draft.filled(&ty, element, 1.0)?,
    };
    let (input, region, facts) = match scatter_region(draft, input, &updates, count)? {
        Some(found) => found,
        None => return Ok(()),
    };
    let op = Indexing::Scatter(Box::new(Scatter {
        scatter_dimension_numbers: ScatterDimensionNumbers {
            update_window_dims: slices.offsets,
            inserted_window_dims: slices.dropped,
            input_batching_dims: slices.operand_batching,
            scatter_indices_batching_dims: slices.indices_batching,
            scatter_dims_to_operand_dims: slices.map,
            index_vector_dim: slices.vector as i64,
        },
        indices_are_sorted: false,
        unique_indices: false,
    }));
    let ids = [input.id, indices.id, updates.id];
    let results = draft.builder.op_with_regions(op, &ids, None, vec![region])?;
    draft.keep(results[0], facts);
    Ok(())
}

type Update<'f, 'm> = (Known, RegionBuilder<'f, 'm>, Facts);

/// The last update wins, or updates are combined with what is there.
fn scatter_region<'f, 'm>(
    draft: &mut Draft<'_, 'm>,
    input: Known,
    updates: &Known,
    count: u64,
) -> Made<Option<Update<'f, 'm>>> {
    let element = input.element();
    let both = input.facts.or(&updates.facts);
    if draft.choices.once_in(3) {
        let scalar = Type::tensor(&[], element);
        let region = RegionBuilder::new(vec![scalar.clone(), scalar], |_, arguments| {
            Ok(vec![arguments[1]])
        });
        return Ok(Some((input, region, both)));
    }
    let (op, _) = draft.choices.pick(&combiners(element)).clone();
    let is_float = element.is_float() || element.is_complex();
    let facts = match op {
        Binary::Add if is_float => both.sum(count + 1, element),
        _ => Some(Facts {
            any_nan: both.any_nan || both.special,
            ..both
        }),
    };
    let facts = if is_float { facts } else { Some(Facts::of(element)) };
    Ok(facts.map(|facts| (input, combine(op, element), facts)))
}
