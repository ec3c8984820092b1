//! Functions of numbers: what the evaluator gives for the operation against what it gives for the decomposition, on ordinary
//! values, zeros of both signs, subnormal and largest numbers, infinities, poles and their neighbours.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test says what it measured, and fails where its programs are not as they should be"
)]

use std::sync::Arc;

use artifact_chlo::{Form, legalize};
use artifact_eval::comparison::ulp_distance;
use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::float;
use artifact_ir::module::Module;
use artifact_ir::types::{ElementType, TensorType};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

/// How far two numbers may be apart: either in units in the last place, or in units of the precision (its epsilon).
#[derive(Clone, Copy)]
struct Tolerance {
    ulps: u64,
    epsilons: f64,
}

fn module(op: &str, operands: usize, element: ElementType, result: ElementType, count: usize) -> Module {
    let types = vec![format!("tensor<{count}x{element}>"); operands].join(", ");
    let arguments: Vec<String> = (0..operands)
        .map(|index| format!("%{index}: tensor<{count}x{element}>"))
        .collect();
    let names: Vec<String> = (0..operands).map(|index| format!("%{index}")).collect();
    let text = format!(
        "func.func @main({}) -> tensor<{count}x{result}> {{\n\
         %r = \"chlo.{op}\"({}) : ({types}) -> tensor<{count}x{result}>\n\
         func.return %r : tensor<{count}x{result}>\n}}",
        arguments.join(", "),
        names.join(", "),
    );
    let module = parse_module(&text).into_module().unwrap();
    assert_eq!(verify(&module), [], "{text}");
    module
}

fn run(module: &Module, operands: &[Tensor]) -> Tensor {
    let inputs = operands.iter().cloned().map(Value::Tensor).collect();
    let main = module.function("main").unwrap();
    let outcome = evaluate(module, main, inputs, &Options::default()).unwrap();
    outcome.results[0].as_tensor().unwrap().clone()
}

fn tensor(element: ElementType, values: &[Scalar]) -> Tensor {
    let ty = Arc::new(TensorType::of_static(&[values.len() as u64], element));
    Tensor::from_scalars(ty, values).unwrap()
}

/// A generator of numbers (Steele, Lea and Flood's SplitMix64), with a fixed seed.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in an interval.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }
}

/// Numbers of a format: all of them when there are few, else edges and random ones of every size.
fn numbers(element: ElementType) -> Vec<f64> {
    let bits = element.bits();
    let decode = |bits: u64| float::decode(element, bits).unwrap();
    if bits <= 8 {
        return (0..1 << bits).map(decode).collect();
    }
    let mut random = Random(7);
    let mut all = vec![f64::INFINITY, f64::NAN, 0.0];
    let format = element.float_format().unwrap();
    let smallest = decode(1);
    let least_normal = decode(1 << format.mantissa_bits);
    let infinity = float::encode(element, f64::INFINITY).unwrap();
    all.extend([
        smallest,
        least_normal,
        decode(infinity - 1),
        least_normal - smallest,
    ]);
    for integer in 0..30 {
        for part in [0.0, 0.25, 0.5] {
            let bits = float::encode(element, f64::from(integer) + part).unwrap();
            all.extend([decode(bits), decode(bits + 1), decode(bits.saturating_sub(1))]);
        }
    }
    all.extend((0..200).map(|_| decode(random.bits() % infinity)));
    all.extend((0..300).map(|_| random.within(0.0, 1.0)));
    all.extend((0..300).map(|_| random.within(0.0, 12.0)));
    all.extend((0..100).map(|_| random.within(0.0, 200.0)));
    let both = all.iter().flat_map(|value| [*value, -*value]);
    both.map(|value| float::round_to(element, value)).collect()
}

/// The largest distances: within `ulps` at most, and in epsilons where the result is more units away than that.
#[derive(Default)]
struct Measured {
    ulps: u64,
    epsilons: f64,
    worst: String,
    failures: Vec<String>,
    count: usize,
}

impl Measured {
    fn add(
        &mut self,
        part: ElementType,
        tolerance: Tolerance,
        [got, want]: [f64; 2],
        describe: impl Fn() -> String,
    ) {
        self.count += 1;
        let distance = ulp_distance(part, got, want);
        if distance <= tolerance.ulps {
            if distance > self.ulps {
                (self.ulps, self.worst) = (distance, describe());
            }
            return;
        }
        let format = part.float_format().unwrap();
        let epsilons = (got - want).abs() * 2.0_f64.powi(format.mantissa_bits as i32);
        if epsilons <= tolerance.epsilons {
            self.epsilons = self.epsilons.max(epsilons);
            return;
        }
        self.failures.push(format!(
            "{} is {got:e}, not {want:e} ({distance} ulp)",
            describe()
        ));
    }
}

