//! Arrays with canaries, random numbers and shapes, and the evaluator.

use std::fmt::Write as _;
use std::sync::Arc;

use artifact_cpu_routine::error::RoutineError;
use artifact_cpu_routine::pool::{Parallel, Pool};
use artifact_cpu_routine::view::{View, ViewMut};
use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::types::{ElementClass, ElementType, TensorType};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

/// Bytes on both sides of an array that nobody may touch.
const GUARD: usize = 64;
const CANARY: u8 = 0xA5;

/// A small generator of random numbers (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 33) as usize % end.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A size: often small, now and then 0 or 1.
    pub(crate) fn size(&mut self, most: usize) -> usize {
        match self.below(12) {
            0 => 0,
            1 | 2 => 1,
            _ => 1 + self.below(most),
        }
    }

    pub(crate) fn shape(&mut self, rank: usize, most: usize) -> Vec<usize> {
        (0..rank).map(|_| self.size(most)).collect()
    }

    pub(crate) fn permutation(&mut self, length: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..length).collect();
        for at in (1..length).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }

    /// A number of a type: small, so that sums and products stay within what the types hold.
    pub(crate) fn scalar(&mut self, element: ElementType) -> Scalar {
        let small = (self.below(17) as f64 - 8.0) / 4.0;
        let other = (self.below(1 << 20) as f64) / f64::from(1 << 19) - 1.0;
        match element.class() {
            ElementClass::Boolean => Scalar::Bool(self.below(2) == 1),
            ElementClass::SignedInteger | ElementClass::UnsignedInteger => {
                Scalar::Int(i128::from(self.bits() as i64))
            }
            ElementClass::Float if element.bits() <= 16 => Scalar::Float(small),
            ElementClass::Float => Scalar::Float(other),
            ElementClass::Complex => Scalar::Complex(other, small),
        }
    }
}

/// An array that lies in memory in an order of its own, between canaries.
#[derive(Clone)]
pub(crate) struct Array {
    pub(crate) element: ElementType,
    pub(crate) shape: Vec<usize>,
    /// Dimensions from the outermost in memory to the innermost.
    order: Vec<usize>,
    memory: Vec<u128>,
}

impl Array {
    pub(crate) fn new(element: ElementType, shape: &[usize], order: &[usize]) -> Self {
        let count: usize = if shape.contains(&0) {
            0
        } else {
            shape.iter().product()
        };
        let bytes = count * element.bytes() + 2 * GUARD;
        Self {
            element,
            shape: shape.to_vec(),
            order: order.to_vec(),
            memory: vec![u128::from_ne_bytes([CANARY; 16]); bytes.div_ceil(16)],
        }
    }

    pub(crate) fn dense(element: ElementType, shape: &[usize]) -> Self {
        Self::new(element, shape, &(0..shape.len()).collect::<Vec<_>>())
    }

    /// Random numbers in memory of a random order.
    pub(crate) fn random(random: &mut Random, element: ElementType, shape: &[usize]) -> Self {
        let order = if random.below(2) == 0 {
            (0..shape.len()).collect()
        } else {
            random.permutation(shape.len())
        };
        Self::filled(element, shape, &order, |_| random.scalar(element))
    }

    pub(crate) fn filled(
        element: ElementType,
        shape: &[usize],
        order: &[usize],
        mut value: impl FnMut(usize) -> Scalar,
    ) -> Self {
        let mut array = Self::new(element, shape, order);
        let count = shape.iter().product();
        for position in 0..count {
            let mut bytes = Vec::new();
            value(position).encode(element, &mut bytes);
            let at = array.offset(position);
            array.bytes_mut()[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        array
    }

    pub(crate) fn of_ints(element: ElementType, shape: &[usize], values: &[i64]) -> Self {
        let order: Vec<usize> = (0..shape.len()).collect();
        Self::filled(element, shape, &order, |position| {
            Scalar::Int(values[position].into())
        })
    }

    fn strides(&self) -> Vec<isize> {
        let mut strides = vec![0; self.shape.len()];
        let mut step = self.element.bytes() as isize;
        for dim in self.order.iter().rev() {
            strides[*dim] = step;
            step = step.saturating_mul(self.shape[*dim] as isize);
        }
        strides
    }

    /// Where an element is in memory, by its position in row-major order.
    fn offset(&self, mut position: usize) -> usize {
        let mut offset = GUARD;
        for (size, stride) in self.shape.iter().zip(self.strides()).rev() {
            offset += position % size * stride as usize;
            position /= size;
        }
        offset
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.memory.len() * 16;
        // SAFETY: any number is sixteen bytes.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), length) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.memory.len() * 16) }
    }

    /// The elements as they lie in memory.
    pub(crate) fn elements(&self) -> &[u8] {
        let count: usize = self.shape.iter().product();
        &self.bytes()[GUARD..GUARD + count * self.element.bytes()]
    }

    pub(crate) fn view(&self) -> View<'_> {
        let start = self.bytes()[GUARD..].as_ptr();
        // SAFETY: the array has memory for its shape, aligned to 16, and is borrowed.
        unsafe { View::new(start, self.element, &self.shape, &self.strides()) }
    }

    pub(crate) fn view_mut(&mut self) -> ViewMut<'_> {
        let (element, shape, strides) = (self.element, self.shape.clone(), self.strides());
        let start = self.bytes_mut()[GUARD..].as_mut_ptr();
        // SAFETY: as above, and every element has a place of its own.
        unsafe { ViewMut::new(start, element, &shape, &strides) }
    }

