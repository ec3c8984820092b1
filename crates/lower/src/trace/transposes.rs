//! Products that are only used transposed are made so.

use std::collections::HashMap;

use crate::graph::{Definition, Item, ItemKind, Sequence, TensorId, Tensors, Value};
use crate::view::View;

/// Lets each product whose only use is a transposition give the transposed tensor.
pub(super) fn fold(tensors: &mut Tensors, root: &mut Sequence) {
    let mut uses: HashMap<TensorId, u32> = HashMap::new();
    let mut transposed: HashMap<TensorId, (TensorId, Vec<usize>)> = HashMap::new();
    for (id, tensor) in tensors.iter() {
        match &tensor.definition {
            Definition::Apply { operands, .. } => {
                operands.iter().for_each(|operand| count(&mut uses, *operand))
            }
            Definition::View { view, operand } => {
                count(&mut uses, *operand);
                if let View::Transpose(permutation) = view
                    && tensor.sequence == tensors[*operand].sequence
                {
                    transposed.insert(*operand, (id, permutation.clone()));
                }
                if let View::DynamicSlice(starts) = view {
                    starts.iter().for_each(|(start, _)| count(&mut uses, *start));
                }
            }
            _ => {}
        }
    }
    count_items(root, &mut uses);
    transposed.retain(|product, _| uses.get(product) == Some(&1));
    rename(root, tensors, &transposed);
}

fn count(uses: &mut HashMap<TensorId, u32>, tensor: TensorId) {
    *uses.entry(tensor).or_default() += 1;
}

fn count_items(sequence: &Sequence, uses: &mut HashMap<TensorId, u32>) {
    sequence.results.iter().for_each(|result| count(uses, *result));
    for Item { kind, .. } in &sequence.items {
        let mut all = |tensors: &[TensorId]| tensors.iter().for_each(|tensor| count(uses, *tensor));
        match kind {
            ItemKind::Tensor(_) => {}
            ItemKind::Reduce { operand, init, .. } => all(&[*operand, *init]),
            ItemKind::Write { base, parts, .. } => {
                all(base.as_slice());
                for part in parts {
                    all(&[part.tensor]);
                    part.at
                        .iter()
                        .filter_map(|place| place.start)
                        .for_each(|(start, _)| all(&[start]));
                }
            }
            ItemKind::Product { left, right, .. } => all(&[*left, *right]),
            ItemKind::Operation { operands, .. } => {
                all(&operands.iter().flat_map(Value::tensors).collect::<Vec<_>>());
            }
            ItemKind::While {
                carried,
                condition,
                predicate,
                body,
            } => {
                all(&[*predicate]);
                carried.iter().for_each(|one| all(&[one.init, one.next]));
                count_items(condition, uses);
                count_items(body, uses);
            }
            ItemKind::Case { index, branches, .. } => {
                all(&[*index]);
                branches.iter().for_each(|branch| count_items(branch, uses));
            }
        }
    }
}

fn rename(
    sequence: &mut Sequence,
    tensors: &mut Tensors,
    transposed: &HashMap<TensorId, (TensorId, Vec<usize>)>,
) {
    for Item { kind, .. } in &mut sequence.items {
        match kind {
            ItemKind::Product {
                result, dimensions, ..
            } => {
                if let Some((tensor, permutation)) = transposed.get(result) {
                    dimensions.result = permutation.iter().map(|dim| dimensions.result[*dim]).collect();
                    tensors[*tensor].definition = Definition::Given;
                    *result = *tensor;
                }
            }
            ItemKind::While { condition, body, .. } => {
                rename(condition, tensors, transposed);
                rename(body, tensors, transposed);
            }
            ItemKind::Case { branches, .. } => {
                branches
                    .iter_mut()
                    .for_each(|branch| rename(branch, tensors, transposed));
            }
            _ => {}
        }
    }
}