/// Compares operation and decomposition on operands.
fn compare(op: &str, element: ElementType, tolerance: Tolerance, operands: &[Vec<Scalar>]) {
    let result = if op.starts_with("is_") {
        ElementType::I1
    } else {
        element
    };
    let count = operands[0].len();
    let direct = module(op, operands.len(), element, result, count);
    let mut legalized = direct.clone();
    legalize(&mut legalized, Form::Calls).unwrap();
    assert_eq!(verify(&legalized), []);
    let tensors: Vec<Tensor> = operands.iter().map(|values| tensor(element, values)).collect();
    let (want, got) = (run(&direct, &tensors), run(&legalized, &tensors));
    let mut measured = Measured::default();
    let part = element.part();
    for (index, (got, want)) in got.scalars().zip(want.scalars()).enumerate() {
        let describe = || {
            let arguments: Vec<String> = tensors
                .iter()
                .map(|tensor| tensor.get(index).to_string())
                .collect();
            format!("{op} {element} of {}", arguments.join(", "))
        };
        match (got, want) {
            (Scalar::Float(got), Scalar::Float(want)) => measured.add(part, tolerance, [got, want], describe),
            (Scalar::Complex(re, im), Scalar::Complex(want_re, want_im)) => {
                measured.add(part, tolerance, [re, want_re], || format!("re {}", describe()));
                measured.add(part, tolerance, [im, want_im], || format!("im {}", describe()));
            }
            (got, want) if got == want => measured.count += 1,
            (got, want) => measured
                .failures
                .push(format!("{} is {got}, not {want}", describe())),
        }
    }
    eprintln!(
        "{op} {element}: {} values, {} ulp ({}), else {} epsilons",
        measured.count, measured.ulps, measured.worst, measured.epsilons
    );
    let count = measured.failures.len();
    measured.failures.truncate(12);
    assert!(
        count == 0,
        "{count} of {}:\n{}",
        measured.count,
        measured.failures.join("\n")
    );
    assert!(measured.count > 0, "nothing was compared");
}

const NARROW: [ElementType; 13] = [
    ElementType::F4E2M1FN,
    ElementType::F6E2M3FN,
    ElementType::F6E3M2FN,
    ElementType::F8E8M0FNU,
    ElementType::F16,
    ElementType::BF16,
    ElementType::F8E3M4,
    ElementType::F8E4M3,
    ElementType::F8E4M3FN,
    ElementType::F8E4M3FNUZ,
    ElementType::F8E4M3B11FNUZ,
    ElementType::F8E5M2,
    ElementType::F8E5M2FNUZ,
];

/// A function of one real number: tolerances of `f32` and `f64` in units in the last place and in epsilons. Narrower formats are
/// rounded from `f32`, so that one unit is enough for them.
fn check(op: &str, narrow: (u64, f64), wide: (u64, f64)) {
    let single = |element: ElementType, (ulps, epsilons): (u64, f64)| {
        let values: Vec<Scalar> = numbers(element).into_iter().map(Scalar::Float).collect();
        compare(op, element, Tolerance { ulps, epsilons }, &[values]);
    };
    single(ElementType::F32, narrow);
    single(ElementType::F64, wide);
    for element in NARROW {
        single(element, (1, 0.0));
    }
}

#[test]
fn predicates() {
    for op in ["is_inf", "is_neg_inf", "is_pos_inf"] {
        check(op, (0, 0.0), (0, 0.0));
    }
}

#[test]
fn inverse_functions() {
    for op in ["acos", "asin", "atan", "acosh", "asinh", "atanh"] {
        check(op, (4, 0.0), (4, 0.0));
    }
}

#[test]
fn trigonometric_and_hyperbolic_functions() {
    check("tan", (2, 0.0), (2, 0.0));
    check("sinh", (3, 0.0), (3, 0.0));
    for op in ["cosh", "square", "conj"] {
        check(op, (0, 0.0), (0, 0.0));
    }
}

#[test]
fn error_functions() {
    for op in ["erf", "erfc", "erf_inv"] {
        check(op, (4, 0.0), (4, 0.0));
    }
}

#[test]
fn gamma_functions() {
    // For negative numbers two terms may cancel that are larger than the result, up to 40 here.
    check("lgamma", (6, 48.0), (6, 48.0));
    check("digamma", (6, 8.0), (6, 8.0));
}

/// Complex numbers of which both parts are edges or ordinary numbers.
fn complex_numbers(element: ElementType) -> Vec<Scalar> {
    let part = element.part();
    let format = part.float_format().unwrap();
    let decode = |bits: u64| float::decode(part, bits).unwrap();
    let infinity = float::encode(part, f64::INFINITY).unwrap();
    let one = float::encode(part, 1.0).unwrap();
    let mut parts = vec![
        0.0,
        f64::INFINITY,
        f64::NAN,
        0.5,
        1.0,
        2.0,
        3.25,
        10.0,
        40.0,
        1e-3,
        1e5,
        1e-20,
        1e20,
    ];
    parts.extend([decode(1), decode(1 << format.mantissa_bits), decode(infinity - 1)]);
    parts.extend([
        decode(one - 1),
        decode(one + 1),
        1.570_796_4,
        85.0,
        88.5,
        1e-5,
        1e10,
    ]);
    let both: Vec<f64> = parts.iter().flat_map(|value| [*value, -*value]).collect();
    let mut random = Random(11);
    let mut all = Vec::new();
    for re in &both {
        for im in &both {
            all.push([*re, *im]);
        }
    }
    all.extend((0..600).map(|_| [random.within(-4.0, 4.0), random.within(-4.0, 4.0)]));
    all.extend((0..200).map(|_| [random.within(-90.0, 90.0), random.within(-50.0, 50.0)]));
    let round = |value: f64| float::round_to(part, value);
    all.iter()
        .map(|[re, im]| Scalar::Complex(round(*re), round(*im)))
        .collect()
}

