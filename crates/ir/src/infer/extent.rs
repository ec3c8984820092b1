//! Sizes of dimensions together with their upper bounds, and how they combine (bounded dynamism; upstream `Base.cpp`).

use artifact_dims::{Expr, ExprError};
use smallvec::SmallVec;

use crate::types::{Dim, Element, Encoding, TensorType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

/// The size of a dimension and, where it is not a number, an upper bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The size.
    pub(crate) size: Dim,
    /// The bound, if there is one.
    pub(crate) bound: Option<u64>,
}

impl Extent {
    /// A size that is a number.
    pub(crate) const fn of(size: u64) -> Self {
        Self {
            size: Dim::Static(size),
            bound: None,
        }
    }

    /// A size of which nothing is known.
    pub(crate) const UNKNOWN: Self = Self {
        size: Dim::Unknown,
        bound: None,
    };

    /// The size if it is a number, else the bound.
    pub(crate) fn size_or_bound(&self) -> Option<u64> {
        self.size.as_static().or(self.bound)
    }

    /// Applies a calculation: `change` to a size that is a number, else to the bound, and `symbolic`, which says the same, to
    /// an expression. An expression that is over the limits of what one may be leaves the size unknown.
    pub(crate) fn map(
        &self,
        change: impl Fn(u64) -> OpResult<u64>,
        symbolic: impl FnOnce(&Expr) -> Result<Expr, ExprError>,
    ) -> OpResult<Self> {
        if let Dim::Static(size) = self.size {
            return Ok(Self::of(change(size)?));
        }
        let size = match &self.size {
            Dim::Symbolic(expression) => symbolic(expression).map_or(Dim::Unknown, Dim::from),
            Dim::Static(_) | Dim::Unknown => Dim::Unknown,
        };
        let bound = self.bound.map(change).transpose()?;
        Ok(Self { size, bound })
    }

    /// One of `count` equal parts.
    pub(crate) fn divided(&self, count: u64) -> OpResult<Self> {
        self.map(|size| Ok(size / count), |size| size.floordiv(&number(count)?))
    }

    /// `count` times as many elements.
    pub(crate) fn times(&self, count: u64) -> OpResult<Self> {
        let product = |size: u64| {
            size.checked_mul(count)
                .ok_or_else(|| OpError::new(format!("size {size} times {count} is too large")))
        };
        self.map(product, |size| size.mul(&number(count)?))
    }
}

fn number(value: u64) -> Result<Expr, ExprError> {
    i64::try_from(value)
        .map(Expr::constant)
        .map_err(|_| ExprError::Overflow)
}

/// One extent for each dimension. Few tensors have more than six.
pub(crate) type Extents = SmallVec<[Extent; 6]>;

/// The extent of each dimension of a tensor.
pub(crate) fn extents(tensor: &TensorType) -> Extents {
    (0..tensor.rank()).map(|index| extent(tensor, index)).collect()
}

/// The extent of a dimension that the tensor has.
pub(crate) fn extent(tensor: &TensorType, index: usize) -> Extent {
    let bounds = tensor.bounds().unwrap_or_default();
    Extent {
        size: tensor.dims[index].clone(),
        bound: bounds.get(index).copied().flatten(),
    }
}

/// The tensor type with these extents.
pub(crate) fn tensor_of(extents: &[Extent], element: impl Into<Element>) -> Type {
    let dims: Box<[Dim]> = extents.iter().map(|extent| extent.size.clone()).collect();
    let mut tensor = TensorType::new(dims, element);
    if extents.iter().any(|extent| extent.bound.is_some()) {
        tensor.encoding = Some(Encoding::Bounds(
            extents.iter().map(|extent| extent.bound).collect(),
        ));
    }
    tensor.into()
}

/// The answer of an operation of which each result has these extents and one of the elements. No type is made where those that
/// are declared are just these.
pub(crate) fn results_of(
    cx: &OpContext<'_>,
    extents: &[Extent],
    elements: impl IntoIterator<Item = Element> + Clone,
) -> Results {
    let is = |ty: &Type, element: &Element| match ty {
        Type::Tensor(tensor) => {
            tensor.encoding.is_none()
                && tensor.element == *element
                && tensor.rank() == extents.len()
                && extents
                    .iter()
                    .zip(&tensor.dims)
                    .all(|(extent, dim)| extent.bound.is_none() && extent.size == *dim)
        }
        _ => false,
    };
    let mut declared = cx.results.iter();
    let mut wanted = elements.clone().into_iter();
    if wanted.all(|element| declared.next().is_some_and(|ty| is(ty, &element))) && declared.next().is_none() {
        return Results::Declared;
    }
    let made = elements.into_iter().map(|element| tensor_of(extents, element));
    Results::Inferred(made.collect())
}

/// The answer of an operation of one result: a tensor of these extents.
pub(crate) fn result_of(cx: &OpContext<'_>, extents: &[Extent], element: impl Into<Element>) -> Results {
    results_of(cx, extents, [element.into()])
}

