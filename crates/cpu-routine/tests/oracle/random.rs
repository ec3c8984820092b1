//! Random bits.

use std::sync::Mutex;

use artifact_cpu_routine::random::{Algorithm, rng_bit_generator};
use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::scalar::Scalar;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, evaluated, run};

const ELEMENTS: [ElementType; 9] = {
    use ElementType::{BF16, F32, F64, I8, I32, I64, UI16, UI32, UI64};
    [UI32, UI64, I32, I64, I8, UI16, F32, F64, BF16]
};

fn check(algorithm: Algorithm, state: &[u64], element: ElementType, shape: &[usize]) {
    let states = Mutex::new(Vec::new());
    let results = run(&[Array::dense(element, shape)], |parallel, to| {
        let next = rng_bit_generator(parallel, algorithm, state, &mut to[0])?;
        states.lock().expect("a lock").push(next);
        Ok(())
    });
    let words = |words: &[u64]| {
        Array::filled(ElementType::UI64, &[words.len()], &[0], |at| {
            Scalar::Int(words[at].into())
        })
    };
    let operand = words(state);
    let name = match algorithm {
        Algorithm::Threefry => "THREE_FRY",
        Algorithm::Philox => "PHILOX",
    };
    let (ty, result) = (operand.ty(), results[0].ty());
    let body =
        format!("%r:2 = stablehlo.rng_bit_generator %0, algorithm = {name} : ({ty}) -> ({ty}, {result})");
    let both = [operand.clone(), results[0].clone()];
    let expected = evaluated(&body, &[&operand], &both);
    for next in states.into_inner().expect("a lock") {
        assert_eq!(
            difference(&words(&next).tensor(), &expected[0], Closeness::Equal),
            None,
            "{body}"
        );
    }
    assert_eq!(
        difference(&results[0].tensor(), &expected[1], Closeness::Equal),
        None,
        "{body}"
    );
}

#[test]
fn bits() {
    let mut random = Random::new(80);
    for case in 0..180 {
        let rank = random.below(4);
        let shape = random.shape(rank, 9);
        let near =
            |random: &mut Random| random.pick(&[0, 1, u64::MAX, u64::MAX - 3, u64::from(u32::MAX) - 2]);
        let words = 2 + usize::from(case % 3 == 2);
        let state: Vec<u64> = (0..words)
            .map(|_| {
                if random.below(3) == 0 {
                    near(&mut random)
                } else {
                    random.bits()
                }
            })
            .collect();
        let algorithm = if case % 3 == 0 {
            Algorithm::Threefry
        } else {
            Algorithm::Philox
        };
        check(algorithm, &state, ELEMENTS[case % ELEMENTS.len()], &shape);
    }
    for algorithm in [Algorithm::Threefry, Algorithm::Philox] {
        check(algorithm, &[7, 9], ElementType::UI32, &[101, 103]);
        check(algorithm, &[7, 9], ElementType::UI64, &[20_011]);
        check(algorithm, &[7, 9], ElementType::UI8, &[3, 20, 401]);
    }
}

#[test]
fn states_of_other_lengths_are_refused() {
    let pool = artifact_cpu_routine::pool::Pool::new(1);
    let mut out = Array::dense(ElementType::UI32, &[3]);
    let mut generate = |algorithm, state: &[u64]| {
        rng_bit_generator(pool.parallel(), algorithm, state, &mut out.view_mut()).is_err()
    };
    assert!(generate(Algorithm::Threefry, &[1]));
    assert!(generate(Algorithm::Threefry, &[1, 2, 3]));
    assert!(generate(Algorithm::Philox, &[]));
    assert!(generate(Algorithm::Philox, &[1, 2, 3, 4]));
    assert!(!generate(Algorithm::Philox, &[1, 2, 3]));
}