    /// The elements as the evaluator has them.
    pub(crate) fn tensor(&self) -> Tensor {
        let width = self.element.bytes();
        let ty = Arc::new(TensorType::of_static(&self.sizes(), self.element));
        let element = |position| {
            let at = self.offset(position);
            Scalar::decode(self.element, &self.bytes()[at..at + width])
        };
        Tensor::from_fn(ty, element).expect("a small tensor")
    }

    fn sizes(&self) -> Vec<u64> {
        self.shape.iter().map(|size| *size as u64).collect()
    }

    pub(crate) fn ty(&self) -> String {
        let mut text = "tensor<".to_owned();
        for size in &self.shape {
            let _ = write!(text, "{size}x");
        }
        text + self.element.name() + ">"
    }

    fn assert_canaries(&self) {
        let used = self.shape.iter().product::<usize>() * self.element.bytes();
        let bytes = self.bytes();
        assert!(
            bytes[..GUARD].iter().all(|byte| *byte == CANARY),
            "written before the start"
        );
        assert!(
            bytes[GUARD + used..].iter().all(|byte| *byte == CANARY),
            "written past the end"
        );
    }
}

/// Runs a routine with one, two and three threads, and gives the results, which are the same bits each time. It starts from
/// `results` as they are.
pub(crate) fn run(
    results: &[Array],
    routine: impl Fn(Parallel<'_>, &mut [ViewMut<'_>]) -> Result<(), RoutineError>,
) -> Vec<Array> {
    let mut first: Option<Vec<Array>> = None;
    for threads in 1..=3 {
        let pool = Pool::new(threads);
        let mut arrays = results.to_vec();
        let mut views: Vec<ViewMut<'_>> = arrays.iter_mut().map(Array::view_mut).collect();
        routine(pool.parallel(), &mut views).unwrap_or_else(|error| panic!("{error}"));
        arrays.iter().for_each(Array::assert_canaries);
        match &first {
            None => first = Some(arrays),
            Some(first) => {
                let same = first.iter().zip(&arrays).all(|(a, b)| a.bytes() == b.bytes());
                assert!(same, "other bits with {threads} threads");
            }
        }
    }
    first.expect("three runs")
}

/// What the evaluator makes of the body of a function of `%0`, `%1`.. that returns `%r` or `%r#0`, `%r#1`...
pub(crate) fn evaluated(body: &str, operands: &[&Array], results: &[Array]) -> Vec<Tensor> {
    let text = program(body, operands, results);
    let module = parse_module(&text)
        .into_module()
        .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    assert!(verify(&module).is_empty(), "{:?}\n{text}", verify(&module));
    let main = module.function("main").expect("a function called main");
    let inputs = operands
        .iter()
        .map(|array| Value::Tensor(array.tensor()))
        .collect();
    let outcome = evaluate(&module, main, inputs, &Options::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let tensor = |value: &Value| value.as_tensor().expect("a tensor").clone();
    outcome.results.iter().map(tensor).collect()
}

fn program(body: &str, operands: &[&Array], results: &[Array]) -> String {
    let argument = |(at, array): (usize, &&Array)| format!("%{at}: {}", array.ty());
    let arguments: Vec<String> = operands.iter().enumerate().map(argument).collect();
    let types: Vec<String> = results.iter().map(Array::ty).collect();
    let values: Vec<String> = match results.len() {
        1 => vec!["%r".to_owned()],
        count => (0..count).map(|at| format!("%r#{at}")).collect(),
    };
    let (arguments, types, values) = (arguments.join(", "), types.join(", "), values.join(", "));
    format!("func.func @main({arguments}) -> ({types}) {{\n{body}\nfunc.return {values} : {types}\n}}")
}

/// Compares results with what the evaluator makes of the same operation.
pub(crate) fn compare(body: &str, operands: &[&Array], results: &[Array], closeness: Closeness) {
    let expected = evaluated(body, operands, results);
    for (got, want) in results.iter().zip(&expected) {
        if let Some(difference) = difference(&got.tensor(), want, closeness) {
            panic!("{difference}\n{}", program(body, operands, results));
        }
    }
}

/// How far sums of a type may be from the evaluator's, which adds in `f64`.
pub(crate) fn closeness(element: ElementType) -> Closeness {
    let unit = match element.part() {
        ElementType::F64 => 1e-13,
        ElementType::F32 => 3e-5,
        ElementType::F16 => 2e-3,
        ElementType::BF16 => 2e-2,
        _ => return Closeness::Equal,
    };
    Closeness::Relative {
        atol: unit,
        rtol: unit,
    }
}

pub(crate) fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
