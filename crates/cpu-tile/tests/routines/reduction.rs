//! Reductions, against the order that they are defined by, on the evaluator's arithmetic.

use artifact_cpu_tile::{CombineOp, LANES, TileOp};
use artifact_ir::op::{Binary, Op};
use artifact_ir::types::ElementType;

use crate::oracle::{Program, first_difference, program, run};
use crate::values::operands;
use crate::{call, contents, filled, levels};

/// The operation on two elements.
fn binary(op: CombineOp) -> Op {
    Op::from(match op {
        CombineOp::Add => Binary::Add,
        CombineOp::Multiply => Binary::Multiply,
        CombineOp::Maximum => Binary::Maximum,
        CombineOp::Minimum => Binary::Minimum,
        CombineOp::And => Binary::And,
        CombineOp::Or => Binary::Or,
        CombineOp::Xor => Binary::Xor,
    })
}

/// Rows of lanes, each combined with the elements of a row that belong to it, in order.
fn accumulate(program: &Program, width: usize, lanes: &[u8], elements: &[u8], cols: usize) -> Vec<u8> {
    let rows = lanes.len() / (LANES * width);
    let mut lanes = lanes.to_vec();
    for from in (0..cols).step_by(LANES) {
        let count = LANES.min(cols - from);
        let mut other = lanes.clone();
        for row in 0..rows {
            other[row * LANES * width..][..count * width]
                .copy_from_slice(&elements[(row * cols + from) * width..][..count * width]);
        }
        let combined = run(program, &[lanes.clone(), other]).unwrap();
        for row in 0..rows {
            let place = row * LANES * width..row * LANES * width + count * width;
            lanes[place.clone()].copy_from_slice(&combined[place]);
        }
    }
    lanes
}

/// The first element of each row of lanes after they were combined as a tree.
fn combine(program: &Program, width: usize, lanes: &[u8]) -> Vec<u8> {
    let rows = lanes.len() / (LANES * width);
    let mut lanes = lanes.to_vec();
    for distance in [8, 4, 2, 1] {
        let mut shifted = lanes.clone();
        for row in 0..rows {
            let row = row * LANES * width;
            shifted.copy_within(row + distance * width..row + LANES * width, row);
        }
        lanes = run(program, &[lanes, shifted]).unwrap();
    }
    (0..rows)
        .flat_map(|row| lanes[row * LANES * width..][..width].to_vec())
        .collect()
}

fn check(op: CombineOp, ty: ElementType) {
    let (rows, width, gap) = (3, ty.bytes(), 3);
    let program = program(&binary(op), &[ty, ty], None, rows * LANES).unwrap();
    let (count, elements) = operands(&[ty], 600, 9);
    for cols in [1, 15, 16, 17, 32, 50, 64] {
        let lanes = &elements[0][(count - rows * LANES) * width..];
        let elements = &elements[0][..rows * cols * width];
        let want = accumulate(&program, width, lanes, elements, cols);
        let result = combine(&program, width, &want);
        for level in levels() {
            let same = |got: &[u8], want: &[u8]| {
                let difference = first_difference(ty, got, want, 0);
                assert_eq!(difference, None, "{op:?} {ty} of {cols} columns at {level}");
            };
            let (mut memory, lanes) = filled(rows, LANES * width, gap, lanes);
            let (_elements, from) = filled(rows, cols * width, gap, elements);
            call(level, TileOp::Reduce(op, ty), rows, cols, &[lanes, from]);
            same(&contents(&mut memory, rows, LANES * width, gap), &want);

            let (_lanes, lanes) = filled(rows, LANES * width, gap, &want);
            let (mut memory, to) = filled(rows, width, gap, &vec![0; rows * width]);
            call(level, TileOp::LanesCombine(op, ty), rows, cols, &[to, lanes]);
            same(&contents(&mut memory, rows, width, gap), &result);

            // Whatever is combined with the identity stays, but for the zeros and infinities of complex products.
            if op == CombineOp::Multiply && ty.is_complex() {
                continue;
            }
            let (mut memory, lanes) = filled(rows, LANES * width, gap, &vec![0; rows * LANES * width]);
            call(level, TileOp::LanesInit(op, ty), rows, cols, &[lanes]);
            let identity = contents(&mut memory, rows, LANES * width, gap);
            same(&run(&program, &[identity, want.clone()]).unwrap(), &want);
        }
    }
}

#[test]
fn lanes_are_combined_in_order() {
    let mut checked = 0;
    for op in TileOp::all() {
        if let TileOp::Reduce(op, ty) = *op {
            check(op, ty);
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} reductions were found");
}
