//! Sorts and largest elements.

use artifact_cpu_routine::sort::{FloatOrder, Key, sort_by, sort_by_keys, top_k};
use artifact_cpu_routine::workspace::Workspace;
use artifact_eval::comparison::Closeness;
use artifact_eval::scalar::Scalar;
use artifact_ir::types::{ElementClass, ElementType};

use crate::harness::{Array, Random, compare, run};

const KEYS: [ElementType; 14] = {
    use ElementType::{BF16, F16, F32, F64, I1, I4, I8, I16, I32, I64, UI8, UI16, UI32, UI64};
    [
        F32, F64, BF16, F16, I32, I64, I8, I16, UI8, UI16, UI32, UI64, I1, I4,
    ]
};

/// Numbers of which many are equal, and the special ones among floats.
fn keys(random: &mut Random, element: ElementType, shape: &[usize]) -> Array {
    let special = [
        0.0,
        -0.0,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-45,
        -1.5,
    ];
    let order = random.permutation(shape.len());
    Array::filled(element, shape, &order, |_| match element.class() {
        ElementClass::Float if random.below(3) == 0 => Scalar::Float(random.pick(&special)),
        ElementClass::Float => random.scalar(element),
        ElementClass::Boolean => Scalar::Bool(random.below(2) == 1),
        _ if random.below(2) == 0 => Scalar::Int(random.below(5) as i128 - 2),
        _ => random.scalar(element),
    })
}

/// A comparator that compares the keys in turn.
fn comparator(arrays: &[Array], keys: &[Key]) -> String {
    let mut text = String::new();
    let arguments: Vec<String> = arrays
        .iter()
        .enumerate()
        .map(|(at, array)| format!("%l{at}: tensor<{0}>, %r{at}: tensor<{0}>", array.element.name()))
        .collect();
    text += &format!("^bb0({}):\n", arguments.join(", "));
    text += "%n = stablehlo.constant dense<false> : tensor<i1>\n";
    let mut result = "%n".to_owned();
    for (at, key) in keys.iter().enumerate().rev() {
        let element = arrays[key.operand].element;
        let ty = format!("tensor<{}>", element.name());
        let kind = match element.class() {
            ElementClass::Float => "TOTALORDER",
            ElementClass::SignedInteger => "SIGNED",
            _ => "UNSIGNED",
        };
        let mut sides = [format!("%l{}", key.operand), format!("%r{}", key.operand)];
        if element.is_float() && key.order == FloatOrder::NanLast {
            for (side, name) in sides.iter_mut().enumerate() {
                let new = format!("%c{at}_{side}");
                text += &format!(
                    "{new}z = stablehlo.constant dense<0.0> : {ty}
                     {new}q = stablehlo.constant dense<0x{nan:X}> : {ty}
                     {new}e = stablehlo.compare EQ, {name}, {new}z, FLOAT : ({ty}, {ty}) -> tensor<i1>
                     {new}u = stablehlo.compare NE, {name}, {name}, FLOAT : ({ty}, {ty}) -> tensor<i1>
                     {new}s = stablehlo.select {new}e, {new}z, {name} : tensor<i1>, {ty}
                     {new} = stablehlo.select {new}u, {new}q, {new}s : tensor<i1>, {ty}\n",
                    nan = artifact_ir::float::encode(element, f64::NAN).expect("a float")
                );
                *name = new;
            }
        }
        let direction = if key.descending { "GT" } else { "LT" };
        let [l, r] = sides;
        text += &format!(
            "%d{at} = stablehlo.compare {direction}, {l}, {r}, {kind} : ({ty}, {ty}) -> tensor<i1>
             %e{at} = stablehlo.compare EQ, {l}, {r}, {kind} : ({ty}, {ty}) -> tensor<i1>
             %o{at} = stablehlo.select %e{at}, {result}, %d{at} : tensor<i1>, tensor<i1>\n"
        );
        result = format!("%o{at}");
    }
    text + &format!("stablehlo.return {result} : tensor<i1>")
}

