//! Convolutions.

use artifact_cpu_routine::convolution::{Attributes, Layout, convolution};
use artifact_cpu_routine::window::WindowDim;
use artifact_cpu_routine::workspace::Workspace;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, closeness, compare, list, run};

const ELEMENTS: [ElementType; 11] = {
    use ElementType::{BF16, C64, C128, F16, F32, F64, I1, I8, I32, I64, UI16};
    [F32, F64, BF16, F16, C64, C128, I32, I64, I8, UI16, I1]
};

/// Roles of dimensions in random order: batch, feature, then spatial ones.
struct Roles(Vec<usize>);

impl Roles {
    fn layout(&self) -> Layout<'_> {
        Layout {
            batch: self.0[0],
            feature: self.0[1],
            spatial: &self.0[2..],
        }
    }

    fn shape(&self, sizes: &[usize]) -> Vec<usize> {
        let mut shape = vec![0; sizes.len()];
        self.0
            .iter()
            .zip(sizes)
            .for_each(|(dim, size)| shape[*dim] = *size);
        shape
    }

    fn text(&self, names: [char; 2]) -> String {
        let mut letters = vec![String::new(); self.0.len()];
        for (role, dim) in self.0.iter().enumerate() {
            letters[*dim] = match role {
                0 | 1 => names[role].to_string(),
                spatial => (spatial - 2).to_string(),
            };
        }
        format!("[{}]", letters.join(", "))
    }
}

/// Channels last, as most programs have them.
fn channels_last(dims: usize) -> [Roles; 3] {
    let spatial = |first: usize| (first..first + dims).collect::<Vec<_>>();
    [
        Roles([vec![0, dims + 1], spatial(1)].concat()),
        Roles([vec![dims, dims + 1], spatial(0)].concat()),
        Roles([vec![0, dims + 1], spatial(1)].concat()),
    ]
}

struct Case {
    windows: Vec<WindowDim>,
    reversed: Vec<bool>,
    roles: [Roles; 3],
    groups: [usize; 2],
    input: Array,
    kernel: Array,
    output: Array,
}

/// Sizes: batch of a group, input features of a group, output features of a group.
fn check(
    random: &mut Random,
    element: ElementType,
    sizes: [usize; 3],
    groups: [usize; 2],
    space: &[(usize, WindowDim)],
) {
    let roles = [0, 1, 2].map(|_| Roles(random.permutation(space.len() + 2)));
    let usual = random.below(3) == 0;
    let roles = if usual { channels_last(space.len()) } else { roles };
    let [batch, features, outputs] = sizes;
    let inputs: Vec<usize> = space.iter().map(|(input, _)| *input).collect();
    let windows: Vec<WindowDim> = space.iter().map(|(_, window)| *window).collect();
    let count = |(input, window): &(usize, WindowDim)| {
        let span =
            |count: usize, dilation: usize| count.saturating_sub(1) * dilation + usize::from(count > 0);
        let padded = window.low + span(*input, window.base_dilation) as i64 + window.high;
        let covered = span(window.size, window.window_dilation) as i64;
        if padded <= 0 || covered > padded {
            0
        } else {
            (padded - covered) as usize / window.stride + 1
        }
    };
    let input_sizes = [vec![batch * groups[1], features * groups[0]], inputs].concat();
    let kernel_sizes = [
        vec![features, outputs * groups[0] * groups[1]],
        windows.iter().map(|window| window.size).collect(),
    ]
    .concat();
    let output_sizes = [
        vec![batch, outputs * groups[0] * groups[1]],
        space.iter().map(count).collect(),
    ]
    .concat();
    let output_shape = roles[2].shape(&output_sizes);
    let order = if usual {
        (0..output_shape.len()).collect()
    } else {
        random.permutation(output_shape.len())
    };
    let case = Case {
        reversed: windows.iter().map(|_| random.below(3) == 0).collect(),
        windows,
        groups,
        input: Array::random(random, element, &roles[0].shape(&input_sizes)),
        kernel: Array::random(random, element, &roles[1].shape(&kernel_sizes)),
        output: Array::new(element, &output_shape, &order),
        roles,
    };
    run_case(&case);
}

