//! Elements brought into the arithmetic of a product, and results out of it.

use artifact_ir::types::ElementType;

use crate::level::leveled;
use crate::number::{Bf16, F16, Half, read_float, read_integer, with_integer, write_float};
use crate::product::Arithmetic;

/// Whether elements of a type can be brought into an arithmetic.
pub(crate) const fn reads(element: ElementType, arithmetic: Arithmetic) -> bool {
    match arithmetic {
        Arithmetic::F32 => element.is_float() && !matches!(element, ElementType::F64),
        Arithmetic::F64 => element.is_float(),
        Arithmetic::C64 => matches!(element, ElementType::C64),
        Arithmetic::C128 => matches!(element, ElementType::C128),
        Arithmetic::Boolean => element.is_boolean(),
        _ => element.is_integer() || element.is_boolean(),
    }
}

/// The arithmetic of sums of products of elements of these types; `None` when there is no routine for them.
///
/// Integers and booleans are computed with modulo the width of the result, floats in the widest of the types but at least in
/// `f32`, and rounded once.
pub(crate) fn arithmetic_of(lhs: ElementType, rhs: ElementType, out: ElementType) -> Option<Arithmetic> {
    let sums = Arithmetic::of(out)?;
    let widened = match sums {
        Arithmetic::F32 if lhs == ElementType::F64 || rhs == ElementType::F64 => Arithmetic::F64,
        other => other,
    };
    (reads(lhs, widened) && reads(rhs, widened)).then_some(widened)
}

/// Whether numbers of an arithmetic are rounded or wrapped when they become elements of a type.
pub(crate) const fn rounds(arithmetic: Arithmetic, element: ElementType) -> bool {
    match arithmetic {
        Arithmetic::F32 => !matches!(element, ElementType::F32),
        Arithmetic::F64 => !matches!(element, ElementType::F64),
        Arithmetic::Integer8 => element.bits() < 8,
        _ => false,
    }
}

/// A row of elements: the first, and the step to the next in bytes.
pub(crate) type Row = (*const u8, isize);

/// Brings `count` elements into an arithmetic and lays them together.
///
/// # Safety
/// The elements may be read, and there is room for as many of the arithmetic's; [`reads`] holds.
#[expect(
    clippy::unnecessary_cast,
    reason = "the cast is from each integer type, of which one is the result's"
)]
pub(crate) unsafe fn widen(
    element: ElementType,
    from: Row,
    arithmetic: Arithmetic,
    to: *mut u8,
    count: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if element == arithmetic.element() {
            return crate::copy::elements(element.bytes(), from, (to, element.bytes() as isize), count);
        }
        match (arithmetic, element) {
            (Arithmetic::F32, ElementType::BF16) => halves::<Bf16>(from, to.cast(), count),
            (Arithmetic::F32, ElementType::F16) => halves::<F16>(from, to.cast(), count),
            (Arithmetic::F32, other) => each(from, to.cast(), count, |at| read_float(other, at) as f32),
            (Arithmetic::F64, other) => each(from, to.cast(), count, |at| read_float(other, at)),
            (Arithmetic::Integer8, other) => each(from, to.cast(), count, |at| read_integer(other, at) as u8),
            (Arithmetic::Integer16, other) => {
                with_integer!(other, T => each(from, to.cast(), count, |at| at.cast::<T>().read_unaligned() as u16), _ => ());
            }
            (Arithmetic::Integer32, other) => {
                with_integer!(other, T => each(from, to.cast(), count, |at| at.cast::<T>().read_unaligned() as u32), _ => ());
            }
            (Arithmetic::Integer64, other) => {
                with_integer!(other, T => each(from, to.cast(), count, |at| at.cast::<T>().read_unaligned() as u64), _ => ());
            }
            (Arithmetic::C64 | Arithmetic::C128 | Arithmetic::Boolean, _) => {}
        }
    }
}

/// # Safety
/// As for [`widen`]; `read` may be called for each element.
#[inline(always)]
unsafe fn each<T>((from, step): Row, to: *mut T, count: usize, read: impl Fn(*const u8) -> T) {
    for index in 0..count {
        let value = read(from.wrapping_offset(index as isize * step));
        // SAFETY: the caller's promise.
        unsafe { to.add(index).write(value) };
    }
}

/// # Safety
/// As for [`widen`].
unsafe fn halves<H: Half>(from: Row, to: *mut f32, count: usize) {
    leveled! {
        fn all[H: Half](from: *const u8, step: isize, to: *mut f32, count: usize) {
            let width = size_of::<H>() as isize;
            // The step of rows that lie together is known, so that they are read as vectors.
            let step = if step == width { width } else { step };
            for index in 0..count {
                // SAFETY: the promise of the caller of `halves`.
                unsafe {
                    let at = if step == width { from.cast::<H>().add(index) } else {
                        from.offset(index as isize * step).cast::<H>()
                    };
                    to.add(index).write(at.read_unaligned().widen());
                }
            }
        }
    }
    all::<H>(from.0, from.1, to, count);
}

/// Rounds `count` numbers of an arithmetic, which lie together, to elements of a type.
///
/// # Safety
/// The numbers may be read, and there is room for the elements, `step` bytes apart.
pub(crate) unsafe fn narrow(
    arithmetic: Arithmetic,
    from: *const u8,
    element: ElementType,
    (to, step): (*mut u8, isize),
    count: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let at = |index: usize| to.offset(index as isize * step);
        match (arithmetic, element) {
            (Arithmetic::F32, ElementType::BF16) => narrow_halves::<Bf16>(from.cast(), to, step, count),
            (Arithmetic::F32, ElementType::F16) => narrow_halves::<F16>(from.cast(), to, step, count),
            (Arithmetic::F32, other) if other != ElementType::F32 => {
                (0..count).for_each(|index| {
                    write_float(other, at(index), f64::from(from.cast::<f32>().add(index).read()));
                });
            }
            (Arithmetic::F64, other) if other != ElementType::F64 => {
                (0..count)
                    .for_each(|index| write_float(other, at(index), from.cast::<f64>().add(index).read()));
            }
            (Arithmetic::Integer8, other) if other.bits() < 8 => {
                (0..count).for_each(|index| at(index).write(wrapped(other, from.add(index).read())));
            }
            _ => {
                let width = arithmetic.element().bytes();
                crate::copy::elements(width, (from, width as isize), (to, step), count);
            }
        }
    }
}

/// A byte that holds an integer of fewer bits, from any byte with the same low bits.
const fn wrapped(element: ElementType, value: u8) -> u8 {
    let unused = 8 - element.bits();
    if element.is_signed_integer() {
        ((value as i8) << unused >> unused) as u8
    } else {
        value << unused >> unused
    }
}

/// # Safety
/// As for [`narrow`].
unsafe fn narrow_halves<H: Half>(from: *const f32, to: *mut u8, step: isize, count: usize) {
    leveled! {
        fn all[H: Half](from: *const f32, to: *mut u8, step: isize, count: usize) {
            for index in 0..count {
                // SAFETY: the promise of the caller of `narrow_halves`.
                unsafe {
                    let value = H::narrow(from.add(index).read());
                    let at = if step == size_of::<H>() as isize { to.cast::<H>().add(index) } else {
                        to.offset(index as isize * step).cast::<H>()
                    };
                    at.write_unaligned(value);
                }
            }
        }
    }
    all::<H>(from, to, step, count);
}