/// The answer of an operation of one result: the shape, bounds and encoding of a tensor with another element.
pub(crate) fn result_like(cx: &OpContext<'_>, tensor: &TensorType, element: impl Into<Element>) -> Results {
    let element = element.into();
    match cx.results {
        [Type::Tensor(result)]
            if result.element == element
                && result.dims == tensor.dims
                && result.encoding == tensor.encoding =>
        {
            Results::Declared
        }
        _ => Results::Inferred(vec![like(tensor, element)]),
    }
}

/// A value of both extents: what is known of either is known of both.
pub(crate) fn most_specific(index: usize, left: &Extent, right: &Extent) -> OpResult<Extent> {
    ensure!(
        left.size.compatible(&right.size),
        "mismatched dimension sizes {} and {} in dimension {index}",
        left.size,
        right.size
    );
    let bound = match (left.bound, right.bound) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let size = match (&left.size, &right.size) {
        (Dim::Static(_), _) | (Dim::Symbolic(_), Dim::Symbolic(_) | Dim::Unknown) => left.size.clone(),
        (Dim::Unknown | Dim::Symbolic(_), other) => other.clone(),
    };
    let Dim::Static(number) = size else {
        return Ok(Extent { size, bound });
    };
    if let Some(bound) = bound.filter(|bound| *bound < number) {
        let message = format!("mismatched dimension size {number} and bound {bound} in dimension {index}");
        return Err(OpError::new(message));
    }
    Ok(Extent { size, bound: None })
}

/// A value of one of both extents: only what is known of either alike is known.
pub(crate) fn least_specific(index: usize, left: &Extent, right: &Extent) -> OpResult<Extent> {
    ensure!(
        left.size.compatible(&right.size),
        "mismatched dimension sizes {} and {} in dimension {index}",
        left.size,
        right.size
    );
    if left.size == right.size && left.size.is_static() {
        return Ok(left.clone());
    }
    let size = if left.size == right.size {
        left.size.clone()
    } else {
        Dim::Unknown
    };
    let bound = match (left.size_or_bound(), right.size_or_bound()) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => None,
    };
    Ok(Extent { size, bound })
}

/// Two extents one after the other.
pub(crate) fn concatenated(left: &Extent, right: &Extent) -> OpResult<Extent> {
    let sum = |a: u64, b: u64| {
        a.checked_add(b)
            .ok_or_else(|| OpError::new(format!("the concatenated size {a} + {b} is too large")))
    };
    match (&left.size, &right.size) {
        (Dim::Static(a), Dim::Static(b)) => return Ok(Extent::of(sum(*a, *b)?)),
        // Nothing changes a size when it is joined with an empty one.
        (Dim::Static(0), _) => return Ok(right.clone()),
        (_, Dim::Static(0)) => return Ok(left.clone()),
        _ => {}
    }
    let size = match (left.size.expression(), right.size.expression()) {
        (Some(a), Some(b)) => a.add(&b).map_or(Dim::Unknown, Dim::from),
        _ => Dim::Unknown,
    };
    let bound = match (&left.bound, &right.bound) {
        (None, None) => None,
        _ => match (left.size_or_bound(), right.size_or_bound()) {
            (Some(a), Some(b)) => Some(sum(a, b)?),
            _ => None,
        },
    };
    Ok(Extent { size, bound })
}

/// How two extents of one dimension combine.
pub(crate) type Combine = fn(usize, &Extent, &Extent) -> OpResult<Extent>;

/// Combines tensors of one rank dimension by dimension; the element is the first one's, and so is a foreign encoding.
pub(crate) fn combine(tensors: &[&TensorType], combine: Combine) -> OpResult<Type> {
    let [first, rest @ ..] = tensors else {
        return Err(OpError::new("requires at least one tensor operand"));
    };
    let mut all = extents(first);
    for other in rest {
        ensure!(
            other.rank() == first.rank(),
            "mismatched ranks of '{first}' and '{other}'"
        );
        for (index, (extent, next)) in all.iter_mut().zip(extents(other)).enumerate() {
            *extent = combine(index, extent, &next)?;
        }
    }
    Ok(with_foreign_encoding(
        tensor_of(&all, first.element.clone()),
        first,
    ))
}

/// Gives the type the encoding of `prototype` when that is of a dialect that we do not know and the type has none.
pub(crate) fn with_foreign_encoding(ty: Type, prototype: &TensorType) -> Type {
    match (&ty, &prototype.encoding) {
        (Type::Tensor(tensor), Some(encoding @ Encoding::Foreign(_))) if tensor.encoding.is_none() => {
            let encoding = Some(encoding.clone());
            TensorType {
                encoding,
                ..TensorType::clone(tensor)
            }
            .into()
        }
        _ => ty,
    }
}

/// The same shape, bounds and encoding with another element.
pub(crate) fn like(tensor: &TensorType, element: impl Into<Element>) -> Type {
    tensor.with_element(element).into()
}
