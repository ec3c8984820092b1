//! What two elements become where updates meet elements or windows are reduced.

use artifact_ir::types::ElementType;

use crate::level::leveled;
use crate::number::{Bf16, F16, Half, Number, Truth, c32, c64, read_float, read_integer};

/// An operation on an accumulator and a new element, as StableHLO defines it for the element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The new element.
    Replace,
    /// The sum; `or` of booleans. Integers wrap.
    Add,
    /// The product; `and` of booleans. Integers wrap.
    Multiply,
    /// The larger one: NaN wins, and 0 is larger than -0.
    Maximum,
    /// The smaller one: NaN wins, and -0 is smaller than 0.
    Minimum,
    /// Bitwise `and`.
    And,
    /// Bitwise `or`.
    Or,
    /// Bitwise `xor`.
    Xor,
}

/// An operation of the program on several arrays at once: pointers to the accumulators and to the new elements of each array,
/// and how many lie together from there on.
pub type CombineRun<'a> = dyn Fn(&[*mut u8], &[*const u8], usize) + Sync + 'a;

/// How arrays are combined.
#[derive(Clone, Copy)]
pub enum Combiner<'a> {
    /// Each array by an operation of its own.
    Each(&'a [Combine]),
    /// All arrays together.
    Together(&'a CombineRun<'a>),
}

impl std::fmt::Debug for Combiner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Each(each) => f.debug_tuple("Each").field(each).finish(),
            Self::Together(_) => f.write_str("Together"),
        }
    }
}

/// Elements in a row: the first and the step to the next in bytes.
pub(crate) type Row<P> = (P, isize);

/// Combines rows of as many elements: `accumulators[i] = op(accumulators[i], elements[i])`.
pub(crate) type Kernel = unsafe fn(Row<*mut u8>, Row<*const u8>, usize);

/// Combines a row with itself from its first element on: `results[i] = op(results[i - 1], elements[i])`, where the one before
/// the first is the element at the pointer.
pub(crate) type Scan = unsafe fn(Row<*mut u8>, Row<*const u8>, usize, *const u8);

/// The loops of an operation on a type.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    pub(crate) combine: Kernel,
    pub(crate) scan: Scan,
}

const fn kernels<T: Copy, O: Operation<T>>() -> Kernels {
    Kernels {
        combine: combine::<T, O>,
        scan: scan::<T, O>,
    }
}

impl Combine {
    /// Whether elements of a type can be combined.
    #[must_use]
    pub fn supports(self, element: ElementType) -> bool {
        self.kernel(element).is_some()
    }

    /// Whether an accumulator that began with the element at `init` is left alone by combining it with that element again.
    ///
    /// # Safety
    /// There is an element of the type at `init`.
    pub(crate) unsafe fn is_neutral(self, element: ElementType, init: *const u8) -> bool {
        let holds = |value: i8| {
            // SAFETY: the caller's promise.
            unsafe {
                if element.is_float() {
                    read_float(element, init) == f64::from(value)
                } else if element.is_integer() {
                    read_integer(element, init) == i128::from(value)
                } else {
                    value == 0 && (0..element.bytes()).all(|at| init.add(at).read() == 0)
                }
            }
        };
        match self {
            Self::Replace => false,
            Self::Maximum | Self::Minimum | Self::And | Self::Or => true,
            Self::Add => element.is_boolean() || holds(0),
            Self::Multiply => element.is_boolean() || holds(1),
            Self::Xor => holds(0),
        }
    }

    /// The loop that combines rows of a type, if there is one.
    pub(crate) fn kernel(self, element: ElementType) -> Option<Kernel> {
        self.kernels(element).map(|kernels| kernels.combine)
    }

    /// The loops for elements of a type, if there are any.
    pub(crate) fn kernels(self, element: ElementType) -> Option<Kernels> {
        use ElementType as E;
        Some(match (self, element) {
            (Self::Replace, _) => match element.bytes() {
                1 => kernels::<u8, Replace>(),
                2 => kernels::<u16, Replace>(),
                4 => kernels::<u32, Replace>(),
                8 => kernels::<u64, Replace>(),
                _ => kernels::<u128, Replace>(),
            },
            (Self::Add, E::I1) | (Self::Maximum | Self::Or, E::I1) => kernels::<Truth, Plus>(),
            (Self::Multiply, E::I1) | (Self::Minimum | Self::And, E::I1) => kernels::<Truth, Times>(),
            (Self::Add, _) => numeric::<Plus>(element)?,
            (Self::Multiply, _) => numeric::<Times>(element)?,
            (Self::Maximum, _) => ordered::<Larger>(element)?,
            (Self::Minimum, _) => ordered::<Smaller>(element)?,
            (Self::And, _) => bitwise::<And>(element)?,
            (Self::Or, _) => bitwise::<Or>(element)?,
            (Self::Xor, _) => bitwise::<Xor>(element)?,
        })
    }
}

