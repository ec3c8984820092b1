//! The value of an expression for given values of the variables.

use crate::assignment::Assignment;
use crate::division::floor_wide;
use crate::expr::Expr;
use crate::monomial::{Factor, Kind, Operation};
use crate::variable::Variable;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// A variable has no value.
    #[error("variable '{variable}' has no value")]
    Unbound {
        /// The variable.
        variable: Variable,
    },
    /// A divisor is 0.
    #[error("division by '{divisor}', which is 0 for {values}")]
    DivisionByZero {
        /// The divisor.
        divisor: Expr,
        /// The values for which it is 0.
        values: Assignment,
    },
    /// The value does not fit in 64 bits, or an intermediate one in 128.
    #[error("the value of '{expr}' does not fit in 64 bits")]
    Overflow {
        /// The expression.
        expr: Expr,
    },
}

impl Expr {
    /// The value for the given values of the variables. Intermediate results have 128 bits, the value has 64.
    ///
    /// # Errors
    /// [`EvaluateError`] when a variable has no value, a divisor is 0 or the value does not fit.
    pub fn evaluate(&self, values: &Assignment) -> Result<i64, EvaluateError> {
        let wide = evaluate_wide(self, values)?;
        i64::try_from(wide).map_err(|_| EvaluateError::Overflow { expr: self.clone() })
    }
}

/// The value in 128 bits.
pub(crate) fn evaluate_wide(expr: &Expr, values: &Assignment) -> Result<i128, EvaluateError> {
    let overflow = || EvaluateError::Overflow { expr: expr.clone() };
    let mut total = 0_i128;
    for term in expr.terms() {
        let mut product = i128::from(term.coefficient);
        for power in term.monomial.powers() {
            let factor = match &power.factor {
                Factor::Variable(variable) => {
                    i128::from(values.get(variable).ok_or_else(|| EvaluateError::Unbound {
                        variable: variable.clone(),
                    })?)
                }
                Factor::Operation(operation) => evaluate_operation(operation, values)?,
            };
            let power = factor.checked_pow(power.exponent).ok_or_else(overflow)?;
            product = product.checked_mul(power).ok_or_else(overflow)?;
        }
        total = total.checked_add(product).ok_or_else(overflow)?;
    }
    Ok(total)
}

fn evaluate_operation(operation: &Operation, values: &Assignment) -> Result<i128, EvaluateError> {
    let left = evaluate_wide(&operation.left, values)?;
    let right = evaluate_wide(&operation.right, values)?;
    let divide = || {
        if right == 0 {
            let divisor = operation.right.clone();
            return Err(EvaluateError::DivisionByZero {
                divisor,
                values: values.clone(),
            });
        }
        floor_wide(left, right).ok_or_else(|| EvaluateError::Overflow {
            expr: operation.left.clone(),
        })
    };
    match operation.kind {
        Kind::FloorDiv => divide(),
        Kind::Mod => Ok(left - divide()? * right),
        Kind::Max => Ok(left.max(right)),
        Kind::Min => Ok(left.min(right)),
    }
}
