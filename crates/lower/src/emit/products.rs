//! Products.

use crate::SizeId;
use crate::emit::Emitter;
use crate::error::LowerError;
use crate::graph::{Dimensions, TensorId};
use crate::index::Index;
use crate::plan::{Access, Product};

impl Emitter<'_> {
    pub(super) fn product(
        &mut self,
        left: TensorId,
        right: TensorId,
        dimensions: &Dimensions,
        result: TensorId,
    ) -> Result<Product, LowerError> {
        let side = |emitter: &Self, tensor: TensorId, batch: &[usize], contracted: &[usize]| {
            let dims = emitter.builder.traced.tensors[tensor].dims.clone();
            let free: Vec<usize> = (0..dims.len())
                .filter(|dim| !batch.contains(dim) && !contracted.contains(dim))
                .collect();
            let order: Vec<usize> = batch.iter().chain(&free).chain(contracted).copied().collect();
            (dims, free, order)
        };
        let (left_dims, rows, left_order) =
            side(self, left, &dimensions.left_batch, &dimensions.left_contracted);
        let (right_dims, columns, right_order) =
            side(self, right, &dimensions.right_batch, &dimensions.right_contracted);
        let of = |dims: &[SizeId], places: &[usize]| places.iter().map(|dim| dims[*dim]).collect::<Vec<_>>();
        let left = self.side(left, &left_order)?;
        let right = self.side(right, &right_order)?;
        let dims = self.builder.traced.tensors[result].dims.clone();
        let at: Vec<Index> = dimensions.result.iter().map(|axis| Index::axis(*axis)).collect();
        let output = self.access(result, &dims, &at, dims.len())?;
        Ok(Product {
            batch: of(&left_dims, &dimensions.left_batch),
            rows: of(&left_dims, &rows),
            columns: of(&right_dims, &columns),
            contracted: of(&left_dims, &dimensions.left_contracted),
            left,
            right,
            output,
        })
    }

    /// Where the elements of one side lie, along its dimensions in this order.
    fn side(&mut self, tensor: TensorId, order: &[usize]) -> Result<Access, LowerError> {
        let mut at = vec![Index::default(); order.len()];
        for (axis, dim) in order.iter().enumerate() {
            at[*dim] = Index::axis(axis);
        }
        let (base, dims, at) = self.builder.reach(tensor, &at)?;
        self.access(base, &dims, &at, order.len())
    }
}
