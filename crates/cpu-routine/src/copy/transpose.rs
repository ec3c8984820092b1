//! Transposes of small matrices.

use crate::level::{Level, level};

/// A matrix whose columns lie together in the source and whose rows do in the destination.
pub(crate) struct Block {
    pub(crate) from: *const u8,
    /// Bytes from one row to the next in the source.
    pub(crate) from_step: isize,
    pub(crate) to: *mut u8,
    /// Bytes from one column to the next in the destination.
    pub(crate) to_step: isize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether whole cache lines are written past the caches.
    pub(crate) stream: bool,
}

/// Writes the transpose of a block of elements of `width` bytes.
///
/// # Safety
/// Source and destination may be read and written and do not overlap.
pub(crate) unsafe fn transpose(block: &Block, width: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match width {
            1 => scalar::<u8>(block, 0, 0),
            2 => scalar::<u16>(block, 0, 0),
            4 => vector4(block),
            8 => vector8(block),
            16 => scalar::<u128>(block, 0, 0),
            other => {
                for column in 0..block.columns as isize {
                    for row in 0..block.rows as isize {
                        let from = block.from.offset(row * block.from_step + column * other as isize);
                        let to = block.to.offset(column * block.to_step + row * other as isize);
                        from.copy_to_nonoverlapping(to, other);
                    }
                }
            }
        }
    }
}

/// The elements beyond the first `rows` rows or the first `columns` columns.
///
/// # Safety
/// As for [`transpose`].
unsafe fn scalar<T: Copy>(block: &Block, rows: usize, columns: usize) {
    let width = size_of::<T>() as isize;
    for column in 0..block.columns {
        let first = if column < columns { rows } else { 0 };
        for row in first..block.rows {
            let (row, column) = (row as isize, column as isize);
            // SAFETY: the caller's promise.
            unsafe {
                let from = block.from.offset(row * block.from_step + column * width);
                let to = block.to.offset(column * block.to_step + row * width);
                to.cast::<T>().write_unaligned(from.cast::<T>().read_unaligned());
            }
        }
    }
}

/// # Safety
/// As for [`transpose`].
unsafe fn vector4(block: &Block) {
    #[cfg(target_arch = "x86_64")]
    if level() != Level::Base {
        let (rows, columns) = (block.rows / 16 * 16, block.columns / 16 * 16);
        // SAFETY: the machine has AVX2; otherwise the caller's promise.
        return unsafe {
            x86::lines4(block, rows, columns);
            scalar::<u32>(block, rows, columns);
        };
    }
    // SAFETY: the caller's promise.
    unsafe { scalar::<u32>(block, 0, 0) };
}

