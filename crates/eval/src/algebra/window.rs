//! Windows that slide over a padded, dilated input: the arithmetic that `reduce_window`, `select_and_scatter` and
//! `convolution` share.

use crate::error::EvalError;

/// The attributes of a window, one value a dimension; absent sizes, strides and dilations are 1, absent padding is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window<'a> {
    /// Number of elements of the window.
    pub(super) sizes: Option<&'a [i64]>,
    /// Distance between windows.
    pub(super) strides: Option<&'a [i64]>,
    /// Distance between neighbouring input elements.
    pub(super) base_dilations: Option<&'a [i64]>,
    /// Distance between neighbouring window elements.
    pub(super) window_dilations: Option<&'a [i64]>,
    /// Low and high padding; negative padding trims.
    pub(super) padding: Option<&'a [[i64; 2]]>,
}

/// One dimension of a window. The numbers are those of the program, so that arithmetic on them is done in `i128`.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowDim {
    /// Number of elements of the window.
    pub(super) size: usize,
    stride: i128,
    base_dilation: i128,
    window_dilation: i128,
    low: i128,
    high: i128,
}

impl WindowDim {
    /// Number of windows over `input` elements (spec, "reduce_window", C15).
    fn count(&self, input: usize) -> i128 {
        let span = |count: usize, dilation: i128| {
            if count == 0 {
                0
            } else {
                (count as i128 - 1) * dilation + 1
            }
        };
        let padded = self.low + span(input, self.base_dilation) + self.high;
        let covered = span(self.size, self.window_dilation);
        if padded <= 0 || covered > padded {
            0
        } else {
            (padded - covered) / self.stride + 1
        }
    }

    /// The input element under element `step` of window `start`; `None` where there is padding or a hole.
    pub(super) fn input(&self, start: usize, step: usize, input: usize) -> Option<usize> {
        let padded = start as i128 * self.stride + step as i128 * self.window_dilation - self.low;
        if padded < 0 || padded % self.base_dilation != 0 {
            return None;
        }
        usize::try_from(padded / self.base_dilation)
            .ok()
            .filter(|index| *index < input)
    }
}

/// The dimensions of a window; there must be `rank` values in each list.
pub(super) fn window(rank: usize, attributes: &Window<'_>) -> Result<Vec<WindowDim>, EvalError> {
    let Window {
        sizes,
        strides,
        base_dilations,
        window_dilations,
        padding,
    } = *attributes;
    let lengths =
        [sizes, strides, base_dilations, window_dilations].map(|list| list.map_or(rank, <[i64]>::len));
    if lengths.iter().any(|length| *length != rank) || padding.is_some_and(|padding| padding.len() != rank) {
        return Err(EvalError::invalid_input(format!(
            "a window over {rank} dimensions needs {rank} values of each kind"
        )));
    }
    let at = |list: Option<&[i64]>, dim: usize| list.map_or(1, |list| list[dim]);
    (0..rank)
        .map(|dim| {
            let [low, high] = padding.map_or([0, 0], |padding| padding[dim]);
            let steps = [strides, base_dilations, window_dilations].map(|list| i128::from(at(list, dim)));
            let [stride, base_dilation, window_dilation] = steps;
            match usize::try_from(at(sizes, dim)) {
                Ok(size) if steps.iter().all(|step| *step > 0) => Ok(WindowDim {
                    size,
                    stride,
                    base_dilation,
                    window_dilation,
                    low: low.into(),
                    high: high.into(),
                }),
                _ => Err(EvalError::invalid_input(
                    "the sizes, strides and dilations of a window must be positive",
                )),
            }
        })
        .collect()
}

/// Number of windows in each dimension over an input of shape `input`.
pub(super) fn result_shape(windows: &[WindowDim], input: &[usize]) -> Result<Vec<usize>, EvalError> {
    windows
        .iter()
        .zip(input)
        .map(|(window, input)| {
            usize::try_from(window.count(*input))
                .map_err(|_| EvalError::runtime("the number of windows does not fit 64 bits"))
        })
        .collect()
}

/// Position in the input of element `step` of the window `start`; `None` where there is padding or a hole.
pub(super) fn position(
    windows: &[WindowDim],
    start: &[usize],
    step: &[usize],
    shape: &[usize],
    strides: &[usize],
) -> Option<usize> {
    let mut position = 0;
    for (dim, window) in windows.iter().enumerate() {
        position += window.input(start[dim], step[dim], shape[dim])? * strides[dim];
    }
    Some(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an input of `input` elements as a padded row, `.` for padding and holes, and each window on it.
    fn check(input: usize, size: i64, steps: [i64; 3], padding: [i64; 2], rows: &[&str]) {
        let [stride, base, dilation] = steps;
        let windows = window(
            1,
            &Window {
                sizes: Some(&[size]),
                strides: Some(&[stride]),
                base_dilations: Some(&[base]),
                window_dilations: Some(&[dilation]),
                padding: Some(&[padding]),
            },
        )
        .unwrap();
        let count = result_shape(&windows, &[input]).unwrap()[0];
        let row = |start| -> String {
            let element = |step| position(&windows, &[start], &[step], &[input], &[1]);
            (0..size as usize)
                .map(|step| element(step).map_or(".".to_owned(), |index| index.to_string()))
                .collect()
        };
        assert_eq!((0..count).map(row).collect::<Vec<_>>(), rows);
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
    }

    #[test]
    fn huge_numbers_do_not_overflow() {
        let huge = Window {
            strides: Some(&[i64::MAX]),
            base_dilations: Some(&[i64::MAX]),
            padding: Some(&[[i64::MAX, i64::MAX]]),
            ..Window::default()
        };
        let windows = window(1, &huge).unwrap();
        assert_eq!(windows[0].input(usize::MAX, 0, 5), None);
        assert!(result_shape(&windows, &[1 << 40]).is_ok());
        assert!(
            window(
                1,
                &Window {
                    strides: Some(&[0]),
                    ..Window::default()
                }
            )
            .is_err()
        );
        assert!(
            window(
                2,
                &Window {
                    strides: Some(&[1]),
                    ..Window::default()
                }
            )
            .is_err()
        );
    }
}
