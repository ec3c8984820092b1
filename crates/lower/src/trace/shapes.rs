//! Operations that move elements.

use artifact_dims::Expr;
use artifact_ir::module::Operation;
use artifact_ir::op::{Pad, Shape};
use artifact_ir::types::{Dim, TensorType};

use super::{Frame, Tracer};
use crate::error::LowerError;
use crate::graph::{Definition, ItemKind, Part, Place, TensorId};
use crate::sizes::SizeId;
use crate::view::View;

impl<'m> Tracer<'m> {
    pub(super) fn shape(
        &mut self,
        frame: &Frame<'m>,
        op: &Operation,
        shape: &Shape,
    ) -> Result<Option<TensorId>, LowerError> {
        let operands = frame.tensors(op)?;
        let Some(operand) = operands.first().copied() else {
            return Ok(None);
        };
        let ty = Self::result_type(frame, op, 0)?;
        let rank = self.tensors[operand].dims.len();
        let view = match shape {
            Shape::Broadcast(_) => View::Broadcast((ty.rank() - rank..ty.rank()).collect()),
            Shape::BroadcastInDim(broadcast) => View::Broadcast(positions(&broadcast.broadcast_dimensions)),
            Shape::DynamicBroadcastInDim(broadcast) => {
                View::Broadcast(positions(&broadcast.broadcast_dimensions))
            }
            Shape::Reshape | Shape::DynamicReshape => View::Reshape,
            Shape::Transpose(transpose) => View::Transpose(positions(&transpose.permutation)),
            Shape::Reverse(reverse) => View::Reverse(positions(&reverse.dimensions)),
            Shape::Slice(slice) => {
                let places = slice.start_indices.iter().zip(&slice.strides);
                View::Slice(
                    places
                        .map(|(start, step)| (self.sizes.number(*start), *step))
                        .collect(),
                )
            }
            Shape::RealDynamicSlice => match self.known_slice(&operands) {
                Some(view) => view,
                None => return Ok(None),
            },
            Shape::DynamicSlice(slice) => {
                let starts = operands[1..].to_vec();
                View::DynamicSlice(self.starts(operand, &starts, &slice.slice_sizes)?)
            }
            Shape::GetDimensionSize(size) => {
                let dimension = usize::try_from(size.dimension).unwrap_or(0);
                let size = self.tensors[operand].dims[dimension];
                return self.lazy(ty, Definition::Size(size), op).map(Some);
            }
            Shape::Pad(pad) => return self.pad(operand, &operands, pad, ty, op),
            Shape::Concatenate(concatenate) => {
                let dimension = usize::try_from(concatenate.dimension).unwrap_or(0);
                return self.concatenate(&operands, dimension, ty, op).map(Some);
            }
            Shape::DynamicUpdateSlice => return self.update(&operands, ty, op).map(Some),
            Shape::DynamicPad | Shape::SetDimensionSize(_) => return Ok(None),
        };
        self.view(ty, view, operand, op).map(Some)
    }

    /// A slice whose bounds follow from the dimension variables.
    fn known_slice(&mut self, operands: &[TensorId]) -> Option<View> {
        let [operand, starts, _, steps] = operands else {
            return None;
        };
        let rank = self.tensors[*operand].dims.len();
        let place = |dim| Some((self.known(*starts, dim)?, self.known(*steps, dim)?.as_constant()?));
        let places: Vec<(Expr, i64)> = (0..rank).map(place).collect::<Option<_>>()?;
        let places = places
            .into_iter()
            .map(|(start, step)| (self.sizes.intern(start), step));
        Some(View::Slice(places.collect()))
    }

    /// Element `index` of a tensor of few integers, where it follows from the dimension variables.
    fn known(&self, tensor: TensorId, index: usize) -> Option<Expr> {
        let tensor = &self.tensors[tensor];
        match &tensor.definition {
            Definition::Size(size) => Some(self.sizes.expression(*size).clone()),
            Definition::Splat(bytes) => integer(bytes).map(Expr::constant),
            Definition::Literal(literal) => integer(literal.element(index)?).map(Expr::constant),
            Definition::View {
                view: View::Reshape,
                operand,
            } => self.known(*operand, index),
            Definition::View {
                view: View::Broadcast(_),
                operand,
            } if self.tensors[*operand].dims.is_empty() => self.known(*operand, 0),
            _ => None,
        }
    }

    /// Where a slice of these sizes starts in an operand, clamped so that it fits.
    fn starts(
        &mut self,
        operand: TensorId,
        starts: &[TensorId],
        slice: &[i64],
    ) -> Result<Vec<(TensorId, SizeId)>, LowerError> {
        let dims = self.tensors[operand].dims.clone();
        let place = |tracer: &mut Self, ((start, dim), size): ((&TensorId, SizeId), &i64)| {
            let max = tracer.sizes.expression(dim).sub(&Expr::constant(*size))?;
            Ok((tracer.dense_base(*start), tracer.sizes.intern(max)))
        };
        starts
            .iter()
            .zip(dims)
            .zip(slice)
            .map(|each| place(self, each))
            .collect()
    }

