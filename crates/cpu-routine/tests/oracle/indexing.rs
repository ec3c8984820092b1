//! Gathers and scatters.

use artifact_cpu_routine::combine::{Combine, Combiner};
use artifact_cpu_routine::{gather, scatter};
use artifact_eval::comparison::Closeness;
use artifact_ir::types::ElementType;

use crate::harness::{Array, Random, closeness, compare, list, run};

const INDICES: [ElementType; 7] = {
    use ElementType::{I8, I16, I32, I64, UI8, UI32, UI64};
    [I32, I64, I8, I16, UI8, UI32, UI64]
};

/// Dimension numbers of both operations, and the shapes that go with them.
struct Case {
    /// Operand dimensions: window, dropped, batched.
    operand: Vec<usize>,
    kept: Vec<usize>,
    dropped: Vec<usize>,
    batching: Vec<usize>,
    map: Vec<usize>,
    vector_dim: usize,
    index_batching: Vec<usize>,
    indices: Array,
    /// Result or update dimensions that hold windows, and its shape.
    window_dims: Vec<usize>,
    shape: Vec<usize>,
    sizes: Vec<usize>,
}

/// Indices of any integer type: most within a small operand, some out of bounds.
fn random_indices(random: &mut Random, shape: &[usize]) -> Array {
    let element = random.pick(&INDICES);
    let far = if element == ElementType::UI64 {
        i128::from(u64::MAX)
    } else {
        100
    };
    let order = random.permutation(shape.len());
    Array::filled(element, shape, &order, |_| {
        let index = if random.below(8) == 0 {
            random.pick(&[-1, 127, far])
        } else {
            random.below(7) as i128
        };
        artifact_eval::scalar::Scalar::Int(index)
    })
}

impl Case {
    fn new(random: &mut Random) -> Self {
        let rank = random.below(4);
        let operand: Vec<usize> = (0..rank).map(|_| random.size(7)).collect();
        let (mut kept, mut dropped, mut batching, mut map) = (vec![], vec![], vec![], vec![]);
        for (dim, size) in operand.iter().enumerate() {
            match random.below(5) {
                0 | 1 => kept.push(dim),
                2 if batching.len() < 2 => batching.push(dim),
                _ if *size > 0 => dropped.push(dim),
                _ => kept.push(dim),
            }
            if !batching.contains(&dim) && random.below(3) > 0 {
                map.push(dim);
            }
        }
        let map: Vec<usize> = random.permutation(map.len()).iter().map(|at| map[*at]).collect();
        let size_of = |random: &mut Random, dim: usize| match operand[dim] {
            size if !kept.contains(&dim) => size.min(1),
            size if map.contains(&dim) => random.below(size + 1),
            size => random.pick(&[size, size, size.saturating_sub(1)]),
        };
        let sizes: Vec<usize> = (0..rank).map(|dim| size_of(random, dim)).collect();

        let extra: Vec<usize> = (0..random.below(3)).map(|_| random.size(9)).collect();
        let batch: Vec<usize> = [extra.clone(), batching.iter().map(|dim| operand[*dim]).collect()].concat();
        let places = random.permutation(batch.len());
        let mut index_shape = vec![0; batch.len()];
        places
            .iter()
            .zip(&batch)
            .for_each(|(place, size)| index_shape[*place] = *size);
        let mut index_batching = places[extra.len()..].to_vec();
        let batch = index_shape.clone();
        let mut vector_dim = index_shape.len();
        if map.len() != 1 || random.below(2) == 0 {
            vector_dim = random.below(index_shape.len() + 1);
            index_shape.insert(vector_dim, map.len());
            index_batching
                .iter_mut()
                .filter(|dim| **dim >= vector_dim)
                .for_each(|dim| *dim += 1);
        }
        let indices = random_indices(random, &index_shape);
        let windows: Vec<usize> = kept.iter().map(|dim| sizes[*dim]).collect();
        let total = windows.len() + batch.len();
        let mut window_dims = random.permutation(total)[..windows.len()].to_vec();
        window_dims.sort_unstable();
        let (mut inner, mut outer) = (windows.into_iter(), batch.into_iter());
        let size = |dim: usize| {
            if window_dims.contains(&dim) {
                inner.next()
            } else {
                outer.next()
            }
        };
        let shape = (0..total).map(size).map(Option::unwrap).collect();
        Self {
            operand,
            kept,
            dropped,
            batching,
            map,
            vector_dim,
            index_batching,
            indices,
            window_dims,
            shape,
            sizes,
        }
    }
}

