//! Inferred types and refusals, operation by operation, extreme numbers included.

use std::sync::Arc;

use crate::attribute::{DotDimensionNumbers, Padding};
use crate::builder::{Builder, RegionBuilder};
use crate::literal::Literal;
use crate::op::{
    Binary, Broadcast, Chlo, Concatenate, DimensionSize, DotGeneral, DynamicSlice, Elementwise, Op, Pad,
    Reduce, ReduceWindow, Reduction, Shape, Slice, TopK, Transpose, Unary,
};
use crate::op::{Contraction, Control};
use crate::types::{Dim, ElementType, Encoding, TensorType, Type};

use ElementType::{C64, F32, I1, I32};

fn t(shape: &[u64], element: ElementType) -> Type {
    Type::tensor(shape, element)
}

fn dims(dims: &[Dim], element: ElementType) -> Type {
    TensorType::new(dims, element).into()
}

fn symbol(text: &str) -> Dim {
    Dim::Symbolic(text.parse().unwrap())
}

fn bounded(bound: u64) -> Type {
    let mut tensor = TensorType::new([Dim::Unknown], F32);
    tensor.encoding = Some(Encoding::Bounds([Some(bound)].into()));
    tensor.into()
}

/// Builds the operation on operands of these types; what it infers, or the fragment of the refusal that is expected.
fn check(op: impl Into<Op>, operands: &[Type], expected: Result<&[Type], &str>) {
    let op = op.into();
    let name = op.name().to_owned();
    let mut builder = Builder::new("main", operands);
    let arguments = builder.arguments();
    let found = builder.op(op, &arguments);
    match (found, expected) {
        (Ok(results), Ok(types)) => {
            let found: Vec<Type> = results
                .iter()
                .map(|value| builder.ty(*value).unwrap().clone())
                .collect();
            assert_eq!(found, types, "{name}");
        }
        (Err(error), Err(fragment)) => {
            assert!(
                error.to_string().contains(fragment),
                "{name}: expected `{fragment}` in `{error}`"
            );
        }
        (found, expected) => panic!("{name}: expected {expected:?}, got {found:?}"),
    }
}

fn pad(low: i64, high: i64, interior: i64) -> Shape {
    Shape::Pad(Box::new(Pad {
        edge_padding_low: vec![low],
        edge_padding_high: vec![high],
        interior_padding: vec![interior],
    }))
}

fn slice(start: i64, limit: i64, stride: i64) -> Shape {
    Shape::Slice(Box::new(Slice {
        start_indices: vec![start],
        limit_indices: vec![limit],
        strides: vec![stride],
    }))
}

#[test]
fn elementwise() {
    check(Unary::Abs, &[t(&[2], C64)], Ok(&[t(&[2], F32)]));
    check(Unary::IsFinite, &[t(&[2], F32)], Ok(&[t(&[2], I1)]));
    check(
        Unary::Abs,
        &[t(&[2], ElementType::UI8)],
        Err("but got 'tensor<2xui8>'"),
    );
    check(
        Binary::And,
        &[t(&[], F32), t(&[], F32)],
        Err("i1, signed integer or unsigned integer"),
    );
    check(
        Elementwise::Complex,
        &[t(&[2], F32), t(&[2], F32)],
        Ok(&[t(&[2], C64)]),
    );
    check(
        Elementwise::Select,
        &[t(&[], I1), t(&[2], F32), t(&[2], F32)],
        Ok(&[t(&[2], F32)]),
    );
    check(
        Elementwise::Select,
        &[t(&[3], I1), t(&[2], F32), t(&[2], F32)],
        Err("(C1)"),
    );
    check(
        Elementwise::Clamp,
        &[t(&[], F32), t(&[2], F32), t(&[3], F32)],
        Err("(C2)"),
    );
    check(Elementwise::Convert, &[t(&[], F32)], Err("must be declared"));
}

