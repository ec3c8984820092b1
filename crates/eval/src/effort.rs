//! How much one operation does, by the types of its operands and results: what it counts against the budget of steps, and
//! when it does nothing at all.

use artifact_ir::op::{Contraction, Op, Reduction};
use artifact_ir::types::TensorType;

use crate::tensor::Tensor;

/// Elementary operations that count as one step: a step is about as long for a scalar as for an array.
const STEP: u128 = 1 << 16;

/// Steps that an operation counts as, one at least.
pub(crate) fn steps(op: &Op, operands: &[&TensorType], results: &[&TensorType]) -> u64 {
    let count = |ty: &&TensorType| u128::from(ty.element_count().unwrap_or(0));
    let all: u128 = operands.iter().chain(results).map(count).sum();
    let of = |types: &[&TensorType], index: usize| types.get(index).map_or(0, count);
    let window = |sizes: &[i64]| {
        let sizes = sizes.iter().map(|size| size.unsigned_abs().into());
        sizes.fold(1_u128, u128::saturating_mul)
    };
    let elementary = match op {
        // The geometric mean of the three is the work of a product without batches, and more than that with them.
        Op::Contraction(Contraction::Dot(_) | Contraction::DotGeneral(_) | Contraction::Einsum(_)) => {
            let [a, b, result] = [of(operands, 0), of(operands, 1), of(results, 0)];
            a.saturating_mul(b)
                .isqrt()
                .saturating_mul(result.isqrt().saturating_add(1))
        }
        Op::Contraction(Contraction::Convolution(_) | Contraction::DynamicConv(_)) => {
            of(operands, 1).saturating_mul(of(results, 0))
        }
        Op::Reduction(Reduction::ReduceWindow(op)) => {
            window(&op.window_dimensions).saturating_mul(of(results, 0))
        }
        Op::Reduction(Reduction::SelectAndScatter(op)) => {
            let sizes = op.window_dimensions.as_deref().unwrap_or_default();
            window(sizes).saturating_mul(of(operands, 1))
        }
        _ => 0,
    };
    steps_of(elementary.saturating_add(all))
}

/// Steps that so many elementary operations count as, one at least.
pub(crate) fn steps_of(elementary: u128) -> u64 {
    u64::try_from(elementary / STEP).map_or(u64::MAX, |steps| steps.saturating_add(1))
}

/// The results of an operation that has none but empty ones and does nothing else. However large the other dimensions of an
/// empty array are, there is nothing to go through.
pub(crate) fn empty_results(op: &Op, results: &[&TensorType]) -> Option<Vec<Tensor>> {
    // Branches may hold operations that do more.
    let computes = op.is_pure() && !matches!(op, Op::Control(_) | Op::Sharding(_));
    let empty = |ty: &&TensorType| {
        (ty.element_count() == Some(0)).then(|| Tensor::from_scalars((*ty).clone().into(), &[]).ok())?
    };
    if computes && !results.is_empty() {
        results.iter().map(empty).collect()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use artifact_ir::op::{Binary, Dot};
    use artifact_ir::types::ElementType::F32;

    use super::*;

    #[test]
    fn products_count_for_what_they_do() {
        let large = TensorType::of_static(&[8000, 8000], F32);
        let dot = Op::from(Contraction::Dot(Dot {
            precision_config: None,
        }));
        assert!(steps(&dot, &[&large, &large], &[&large]) > 7_000_000);
        let one = TensorType::of_static(&[], F32);
        assert_eq!(steps(&Op::from(Binary::Add), &[&one, &one], &[&one]), 1);
    }

    #[test]
    fn only_what_is_empty_is_left_out() {
        let empty = TensorType::of_static(&[0, u64::MAX], F32);
        let full = TensorType::of_static(&[1], F32);
        let add = Op::from(Binary::Add);
        assert!(empty_results(&add, &[&empty]).is_some());
        assert!(empty_results(&add, &[&empty, &full]).is_none());
        assert!(empty_results(&add, &[]).is_none());
    }
}
