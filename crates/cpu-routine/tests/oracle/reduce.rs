//! `reduce` by a function of the program.

use artifact_cpu_routine::combine::Combiner;
use artifact_cpu_routine::reduce::reduce;
use artifact_cpu_routine::workspace::Workspace;
use artifact_eval::comparison::Closeness;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, compare, list, run};

const ELEMENTS: [ElementType; 2] = [ElementType::I32, ElementType::I64];

/// The position of the largest element, which combines two arrays.
fn larger(to: &[*mut u8], from: &[*const u8], count: usize) {
    for at in 0..count {
        // SAFETY: the arrays are of these types.
        unsafe {
            let (a, b) = (to[0].cast::<i32>().add(at), to[1].cast::<i64>().add(at));
            let (x, y) = (from[0].cast::<i32>().add(at), from[1].cast::<i64>().add(at));
            if x.read() > a.read() {
                a.write(x.read());
                b.write(y.read());
            }
        }
    }
}

fn check(random: &mut Random, shape: &[usize], dims: &[usize]) {
    let inputs = ELEMENTS.map(|element| Array::random(random, element, shape));
    let inits = ELEMENTS.map(|element| Array::random(random, element, &[]));
    let kept: Vec<usize> = (0..shape.len())
        .filter(|dim| !dims.contains(dim))
        .map(|dim| shape[dim])
        .collect();
    let empty = ELEMENTS.map(|element| Array::dense(element, &kept));
    let results = run(&empty, |parallel, to| {
        let (inputs, inits) = (
            inputs.each_ref().map(Array::view),
            inits.each_ref().map(Array::view),
        );
        let combiner = Combiner::Together(&larger);
        reduce(
            parallel,
            &mut Workspace::new(),
            dims,
            &combiner,
            &inputs,
            &inits,
            to,
        )
    });
    let body = format!(
        "%r:2 = \"stablehlo.reduce\"(%0, %1, %2, %3) ({{\n^bb0(%a: tensor<i32>, %b: tensor<i64>, %x: tensor<i32>, %y: tensor<i64>):
         %g = stablehlo.compare GT, %x, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         %c = stablehlo.select %g, %x, %a : tensor<i1>, tensor<i32>\n%d = stablehlo.select %g, %y, %b : tensor<i1>, tensor<i64>
         stablehlo.return %c, %d : tensor<i32>, tensor<i64>\n}}) {{dimensions = array<i64{}{}>}}
         : ({}, {}, tensor<i32>, tensor<i64>) -> ({}, {})",
        if dims.is_empty() { "" } else { ": " },
        list(dims),
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

#[test]
fn short_lines() {
    let mut random = Random::new(47);
    for _ in 0..150 {
        let rank = random.below(5);
        let shape = random.shape(rank, 9);
        let dims: Vec<usize> = (0..rank).filter(|_| random.below(2) == 0).collect();
        check(&mut random, &shape, &dims);
    }
}

#[test]
fn long_lines_are_cut() {
    let mut random = Random::new(48);
    for (shape, dims) in [
        (&[4096][..], &[0][..]),
        (&[5003], &[0]),
        (&[3, 4500], &[1]),
        (&[4500, 3], &[0]),
        (&[70, 2, 70], &[0, 2]),
        (&[70, 70, 2], &[0, 1]),
        (&[2, 3, 5, 1, 1024], &[2, 3, 4]),
    ] {
        check(&mut random, shape, dims);
    }
}
