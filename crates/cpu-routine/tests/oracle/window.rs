//! Windows.

use artifact_cpu_routine::combine::{Combine, Combiner};
use artifact_cpu_routine::window::{Direction, Select, WindowDim, reduce_window, select_and_scatter};
use artifact_eval::comparison::Closeness;
use artifact_eval::scalar::Scalar;
use artifact_ir::types::{ElementClass, ElementType};

use crate::harness::{Array, Random, closeness, compare, list, run};

const COMBINES: [(Combine, &str); 7] = [
    (Combine::Add, "add"),
    (Combine::Multiply, "multiply"),
    (Combine::Maximum, "maximum"),
    (Combine::Minimum, "minimum"),
    (Combine::And, "and"),
    (Combine::Or, "or"),
    (Combine::Xor, "xor"),
];

const ELEMENTS: [ElementType; 10] = {
    use ElementType::{BF16, C64, F16, F32, F64, I1, I8, I32, I64, UI16};
    [F32, F64, BF16, F16, I32, I64, I8, UI16, I1, C64]
};

fn count(window: &WindowDim, input: usize) -> usize {
    let span =
        |count: usize, dilation: usize| (count as i64 - 1).max(-1) * dilation as i64 + i64::from(count > 0);
    let span = |count: usize, dilation: usize| if count == 0 { 0 } else { span(count, dilation) };
    let padded = window.low + span(input, window.base_dilation) + window.high;
    let covered = span(window.size, window.window_dilation);
    if padded <= 0 || covered > padded {
        0
    } else {
        (padded - covered) as usize / window.stride + 1
    }
}

fn window(random: &mut Random, size: usize) -> WindowDim {
    if random.below(3) == 0 {
        return WindowDim::default();
    }
    let low = (random.below(5) as i64 - 1).max(-(size as i64));
    WindowDim {
        size: 1 + random.below(4),
        stride: 1 + random.below(3),
        base_dilation: random.pick(&[1, 1, 2, 3]),
        window_dilation: random.pick(&[1, 1, 2]),
        low,
        // No more may be trimmed than there is.
        high: (random.below(5) as i64 - 1).max(-(size as i64 + low)),
    }
}

fn attributes(windows: &[WindowDim]) -> String {
    let numbers = |f: fn(&WindowDim) -> usize| match windows {
        [] => String::new(),
        windows => format!(": {}", list(&windows.iter().map(f).collect::<Vec<_>>())),
    };
    let padding: Vec<String> = windows
        .iter()
        .map(|window| format!("[{}, {}]", window.low, window.high))
        .collect();
    let padding = match windows.len() {
        0 => String::new(),
        rank => format!(
            ", padding = dense<[{}]> : tensor<{rank}x2xi64>",
            padding.join(", ")
        ),
    };
    format!(
        "window_dimensions = array<i64{}>, window_strides = array<i64{}>, base_dilations = array<i64{}>, \
         window_dilations = array<i64{}>{padding}",
        numbers(|window| window.size),
        numbers(|window| window.stride),
        numbers(|window| window.base_dilation),
        numbers(|window| window.window_dilation),
    )
}

/// A number that is neutral to the operation, or another one.
fn init(random: &mut Random, element: ElementType, combine: Combine, neutral: bool) -> Array {
    if !neutral {
        return Array::random(random, element, &[]);
    }
    let one = i128::from(combine == Combine::Multiply);
    Array::filled(element, &[], &[], |_| match element.class() {
        ElementClass::Boolean => Scalar::Bool(one == 1),
        ElementClass::Float => Scalar::Float(one as f64),
        ElementClass::Complex => Scalar::Complex(one as f64, 0.0),
        _ => Scalar::Int(one),
    })
}

fn check(
    random: &mut Random,
    windows: &[WindowDim],
    input: &Array,
    neutral: bool,
    close: impl Fn(ElementType, Combine) -> Closeness,
) {
    let element = input.element;
    let (combine, name) = random.pick(&COMBINES);
    if !combine.supports(element) {
        return;
    }
    let init = init(random, element, combine, neutral);
    let shape: Vec<usize> = windows
        .iter()
        .zip(&input.shape)
        .map(|(window, size)| count(window, *size))
        .collect();
    let order = random.permutation(shape.len());
    let results = run(&[Array::new(element, &shape, &order)], |parallel, to| {
        let combiner = Combiner::Each(&[combine]);
        reduce_window(parallel, windows, &combiner, &[input.view()], &[init.view()], to)
    });
    let ty = init.ty();
    let body = format!(
        "%r = \"stablehlo.reduce_window\"(%0, %1) ({{\n^bb0(%a: {ty}, %b: {ty}):\n%c = stablehlo.{name} %a, %b : {ty}
         stablehlo.return %c : {ty}\n}}) {{{}}} : ({}, {ty}) -> {}",
        attributes(windows),
        input.ty(),
        results[0].ty()
    );
    compare(&body, &[input, &init], &results, close(element, combine));
}

