//! Rows by index: `take` and `scatter_add`.

use artifact_dims::Expr;
use artifact_ir::attribute::{GatherDimensionNumbers, ScatterDimensionNumbers};
use artifact_ir::op::{Binary, DynamicGather, Gather, Indexing, Op, Scatter};

use crate::shape::is_static;
use crate::tensor::{Tensor, here};
use crate::trace::type_of;

impl Tensor {
    /// The rows (along dimension 0) that an integer tensor names, clamped into range: the shape is that of the indices, then
    /// that of a row.
    #[track_caller]
    #[must_use]
    pub fn take(&self, indices: &Self) -> Self {
        let place = here();
        if self.rank() == 0 || !indices.dtype.is_integer() {
            return self.mistaken(place, format!("{self:?} has no rows that {indices:?} names"));
        }
        let (index_rank, row) = (indices.rank(), &self.shape[1..]);
        let shape: Vec<Expr> = indices.shape.iter().chain(row).cloned().collect();
        let dimension_numbers = GatherDimensionNumbers {
            offset_dims: (index_rank..shape.len()).map(|dim| dim as i64).collect(),
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            index_vector_dim: index_rank as i64,
            ..GatherDimensionNumbers::default()
        };
        let sizes: Vec<Expr> = std::iter::once(Expr::constant(1))
            .chain(row.iter().cloned())
            .collect();
        self.traced(place, shape.clone(), self.dtype, |trace| {
            let ty = type_of(&shape, self.dtype);
            if is_static(&sizes) {
                let gather = Gather {
                    dimension_numbers,
                    slice_sizes: sizes.iter().filter_map(Expr::as_constant).collect(),
                    indices_are_sorted: false,
                };
                return trace.emit(
                    Indexing::Gather(Box::new(gather)),
                    &[self.value, indices.value],
                    ty,
                );
            }
            let gather = DynamicGather {
                dimension_numbers,
                indices_are_sorted: false,
            };
            let sizes = trace.shape_operand(&sizes)?;
            trace.emit(
                Indexing::DynamicGather(Box::new(gather)),
                &[self.value, indices.value, sizes],
                ty,
            )
        })
    }

    /// The tensor with rows (along dimension 0) added to: `updates` has one for each index. Indices out of range add nothing.
    #[track_caller]
    #[must_use]
    pub fn scatter_add(&self, indices: &Self, updates: &Self) -> Self {
        let place = here();
        let index_rank = indices.rank();
        let fits = self.rank() > 0
            && indices.dtype.is_integer()
            && updates.dtype == self.dtype
            && updates.rank() == index_rank + self.rank() - 1;
        if !fits {
            return self.mistaken(
                place,
                format!("{updates:?} at {indices:?} cannot be added to {self:?}"),
            );
        }
        let expected = indices.shape.iter().chain(&self.shape[1..]);
        for (size, expected) in updates.shape.iter().zip(expected) {
            let what = format!("{updates:?} at {indices:?} cannot be added to {self:?}: sizes");
            if let Err(message) = self.ensure_equal(&what, size, expected) {
                return self.mistaken(place, message);
            }
        }
        let scatter_dimension_numbers = ScatterDimensionNumbers {
            update_window_dims: (index_rank..updates.rank()).map(|dim| dim as i64).collect(),
            inserted_window_dims: vec![0],
            scatter_dims_to_operand_dims: vec![0],
            index_vector_dim: index_rank as i64,
            ..ScatterDimensionNumbers::default()
        };
        self.traced(place, self.shape.clone(), self.dtype, |trace| {
            let scatter = Op::from(Indexing::Scatter(Box::new(Scatter {
                scatter_dimension_numbers,
                indices_are_sorted: false,
                unique_indices: false,
            })));
            let op = trace.begin(scatter, &[self.value, indices.value, updates.value]);
            let scalar = type_of(&[], self.dtype);
            let arguments = trace.enter(op, &[scalar.clone(), scalar.clone()]);
            let sum = trace.emit(Binary::Add, &arguments, scalar);
            trace.leave(sum.as_ref().map_or(&[][..], std::slice::from_ref));
            sum?;
            Ok(trace.end(op, &[type_of(&self.shape, self.dtype)])?[0])
        })
    }
}
