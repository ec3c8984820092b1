//! Products.

use artifact_cpu_routine::dot::{Dimensions, dot_general};
use artifact_cpu_routine::workspace::Workspace;
use artifact_eval::comparison::Closeness;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, closeness, compare, list, run};

/// Operands and result.
const TYPES: [[ElementType; 3]; 17] = {
    use ElementType::{BF16, C64, C128, F16, F32, F64, I1, I4, I8, I16, I32, I64, UI8, UI16, UI32, UI64};
    [
        [F32, F32, F32],
        [F64, F64, F64],
        [C64, C64, C64],
        [C128, C128, C128],
        [BF16, BF16, BF16],
        [F16, F16, F16],
        [BF16, BF16, F32],
        [F16, F16, F32],
        [I8, I8, I32],
        [I8, I8, I8],
        [I16, I16, I16],
        [I32, I32, I32],
        [I64, I64, I64],
        [UI8, UI8, UI32],
        [UI16, UI16, UI64],
        [I1, I1, I1],
        [I4, I4, I4],
    ]
};

/// Sizes of the batch, free and contracting dimensions, in any order within each operand.
fn check(
    random: &mut Random,
    types: [ElementType; 3],
    batch: &[usize],
    free: [&[usize]; 2],
    summed: &[usize],
) {
    let mut operands = Vec::new();
    let mut lists: Vec<[Vec<usize>; 3]> = Vec::new();
    for side in 0..2 {
        let sizes = [batch, free[side], summed].concat();
        let places = random.permutation(sizes.len());
        let mut shape = vec![0; sizes.len()];
        places
            .iter()
            .zip(&sizes)
            .for_each(|(place, size)| shape[*place] = *size);
        operands.push(Array::random(random, types[side], &shape));
        let (first, second) = (batch.len(), batch.len() + free[side].len());
        // The result has free dimensions in the order of the operand.
        let mut free: Vec<usize> = places[first..second].to_vec();
        free.sort_unstable();
        lists.push([places[..first].to_vec(), free, places[second..].to_vec()]);
    }
    let free_sizes = |side: usize| {
        lists[side][1]
            .iter()
            .map(|dim| operands[side].shape[*dim])
            .collect::<Vec<_>>()
    };
    let shape = [batch.to_vec(), free_sizes(0), free_sizes(1)].concat();
    let order = random.permutation(shape.len());
    let results = run(&[Array::new(types[2], &shape, &order)], |parallel, to| {
        let role = |at: usize| [&lists[0][at][..], &lists[1][at][..]];
        let dimensions = Dimensions {
            batch: role(0),
            contracting: role(2),
            free: role(1),
        };
        let (lhs, rhs) = (operands[0].view(), operands[1].view());
        dot_general(
            parallel,
            &mut Workspace::new(),
            &dimensions,
            &lhs,
            &rhs,
            &mut to[0],
        )
    });
    let text = |at: usize| format!("[{}] x [{}]", list(&lists[0][at]), list(&lists[1][at]));
    let body = format!(
        "%r = stablehlo.dot_general %0, %1, batching_dims = {}, contracting_dims = {} : ({}, {}) -> {}",
        text(0),
        text(2),
        operands[0].ty(),
        operands[1].ty(),
        results[0].ty()
    );
    let close = match closeness(types[2]) {
        // Sums of many products, of which large ones cancel.
        Closeness::Relative { atol, rtol } => Closeness::Relative {
            atol: atol * (summed.iter().product::<usize>() as f64).sqrt().max(1.0),
            rtol,
        },
        other => other,
    };
    compare(&body, &[&operands[0], &operands[1]], &results, close);
}

#[test]
fn random_shapes() {
    let mut random = Random::new(10);
    for case in 0..340 {
        let types = TYPES[case % TYPES.len()];
        let ranks = [random.below(3), random.below(3), random.below(3), random.below(3)];
        let [batch, rows, columns, summed] = ranks.map(|rank| random.shape(rank, 6));
        check(&mut random, types, &batch, [&rows, &columns], &summed);
    }
}

#[test]
fn several_tiles_and_depths() {
    let mut random = Random::new(11);
    for types in TYPES {
        check(&mut random, types, &[], [&[70], &[50]], &[90]);
    }
    let f32 = [ElementType::F32; 3];
    check(&mut random, f32, &[], [&[200], &[150]], &[60]);
    check(&mut random, f32, &[], [&[130], &[9]], &[1100]);
    check(&mut random, f32, &[], [&[1], &[400]], &[700]);
    check(&mut random, f32, &[], [&[400], &[1]], &[700]);
    check(&mut random, f32, &[3], [&[40], &[33]], &[20, 30]);
    check(&mut random, f32, &[40], [&[8], &[8]], &[8]);
    for _ in 0..8 {
        check(&mut random, f32, &[2], [&[20], &[3]], &[0, 20]);
        check(&mut random, f32, &[2], [&[20], &[3]], &[30, 20]);
    }
    check(&mut random, f32, &[2, 3], [&[17, 2], &[5, 3]], &[2, 2, 2]);
    check(&mut random, [ElementType::BF16; 3], &[], [&[150], &[160]], &[40]);
}

