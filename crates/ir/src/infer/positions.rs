//! Lists of dimensions and of sizes in attributes: signed 64-bit numbers as they came, possibly negative or huge.

use std::collections::BTreeSet;
use std::fmt::Display;

use smallvec::SmallVec;

use crate::verify::context::{OpError, OpResult, ensure};

/// Dimensions as indices. Few tensors have more than six.
pub(crate) type Positions = SmallVec<[usize; 6]>;

/// How many values are compared with each other before a set is made of them.
const COMPARED_MAX: usize = 16;

/// A dimension as an index, when it is below `rank`.
pub(crate) fn dimension(name: impl Display, value: i64, rank: usize) -> OpResult<usize> {
    usize::try_from(value)
        .ok()
        .filter(|index| *index < rank)
        .ok_or_else(|| {
            OpError::new(format!(
                "expects {name} to be in range [0, {rank}), but got {value}"
            ))
        })
}

/// A dimension that may be one past the last.
pub(crate) fn dimension_or_end(name: &str, value: i64, rank: usize) -> OpResult<usize> {
    usize::try_from(value)
        .ok()
        .filter(|index| *index <= rank)
        .ok_or_else(|| {
            OpError::new(format!(
                "expects {name} to be in range [0, {rank}], but got {value}"
            ))
        })
}

/// Dimensions as indices, when all are below `rank`.
pub(crate) fn dimensions(name: &str, values: &[i64], rank: usize) -> OpResult<Positions> {
    let mut positions = Positions::new();
    for value in values {
        positions.push(dimension(format_args!("each element of {name}"), *value, rank)?);
    }
    Ok(positions)
}

/// The first value of a list that stood in it before.
fn repeated(values: impl Iterator<Item = i64> + Clone, count: usize) -> Option<i64> {
    if count <= COMPARED_MAX {
        let before = |end: usize, value: i64| values.clone().take(end).any(|other| other == value);
        return values
            .clone()
            .enumerate()
            .find_map(|(index, value)| before(index, value).then_some(value));
    }
    let mut seen = BTreeSet::new();
    values.into_iter().find(|value| !seen.insert(*value))
}

/// Checks that no value stands twice.
pub(crate) fn ensure_unique(name: &str, values: &[i64]) -> OpResult<()> {
    ensure!(
        repeated(values.iter().copied(), values.len()).is_none(),
        "expects {name} not to repeat, but got {values:?}"
    );
    Ok(())
}

/// Checks that no value stands twice in two lists together.
pub(crate) fn ensure_distinct(names: [&str; 2], lists: [&[i64]; 2]) -> OpResult<()> {
    let count = lists[0].len() + lists[1].len();
    match repeated(lists.into_iter().flatten().copied(), count) {
        None => Ok(()),
        Some(value) => Err(OpError::new(format!(
            "has duplicated dimension from {} and {}: {value}",
            names[0], names[1]
        ))),
    }
}

/// Checks that values do not decrease.
pub(crate) fn ensure_sorted(name: &str, values: &[i64]) -> OpResult<()> {
    ensure!(
        values.is_sorted(),
        "expects {name} to be sorted, but got {values:?}"
    );
    Ok(())
}

/// Checks that a list holds `expected` values, as `what` demands.
pub(crate) fn ensure_length(name: &str, length: usize, expected: usize, what: &str) -> OpResult<()> {
    ensure!(
        length == expected,
        "{name} has {length} elements, which does not match {what} ({expected})"
    );
    Ok(())
}

/// A size as an attribute has it, when it is not negative.
pub(crate) fn size(name: impl Display, value: i64) -> OpResult<u64> {
    u64::try_from(value).map_err(|_| OpError::new(format!("{name} must not be negative, but got {value}")))
}

/// A number as an attribute has it, when it is at least 1.
pub(crate) fn positive(name: impl Display, value: i64) -> OpResult<u64> {
    u64::try_from(value)
        .ok()
        .filter(|value| *value > 0)
        .ok_or_else(|| OpError::new(format!("{name} must be positive, but got {value}")))
}

/// Dimensions of `0..rank` that are in neither list, in order.
pub(crate) fn others(rank: usize, lists: &[&[usize]]) -> Positions {
    (0..rank)
        .filter(|index| !lists.iter().any(|list| list.contains(index)))
        .collect()
}
