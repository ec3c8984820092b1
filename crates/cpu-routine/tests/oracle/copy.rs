//! Moving elements.

use artifact_cpu_routine::copy::{self, Padding};
use artifact_eval::comparison::Closeness;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, compare, list, run};

const WIDTHS: [ElementType; 6] = [
    ElementType::I8,
    ElementType::F16,
    ElementType::F32,
    ElementType::I64,
    ElementType::C64,
    ElementType::C128,
];

fn empty_like(random: &mut Random, element: ElementType, shape: &[usize]) -> Array {
    let order = if random.below(2) == 0 {
        (0..shape.len()).collect()
    } else {
        random.permutation(shape.len())
    };
    Array::new(element, shape, &order)
}

#[test]
fn transposes() {
    let mut random = Random::new(1);
    for case in 0..300 {
        let element = random.pick(&WIDTHS);
        let rank = random.below(5);
        let most = if case % 4 == 0 && rank < 4 { 70 } else { 9 };
        let shape = random.shape(rank, most);
        let order = random.permutation(rank);
        let from = Array::random(&mut random, element, &shape);
        let result_shape: Vec<usize> = order.iter().map(|dim| shape[*dim]).collect();
        let result = empty_like(&mut random, element, &result_shape);
        let results = run(&[result], |parallel, to| {
            copy::copy(parallel, &from.view().permuted(&order)?, &mut to[0])
        });
        let (ty, to) = (from.ty(), results[0].ty());
        let body = format!(
            "%r = stablehlo.transpose %0, dims = [{}] : ({ty}) -> {to}",
            list(&order)
        );
        compare(&body, &[&from], &results, Closeness::Equal);
    }
}

/// Large enough for every path of several tasks; what goes where is compared here, since the evaluator would take long.
#[test]
fn large_transposes_and_copies() {
    for (element, shape) in [
        (ElementType::F32, [1500, 1600]),
        (ElementType::F64, [1040, 1100]),
        (ElementType::I8, [700, 900]),
        (ElementType::F32, [3, 300_000]),
    ] {
        let width = element.bytes();
        let count = |position: usize| artifact_eval::scalar::Scalar::Float(position as f64);
        let from = Array::filled(element, &shape, &[0, 1], count);
        let result = Array::dense(element, &[shape[1], shape[0]]);
        let results = run(&[result], |parallel, to| {
            copy::copy(parallel, &from.view().permuted(&[1, 0])?, &mut to[0])
        });
        let at = |array: &Array, position: usize| array.elements()[position * width..][..width].to_vec();
        for (row, column) in (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| (row, column))) {
            let (a, b) = (
                at(&from, row * shape[1] + column),
                at(&results[0], column * shape[0] + row),
            );
            assert!(a == b, "{element} {shape:?} at {row}, {column}");
        }
        let back = run(&[Array::dense(element, &shape)], |parallel, to| {
            copy::copy(parallel, &results[0].view().permuted(&[1, 0])?, &mut to[0])
        });
        assert!(back[0].elements() == from.elements(), "{element} {shape:?}");
        let again = run(&[Array::dense(element, &shape)], |parallel, to| {
            copy::copy(parallel, &from.view(), &mut to[0])
        });
        assert!(again[0].elements() == from.elements(), "{element} {shape:?}");
    }
}

