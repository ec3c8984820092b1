//! Comparison (spec, "compare") and selection.

use std::marker::PhantomData;

use crate::element::{Bool, Complex, Element, Float};
use crate::map::{Map2, Map3};

/// Which elements are in which order; numbers that are unordered are in none.
pub(crate) trait Ordered: Element {
    fn is_equal(self, other: Self) -> bool;
    fn is_less(self, other: Self) -> bool;
    fn is_at_most(self, other: Self) -> bool;
}

macro_rules! ordered {
    ($($ty:ty),*) => {$(
        impl Ordered for $ty {
            #[inline(always)]
            fn is_equal(self, other: Self) -> bool {
                self == other
            }

            #[inline(always)]
            fn is_less(self, other: Self) -> bool {
                self < other
            }

            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool {
                self <= other
            }
        }
    )*};
}
ordered!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

macro_rules! ordered_through {
    ($($ty:ty, $x:ident => $key:expr;)*) => {$(
        impl Ordered for $ty {
            #[inline(always)]
            fn is_equal(self, other: Self) -> bool {
                ({ let $x = self; $key }) == ({ let $x = other; $key })
            }

            #[inline(always)]
            fn is_less(self, other: Self) -> bool {
                ({ let $x = self; $key }) < ({ let $x = other; $key })
            }

            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool {
                ({ let $x = self; $key }) <= ({ let $x = other; $key })
            }
        }
    )*};
}
ordered_through! {
    Bool, x => x.0;
    crate::element::Half, x => x.widen();
    crate::element::Brain, x => x.widen();
}

/// By real part, then by imaginary part; a part that is unordered leaves the numbers so.
macro_rules! ordered_complex {
    ($($part:ty),*) => {$(
        impl Ordered for Complex<$part> {
            #[inline(always)]
            fn is_equal(self, other: Self) -> bool {
                self.re == other.re && self.im == other.im
            }

            #[inline(always)]
            fn is_less(self, other: Self) -> bool {
                let is_ordered = !self.im.is_nan() && !other.im.is_nan();
                is_ordered && self.re < other.re || self.re == other.re && self.im < other.im
            }

            #[inline(always)]
            fn is_at_most(self, other: Self) -> bool {
                let is_ordered = !self.im.is_nan() && !other.im.is_nan();
                is_ordered && self.re < other.re || self.re == other.re && self.im <= other.im
            }
        }
    )*};
}
ordered_complex!(f32, f64);

/// A float by the total order of its encodings.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Total<T>(T);

impl<T: Float> Element for Total<T> {
    const TYPE: artifact_ir::types::ElementType = T::TYPE;
    const HAS_V4: bool = false;
}

impl<T: Float> Ordered for Total<T> {
    #[inline(always)]
    fn is_equal(self, other: Self) -> bool {
        self.0.total_key() == other.0.total_key()
    }

    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self.0.total_key() < other.0.total_key()
    }

    #[inline(always)]
    fn is_at_most(self, other: Self) -> bool {
        self.0.total_key() <= other.0.total_key()
    }
}

macro_rules! relations {
    ($($name:ident($a:ident, $b:ident) = $holds:expr;)*) => {$(
        /// The function of a routine.
        pub(crate) struct $name<T>(PhantomData<T>);

        impl<T: Ordered> Map2 for $name<T> {
            type In = T;
            type Out = Bool;

            #[inline(always)]
            fn apply($a: T, $b: T) -> Bool {
                Bool(u8::from($holds))
            }
        }
    )*};
}

relations! {
    Equal(a, b) = a.is_equal(b);
    NotEqual(a, b) = !a.is_equal(b);
    Less(a, b) = a.is_less(b);
    AtMost(a, b) = a.is_at_most(b);
    Greater(a, b) = b.is_less(a);
    AtLeast(a, b) = b.is_at_most(a);
}

/// The second or the third element, as the first one is true or false.
pub(crate) struct Select<T>(PhantomData<T>);

impl<T: Element> Map3 for Select<T> {
    type First = Bool;
    type In = T;
    type Out = T;

    #[inline(always)]
    fn apply(predicate: Bool, on_true: T, on_false: T) -> T {
        if predicate.0 != 0 { on_true } else { on_false }
    }
}
