//! Reductions, and what is made of them.

use artifact_dims::Expr;
use artifact_ir::op::{Binary, Op, Reduce, Reduction};
use artifact_ir::types::ElementType;

use crate::tensor::{Tensor, here};
use crate::trace::{Place, type_of};

/// What elements are combined with, and what there is where no element is.
#[derive(Clone, Copy)]
enum Combiner {
    Sum,
    Product,
    Maximum,
    Minimum,
}

impl Combiner {
    const fn op(self) -> Binary {
        match self {
            Self::Sum => Binary::Add,
            Self::Product => Binary::Multiply,
            Self::Maximum => Binary::Maximum,
            Self::Minimum => Binary::Minimum,
        }
    }

    fn initial(self, dtype: ElementType) -> f64 {
        let bits = dtype.bits().min(53);
        match self {
            Self::Sum => 0.0,
            Self::Product => 1.0,
            Self::Maximum if dtype.is_float() => f64::NEG_INFINITY,
            Self::Minimum if dtype.is_float() => f64::INFINITY,
            Self::Maximum if dtype.is_signed_integer() => -(2.0_f64.powi(dtype.bits() as i32 - 1)),
            Self::Maximum => 0.0,
            Self::Minimum if dtype.is_signed_integer() => {
                2.0_f64.powi(bits.min(dtype.bits() - 1) as i32) - 1.0
            }
            Self::Minimum => 2.0_f64.powi(bits as i32) - 1.0,
        }
    }
}

impl Tensor {
    fn reduced(&self, place: Place, combiner: Combiner, dimensions: &[i64], keep: bool) -> Self {
        let dropped = match self.dimensions(dimensions) {
            Ok(dimensions) => dimensions,
            Err(message) => return self.mistaken(place, message),
        };
        let kept: Vec<usize> = (0..self.rank()).filter(|dim| !dropped.contains(dim)).collect();
        let shape: Vec<Expr> = kept.iter().map(|dim| self.shape[*dim].clone()).collect();
        let mut sorted: Vec<i64> = dropped.iter().map(|dim| *dim as i64).collect();
        sorted.sort_unstable();
        let result = self.traced(place, shape.clone(), self.dtype, |trace| {
            let initial = trace.splat(combiner.initial(self.dtype), self.dtype, &[])?;
            let reduce = Op::from(Reduction::Reduce(Reduce { dimensions: sorted }));
            let op = trace.begin(reduce, &[self.value, initial]);
            let scalar = type_of(&[], self.dtype);
            let arguments = trace.enter(op, &[scalar.clone(), scalar.clone()]);
            let combined = trace.emit(combiner.op(), &arguments, scalar);
            trace.leave(combined.as_ref().map_or(&[][..], std::slice::from_ref));
            combined?;
            let results = trace.end(op, &[type_of(&shape, self.dtype)])?;
            Ok(results[0])
        });
        if !keep {
            return result;
        }
        let mut with_ones = self.shape.clone();
        for dim in &dropped {
            with_ones[*dim] = Expr::constant(1);
        }
        self.traced(place, with_ones.clone(), self.dtype, |trace| {
            crate::shape::spread(trace, result.value, &kept, &with_ones, self.dtype)
        })
    }

    /// The sum over dimensions.
    #[track_caller]
    #[must_use]
    pub fn sum(&self, dimensions: &[i64]) -> Self {
        self.reduced(here(), Combiner::Sum, dimensions, false)
    }

    /// The product over dimensions.
    #[track_caller]
    #[must_use]
    pub fn prod(&self, dimensions: &[i64]) -> Self {
        self.reduced(here(), Combiner::Product, dimensions, false)
    }

    /// The largest element over dimensions.
    #[track_caller]
    #[must_use]
    pub fn max(&self, dimensions: &[i64]) -> Self {
        self.reduced(here(), Combiner::Maximum, dimensions, false)
    }

    /// The smallest element over dimensions.
    #[track_caller]
    #[must_use]
    pub fn min(&self, dimensions: &[i64]) -> Self {
        self.reduced(here(), Combiner::Minimum, dimensions, false)
    }

    /// The mean over dimensions; elements must be floats.
    #[track_caller]
    #[must_use]
    pub fn mean(&self, dimensions: &[i64]) -> Self {
        let place = here();
        self.averaged(place, dimensions, false)
    }

    fn averaged(&self, place: Place, dimensions: &[i64], keep: bool) -> Self {
        let sum = self.reduced(place, Combiner::Sum, dimensions, keep);
        let sizes = self.dimensions(dimensions).unwrap_or_default();
        let count = sizes
            .iter()
            .try_fold(Expr::constant(1), |count, dim| count.mul(&self.shape[*dim]));
        let count = match count {
            Ok(count) => count,
            Err(error) => return self.mistaken(place, error.to_string()),
        };
        let divisor = self.traced(place, Vec::new(), ElementType::I32, |trace| trace.size(&count));
        let divisor = divisor.traced(place, Vec::new(), self.dtype, |trace| {
            trace.emit(
                artifact_ir::op::Elementwise::Convert,
                &[divisor.value],
                type_of(&[], self.dtype),
            )
        });
        sum / divisor
    }

    /// e to the power of each element, divided by their sum along a dimension.
    #[track_caller]
    #[must_use]
    pub fn softmax(&self, dimension: i64) -> Self {
        let place = here();
        let largest = self.reduced(place, Combiner::Maximum, &[dimension], true);
        let powers = (self - largest).exp();
        let sum = powers.reduced(place, Combiner::Sum, &[dimension], true);
        powers / sum
    }

    /// The logarithm of [`Tensor::softmax`].
    #[track_caller]
    #[must_use]
    pub fn log_softmax(&self, dimension: i64) -> Self {
        let place = here();
        let largest = self.reduced(place, Combiner::Maximum, &[dimension], true);
        let shifted = self - largest;
        let sum = shifted.exp().reduced(place, Combiner::Sum, &[dimension], true);
        shifted - sum.log()
    }

    /// The elements along the last dimension with mean 0 and variance 1, then scaled and moved (Ba, Kiros and Hinton, 2016).
    #[track_caller]
    #[must_use]
    pub fn layer_norm(&self, scale: &Self, bias: &Self, epsilon: f64) -> Self {
        let place = here();
        let centered = self - self.averaged(place, &[-1], true);
        let variance = (&centered * &centered).averaged(place, &[-1], true);
        let normal = centered * (variance + epsilon).rsqrt();
        normal * scale + bias
    }
}
