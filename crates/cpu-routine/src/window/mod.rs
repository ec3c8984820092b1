//! Windows that slide over a padded, dilated input: reductions of windows, and `select_and_scatter`.

mod reduce;
mod scan;
mod select;

pub use self::reduce::reduce_window;
pub use self::select::{Direction, Select, SelectFn, select_and_scatter};

use smallvec::SmallVec;

use crate::error::{RoutineError, check_same};
use crate::view::product;

/// Positions of a padded, dilated dimension that are counted with; no array in memory is so long.
const POSITIONS_MAX: i128 = 1 << 60;

/// Elements of a window, at most: more, of which nearly all would be padding, would take hours each.
const WINDOW_MAX: usize = 1 << 40;

/// One dimension of a window (spec, "reduce_window").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowDim {
    /// Number of elements of the window.
    pub size: usize,
    /// Distance between windows; not 0.
    pub stride: usize,
    /// Distance between neighbouring input elements; not 0.
    pub base_dilation: usize,
    /// Distance between neighbouring window elements; not 0.
    pub window_dilation: usize,
    /// Padding before the first element; negative padding trims.
    pub low: i64,
    /// Padding after the last element.
    pub high: i64,
}

impl Default for WindowDim {
    /// A window of one element at every element.
    fn default() -> Self {
        Self {
            size: 1,
            stride: 1,
            base_dilation: 1,
            window_dilation: 1,
            low: 0,
            high: 0,
        }
    }
}

impl WindowDim {
    /// Number of windows over `input` elements.
    fn count(&self, input: usize) -> Option<usize> {
        let span = |count: usize, dilation: usize| match count as i128 {
            0 => 0,
            count => (count - 1) * dilation as i128 + 1,
        };
        let padded = i128::from(self.low) + span(input, self.base_dilation) + i128::from(self.high);
        let covered = span(self.size, self.window_dilation);
        let edges = [
            padded,
            covered,
            i128::from(self.low).abs(),
            i128::from(self.high).abs(),
        ];
        let small = edges.iter().all(|edge| *edge < POSITIONS_MAX);
        let steps = [self.stride, self.base_dilation, self.window_dilation];
        if !small || steps.contains(&0) || steps.iter().any(|step| *step as i128 >= POSITIONS_MAX) {
            return None;
        }
        if padded <= 0 || covered > padded {
            return Some(0);
        }
        usize::try_from((padded - covered) / self.stride as i128 + 1).ok()
    }

    /// The input element under element `step` of window `start`; `None` where there is padding or a hole.
    #[inline]
    pub(crate) const fn input(&self, start: usize, step: usize, input: usize) -> Option<usize> {
        let padded = (start * self.stride + step * self.window_dilation) as i64 - self.low;
        if padded < 0 {
            return None;
        }
        let padded = padded as usize;
        let index = padded / self.base_dilation;
        if index < input && padded.is_multiple_of(self.base_dilation) {
            Some(index)
        } else {
            None
        }
    }

    /// The windows, from one to before another, whose element `step` is an input element; the base is not dilated.
    #[inline]
    pub(crate) fn inside(&self, step: usize, input: usize, windows: usize) -> std::ops::Range<usize> {
        let first = self.low - (step * self.window_dilation) as i64;
        let from = first.max(0) as usize;
        let end = (first + input as i64).max(0) as usize;
        let from = from.div_ceil(self.stride).min(windows);
        let end = end.div_ceil(self.stride).min(windows);
        from..end.max(from)
    }

    /// Whether windows are the elements.
    pub(crate) fn is_trivial(&self) -> bool {
        *self == Self::default()
    }
}

/// Checks that windows over an input make a result.
pub(crate) fn check_windows(
    routine: &'static str,
    windows: &[WindowDim],
    input: &[usize],
    result: &[usize],
) -> Result<(), RoutineError> {
    check_same(
        routine,
        "the rank and the number of windows",
        &[input.len()],
        &[windows.len()],
    )?;
    let counts: Option<SmallVec<[usize; 6]>> = windows
        .iter()
        .zip(input)
        .map(|(window, size)| window.count(*size))
        .collect();
    let elements = product(windows.iter().map(|window| window.size));
    let counts = counts.filter(|_| elements <= WINDOW_MAX).ok_or_else(|| {
        RoutineError::mismatch(
            routine,
            format!("the windows {windows:?} cannot slide over {input:?}"),
        )
    })?;
    check_same(routine, "the number of windows", result, &counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an input of `input` elements as a padded row, `.` for padding and holes, and each window on it.
    fn check(input: usize, size: usize, steps: [usize; 3], padding: [i64; 2], rows: &[&str]) {
        let [stride, base_dilation, window_dilation] = steps;
        let [low, high] = padding;
        let window = WindowDim {
            size,
            stride,
            base_dilation,
            window_dilation,
            low,
            high,
        };
        let count = window.count(input).unwrap();
        let row = |start| -> String {
            let element = |step| window.input(start, step, input);
            (0..size)
                .map(|step| element(step).map_or(".".to_owned(), |index| index.to_string()))
                .collect()
        };
        assert_eq!((0..count).map(row).collect::<Vec<_>>(), rows);
        if base_dilation == 1 {
            for step in 0..size {
                let inside = window.inside(step, input, count);
                let found: Vec<usize> = (0..count)
                    .filter(|start| window.input(*start, step, input).is_some())
                    .collect();
                assert_eq!(inside.collect::<Vec<_>>(), found);
            }
        }
    }

    #[test]
    fn windows() {
        check(4, 2, [1, 1, 1], [0, 0], &["01", "12", "23"]);
        check(4, 2, [2, 1, 1], [1, 1], &[".0", "12", "3."]);
        check(3, 2, [1, 2, 1], [0, 0], &["0.", ".1", "1.", ".2"]);
        check(5, 3, [1, 1, 2], [0, 0], &["024"]);
        check(5, 2, [1, 1, 1], [-1, -2], &["12"]);
        check(2, 3, [1, 1, 1], [0, 0], &[]);
        check(0, 1, [1, 1, 1], [1, 1], &[".", "."]);
        check(3, 2, [4, 2, 3], [2, 1], &["..", "1."]);
        check(7, 3, [3, 1, 2], [4, 2], &["..0", ".13", "246"]);
    }

    #[test]
    fn windows_that_cannot_be_are_refused() {
        let count = |window: WindowDim| window.count(3);
        assert_eq!(
            count(WindowDim {
                stride: 0,
                ..WindowDim::default()
            }),
            None
        );
        assert_eq!(
            count(WindowDim {
                low: i64::MAX,
                ..WindowDim::default()
            }),
            None
        );
        assert_eq!(
            count(WindowDim {
                low: i64::MIN,
                ..WindowDim::default()
            }),
            None
        );
        assert_eq!(
            count(WindowDim {
                base_dilation: usize::MAX,
                ..WindowDim::default()
            }),
            None
        );
        assert_eq!(
            count(WindowDim {
                stride: usize::MAX,
                ..WindowDim::default()
            }),
            None
        );
    }
}
