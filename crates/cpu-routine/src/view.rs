//! Views: arrays in memory that somebody else owns, by shape and strides.

use std::marker::PhantomData;

use artifact_ir::types::ElementType;
use smallvec::SmallVec;

use crate::error::RoutineError;

/// One dimension of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Number of indices.
    pub size: usize,
    /// Distance of neighbours, in bytes: 0 where the dimension is broadcast, negative where it is reversed.
    pub stride: isize,
}

/// The dimensions of a view, outermost first.
pub type Axes = SmallVec<[Axis; 6]>;

/// An array that is read.
///
/// Whoever makes one promises that its memory is there: see [`View::new`].
#[derive(Clone, Debug)]
pub struct View<'a> {
    data: *const u8,
    element: ElementType,
    axes: Axes,
    memory: PhantomData<&'a [u8]>,
}

/// An array that is written, and that nobody else reads or writes meanwhile.
///
/// Whoever makes one promises that its memory is there and its elements are distinct: see [`ViewMut::new`].
#[derive(Debug)]
pub struct ViewMut<'a> {
    data: *mut u8,
    element: ElementType,
    axes: Axes,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a view is a shared reference to bytes, which any thread may read.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}
// SAFETY: a mutable view is an exclusive reference to bytes; safe code writes through it with `&mut self` only.
unsafe impl Send for ViewMut<'_> {}
// SAFETY: a shared reference to it gives no more than its shape and a raw pointer.
unsafe impl Sync for ViewMut<'_> {}

macro_rules! accessors {
    () => {
        /// The type of an element.
        #[must_use]
        pub const fn element(&self) -> ElementType {
            self.element
        }

        /// Bytes of an element.
        #[must_use]
        pub const fn width(&self) -> usize {
            self.element.bytes()
        }

        /// The dimensions.
        #[must_use]
        pub fn axes(&self) -> &[Axis] {
            &self.axes
        }

        /// Number of dimensions.
        #[must_use]
        pub fn rank(&self) -> usize {
            self.axes.len()
        }

        /// Size of each dimension.
        #[must_use]
        pub fn shape(&self) -> SmallVec<[usize; 6]> {
            self.axes.iter().map(|axis| axis.size).collect()
        }

        /// Number of elements.
        #[must_use]
        pub fn count(&self) -> usize {
            count(&self.axes)
        }

        /// Whether there is no element.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.axes.iter().any(|axis| axis.size == 0)
        }

        /// Whether the elements lie without gaps in row-major order.
        #[must_use]
        pub fn is_dense(&self) -> bool {
            let mut next = self.width() as isize;
            self.is_empty()
                || self.axes.iter().rev().all(|axis| {
                    let fits = axis.size == 1 || axis.stride == next;
                    next *= axis.size as isize;
                    fits
                })
        }

        /// The view of the dimensions in another order: dimension `d` is dimension `order[d]` of this one.
        ///
        /// # Errors
        /// A mismatch when `order` is no permutation.
        pub fn permuted(mut self, order: &[usize]) -> Result<Self, RoutineError> {
            let mut seen: SmallVec<[bool; 6]> = SmallVec::from_elem(false, self.rank());
            let fresh = |dim: &usize| {
                seen.get_mut(*dim)
                    .is_some_and(|seen| !std::mem::replace(seen, true))
            };
            if order.len() != self.rank() || !order.iter().all(fresh) {
                return Err(RoutineError::mismatch(
                    "view",
                    format!("{order:?} is no permutation of {} dimensions", self.rank()),
                ));
            }
            self.axes = order.iter().map(|dim| self.axes[*dim]).collect();
            Ok(self)
        }

        /// The view with the indices of these dimensions in descending order.
        ///
        /// # Errors
        /// A mismatch when there is no such dimension.
        pub fn reversed(mut self, dims: &[usize]) -> Result<Self, RoutineError> {
            for dim in dims {
                let axis = self.axes.get_mut(*dim).ok_or_else(|| no_dimension(*dim))?;
                let last = axis.size.saturating_sub(1) as isize * axis.stride;
                axis.stride = -axis.stride;
                self.data = self.data.wrapping_offset(last);
            }
            Ok(self)
        }

        /// Every `step`-th index of a dimension from `start` on, `size` of them.
        ///
        /// # Errors
        /// A mismatch when they are not all within the dimension.
        pub fn part(
            mut self,
            dim: usize,
            start: usize,
            size: usize,
            step: usize,
        ) -> Result<Self, RoutineError> {
            let axis = self.axes.get_mut(dim).ok_or_else(|| no_dimension(dim))?;
            let past = match size.checked_sub(1) {
                None => Some(start),
                Some(last) => last
                    .checked_mul(step)
                    .and_then(|last| last.checked_add(start)?.checked_add(1)),
            };
            if past.is_none_or(|past| past > axis.size) {
                return Err(RoutineError::mismatch(
                    "view",
                    format!(
                        "{size} indices from {start} by {step} do not lie within dimension {dim} of size {}",
                        axis.size
                    ),
                ));
            }
            // Of an empty part the pointer is not used, and one step is as good as another.
            if size > 0 {
                self.data = self.data.wrapping_offset(start as isize * axis.stride);
            }
            if size > 1 {
                axis.stride *= step as isize;
            }
            axis.size = size;
            Ok(self)
        }
    };
}

