//! One pass over an array: every line along one dimension.

use super::lanes::{LANES, Numbers, Part, Real};
use super::line::{Plan, Steps, Typed};
use crate::copy::transpose::{Block, transpose};
use crate::error::RoutineError;
use crate::level::leveled;
use crate::odometer::Nest;
use crate::pool::Parallel;
use crate::view::{Axis, Source, Target, View, ViewMut};

/// What a line becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Complex numbers become as many.
    Complex { inverse: bool },
    /// Real numbers become half a spectrum.
    RealToHalf,
    /// Half a spectrum becomes real numbers.
    HalfToReal,
}

/// Numbers that one task transforms, about.
const TASK_NUMBERS: usize = 1 << 13;

pub(super) struct Pass<'a> {
    pub(super) plan: &'a Plan,
    pub(super) dim: usize,
    pub(super) memory: Target,
}

/// Lines of an array: where they begin and the step along them.
#[derive(Clone, Copy)]
struct Lines<'a, P> {
    data: P,
    step: isize,
    starts: &'a [isize],
}

impl Pass<'_> {
    pub(super) fn run(
        &self,
        parallel: Parallel<'_>,
        from: &View<'_>,
        out: &mut ViewMut<'_>,
    ) -> Result<(), RoutineError> {
        self.between(
            parallel,
            (Source::new(from.data()), from.axes()),
            (Target::new(out.data()), out.axes()),
        )
    }

    pub(super) fn run_in_place(
        &self,
        parallel: Parallel<'_>,
        out: &mut ViewMut<'_>,
    ) -> Result<(), RoutineError> {
        // Every task reads all of its lines before it writes them.
        self.between(
            parallel,
            (Source::new(out.data()), out.axes()),
            (Target::new(out.data()), out.axes()),
        )
    }

    fn between(
        &self,
        parallel: Parallel<'_>,
        (from, from_axes): (Source, &[Axis]),
        (to, to_axes): (Target, &[Axis]),
    ) -> Result<(), RoutineError> {
        let steps = [from_axes[self.dim].stride, to_axes[self.dim].stride];
        let mut nest = Nest::default();
        for dim in (0..from_axes.len()).filter(|dim| *dim != self.dim) {
            nest.push(from_axes[dim].size, [from_axes[dim].stride, to_axes[dim].stride]);
        }
        let nest = nest.collapsed();
        let scratch = self.plan.scratch_bytes();
        let count = nest.count();
        let groups = count.div_ceil(LANES);
        let grain = TASK_NUMBERS / (LANES * self.plan.length.max(1));
        parallel.ranges(groups, grain, &|range, slot| {
            let memory = self.memory.at((slot * scratch) as isize);
            for group in range {
                let first = group * LANES;
                let lanes = LANES.min(count - first);
                let (mut sources, mut targets) = ([0; LANES], [0; LANES]);
                let mut lane = 0;
                nest.for_each(first..first + lanes, |[source, target]| {
                    (sources[lane], targets[lane]) = (source, target);
                    lane += 1;
                });
                let from = Lines {
                    data: from,
                    step: steps[0],
                    starts: &sources[..lanes],
                };
                let to = Lines {
                    data: to,
                    step: steps[1],
                    starts: &targets[..lanes],
                };
                // SAFETY: the lines are of the views; those of the result, and this slot's memory, are this task's.
                unsafe {
                    match &self.plan.roots {
                        Typed::F32(steps) => transform(self.plan, steps, from, to, memory),
                        Typed::F64(steps) => transform(self.plan, steps, from, to, memory),
                    }
                }
            }
        })
    }
}

