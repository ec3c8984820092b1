//! What the reference evaluator says.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::builder::Builder;
use artifact_ir::literal::Literal;
use artifact_ir::module::Module;
use artifact_ir::op::Op;
use artifact_ir::types::{ElementType, TensorType, Type};

/// A program of one operation on vectors.
#[derive(Debug)]
pub(crate) struct Program {
    module: Module,
    operands: Vec<Arc<TensorType>>,
    pub(crate) result: ElementType,
}

/// The program that applies `op` to `count` elements of each type; `None` where the operation does not take them. `result` is
/// needed where it does not follow from the operands.
pub(crate) fn program(
    op: &Op,
    operands: &[ElementType],
    result: Option<ElementType>,
    count: usize,
) -> Option<Program> {
    let vector = |ty: ElementType| Arc::new(TensorType::of_static(&[count as u64], ty));
    let operands: Vec<_> = operands.iter().map(|ty| vector(*ty)).collect();
    let types: Vec<Type> = operands.iter().map(|ty| Type::Tensor(Arc::clone(ty))).collect();
    let mut builder = Builder::new("main", &types);
    let arguments = builder.arguments();
    let results = match result {
        Some(result) => builder.op_with_types(op.clone(), &arguments, &[Type::Tensor(vector(result))]),
        None => builder.op(op.clone(), &arguments),
    };
    let results = results.ok()?;
    let Type::Tensor(ty) = builder.ty(results[0])? else {
        return None;
    };
    let result = ty.element.storage();
    let mut module = Module::new();
    module.add_function(builder.finish(&results).ok()?);
    Some(Program {
        module,
        operands,
        result,
    })
}

/// The elements that the program gives for these; `None` where the evaluator has no result.
pub(crate) fn run(program: &Program, operands: &[Vec<u8>]) -> Option<Vec<u8>> {
    let values = program.operands.iter().zip(operands).map(|(ty, bytes)| {
        let literal = Literal::dense(Arc::clone(ty), Blob::new(bytes.clone())).unwrap();
        Value::Tensor(Tensor::from_literal(&literal).unwrap())
    });
    let main = program.module.function("main").unwrap();
    let outcome = evaluate(&program.module, main, values.collect(), &Options::default()).ok()?;
    Some(outcome.results[0].as_tensor().unwrap().bytes().to_vec())
}

/// Units in the last place between two elements of a real floating-point type, as bits; two NaN are equal, and zeros of
/// different sign are one apart.
pub(crate) fn distance(ty: ElementType, a: u64, b: u64) -> u64 {
    let format = ty.float_format().unwrap();
    let magnitude_bits = format.bits - 1;
    let magnitude = |x: u64| x & ((1 << magnitude_bits) - 1);
    let infinity = ((1 << format.exponent_bits) - 1) << format.mantissa_bits;
    match (magnitude(a) > infinity, magnitude(b) > infinity) {
        (true, true) => return 0,
        (false, false) => {}
        _ => return u64::MAX,
    }
    let key = |x: u64| {
        let is_negative = x >> magnitude_bits & 1 == 1;
        let magnitude = i128::from(magnitude(x));
        if is_negative { -1 - magnitude } else { magnitude }
    };
    (key(a) - key(b)).unsigned_abs() as u64
}

/// The first element of `got` that is further from `want` than `ulps`: where, both, and the distance. Anything but floats must
/// be equal.
pub(crate) fn first_difference(
    ty: ElementType,
    got: &[u8],
    want: &[u8],
    ulps: u64,
) -> Option<(usize, u64, u64, u64)> {
    let part = ty.part();
    let bits = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(wide)
    };
    let pairs = got.chunks(part.bytes()).zip(want.chunks(part.bytes()));
    pairs.enumerate().find_map(|(index, (got, want))| {
        let (got, want) = (bits(got), bits(want));
        let distance = match part.is_float() {
            true => distance(part, got, want),
            false => u64::from(got != want) * u64::MAX,
        };
        (distance > ulps).then_some((index * part.bytes() / ty.bytes(), got, want, distance))
    })
}
