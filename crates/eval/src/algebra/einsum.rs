//! `einsum` and `unary_einsum`, which the specification leaves out: Einstein's summation convention as NumPy has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use artifact_ir::op::Einsum;
use artifact_ir::types::TensorType;

use super::axes::{check_shape, offsets, strides};
use super::dot::Products;
use super::expressed::{expressed, stored};
use super::number::{Arithmetic, Number, in_arithmetic_of, numbers};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The name of a dimension in an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// Counted from the last dimension under an ellipsis, so that shapes under it align at their ends.
    Ellipsis(usize),
    Letter(char),
}

/// `ab,bc->ac`, read for operands of given shapes.
struct Equation {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
    sizes: BTreeMap<Label, usize>,
}

impl Equation {
    fn read(op: &Einsum, shapes: &[Vec<usize>]) -> Result<Self, EvalError> {
        let text = op.einsum_config.as_str().unwrap_or_default();
        let refuse = |why: &str| EvalError::invalid_input(format!("the equation {text:?} {why}"));
        let (left, right) = text.split_once("->").ok_or_else(|| refuse("has no `->`"))?;
        let terms: Vec<&str> = left.split(',').collect();
        if terms.len() != shapes.len() {
            return Err(refuse("does not have a term for each operand"));
        }
        let mut inputs = Vec::new();
        let mut sizes = BTreeMap::new();
        let mut hidden = 0;
        for (term, shape) in terms.iter().zip(shapes) {
            let letters = term.chars().filter(|c| c.is_alphabetic()).count();
            let under_ellipsis = shape
                .len()
                .checked_sub(letters)
                .ok_or_else(|| refuse("names too many dimensions"))?;
            let labels = labels(term, under_ellipsis).ok_or_else(|| refuse("is malformed"))?;
            if labels.len() != shape.len() {
                return Err(refuse("names too few dimensions"));
            }
            hidden = hidden.max(if term.contains("...") { under_ellipsis } else { 0 });
            for (label, size) in labels.iter().zip(shape) {
                let known = sizes.entry(*label).or_insert(*size);
                let broadcasts = matches!(label, Label::Ellipsis(_)) && (*known == 1 || *size == 1);
                if *known != *size && !broadcasts {
                    return Err(EvalError::runtime(format!(
                        "the equation {text:?} gives one letter to sizes {known} and {size}"
                    )));
                }
                if *known == 1 {
                    *known = *size;
                }
            }
            inputs.push(labels);
        }
        let output = labels(right, hidden).ok_or_else(|| refuse("is malformed"))?;
        if output.iter().any(|label| !sizes.contains_key(label)) {
            return Err(refuse("has an output that no input names"));
        }
        Ok(Self {
            inputs,
            output,
            sizes,
        })
    }

    /// Labels that are summed over.
    fn summed(&self) -> Vec<Label> {
        self.sizes
            .keys()
            .copied()
            .filter(|label| !self.output.contains(label))
            .collect()
    }

    fn sizes(&self, labels: &[Label]) -> Vec<usize> {
        labels.iter().map(|label| self.sizes[label]).collect()
    }

    /// How far a step along each label goes in an operand: as far as along all dimensions of that name together.
    fn strides(&self, operand: usize, shape: &[usize], labels: &[Label]) -> Vec<usize> {
        let all = strides(shape);
        let dims = |label: &Label| {
            let named = self.inputs[operand]
                .iter()
                .enumerate()
                .filter(move |(_, name)| *name == label);
            // A dimension of size 1 under an ellipsis stays where it is.
            named
                .map(|(dim, _)| if shape[dim] == 1 { 0 } else { all[dim] })
                .sum()
        };
        labels.iter().map(dims).collect()
    }
}

/// The labels of a term; an ellipsis stands for `hidden` dimensions. `None` if it is malformed.
fn labels(term: &str, hidden: usize) -> Option<Vec<Label>> {
    let mut labels = Vec::new();
    let mut rest = term.trim();
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            labels.extend((0..hidden).rev().map(Label::Ellipsis));
            rest = after;
        } else if first.is_alphabetic() {
            labels.push(Label::Letter(first));
            rest = &rest[first.len_utf8()..];
        } else {
            return None;
        }
    }
    Some(labels)
}