/// Transforms some lines side by side.
///
/// # Safety
/// The lines may be read and written, and `memory` has [`Plan::scratch_bytes`].
unsafe fn transform<T: Real>(
    plan: &Plan,
    steps: &Steps<T>,
    from: Lines<'_, Source>,
    to: Lines<'_, Target>,
    memory: *mut u8,
) {
    let numbers = plan.numbers();
    let memory = memory.cast::<Numbers<T>>();
    // SAFETY: the caller's promise. A workspace is initialised, and every pattern is a number.
    let ([values, other, half, stage], convolved) = unsafe {
        let part =
            |part: usize| std::slice::from_raw_parts_mut(memory.add(part * (numbers + 1)), numbers + 1);
        let rest = memory.add(4 * (numbers + 1)).cast::<Numbers<f64>>();
        (
            [part(0), part(1), part(2), part(3)],
            std::slice::from_raw_parts_mut(rest, steps.convolved()),
        )
    };
    let (values, other) = (&mut values[..numbers], &mut other[..numbers]);
    let scale = T::of(1.0 / plan.length as f64);
    // SAFETY: the caller's promise; what is loaded and stored is as long as the lines.
    unsafe {
        match plan.shape {
            Shape::Complex { inverse } => {
                load(from, pair::<T>(), values, stage);
                if inverse {
                    values.iter_mut().for_each(|value| *value = value.conjugate());
                }
                let (result, _) = steps.complex(values, other, convolved);
                if inverse {
                    result
                        .iter_mut()
                        .for_each(|value| *value = value.scaled(scale).conjugate());
                }
                store(result, to, pair::<T>(), stage);
            }
            Shape::RealToHalf if plan.is_halved() => {
                load(from.paired(), from.step, values, stage);
                let (result, _) = steps.complex(values, other, convolved);
                steps.split(result, half);
                store(half, to, pair::<T>(), stage);
            }
            Shape::RealToHalf => {
                load_real(from, values);
                let (result, _) = steps.complex(values, other, convolved);
                store(&result[..numbers / 2 + 1], to, pair::<T>(), stage);
            }
            Shape::HalfToReal if plan.is_halved() => {
                load(from, pair::<T>(), half, stage);
                steps.join(half, values);
                let (result, _) = steps.complex(values, other, convolved);
                result
                    .iter_mut()
                    .for_each(|value| *value = value.scaled(scale).conjugate());
                store(result, to.paired(), to.step, stage);
            }
            Shape::HalfToReal => {
                let count = numbers / 2 + 1;
                load(from, pair::<T>(), &mut half[..count], stage);
                for (index, value) in values.iter_mut().enumerate() {
                    // Conjugated, so that the transform is an inverse one: the first half as it is, the rest mirrored.
                    *value = if index < count {
                        half[index].conjugate()
                    } else {
                        half[numbers - index]
                    };
                }
                let (result, _) = steps.complex(values, other, convolved);
                store_real(result, scale, to);
            }
        }
    }
}

/// Bytes from the real part to the imaginary one.
const fn pair<T>() -> isize {
    size_of::<T>() as isize
}

impl<P: Copy> Lines<'_, P> {
    /// The lines with two numbers as one.
    const fn paired(self) -> Self {
        Self {
            step: 2 * self.step,
            ..self
        }
    }

    /// The distance of the lines if they make a matrix of pairs that lie together.
    fn matrix_step<T>(self, part: isize) -> Option<isize> {
        let [first, second, ..] = *self.starts else {
            return None;
        };
        let step = second - first;
        let even = self.starts.windows(2).all(|pair| pair[1] - pair[0] == step);
        let together = part == pair::<T>() && self.step == 2 * part;
        (even && together && self.starts.len() == LANES).then_some(step)
    }
}

/// Loads numbers whose second parts are `part` bytes after their first ones. The stage is at least as long.
///
/// # Safety
/// The lines may be read as far as `values` goes.
unsafe fn load<T: Real>(
    from: Lines<'_, Source>,
    part: isize,
    values: &mut [Numbers<T>],
    stage: &mut [Numbers<T>],
) {
    if let Some(step) = from.matrix_step::<T>(part) {
        let width = 2 * size_of::<T>();
        let block = Block {
            from: from.data.at(from.starts[0]),
            from_step: step,
            to: stage.as_mut_ptr().cast(),
            to_step: (width * LANES) as isize,
            rows: LANES,
            columns: values.len(),
            stream: false,
        };
        // SAFETY: the lines make a matrix of pairs; the stage has room for as many.
        unsafe { transpose(&block, width) };
        return apart::<T>(stage, values);
    }
    for (index, value) in values.iter_mut().enumerate() {
        *value = Numbers::zero();
        for (lane, start) in from.starts.iter().enumerate() {
            let at = start + index as isize * from.step;
            // SAFETY: the caller's promise.
            unsafe {
                value.re.0[lane] = from.data.at(at).cast::<T>().read_unaligned();
                value.im.0[lane] = from.data.at(at + part).cast::<T>().read_unaligned();
            }
        }
    }
}

