//! Windows that move over a padded and dilated base (spec, "reduce_window", "convolution", "select_and_scatter").

use artifact_dims::{Expr, ExprError};

use super::extent::Extent;
use super::positions;
use crate::attribute::Padding;
use crate::types::Dim;
use crate::verify::context::{OpError, OpResult, ensure};

/// A window in one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// Number of elements that it covers, before dilation.
    pub(super) size: Dim,
    /// Distance between two positions of the window.
    pub(super) stride: u64,
    /// Elements before the base and after it; negative ones trim.
    pub(super) padding: [i64; 2],
    /// Distance between neighbouring elements of the base.
    pub(super) base_dilation: u64,
    /// Distance between neighbouring elements of the window.
    pub(super) dilation: u64,
}

/// The attributes that describe a window; absent ones are 1, and no padding.
#[derive(Clone, Copy, Default)]
pub(super) struct WindowAttributes<'a> {
    pub(super) strides: Option<&'a [i64]>,
    pub(super) padding: Option<&'a Padding>,
    pub(super) base_dilations: Option<&'a [i64]>,
    pub(super) dilations: Option<&'a [i64]>,
}

/// The window in each dimension: one number per dimension in each attribute, all of them positive.
pub(super) fn windows(sizes: &[Dim], attributes: &WindowAttributes<'_>) -> OpResult<Vec<Window>> {
    let count = sizes.len();
    let lists = [
        ("window strides", attributes.strides),
        ("base dilations", attributes.base_dilations),
        ("window dilations", attributes.dilations),
    ];
    for (name, list) in lists {
        if let Some(list) = list {
            positions::ensure_length(name, list.len(), count, "the number of window dimensions")?;
        }
    }
    if let Some(padding) = attributes.padding {
        positions::ensure_length(
            "padding",
            padding.0.len(),
            count,
            "the number of window dimensions",
        )?;
    }
    let number = |name: &str, list: Option<&[i64]>, index: usize| match list.and_then(|list| list.get(index))
    {
        Some(value) => positions::positive(format_args!("{name} of window dimension {index}"), *value),
        None => Ok(1),
    };
    let window = |(index, size): (usize, &Dim)| {
        ensure!(
            *size != Dim::Static(0),
            "size of window dimension {index} must be positive, but got 0"
        );
        Ok(Window {
            size: size.clone(),
            stride: number("stride", attributes.strides, index)?,
            padding: attributes
                .padding
                .and_then(|padding| padding.0.get(index))
                .copied()
                .unwrap_or_default(),
            base_dilation: number("base dilation", attributes.base_dilations, index)?,
            dilation: number("window dilation", attributes.dilations, index)?,
        })
    };
    sizes.iter().enumerate().map(window).collect()
}

/// Window sizes as an attribute has them.
pub(super) fn sizes(attribute: &[i64]) -> OpResult<Vec<Dim>> {
    let size = |(index, value): (usize, &i64)| {
        positions::positive(format_args!("size of window dimension {index}"), *value).map(Dim::Static)
    };
    attribute.iter().enumerate().map(size).collect()
}

/// How many positions the window has over a base of this extent.
pub(super) fn output(base: &Extent, window: &Window) -> OpResult<Extent> {
    if window.size == Dim::Static(1)
        && (window.stride, window.base_dilation, window.padding) == (1, 1, [0, 0])
    {
        // Every element of the base is a position, known or not.
        return Ok(base.clone());
    }
    match window.size {
        Dim::Static(size) => base.map(
            |base| positions_of(base, size, window),
            |base| positions_over(base, size, window),
        ),
        Dim::Symbolic(_) | Dim::Unknown => Ok(Extent::UNKNOWN),
    }
}

/// Positions of a window of `size` over `base` elements.
fn positions_of(base: u64, size: u64, window: &Window) -> OpResult<u64> {
    let [low, high] = window.padding.map(i128::from);
    let padded = dilated(base, window.base_dilation) + low + high;
    let covered = dilated(size, window.dilation);
    ensure!(
        padded >= 0,
        "padding {:?} leaves a negative size {padded} of a base of {base}",
        window.padding
    );
    if padded == 0 || covered > padded {
        return Ok(0);
    }
    let count = (padded - covered) / i128::from(window.stride) + 1;
    u64::try_from(count)
        .map_err(|_| OpError::new(format!("the window has {count} positions, too many to count")))
}

/// The same over a base that is an expression.
fn positions_over(base: &Expr, size: u64, window: &Window) -> Result<Expr, ExprError> {
    let number = |value: i128| {
        i64::try_from(value)
            .map(Expr::constant)
            .map_err(|_| ExprError::Overflow)
    };
    let (zero, one) = (Expr::constant(0), Expr::constant(1));
    let dilated_base = match window.base_dilation {
        1 => base.clone(),
        // An empty base has no element at all, not one less than one.
        dilation => {
            let gaps = base.sub(&one)?.maximum(&zero)?.mul(&number(dilation.into())?)?;
            gaps.add(&base.minimum(&one)?)?
        }
    };
    let [low, high] = window.padding.map(i128::from);
    let room = dilated_base.add(&number(low + high - dilated(size, window.dilation))?)?;
    room.floordiv(&number(window.stride.into())?)?
        .add(&one)?
        .maximum(&zero)
}

/// `size` elements with gaps of `dilation - 1` between them. A size is below 2^64 and a dilation below 2^63, so that the
/// product, and paddings added to it, fit 128 bits.
fn dilated(size: u64, dilation: u64) -> i128 {
    if size == 0 {
        return 0;
    }
    i128::from(size - 1) * i128::from(dilation) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        base: u64,
        size: u64,
        stride: u64,
        padding: [i64; 2],
        dilations: [u64; 2],
        expected: Option<u64>,
    ) {
        let window = Window {
            size: Dim::Static(size),
            stride,
            padding,
            base_dilation: dilations[0],
            dilation: dilations[1],
        };
        let found = output(&Extent::of(base), &window)
            .ok()
            .and_then(|extent| extent.size.as_static());
        assert_eq!(found, expected, "{base} {window:?}");
    }

    #[test]
    fn positions() {
        check(5, 2, 2, [0, 0], [1, 1], Some(2));
        check(5, 2, 1, [1, 1], [1, 1], Some(6));
        check(3, 1, 1, [0, 0], [2, 1], Some(5));
        check(5, 3, 1, [0, 0], [1, 2], Some(1));
        check(0, 1, 1, [0, 0], [1, 1], Some(0));
        check(2, 3, 1, [0, 0], [1, 1], Some(0));
        check(2, 1, 1, [-3, 0], [1, 1], None);
        check(u64::MAX, 2, 1, [i64::MAX, i64::MAX], [i64::MAX as u64, 1], None);
        check(
            u64::MAX,
            u64::MAX,
            u64::MAX,
            [i64::MIN, i64::MIN],
            [1, i64::MAX as u64],
            None,
        );
    }
}