#[test]
fn gathers() {
    let mut random = Random::new(30);
    let mut done = 0;
    while done < 400 {
        let case = Case::new(&mut random);
        if case.operand.contains(&0) && !case.shape.contains(&0) {
            continue;
        }
        done += 1;
        let element = random.pick(&[
            ElementType::F32,
            ElementType::I8,
            ElementType::C128,
            ElementType::F16,
        ]);
        let operand = Array::random(&mut random, element, &case.operand);
        let order = random.permutation(case.shape.len());
        let results = run(&[Array::new(element, &case.shape, &order)], |parallel, to| {
            let dimensions = gather::Dimensions {
                offset: &case.window_dims,
                collapsed: &case.dropped,
                operand_batching: &case.batching,
                index_batching: &case.index_batching,
                start_index_map: &case.map,
                index_vector_dim: case.vector_dim,
                slice_sizes: &case.sizes,
            };
            gather::gather(
                parallel,
                &dimensions,
                &operand.view(),
                &case.indices.view(),
                &mut to[0],
            )
        });
        let body = format!(
            "%r = \"stablehlo.gather\"(%0, %1) {{dimension_numbers = #stablehlo.gather<offset_dims = [{}], \
             collapsed_slice_dims = [{}], operand_batching_dims = [{}], start_indices_batching_dims = [{}], \
             start_index_map = [{}], index_vector_dim = {}>, slice_sizes = array<i64{}>, \
             indices_are_sorted = false}} : ({}, {}) -> {}",
            list(&case.window_dims),
            list(&case.dropped),
            list(&case.batching),
            list(&case.index_batching),
            list(&case.map),
            case.vector_dim,
            if case.sizes.is_empty() {
                String::new()
            } else {
                format!(": {}", list(&case.sizes))
            },
            operand.ty(),
            case.indices.ty(),
            results[0].ty()
        );
        compare(&body, &[&operand, &case.indices], &results, Closeness::Equal);
    }
}

const COMBINES: [(Combine, &str); 8] = [
    (Combine::Replace, ""),
    (Combine::Add, "add"),
    (Combine::Multiply, "multiply"),
    (Combine::Maximum, "maximum"),
    (Combine::Minimum, "minimum"),
    (Combine::And, "and"),
    (Combine::Or, "or"),
    (Combine::Xor, "xor"),
];

const ELEMENTS: [ElementType; 12] = {
    use ElementType::{BF16, C64, C128, F16, F32, F64, I1, I8, I32, I64, UI8, UI16};
    [F32, F64, BF16, F16, I32, I64, I8, UI8, UI16, I1, C64, C128]
};

fn scatter_body(case: &Case, arrays: &[Array], updates: &[Array], region: &str) -> String {
    let count = arrays.len();
    let names: Vec<String> = (0..2 * count + 1).map(|at| format!("%{at}")).collect();
    let types: Vec<String> = arrays.iter().map(Array::ty).collect();
    let operands = [
        types.clone(),
        vec![case.indices.ty()],
        updates.iter().map(Array::ty).collect(),
    ]
    .concat();
    format!(
        "{} = \"stablehlo.scatter\"({}) ({{\n{region}\n}}) {{scatter_dimension_numbers = \
         #stablehlo.scatter<update_window_dims = [{}], inserted_window_dims = [{}], input_batching_dims = [{}], \
         scatter_indices_batching_dims = [{}], scatter_dims_to_operand_dims = [{}], index_vector_dim = {}>, \
         indices_are_sorted = false, unique_indices = false}} : ({}) -> ({})",
        if count == 1 {
            "%r".to_owned()
        } else {
            format!("%r:{count}")
        },
        names.join(", "),
        list(&case.window_dims),
        list(&case.dropped),
        list(&case.batching),
        list(&case.index_batching),
        list(&case.map),
        case.vector_dim,
        operands.join(", "),
        types.join(", ")
    )
}

fn check_scatter(case: &Case, combiner: &Combiner<'_>, arrays: &[Array], updates: &[Array], region: &str) {
    let results = run(arrays, |parallel, to| {
        let dimensions = scatter::Dimensions {
            update_window: &case.window_dims,
            inserted: &case.dropped,
            input_batching: &case.batching,
            index_batching: &case.index_batching,
            index_map: &case.map,
            index_vector_dim: case.vector_dim,
        };
        let updates: Vec<_> = updates.iter().map(Array::view).collect();
        scatter::scatter(
            parallel,
            &dimensions,
            combiner,
            &case.indices.view(),
            &updates,
            to,
        )
    });
    let body = scatter_body(case, arrays, updates, region);
    let operands: Vec<&Array> = arrays.iter().chain([&case.indices]).chain(updates).collect();
    // Products of complex numbers are computed in `f64` by the evaluator.
    let multiplies = matches!(combiner, Combiner::Each([Combine::Multiply]));
    let rounded = multiplies && arrays[0].element.is_complex();
    let close = if rounded {
        closeness(arrays[0].element)
    } else {
        Closeness::Equal
    };
    compare(&body, &operands, &results, close);
}

