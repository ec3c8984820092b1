//! Lists of dimensions and of sizes in attributes: signed 64-bit numbers as they came, possibly negative or huge.

use std::collections::BTreeSet;

use crate::verify::context::{OpError, OpResult, ensure};

/// A dimension as an index, when it is below `rank`.
pub(crate) fn dimension(name: &str, value: i64, rank: usize) -> OpResult<usize> {
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
pub(crate) fn dimensions(name: &str, values: &[i64], rank: usize) -> OpResult<Vec<usize>> {
    values
        .iter()
        .map(|value| dimension(&format!("each element of {name}"), *value, rank))
        .collect()
}

/// Checks that no value stands twice.
pub(crate) fn ensure_unique(name: &str, values: &[i64]) -> OpResult<()> {
    let mut seen = BTreeSet::new();
    for value in values {
        ensure!(
            seen.insert(value),
            "expects {name} not to repeat, but got {values:?}"
        );
    }
    Ok(())
}

/// Checks that no value stands twice in two lists together.
pub(crate) fn ensure_distinct(names: [&str; 2], lists: [&[i64]; 2]) -> OpResult<()> {
    let mut seen = BTreeSet::new();
    for value in lists.into_iter().flatten() {
        ensure!(
            seen.insert(value),
            "has duplicated dimension from {} and {}: {value}",
            names[0],
            names[1]
        );
    }
    Ok(())
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
pub(crate) fn size(name: &str, value: i64) -> OpResult<u64> {
    u64::try_from(value).map_err(|_| OpError::new(format!("{name} must not be negative, but got {value}")))
}

/// A number as an attribute has it, when it is at least 1.
pub(crate) fn positive(name: &str, value: i64) -> OpResult<u64> {
    u64::try_from(value)
        .ok()
        .filter(|value| *value > 0)
        .ok_or_else(|| OpError::new(format!("{name} must be positive, but got {value}")))
}

/// Dimensions of `0..rank` that are in neither list, in order.
pub(crate) fn others(rank: usize, lists: &[&[usize]]) -> Vec<usize> {
    (0..rank)
        .filter(|index| !lists.iter().any(|list| list.contains(index)))
        .collect()
}
