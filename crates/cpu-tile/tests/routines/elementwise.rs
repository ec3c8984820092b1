//! Routines that stand for an operation of the IR.

use std::collections::BTreeSet;

use artifact_cpu_tile::{Level, TileOp, ulp_max};
use artifact_ir::attribute::{ComparisonDirection, ComparisonType, NamedAttributes};
use artifact_ir::op::{Chlo, Compare, Elementwise, Op, OpSpec};
use artifact_ir::types::ElementType;

use crate::oracle::{Program, first_difference, program, run};
use crate::values::{Random, TYPES, operands};
use crate::{call, contents, filled, levels};

/// An operation on elements of some types, and its routine.
struct Case {
    op: Op,
    types: Vec<ElementType>,
    result: Option<ElementType>,
    routine: TileOp,
}

/// All operations that need no attributes, and comparisons.
fn ops() -> Vec<Op> {
    let mut ops: Vec<Op> = OpSpec::all()
        .filter_map(|spec| spec.read(&mut NamedAttributes::default()).ok())
        .filter(|op| {
            matches!(
                op,
                Op::Unary(_) | Op::Binary(_) | Op::Elementwise(_) | Op::Chlo(_)
            )
        })
        .filter(|op| !matches!(op, Op::Chlo(Chlo::Scan(_))))
        .collect();
    use ComparisonDirection::{Eq, Ge, Gt, Le, Lt, Ne};
    for comparison_direction in [Eq, Ne, Ge, Gt, Le, Lt] {
        for compare_type in [None, Some(ComparisonType::TotalOrder)] {
            let compare = Compare {
                comparison_direction,
                compare_type,
            };
            ops.push(Elementwise::Compare(compare).into());
        }
    }
    ops
}

/// Every routine that stands for an operation, with the operation.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for op in ops() {
        for ty in TYPES {
            let results: Vec<Option<ElementType>> = match op {
                Op::Elementwise(Elementwise::Convert | Elementwise::BitcastConvert) => {
                    TYPES.map(Some).to_vec()
                }
                _ => vec![None],
            };
            let Some(count) = op.spec().and_then(|spec| spec.operands.max) else {
                continue;
            };
            let mut types = vec![ty; count];
            if matches!(op, Op::Elementwise(Elementwise::Select)) {
                types[0] = ElementType::I1;
            }
            for result in results {
                // Bits are not reinterpreted between real and complex numbers.
                let is_mixed = result.is_some_and(|result| result.is_complex() != ty.is_complex());
                if is_mixed && matches!(op, Op::Elementwise(Elementwise::BitcastConvert)) {
                    continue;
                }
                let routine = TileOp::of(&op, &types, result.unwrap_or(ty));
                cases.extend(routine.map(|routine| Case {
                    op: op.clone(),
                    types: types.clone(),
                    result,
                    routine,
                }));
            }
        }
    }
    cases
}

/// Units in the last place by which a routine may be off from the evaluator, whose results may be half a unit off themselves.
fn tolerance(op: TileOp) -> u64 {
    match ulp_max(op) {
        Some(bound) if bound > 0.5 => f64::from(bound + 0.5).floor() as u64,
        _ => 0,
    }
}

/// All elements at once, then pieces of them in tiles of many shapes, which must give the same bits.
fn check(case: &Case, program: &Program, level: Level, count: usize, operands: &[Vec<u8>], want: &[u8]) {
    let got = apply(case, program.result, level, 1, count, 0, operands, false);
    if let Some((index, got, want, distance)) =
        first_difference(program.result, &got, want, tolerance(case.routine))
    {
        let elements: Vec<&[u8]> = case
            .types
            .iter()
            .zip(operands)
            .map(|(ty, operand)| &operand[index * ty.bytes()..][..ty.bytes()])
            .collect();
        panic!(
            "{} at {level}: {elements:x?} gives {got:#x}, not {want:#x}: {distance} ulp",
            case.routine
        );
    }
    let mut random = Random(count as u64);
    for cols in (1..=70).step_by(if level == Level::Portable { 23 } else { 3 }) {
        let rows = 1 + random.below(3);
        let from = random.below(count - rows * cols);
        let gap = 1 + 2 * random.below(8);
        let pieces: Vec<Vec<u8>> = case
            .types
            .iter()
            .zip(operands)
            .map(|(ty, operand)| operand[from * ty.bytes()..][..rows * cols * ty.bytes()].to_vec())
            .collect();
        let width = program.result.bytes();
        let want = &got[from * width..][..rows * cols * width];
        for in_place in [false, true] {
            let piece = apply(case, program.result, level, rows, cols, gap, &pieces, in_place);
            let difference = first_difference(program.result, &piece, want, 0);
            assert_eq!(
                difference, None,
                "{} at {level}: {rows} x {cols}, in place: {in_place}",
                case.routine
            );
        }
    }
}