/// Loads real numbers as complex ones.
///
/// # Safety
/// The lines may be read as far as `values` goes.
unsafe fn load_real<T: Real>(from: Lines<'_, Source>, values: &mut [Numbers<T>]) {
    for (index, value) in values.iter_mut().enumerate() {
        *value = Numbers::zero();
        for (lane, start) in from.starts.iter().enumerate() {
            let at = from.data.at(start + index as isize * from.step);
            // SAFETY: the caller's promise.
            value.re.0[lane] = unsafe { at.cast::<T>().read_unaligned() };
        }
    }
}

/// Stores numbers, their second parts `part` bytes after their first ones. The stage is at least as long.
///
/// # Safety
/// The lines may be written as far as `values` goes.
unsafe fn store<T: Real>(
    values: &[Numbers<T>],
    to: Lines<'_, Target>,
    part: isize,
    stage: &mut [Numbers<T>],
) {
    if let Some(step) = to.matrix_step::<T>(part) {
        together::<T>(values, stage);
        let width = 2 * size_of::<T>();
        let block = Block {
            from: stage.as_ptr().cast(),
            from_step: (width * LANES) as isize,
            to: to.data.at(to.starts[0]),
            to_step: step,
            rows: values.len(),
            columns: LANES,
            stream: false,
        };
        // SAFETY: the lines make a matrix of pairs.
        return unsafe { transpose(&block, width) };
    }
    for (index, value) in values.iter().enumerate() {
        for (lane, start) in to.starts.iter().enumerate() {
            let at = start + index as isize * to.step;
            // SAFETY: the caller's promise.
            unsafe {
                to.data.at(at).cast::<T>().write_unaligned(value.re.0[lane]);
                to.data
                    .at(at + part)
                    .cast::<T>()
                    .write_unaligned(value.im.0[lane]);
            }
        }
    }
}

/// Stores real parts times a factor.
///
/// # Safety
/// The lines may be written as far as `values` goes.
unsafe fn store_real<T: Real>(values: &[Numbers<T>], factor: T, to: Lines<'_, Target>) {
    for (index, value) in values.iter().enumerate() {
        for (lane, start) in to.starts.iter().enumerate() {
            let at = to.data.at(start + index as isize * to.step);
            // SAFETY: the caller's promise.
            unsafe { at.cast::<T>().write_unaligned(value.re.0[lane] * factor) };
        }
    }
}

leveled! {
    /// Separates the parts of pairs that lie together.
    fn apart[T: Real](pairs: &[Numbers<T>], values: &mut [Numbers<T>]) {
        for (pair, value) in pairs.iter().zip(values) {
            // The first half of the pairs is where the real parts will be.
            let at = |at: usize| if at < LANES { pair.re.0[at] } else { pair.im.0[at - LANES] };
            *value = Numbers {
                re: Part(std::array::from_fn(|lane| at(2 * lane))),
                im: Part(std::array::from_fn(|lane| at(2 * lane + 1))),
            };
        }
    }
}

leveled! {
    /// Lays the parts of pairs together.
    fn together[T: Real](values: &[Numbers<T>], pairs: &mut [Numbers<T>]) {
        for (value, pair) in values.iter().zip(pairs) {
            let at = |at: usize| if at.is_multiple_of(2) { value.re.0[at / 2] } else { value.im.0[at / 2] };
            *pair = Numbers {
                re: Part(std::array::from_fn(at)),
                im: Part(std::array::from_fn(|lane| at(LANES + lane))),
            };
        }
    }
}
