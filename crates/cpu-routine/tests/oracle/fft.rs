//! Fourier transforms.

use artifact_cpu_routine::fft::{Kind, Plan};
use artifact_cpu_routine::workspace::Workspace;
use artifact_eval::comparison::Closeness;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, compare, list, run};

const KINDS: [(Kind, &str); 4] = [
    (Kind::Forward, "FFT"),
    (Kind::Inverse, "IFFT"),
    (Kind::RealForward, "RFFT"),
    (Kind::RealInverse, "IRFFT"),
];

fn check(
    random: &mut Random,
    (kind, name): (Kind, &str),
    part: ElementType,
    batch: &[usize],
    lengths: &[usize],
) {
    let complex = part.complex_of().expect("a part of complex numbers");
    let mut halved = lengths.to_vec();
    let last = lengths.len() - 1;
    halved[last] = if lengths[last] == 0 {
        0
    } else {
        lengths[last] / 2 + 1
    };
    let (whole, half) = ([batch, lengths].concat(), [batch, &halved].concat());
    let (operand, result) = match kind {
        Kind::Forward | Kind::Inverse => ((complex, &whole), (complex, &whole)),
        Kind::RealForward => ((part, &whole), (complex, &half)),
        Kind::RealInverse => ((complex, &half), (part, &whole)),
    };
    let from = Array::random(random, operand.0, operand.1);
    let order = if random.below(2) == 0 {
        (0..whole.len()).collect()
    } else {
        random.permutation(whole.len())
    };
    let plan = Plan::new(kind, part, lengths).expect("a transform");
    let results = run(&[Array::new(result.0, result.1, &order)], |parallel, to| {
        plan.run(parallel, &mut Workspace::new(), &from.view(), &mut to[0])
    });
    let body = format!(
        "%r = stablehlo.fft %0, type = {name}, length = [{}] : ({}) -> {}",
        list(lengths),
        from.ty(),
        results[0].ty()
    );
    let unit = if part == ElementType::F32 { 1e-6 } else { 1e-14 };
    let size = lengths.iter().product::<usize>().max(1) as f64;
    // Sums of as many numbers as there are; an inverse divides by their number.
    let scale = match kind {
        Kind::Forward | Kind::RealForward => size.sqrt() * 4.0,
        Kind::Inverse | Kind::RealInverse => 4.0 / size.sqrt(),
    };
    compare(
        &body,
        &[&from],
        &results,
        Closeness::Relative {
            atol: unit * scale,
            rtol: unit * 4.0,
        },
    );
}

#[test]
fn every_length() {
    let mut random = Random::new(70);
    for length in (0..48).chain([49, 64, 90, 97, 100, 121, 128, 143, 169, 210, 256, 360, 1000, 1024]) {
        for kind in KINDS {
            check(&mut random, kind, ElementType::F32, &[3], &[length]);
            check(&mut random, kind, ElementType::F64, &[2], &[length]);
        }
    }
}

#[test]
fn several_dimensions_and_batches() {
    let mut random = Random::new(71);
    for case in 0..160 {
        let rank = random.below(3);
        let batch = random.shape(rank, 5);
        let lengths: Vec<usize> = (0..1 + random.below(3)).map(|_| random.size(9)).collect();
        let part = random.pick(&[ElementType::F32, ElementType::F64]);
        check(&mut random, KINDS[case % 4], part, &batch, &lengths);
    }
    for kind in KINDS {
        check(&mut random, kind, ElementType::F32, &[37], &[64]);
        check(&mut random, kind, ElementType::F32, &[3], &[24, 20]);
        check(&mut random, kind, ElementType::F64, &[40], &[30]);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let pool = artifact_cpu_routine::pool::Pool::new(1);
    assert!(Plan::new(Kind::Forward, ElementType::I32, &[4]).is_err());
    assert!(Plan::new(Kind::Forward, ElementType::F32, &[]).is_err());
    assert!(Plan::new(Kind::Forward, ElementType::F32, &[1; 4]).is_err());
    // Longer ones, and primes that are shorter, take too much memory.
    assert!(Plan::new(Kind::Forward, ElementType::F32, &[(1 << 20) + 4]).is_err());
    assert!(Plan::new(Kind::Forward, ElementType::F32, &[524_287]).is_err());
    let refuses = |kind: Kind, from: Array, mut to: Array| {
        let plan = Plan::new(kind, ElementType::F32, &[4]).expect("a transform");
        plan.run(
            pool.parallel(),
            &mut Workspace::new(),
            &from.view(),
            &mut to.view_mut(),
        )
        .is_err()
    };
    let array = |element, size| {
        Array::filled(element, &[size], &[0], |_| {
            artifact_eval::scalar::Scalar::Float(0.0)
        })
    };
    let (c64, f32) = (ElementType::C64, ElementType::F32);
    assert!(!refuses(Kind::Forward, array(c64, 4), array(c64, 4)));
    assert!(refuses(Kind::Forward, array(c64, 5), array(c64, 5)));
    assert!(refuses(Kind::Forward, array(f32, 4), array(c64, 4)));
    assert!(!refuses(Kind::RealForward, array(f32, 4), array(c64, 3)));
    assert!(refuses(Kind::RealForward, array(f32, 4), array(c64, 4)));
    assert!(refuses(Kind::RealInverse, array(c64, 4), array(f32, 4)));
}
