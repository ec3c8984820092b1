//! Shapes: broadcasting, reshaping, and moving elements.

use artifact_dims::Expr;
use artifact_ir::module::ValueId;
use artifact_ir::op::{
    BroadcastInDim, Concatenate, Creation, DynamicBroadcastInDim, Iota, Shape, Slice, Transpose,
};
use artifact_ir::types::ElementType;

use crate::tensor::{Tensor, here, shape_text};
use crate::trace::{Trace, type_of};

pub(crate) fn is_static(shape: &[Expr]) -> bool {
    shape.iter().all(|size| size.as_constant().is_some())
}

/// Spreads a value over a shape; each dimension of the value goes to one of the result.
pub(crate) fn spread(
    trace: &mut Trace,
    value: ValueId,
    dimensions: &[usize],
    shape: &[Expr],
    dtype: ElementType,
) -> Result<ValueId, String> {
    let broadcast_dimensions: Vec<i64> = dimensions.iter().map(|dim| *dim as i64).collect();
    let ty = type_of(shape, dtype);
    if is_static(shape) {
        let op = Shape::BroadcastInDim(BroadcastInDim { broadcast_dimensions });
        return trace.emit(op, &[value], ty);
    }
    let sizes = trace.shape_operand(shape)?;
    let op = Shape::DynamicBroadcastInDim(Box::new(DynamicBroadcastInDim {
        broadcast_dimensions,
        known_expanding_dimensions: None,
        known_nonexpanding_dimensions: None,
    }));
    trace.emit(op, &[value, sizes], ty)
}

/// The shape that two broadcast to by NumPy's rules: aligned at the last dimension, where a size of 1 repeats.
pub(crate) fn broadcast_shape(a: &Tensor, b: &Tensor) -> Result<Vec<Expr>, String> {
    let rank = a.rank().max(b.rank());
    let one = Expr::constant(1);
    let at = |tensor: &Tensor, dim: usize| {
        let missing = rank - tensor.rank();
        dim.checked_sub(missing).map(|dim| tensor.shape[dim].clone())
    };
    let size = |dim: usize| match (at(a, dim), at(b, dim)) {
        (Some(x), Some(y)) if x == one => Ok(y),
        (Some(x), Some(y)) if y == one => Ok(x),
        (Some(x), Some(y)) => {
            let what = format!(
                "{} and {} do not broadcast: the sizes of dimension {dim}",
                a.shape_text(),
                b.shape_text()
            );
            a.ensure_equal(&what, &x, &y).map(|()| x)
        }
        (Some(x), None) | (None, Some(x)) => Ok(x),
        (None, None) => Ok(one.clone()),
    };
    (0..rank).map(size).collect()
}

impl Tensor {
    /// The tensor repeated along new leading dimensions and dimensions of size 1 until it has a shape.
    #[track_caller]
    #[must_use]
    pub fn broadcast_to(&self, shape: &[Expr]) -> Self {
        let place = here();
        if self.shape == shape {
            return self.clone();
        }
        let Some(missing) = shape.len().checked_sub(self.rank()) else {
            let message = format!(
                "{} cannot be broadcast to {}",
                self.shape_text(),
                shape_text(shape)
            );
            return self.mistaken(place, message);
        };
        for (from, to) in self.shape.iter().zip(&shape[missing..]) {
            if *from != Expr::constant(1) {
                let what = format!(
                    "{} cannot be broadcast to {}: sizes",
                    self.shape_text(),
                    shape_text(shape)
                );
                if let Err(message) = self.ensure_equal(&what, from, to) {
                    return self.mistaken(place, message);
                }
            }
        }
        let dimensions: Vec<usize> = (missing..shape.len()).collect();
        self.traced(place, shape.to_vec(), self.dtype, |trace| {
            spread(trace, self.value, &dimensions, shape, self.dtype)
        })
    }

