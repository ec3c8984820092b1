//! Rows of elements.

use crate::level::leveled;

/// Copies bytes that lie together. Short runs, of which there may be many, are moved without a call.
///
/// # Safety
/// The bytes may be read and written, and do not overlap.
#[inline]
pub(crate) unsafe fn run(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            4 => to
                .cast::<u32>()
                .write_unaligned(from.cast::<u32>().read_unaligned()),
            8 => to
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            16 => to
                .cast::<u128>()
                .write_unaligned(from.cast::<u128>().read_unaligned()),
            _ => from.copy_to_nonoverlapping(to, bytes),
        }
    }
}

/// Copies `count` elements of `width` bytes, each pointer with the step from one to the next in bytes.
///
/// # Safety
/// As for [`run`], for each element.
pub(crate) unsafe fn elements(
    width: usize,
    (from, from_step): (*const u8, isize),
    (to, to_step): (*mut u8, isize),
    count: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if from_step == width as isize && to_step == from_step {
            return run(from, to, count * width);
        }
        match width {
            1 => typed::<u8>(from, from_step, to, to_step, count),
            2 => typed::<u16>(from, from_step, to, to_step, count),
            4 => typed::<u32>(from, from_step, to, to_step, count),
            8 => typed::<u64>(from, from_step, to, to_step, count),
            16 => typed::<u128>(from, from_step, to, to_step, count),
            other => {
                for index in 0..count as isize {
                    from.offset(index * from_step)
                        .copy_to_nonoverlapping(to.offset(index * to_step), other);
                }
            }
        }
    }
}

/// # Safety
/// As for [`elements`].
unsafe fn typed<T: Copy>(from: *const u8, from_step: isize, to: *mut u8, to_step: isize, count: usize) {
    if to_step == size_of::<T>() as isize {
        // SAFETY: the caller's promise.
        return unsafe { gathered::<T>(from, from_step, to, count) };
    }
    for index in 0..count as isize {
        // SAFETY: the caller's promise.
        unsafe {
            let value = from.offset(index * from_step).cast::<T>().read_unaligned();
            to.offset(index * to_step).cast::<T>().write_unaligned(value);
        }
    }
}

/// Elements that end up together.
///
/// # Safety
/// As for [`elements`].
unsafe fn gathered<T: Copy>(from: *const u8, from_step: isize, to: *mut u8, count: usize) {
    if from_step == 0 && count > 0 {
        // SAFETY: the caller's promise.
        return unsafe { repeated::<T>(from.cast::<T>().read_unaligned(), to, count) };
    }
    for index in 0..count {
        // SAFETY: the caller's promise.
        unsafe {
            let value = from
                .offset(index as isize * from_step)
                .cast::<T>()
                .read_unaligned();
            to.cast::<T>().add(index).write_unaligned(value);
        }
    }
}

/// # Safety
/// `count` elements may be written at `to`.
unsafe fn repeated<T: Copy>(value: T, to: *mut u8, count: usize) {
    leveled! {
        fn fill[T: Copy](value: T, to: *mut T, count: usize) {
            for index in 0..count {
                // SAFETY: the caller of `repeated` promises room for so many.
                unsafe { to.add(index).write_unaligned(value) };
            }
        }
    }
    fill(value, to.cast(), count);
}