#[test]
fn scatters() {
    let mut random = Random::new(31);
    let mut done = 0;
    while done < 500 {
        let case = Case::new(&mut random);
        let (combine, name) = random.pick(&COMBINES);
        let element = random.pick(&ELEMENTS);
        if !combine.supports(element) {
            continue;
        }
        done += 1;
        let array = Array::random(&mut random, element, &case.operand);
        let update = Array::random(&mut random, element, &case.shape);
        let ty = format!("tensor<{}>", element.name());
        let region = match name {
            "" => format!("^bb0(%a: {ty}, %b: {ty}):\nstablehlo.return %b : {ty}"),
            name => format!(
                "^bb0(%a: {ty}, %b: {ty}):\n%c = stablehlo.{name} %a, %b : {ty}\nstablehlo.return %c : {ty}"
            ),
        };
        check_scatter(&case, &Combiner::Each(&[combine]), &[array], &[update], &region);
    }
}

#[test]
fn scatters_of_several_arrays() {
    let mut random = Random::new(32);
    for _ in 0..150 {
        let case = Case::new(&mut random);
        let arrays = [ElementType::I32, ElementType::I64]
            .map(|element| Array::random(&mut random, element, &case.operand));
        let updates = [ElementType::I32, ElementType::I64]
            .map(|element| Array::random(&mut random, element, &case.shape));
        // Each depends on both: the first becomes its sum with the update, the second its own where that is even.
        let together = |accumulators: &[*mut u8], elements: &[*const u8], count: usize| {
            for at in 0..count {
                // SAFETY: the arrays are of these types.
                unsafe {
                    let (a, b) = (
                        accumulators[0].cast::<i32>().add(at),
                        accumulators[1].cast::<i64>().add(at),
                    );
                    let (x, y) = (
                        elements[0].cast::<i32>().add(at).read(),
                        elements[1].cast::<i64>().add(at).read(),
                    );
                    let sum = a.read().wrapping_add(x);
                    a.write(sum);
                    b.write(if sum & 1 == 0 { b.read() } else { y });
                }
            }
        };
        let (i32, i64) = ("tensor<i32>", "tensor<i64>");
        let region = format!(
            "^bb0(%a: {i32}, %b: {i64}, %x: {i32}, %y: {i64}):
             %s = stablehlo.add %a, %x : {i32}
             %one = stablehlo.constant dense<1> : {i32}
             %zero = stablehlo.constant dense<0> : {i32}
             %low = stablehlo.and %s, %one : {i32}
             %even = stablehlo.compare EQ, %low, %zero, SIGNED : ({i32}, {i32}) -> tensor<i1>
             %t = stablehlo.select %even, %b, %y : tensor<i1>, {i64}
             stablehlo.return %s, %t : {i32}, {i64}"
        );
        check_scatter(&case, &Combiner::Together(&together), &arrays, &updates, &region);
    }
}

/// Rows, enough of them to be shared by several threads.
#[test]
fn many_rows() {
    let mut random = Random::new(33);
    for (rows, columns, count) in [(50, 64, 600), (3000, 1, 9000), (7, 200, 100)] {
        let indices = Array::filled(ElementType::I32, &[count, 1], &[0, 1], |_| {
            artifact_eval::scalar::Scalar::Int(random.below(rows + 2) as i128 - 1)
        });
        let case = Case {
            operand: vec![rows, columns],
            kept: vec![1],
            dropped: vec![0],
            batching: vec![],
            map: vec![0],
            vector_dim: 1,
            index_batching: vec![],
            indices,
            window_dims: vec![1],
            shape: vec![count, columns],
            sizes: vec![1, columns],
        };
        assert_eq!(case.kept.len() + case.dropped.len(), case.sizes.len());
        let array = Array::random(&mut random, ElementType::F32, &case.operand);
        let update = Array::random(&mut random, ElementType::F32, &case.shape);
        let region = "^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %c = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %c : tensor<f32>";
        check_scatter(
            &case,
            &Combiner::Each(&[Combine::Add]),
            &[array],
            &[update],
            region,
        );
    }
}

