//! Positions as affine functions of the axes of a kernel.

use artifact_dims::{Expr, ExprError};

use crate::graph::TensorId;
use crate::sizes::SizeId;

/// `offset` plus the sum of axes times their factors, plus positions that are read when the program runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Index {
    /// Axis and factor, by axis; no factor is 0.
    pub(crate) terms: Vec<(usize, Expr)>,
    pub(crate) offset: Expr,
    /// A tensor of one integer, the largest position, and the factor.
    pub(crate) starts: Vec<(TensorId, SizeId, Expr)>,
}

impl Default for Index {
    /// Position 0.
    fn default() -> Self {
        Self {
            terms: Vec::new(),
            offset: Expr::constant(0),
            starts: Vec::new(),
        }
    }
}

impl Index {
    /// The position of an axis.
    pub(crate) fn axis(axis: usize) -> Self {
        Self {
            terms: vec![(axis, Expr::constant(1))],
            ..Self::default()
        }
    }

    pub(crate) fn shifted(&self, by: &Expr) -> Result<Self, ExprError> {
        Ok(Self {
            offset: self.offset.add(by)?,
            ..self.clone()
        })
    }

    pub(crate) fn scaled(&self, by: &Expr) -> Result<Self, ExprError> {
        match by.as_constant() {
            Some(0) => return Ok(Self::default()),
            Some(1) => return Ok(self.clone()),
            _ => {}
        }
        let terms = self
            .terms
            .iter()
            .map(|(axis, factor)| Ok((*axis, factor.mul(by)?)));
        let starts = self
            .starts
            .iter()
            .map(|(start, max, factor)| Ok((*start, *max, factor.mul(by)?)));
        Ok(Self {
            terms: terms.collect::<Result<_, ExprError>>()?,
            offset: self.offset.mul(by)?,
            starts: starts.collect::<Result<_, ExprError>>()?,
        })
    }

    pub(crate) fn plus(&self, other: &Self) -> Result<Self, ExprError> {
        let mut sum = self.clone();
        sum.offset = sum.offset.add(&other.offset)?;
        sum.starts.extend(other.starts.iter().cloned());
        for (axis, factor) in &other.terms {
            match sum.terms.iter_mut().find(|(own, _)| own == axis) {
                Some((_, own)) => *own = own.add(factor)?,
                None => sum.terms.push((*axis, factor.clone())),
            }
        }
        sum.terms.retain(|(_, factor)| factor.as_constant() != Some(0));
        sum.terms.sort_by_key(|(axis, _)| *axis);
        Ok(sum)
    }

    pub(crate) fn started(&self, start: TensorId, max: SizeId) -> Self {
        let mut index = self.clone();
        index.starts.push((start, max, Expr::constant(1)));
        index
    }

    /// Whether it is the position of this axis and nothing else.
    pub(crate) fn is_axis(&self, axis: usize) -> bool {
        *self == Self::axis(axis)
    }
}