impl<'a> View<'a> {
    /// An array at `data`. `strides` are in bytes, one for each size in `shape`.
    ///
    /// # Safety
    /// For every index of `shape` there is an initialised element of type `element` at `data` plus the index times `strides`,
    /// aligned as the parts of `element` are, within one allocation that nobody writes to during `'a`.
    ///
    /// # Panics
    /// When there are not as many strides as sizes.
    #[must_use]
    pub unsafe fn new(data: *const u8, element: ElementType, shape: &[usize], strides: &[isize]) -> Self {
        Self {
            data,
            element,
            axes: axes(shape, strides),
            memory: PhantomData,
        }
    }

    /// The elements of a slice in row-major order; `None` when their number or alignment does not fit.
    #[must_use]
    pub fn dense(bytes: &'a [u8], element: ElementType, shape: &[usize]) -> Option<Self> {
        let axes = dense_axes(bytes.len(), bytes.as_ptr(), element, shape)?;
        Some(Self {
            data: bytes.as_ptr(),
            element,
            axes,
            memory: PhantomData,
        })
    }

    accessors!();

    /// The element at index 0.
    #[must_use]
    pub const fn data(&self) -> *const u8 {
        self.data
    }

    /// The view in which dimension `dims[d]` is dimension `d` of this one and every other dimension of `shape` is broadcast
    /// (spec, "broadcast_in_dim"). A dimension of size 1 is broadcast too.
    ///
    /// # Errors
    /// A mismatch when a size fits neither way, or `dims` names no dimension or one twice.
    pub fn broadcast(&self, shape: &[usize], dims: &[usize]) -> Result<Self, RoutineError> {
        let mut axes: Axes = shape
            .iter()
            .map(|size| Axis {
                size: *size,
                stride: 0,
            })
            .collect();
        if dims.len() != self.rank() || (1..dims.len()).any(|at| dims[..at].contains(&dims[at])) {
            return Err(RoutineError::mismatch(
                "view",
                format!("{dims:?} are not the dimensions to broadcast to"),
            ));
        }
        for (axis, dim) in self.axes.iter().zip(dims) {
            let target = axes.get_mut(*dim).ok_or_else(|| no_dimension(*dim))?;
            if axis.size == target.size {
                target.stride = axis.stride;
            } else if axis.size != 1 {
                return Err(RoutineError::mismatch(
                    "view",
                    format!("size {} cannot be broadcast to {}", axis.size, target.size),
                ));
            }
        }
        Ok(Self { axes, ..self.clone() })
    }
}

impl<'a> ViewMut<'a> {
    /// An array at `data`. `strides` are in bytes, one for each size in `shape`.
    ///
    /// # Safety
    /// As for [`View::new`], but the elements may be uninitialised, those at different indices do not overlap, and nobody else
    /// reads or writes them during `'a`.
    ///
    /// # Panics
    /// When there are not as many strides as sizes.
    #[must_use]
    pub unsafe fn new(data: *mut u8, element: ElementType, shape: &[usize], strides: &[isize]) -> Self {
        Self {
            data,
            element,
            axes: axes(shape, strides),
            memory: PhantomData,
        }
    }

    /// The elements of a slice in row-major order; `None` when their number or alignment does not fit.
    #[must_use]
    pub fn dense(bytes: &'a mut [u8], element: ElementType, shape: &[usize]) -> Option<Self> {
        let axes = dense_axes(bytes.len(), bytes.as_ptr(), element, shape)?;
        Some(Self {
            data: bytes.as_mut_ptr(),
            element,
            axes,
            memory: PhantomData,
        })
    }

    accessors!();

    /// The element at index 0.
    #[must_use]
    pub const fn data(&self) -> *mut u8 {
        self.data
    }

    /// The same array, borrowed for a while.
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        ViewMut {
            data: self.data,
            element: self.element,
            axes: self.axes.clone(),
            memory: PhantomData,
        }
    }

    /// The same array to read from.
    #[must_use]
    pub fn as_view(&self) -> View<'_> {
        View {
            data: self.data,
            element: self.element,
            axes: self.axes.clone(),
            memory: PhantomData,
        }
    }
}

fn no_dimension(dim: usize) -> RoutineError {
    RoutineError::mismatch("view", format!("there is no dimension {dim}"))
}

fn axes(shape: &[usize], strides: &[isize]) -> Axes {
    assert_eq!(shape.len(), strides.len(), "a view has one stride for each size");
    let axis = |(size, stride): (&usize, &isize)| Axis {
        size: *size,
        stride: *stride,
    };
    shape.iter().zip(strides).map(axis).collect()
}

