//! Values of a graph, with the arithmetic of StableHLO.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use artifact_ir::attribute::{ComparisonDirection, ResultAccuracy};
use artifact_ir::module::ValueId;
use artifact_ir::op::{Binary, Elementwise, ReducePrecision, Transcendental, Unary};
use artifact_ir::types::{ElementType, Type};

use crate::graph::Graph;

/// A value; empty after a failure, which its graph reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term<'g> {
    graph: &'g Graph,
    id: Option<ValueId>,
}

/// The default accuracy, which is what every function is asked for.
fn accuracy() -> Transcendental {
    Transcendental {
        result_accuracy: ResultAccuracy::default(),
    }
}

impl<'g> Term<'g> {
    pub(crate) const fn new(graph: &'g Graph, id: Option<ValueId>) -> Self {
        Self { graph, id }
    }

    pub(crate) const fn id(self) -> Option<ValueId> {
        self.id
    }

    pub(crate) const fn graph(self) -> &'g Graph {
        self.graph
    }

    /// The type of its elements; that of `f32` after a failure, when it does not matter.
    pub(crate) fn element(self) -> ElementType {
        let ty = self.graph.tensor(self);
        ty.map_or(ElementType::F32, |ty| ty.element.storage())
    }

    /// A tensor of its shape and element, all of one number.
    pub(crate) fn splat(self, value: f64) -> Self {
        self.graph.splat(self, self.element(), value)
    }

    /// A polynomial of it; the coefficient of the lowest power comes first.
    pub(crate) fn polynomial(self, coefficients: &[f64]) -> Self {
        let Some((last, rest)) = coefficients.split_last() else {
            return self.splat(0.0);
        };
        rest.iter()
            .rev()
            .fold(self.splat(*last), |sum, coefficient| sum * self + *coefficient)
    }

    /// A sum of Chebyshev polynomials of it, by Clenshaw's recurrence; that of degree 0 comes first.
    pub(crate) fn chebyshev(self, coefficients: &[f64]) -> Self {
        let Some((first, rest)) = coefficients.split_first() else {
            return self.splat(0.0);
        };
        let double = self + self;
        let mut sums = [self.splat(0.0); 2];
        for coefficient in rest.iter().rev() {
            sums = [double * sums[0] - sums[1] + *coefficient, sums[0]];
        }
        self * sums[0] - sums[1] + *first
    }

    pub(crate) fn convert(self, element: ElementType) -> Self {
        match self.graph.tensor(self) {
            Some(ty) if ty.element.as_plain() != Some(element) => {
                let ty = Type::from(ty.with_element(element));
                self.graph.typed(Elementwise::Convert, &[self], ty)
            }
            _ => self,
        }
    }

    /// The bits as another type of the same width.
    pub(crate) fn bitcast(self, element: ElementType) -> Self {
        match self.graph.tensor(self) {
            Some(ty) => {
                let ty = Type::from(ty.with_element(element));
                self.graph.typed(Elementwise::BitcastConvert, &[self], ty)
            }
            None => self,
        }
    }

    /// Rounds to a format of these widths.
    pub(crate) fn reduce_precision(self, exponent_bits: i32, mantissa_bits: i32) -> Self {
        let op = ReducePrecision {
            exponent_bits,
            mantissa_bits,
        };
        self.graph.op(Elementwise::ReducePrecision(op), &[self])
    }

    fn unary(self, op: Unary) -> Self {
        self.graph.op(op, &[self])
    }

    pub(crate) fn binary(self, op: Binary, other: Self) -> Self {
        self.graph.op(op, &[self, other])
    }

    pub(crate) fn abs(self) -> Self {
        self.unary(Unary::Abs)
    }

    pub(crate) fn sign(self) -> Self {
        self.unary(Unary::Sign)
    }

    pub(crate) fn floor(self) -> Self {
        self.unary(Unary::Floor)
    }

    pub(crate) fn round(self) -> Self {
        self.unary(Unary::RoundNearestEven)
    }

    pub(crate) fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt(accuracy()))
    }

    pub(crate) fn exp(self) -> Self {
        self.unary(Unary::Exponential(accuracy()))
    }

    pub(crate) fn exp_m1(self) -> Self {
        self.unary(Unary::ExponentialMinusOne(accuracy()))
    }

    pub(crate) fn ln(self) -> Self {
        self.unary(Unary::Log(accuracy()))
    }

    pub(crate) fn ln_1p(self) -> Self {
        self.unary(Unary::LogPlusOne(accuracy()))
    }

    pub(crate) fn sin(self) -> Self {
        self.unary(Unary::Sine(accuracy()))
    }

    pub(crate) fn cos(self) -> Self {
        self.unary(Unary::Cosine(accuracy()))
    }

    pub(crate) fn tanh(self) -> Self {
        self.unary(Unary::Tanh(accuracy()))
    }

    pub(crate) fn real(self) -> Self {
        self.unary(Unary::Real)
    }

    pub(crate) fn imag(self) -> Self {
        self.unary(Unary::Imag)
    }

    /// The complex number of which this is the real part.
    pub(crate) fn complex(self, im: Self) -> Self {
        self.graph.op(Elementwise::Complex, &[self, im])
    }

    pub(crate) fn is_finite(self) -> Self {
        self.unary(Unary::IsFinite)
    }

    pub(crate) fn is_nan(self) -> Self {
        self.ne(self)
    }

    pub(crate) fn is_infinite(self) -> Self {
        self.abs().eq(self.splat(f64::INFINITY))
    }

    /// The angle of the point (`x`, self).
    pub(crate) fn atan2(self, x: Self) -> Self {
        self.binary(Binary::Atan2, x)
    }

    pub(crate) fn pow(self, power: Self) -> Self {
        self.binary(Binary::Power, power)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        self.binary(Binary::Maximum, other)
    }

    pub(crate) fn min(self, other: Self) -> Self {
        self.binary(Binary::Minimum, other)
    }

    /// This where `condition` holds, `other` elsewhere.
    pub(crate) fn when(self, condition: Self, other: Self) -> Self {
        self.graph.op(Elementwise::Select, &[condition, self, other])
    }

    /// As [`Self::when`], with a number.
    pub(crate) fn unless(self, condition: Self, value: f64) -> Self {
        self.splat(value).when(condition, self)
    }

    fn compare(self, direction: ComparisonDirection, other: Self) -> Self {
        self.graph.compare(direction, None, [self, other])
    }

    pub(crate) fn eq(self, other: Self) -> Self {
        self.compare(ComparisonDirection::Eq, other)
    }

    pub(crate) fn ne(self, other: Self) -> Self {
        self.compare(ComparisonDirection::Ne, other)
    }

    pub(crate) fn lt(self, other: Self) -> Self {
        self.compare(ComparisonDirection::Lt, other)
    }

    pub(crate) fn le(self, other: Self) -> Self {
        self.compare(ComparisonDirection::Le, other)
    }

    pub(crate) fn gt(self, other: Self) -> Self {
        self.compare(ComparisonDirection::Gt, other)
    }

    pub(crate) fn ge(self, other: Self) -> Self {
        self.compare(ComparisonDirection::Ge, other)
    }

    pub(crate) fn below(self, value: f64) -> Self {
        self.lt(self.splat(value))
    }

    pub(crate) fn above(self, value: f64) -> Self {
        self.gt(self.splat(value))
    }

    pub(crate) fn is(self, value: f64) -> Self {
        self.eq(self.splat(value))
    }

    /// Whether the sign bit of an `f32` or `f64` is set, that of a zero or not-a-number too.
    pub(crate) fn has_sign(self) -> Self {
        let bits = if self.element() == ElementType::F64 {
            ElementType::I64
        } else {
            ElementType::I32
        };
        let bits = self.bitcast(bits);
        bits.below(0.0)
    }

    /// This, which is not negative, with the sign of another number.
    pub(crate) fn with_sign_of(self, other: Self) -> Self {
        (-self).when(other.has_sign(), self)
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl $trait for Term<'_> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.binary(Binary::$op, other)
            }
        }

        impl $trait<f64> for Term<'_> {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                self.binary(Binary::$op, self.splat(other))
            }
        }

        impl<'g> $trait<Term<'g>> for f64 {
            type Output = Term<'g>;

            fn $method(self, other: Term<'g>) -> Term<'g> {
                other.splat(self).binary(Binary::$op, other)
            }
        }
    )*};
}

arithmetic! {
    Add add Add;
    Sub sub Subtract;
    Mul mul Multiply;
    Div div Divide;
}

impl Neg for Term<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        self.unary(Unary::Negate)
    }
}

impl Not for Term<'_> {
    type Output = Self;

    fn not(self) -> Self {
        self.unary(Unary::Not)
    }
}

impl BitAnd for Term<'_> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.binary(Binary::And, other)
    }
}

impl BitOr for Term<'_> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.binary(Binary::Or, other)
    }
}