fn exact(element: ElementType, combine: Combine) -> Closeness {
    // Products of complex numbers are computed in `f64` by the evaluator.
    if element.is_complex() && combine == Combine::Multiply {
        closeness(element)
    } else {
        Closeness::Equal
    }
}

#[test]
fn reductions() {
    let mut random = Random::new(40);
    for case in 0..400 {
        let rank = random.below(4);
        let shape = random.shape(rank, 9);
        let windows: Vec<WindowDim> = shape.iter().map(|size| window(&mut random, *size)).collect();
        let input = Array::random(&mut random, ELEMENTS[case % ELEMENTS.len()], &shape);
        let neutral = random.below(2) == 0;
        check(&mut random, &windows, &input, neutral, exact);
    }
}

/// Rows that are cut.
#[test]
fn long_rows() {
    let mut random = Random::new(44);
    for case in 0..6 {
        let windows = [
            window(&mut random, 2),
            WindowDim {
                size: 40 + case,
                ..window(&mut random, 700)
            },
        ];
        let input = Array::random(&mut random, ELEMENTS[case % ELEMENTS.len()], &[2, 700]);
        check(&mut random, &windows, &input, case % 2 == 0, exact);
    }
}

#[test]
fn cumulative_sums() {
    let mut random = Random::new(41);
    for case in 0..200 {
        let rank = 1 + random.below(3);
        let mut shape: Vec<usize> = random
            .shape(rank, 20)
            .into_iter()
            .map(|size| size.max(1))
            .collect();
        if case % 20 == 0 {
            shape[rank - 1] = 300;
        }
        let dim = random.below(rank);
        let reverse = random.below(2) == 0;
        let mut windows = vec![WindowDim::default(); rank];
        windows[dim].size = shape[dim];
        let edge = shape[dim] as i64 - 1;
        *(if reverse {
            &mut windows[dim].high
        } else {
            &mut windows[dim].low
        }) = edge;
        let input = Array::random(&mut random, ELEMENTS[case % ELEMENTS.len()], &shape);
        let neutral = random.below(4) > 0;
        // From the end on, sums are made in another order.
        check(
            &mut random,
            &windows,
            &input,
            neutral,
            |element, combine| match (reverse, closeness(element)) {
                (false, _) => exact(element, combine),
                (true, Closeness::Relative { atol, rtol }) => Closeness::Relative {
                    atol: 8.0 * atol,
                    rtol: 8.0 * rtol,
                },
                (true, other) => other,
            },
        );
    }
}

/// Two arrays, of which the second follows the first: the position of the largest element.
#[test]
fn of_several_arrays() {
    let mut random = Random::new(42);
    let (i32, i64) = ("tensor<i32>", "tensor<i64>");
    let together = |to: &[*mut u8], from: &[*const u8], count: usize| {
        for at in 0..count {
            // SAFETY: the arrays are of these types.
            unsafe {
                let (a, b) = (to[0].cast::<i32>().add(at), to[1].cast::<i64>().add(at));
                let (x, y) = (
                    from[0].cast::<i32>().add(at).read(),
                    from[1].cast::<i64>().add(at).read(),
                );
                if x > a.read() {
                    a.write(x);
                    b.write(y);
                }
            }
        }
    };
    for _ in 0..100 {
        let rank = random.below(4);
        let shape = random.shape(rank, 8);
        let windows: Vec<WindowDim> = shape.iter().map(|size| window(&mut random, *size)).collect();
        let inputs =
            [ElementType::I32, ElementType::I64].map(|element| Array::random(&mut random, element, &shape));
        let inits =
            [ElementType::I32, ElementType::I64].map(|element| Array::random(&mut random, element, &[]));
        let counts: Vec<usize> = windows
            .iter()
            .zip(&shape)
            .map(|(window, size)| count(window, *size))
            .collect();
        let empty = [
            Array::dense(ElementType::I32, &counts),
            Array::dense(ElementType::I64, &counts),
        ];
        let results = run(&empty, |parallel, to| {
            let views = |arrays: &'_ [Array; 2]| [arrays[0].element, arrays[1].element];
            assert_eq!(views(&inputs), views(&inits));
            let combiner = Combiner::Together(&together);
            let (inputs, inits) = (
                inputs.each_ref().map(Array::view),
                inits.each_ref().map(Array::view),
            );
            reduce_window(parallel, &windows, &combiner, &inputs, &inits, to)
        });
        let body = format!(
            "%r:2 = \"stablehlo.reduce_window\"(%0, %1, %2, %3) ({{\n^bb0(%a: {i32}, %b: {i64}, %x: {i32}, %y: {i64}):
             %g = stablehlo.compare GT, %x, %a, SIGNED : ({i32}, {i32}) -> tensor<i1>
             %c = stablehlo.select %g, %x, %a : tensor<i1>, {i32}\n%d = stablehlo.select %g, %y, %b : tensor<i1>, {i64}
             stablehlo.return %c, %d : {i32}, {i64}\n}}) {{{}}} : ({}, {}, {i32}, {i64}) -> ({}, {})",
            attributes(&windows),
            inputs[0].ty(),
            inputs[1].ty(),
            results[0].ty(),
            results[1].ty()
        );
        compare(
            &body,
            &[&inputs[0], &inputs[1], &inits[0], &inits[1]],
            &results,
            Closeness::Equal,
        );
    }
}

