//! The sizes that a plan computes from dimension variables.

use std::collections::{BTreeSet, HashMap};

use artifact_core::entity::Arena;
use artifact_core::entity_id;
use artifact_dims::{Assignment, EvaluateError, Expr, ExprError, Variable};

entity_id! {
    /// A number that is known once the dimension variables are.
    pub struct SizeId("s");
}

/// Every size, stride and offset of a plan, each expression once.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    expressions: Arena<SizeId, Expr>,
    ids: HashMap<Expr, SizeId>,
}

impl Sizes {
    /// The id of an expression.
    pub fn intern(&mut self, expression: Expr) -> SizeId {
        if let Some(id) = self.ids.get(&expression) {
            return *id;
        }
        let id = self.expressions.push(expression.clone());
        self.ids.insert(expression, id);
        id
    }

    /// The id of a number.
    pub fn number(&mut self, value: i64) -> SizeId {
        self.intern(Expr::constant(value))
    }

    /// The expression of an id.
    #[must_use]
    pub fn expression(&self, id: SizeId) -> &Expr {
        &self.expressions[id]
    }

    /// The number that a size is for all values of the variables.
    #[must_use]
    pub fn as_number(&self, id: SizeId) -> Option<i64> {
        self.expression(id).as_constant()
    }

    /// The product of two sizes.
    ///
    /// # Errors
    /// When it is too large to be an expression.
    pub fn product(&mut self, left: SizeId, right: SizeId) -> Result<SizeId, ExprError> {
        let product = self.expression(left).mul(self.expression(right))?;
        Ok(self.intern(product))
    }

    /// The sum of two sizes.
    ///
    /// # Errors
    /// As for [`Sizes::product`].
    pub fn sum(&mut self, left: SizeId, right: SizeId) -> Result<SizeId, ExprError> {
        let sum = self.expression(left).add(self.expression(right))?;
        Ok(self.intern(sum))
    }

    /// The strides of a dense row-major array, in elements.
    ///
    /// # Errors
    /// As for [`Sizes::product`].
    pub fn dense_strides(&mut self, dims: &[SizeId]) -> Result<Vec<SizeId>, ExprError> {
        let mut stride = self.number(1);
        let mut strides = Vec::with_capacity(dims.len());
        for dim in dims.iter().rev() {
            strides.push(stride);
            stride = self.product(stride, *dim)?;
        }
        strides.reverse();
        Ok(strides)
    }

    /// The number of elements of an array.
    ///
    /// # Errors
    /// As for [`Sizes::product`].
    pub fn count(&mut self, dims: &[SizeId]) -> Result<SizeId, ExprError> {
        let mut count = self.number(1);
        for dim in dims {
            count = self.product(count, *dim)?;
        }
        Ok(count)
    }

    /// Every variable that some size depends on.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<Variable> {
        self.expressions
            .iter()
            .flat_map(|(_, expression)| expression.variables())
            .collect()
    }

    /// All sizes for some values of the variables, in order of their ids.
    ///
    /// # Errors
    /// When a variable has no value, or a size does not fit 64 bits.
    pub fn evaluate(&self, values: &Assignment) -> Result<Vec<i64>, EvaluateError> {
        self.expressions
            .iter()
            .map(|(_, expression)| expression.evaluate(values))
            .collect()
    }

    /// Ids and expressions in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (SizeId, &Expr)> {
        self.expressions.iter()
    }

    /// Number of sizes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.expressions.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }
}