fn body(arrays: &[Array], dim: usize, comparator: &str) -> String {
    let names: Vec<String> = (0..arrays.len()).map(|at| format!("%{at}")).collect();
    let types: Vec<String> = arrays.iter().map(Array::ty).collect();
    let results = if arrays.len() == 1 {
        "%r".to_owned()
    } else {
        format!("%r:{}", arrays.len())
    };
    format!(
        "{results} = \"stablehlo.sort\"({}) ({{\n{comparator}\n}}) {{dimension = {dim} : i64, is_stable = true}} : ({types}) -> ({types})",
        names.join(", "),
        types = types.join(", ")
    )
}

fn check(arrays: &[Array], dim: usize, sort_keys: &[Key]) {
    let empty: Vec<Array> = arrays
        .iter()
        .map(|array| Array::dense(array.element, &array.shape))
        .collect();
    let results = run(&empty, |parallel, to| {
        let inputs: Vec<_> = arrays.iter().map(Array::view).collect();
        sort_by_keys(parallel, &mut Workspace::new(), dim, sort_keys, &inputs, to)
    });
    let body = body(arrays, dim, &comparator(arrays, sort_keys));
    compare(
        &body,
        &arrays.iter().collect::<Vec<_>>(),
        &results,
        Closeness::Equal,
    );
}

fn key(random: &mut Random, operand: usize) -> Key {
    Key {
        operand,
        descending: random.below(2) == 0,
        order: random.pick(&[FloatOrder::Total, FloatOrder::NanLast]),
    }
}

#[test]
fn by_keys() {
    let mut random = Random::new(20);
    for case in 0..140 {
        let rank = 1 + random.below(3);
        let shape = random.shape(rank, 12);
        let arrays: Vec<Array> = (0..1 + random.below(3))
            .map(|at| keys(&mut random, KEYS[(case + at) % KEYS.len()], &shape))
            .collect();
        let dim = random.below(rank);
        let sort_keys: Vec<Key> = (0..1 + random.below(arrays.len()))
            .map(|at| key(&mut random, at))
            .collect();
        check(&arrays, dim, &sort_keys);
    }
}

#[test]
fn long_rows() {
    let mut random = Random::new(21);
    for element in KEYS {
        let arrays = [
            keys(&mut random, element, &[1100]),
            keys(&mut random, ElementType::I32, &[1100]),
        ];
        let key = key(&mut random, 0);
        check(&arrays, 0, &[key]);
    }
}

/// Long enough to be sorted by all threads together; the standard library's stable sort is the oracle.
#[test]
fn shared_rows() {
    let mut random = Random::new(22);
    let length = 150_000;
    for element in [ElementType::I32, ElementType::I64, ElementType::UI8] {
        let first = keys(&mut random, element, &[length]);
        let second = keys(&mut random, ElementType::I16, &[length]);
        let sort_keys = [
            Key {
                operand: 0,
                descending: true,
                order: FloatOrder::Total,
            },
            Key {
                operand: 1,
                descending: false,
                order: FloatOrder::Total,
            },
        ];
        let empty = [
            Array::dense(element, &[length]),
            Array::dense(ElementType::I16, &[length]),
        ];
        let results = run(&empty, |parallel, to| {
            let inputs = [first.view(), second.view()];
            sort_by_keys(parallel, &mut Workspace::new(), 0, &sort_keys, &inputs, to)
        });
        let ints = |array: &Array| array.tensor().to_ints().expect("integers");
        let mut expected: Vec<(i128, i128)> = ints(&first).into_iter().zip(ints(&second)).collect();
        expected.sort_by_key(|(a, b)| (-a, *b));
        let got: Vec<(i128, i128)> = ints(&results[0]).into_iter().zip(ints(&results[1])).collect();
        assert!(got == expected, "{element}");
    }
}

fn i32_at(pointer: *const u8) -> i32 {
    // SAFETY: the arrays of these tests that are compared are of this type.
    unsafe { pointer.cast::<i32>().read() }
}

