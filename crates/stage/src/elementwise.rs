//! Operations element by element, and the operators that stand for them.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use artifact_ir::attribute::{ComparisonDirection, ResultAccuracy};
use artifact_ir::op::{Binary, Compare, Elementwise, Op, Transcendental, Unary};
use artifact_ir::types::ElementType;

use crate::shape::broadcast_shape;
use crate::tensor::{Tensor, here};
use crate::trace::{Place, type_of};

impl Tensor {
    fn unary(&self, place: Place, op: Unary) -> Self {
        self.traced(place, self.shape.clone(), self.dtype, |trace| {
            trace.emit(op, &[self.value], type_of(&self.shape, self.dtype))
        })
    }

    /// Both operands in the shape that they broadcast to.
    #[track_caller]
    fn together(&self, other: &Self) -> Option<(Self, Self)> {
        let place = here();
        if self.dtype != other.dtype {
            let message = format!("the element types of {self:?} and {other:?} differ: convert one of them");
            self.mistaken(place, message);
            return None;
        }
        match broadcast_shape(self, other) {
            Ok(shape) => Some((self.broadcast_to(&shape), other.broadcast_to(&shape))),
            Err(message) => {
                self.mistaken(place, message);
                None
            }
        }
    }

    #[track_caller]
    fn binary(&self, other: &Self, op: impl Into<Op>, result: Option<ElementType>) -> Self {
        let place = here();
        let dtype = result.unwrap_or(self.dtype);
        match self.together(other) {
            Some((a, b)) => self.traced(place, a.shape.clone(), dtype, |trace| {
                trace.emit(op, &[a.value, b.value], type_of(&a.shape, dtype))
            }),
            None => self.with(self.value, self.shape.clone(), dtype),
        }
    }

    #[track_caller]
    fn compare(&self, other: &Self, comparison_direction: ComparisonDirection) -> Self {
        let compare = Compare {
            comparison_direction,
            compare_type: None,
        };
        self.binary(other, Elementwise::Compare(compare), Some(ElementType::I1))
    }

    /// The elements in another type (spec, "convert").
    #[track_caller]
    #[must_use]
    pub fn convert(&self, dtype: ElementType) -> Self {
        let place = here();
        if dtype == self.dtype {
            return self.clone();
        }
        self.traced(place, self.shape.clone(), dtype, |trace| {
            trace.emit(Elementwise::Convert, &[self.value], type_of(&self.shape, dtype))
        })
    }

    /// `self` where the mask holds, else `other`; all three broadcast.
    #[track_caller]
    #[must_use]
    pub fn where_(&self, mask: &Self, other: &Self) -> Self {
        let place = here();
        let Some((a, b)) = self.together(other) else {
            return self.clone();
        };
        let shape = match broadcast_shape(mask, &a) {
            Ok(shape) => shape,
            Err(message) => return self.mistaken(place, message),
        };
        let (mask, a, b) = (
            mask.broadcast_to(&shape),
            a.broadcast_to(&shape),
            b.broadcast_to(&shape),
        );
        self.traced(place, shape.clone(), self.dtype, |trace| {
            let operands = [mask.value, a.value, b.value];
            trace.emit(Elementwise::Select, &operands, type_of(&shape, self.dtype))
        })
    }

    /// The positive part.
    #[track_caller]
    #[must_use]
    pub fn relu(&self) -> Self {
        let zero = self.full_like(0.0);
        self.maximum(&zero)
    }

    /// `x * logistic(x)`.
    #[track_caller]
    #[must_use]
    pub fn silu(&self) -> Self {
        self * &self.logistic()
    }

    /// The tanh form of the Gaussian error linear unit (Hendrycks and Gimpel, 2016).
    #[track_caller]
    #[must_use]
    pub fn gelu(&self) -> Self {
        let cube = &(self * self) * self;
        let inner = (self + &(cube * 0.044_715)) * (2.0 / std::f64::consts::PI).sqrt();
        self * &((inner.tanh() + 1.0) * 0.5)
    }
}