/// Two operands, such as `ab,bc->ac`.
pub(super) fn einsum(
    op: &Einsum,
    lhs: &Tensor,
    rhs: &Tensor,
    ty: &Arc<TensorType>,
) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (expressed(lhs)?, expressed(rhs)?);
    let shapes = [lhs.shape(), rhs.shape()];
    let equation = Equation::read(op, &shapes)?;
    let summed = equation.summed();
    let by = |labels: &[Label]| [0, 1].map(|side| equation.strides(side, &shapes[side], labels));
    let products = Products {
        lhs: &lhs,
        rhs: &rhs,
        shape: equation.sizes(&equation.output),
        summed: equation.sizes(&summed),
        strides: by(&equation.output),
        summed_strides: by(&summed),
    };
    products.into_tensor(ty)
}

/// One operand, such as `ab->a`.
pub(super) fn unary_einsum(op: &Einsum, operand: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let operand = expressed(operand)?;
    let shape = operand.shape();
    let equation = Equation::read(op, std::slice::from_ref(&shape))?;
    let summed = equation.summed();
    let sums = Sums {
        operand: &operand,
        shape: equation.sizes(&equation.output),
        strides: equation.strides(0, &shape, &equation.output),
        summed: equation.sizes(&summed),
        summed_strides: equation.strides(0, &shape, &summed),
    };
    check_shape(ty, &sums.shape)?;
    let plain = Arc::new(ty.with_element(ty.element.expressed()));
    let elements = in_arithmetic_of(&plain, &sums)?;
    stored(&Tensor::from_scalars(plain, &elements)?, ty)
}

/// As [`Products`], with one operand.
struct Sums<'a> {
    operand: &'a Tensor,
    shape: Vec<usize>,
    strides: Vec<usize>,
    summed: Vec<usize>,
    summed_strides: Vec<usize>,
}

impl Arithmetic for Sums<'_> {
    fn run<T: Number>(&self) -> Result<Vec<Scalar>, EvalError> {
        let values = numbers::<T>(self.operand)?;
        let steps: Vec<usize> = offsets(&self.summed, &self.summed_strides).collect();
        let sum = |start: usize| {
            steps
                .iter()
                .map(|step| values[start + step])
                .fold(T::ZERO, T::add)
                .to_scalar()
        };
        Ok(offsets(&self.shape, &self.strides).map(sum).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{ints, show, ty};
    use artifact_ir::attribute::ByteString;
    use artifact_ir::types::ElementType;

    fn op(equation: &str) -> Einsum {
        Einsum {
            einsum_config: ByteString::from(equation),
        }
    }

    fn check(equation: &str, operands: &[&Tensor], shape: &[u64], expected: &str) {
        let result = ty(shape, ElementType::I64);
        let tensor = match operands {
            [operand] => unary_einsum(&op(equation), operand, &result),
            [lhs, rhs, ..] => einsum(&op(equation), lhs, rhs, &result),
            [] => unreachable!(),
        };
        assert_eq!(
            tensor.map_or_else(|error| error.to_string(), |tensor| show(&tensor)),
            expected,
            "{equation}"
        );
    }

    #[test]
    fn equations() {
        let a = ints(&[2, 2], &[1, 2, 3, 4]);
        let b = ints(&[2, 3], &[1, 0, 2, 0, 1, 3]);
        check("ab,bc->ac", &[&a, &b], &[2, 3], "1 2 8 3 4 18");
        check("ab, bc -> ca", &[&a, &b], &[3, 2], "1 3 2 4 8 18");
        check("ab,ab->", &[&a, &a], &[], "30");
        check("aa,ab->b", &[&a, &b], &[3], "1 4 14");
        check("ab->a", &[&a], &[2], "3 7");
        check("aa->a", &[&a], &[2], "1 4");
        check("ab->ba", &[&a], &[2, 2], "1 3 2 4");
        check("...b,bc->...c", &[&a, &b], &[2, 3], "1 2 8 3 4 18");
        check(
            "...,...->...",
            &[&a, &ints(&[1, 2], &[10, 100])],
            &[2, 2],
            "10 200 30 400",
        );
        check("ab,cd", &[&a, &b], &[], "the equation \"ab,cd\" has no `->`");
        check(
            "ab,ac->d",
            &[&a, &b],
            &[2],
            "the equation \"ab,ac->d\" has an output that no input names",
        );
        check(
            "ab,cb->ac",
            &[&a, &b],
            &[2, 2],
            "the equation \"ab,cb->ac\" gives one letter to sizes 2 and 3",
        );
    }
}
