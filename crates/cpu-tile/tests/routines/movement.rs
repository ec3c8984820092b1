//! Routines that move elements, and the one that counts.

use artifact_cpu_tile::{Affine, ColumnStride, Level, Tile, TileOp, Width};
use artifact_ir::op::{Elementwise, Op};
use artifact_ir::types::ElementType;

use crate::oracle::{program, run};
use crate::values::{Random, TYPES};
use crate::{call, contents, filled, levels};

/// Shapes of tiles: rows, columns, bytes between rows.
const SHAPES: [(usize, usize, usize); 12] = [
    (0, 5, 1),
    (3, 0, 1),
    (1, 1, 0),
    (3, 7, 0),
    (2, 16, 3),
    (3, 33, 1),
    (8, 8, 0),
    (9, 17, 5),
    (16, 16, 7),
    (31, 33, 0),
    (40, 70, 9),
    (1, 2000, 0),
];

fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    (0..count).map(|_| random.next() as u8).collect()
}

/// A tile that holds the parameters of a routine.
fn parameters<T>(parameters: &T) -> Tile {
    Tile {
        data: std::ptr::from_ref(parameters).cast_mut().cast(),
        row_bytes: 0,
    }
}

/// Runs `test` for every level, width and shape.
fn each(test: impl Fn(Level, Width, (usize, usize, usize))) {
    for level in levels() {
        for width in Width::ALL {
            for shape in SHAPES {
                test(level, width, shape);
            }
        }
    }
}

#[test]
fn copies() {
    each(|level, width, (rows, cols, gap)| {
        let row = cols * width.bytes();
        let source = bytes(rows * row, 1);
        let (mut from_memory, from) = filled(rows, row, gap, &source);
        let (mut to_memory, to) = filled(rows, row, 2 * gap, &vec![0; rows * row]);
        call(level, TileOp::Copy(width), rows, cols, &[to, from]);
        assert_eq!(
            contents(&mut to_memory, rows, row, 2 * gap),
            source,
            "{width:?} {rows} x {cols}"
        );
        assert_eq!(contents(&mut from_memory, rows, row, gap), source);
    });
}

/// A source may be one row that is read again and again.
#[test]
fn a_row_is_repeated() {
    each(|level, width, (rows, cols, gap)| {
        let row = cols * width.bytes();
        let source = bytes(row, 2);
        let (_memory, mut from) = filled(1, row, 0, &source);
        from.row_bytes = 0;
        let (mut to_memory, to) = filled(rows, row, gap, &vec![0; rows * row]);
        call(level, TileOp::Copy(width), rows, cols, &[to, from]);
        assert_eq!(
            contents(&mut to_memory, rows, row, gap),
            source.repeat(rows),
            "{width:?} {rows} x {cols}"
        );
    });
}

#[test]
fn fills() {
    each(|level, width, (rows, cols, gap)| {
        let row = cols * width.bytes();
        let source = bytes(rows * width.bytes(), 3);
        for shared in [false, true] {
            let (_memory, mut from) = filled(rows, width.bytes(), 3, &source);
            let (mut to_memory, to) = filled(rows, row, gap, &vec![0; rows * row]);
            if shared {
                from.row_bytes = 0;
            }
            call(level, TileOp::Fill(width), rows, cols, &[to, from]);
            let element =
                |row: usize| &source[if shared { 0 } else { row } * width.bytes()..][..width.bytes()];
            let want: Vec<u8> = (0..rows).flat_map(|row| element(row).repeat(cols)).collect();
            assert_eq!(
                contents(&mut to_memory, rows, row, gap),
                want,
                "{width:?} {rows} x {cols}"
            );
        }
    });
}