const DIRECTIONS: [(Direction, &str); 4] = [
    (Direction::Ge, "GE"),
    (Direction::Gt, "GT"),
    (Direction::Le, "LE"),
    (Direction::Lt, "LT"),
];

#[test]
fn selections() {
    let mut random = Random::new(43);
    for case in 0..200 {
        let element = ELEMENTS[case % 9];
        let rank = random.below(4);
        let shape = random.shape(rank, 9);
        let plain = |window: WindowDim| WindowDim {
            base_dilation: 1,
            window_dilation: 1,
            ..window
        };
        let windows: Vec<WindowDim> = shape
            .iter()
            .map(|size| plain(window(&mut random, *size)))
            .collect();
        let counts: Vec<usize> = windows
            .iter()
            .zip(&shape)
            .map(|(window, size)| count(window, *size))
            .collect();
        let operand = Array::random(&mut random, element, &shape);
        let source = Array::random(&mut random, element, &counts);
        let init = Array::random(&mut random, element, &[]);
        let (direction, name) = random.pick(&DIRECTIONS);
        let by = |best: *const u8, next: *const u8| {
            // SAFETY: only used for this type.
            let (best, next) = unsafe { (best.cast::<f32>().read(), next.cast::<f32>().read()) };
            match direction {
                Direction::Ge => best >= next,
                Direction::Gt => best > next,
                Direction::Le => best <= next,
                Direction::Lt => best < next,
            }
        };
        let select = if element == ElementType::F32 && case % 2 == 0 {
            Select::By(&by)
        } else {
            Select::Compare(direction)
        };
        let results = run(&[Array::dense(element, &shape)], |parallel, to| {
            let combiner = Combiner::Each(&[Combine::Add]);
            let (operand, source, init) = (operand.view(), source.view(), init.view());
            select_and_scatter(
                parallel, &windows, select, &combiner, &operand, &source, &init, &mut to[0],
            )
        });
        let kind = match element.class() {
            ElementClass::Float => "FLOAT",
            ElementClass::SignedInteger => "SIGNED",
            _ => "UNSIGNED",
        };
        let ty = init.ty();
        let numbers = attributes(&windows);
        let dilations = numbers.find(", base_dilations").expect("dilations");
        let padding = numbers.find(", padding").map_or("", |at| &numbers[at..]);
        let body = format!(
            "%r = \"stablehlo.select_and_scatter\"(%0, %1, %2) ({{\n^bb0(%a: {ty}, %b: {ty}):
             %c = stablehlo.compare {name}, %a, %b, {kind} : ({ty}, {ty}) -> tensor<i1>
             stablehlo.return %c : tensor<i1>\n}}, {{\n^bb0(%a: {ty}, %b: {ty}):\n%c = stablehlo.add %a, %b : {ty}
             stablehlo.return %c : {ty}\n}}) {{{}{padding}}} : ({}, {}, {ty}) -> {}",
            &numbers[..dilations],
            operand.ty(),
            source.ty(),
            results[0].ty()
        );
        compare(&body, &[&operand, &source, &init], &results, Closeness::Equal);
    }
}