    /// The same elements in row-major order in another shape of as many.
    #[track_caller]
    #[must_use]
    pub fn reshape(&self, shape: &[Expr]) -> Self {
        let place = here();
        let count = |shape: &[Expr]| {
            shape
                .iter()
                .try_fold(Expr::constant(1), |product, size| product.mul(size))
        };
        let counts = count(&self.shape).and_then(|from| Ok((from, count(shape)?)));
        let (from, to) = match counts {
            Ok(counts) => counts,
            Err(error) => return self.mistaken(place, format!("the sizes cannot be multiplied: {error}")),
        };
        let what = format!(
            "{} cannot be reshaped to {}: the numbers of elements",
            self.shape_text(),
            shape_text(shape)
        );
        if let Err(message) = self.ensure_equal(&what, &from, &to) {
            return self.mistaken(place, message);
        }
        self.traced(place, shape.to_vec(), self.dtype, |trace| {
            let ty = type_of(shape, self.dtype);
            if is_static(shape) && is_static(&self.shape) {
                return trace.emit(Shape::Reshape, &[self.value], ty);
            }
            let sizes = trace.shape_operand(shape)?;
            trace.emit(Shape::DynamicReshape, &[self.value, sizes], ty)
        })
    }

    /// The dimensions in another order: dimension `i` of the result is `order[i]` of this one.
    #[track_caller]
    #[must_use]
    pub fn transpose(&self, order: &[i64]) -> Self {
        let place = here();
        let order = match self.dimensions(order) {
            Ok(order) if order.len() == self.rank() => order,
            Ok(order) => {
                let message = format!(
                    "{} dimensions are ordered, {} has {}",
                    order.len(),
                    self.shape_text(),
                    self.rank()
                );
                return self.mistaken(place, message);
            }
            Err(message) => return self.mistaken(place, message),
        };
        let shape: Vec<Expr> = order.iter().map(|dim| self.shape[*dim].clone()).collect();
        let permutation = order.iter().map(|dim| *dim as i64).collect();
        self.traced(place, shape.clone(), self.dtype, |trace| {
            let op = Shape::Transpose(Transpose { permutation });
            trace.emit(op, &[self.value], type_of(&shape, self.dtype))
        })
    }

    /// The last two dimensions exchanged.
    #[track_caller]
    #[must_use]
    pub fn t(&self) -> Self {
        let rank = self.rank() as i64;
        let mut order: Vec<i64> = (0..rank).collect();
        if rank >= 2 {
            order.swap(self.rank() - 2, self.rank() - 1);
        }
        self.transpose(&order)
    }

    /// A new dimension of size 1 before dimension `dimension` (at the end for -1).
    #[track_caller]
    #[must_use]
    pub fn expand(&self, dimension: i64) -> Self {
        let place = here();
        let rank = self.rank() as i64;
        let at = if dimension < 0 {
            dimension + rank + 1
        } else {
            dimension
        };
        let Ok(at) = usize::try_from(at)
            .map_err(drop)
            .and_then(|at| if at <= self.rank() { Ok(at) } else { Err(()) })
        else {
            return self.mistaken(
                place,
                format!("no dimension can be put at {dimension} in {}", self.shape_text()),
            );
        };
        let mut shape = self.shape.clone();
        shape.insert(at, Expr::constant(1));
        let kept: Vec<usize> = (0..shape.len()).filter(|dim| *dim != at).collect();
        self.traced(place, shape.clone(), self.dtype, |trace| {
            spread(trace, self.value, &kept, &shape, self.dtype)
        })
    }

