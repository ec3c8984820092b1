//! Random bits: `rng_bit_generator`.
//!
//! The bits are those of XLA: Threefry-2x32 with 20 rounds on a state of key and counter, and Philox-4x32 with 10 rounds on a
//! state of key and a counter of one or two words (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

use artifact_ir::types::ElementType;

use crate::error::{RoutineError, check_same};
use crate::level::leveled;
use crate::odometer::{Cursor, Nest};
use crate::pool::Parallel;
use crate::view::{Target, ViewMut, row_major};

const RANDOM: &str = "rng_bit_generator";

/// Counters whose bits one task makes.
const TASK_COUNTERS: usize = 1 << 12;

/// Counters that are encrypted side by side.
const LANES: usize = 16;

/// Which generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// `THREE_FRY`.
    Threefry,
    /// `PHILOX`, which is also `DEFAULT`.
    Philox,
}

/// Spec, "rng_bit_generator": fills `out`, which is dense, with random bits, and gives the next state. The state has two words,
/// for Philox two or three. Elements are integers or floats of up to 64 bits, of which narrow ones take the low bits.
///
/// # Errors
/// A mismatch of the state or an `out` with gaps, a type without a routine, or [`RoutineError::Stopped`].
pub fn rng_bit_generator(
    parallel: Parallel<'_>,
    algorithm: Algorithm,
    state: &[u64],
    out: &mut ViewMut<'_>,
) -> Result<Vec<u64>, RoutineError> {
    let element = out.element();
    if element.is_complex() || element.is_boolean() || !element.bits().is_multiple_of(8) {
        return Err(RoutineError::unsupported(RANDOM, element));
    }
    if !out.is_dense() {
        return Err(RoutineError::mismatch(RANDOM, "the result is not dense"));
    }
    let words = Words {
        to: Target::new(out.data()),
        element,
        count: out.count(),
    };
    match (algorithm, state) {
        (Algorithm::Threefry, [key, counter]) if element.bits() == 64 => {
            words.threefry_wide(parallel, *key, *counter)?;
            Ok(vec![*key, counter.wrapping_add(words.count as u64)])
        }
        (Algorithm::Threefry, [key, counter]) => {
            let counters = words.threefry_narrow(parallel, *key, *counter, &out.shape())?;
            Ok(vec![*key, counter.wrapping_add(counters as u64)])
        }
        (Algorithm::Philox, [key, low]) => {
            // The counter is the low half of one whose high half is the key, and only its low half is kept.
            let [low, _] = words.philox(parallel, *key, [*low, *key])?;
            Ok(vec![*key, low])
        }
        (Algorithm::Philox, [key, low, high]) => {
            let [low, high] = words.philox(parallel, *key, [*low, *high])?;
            Ok(vec![*key, low, high])
        }
        (_, state) => {
            check_same(RANDOM, "the number of words of the state", &[state.len()], &[2])?;
            Ok(Vec::new())
        }
    }
}

/// Low and high half.
const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Elements in row-major order that are to be random bits.
struct Words {
    to: Target,
    element: ElementType,
    count: usize,
}

impl Words {
    /// Writes the low bits of a word as an element.
    fn write(&self, position: usize, word: u64) {
        let width = self.element.bytes();
        let at = self.to.at((position * width) as isize);
        // SAFETY: positions are below the number of elements, each of which one task writes.
        unsafe {
            match width {
                1 => at.write(word as u8),
                2 => at.cast::<u16>().write_unaligned(word as u16),
                4 => at.cast::<u32>().write_unaligned(word as u32),
                _ => at.cast::<u64>().write_unaligned(word),
            }
        }
    }

    /// One counter for each word of 64 bits.
    fn threefry_wide(&self, parallel: Parallel<'_>, key: u64, counter: u64) -> Result<(), RoutineError> {
        parallel.ranges(self.count, TASK_COUNTERS, &|range, _| {
            for start in range.clone().step_by(LANES) {
                let [low, high] = threefry(counter.wrapping_add(start as u64), halves(key));
                for lane in 0..LANES.min(range.end - start) {
                    self.write(start + lane, u64::from(low[lane]) | u64::from(high[lane]) << 32);
                }
            }
        })
    }