/// Few slices, each larger than a task.
#[test]
fn large_slices() {
    let mut random = Random::new(34);
    let operand = Array::random(&mut random, ElementType::F64, &[300, 400]);
    let indices = Array::of_ints(ElementType::I64, &[2, 2], &[3, 50, 1000, -7]);
    let results = run(
        &[Array::dense(ElementType::F64, &[2, 290, 320])],
        |parallel, to| {
            let dimensions = gather::Dimensions {
                offset: &[1, 2],
                collapsed: &[],
                operand_batching: &[],
                index_batching: &[],
                start_index_map: &[0, 1],
                index_vector_dim: 1,
                slice_sizes: &[290, 320],
            };
            gather::gather(
                parallel,
                &dimensions,
                &operand.view(),
                &indices.view(),
                &mut to[0],
            )
        },
    );
    let body = "%r = \"stablehlo.gather\"(%0, %1) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], \
         start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 290, 320>, indices_are_sorted = false} : \
         (tensor<300x400xf64>, tensor<2x2xi64>) -> tensor<2x290x320xf64>";
    compare(body, &[&operand, &indices], &results, Closeness::Equal);
}

/// Dimension numbers that would lead out of bounds.
#[test]
fn gathers_that_do_not_fit_are_refused() {
    let operand = Array::dense(ElementType::F32, &[4, 5]);
    let indices = Array::of_ints(ElementType::I32, &[3, 2], &[9; 6]);
    let pool = artifact_cpu_routine::pool::Pool::new(1);
    let refuses = |change: fn(&mut gather::Dimensions<'_>), out: &[usize]| {
        let mut dimensions = gather::Dimensions {
            offset: &[1, 2],
            collapsed: &[],
            operand_batching: &[],
            index_batching: &[],
            start_index_map: &[0, 1],
            index_vector_dim: 1,
            slice_sizes: &[2, 2],
        };
        change(&mut dimensions);
        let mut out = Array::dense(ElementType::F32, out);
        gather::gather(
            pool.parallel(),
            &dimensions,
            &operand.view(),
            &indices.view(),
            &mut out.view_mut(),
        )
        .is_err()
    };
    assert!(!refuses(|_| (), &[3, 2, 2]));
    assert!(refuses(|_| (), &[3, 2, 3]));
    assert!(refuses(
        |dimensions| dimensions.start_index_map = &[0, 0],
        &[3, 2, 2]
    ));
    assert!(refuses(
        |dimensions| dimensions.start_index_map = &[0, 2],
        &[3, 2, 2]
    ));
    assert!(refuses(
        |dimensions| dimensions.start_index_map = &[0],
        &[3, 2, 2]
    ));
    assert!(refuses(|dimensions| dimensions.offset = &[1, 1], &[3, 2, 2]));
    assert!(refuses(|dimensions| dimensions.offset = &[1, 3], &[3, 2, 2]));
    assert!(refuses(|dimensions| dimensions.slice_sizes = &[5, 2], &[3, 5, 2]));
    assert!(refuses(|dimensions| dimensions.collapsed = &[0], &[3, 2]));
    assert!(refuses(
        |dimensions| dimensions.operand_batching = &[0],
        &[3, 2, 2]
    ));
}

#[test]
fn scatters_that_do_not_fit_are_refused() {
    let indices = Array::of_ints(ElementType::I32, &[3, 2], &[9; 6]);
    let floats = Array::dense(ElementType::F32, &[3, 1]);
    let pool = artifact_cpu_routine::pool::Pool::new(1);
    let dimensions = scatter::Dimensions {
        update_window: &[1],
        inserted: &[0],
        input_batching: &[],
        index_batching: &[],
        index_map: &[0],
        index_vector_dim: 1,
    };
    let update = Array::dense(ElementType::F32, &[3, 5]);
    let mut array = Array::dense(ElementType::F32, &[4, 5]);
    let mut scattered = |indices: &Array, combine: Combine| {
        let (combiner, updates) = ([combine], [update.view()]);
        let combiner = Combiner::Each(&combiner);
        let arrays = &mut [array.view_mut()];
        scatter::scatter(
            pool.parallel(),
            &dimensions,
            &combiner,
            &indices.view(),
            &updates,
            arrays,
        )
        .is_err()
    };
    assert!(!scattered(
        &Array::of_ints(ElementType::I32, &[3, 1], &[0; 3]),
        Combine::Add
    ));
    assert!(scattered(
        &Array::of_ints(ElementType::I32, &[3, 1], &[0; 3]),
        Combine::And
    ));
    assert!(scattered(&indices, Combine::Add));
    assert!(scattered(&floats, Combine::Add));
}
