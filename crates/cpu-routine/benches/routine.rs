//! Median times of the routines, in milliseconds: `cargo bench --package artifact-cpu-routine --bench routine`, with a part of a
//! name after `--` for those that have it.

#![expect(unsafe_code, reason = "numbers are taken as bytes and back")]

use std::time::Instant;

use artifact_cpu_routine::combine::{Combine, Combiner};
use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::pool::{Parallel, Pool};
use artifact_cpu_routine::sort::{FloatOrder, Key};
use artifact_cpu_routine::view::{View, ViewMut};
use artifact_cpu_routine::window::WindowDim;
use artifact_cpu_routine::workspace::Workspace;
use artifact_cpu_routine::{convolution, copy, dot, fft, gather, linalg, scatter, sort};
use artifact_ir::types::ElementType;

const ROUNDS: usize = 31;
const F32: ElementType = ElementType::F32;

/// A cache line, as the engine's buffers are aligned.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([[u8; 4]; 16]);

/// Numbers without a pattern, of 4 bytes each.
struct Numbers {
    lines: Vec<Line>,
    count: usize,
}

impl Numbers {
    fn new(count: usize, mut number: impl FnMut(u64) -> [u8; 4]) -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            number(state >> 33)
        };
        let line = |_| Line(std::array::from_fn(|_| next()));
        Self {
            lines: (0..count.div_ceil(16)).map(line).collect(),
            count,
        }
    }

    fn floats(count: usize) -> Self {
        Self::new(count, |bits| {
            (bits as f32 / (1_u64 << 30) as f32 - 1.0).to_le_bytes()
        })
    }

    fn ints(count: usize, below: u64) -> Self {
        Self::new(count, |bits| ((bits % below) as i32).to_le_bytes())
    }

    fn numbers_mut(&mut self) -> &mut [[u8; 4]] {
        // SAFETY: lines are numbers and nothing else.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.count) }
    }

    fn view(&self, element: ElementType, shape: &[usize]) -> View<'_> {
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), 4 * self.count) };
        View::dense(bytes, element, shape)
            .unwrap_or_else(|| unreachable!("sizes are right, and lines aligned"))
    }

    fn view_mut(&mut self, element: ElementType, shape: &[usize]) -> ViewMut<'_> {
        let bytes = self.numbers_mut().as_flattened_mut();
        ViewMut::dense(bytes, element, shape).unwrap_or_else(|| unreachable!("as above"))
    }
}

/// Runs a routine over and over and prints the median time.
#[expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]
fn measure(name: &str, mut routine: impl FnMut(&mut Workspace) -> Result<(), RoutineError>) {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    if wanted.next().is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let mut workspace = Workspace::new();
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            routine(&mut workspace).unwrap_or_else(|error| unreachable!("{error}"));
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name:32} {:9.3} ms, at best {:9.3}", times[ROUNDS / 2], times[0]);
}

fn products(parallel: Parallel<'_>) {
    for (name, batch, size) in [
        ("matmul 1024", 1, 1024),
        ("matmul 256", 1, 256),
        ("matmul 64 x 128", 64, 128),
    ] {
        let shape = [batch, size, size];
        let (a, b) = (
            Numbers::floats(batch * size * size),
            Numbers::floats(batch * size * size),
        );
        let mut c = Numbers::floats(batch * size * size);
        let dimensions = dot::Dimensions {
            batch: [&[0], &[0]],
            contracting: [&[2], &[1]],
            free: [&[1], &[2]],
        };
        measure(name, |workspace| {
            let (a, b) = (a.view(F32, &shape), b.view(F32, &shape));
            dot::dot_general(
                parallel,
                workspace,
                &dimensions,
                &a,
                &b,
                &mut c.view_mut(F32, &shape),
            )
        });
    }
    let (a, b, mut c) = (
        Numbers::floats(4096),
        Numbers::floats(4096 * 4096),
        Numbers::floats(4096),
    );
    let dimensions = dot::Dimensions {
        batch: [&[], &[]],
        contracting: [&[1], &[0]],
        free: [&[0], &[1]],
    };
    measure("vector times matrix 4096", |workspace| {
        let (a, b) = (a.view(F32, &[1, 4096]), b.view(F32, &[4096, 4096]));
        dot::dot_general(
            parallel,
            workspace,
            &dimensions,
            &a,
            &b,
            &mut c.view_mut(F32, &[1, 4096]),
        )
    });
}

