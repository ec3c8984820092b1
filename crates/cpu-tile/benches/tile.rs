//! What a routine costs on a tile that lies in the first-level cache: nanoseconds an element, the middle of several runs.
//!
//! `cargo bench -p artifact-cpu-tile --bench tile`, with parts of names to choose routines, and `all` for every one.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(unsafe_code, reason = "routines are called as compiled code calls them")]

use artifact_cpu_tile::{Affine, ColumnStride, Level, Tile, TileOp, table};
use artifact_testkit::timing::middle;

/// Elements of a tile.
const ELEMENTS: usize = 1024;
const RUNS: usize = 51;
const CALLS: usize = 200;

/// What is shown unless something is asked for.
const SHOWN: &[&str] = &[
    "exponential.f32",
    "exponential_minus_one.f32",
    "tanh.f32",
    "logistic.f32",
    "log.f32",
    "log_plus_one.f32",
    "sine.f32",
    "cosine.f32",
    "tan.f32",
    "erf.f32",
    "erfc.f32",
    "cbrt.f32",
    "sqrt.f32",
    "rsqrt.f32",
    "power.f32",
    "atan2.f32",
    "add.f32",
    "multiply.f32",
    "divide.f32",
    "maximum.f32",
    "multiply_add.f32",
    "compare.lt.f32",
    "select.4",
    "copy.4",
    "affine.f32",
    "transpose.4",
    "reduce.add.f32",
    "reduce.maximum.f32",
    "add.bf16",
    "tanh.bf16",
    "exponential.f64",
    "log.f64",
    "tanh.f64",
    "sine.f64",
    "power.f64",
    "erf.f64",
    "add.f64",
    "reduce.add.f64",
    "add.i32",
    "divide.i32",
    "convert.f32.bf16",
    "convert.bf16.f32",
    "convert.f32.f16",
    "convert.f16.f32",
    "convert.i32.f32",
    "convert.f32.i32",
];

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|text| !text.starts_with('-'))
        .collect();
    let levels: Vec<Level> = Level::ALL
        .into_iter()
        .filter(|level| level.is_supported())
        .collect();
    let is_shown = |name: &str| match asked.is_empty() {
        true => SHOWN.contains(&name),
        false => asked.iter().any(|text| text == "all" || name.contains(text)),
    };
    for op in TileOp::all().iter().filter(|op| is_shown(&op.to_string())) {
        print!("{:40}", op.to_string());
        for level in &levels {
            print!(" {level} {:8.4}", nanoseconds(*op, *level));
        }
        println!();
    }
}

/// Nanoseconds an element, on numbers between -4 and 4, or as bits.
fn nanoseconds(op: TileOp, level: Level) -> f64 {
    let name = op.to_string();
    let numbers = |from: usize| -> Vec<u8> {
        let number = |index: usize| ((index * 37 + from) % 801) as f64 / 100.0 - 4.0;
        let element = |index: usize| match &name {
            name if name.contains("f64") => number(index).to_le_bytes().to_vec(),
            // As `bf16`, whose numbers are moderate ones of `f16` too.
            name if name.contains("f16.") || name.ends_with("f16") && !name.contains("f32.") => {
                let bits = (number(index) as f32).to_bits() >> 16;
                bits.to_le_bytes()[..2].to_vec()
            }
            _ => (number(index) as f32).to_le_bytes().to_vec(),
        };
        (0..8 * ELEMENTS).flat_map(element).collect()
    };
    let side = ELEMENTS.isqrt();
    let (rows, cols, row_bytes) = match op {
        TileOp::Transpose(width) => (side, side, side * width.bytes()),
        _ => (1, ELEMENTS, 0),
    };
    let mut buffers = [numbers(0), numbers(5), numbers(11), numbers(17)];
    if let TileOp::Select(_) = op {
        buffers[1] = (0..4 * ELEMENTS).map(|index| u8::from(index % 3 == 0)).collect();
    }
    let mut tiles: Vec<Tile> = buffers
        .iter_mut()
        .map(|buffer| Tile {
            data: buffer.as_mut_ptr(),
            row_bytes: row_bytes as isize,
        })
        .collect();
    let affine = Affine {
        start: 0,
        row_step: 0,
        col_step: 1,
    };
    if let TileOp::Affine(_) = op {
        tiles[1].data = std::ptr::from_ref(&affine).cast_mut().cast();
    }
    let stride = ColumnStride { bytes: 4 };
    if let TileOp::GatherStrided(_) | TileOp::ScatterStrided(_) = op {
        tiles[2].data = std::ptr::from_ref(&stride).cast_mut().cast();
    }
    let Some(function) = op.id().map(|id| table(level)[usize::from(id)]) else {
        return f64::NAN;
    };
    let time = middle(RUNS, || {
        for _ in 0..CALLS {
            // SAFETY: each buffer has room for the rectangle of any type; the processor has the level.
            unsafe { function(rows, cols, std::hint::black_box(tiles.as_ptr())) };
        }
    });
    time.as_secs_f64() * 1e9 / (CALLS * ELEMENTS) as f64
}