    /// From `start` to `end`, exclusive, of one dimension. Both are numbers; a dimension whose size is an expression must be
    /// known to reach `end`.
    #[track_caller]
    #[must_use]
    pub fn slice(&self, dimension: i64, start: u32, end: u32) -> Self {
        let place = here();
        let dimension = match self.dimension(dimension) {
            Ok(dimension) => dimension,
            Err(message) => return self.mistaken(place, message),
        };
        let size = &self.shape[dimension];
        let limit = Expr::constant(end.into());
        if start > end || !self.trace.borrow().scope().ge(size, &limit).is_yes() {
            let message = format!(
                "{start}..{end} is not known to be within dimension {dimension} of {}",
                self.shape_text()
            );
            return self.mistaken(place, message);
        }
        let mut shape = self.shape.clone();
        shape[dimension] = Expr::constant(i64::from(end) - i64::from(start));
        self.traced(place, shape.clone(), self.dtype, |trace| {
            let mut starts = vec![0; shape.len()];
            starts[dimension] = i64::from(start);
            let ty = type_of(&shape, self.dtype);
            if is_static(&self.shape) {
                let slice = Slice {
                    limit_indices: shape
                        .iter()
                        .zip(&starts)
                        .map(|(size, start)| start + size.as_constant().unwrap_or(0))
                        .collect(),
                    start_indices: starts,
                    strides: vec![1; shape.len()],
                };
                return trace.emit(Shape::Slice(slice.into()), &[self.value], ty);
            }
            let mut limits = self.shape.clone();
            limits[dimension] = Expr::constant(end.into());
            let starts: Vec<Expr> = starts.into_iter().map(Expr::constant).collect();
            let ones = vec![Expr::constant(1); shape.len()];
            let mut operands = vec![self.value];
            for list in [&starts, &limits, &ones] {
                operands.push(trace.shape_operand(list)?);
            }
            trace.emit(Shape::RealDynamicSlice, &operands, ty)
        })
    }

    /// Tensors one after the other along a dimension; the others must agree.
    #[track_caller]
    #[must_use]
    pub fn concatenate(&self, others: &[&Self], dimension: i64) -> Self {
        let place = here();
        let dimension = match self.dimension(dimension) {
            Ok(dimension) => dimension,
            Err(message) => return self.mistaken(place, message),
        };
        let mut shape = self.shape.clone();
        let mut values = vec![self.value];
        for other in others {
            if other.dtype != self.dtype || other.rank() != self.rank() {
                return self.mistaken(place, format!("{self:?} and {other:?} cannot be joined"));
            }
            for (dim, (left, right)) in self.shape.iter().zip(&other.shape).enumerate() {
                let what = format!("{self:?} and {other:?} cannot be joined: sizes of dimension {dim}");
                if dim != dimension
                    && let Err(message) = self.ensure_equal(&what, left, right)
                {
                    return self.mistaken(place, message);
                }
            }
            shape[dimension] = match shape[dimension].add(&other.shape[dimension]) {
                Ok(sum) => sum,
                Err(error) => return self.mistaken(place, error.to_string()),
            };
            values.push(other.value);
        }
        self.traced(place, shape.clone(), self.dtype, |trace| {
            let op = Shape::Concatenate(Concatenate {
                dimension: dimension as i64,
            });
            trace.emit(op, &values, type_of(&shape, self.dtype))
        })
    }

    /// Positions along a dimension of this tensor's shape, from 0, in a type of numbers.
    #[track_caller]
    #[must_use]
    pub fn iota_like(&self, dimension: i64, dtype: ElementType) -> Self {
        let place = here();
        let dimension = match self.dimension(dimension) {
            Ok(dimension) => dimension,
            Err(message) => return self.mistaken(place, message),
        };
        let shape = self.shape.clone();
        self.traced(place, shape.clone(), dtype, |trace| {
            let iota = Iota {
                iota_dimension: dimension as i64,
            };
            let ty = type_of(&shape, dtype);
            if is_static(&shape) {
                return trace.emit(Creation::Iota(iota), &[], ty);
            }
            let sizes = trace.shape_operand(&shape)?;
            trace.emit(Creation::DynamicIota(iota), &[sizes], ty)
        })
    }

    /// A number, in this tensor's type and shape.
    #[track_caller]
    #[must_use]
    pub fn full_like(&self, number: f64) -> Self {
        let place = here();
        self.traced(place, self.shape.clone(), self.dtype, |trace| {
            let scalar = trace.splat(number, self.dtype, &[])?;
            spread(trace, scalar, &[], &self.shape, self.dtype)
        })
    }
}