    /// The tensor whose bytes a tensor has.
    fn dense_base(&self, tensor: TensorId) -> TensorId {
        match self.tensors[tensor].definition {
            Definition::View {
                view: View::Reshape,
                operand,
            } => self.dense_base(operand),
            _ => tensor,
        }
    }

    fn pad(
        &mut self,
        operand: TensorId,
        operands: &[TensorId],
        pad: &Pad,
        ty: &TensorType,
        op: &Operation,
    ) -> Result<Option<TensorId>, LowerError> {
        let trims = pad
            .edge_padding_low
            .iter()
            .chain(&pad.edge_padding_high)
            .any(|amount| *amount < 0);
        let Some(value) = operands.get(1).copied() else {
            return Ok(None);
        };
        if trims {
            return Ok(None);
        }
        let amounts = [
            &pad.edge_padding_low,
            &pad.edge_padding_high,
            &pad.interior_padding,
        ];
        if amounts.into_iter().flatten().all(|amount| *amount == 0) {
            return Ok(Some(operand));
        }
        let base = self.view(ty, View::Broadcast(Vec::new()), value, op)?;
        let places = pad.edge_padding_low.iter().zip(&pad.interior_padding);
        let at = places
            .map(|(low, interior)| Place {
                offset: self.sizes.number(*low),
                stride: interior + 1,
                start: None,
            })
            .collect();
        self.write(Some(base), vec![Part { tensor: operand, at }], ty, op)
            .map(Some)
    }

    fn concatenate(
        &mut self,
        operands: &[TensorId],
        dimension: usize,
        ty: &TensorType,
        op: &Operation,
    ) -> Result<TensorId, LowerError> {
        if let [only] = operands {
            return Ok(*only);
        }
        let zero = self.sizes.number(0);
        let mut offset = zero;
        let mut parts = Vec::with_capacity(operands.len());
        for operand in operands {
            let dims = &self.tensors[*operand].dims;
            let size = dims[dimension];
            let place = |dim: usize| Place {
                offset: if dim == dimension { offset } else { zero },
                stride: 1,
                start: None,
            };
            parts.push(Part {
                tensor: *operand,
                at: (0..dims.len()).map(place).collect(),
            });
            offset = self.sizes.sum(offset, size)?;
        }
        self.write(None, parts, ty, op)
    }

    fn update(
        &mut self,
        operands: &[TensorId],
        ty: &TensorType,
        op: &Operation,
    ) -> Result<TensorId, LowerError> {
        let [operand, update, starts @ ..] = operands else {
            return Err(LowerError::unsupported(
                "an update has too few operands",
                op.source,
            ));
        };
        let zero = self.sizes.number(0);
        let dims: Vec<_> = self.tensors[*operand]
            .dims
            .iter()
            .copied()
            .zip(self.tensors[*update].dims.clone())
            .collect();
        let mut at = Vec::with_capacity(dims.len());
        for ((whole, part), start) in dims.into_iter().zip(starts) {
            let max = self.sizes.expression(whole).sub(self.sizes.expression(part))?;
            let max = self.sizes.intern(max);
            let moves = self.sizes.as_number(max) != Some(0);
            let start = moves.then(|| (self.dense_base(*start), max));
            at.push(Place {
                offset: zero,
                stride: 1,
                start,
            });
        }
        self.write(Some(*operand), vec![Part { tensor: *update, at }], ty, op)
    }

    fn write(
        &mut self,
        base: Option<TensorId>,
        parts: Vec<Part>,
        ty: &TensorType,
        op: &Operation,
    ) -> Result<TensorId, LowerError> {
        let ty = match base {
            // Where the result does not say its sizes, the operand that it is an update of does.
            Some(base) if ty.dims.contains(&Dim::Unknown) => {
                let dims = self.tensors[base].dims.iter();
                let dims: Vec<Dim> = dims
                    .map(|dim| self.sizes.expression(*dim).clone().into())
                    .collect();
                TensorType::new(dims, ty.element.clone())
            }
            _ => ty.clone(),
        };
        let result = self.tensor(&ty, Definition::Given, op.source)?;
        self.push(ItemKind::Write { base, parts, result }, op.op.name(), op.source);
        Ok(result)
    }
}

fn positions(dims: &[i64]) -> Vec<usize> {
    dims.iter().filter_map(|dim| usize::try_from(*dim).ok()).collect()
}

/// A signed little-endian integer of up to eight bytes.
fn integer(bytes: &[u8]) -> Option<i64> {
    let last = bytes.last()?;
    let mut wide = [if last & 0x80 == 0 { 0 } else { 0xFF }; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(wide))
}