#[test]
fn parts_of_complex_numbers_and_broadcasts_are_operands() {
    let mut random = Random::new(12);
    let complex = Array::random(&mut random, ElementType::C64, &[6, 7]);
    let row = Array::random(&mut random, ElementType::F32, &[7]);
    let (real, row_view) = (complex.view(), row.view());
    let strides: Vec<isize> = real.axes().iter().map(|axis| axis.stride).collect();
    // SAFETY: the real parts of numbers that live as long.
    let real =
        unsafe { artifact_cpu_routine::view::View::new(real.data(), ElementType::F32, &[6, 7], &strides) };
    let wide = row_view.broadcast(&[5, 7], &[1]).unwrap();
    let dimensions = Dimensions {
        batch: [&[], &[]],
        contracting: [&[1], &[1]],
        free: [&[0], &[0]],
    };
    let results = run(&[Array::dense(ElementType::F32, &[6, 5])], |parallel, to| {
        dot_general(
            parallel,
            &mut Workspace::new(),
            &dimensions,
            &real,
            &wide,
            &mut to[0],
        )
    });
    let body = "%a = stablehlo.real %0 : (tensor<6x7xcomplex<f32>>) -> tensor<6x7xf32>
         %b = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<7xf32>) -> tensor<5x7xf32>
         %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<6x7xf32>, tensor<5x7xf32>) -> tensor<6x5xf32>";
    compare(body, &[&complex, &row], &results, closeness(ElementType::F32));
}

#[test]
fn reversed_operands_and_results() {
    let mut random = Random::new(13);
    let dimensions = Dimensions {
        batch: [&[], &[]],
        contracting: [&[1], &[0]],
        free: [&[0], &[1]],
    };
    for element in [ElementType::F32, ElementType::C128, ElementType::I32] {
        for [rows, columns, depth] in [[5, 7, 3], [60, 50, 70], [1, 90, 40], [90, 1, 40]] {
            let a = Array::random(&mut random, element, &[rows, depth]);
            let b = Array::random(&mut random, element, &[depth, columns]);
            let results = run(&[Array::dense(element, &[rows, columns])], |parallel, to| {
                let (a, b) = (a.view().reversed(&[0, 1])?, b.view().reversed(&[0])?);
                let mut to = to[0].reborrow().reversed(&[0, 1])?;
                dot_general(parallel, &mut Workspace::new(), &dimensions, &a, &b, &mut to)
            });
            // The sums are over both dimensions in descending order, and so are the rows.
            let (a_ty, b_ty, ty) = (a.ty(), b.ty(), results[0].ty());
            let body = format!(
                "%p = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : ({a_ty}, {b_ty}) -> {ty}
                 %r = stablehlo.reverse %p, dims = [1] : {ty}"
            );
            let close = match closeness(element) {
                Closeness::Relative { atol, rtol } => Closeness::Relative {
                    atol: 8.0 * atol,
                    rtol,
                },
                other => other,
            };
            compare(&body, &[&a, &b], &results, close);
        }
    }
}

/// Sizes whose product does not fit, of operands and results without elements.
#[test]
fn empty_ones_may_be_huge() {
    let huge = 1 << 40;
    let a = Array::dense(ElementType::BF16, &[huge, huge, 0]);
    let b = Array::dense(ElementType::BF16, &[0, huge]);
    let dimensions = Dimensions {
        batch: [&[], &[]],
        contracting: [&[2], &[0]],
        free: [&[0, 1], &[1]],
    };
    let pool = artifact_cpu_routine::pool::Pool::new(1);
    let mut out = Array::dense(ElementType::BF16, &[huge, huge, 0]);
    let (a, b, mut workspace) = (a.view(), b.view(), Workspace::new());
    let b = b.part(1, 0, 0, 1).unwrap();
    dot_general(
        pool.parallel(),
        &mut workspace,
        &dimensions,
        &a,
        &b,
        &mut out.view_mut(),
    )
    .unwrap();
}

#[test]
fn what_does_not_fit_is_refused() {
    let a = Array::dense(ElementType::F32, &[2, 3]);
    let check = |contracting: [&[usize]; 2], free: [&[usize]; 2], out: &[usize]| {
        let mut out = Array::dense(ElementType::F32, out);
        let pool = artifact_cpu_routine::pool::Pool::new(1);
        let dimensions = Dimensions {
            batch: [&[], &[]],
            contracting,
            free,
        };
        let (a, mut workspace) = (a.view(), Workspace::new());
        dot_general(
            pool.parallel(),
            &mut workspace,
            &dimensions,
            &a,
            &a,
            &mut out.view_mut(),
        )
        .is_err()
    };
    assert!(!check([&[1], &[1]], [&[0], &[0]], &[2, 2]));
    assert!(check([&[1], &[1]], [&[0], &[0]], &[2, 3]));
    assert!(check([&[1], &[0]], [&[0], &[1]], &[2, 3]));
    assert!(check([&[1], &[1]], [&[0], &[]], &[2]));
    assert!(check([&[1], &[1]], [&[0], &[7]], &[2, 2]));
    assert!(check([&[1], &[1]], [&[0], &[1]], &[2, 2]));
}