/// # Safety
/// As for [`transpose`].
unsafe fn vector8(block: &Block) {
    #[cfg(target_arch = "x86_64")]
    if level() != Level::Base {
        let (rows, columns) = (block.rows / 8 * 8, block.columns / 8 * 8);
        // SAFETY: the machine has AVX2; otherwise the caller's promise.
        return unsafe {
            x86::lines8(block, rows, columns);
            scalar::<u64>(block, rows, columns);
        };
    }
    // SAFETY: the caller's promise.
    unsafe { scalar::<u64>(block, 0, 0) };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m256d, _mm_sfence, _mm256_load_pd, _mm256_load_ps, _mm256_loadu_pd, _mm256_loadu_ps,
        _mm256_permute2f128_pd, _mm256_permute2f128_ps, _mm256_shuffle_ps, _mm256_store_pd, _mm256_store_ps,
        _mm256_storeu_pd, _mm256_storeu_ps, _mm256_stream_pd, _mm256_stream_ps, _mm256_unpackhi_pd,
        _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps,
    };

    use super::Block;

    /// Whether whole vectors may be streamed.
    fn streams(block: &Block) -> bool {
        block.stream && block.to.addr().is_multiple_of(64) && block.to_step % 64 == 0
    }

    /// A square whose rows are cache lines.
    #[repr(align(64))]
    struct Square<T, const SIDE: usize>([[T; SIDE]; SIDE]);

    /// Elements of 4 bytes in squares of 16, so that every cache line of both sides is touched once, and whole.
    ///
    /// # Safety
    /// As for [`super::transpose`]; `rows` and `columns` are multiples of 16 within the block.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn lines4(block: &Block, rows: usize, columns: usize) {
        let stream = streams(block);
        let mut square = Square([[0_f32; 16]; 16]);
        for row in (0..rows).step_by(16) {
            for column in (0..columns).step_by(16) {
                // SAFETY: the caller's promise.
                unsafe {
                    for half in [0, 8] {
                        let at = |step: usize| {
                            let line = block.from.offset((row + half + step) as isize * block.from_step);
                            line.add(4 * column).cast::<f32>()
                        };
                        // Both halves of a line at once: lines that are a power of two apart drive each other out.
                        let low = std::array::from_fn(|step| _mm256_loadu_ps(at(step)));
                        let high = std::array::from_fn(|step| _mm256_loadu_ps(at(step).add(8)));
                        for (step, line) in turned4(low).into_iter().chain(turned4(high)).enumerate() {
                            _mm256_store_ps(square.0[step].as_mut_ptr().add(half), line);
                        }
                    }
                    for (step, line) in square.0.iter().enumerate() {
                        let to = block
                            .to
                            .offset((column + step) as isize * block.to_step)
                            .add(4 * row)
                            .cast::<f32>();
                        let [low, high] = [0, 8].map(|at| _mm256_load_ps(line.as_ptr().add(at)));
                        if stream {
                            _mm256_stream_ps(to, low);
                            _mm256_stream_ps(to.add(8), high);
                        } else {
                            _mm256_storeu_ps(to, low);
                            _mm256_storeu_ps(to.add(8), high);
                        }
                    }
                }
            }
        }
        if stream {
            _mm_sfence();
        }
    }

    /// Elements of 8 bytes in squares of 8.
    ///
    /// # Safety
    /// As for [`super::transpose`]; `rows` and `columns` are multiples of 8 within the block.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn lines8(block: &Block, rows: usize, columns: usize) {
        let stream = streams(block);
        let mut square = Square([[0_f64; 8]; 8]);
        for row in (0..rows).step_by(8) {
            for column in (0..columns).step_by(8) {
                // SAFETY: the caller's promise.
                unsafe {
                    for half in [0, 4] {
                        let at = |step: usize| {
                            let line = block.from.offset((row + half + step) as isize * block.from_step);
                            line.add(8 * column).cast::<f64>()
                        };
                        let low = std::array::from_fn(|step| _mm256_loadu_pd(at(step)));
                        let high = std::array::from_fn(|step| _mm256_loadu_pd(at(step).add(4)));
                        for (step, line) in turned8(low).into_iter().chain(turned8(high)).enumerate() {
                            _mm256_store_pd(square.0[step].as_mut_ptr().add(half), line);
                        }
                    }
                    for (step, line) in square.0.iter().enumerate() {
                        let to = block
                            .to
                            .offset((column + step) as isize * block.to_step)
                            .add(8 * row)
                            .cast::<f64>();
                        let [low, high] = [0, 4].map(|at| _mm256_load_pd(line.as_ptr().add(at)));
                        if stream {
                            _mm256_stream_pd(to, low);
                            _mm256_stream_pd(to.add(4), high);
                        } else {
                            _mm256_storeu_pd(to, low);
                            _mm256_storeu_pd(to.add(4), high);
                        }
                    }
                }
            }
        }
        if stream {
            _mm_sfence();
        }
    }

    /// Pairs, then quadruples within halves, then halves.
    #[target_feature(enable = "avx2")]
    fn turned4(rows: [__m256; 8]) -> [__m256; 8] {
        let pair = |at: usize| {
            [
                _mm256_unpacklo_ps(rows[at], rows[at + 1]),
                _mm256_unpackhi_ps(rows[at], rows[at + 1]),
            ]
        };
        let quadruple = |at: usize| {
            let ([a, b], [c, d]) = (pair(at), pair(at + 2));
            [
                _mm256_shuffle_ps::<0x44>(a, c),
                _mm256_shuffle_ps::<0xEE>(a, c),
                _mm256_shuffle_ps::<0x44>(b, d),
                _mm256_shuffle_ps::<0xEE>(b, d),
            ]
        };
        let (low, high) = (quadruple(0), quadruple(4));
        [
            _mm256_permute2f128_ps::<0x20>(low[0], high[0]),
            _mm256_permute2f128_ps::<0x20>(low[1], high[1]),
            _mm256_permute2f128_ps::<0x20>(low[2], high[2]),
            _mm256_permute2f128_ps::<0x20>(low[3], high[3]),
            _mm256_permute2f128_ps::<0x31>(low[0], high[0]),
            _mm256_permute2f128_ps::<0x31>(low[1], high[1]),
            _mm256_permute2f128_ps::<0x31>(low[2], high[2]),
            _mm256_permute2f128_ps::<0x31>(low[3], high[3]),
        ]
    }

    #[target_feature(enable = "avx2")]
    fn turned8(rows: [__m256d; 4]) -> [__m256d; 4] {
        let (a, b) = (
            _mm256_unpacklo_pd(rows[0], rows[1]),
            _mm256_unpackhi_pd(rows[0], rows[1]),
        );
        let (c, d) = (
            _mm256_unpacklo_pd(rows[2], rows[3]),
            _mm256_unpackhi_pd(rows[2], rows[3]),
        );
        [
            _mm256_permute2f128_pd::<0x20>(a, c),
            _mm256_permute2f128_pd::<0x20>(b, d),
            _mm256_permute2f128_pd::<0x31>(a, c),
            _mm256_permute2f128_pd::<0x31>(b, d),
        ]
    }
}
