//! Elements to try.

use artifact_ir::float::encode;
use artifact_ir::types::{ElementClass, ElementType};

/// The types that routines are for.
pub(crate) const TYPES: [ElementType; 15] = [
    ElementType::I1,
    ElementType::I8,
    ElementType::I16,
    ElementType::I32,
    ElementType::I64,
    ElementType::UI8,
    ElementType::UI16,
    ElementType::UI32,
    ElementType::UI64,
    ElementType::F16,
    ElementType::BF16,
    ElementType::F32,
    ElementType::F64,
    ElementType::C64,
    ElementType::C128,
];

/// A sequence that depends on its seed alone (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Numbers at which floating-point functions do something special.
const FLOATS: [f64; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -3.0,
    2.5,
    -127.5,
    255.0,
    65519.9,
    2_147_483_648.0,
    -9.3e18,
    1.9e19,
    1e-40,
    -5e-324,
    6e-8,
    3.4e38,
    -1.7e308,
    88.8,
    -103.9,
    std::f64::consts::PI,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// The special elements of a type, as bytes.
fn specials(ty: ElementType) -> Vec<Vec<u8>> {
    let width = ty.bytes();
    match ty.class() {
        ElementClass::Boolean => vec![vec![0], vec![1]],
        ElementClass::SignedInteger | ElementClass::UnsignedInteger => {
            let least = 1_u64 << (ty.bits() - 1);
            let numbers = [
                0,
                1,
                2,
                3,
                7,
                8,
                31,
                63,
                64,
                least,
                least - 1,
                least + 1,
                u64::MAX,
                u64::MAX - 1,
                100,
            ];
            numbers
                .iter()
                .map(|number| number.to_le_bytes()[..width].to_vec())
                .collect()
        }
        ElementClass::Float => {
            let numbers = FLOATS.iter().map(|number| encode(ty, *number).unwrap());
            numbers.map(|bits| bits.to_le_bytes()[..width].to_vec()).collect()
        }
        ElementClass::Complex => {
            let parts = specials(ty.part());
            let few: Vec<&Vec<u8>> = parts.iter().step_by(3).chain(parts.last()).collect();
            let pairs = few
                .iter()
                .flat_map(|re| few.iter().map(|im| [re.as_slice(), im.as_slice()].concat()));
            pairs.collect()
        }
    }
}

/// Any bits, small integers, or floats of moderate size.
fn random(ty: ElementType, random_numbers: &mut Random, out: &mut Vec<u8>) {
    let bits = random_numbers.next();
    match ty.class() {
        ElementClass::Boolean => out.push(u8::from(bits & 1 == 1)),
        ElementClass::Complex => {
            random(ty.part(), random_numbers, out);
            random(ty.part(), random_numbers, out);
        }
        ElementClass::Float if bits & 3 != 0 => {
            let fraction = (random_numbers.next() >> 11) as f64 / (1_u64 << 53) as f64;
            let scale = [1.0, 1.0, 10.0, 100.0][(bits >> 8 & 3) as usize];
            let value = (2.0 * fraction - 1.0) * scale;
            out.extend_from_slice(&encode(ty, value).unwrap().to_le_bytes()[..ty.bytes()]);
        }
        ElementClass::SignedInteger | ElementClass::UnsignedInteger if bits & 3 == 0 => {
            let small = (bits >> 8) as i64 % 100;
            out.extend_from_slice(&small.to_le_bytes()[..ty.bytes()]);
        }
        _ => out.extend_from_slice(&random_numbers.next().to_le_bytes()[..ty.bytes()]),
    }
}

/// Operands of these types, as bytes: every combination of the special elements (of three operands only some), then random ones.
/// Returns how many, and the elements of each.
pub(crate) fn operands(types: &[ElementType], count_random: usize, seed: u64) -> (usize, Vec<Vec<u8>>) {
    let mut random_numbers = Random(seed);
    let special: Vec<Vec<Vec<u8>>> = types.iter().map(|ty| specials(*ty)).collect();
    let first_two: usize = special.iter().take(2).map(Vec::len).product();
    let mut operands = vec![Vec::new(); types.len()];
    for index in 0..first_two {
        let inner = special.get(1).map_or(1, Vec::len);
        let positions = [index / inner, index % inner, random_numbers.next() as usize];
        for (operand, (special, position)) in operands.iter_mut().zip(special.iter().zip(positions)) {
            operand.extend_from_slice(&special[position % special.len()]);
        }
    }
    for _ in 0..count_random {
        for (operand, ty) in operands.iter_mut().zip(types) {
            random(*ty, &mut random_numbers, operand);
        }
    }
    (first_two + count_random, operands)
}