#[test]
fn reversals_and_broadcasts() {
    let mut random = Random::new(3);
    for _ in 0..100 {
        let element = random.pick(&WIDTHS);
        let rank = random.below(4);
        let shape = random.shape(rank, 12);
        let from = Array::random(&mut random, element, &shape);
        let dims: Vec<usize> = (0..rank).filter(|_| random.below(2) == 0).collect();
        let result = empty_like(&mut random, element, &shape);
        let results = run(&[result], |parallel, to| {
            copy::copy(parallel, &from.view().reversed(&dims)?, &mut to[0])
        });
        let body = format!(
            "%r = stablehlo.reverse %0, dims = [{}] : {}",
            list(&dims),
            from.ty()
        );
        compare(&body, &[&from], &results, Closeness::Equal);

        let wide = random.shape(rank + 1, 6);
        let dims = random.permutation(rank + 1)[..rank].to_vec();
        let shape: Vec<usize> = dims
            .iter()
            .map(|dim| if random.below(3) == 0 { 1 } else { wide[*dim] })
            .collect();
        let from = Array::random(&mut random, element, &shape);
        let result = empty_like(&mut random, element, &wide);
        let results = run(&[result], |parallel, to| {
            copy::copy(parallel, &from.view().broadcast(&wide, &dims)?, &mut to[0])
        });
        let body = format!(
            "%r = stablehlo.broadcast_in_dim %0, dims = [{}] : ({}) -> {}",
            list(&dims),
            from.ty(),
            results[0].ty()
        );
        compare(&body, &[&from], &results, Closeness::Equal);
    }
}

#[test]
fn pads() {
    let mut random = Random::new(4);
    let mut done = 0;
    while done < 200 {
        let element = random.pick(&WIDTHS);
        let rank = random.below(4);
        let shape = random.shape(rank, 6);
        let padding: Vec<Padding> = (0..rank)
            .map(|_| Padding {
                low: random.below(7) as i64 - 3,
                high: random.below(7) as i64 - 3,
                interior: random.below(3) as u64,
            })
            .collect();
        let size = |(size, padding): (&usize, &Padding)| {
            let spread = size + size.saturating_sub(1) * padding.interior as usize;
            usize::try_from(spread as i64 + padding.low + padding.high).ok()
        };
        let Some(wide) = shape.iter().zip(&padding).map(size).collect::<Option<Vec<_>>>() else {
            continue;
        };
        done += 1;
        let from = Array::random(&mut random, element, &shape);
        let value = Array::random(&mut random, element, &[]);
        let result = empty_like(&mut random, element, &wide);
        let results = run(&[result], |parallel, to| {
            copy::pad(parallel, &from.view(), &value.view(), &padding, &mut to[0])
        });
        let numbers = |f: fn(&Padding) -> i64| list(&padding.iter().map(f).collect::<Vec<_>>());
        let body = format!(
            "%r = stablehlo.pad %0, %1, low = [{}], high = [{}], interior = [{}] : ({}, {}) -> {}",
            numbers(|padding| padding.low),
            numbers(|padding| padding.high),
            numbers(|padding| padding.interior as i64),
            from.ty(),
            value.ty(),
            results[0].ty()
        );
        compare(&body, &[&from, &value], &results, Closeness::Equal);
    }
}

#[test]
fn parts() {
    let mut random = Random::new(5);
    for _ in 0..150 {
        let element = random.pick(&WIDTHS);
        let rank = 1 + random.below(3);
        let shape = random.shape(rank, 9);
        let from = Array::random(&mut random, element, &shape);
        let (mut starts, mut limits, mut strides, mut sizes) = (vec![], vec![], vec![], vec![]);
        for size in &shape {
            let start = random.below(size + 1);
            let (limit, stride) = (start + random.below(size - start + 1), 1 + random.below(3));
            starts.push(start);
            limits.push(limit);
            strides.push(stride);
            sizes.push((limit - start).div_ceil(stride));
        }
        let result = empty_like(&mut random, element, &sizes);
        let results = run(&[result], |parallel, to| {
            copy::slice(parallel, &from.view(), &starts, &strides, &mut to[0])
        });
        let ranges: Vec<String> = (0..rank)
            .map(|dim| format!("{}:{}:{}", starts[dim], limits[dim], strides[dim]))
            .collect();
        let body = format!(
            "%r = stablehlo.slice %0 [{}] : ({}) -> {}",
            ranges.join(", "),
            from.ty(),
            results[0].ty()
        );
        compare(&body, &[&from], &results, Closeness::Equal);
        dynamic(&mut random, &from);
    }
}