#[test]
fn strided_rows_are_gathered_and_scattered() {
    each(|level, width, (rows, cols, gap)| {
        let (width_bytes, stride) = (
            width.bytes(),
            ColumnStride {
                bytes: width.bytes() as isize + 3,
            },
        );
        let sparse = cols * stride.bytes.unsigned_abs() - if cols == 0 { 0 } else { 3 };
        let element = |row: usize, col: usize| row * sparse + col * stride.bytes.unsigned_abs();
        let source = bytes(rows * sparse, 4);
        let picked: Vec<u8> = (0..rows)
            .flat_map(|row| (0..cols).map(move |col| (row, col)))
            .flat_map(|(row, col)| source[element(row, col)..][..width_bytes].to_vec())
            .collect();

        let (_memory, from) = filled(rows, sparse, gap, &source);
        let (mut memory, to) = filled(rows, cols * width_bytes, gap, &vec![0; picked.len()]);
        call(
            level,
            TileOp::GatherStrided(width),
            rows,
            cols,
            &[to, from, parameters(&stride)],
        );
        assert_eq!(
            contents(&mut memory, rows, cols * width_bytes, gap),
            picked,
            "{width:?} {rows} x {cols}"
        );

        let mut want = vec![0xEE; source.len()];
        for row in 0..rows {
            for col in 0..cols {
                want[element(row, col)..][..width_bytes]
                    .copy_from_slice(&picked[(row * cols + col) * width_bytes..][..width_bytes]);
            }
        }
        let (_memory, from) = filled(rows, cols * width_bytes, gap, &picked);
        let (mut memory, to) = filled(rows, sparse, gap, &vec![0xEE; source.len()]);
        call(
            level,
            TileOp::ScatterStrided(width),
            rows,
            cols,
            &[to, from, parameters(&stride)],
        );
        assert_eq!(
            contents(&mut memory, rows, sparse, gap),
            want,
            "{width:?} {rows} x {cols}"
        );
    });
}

/// A row is read from its end.
#[test]
fn strides_may_be_negative() {
    let source = [1_u8, 2, 3, 4, 5];
    for level in levels() {
        let (_memory, mut from) = filled(1, 5, 0, &source);
        from.data = from.data.wrapping_add(4);
        let (mut memory, to) = filled(1, 5, 0, &[0; 5]);
        let stride = ColumnStride { bytes: -1 };
        call(
            level,
            TileOp::GatherStrided(Width::B1),
            1,
            5,
            &[to, from, parameters(&stride)],
        );
        assert_eq!(contents(&mut memory, 1, 5, 0), [5, 4, 3, 2, 1]);
    }
}

#[test]
fn transposes() {
    each(|level, width, (rows, cols, gap)| {
        let width_bytes = width.bytes();
        let source = bytes(rows * cols * width_bytes, 5);
        let (_memory, from) = filled(rows, cols * width_bytes, gap, &source);
        let (mut memory, to) = filled(cols, rows * width_bytes, 2 * gap, &vec![0; source.len()]);
        call(level, TileOp::Transpose(width), rows, cols, &[to, from]);
        let want: Vec<u8> = (0..cols)
            .flat_map(|col| (0..rows).map(move |row| (row, col)))
            .flat_map(|(row, col)| source[(row * cols + col) * width_bytes..][..width_bytes].to_vec())
            .collect();
        let got = contents(&mut memory, cols, rows * width_bytes, 2 * gap);
        assert!(got == want, "{width:?} {rows} x {cols} at {level}");
    });
}

/// The numbers in `i64`, converted by the evaluator.
#[test]
fn numbers_are_counted() {
    for ty in TYPES.into_iter().filter(|ty| !ty.is_boolean()) {
        for (start, row_step, col_step) in [
            (0, 0, 1),
            (-7, 100, -3),
            (i64::MAX - 5, 3, 1),
            (1 << 60, 1 << 36, 1),
        ] {
            let numbers = Affine {
                start,
                row_step,
                col_step,
            };
            let (rows, cols, gap) = (3, 37, 5);
            let at = |row: usize, col: usize| {
                start
                    .wrapping_add(row_step.wrapping_mul(row as i64))
                    .wrapping_add(col_step.wrapping_mul(col as i64))
            };
            let wide: Vec<u8> = (0..rows)
                .flat_map(|row| (0..cols).flat_map(move |col| at(row, col).to_le_bytes()))
                .collect();
            let convert = Op::from(Elementwise::Convert);
            let program = program(&convert, &[ElementType::I64], Some(ty), rows * cols).unwrap();
            let want = run(&program, &[wide]).unwrap();
            for level in levels() {
                let row = cols * ty.bytes();
                let (mut memory, to) = filled(rows, row, gap, &vec![0; rows * row]);
                call(level, TileOp::Affine(ty), rows, cols, &[to, parameters(&numbers)]);
                assert_eq!(
                    contents(&mut memory, rows, row, gap),
                    want,
                    "{ty} {numbers:?} at {level}"
                );
            }
        }
    }
}
