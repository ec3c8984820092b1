//! Windows over arrays: reductions of them, and the gradient of a pooling.

use artifact_ir::attribute::{ComparisonDirection, Padding};
use artifact_ir::op::{Binary, ReduceWindow, Reduction, SelectAndScatter};
use artifact_ir::types::TensorType;

use super::draft::{Draft, Made};
use super::elementwise::comparison;
use super::facts::Facts;
use super::reduction::{combine, reducible};
use super::value::Known;

/// Most elements that all windows have together.
const WORK_MAX: u64 = 1 << 18;

/// A window over some dimensions: its size, strides, dilations and padding, and how many places it has.
struct Windows {
    size: Vec<i64>,
    strides: Vec<i64>,
    base: Vec<i64>,
    window: Vec<i64>,
    padding: Vec<[i64; 2]>,
    places: Vec<u64>,
}

impl Windows {
    /// Windows that fit; open sizes are left alone. `plain` ones are not dilated.
    fn draw(draft: &Draft<'_, '_>, ty: &TensorType, plain: bool) -> Self {
        let mut windows = Self {
            size: vec![],
            strides: vec![],
            base: vec![],
            window: vec![],
            padding: vec![],
            places: vec![],
        };
        for dim in &ty.dims {
            let choices = draft.choices;
            let size = dim.as_static();
            let is_windowed = size.is_some_and(|size| size > 0) && choices.flip();
            let size = size.unwrap_or(0) as i64;
            let draw = |all: &[i64]| if is_windowed { *choices.pick(all) } else { all[0] };
            let base = if plain { 1 } else { draw(&[1, 1, 2, 3]) };
            let window = if plain { 1 } else { draw(&[1, 1, 2]) };
            let padding = [draw(&[0, 1, 2]), draw(&[0, 1, 3])];
            let wide = (size - 1).max(0) * base + 1 + padding[0] + padding[1];
            let fitting: Vec<i64> = [1, 2, 3, 5, 9, 4096]
                .into_iter()
                .filter(|own| (own - 1) * window < wide)
                .collect();
            let own = if is_windowed { *choices.pick(&fitting) } else { 1 };
            let stride = draw(&[1, 2, 3]);
            let places = match is_windowed {
                true => ((wide - (own - 1) * window - 1) / stride + 1).unsigned_abs(),
                false => draft.setting.size(dim).unwrap_or(WORK_MAX),
            };
            windows.places.push(places);
            windows.size.push(own);
            windows.strides.push(stride);
            windows.base.push(base);
            windows.window.push(window);
            windows.padding.push(padding);
        }
        windows
    }

    /// Elements of one window.
    fn count(&self) -> u64 {
        self.size.iter().product::<i64>().unsigned_abs()
    }

    fn is_small(&self) -> bool {
        self.count() <= 4096 && self.places.iter().product::<u64>() * self.count() <= WORK_MAX
    }
}

/// A reduction of windows.
pub(super) fn reduce_window(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| known.element().bits() > 8 || !known.element().is_float();
    let small = |draft: &Draft<'_, '_>, known: &Known| {
        draft
            .setting
            .count(&known.ty)
            .is_some_and(|count| count <= draft.setting.elements_max / 4)
    };
    let found = draft.find(|known| known.rank() >= 1 && suits(known));
    let Some(operand) = found.filter(|known| small(draft, known)) else {
        return Ok(());
    };
    let windows = Windows::draw(draft, &operand.ty, false);
    let (operand, op, initial, facts) = reducible(draft, operand, windows.count())?;
    if facts.error == f64::INFINITY || !windows.is_small() {
        return Ok(());
    }
    let initial = draft.scalar(operand.element(), initial)?;
    let region = combine(op, operand.element());
    let op = Reduction::ReduceWindow(Box::new(ReduceWindow {
        window_dimensions: windows.size,
        window_strides: Some(windows.strides),
        base_dilations: Some(windows.base),
        window_dilations: Some(windows.window),
        padding: Some(Padding(windows.padding)),
    }));
    let results = draft
        .builder
        .op_with_regions(op, &[operand.id, initial.id], None, vec![region])?;
    draft.keep(results[0], facts);
    Ok(())
}

/// The gradient of a pooling: in each window the first element that is selected gets the source's.
pub(super) fn select_and_scatter(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| {
        let element = known.element();
        known.ty.is_static()
            && known.rank() >= 1
            && known.facts.is_exact()
            && !known.facts.special
            && !element.is_complex()
            && !element.is_boolean()
            && (element.bits() > 8 || !element.is_float())
            && known
                .ty
                .element_count()
                .is_some_and(|count| count <= draft.setting.elements_max / 4)
    };
    let Some(operand) = draft.find(suits) else {
        return Ok(());
    };
    let element = operand.element();
    let windows = Windows::draw(draft, &operand.ty, true);
    // A window that is all padding selects nothing.
    let beyond = windows
        .padding
        .iter()
        .zip(&windows.size)
        .any(|(padding, size)| padding.iter().any(|by| by >= size));
    if beyond || !windows.is_small() {
        return Ok(());
    }
    let source = draft.fresh(&windows.places, element)?;
    let count = source.ty.element_count().unwrap_or(0).min(windows.count());
    let Some(facts) = source
        .facts
        .sum(count + 1, element)
        .filter(|_| element.is_float())
        .or((!element.is_float()).then_some(Facts::ANY))
    else {
        return Ok(());
    };
    let initial = draft.scalar(element, 0.0)?;
    let direction = *draft.choices.pick(&[
        ComparisonDirection::Ge,
        ComparisonDirection::Le,
        ComparisonDirection::Gt,
    ]);
    let regions = vec![
        combine(comparison(direction, element, false), element),
        combine(Binary::Add, element),
    ];
    let op = Reduction::SelectAndScatter(Box::new(SelectAndScatter {
        window_dimensions: Some(windows.size),
        window_strides: Some(windows.strides),
        padding: Some(Padding(windows.padding)),
    }));
    let results = draft
        .builder
        .op_with_regions(op, &[operand.id, source.id, initial.id], None, regions)?;
    draft.keep(results[0], facts);
    Ok(())
}
