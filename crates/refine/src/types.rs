//! How what is known of types combines.

use std::sync::Arc;

use artifact_ir::types::{Dim, Encoding, TensorType, Type};

use artifact_dims::Comparison;

use crate::decide::Decider;
use crate::fact::Fact;

/// From a value to what one device has of it, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Part,
    Whole,
}

/// The type of a value whose dimensions are divided into so many parts, of a part or of the whole. A size that is no number
/// is not known on the other side, unless there is one part.
pub(crate) fn scaled(ty: &Type, parts: &[u64], scale: Scale) -> Result<Type, String> {
    let Type::Tensor(tensor) = ty else {
        return Ok(ty.clone());
    };
    if parts.iter().all(|parts| *parts == 1) || parts.len() != tensor.rank() {
        return Ok(ty.clone());
    }
    let dim = |(dim, parts): (&Dim, &u64)| match (dim, scale) {
        (dim, _) if *parts == 1 => Ok(dim.clone()),
        (Dim::Static(size), Scale::Part) if *parts > 0 && size.is_multiple_of(*parts) => {
            Ok(Dim::Static(size / parts))
        }
        (Dim::Static(size), Scale::Part) => {
            Err(format!("a dimension of size {size} has no {parts} equal parts"))
        }
        (Dim::Static(size), Scale::Whole) => size
            .checked_mul(*parts)
            .map(Dim::Static)
            .ok_or_else(|| format!("{parts} parts of size {size} are too large")),
        (Dim::Symbolic(_) | Dim::Unknown, _) => Ok(Dim::Unknown),
    };
    let dims = tensor.dims.iter().zip(parts).map(dim);
    // A bound of the one is none of the other.
    let encoding = tensor
        .encoding
        .clone()
        .filter(|encoding| !matches!(encoding, Encoding::Bounds(_)));
    Ok(with_dims(tensor, dims.collect::<Result<_, _>>()?, encoding))
}

/// What two descriptions of one value say together; an error where they cannot be of one value.
pub(crate) fn meet(a: &Type, b: &Type) -> Result<Type, String> {
    match (a, b) {
        (Type::Tensor(x), Type::Tensor(y)) => {
            if Arc::ptr_eq(x, y) {
                return Ok(a.clone());
            }
            let fits = x.element == y.element
                && x.rank() == y.rank()
                && x.dims.iter().zip(&y.dims).all(|(x, y)| x.compatible(y));
            if !fits {
                return Err(format!("{a} and {b} cannot be types of one value"));
            }
            let dims: Box<[Dim]> = x
                .dims
                .iter()
                .zip(&y.dims)
                .map(|(x, y)| most_known(x, y))
                .collect();
            let encoding = x.encoding.clone().or_else(|| y.encoding.clone());
            Ok(with_dims(x, dims, encoding))
        }
        (Type::Tuple(x), Type::Tuple(y)) if x.len() == y.len() => {
            let items: Vec<Type> = x
                .iter()
                .zip(y.iter())
                .map(|(x, y)| meet(x, y))
                .collect::<Result<_, _>>()?;
            Ok(Type::Tuple(items.into()))
        }
        (Type::Future(x), Type::Future(y)) if x.len() == y.len() => {
            let items: Vec<Type> = x
                .iter()
                .zip(y.iter())
                .map(|(x, y)| meet(x, y))
                .collect::<Result<_, _>>()?;
            Ok(Type::Future(items.into()))
        }
        (Type::UnrankedTensor(element), Type::Tensor(ranked))
        | (Type::Tensor(ranked), Type::UnrankedTensor(element))
            if *element == ranked.element =>
        {
            Ok(Type::Tensor(Arc::clone(ranked)))
        }
        _ if a == b => Ok(a.clone()),
        _ => Err(format!("{a} and {b} cannot be types of one value")),
    }
}

fn most_known(a: &Dim, b: &Dim) -> Dim {
    match (a, b) {
        (Dim::Static(_), _) | (_, Dim::Unknown) => a.clone(),
        (_, Dim::Static(_)) | (Dim::Unknown, _) => b.clone(),
        (Dim::Symbolic(_), Dim::Symbolic(_)) => a.clone(),
    }
}

/// A tensor type with other sizes. Bounds are left out where the size is a number.
pub(crate) fn with_dims(ty: &TensorType, dims: Box<[Dim]>, encoding: Option<Encoding>) -> Type {
    let encoding = match encoding {
        Some(Encoding::Bounds(bounds)) => {
            let open = |(dim, bound): (&Dim, &Option<u64>)| bound.filter(|_| !dim.is_static());
            let bounds: Box<[Option<u64>]> = dims.iter().zip(&bounds).map(open).collect();
            bounds
                .iter()
                .any(Option::is_some)
                .then_some(Encoding::Bounds(bounds))
        }
        other => other,
    };
    Type::from(TensorType {
        dims,
        element: ty.element.clone(),
        encoding,
    })
}

/// What is known of a value that is either of two.
pub(crate) fn join(a: &Fact, b: &Fact, decider: &mut Decider<'_>) -> Fact {
    Fact {
        ty: join_types(&a.ty, &b.ty, decider),
        known: a.known.clone().filter(|known| Some(known) == b.known.as_ref()),
    }
}

fn join_types(a: &Type, b: &Type, decider: &mut Decider<'_>) -> Type {
    let (Type::Tensor(x), Type::Tensor(y)) = (a, b) else {
        return a.clone();
    };
    if x == y || x.rank() != y.rank() {
        return a.clone();
    }
    let dims = x.dims.iter().zip(&y.dims).map(|(x, y)| {
        let equal = match (x.expression(), y.expression()) {
            (Some(p), Some(q)) => p == q || decider.decide(&p, Comparison::Eq, &q) == Some(true),
            _ => false,
        };
        if equal { x.clone() } else { Dim::Unknown }
    });
    with_dims(x, dims.collect(), x.encoding.clone())
}

#[cfg(test)]
mod tests {
    use artifact_dims::Scope;
    use artifact_ir::types::ElementType::F32;

    use super::*;

    fn tensor(dims: &[&str]) -> Type {
        let dim = |text: &&str| match *text {
            "?" => Dim::Unknown,
            text => Dim::from(text.parse::<artifact_dims::Expr>().unwrap()),
        };
        TensorType::new(dims.iter().map(dim).collect::<Box<[Dim]>>(), F32).into()
    }

    #[test]
    fn meets() {
        let check = |a: &[&str], b: &[&str], expected: Option<&[&str]>| {
            assert_eq!(
                meet(&tensor(a), &tensor(b)).ok(),
                expected.map(tensor),
                "{a:?} {b:?}"
            );
            assert_eq!(meet(&tensor(b), &tensor(a)).is_ok(), expected.is_some());
        };
        check(&["?", "4"], &["b", "?"], Some(&["b", "4"]));
        check(&["2"], &["b"], Some(&["2"]));
        check(&["2"], &["3"], None);
        check(&["2"], &["2", "?"], None);
    }

    #[test]
    fn joins() {
        let scope = Scope::builder().parse("a == 2*b").unwrap().build().unwrap();
        let mut decider = Decider::new(&scope);
        let [x, y] = [&["a", "3", "c"], &["2*b", "4", "d"]].map(|dims| Fact::of_type(tensor(dims)));
        assert_eq!(join(&x, &y, &mut decider).ty, tensor(&["a", "?", "?"]));
    }
}