    /// One counter for two words of 32 bits, neighbours along one dimension: the first of even size, or else the first of the
    /// largest. Gives the number of counters.
    fn threefry_narrow(
        &self,
        parallel: Parallel<'_>,
        key: u64,
        counter: u64,
        shape: &[usize],
    ) -> Result<usize, RoutineError> {
        let even = shape.iter().position(|size| size.is_multiple_of(2));
        let largest = || (0..shape.len()).rev().max_by_key(|dim| shape[*dim]);
        let split = even.or_else(largest);
        // Counters go through the shape with half of that dimension; each makes two elements.
        let mut half = shape.to_vec();
        let mut step = 0;
        let strides = row_major(1, shape);
        if let Some(split) = split {
            half[split] = shape[split].div_ceil(2);
            step = strides[split].stride;
        }
        let mut nest: Nest<1> = Nest::default();
        for (dim, size) in half.iter().enumerate() {
            let stride = strides[dim].stride;
            nest.push(*size, [if split == Some(dim) { 2 * stride } else { stride }]);
        }
        let count = nest.count();
        let odd = |index: &[usize]| split.is_none_or(|split| 2 * index[split] + 1 >= shape[split]);
        parallel.ranges(count, TASK_COUNTERS, &|range, _| {
            let mut cursor = Cursor::at(&nest, range.start);
            for start in range.clone().step_by(LANES) {
                let [first, second] = threefry(counter.wrapping_add(start as u64), halves(key));
                for lane in 0..LANES.min(range.end - start) {
                    let position = cursor.offsets[0];
                    self.write(position as usize, first[lane].into());
                    if !odd(&cursor.index) {
                        self.write((position + step) as usize, second[lane].into());
                    }
                    cursor.step(&nest);
                }
            }
        })?;
        Ok(count)
    }

    /// Blocks of 128 bits, cut into words in order. Gives the next counter.
    fn philox(
        &self,
        parallel: Parallel<'_>,
        key: u64,
        [low, high]: [u64; 2],
    ) -> Result<[u64; 2], RoutineError> {
        let counter_at = |index: usize| {
            let (low, carry) = low.overflowing_add(index as u64);
            [low, high.wrapping_add(carry.into())]
        };
        let wide = self.element.bits() == 64;
        let per_block = if wide { 2 } else { 4 };
        let blocks = self.count.div_ceil(per_block);
        parallel.ranges(blocks, TASK_COUNTERS, &|range, _| {
            for start in range.clone().step_by(LANES) {
                let counters = std::array::from_fn(|lane| counter_at(start + lane));
                let blocks = philox(counters, halves(key));
                for (lane, words) in blocks.iter().enumerate().take(range.end - start) {
                    let [a, b, c, d] = words.map(u64::from);
                    let wide_words = [a | b << 32, c | d << 32];
                    let narrow_words = [a, b, c, d];
                    let block: &[u64] = if wide { &wide_words } else { &narrow_words };
                    let first = (start + lane) * per_block;
                    for (at, word) in block.iter().enumerate().take(self.count - first) {
                        self.write(first + at, *word);
                    }
                }
            }
        })?;
        Ok(counter_at(blocks))
    }
}

leveled! {
    /// Threefry-2x32 of counters one after the other.
    fn threefry(counter: u64, key: [u32; 2]) -> [[u32; LANES]; 2] {
        const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
        let keys = [key[0], key[1], 0x1BD1_1BDA ^ key[0] ^ key[1]];
        let mut a: [u32; LANES] = std::array::from_fn(|lane| halves(counter.wrapping_add(lane as u64))[0]);
        let mut b: [u32; LANES] = std::array::from_fn(|lane| halves(counter.wrapping_add(lane as u64))[1]);
        for lane in 0..LANES {
            a[lane] = a[lane].wrapping_add(keys[0]);
            b[lane] = b[lane].wrapping_add(keys[1]);
        }
        for group in 0..5_usize {
            for rotation in ROTATIONS[group % 2] {
                for lane in 0..LANES {
                    a[lane] = a[lane].wrapping_add(b[lane]);
                    b[lane] = b[lane].rotate_left(rotation) ^ a[lane];
                }
            }
            for lane in 0..LANES {
                a[lane] = a[lane].wrapping_add(keys[(group + 1) % 3]);
                b[lane] = b[lane].wrapping_add(keys[(group + 2) % 3]).wrapping_add(group as u32 + 1);
            }
        }
        [a, b]
    }
}

leveled! {
    /// Philox-4x32 of counters, the words of each.
    fn philox(counters: [[u64; 2]; LANES], key: [u32; 2]) -> [[u32; 4]; LANES] {
        let mut a: [u32; LANES] = counters.map(|[low, _]| halves(low)[0]);
        let mut b: [u32; LANES] = counters.map(|[low, _]| halves(low)[1]);
        let mut c: [u32; LANES] = counters.map(|[_, high]| halves(high)[0]);
        let mut d: [u32; LANES] = counters.map(|[_, high]| halves(high)[1]);
        let [mut k, mut l] = key;
        for _ in 0..10 {
            for lane in 0..LANES {
                let [low, high] = halves(u64::from(a[lane]) * 0xD251_1F53);
                let [other_low, other_high] = halves(u64::from(c[lane]) * 0xCD9E_8D57);
                a[lane] = other_high ^ b[lane] ^ k;
                b[lane] = other_low;
                c[lane] = high ^ d[lane] ^ l;
                d[lane] = low;
            }
            k = k.wrapping_add(0x9E37_79B9);
            l = l.wrapping_add(0xBB67_AE85);
        }
        std::array::from_fn(|lane| [a[lane], b[lane], c[lane], d[lane]])
    }
}
