//! Complex numbers. What is computed with them stands where it is used: products in `algebra`, functions in `math`.

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Complex {
    /// The real part.
    pub(crate) re: f64,
    /// The imaginary part.
    pub(crate) im: f64,
}

impl Complex {
    /// A number from its parts.
    pub(crate) const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }
}