#[test]
fn what_is_known_of_either_operand_is_known_of_the_result() {
    let n = dims(&[symbol("n")], F32);
    check(Binary::Add, &[t(&[2], F32), n.clone()], Ok(&[t(&[2], F32)]));
    check(
        Binary::Add,
        &[dims(&[Dim::Unknown], F32), n.clone()],
        Ok(std::slice::from_ref(&n)),
    );
    check(Binary::Add, &[n.clone(), dims(&[Dim::Unknown], F32)], Ok(&[n]));
    check(Binary::Add, &[bounded(3), bounded(5)], Ok(&[bounded(3)]));
    check(
        Binary::Add,
        &[bounded(3), t(&[4], F32)],
        Err("size 4 and bound 3"),
    );
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "a table of cases, one operation after the other"
)]
fn shapes() {
    let scalar = t(&[], F32);
    check(pad(1, 2, 1), &[t(&[3], F32), scalar.clone()], Ok(&[t(&[8], F32)]));
    check(
        pad(-2, -2, 0),
        &[t(&[3], F32), scalar.clone()],
        Err("impossible size -1"),
    );
    check(
        pad(i64::MAX, i64::MAX, i64::MAX),
        &[t(&[u64::MAX], F32), scalar.clone()],
        Err("impossible size"),
    );
    check(
        pad(0, 0, -1),
        &[t(&[3], F32), scalar.clone()],
        Err("interior padding must not be negative"),
    );
    check(
        pad(0, 0, 0),
        &[dims(&[symbol("n")], F32), scalar.clone()],
        Ok(&[dims(&[symbol("n")], F32)]),
    );
    check(pad(1, 0, 0), &[bounded(4), scalar], Ok(&[bounded(5)]));
    check(slice(1, 5, 3), &[t(&[5], F32)], Ok(&[t(&[2], F32)]));
    check(slice(-1, 5, 1), &[t(&[5], F32)], Err("must not be negative"));
    check(slice(0, 6, 1), &[t(&[5], F32)], Err("larger than the size 5"));
    check(
        slice(0, i64::MAX, i64::MAX),
        &[t(&[u64::MAX], F32)],
        Ok(&[t(&[1], F32)]),
    );
    check(slice(0, 5, 0), &[t(&[5], F32)], Err("must be positive"));
    let concatenate = Shape::Concatenate(Concatenate { dimension: 0 });
    check(
        concatenate.clone(),
        &[t(&[2, 3], F32), t(&[0, 3], F32)],
        Ok(&[t(&[2, 3], F32)]),
    );
    check(
        concatenate.clone(),
        &[t(&[u64::MAX], F32), t(&[1], F32)],
        Err("too large"),
    );
    check(
        concatenate.clone(),
        &[t(&[2, 3], F32), t(&[2, 4], F32)],
        Err("(C2)"),
    );
    check(concatenate, &[bounded(3), t(&[2], F32)], Ok(&[bounded(5)]));
    let transpose = |permutation| Shape::Transpose(Transpose { permutation });
    check(transpose(vec![1, 0]), &[t(&[2, 3], F32)], Ok(&[t(&[3, 2], F32)]));
    check(transpose(vec![1, 1]), &[t(&[2, 3], F32)], Err("not to repeat"));
    check(
        transpose(vec![1, i64::MIN]),
        &[t(&[2, 3], F32)],
        Err("range [0, 2)"),
    );
    let broadcast = Shape::Broadcast(Broadcast {
        broadcast_sizes: vec![-2],
    });
    check(broadcast, &[t(&[], F32)], Err("must not be negative, but got -2"));
    let size = Shape::GetDimensionSize(DimensionSize { dimension: 0 });
    check(size, &[dims(&[symbol("n")], F32)], Ok(&[t(&[], I32)]));
    let dynamic_slice = Shape::DynamicSlice(DynamicSlice { slice_sizes: vec![2] });
    check(
        dynamic_slice.clone(),
        &[t(&[5], F32), t(&[], I32)],
        Ok(&[t(&[2], F32)]),
    );
    check(dynamic_slice, &[t(&[5], F32)], Err("as many start indices"));
    let top_k = Chlo::TopK(TopK {
        k: 2,
        is_stable: true,
    });
    check(top_k, &[t(&[3, 5], F32)], Ok(&[t(&[3, 2], F32), t(&[3, 2], I32)]));
}

#[test]
fn products() {
    let numbers = DotDimensionNumbers {
        lhs_batching_dimensions: vec![0],
        rhs_batching_dimensions: vec![0],
        lhs_contracting_dimensions: vec![2],
        rhs_contracting_dimensions: vec![1],
    };
    let dot = |numbers| {
        Contraction::DotGeneral(Box::new(DotGeneral {
            dot_dimension_numbers: numbers,
            precision_config: None,
            algorithm: None,
        }))
    };
    let operands = [t(&[2, 3, 4], F32), t(&[2, 4, 5], F32)];
    check(dot(numbers.clone()), &operands, Ok(&[t(&[2, 3, 5], F32)]));
    check(
        dot(numbers.clone()),
        &[t(&[2, 3, 4], F32), t(&[2, 5, 5], F32)],
        Err("contracting"),
    );
    let mut twice = numbers.clone();
    twice.lhs_contracting_dimensions = vec![0];
    check(dot(twice), &operands, Err("duplicated dimension"));
    let mut far = numbers;
    far.rhs_contracting_dimensions = vec![i64::MAX];
    check(dot(far), &operands, Err("range [0, 3)"));
}