fn movement(parallel: Parallel<'_>) {
    let shape = [4096, 4096];
    let (from, mut to) = (Numbers::floats(4096 * 4096), Numbers::floats(4096 * 4096));
    measure("transpose 4096", |_| {
        copy::copy(
            parallel,
            &from.view(F32, &shape).permuted(&[1, 0])?,
            &mut to.view_mut(F32, &shape),
        )
    });
    measure("copy 4096", |_| {
        copy::copy(parallel, &from.view(F32, &shape), &mut to.view_mut(F32, &shape))
    });
    let mut sorted = Numbers::floats(1 << 20);
    let from = Numbers::floats(1 << 20);
    let key = Key {
        operand: 0,
        descending: false,
        order: FloatOrder::NanLast,
    };
    measure("sort 1M", |workspace| {
        let (from, to) = (from.view(F32, &[1 << 20]), sorted.view_mut(F32, &[1 << 20]));
        sort::sort_by_keys(parallel, workspace, 0, &[key], &[from], &mut [to])
    });
}

fn indexing(parallel: Parallel<'_>) {
    let (rows, count, width) = (100_000, 100_000, 64);
    let mut table = Numbers::floats(rows * width);
    let mut out = Numbers::floats(count * width);
    let indices = Numbers::ints(count, rows as u64);
    let indices = indices.view(ElementType::I32, &[count, 1]);
    let dimensions = gather::Dimensions {
        offset: &[1],
        collapsed: &[0],
        operand_batching: &[],
        index_batching: &[],
        start_index_map: &[0],
        index_vector_dim: 1,
        slice_sizes: &[1, width],
    };
    measure("gather 100k x 64", |_| {
        let operand = table.view(F32, &[rows, width]);
        gather::gather(
            parallel,
            &dimensions,
            &operand,
            &indices,
            &mut out.view_mut(F32, &[count, width]),
        )
    });
    let dimensions = scatter::Dimensions {
        update_window: &[1],
        inserted: &[0],
        input_batching: &[],
        index_batching: &[],
        index_map: &[0],
        index_vector_dim: 1,
    };
    measure("scatter-add 100k x 64", |_| {
        let combiner = Combiner::Each(&[Combine::Add]);
        let updates = out.view(F32, &[count, width]);
        let arrays = &mut [table.view_mut(F32, &[rows, width])];
        scatter::scatter(parallel, &dimensions, &combiner, &indices, &[updates], arrays)
    });
}

fn algebra(parallel: Parallel<'_>) {
    let (input, kernel) = (
        Numbers::floats(8 * 56 * 56 * 64),
        Numbers::floats(3 * 3 * 64 * 64),
    );
    let mut out = Numbers::floats(8 * 56 * 56 * 64);
    let layout = |batch, feature, spatial| convolution::Layout {
        batch,
        feature,
        spatial,
    };
    let same = WindowDim {
        size: 3,
        low: 1,
        high: 1,
        ..WindowDim::default()
    };
    let attributes = convolution::Attributes {
        input: layout(0, 3, &[1, 2]),
        kernel: layout(2, 3, &[0, 1]),
        output: layout(0, 3, &[1, 2]),
        windows: &[same, same],
        reversed: &[false, false],
        feature_groups: 1,
        batch_groups: 1,
    };
    measure("convolution 3x3 64 of 8x56x56", |workspace| {
        let (input, kernel) = (
            input.view(F32, &[8, 56, 56, 64]),
            kernel.view(F32, &[3, 3, 64, 64]),
        );
        let out = &mut out.view_mut(F32, &[8, 56, 56, 64]);
        convolution::convolution(parallel, workspace, &attributes, &input, &kernel, out)
    });
    let mut matrix = Numbers::floats(512 * 512);
    for (at, value) in matrix.numbers_mut().iter_mut().enumerate().step_by(513) {
        *value = (600.0 + at as f32).to_le_bytes();
    }
    let mut factor = Numbers::floats(512 * 512);
    measure("cholesky 512", |workspace| {
        let a = matrix.view(F32, &[512, 512]);
        linalg::cholesky(
            parallel,
            workspace,
            true,
            &a,
            &mut factor.view_mut(F32, &[512, 512]),
        )
    });
    let signal = Numbers::floats(4096 * 1024);
    let mut spectrum = Numbers::floats(2 * 4096 * 513);
    let Ok(plan) = fft::Plan::new(fft::Kind::RealForward, F32, &[1024]) else {
        return;
    };
    measure("rfft 4096x1024", |workspace| {
        let signal = signal.view(F32, &[4096, 1024]);
        plan.run(
            parallel,
            workspace,
            &signal,
            &mut spectrum.view_mut(ElementType::C64, &[4096, 513]),
        )
    });
}

fn overhead(parallel: Parallel<'_>) {
    measure("1000 forks and joins", |_| {
        (0..1000).try_for_each(|_| parallel.run(2, &|_| ()))
    });
}

fn main() {
    let pool = Pool::new(2);
    overhead(pool.parallel());
    products(pool.parallel());
    movement(pool.parallel());
    indexing(pool.parallel());
    algebra(pool.parallel());
}
