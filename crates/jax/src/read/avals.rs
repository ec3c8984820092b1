//! The types of arguments and results.

use std::collections::HashMap;
use std::sync::Arc;

use artifact_flatbuffer::View;
use artifact_proto::jax_exported as schema;

use super::{Outcome, Reader, Side, Uniques, field, of_fault, one_for_each_leaf};
use crate::aval::{AbstractValue, Dimension, MemorySpace};
use crate::error::Problem;
use crate::limits;

/// Every text of a dimension in the file, read once.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    known: HashMap<String, Dimension>,
    symbolic: u64,
}

impl Dimensions {
    fn read(&mut self, text: &str, place: &dyn Fn() -> String) -> Outcome<Dimension> {
        if let Some(known) = self.known.get(text) {
            return Ok(known.clone());
        }
        limits::DIMENSION_TEXT.check(text.len() as u64)?;
        if text.parse::<u64>().is_err() {
            self.symbolic += 1;
            limits::SYMBOLIC_DIMENSIONS.check(self.symbolic)?;
        }
        let dimension: Dimension = text.parse().map_err(|source| Problem::Dimension {
            place: place(),
            source: Box::new(source),
        })?;
        self.known.insert(text.to_owned(), dimension.clone());
        Ok(dimension)
    }
}

impl Reader<'_> {
    /// The types of all leaves: by their positions among the unique ones, or from the list of an older file.
    pub(super) fn avals(
        &mut self,
        view: &View<'_, schema::Exported>,
        side: &Side,
        uniques: &Uniques,
        leaf_count: usize,
    ) -> Outcome<Vec<Arc<AbstractValue>>> {
        if let Some(positions) = field(view, side.aval_positions)?.filter(|list| list.len() > 0) {
            one_for_each_leaf("types", side, positions.len(), leaf_count)?;
            return positions
                .map(|position| uniques.aval(position.map_err(of_fault)?, side.place))
                .collect();
        }
        let views = field(view, side.avals)?;
        let length = views.as_ref().map_or(0, ExactSizeIterator::len);
        one_for_each_leaf("types", side, length, leaf_count)?;
        let views = views.into_iter().flatten();
        views
            .map(|view| self.aval(&view.map_err(of_fault)?, side.place).map(Arc::new))
            .collect()
    }

    pub(super) fn aval(
        &mut self,
        view: &View<'_, schema::AbstractValue>,
        place: &'static str,
    ) -> Outcome<AbstractValue> {
        if field(view, schema::AbstractValue::KIND)? != schema::AbstractValueKind::ShapedArray {
            return Err(Problem::inconsistent(format!(
                "one of the {place} is no array, which no release of JAX writes"
            )));
        }
        let texts = field(view, schema::AbstractValue::SHAPE)?;
        let rank = texts.as_ref().map_or(0, ExactSizeIterator::len);
        limits::RANK.check(rank as u64)?;
        let at = view.offset();
        let place = || format!("the type at byte {at}, one of the {place},");
        let texts = texts.into_iter().flatten();
        let shape = texts.map(|text| self.dimensions.read(text.map_err(of_fault)?, &place));
        Ok(AbstractValue {
            shape: shape.collect::<Outcome<_>>()?,
            dtype: field(view, schema::AbstractValue::DTYPE)?,
            memory_space: match field(view, schema::AbstractValue::MEMORY_SPACE)? {
                schema::MemorySpace::Missing | schema::MemorySpace::Device => MemorySpace::Device,
                schema::MemorySpace::Host => MemorySpace::Host,
                schema::MemorySpace::Any => MemorySpace::Any,
            },
        })
    }
}