/// Reduces with `add` in a region of this element type.
fn reduce(op: Reduction, input: &Type, initial: &Type, element: ElementType) -> Result<Type, String> {
    let mut builder = Builder::new("main", &[input.clone(), initial.clone()]);
    let operands = builder.arguments();
    let scalar = t(&[], element);
    let region = RegionBuilder::new(
        vec![scalar.clone(), scalar],
        |builder: &mut Builder<'_>, arguments: &[_]| builder.op(Binary::Add, arguments),
    );
    let results = builder
        .op_with_regions(op, &operands, None, vec![region])
        .map_err(|error| error.to_string())?;
    Ok(builder.ty(results[0]).unwrap().clone())
}

#[test]
fn reductions() {
    let rows = |dimensions| Reduction::Reduce(Reduce { dimensions });
    let (input, initial) = (t(&[2, 3], F32), t(&[], F32));
    assert_eq!(reduce(rows(vec![0]), &input, &initial, F32), Ok(t(&[3], F32)));
    assert_eq!(
        reduce(rows(vec![0]), &input, &initial, ElementType::F64),
        Ok(t(&[3], ElementType::F64))
    );
    assert!(
        reduce(rows(vec![0]), &input, &initial, I32)
            .unwrap_err()
            .contains("cannot be promoted")
    );
    assert!(
        reduce(rows(vec![2]), &input, &initial, F32)
            .unwrap_err()
            .contains("range [0, 2)")
    );
    assert!(
        reduce(rows(vec![0]), &input, &t(&[1], F32), F32)
            .unwrap_err()
            .contains("initial value")
    );
    let windows = |size, padding| {
        Reduction::ReduceWindow(Box::new(ReduceWindow {
            window_dimensions: vec![1, size],
            window_strides: Some(vec![1, 2]),
            base_dilations: None,
            window_dilations: None,
            padding: Some(Padding(vec![[0, 0], padding])),
        }))
    };
    assert_eq!(
        reduce(windows(2, [0, 1]), &input, &initial, F32),
        Ok(t(&[2, 2], F32))
    );
    assert!(
        reduce(windows(0, [0, 1]), &input, &initial, F32)
            .unwrap_err()
            .contains("must be positive")
    );
    assert!(
        reduce(windows(2, [i64::MIN, 0]), &input, &initial, F32)
            .unwrap_err()
            .contains("negative size")
    );
}

#[test]
fn a_shape_operand_is_read() {
    let mut builder = Builder::new("main", &[t(&[4], F32)]);
    let x = builder.arguments()[0];
    let shape = builder.constant(Literal::of_i64s(&[2, 2])).unwrap();
    let results = builder
        .op_with_types(Shape::DynamicReshape, &[x, shape], &[t(&[2, 2], F32)])
        .unwrap();
    assert_eq!(results.len(), 1);
    let error = builder
        .op_with_types(Shape::DynamicReshape, &[x, shape], &[t(&[1, 4], F32)])
        .unwrap_err();
    assert!(
        error.to_string().contains("is incompatible with the result type"),
        "{error}"
    );
}

#[test]
fn branches_agree() {
    let mut builder = Builder::new("main", &[t(&[], I1), t(&[2], F32), t(&[3], F32)]);
    let [predicate, a, b] = builder.arguments()[..] else {
        panic!("three arguments")
    };
    let branch = |value| RegionBuilder::new(vec![], move |_: &mut Builder<'_>, _: &[_]| Ok(vec![value]));
    let error = builder
        .op_with_regions(Control::If, &[predicate], None, vec![branch(a), branch(b)])
        .unwrap_err();
    assert!(error.to_string().contains("mismatched return types"), "{error}");
}

#[test]
fn a_literal_of_another_type_is_refused() {
    let ty = Arc::new(TensorType::of_static(&[2], F32));
    let value = Literal::splat(ty, &[0; 4]).unwrap();
    let constant = crate::op::Creation::Constant(crate::op::Constant { value });
    let mut builder = Builder::new("main", &[]);
    let error = builder.op_with_types(constant, &[], &[t(&[3], F32)]).unwrap_err();
    assert!(
        error.to_string().contains("inferred type(s) 'tensor<2xf32>'"),
        "{error}"
    );
}