/// The routine's result for operands that are tiles of this shape. In place, it is where the last operand of its width was.
#[expect(
    clippy::too_many_arguments,
    reason = "they are the parameters of an experiment"
)]
fn apply(
    case: &Case,
    result: ElementType,
    level: Level,
    rows: usize,
    cols: usize,
    gap: usize,
    operands: &[Vec<u8>],
    in_place: bool,
) -> Vec<u8> {
    let bytes = cols * result.bytes();
    let mut memories = Vec::new();
    let mut tiles = Vec::new();
    let (memory, tile) = filled(rows, bytes, gap, &vec![0xEE; rows * bytes]);
    memories.push(memory);
    tiles.push(tile);
    let mut target = 0;
    for (index, (ty, operand)) in case.types.iter().zip(operands).enumerate() {
        let (memory, tile) = filled(rows, cols * ty.bytes(), gap, operand);
        if in_place && ty.bytes() == result.bytes() {
            target = index + 1;
        }
        memories.push(memory);
        tiles.push(tile);
    }
    tiles[0] = tiles[target];
    call(level, case.routine, rows, cols, &tiles);
    for (index, (ty, operand)) in case.types.iter().zip(operands).enumerate() {
        if index + 1 != target {
            let after = contents(&mut memories[index + 1], rows, cols * ty.bytes(), gap);
            assert!(
                after == *operand,
                "{} at {level} changed an operand",
                case.routine
            );
        }
    }
    contents(&mut memories[target], rows, bytes, gap)
}

#[test]
fn operations_agree_with_the_evaluator() {
    let cases = cases();
    for case in &cases {
        let (count, operands) = operands(&case.types, 400, 5);
        let program = program(&case.op, &case.types, case.result, count)
            .unwrap_or_else(|| panic!("{} does not take {:?}", case.op.name(), case.types));
        let want = run(&program, &operands).unwrap_or_else(|| panic!("{} is not evaluated", case.routine));
        for level in levels() {
            check(case, &program, level, count, &operands, &want);
        }
    }
    let tested: BTreeSet<u16> = cases.iter().filter_map(|case| case.routine.id()).collect();
    let elementwise = TileOp::all().iter().filter(|op| {
        matches!(
            op,
            TileOp::Unary(..)
                | TileOp::Binary(..)
                | TileOp::Compare(..)
                | TileOp::Select(_)
                | TileOp::Convert { .. }
        )
    });
    for op in elementwise {
        assert!(
            op.id().is_some_and(|id| tested.contains(&id)),
            "{op} stands for no operation"
        );
    }
}

#[test]
fn products_are_added_with_one_rounding() {
    let (count, elements) = operands(&[ElementType::F32; 3], 2000, 6);
    let number = |operand: usize, index: usize| {
        f32::from_le_bytes(elements[operand][index * 4..][..4].try_into().unwrap())
    };
    let want: Vec<u8> = (0..count)
        .flat_map(|index| {
            number(0, index)
                .mul_add(number(1, index), number(2, index))
                .to_le_bytes()
        })
        .collect();
    let wide: Vec<Vec<u8>> = (0..3)
        .map(|operand| {
            (0..count)
                .flat_map(|index| f64::from(number(operand, index)).to_le_bytes())
                .collect()
        })
        .collect();
    let want_wide: Vec<u8> = (0..count)
        .flat_map(|index| {
            let [a, b, c] = [0, 1, 2].map(|operand| f64::from(number(operand, index)));
            a.mul_add(b, c).to_le_bytes()
        })
        .collect();
    for (ty, elements, want) in [
        (ElementType::F32, &elements, &want),
        (ElementType::F64, &wide, &want_wide),
    ] {
        for level in levels() {
            let (_a, a) = filled(1, count * ty.bytes(), 0, &elements[0]);
            let (_b, b) = filled(1, count * ty.bytes(), 0, &elements[1]);
            let (mut memory, c) = filled(1, count * ty.bytes(), 0, &elements[2]);
            call(level, TileOp::MultiplyAdd(ty), 1, count, &[c, a, b, c]);
            let got = contents(&mut memory, 1, count * ty.bytes(), 0);
            assert_eq!(first_difference(ty, &got, want, 0), None, "{ty} at {level}");
        }
    }
}

/// What the evaluator computes: other types, what is lowered to other routines, and complex functions.
#[test]
fn some_operations_have_no_routine() {
    use ElementType::{C64, F8E5M2, F32, F64, I4, I32};
    let find = |name: &str| {
        OpSpec::find(name)
            .unwrap()
            .read(&mut NamedAttributes::default())
            .unwrap()
    };
    for (name, ty, operands) in [
        ("stablehlo.add", F8E5M2, 2),
        ("stablehlo.add", I4, 2),
        ("stablehlo.atan2", I32, 2),
        ("stablehlo.clamp", F32, 3),
        ("stablehlo.exponential", C64, 1),
        ("chlo.digamma", F64, 1),
    ] {
        assert_eq!(
            TileOp::of(&find(name), &vec![ty; operands], ty),
            None,
            "{name} {ty}"
        );
    }
    let add = TileOp::of(&find("stablehlo.add"), &[F32; 2], F32).unwrap();
    assert_eq!((add.to_string().as_str(), ulp_max(add)), ("add.f32", Some(0.5)));
}
