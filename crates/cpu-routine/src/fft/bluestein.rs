//! Transforms of any length as a convolution with a chirp.

use super::lanes::{Numbers, Part, Real, Root};
use super::radix;

/// Computed in `f64` whatever the type of the numbers.
#[derive(Debug)]
pub(super) struct Plan {
    /// `exp(-i pi k^2 / length)`.
    chirp: Vec<Root<f64>>,
    /// The transform of the conjugate chirp, laid out around index 0, over its length.
    filter: Vec<Root<f64>>,
    inner: radix::Plan<f64>,
}

impl Plan {
    pub(super) fn new(length: usize) -> Option<Self> {
        let padded = (2 * length - 1).next_power_of_two();
        let inner = radix::Plan::new(padded)?;
        // Reduced before it is rounded: the square itself may exceed what `f64` holds exactly.
        let square = |index: usize| (index as u128 * index as u128 % (2 * length as u128)) as usize;
        let chirp: Vec<Root<f64>> = (0..length)
            .map(|index| Root::new(square(index), 2 * length))
            .collect();
        let mut values = vec![Numbers::<f64>::zero(); padded];
        for (index, root) in chirp.iter().enumerate() {
            for at in [index, (padded - index) % padded] {
                values[at].re.0[0] = root.re;
                values[at].im.0[0] = -root.im;
            }
        }
        let mut other = vec![Numbers::zero(); padded];
        let scale = 1.0 / padded as f64;
        let (values, _) = inner.run(&mut values, &mut other);
        let filter = values.iter().map(|value| Root {
            re: value.re.0[0] * scale,
            im: value.im.0[0] * scale,
        });
        Some(Self {
            chirp,
            filter: filter.collect(),
            inner,
        })
    }

    /// Numbers that the transform needs room for, twice.
    pub(super) const fn padded(&self) -> usize {
        self.inner.length()
    }

    /// Transforms `values` in place. `memory` has room for twice [`Self::padded`].
    pub(super) fn run<T: Real>(&self, values: &mut [Numbers<T>], memory: &mut [Numbers<f64>]) {
        let (first, second) = memory.split_at_mut(self.padded());
        let second = &mut second[..first.len()];
        let wide = |part: Part<T>| Part(part.0.map(T::wide));
        let narrow = |part: Part<f64>| Part(part.0.map(T::of));
        for ((to, from), chirp) in first.iter_mut().zip(&*values).zip(&self.chirp) {
            *to = Numbers {
                re: wide(from.re),
                im: wide(from.im),
            }
            .by(*chirp);
        }
        first[values.len()..].fill(Numbers::zero());
        let (spectrum, rest) = self.inner.run(first, second);
        for (value, filter) in spectrum.iter_mut().zip(&self.filter) {
            // Conjugated, so that the next transform is an inverse one.
            *value = value.by(*filter).conjugate();
        }
        let (result, _) = self.inner.run(spectrum, rest);
        for ((to, from), chirp) in values.iter_mut().zip(&*result).zip(&self.chirp) {
            let value = from.conjugate().by(*chirp);
            *to = Numbers {
                re: narrow(value.re),
                im: narrow(value.im),
            };
        }
    }
}