/// An operation on two elements of a type.
trait Operation<T>: 'static {
    fn apply(accumulator: T, element: T) -> T;
}

struct Replace;
struct Plus;
struct Times;
struct Larger;
struct Smaller;
struct And;
struct Or;
struct Xor;

impl<T> Operation<T> for Replace {
    #[inline(always)]
    fn apply(_: T, element: T) -> T {
        element
    }
}

impl<T: Number> Operation<T> for Plus {
    #[inline(always)]
    fn apply(accumulator: T, element: T) -> T {
        accumulator.plus(element)
    }
}

impl<T: Number> Operation<T> for Times {
    #[inline(always)]
    fn apply(accumulator: T, element: T) -> T {
        accumulator.times(element)
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Operation<$ty> for Larger {
            #[inline(always)]
            fn apply(accumulator: $ty, element: $ty) -> $ty {
                accumulator.max(element)
            }
        }

        impl Operation<$ty> for Smaller {
            #[inline(always)]
            fn apply(accumulator: $ty, element: $ty) -> $ty {
                accumulator.min(element)
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! words {
    ($($ty:ty)*) => {$(
        impl Operation<$ty> for And {
            #[inline(always)]
            fn apply(accumulator: $ty, element: $ty) -> $ty {
                accumulator & element
            }
        }

        impl Operation<$ty> for Or {
            #[inline(always)]
            fn apply(accumulator: $ty, element: $ty) -> $ty {
                accumulator | element
            }
        }

        impl Operation<$ty> for Xor {
            #[inline(always)]
            fn apply(accumulator: $ty, element: $ty) -> $ty {
                accumulator ^ element
            }
        }
    )*};
}

words!(u8 u16 u32 u64);

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Operation<$ty> for Larger {
            #[inline(always)]
            fn apply(a: $ty, b: $ty) -> $ty {
                let larger = if a > b || a == b && a.is_sign_positive() { a } else { b };
                if a.is_nan() || b.is_nan() { <$ty>::NAN } else { larger }
            }
        }

        impl Operation<$ty> for Smaller {
            #[inline(always)]
            fn apply(a: $ty, b: $ty) -> $ty {
                let smaller = if a < b || a == b && a.is_sign_negative() { a } else { b };
                if a.is_nan() || b.is_nan() { <$ty>::NAN } else { smaller }
            }
        }
    )*};
}

floats!(f32 f64);

macro_rules! halves {
    ($($ty:ty)*) => {$(
        impl Operation<$ty> for Larger {
            #[inline(always)]
            fn apply(accumulator: $ty, element: $ty) -> $ty {
                <$ty>::narrow(Self::apply(accumulator.widen(), element.widen()))
            }
        }

        impl Operation<$ty> for Smaller {
            #[inline(always)]
            fn apply(accumulator: $ty, element: $ty) -> $ty {
                <$ty>::narrow(Self::apply(accumulator.widen(), element.widen()))
            }
        }
    )*};
}

halves!(Bf16 F16);

fn numeric<O>(element: ElementType) -> Option<Kernels>
where
    O: Operation<u8> + Operation<u16> + Operation<u32> + Operation<u64> + Operation<f32> + Operation<f64>,
    O: Operation<Bf16> + Operation<F16> + Operation<c32> + Operation<c64>,
{
    use ElementType as E;
    Some(match element {
        E::F32 => kernels::<f32, O>(),
        E::F64 => kernels::<f64, O>(),
        E::BF16 => kernels::<Bf16, O>(),
        E::F16 => kernels::<F16, O>(),
        E::C64 => kernels::<c32, O>(),
        E::C128 => kernels::<c64, O>(),
        // Narrower integers would have to be wrapped.
        E::I8 | E::UI8 => kernels::<u8, O>(),
        E::I16 | E::UI16 => kernels::<u16, O>(),
        E::I32 | E::UI32 => kernels::<u32, O>(),
        E::I64 | E::UI64 | E::Index => kernels::<u64, O>(),
        _ => return None,
    })
}

fn ordered<O>(element: ElementType) -> Option<Kernels>
where
    O: Operation<u8> + Operation<u16> + Operation<u32> + Operation<u64> + Operation<f32> + Operation<f64>,
    O: Operation<i8> + Operation<i16> + Operation<i32> + Operation<i64> + Operation<Bf16> + Operation<F16>,
{
    use ElementType as E;
    Some(match element {
        E::F32 => kernels::<f32, O>(),
        E::F64 => kernels::<f64, O>(),
        E::BF16 => kernels::<Bf16, O>(),
        E::F16 => kernels::<F16, O>(),
        E::I2 | E::I4 | E::I8 => kernels::<i8, O>(),
        E::I16 => kernels::<i16, O>(),
        E::I32 => kernels::<i32, O>(),
        E::I64 => kernels::<i64, O>(),
        E::UI2 | E::UI4 | E::UI8 => kernels::<u8, O>(),
        E::UI16 => kernels::<u16, O>(),
        E::UI32 => kernels::<u32, O>(),
        E::UI64 | E::Index => kernels::<u64, O>(),
        _ => return None,
    })
}

fn bitwise<O: Operation<u8> + Operation<u16> + Operation<u32> + Operation<u64>>(
    element: ElementType,
) -> Option<Kernels> {
    if !element.is_integer() && !element.is_boolean() {
        return None;
    }
    Some(match element.bytes() {
        1 => kernels::<u8, O>(),
        2 => kernels::<u16, O>(),
        4 => kernels::<u32, O>(),
        _ => kernels::<u64, O>(),
    })
}

/// # Safety
/// The accumulators may be read and written, the elements read; they do not overlap.
unsafe fn combine<T: Copy, O: Operation<T>>(to: Row<*mut u8>, from: Row<*const u8>, count: usize) {
    leveled! {
        fn together[T: Copy, O: Operation<T>](to: *mut T, from: *const T, count: usize) {
            for at in 0..count {
                // SAFETY: the promise of the caller of `combine`.
                unsafe {
                    let value = O::apply(to.add(at).read_unaligned(), from.add(at).read_unaligned());
                    to.add(at).write_unaligned(value);
                }
            }
        }
    }
    let width = size_of::<T>() as isize;
    if count > 1 && to.1 == width && from.1 == width {
        return together::<T, O>(to.0.cast(), from.0.cast(), count);
    }
    for at in 0..count as isize {
        // SAFETY: the caller's promise.
        unsafe {
            let place = to.0.offset(at * to.1).cast::<T>();
            let element = from.0.offset(at * from.1).cast::<T>().read_unaligned();
            place.write_unaligned(O::apply(place.read_unaligned(), element));
        }
    }
}

/// # Safety
/// The results may be written, the elements and the one at `init` read; results and elements do not overlap unless each is read
/// before it is written.
unsafe fn scan<T: Copy, O: Operation<T>>(
    to: Row<*mut u8>,
    from: Row<*const u8>,
    count: usize,
    init: *const u8,
) {
    // SAFETY: the caller's promise.
    let mut accumulator = unsafe { init.cast::<T>().read_unaligned() };
    for at in 0..count as isize {
        // SAFETY: the caller's promise.
        unsafe {
            let element = from.0.offset(at * from.1).cast::<T>().read_unaligned();
            accumulator = O::apply(accumulator, element);
            to.0.offset(at * to.1).cast::<T>().write_unaligned(accumulator);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_nans() {
        let check = |a: f32, b: f32, larger: f32, smaller: f32| {
            assert_eq!(Larger::apply(a, b).to_bits(), larger.to_bits(), "max({a}, {b})");
            assert_eq!(Smaller::apply(a, b).to_bits(), smaller.to_bits(), "min({a}, {b})");
        };
        check(0.0, -0.0, 0.0, -0.0);
        check(-0.0, 0.0, 0.0, -0.0);
        check(1.0, f32::NAN, f32::NAN, f32::NAN);
        check(f32::NAN, f32::INFINITY, f32::NAN, f32::NAN);
        check(-1.0, 2.0, 2.0, -1.0);
    }
}