/// Compares the first array only, and not always as an order would.
#[test]
fn by_comparators() {
    let mut random = Random::new(23);
    for case in 0..60 {
        let rank = 1 + random.below(3);
        let shape = if case % 10 == 0 {
            vec![6000]
        } else {
            random.shape(rank, 40)
        };
        let arrays = [
            keys(&mut random, ElementType::I32, &shape),
            Array::random(&mut random, ElementType::C128, &shape),
        ];
        let dim = random.below(shape.len());
        let empty: Vec<Array> = arrays
            .iter()
            .map(|array| Array::dense(array.element, &array.shape))
            .collect();
        let is_order = case % 3 != 0;
        let less = |left: &[*const u8], right: &[*const u8]| {
            let (left, right) = (i32_at(left[0]), i32_at(right[0]));
            if is_order {
                left > right
            } else {
                left & 5 != right & 3
            }
        };
        let results = run(&empty, |parallel, to| {
            let inputs: Vec<_> = arrays.iter().map(Array::view).collect();
            sort_by(parallel, &mut Workspace::new(), dim, &less, &inputs, to)
        });
        let i32 = "tensor<i32>";
        let compared = if is_order {
            "%c = stablehlo.compare GT, %l, %r, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>".to_owned()
        } else {
            format!(
                "%x = stablehlo.constant dense<5> : {i32}\n%y = stablehlo.constant dense<3> : {i32}
                 %p = stablehlo.and %l, %x : {i32}\n%q = stablehlo.and %r, %y : {i32}
                 %c = stablehlo.compare NE, %p, %q, SIGNED : ({i32}, {i32}) -> tensor<i1>"
            )
        };
        let comparator = format!(
            "^bb0(%l: {i32}, %r: {i32}, %a: tensor<complex<f64>>, %b: tensor<complex<f64>>):\n{compared}\nstablehlo.return %c : tensor<i1>"
        );
        let body = body(&arrays, dim, &comparator);
        compare(
            &body,
            &arrays.iter().collect::<Vec<_>>(),
            &results,
            Closeness::Equal,
        );
    }
}

#[test]
fn largest() {
    let mut random = Random::new(24);
    for case in 0..100 {
        let element = KEYS[case % KEYS.len()];
        let rank = 1 + random.below(3);
        let mut shape = random.shape(rank, 30);
        let input = keys(&mut random, element, &shape);
        let k = random.below(shape[rank - 1] + 1);
        shape[rank - 1] = k;
        let empty = [
            Array::dense(element, &shape),
            Array::dense(ElementType::I32, &shape),
        ];
        let results = run(&empty, |parallel, to| {
            let [values, positions] = to else {
                unreachable!("two results")
            };
            top_k(parallel, &mut Workspace::new(), &input.view(), values, positions)
        });
        let body = format!(
            "%r:2 = \"chlo.top_k\"(%0) {{k = {k} : i64}} : ({}) -> ({}, {})",
            input.ty(),
            results[0].ty(),
            results[1].ty()
        );
        compare(&body, &[&input], &results, Closeness::Equal);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let a = Array::dense(ElementType::F32, &[2, 3]);
    let complex = Array::dense(ElementType::C64, &[2, 3]);
    let pool = artifact_cpu_routine::pool::Pool::new(1);
    let (mut workspace, mut out) = (Workspace::new(), Array::dense(ElementType::F32, &[2, 3]));
    let mut sort = |operand: usize, dim: usize, input: &Array| {
        let key = Key {
            operand,
            descending: false,
            order: FloatOrder::Total,
        };
        let result = sort_by_keys(
            pool.parallel(),
            &mut workspace,
            dim,
            &[key],
            &[input.view()],
            &mut [out.view_mut()],
        );
        result.is_err()
    };
    assert!(!sort(0, 1, &a));
    assert!(sort(1, 1, &a));
    assert!(sort(0, 2, &a));
    assert!(sort(0, 1, &complex));
}