/// Row-major axes of a shape; the strides of an empty one mean nothing.
pub(crate) fn row_major(width: usize, shape: &[usize]) -> Axes {
    let mut axes: Axes = shape
        .iter()
        .map(|size| Axis {
            size: *size,
            stride: 0,
        })
        .collect();
    let mut stride = width as isize;
    for axis in axes.iter_mut().rev() {
        axis.stride = stride;
        stride = stride.saturating_mul(axis.size as isize);
    }
    axes
}

fn dense_axes(length: usize, data: *const u8, element: ElementType, shape: &[usize]) -> Option<Axes> {
    let empty = shape.contains(&0);
    let bytes = shape
        .iter()
        .try_fold(element.bytes(), |bytes, size| bytes.checked_mul(*size));
    let bytes = if empty { Some(0) } else { bytes };
    let aligned = data.addr().is_multiple_of(element.part().bytes());
    (bytes == Some(length) && (aligned || empty)).then(|| row_major(element.bytes(), shape))
}

/// Number of indices; the largest number if it does not fit, as that of a broadcast may not.
pub(crate) fn count(axes: &[Axis]) -> usize {
    product(axes.iter().map(|axis| axis.size))
}

/// The product of sizes; the largest number if it does not fit, but 0 if one of them is.
pub(crate) fn product(sizes: impl Iterator<Item = usize>) -> usize {
    let (mut product, mut empty) = (1_usize, false);
    for size in sizes {
        product = product.saturating_mul(size.max(1));
        empty |= size == 0;
    }
    if empty { 0 } else { product }
}

/// A pointer that tasks share. Each keeps to elements that no other touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target(*mut u8);

// SAFETY: it is a number until somebody writes through it, and whoever does says why nobody else does.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    pub(crate) const fn new(data: *mut u8) -> Self {
        Self(data)
    }

    pub(crate) const fn at(self, offset: isize) -> *mut u8 {
        self.0.wrapping_offset(offset)
    }
}

/// A pointer that tasks read through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source(*const u8);

// SAFETY: it is a number until somebody reads through it, and whoever does says why it may be read.
unsafe impl Send for Source {}
// SAFETY: as above.
unsafe impl Sync for Source {}

impl Source {
    pub(crate) const fn new(data: *const u8) -> Self {
        Self(data)
    }

    pub(crate) const fn at(self, offset: isize) -> *const u8 {
        self.0.wrapping_offset(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(view: &View<'_>, base: *const u8) -> Vec<isize> {
        let mut all = vec![view.data() as isize - base as isize];
        for axis in view.axes() {
            all = all
                .iter()
                .flat_map(|at| (0..axis.size as isize).map(move |index| at + index * axis.stride))
                .collect();
        }
        all
    }

    #[test]
    fn derived_views() {
        let bytes = [0_u8; 6];
        let view = View::dense(&bytes, ElementType::I8, &[2, 3]).unwrap();
        let base = bytes.as_ptr();
        assert!(view.is_dense());
        let check = |view: Result<View<'_>, RoutineError>, expected: &[isize]| {
            assert_eq!(offsets(&view.unwrap(), base), expected);
        };
        check(view.clone().permuted(&[1, 0]), &[0, 3, 1, 4, 2, 5]);
        check(view.clone().reversed(&[1]), &[2, 1, 0, 5, 4, 3]);
        check(view.clone().part(1, 0, 2, 2), &[0, 2, 3, 5]);
        check(view.clone().part(0, 2, 0, 1), &[]);
        check(
            view.clone().broadcast(&[2, 2, 3], &[0, 2]),
            &[0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5],
        );
        assert!(view.clone().permuted(&[0, 0]).is_err());
        assert!(view.clone().reversed(&[2]).is_err());
        assert!(view.clone().part(1, 1, 2, 2).is_err());
        assert!(view.clone().part(1, usize::MAX, 1, 1).is_err());
        assert!(view.clone().broadcast(&[2, 4], &[0, 1]).is_err());
        assert!(view.broadcast(&[2, 3], &[1, 1]).is_err());
    }

    #[test]
    fn counts_do_not_overflow() {
        assert_eq!(product([1 << 40, 1 << 40, 0].into_iter()), 0);
        assert_eq!(product([1 << 40, 1 << 40].into_iter()), usize::MAX);
        assert_eq!(product([2, 3].into_iter()), 6);
    }

    #[test]
    fn slices_that_do_not_fit_are_refused() {
        let bytes = [0_u32; 4];
        // SAFETY: any four words are sixteen bytes.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<u8>(), 16) };
        assert!(View::dense(bytes, ElementType::F32, &[2, 2]).is_some());
        assert!(View::dense(bytes, ElementType::F32, &[3]).is_none());
        assert!(View::dense(&bytes[1..9], ElementType::F32, &[2]).is_none());
        assert!(View::dense(&[], ElementType::F32, &[usize::MAX, usize::MAX, 0]).is_some());
    }
}
