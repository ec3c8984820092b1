//! `indices_of_shape_operands`: the attribute by which a custom call says that some of its operands are the shapes of its
//! results, one for each, components of tuples counted.

use artifact_ir::attribute::Attribute;
use artifact_ir::module::Operation;
use artifact_ir::types::{Dim, TensorType, Type};

use crate::fact::Fact;
use crate::known::ELEMENTS_MAX;
use crate::types::meet;

/// The attribute.
pub(crate) const NAME: &str = "indices_of_shape_operands";

/// The positions of the operands that are shapes; nothing where the operation has no such attribute.
///
/// # Errors
/// When it is no vector of positions of operands.
pub(crate) fn positions(op: &Operation) -> Result<Option<Vec<usize>>, String> {
    let Some(attribute) = op.attributes.get(NAME) else {
        return Ok(None);
    };
    let indices = match attribute {
        Attribute::Elements(literal) if literal.ty().rank() == 1 => literal.to_i64s(ELEMENTS_MAX),
        _ => None,
    };
    let indices = indices.ok_or_else(|| format!("{NAME}: must be a vector of integers"))?;
    let position = |(number, index): (usize, &i64)| {
        usize::try_from(*index)
            .ok()
            .filter(|index| *index < op.operands.len())
            .ok_or_else(|| {
                let count = op.operands.len();
                format!("{NAME}: index #{number} ({index}) must be within bounds for operation operands (from 0 to {count})")
            })
    };
    indices
        .iter()
        .enumerate()
        .map(position)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The declared types of results with the shapes that operands give them.
pub(crate) fn applied(op: &Operation, operands: &[Fact], declared: &[Type]) -> Result<Vec<Type>, String> {
    let Some(positions) = positions(op)? else {
        return Ok(declared.to_vec());
    };
    let count: usize = declared.iter().map(components).sum();
    if count != positions.len() {
        let found = positions.len();
        return Err(format!(
            "{NAME}: number of elements ({found}) must be equal to the number of operation results ({count})"
        ));
    }
    let mut positions = positions.into_iter();
    declared
        .iter()
        .map(|ty| shaped(ty, operands, &mut positions))
        .collect()
}

fn components(ty: &Type) -> usize {
    match ty {
        Type::Tuple(items) => items.iter().map(components).sum(),
        _ => 1,
    }
}

fn shaped(ty: &Type, operands: &[Fact], positions: &mut impl Iterator<Item = usize>) -> Result<Type, String> {
    if let Type::Tuple(items) = ty {
        let items: Vec<Type> = items
            .iter()
            .map(|item| shaped(item, operands, positions))
            .collect::<Result<_, _>>()?;
        return Ok(Type::Tuple(items.into()));
    }
    let sizes = positions
        .next()
        .and_then(|position| operands[position].expressions());
    let element = match ty {
        Type::Tensor(ty) => &ty.element,
        Type::UnrankedTensor(element) => element,
        _ => return Ok(ty.clone()),
    };
    let Some(sizes) = sizes.filter(|sizes| !sizes.iter().any(crate::known::is_anonymous)) else {
        return Ok(ty.clone());
    };
    let dims: Box<[Dim]> = sizes.into_iter().map(Dim::from).collect();
    meet(ty, &TensorType::new(dims, element.clone()).into())
}