#[test]
fn complex_functions() {
    for op in [
        "_asin_acos_kernel",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cosh",
        "sinh",
        "tan",
        "square",
        "conj",
    ] {
        for element in [ElementType::C64, ElementType::C128] {
            let tolerance = Tolerance {
                ulps: 4,
                epsilons: 0.0,
            };
            compare(op, element, tolerance, &[complex_numbers(element)]);
        }
    }
}

/// Every pair of some numbers.
fn pairs(firsts: &[f64], seconds: &[f64], element: ElementType) -> [Vec<Scalar>; 2] {
    let scalar = |value: f64| Scalar::Float(float::round_to(element, value));
    let all = firsts
        .iter()
        .flat_map(|first| seconds.iter().map(|second| [scalar(*first), scalar(*second)]));
    let all: Vec<[Scalar; 2]> = all.collect();
    [0, 1].map(|side| all.iter().map(|pair| pair[side]).collect())
}

#[test]
fn neighbours() {
    // There is no integer type of six bits, and so no form for the formats of six.
    let narrow = NARROW.into_iter().filter(|element| element.bits() != 6);
    for element in [ElementType::F32, ElementType::F64].into_iter().chain(narrow) {
        let all = numbers(element);
        let step = (all.len() / 60).max(1);
        let some: Vec<f64> = all
            .iter()
            .copied()
            .step_by(step)
            .chain(all.iter().copied().take(16))
            .collect();
        let exact = Tolerance {
            ulps: 0,
            epsilons: 0.0,
        };
        compare("next_after", element, exact, &pairs(&all, &some, element));
    }
}

#[test]
fn zeta_function() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let x = [
        1.0, 1.001, 1.5, 2.0, 2.5, 3.0, 4.0, 7.0, 8.0, 12.5, 20.0, 0.5, -1.0, infinity, nan,
    ];
    let q = [
        0.1, 0.5, 1.0, 1.5, 2.0, 5.0, 30.0, 1000.0, 1e6, 0.0, -0.5, -1.0, -1.25, -4.0, -7.75, infinity, nan,
    ];
    for element in [
        ElementType::F32,
        ElementType::F64,
        ElementType::F16,
        ElementType::BF16,
    ] {
        // For negative q terms cancel of which the largest here is 128.
        let tolerance = Tolerance {
            ulps: 8,
            epsilons: 64.0,
        };
        compare("zeta", element, tolerance, &pairs(&x, &q, element));
    }
}

#[test]
fn polygamma_function() {
    let n = [0.0, 1.0, 2.0, 3.0, 4.0, 7.0, -1.0, 0.5, f64::NAN];
    let x = [
        0.1,
        0.5,
        1.0,
        1.5,
        2.0,
        5.0,
        30.0,
        1000.0,
        0.0,
        -0.5,
        -1.0,
        -1.25,
        -4.0,
        f64::NAN,
    ];
    for element in [
        ElementType::F32,
        ElementType::F64,
        ElementType::F16,
        ElementType::BF16,
    ] {
        let tolerance = Tolerance {
            ulps: 40,
            epsilons: 0.0,
        };
        compare("polygamma", element, tolerance, &pairs(&n, &x, element));
    }
}

#[test]
fn high_products() {
    for element in ElementType::ALL
        .iter()
        .filter(|element| element.is_integer() && **element != ElementType::Index)
    {
        let bits = element.bits();
        let (low, high): (i128, i128) = if element.is_signed_integer() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        };
        let mut random = Random(5);
        let mut values: Vec<i128> = vec![
            low,
            low + 1,
            high,
            high - 1,
            0,
            1,
            low / 2,
            high / 2 + 1,
            1 << (bits / 2),
        ];
        values.extend((0..40).map(|_| low + i128::from(random.bits()) % (high - low + 1)));
        let values: Vec<i128> = values
            .into_iter()
            .filter(|value| (low..=high).contains(value))
            .collect();
        let pairs: Vec<[i128; 2]> = values
            .iter()
            .flat_map(|a| values.iter().map(|b| [*a, *b]))
            .collect();
        let side = |side: usize| {
            pairs
                .iter()
                .map(|pair| Scalar::Int(pair[side]))
                .collect::<Vec<_>>()
        };
        compare(
            "mulhi",
            *element,
            Tolerance {
                ulps: 0,
                epsilons: 0.0,
            },
            &[side(0), side(1)],
        );
    }
}

#[test]
fn bessel_function() {
    check("bessel_i1e", (4, 0.0), (4, 0.0));
}