macro_rules! unary {
    ($($(#[$meta:meta])* $name:ident => $op:expr;)*) => {
        impl Tensor {$(
            $(#[$meta])*
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Self {
                self.unary(here(), $op)
            }
        )*}
    };
}

fn accuracy() -> Transcendental {
    Transcendental {
        result_accuracy: ResultAccuracy::default(),
    }
}

unary! {
    /// Absolute value.
    abs => Unary::Abs;
    /// Round up.
    ceil => Unary::Ceil;
    /// Cosine.
    cos => Unary::Cosine(accuracy());
    /// e to the power of each element.
    exp => Unary::Exponential(accuracy());
    /// Round down.
    floor => Unary::Floor;
    /// Natural logarithm.
    log => Unary::Log(accuracy());
    /// Natural logarithm of one plus each element.
    log1p => Unary::LogPlusOne(accuracy());
    /// 1 / (1 + e^-x).
    logistic => Unary::Logistic(accuracy());
    /// Logical or bitwise not.
    logical_not => Unary::Not;
    /// Reciprocal of the square root.
    rsqrt => Unary::Rsqrt(accuracy());
    /// -1, 0 or 1.
    sign => Unary::Sign;
    /// Sine.
    sin => Unary::Sine(accuracy());
    /// Square root.
    sqrt => Unary::Sqrt(accuracy());
    /// Hyperbolic tangent.
    tanh => Unary::Tanh(accuracy());
}

macro_rules! binary {
    ($($(#[$meta:meta])* $name:ident => $op:expr;)*) => {
        impl Tensor {$(
            $(#[$meta])*
            #[track_caller]
            #[must_use]
            pub fn $name(&self, other: &Self) -> Self {
                self.binary(other, $op, None)
            }
        )*}
    };
}

binary! {
    /// Logical or bitwise and.
    logical_and => Binary::And;
    /// Logical or bitwise or.
    logical_or => Binary::Or;
    /// The larger of each pair.
    maximum => Binary::Maximum;
    /// The smaller of each pair.
    minimum => Binary::Minimum;
    /// Each element to the power of the other's.
    pow => Binary::Power;
}

macro_rules! comparisons {
    ($($(#[$meta:meta])* $name:ident => $direction:ident;)*) => {
        impl Tensor {$(
            $(#[$meta])*
            #[track_caller]
            #[must_use]
            pub fn $name(&self, other: &Self) -> Self {
                self.compare(other, ComparisonDirection::$direction)
            }
        )*}
    };
}

comparisons! {
    /// Where the elements are equal.
    equal => Eq;
    /// Where the elements differ.
    not_equal => Ne;
    /// Where the left elements are larger.
    greater => Gt;
    /// Where the left elements are larger or equal.
    greater_equal => Ge;
    /// Where the left elements are smaller.
    less => Lt;
    /// Where the left elements are smaller or equal.
    less_equal => Le;
}

macro_rules! operators {
    ($($operator:ident $method:ident => $op:expr;)*) => {$(
        impl $operator<&Tensor> for &Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, other: &Tensor) -> Tensor {
                self.binary(other, $op, None)
            }
        }

        impl $operator<Tensor> for &Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, other: Tensor) -> Tensor {
                self.binary(&other, $op, None)
            }
        }

        impl $operator<&Tensor> for Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, other: &Tensor) -> Tensor {
                self.binary(other, $op, None)
            }
        }

        impl $operator for Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, other: Tensor) -> Tensor {
                self.binary(&other, $op, None)
            }
        }

        impl $operator<f64> for &Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, number: f64) -> Tensor {
                let number = self.full_like(number);
                self.binary(&number, $op, None)
            }
        }

        impl $operator<f64> for Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, number: f64) -> Tensor {
                let number = self.full_like(number);
                self.binary(&number, $op, None)
            }
        }

        impl $operator<&Tensor> for f64 {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, other: &Tensor) -> Tensor {
                let number = other.full_like(self);
                number.binary(other, $op, None)
            }
        }

        impl $operator<Tensor> for f64 {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, other: Tensor) -> Tensor {
                let number = other.full_like(self);
                number.binary(&other, $op, None)
            }
        }
    )*};
}

operators! {
    Add add => Binary::Add;
    Div div => Binary::Divide;
    Mul mul => Binary::Multiply;
    Rem rem => Binary::Remainder;
    Sub sub => Binary::Subtract;
}

impl Neg for &Tensor {
    type Output = Tensor;

    #[track_caller]
    fn neg(self) -> Tensor {
        self.unary(here(), Unary::Negate)
    }
}

impl Neg for Tensor {
    type Output = Tensor;

    #[track_caller]
    fn neg(self) -> Tensor {
        self.unary(here(), Unary::Negate)
    }
}
