//! Parts of dense row-major arrays, as bytes.

use std::ops::Range;

use crate::error::ShardingError;
use crate::layout::Shard;

/// The elements of a part of an array: `shape` is that of the array, `width` the bytes of an element.
///
/// # Errors
/// Bytes that are not as many as the shape says, and a part that does not lie within.
pub fn slice(array: &[u8], shape: &[u64], width: usize, shard: &Shard) -> Result<Vec<u8>, ShardingError> {
    let runs = Runs::new(array.len(), shape, width, shard)?;
    let mut part = Vec::with_capacity(runs.bytes());
    runs.each(|range| part.extend_from_slice(&array[range]));
    Ok(part)
}

/// Writes the elements of a part where they belong in an array.
///
/// # Errors
/// Bytes that are not as many as the shapes say, and a part that does not lie within.
pub fn assemble(
    array: &mut [u8],
    shape: &[u64],
    width: usize,
    shard: &Shard,
    part: &[u8],
) -> Result<(), ShardingError> {
    let runs = Runs::new(array.len(), shape, width, shard)?;
    if part.len() != runs.bytes() {
        return Err(ShardingError::Bytes {
            expected: Some(runs.bytes() as u64),
            actual: part.len() as u64,
        });
    }
    let mut from = 0;
    runs.each(|range| {
        let next = from + range.len();
        array[range].copy_from_slice(&part[from..next]);
        from = next;
    });
    Ok(())
}

/// The bytes of a part of an array: runs of bytes that lie together, as many as the outer dimensions count.
struct Runs {
    /// Of the outer dimensions: how often, and bytes from one to the next.
    outer: Vec<(usize, usize)>,
    /// Where the first run begins, and how long each is.
    first: usize,
    run: usize,
}

impl Runs {
    fn new(length: usize, shape: &[u64], width: usize, shard: &Shard) -> Result<Self, ShardingError> {
        let expected = match shape.contains(&0) {
            true => Some(0),
            false => shape
                .iter()
                .try_fold(width as u64, |bytes, size| bytes.checked_mul(*size)),
        };
        if expected != Some(length as u64) {
            return Err(ShardingError::Bytes {
                expected,
                actual: length as u64,
            });
        }
        let fits = |((size, start), part): ((&u64, &u64), &u64)| {
            start.checked_add(*part).is_some_and(|end| end <= *size)
        };
        let within = shape.len() == shard.start.len() && shape.len() == shard.shape.len();
        if !within || !shape.iter().zip(&shard.start).zip(&shard.shape).all(fits) {
            return Err(ShardingError::Outside);
        }
        // No product below is larger than the array, unless the array has nothing.
        if length == 0 || shard.shape.contains(&0) {
            return Ok(Self {
                outer: vec![(0, 0)],
                first: 0,
                run: 0,
            });
        }
        let mut runs = Self {
            outer: Vec::new(),
            first: 0,
            run: width,
        };
        let mut stride = width;
        let mut is_whole = true;
        for ((size, start), part) in shape.iter().zip(&shard.start).zip(&shard.shape).rev() {
            let [size, start, part] = [*size, *start, *part].map(|number| number as usize);
            runs.first += start * stride;
            match is_whole {
                true => runs.run = part * stride,
                false => runs.outer.push((part, stride)),
            }
            is_whole &= part == size;
            stride *= size;
        }
        runs.outer.reverse();
        Ok(runs)
    }

    fn count(&self) -> usize {
        self.outer.iter().map(|(count, _)| count).product()
    }

    fn bytes(&self) -> usize {
        self.count() * self.run
    }

    fn each(&self, mut visit: impl FnMut(Range<usize>)) {
        for number in 0..self.count() {
            let mut rest = number;
            let mut at = self.first;
            for (count, stride) in self.outer.iter().rev() {
                at += rest % count * stride;
                rest /= count;
            }
            visit(at..at + self.run);
        }
    }
}