fn run_case(case: &Case) {
    let results = run(std::slice::from_ref(&case.output), |parallel, to| {
        let attributes = Attributes {
            input: case.roles[0].layout(),
            kernel: case.roles[1].layout(),
            output: case.roles[2].layout(),
            windows: &case.windows,
            reversed: &case.reversed,
            feature_groups: case.groups[0],
            batch_groups: case.groups[1],
        };
        let (input, kernel) = (case.input.view(), case.kernel.view());
        convolution(
            parallel,
            &mut Workspace::new(),
            &attributes,
            &input,
            &kernel,
            &mut to[0],
        )
    });
    let numbers = |f: fn(&WindowDim) -> usize| list(&case.windows.iter().map(f).collect::<Vec<_>>());
    let padding: Vec<String> = case
        .windows
        .iter()
        .map(|window| format!("[{}, {}]", window.low, window.high))
        .collect();
    let window = if case.windows.is_empty() {
        String::new()
    } else {
        format!(
            "stride = [{}], pad = [{}], lhs_dilate = [{}], rhs_dilate = [{}], reverse = [{}]",
            numbers(|window| window.stride),
            padding.join(", "),
            numbers(|window| window.base_dilation),
            numbers(|window| window.window_dilation),
            list(&case.reversed)
        )
    };
    let body = format!(
        "%r = stablehlo.convolution(%0, %1) dim_numbers = {}x{}->{}, window = {{{window}}} {{batch_group_count = {} : i64, \
         feature_group_count = {} : i64}} : ({}, {}) -> {}",
        case.roles[0].text(['b', 'f']),
        case.roles[1].text(['i', 'o']),
        case.roles[2].text(['b', 'f']),
        case.groups[1],
        case.groups[0],
        case.input.ty(),
        case.kernel.ty(),
        results[0].ty()
    );
    compare(
        &body,
        &[&case.input, &case.kernel],
        &results,
        closeness(case.input.element),
    );
}

fn window(random: &mut Random, size: usize) -> WindowDim {
    if random.below(4) == 0 {
        return WindowDim::default();
    }
    let low = (random.below(5) as i64 - 1).max(-(size as i64));
    WindowDim {
        size: 1 + random.below(3),
        stride: 1 + random.below(3),
        base_dilation: random.pick(&[1, 1, 2, 3]),
        window_dilation: random.pick(&[1, 1, 2]),
        low,
        high: (random.below(5) as i64 - 1).max(-(size as i64 + low)),
    }
}

#[test]
fn random_shapes() {
    let mut random = Random::new(50);
    for case in 0..330 {
        let element = ELEMENTS[case % ELEMENTS.len()];
        let space: Vec<(usize, WindowDim)> = (0..random.below(4))
            .map(|_| {
                let size = random.size(6);
                (size, window(&mut random, size))
            })
            .collect();
        let sizes = [random.size(3), random.size(5), random.size(4)];
        let many = 1 + random.below(3);
        let groups = random.pick(&[[1, 1], [many, 1], [1, many]]);
        check(&mut random, element, sizes, groups, &space);
    }
}

/// Each feature by itself: a row of the sums at a time where features lie together.
#[test]
fn depthwise() {
    let mut random = Random::new(52);
    for case in 0..110 {
        let element = ELEMENTS[case % ELEMENTS.len()];
        let space: Vec<(usize, WindowDim)> = (0..1 + random.below(2))
            .map(|_| {
                let size = random.size(8);
                (size, window(&mut random, size))
            })
            .collect();
        let (groups, batch) = (2 + random.below(40), 1 + random.below(2));
        check(&mut random, element, [batch, 1, 1], [groups, 1], &space);
    }
}

#[test]
fn several_tiles() {
    let mut random = Random::new(51);
    let same = WindowDim {
        size: 3,
        low: 1,
        high: 1,
        ..WindowDim::default()
    };
    for element in [ElementType::F32, ElementType::BF16, ElementType::I32] {
        check(
            &mut random,
            element,
            [2, 20, 8],
            [1, 1],
            &[(40, same), (30, same)],
        );
        check(
            &mut random,
            element,
            [2, 40, 24],
            [1, 1],
            &[(30, WindowDim::default()), (20, WindowDim::default())],
        );
        check(
            &mut random,
            element,
            [1, 1, 1],
            [48, 1],
            &[(24, same), (26, same)],
        );
        check(&mut random, element, [3, 400, 4], [1, 1], &[(50, same)]);
    }
}