/// Slices and updates with starts of which some are out of bounds.
fn dynamic(random: &mut Random, from: &Array) {
    let sizes: Vec<usize> = from.shape.iter().map(|size| random.below(size + 1)).collect();
    let starts: Vec<i64> = from
        .shape
        .iter()
        .map(|size| random.below(size + 5) as i64 - 2)
        .collect();
    let indices: Vec<Array> = starts
        .iter()
        .map(|start| Array::of_ints(ElementType::I64, &[], &[*start]))
        .collect();
    let names = |first: usize| {
        list(
            &(first..first + starts.len())
                .map(|at| format!("%{at}"))
                .collect::<Vec<_>>(),
        )
    };
    let types = list(&vec!["tensor<i64>"; starts.len()]);

    let result = empty_like(random, from.element, &sizes);
    let results = run(&[result], |parallel, to| {
        copy::dynamic_slice(parallel, &from.view(), &starts, &mut to[0])
    });
    let body = format!(
        "%r = stablehlo.dynamic_slice %0, {}, sizes = [{}] : ({}, {types}) -> {}",
        names(1),
        list(&sizes),
        from.ty(),
        results[0].ty()
    );
    let operands: Vec<&Array> = std::iter::once(from).chain(&indices).collect();
    compare(&body, &operands, &results, Closeness::Equal);

    let update = Array::random(random, from.element, &sizes);
    let results = run(std::slice::from_ref(from), |parallel, to| {
        copy::dynamic_update_slice(parallel, &mut to[0], &update.view(), &starts)
    });
    let body = format!(
        "%r = stablehlo.dynamic_update_slice %0, %1, {} : ({}, {}, {types}) -> {}",
        names(2),
        from.ty(),
        update.ty(),
        from.ty()
    );
    let operands: Vec<&Array> = [from, &update].into_iter().chain(&indices).collect();
    compare(&body, &operands, &results, Closeness::Equal);
}

#[test]
fn concatenations() {
    let mut random = Random::new(6);
    for _ in 0..60 {
        let element = random.pick(&WIDTHS);
        let rank = 1 + random.below(3);
        let shape = random.shape(rank, 6);
        let dim = random.below(rank);
        let parts: Vec<Array> = (0..1 + random.below(3))
            .map(|_| {
                let mut shape = shape.clone();
                shape[dim] = random.size(5);
                Array::random(&mut random, element, &shape)
            })
            .collect();
        let mut whole = shape.clone();
        whole[dim] = parts.iter().map(|part| part.shape[dim]).sum();
        let result = empty_like(&mut random, element, &whole);
        let results = run(&[result], |parallel, to| {
            let views: Vec<_> = parts.iter().map(Array::view).collect();
            copy::concatenate(parallel, &views, dim, &mut to[0])
        });
        let names: Vec<String> = (0..parts.len()).map(|at| format!("%{at}")).collect();
        let types: Vec<String> = parts.iter().map(Array::ty).collect();
        let body = format!(
            "%r = stablehlo.concatenate {}, dim = {dim} : ({}) -> {}",
            names.join(", "),
            types.join(", "),
            results[0].ty()
        );
        compare(
            &body,
            &parts.iter().collect::<Vec<_>>(),
            &results,
            Closeness::Equal,
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let from = Array::dense(ElementType::F32, &[2, 3]);
    let mut to = Array::dense(ElementType::F32, &[3, 2]);
    let mut wide = Array::dense(ElementType::F64, &[2, 3]);
    let pool = artifact_cpu_routine::pool::Pool::new(1);
    let parallel = pool.parallel();
    assert!(copy::copy(parallel, &from.view(), &mut to.view_mut()).is_err());
    assert!(copy::copy(parallel, &from.view(), &mut wide.view_mut()).is_err());
    assert!(copy::dynamic_slice(parallel, &from.view(), &[0, 0], &mut to.view_mut()).is_err());
    assert!(copy::concatenate(parallel, &[from.view()], 0, &mut to.view_mut()).is_err());
    assert!(copy::concatenate(parallel, &[from.view()], 2, &mut to.view_mut()).is_err());
    let none = [Padding::default(); 2];
    assert!(copy::pad(parallel, &from.view(), &from.view(), &none, &mut to.view_mut()).is_err());
}
