//! How much an operation moves and computes, by its types: what a profile divides by time.

use artifact_ir::module::{Body, Operation, ValueId};
use artifact_ir::op::{Contraction, Linalg, Op, Reduction};
use artifact_ir::types::{TensorType, Type};

/// What a step moves and computes. Operations on types whose sizes are not numbers count as nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes of operands and results, each once.
    pub bytes: u64,
    /// Arithmetic operations on elements, of whatever type: a product with a sum is two, a function such as `tanh` is one, and what
    /// only moves elements is none.
    pub flops: u64,
}

impl Work {
    /// The work of one operation. Regions of control flow count for themselves; what a reduction applies to elements counts as one
    /// operation for each.
    #[must_use]
    pub fn of(operation: &Operation, body: &Body) -> Self {
        let tensors = |values: &[ValueId]| -> Vec<&TensorType> {
            let types = values.iter().map(|value| body.ty(*value));
            types.filter_map(Type::as_tensor).map(|ty| &**ty).collect()
        };
        let (operands, results) = (tensors(&operation.operands), tensors(&operation.results));
        let bytes = operands
            .iter()
            .chain(&results)
            .map(|ty| ty.byte_count().unwrap_or(0));
        // Control flow hands values on; its regions count for themselves.
        let moves = !matches!(operation.op, Op::Control(_));
        Self {
            bytes: if moves {
                bytes.fold(0, u64::saturating_add)
            } else {
                0
            },
            flops: flops(&operation.op, &operands, &results),
        }
    }

    /// This and another.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            flops: self.flops.saturating_add(other.flops),
        }
    }
}

fn flops(op: &Op, operands: &[&TensorType], results: &[&TensorType]) -> u64 {
    let count = |ty: &&TensorType| ty.element_count().unwrap_or(0);
    let of_results = || results.iter().map(count).fold(0, u64::saturating_add);
    match op {
        Op::Unary(_) | Op::Binary(_) | Op::Elementwise(_) | Op::Chlo(_) => of_results(),
        Op::Contraction(contraction) => {
            let inner = contracted(contraction, operands).unwrap_or(0);
            of_results().saturating_mul(inner).saturating_mul(2)
        }
        Op::Reduction(reduction) => reduced(reduction, operands, results),
        Op::Linalg(linalg) => factored(linalg, operands),
        Op::Creation(_)
        | Op::Shape(_)
        | Op::Indexing(_)
        | Op::Control(_)
        | Op::Collective(_)
        | Op::Sharding(_)
        | Op::Testing(_)
        | Op::Foreign(_) => 0,
    }
}

/// Products that are summed for one element of the result.
fn contracted(contraction: &Contraction, operands: &[&TensorType]) -> Option<u64> {
    let size = |operand: usize, dim: i64| -> Option<u64> {
        let dims = &operands.get(operand)?.dims;
        dims.get(usize::try_from(dim).ok()?)?.as_static()
    };
    match contraction {
        Contraction::Dot(_) => size(0, i64::try_from(operands.first()?.rank()).ok()?.checked_sub(1)?),
        Contraction::DotGeneral(dot) => {
            let dims = &dot.dot_dimension_numbers.lhs_contracting_dimensions;
            dims.iter()
                .try_fold(1_u64, |product, dim| product.checked_mul(size(0, *dim)?))
        }
        Contraction::Convolution(convolution) | Contraction::DynamicConv(convolution) => {
            let features = convolution.dimension_numbers.kernel_output_feature_dimension;
            operands.get(1)?.element_count()?.checked_div(size(1, features)?)
        }
        // Which names are summed over is in a text that only who evaluates it reads.
        Contraction::Einsum(_) | Contraction::UnaryEinsum(_) => None,
    }
}

fn reduced(reduction: &Reduction, operands: &[&TensorType], results: &[&TensorType]) -> u64 {
    let count = |ty: Option<&&TensorType>| ty.and_then(|ty| ty.element_count()).unwrap_or(0);
    let window = |sizes: &[i64]| {
        let sizes = sizes.iter().map(|size| size.unsigned_abs());
        sizes.fold(1, u64::saturating_mul)
    };
    match reduction {
        // One application of the region for each element.
        Reduction::Map(_) | Reduction::Reduce(_) => count(operands.first()),
        Reduction::ReduceWindow(op) => window(&op.window_dimensions).saturating_mul(count(results.first())),
        Reduction::SelectAndScatter(op) => {
            let sizes = op.window_dimensions.as_deref().unwrap_or_default();
            window(sizes).saturating_mul(count(operands.get(1)))
        }
        Reduction::Sort(_) => 0,
    }
}

fn factored(linalg: &Linalg, operands: &[&TensorType]) -> u64 {
    let count = |operand: usize| {
        operands
            .get(operand)
            .and_then(|ty| ty.element_count())
            .unwrap_or(0)
    };
    let last = operands
        .first()
        .and_then(|ty| ty.dims.last()?.as_static())
        .unwrap_or(0);
    match linalg {
        // n^3 / 3, of a batch of n x n.
        Linalg::Cholesky(_) => count(0).saturating_mul(last) / 3,
        // A product and a sum for each element of one triangle, for each right side.
        Linalg::TriangularSolve(_) => count(1).saturating_mul(last),
        // 5 n log2 n, the usual count.
        Linalg::Fft(fft) => {
            let points = fft.fft_length.iter().map(|size| size.unsigned_abs());
            let points = points.fold(1, u64::saturating_mul).max(1);
            count(0)
                .saturating_mul(5)
                .saturating_mul(u64::from(points.ilog2()))
        }
        Linalg::BatchNormGrad(_) | Linalg::BatchNormInference(_) | Linalg::BatchNormTraining(_) => count(0),
    }
}

#[cfg(test)]
mod tests {
    use artifact_ir::builder::Builder;
    use artifact_ir::op::{Binary, Dot};
    use artifact_ir::types::ElementType::F32;

    use super::*;

    #[test]
    fn products_and_sums() {
        let [x, w] = [Type::tensor(&[4, 8], F32), Type::tensor(&[8, 3], F32)];
        let mut builder = Builder::new("main", &[x, w]);
        let arguments = builder.arguments();
        let dot = Contraction::Dot(Dot {
            precision_config: None,
        });
        let dot = builder.op(dot, &arguments).unwrap();
        let sum = builder.op(Binary::Add, &[dot[0], dot[0]]).unwrap();
        let function = builder.finish(&sum).unwrap();
        let body = function.body.unwrap();
        let work: Vec<Work> = body.ops.iter().map(|(_, op)| Work::of(op, &body)).collect();
        let [dot, sum, end] = work[..] else {
            panic!("{work:?}")
        };
        assert_eq!((dot.flops, dot.bytes), (2 * 4 * 3 * 8, 4 * (32 + 24 + 12)));
        assert_eq!((sum.flops, sum.bytes), (12, 4 * 36));
        assert_eq!(end, Work::default());
    }
}
